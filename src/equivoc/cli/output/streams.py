"""Standard output and error: readable in every encoding, with a message if the disk is full."""

from __future__ import annotations

import codecs
import errno
import os
import sys

from equivoc.plain_text import written_with

ERRORS = "equivoc-fallback"
ASCII = "equivoc-ascii"
"""ASCII under another name, because Typer writes UTF-8 to a stream whose encoding is named ASCII."""
OUTPUT_PROBLEMS = {errno.ENOSPC, errno.EDQUOT, errno.EFBIG, errno.EIO, errno.EBADF}


def prepare_streams() -> None:
    """Make the streams replace characters that their encoding lacks: ε by eps, ± by +/-, box lines by ASCII."""
    codecs.register_error(ERRORS, written_with)
    codecs.register(_ascii)
    for stream in (sys.stdout, sys.stderr):
        change = getattr(stream, "reconfigure", None)
        if change is None:  # closed, or replaced by the caller
            continue
        plain = codecs.lookup(stream.encoding).name == "ascii"
        change(encoding=ASCII if plain else stream.encoding, errors=ERRORS)


def is_output_problem(problem: OSError) -> bool:
    """True if the output cannot be written, for example because the disk is full."""
    return problem.errno in OUTPUT_PROBLEMS


def discard_output() -> None:
    """Discard what is still buffered, so that Python does not report the same error again at exit."""
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
