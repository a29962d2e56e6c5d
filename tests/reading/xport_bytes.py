"""Writes SAS transport files of version 5, from SAS's note TS-140: records of 80 bytes, numbers of IBM mainframes."""

from __future__ import annotations

import math
import struct
from collections.abc import Mapping, Sequence

_HEADER = "HEADER RECORD*******{:<8}HEADER RECORD!!!!!!!{:<30}  "
_DATE = "01JAN26:00:00:00"


def number(value: float | str | None) -> bytes:
    """Eight bytes: sign, exponent of 16 plus 64, 56 bits of fraction; a missing value is its letter, or a point."""
    if value is None or isinstance(value, str):
        return (value or ".").encode().ljust(8, b"\0")
    if value == 0:
        return bytes(8)
    exponent = math.floor(math.log(abs(value), 16)) + 1
    while abs(value) >= 16.0**exponent:
        exponent += 1
    fraction = (
        int(abs(value) * 2.0 ** (56 - 4 * exponent))
        if exponent <= 14
        else int(abs(value)) >> 4 * (exponent - 14)
    )
    return struct.pack(">Q", (0x80 if value < 0 else 0) << 56 | (exponent + 64) << 56 | fraction)


def _padded(content: bytes) -> bytes:
    return content + b" " * (-len(content) % 80)


def transport(
    columns: Mapping[str, Sequence[float | str | None]],
    *,
    texts: Sequence[str] = (),
    formats: Mapping[str, str] | None = None,
) -> bytes:
    """The file; the columns in ``texts`` hold text, in all others a letter is a missing value with that letter."""
    widths = {
        name: max(1, *(len(str(each or "")) for each in values)) if name in texts else 8
        for name, values in columns.items()
    }
    names, at = b"", 0
    for place, name in enumerate(columns, 1):
        names += struct.pack(
            ">hhhh8s40s8shhh2s8shhl52s",
            2 if name in texts else 1, 0, widths[name], place, name.encode().ljust(8), b" " * 40,
            (formats or {}).get(name, "").encode().ljust(8), 0, 0, 0, b"", b" " * 8, 0, 0, at, b"",
        )  # fmt: skip
        at += widths[name]
    rows = b"".join(
        b"".join(
            str(entry or "").encode().ljust(widths[name]) if name in texts else number(entry)
            for name, entry in zip(columns, row, strict=True)
        )
        for row in zip(*columns.values(), strict=True)
    )
    zeros = "0" * 30
    program = f"SAS     SAS     SASLIB  {'9.4':<8}{'Linux':<8}{'':24}{_DATE}"
    member = f"SAS     PEOPLE  SASDATA {'9.4':<8}{'Linux':<8}{'':24}{_DATE}"
    head = "".join(
        [
            _HEADER.format("LIBRARY", zeros), program, f"{_DATE:<80}",
            _HEADER.format("MEMBER", "000000000000000001600000000140"),
            _HEADER.format("DSCRPTR", zeros), member, f"{_DATE:<16}{'':16}{'':40}{'':8}",
            _HEADER.format("NAMESTR", f"000000{len(columns):04}".ljust(30, "0")),
        ]
    )  # fmt: skip
    return head.encode() + _padded(names) + _HEADER.format("OBS", zeros).encode() + _padded(rows)
