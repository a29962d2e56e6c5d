"""Standard output and error: whatever their encoding, what is printed can be read; a full disk is told of."""

from __future__ import annotations

import codecs
import errno
import os
import sys

from equivoc.plain_text import written_with

ERRORS = "equivoc-fallback"
ASCII = "equivoc-ascii"
"""ASCII by another name: Typer takes a stream that is called ASCII for a mistake and writes UTF-8 to it."""
OUTPUT_PROBLEMS = {errno.ENOSPC, errno.EDQUOT, errno.EFBIG, errno.EIO, errno.EBADF}


def prepare_streams() -> None:
    """Make the streams write what their encoding lacks with what it has: eps for ε, +/- for ±, ASCII for boxes."""
    codecs.register_error(ERRORS, written_with)
    codecs.register(_ascii)
    for stream in (sys.stdout, sys.stderr):
        change = getattr(stream, "reconfigure", None)
        if change is None:  # closed, or replaced by somebody
            continue
        plain = codecs.lookup(stream.encoding).name == "ascii"
        change(encoding=ASCII if plain else stream.encoding, errors=ERRORS)


def is_output_problem(problem: OSError) -> bool:
    """Is it a full disk or the like, under our output?"""
    return problem.errno in OUTPUT_PROBLEMS


def discard_output() -> None:
    """Let what is still to be written go nowhere, lest Python complain about it once more when it ends."""
    try:
        nowhere = os.open(os.devnull, os.O_WRONLY)
        os.dup2(nowhere, sys.stdout.fileno())
        os.close(nowhere)
    except (OSError, ValueError, AttributeError):
        return


def _ascii(name: str) -> codecs.CodecInfo | None:
    if name.replace("_", "-") != ASCII:
        return None
    found = codecs.lookup("ascii")
    return codecs.CodecInfo(
        found.encode,
        found.decode,
        found.streamreader,
        found.streamwriter,
        found.incrementalencoder,
        found.incrementaldecoder,
        ASCII,
    )
