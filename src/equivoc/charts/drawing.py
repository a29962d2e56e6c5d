"""Writes charts as files. Vega's JavaScript engine aborts the process if it cannot reserve enough addresses."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from equivoc.errors import InputError
from equivoc.files import replacing
from equivoc.plain_text import HIDDEN

ADDRESSES_NEEDED = 72 << 30
"""Bytes of address space that the engine reserves at its start, with a margin. It uses little of it as memory."""


def check_drawing() -> None:
    """InputError if a limit on virtual memory (``ulimit -v``) leaves too few addresses for charts to be drawn."""
    try:
        import resource
    except ImportError:  # Windows has no such limit
        return
    limit, _ = resource.getrlimit(resource.RLIMIT_AS)
    if limit != resource.RLIM_INFINITY and limit < ADDRESSES_NEEDED:
        raise InputError(
            f"charts cannot be drawn: virtual memory is limited to {limit / 2**30:,.1f} GiB (ulimit -v), and the "
            f"drawing engine reserves {ADDRESSES_NEEDED >> 30} GiB of addresses, of which it uses little. "
            "Raise the limit, or leave the charts out."
        )


def save_chart(chart: Any, path: Path) -> None:
    """Write an Altair chart to a .png or .svg file, completely or not at all."""
    check_drawing()
    png = path.suffix.lower() == ".png"
    with replacing(path) as temporary:
        chart.save(str(temporary), format="png" if png else "svg", scale_factor=2 if png else 1)


def drawable(text: object) -> str:
    r"""A name as a chart can show it, on one line: Vega evaluates backslashes and aborts at control characters.

    >>> drawable("pay\x1b[1m"), drawable("a\n b"), drawable("a\\b")
    ('pay�[1m', 'a b', 'a＼b')
    """
    return HIDDEN.sub("�", " ".join(str(text).split())).replace("\\", "＼")
