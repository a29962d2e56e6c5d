"""Guesses the encoding of a text file from all of its bytes."""

from __future__ import annotations

import codecs
from pathlib import Path

from equivoc.engines.text_file import PIECE, Compression, Dialect, encoding_name, opened, undecodable
from equivoc.errors import InputError

_MARKS = (
    (codecs.BOM_UTF8, "utf-8"),
    (codecs.BOM_UTF32_LE, "utf-32"),
    (codecs.BOM_UTF32_BE, "utf-32"),
    (codecs.BOM_UTF16_LE, "utf-16"),
    (codecs.BOM_UTF16_BE, "utf-16"),
)
_WINDOWS_ONLY = bytes(range(0x80, 0xA0))
_UNDEFINED = b"\x81\x8d\x8f\x90\x9d"
"""Bytes that Windows-1252 does not have."""
_NEVER_TEXT = bytes(b for b in range(32) if chr(b) not in "\t\n\r\f\x1a\x1b")
_SAME = {"utf-8-sig": "utf-8", "iso8859-1": "latin-1", "cp1252": "windows-1252", "utf-8": "utf-8"}


def checked_encoding(given: str) -> str:
    """The encoding under its usual name; InputError if there is none of this name."""
    try:
        found = codecs.lookup(given)
    except (LookupError, ValueError):
        found = None
    if found is None or not getattr(found, "_is_text_encoding", True):
        raise InputError(
            f"encoding is {given!r}, which is not known; give utf-8, utf-16, latin-1, windows-1252 or another name."
        )
    return _SAME.get(found.name, found.name)


def guess_encoding(path: Path, compression: Compression) -> str:
    """UTF-8 if all of the file is; UTF-16 by its mark or its zero bytes; else Windows-1252 or Latin-1.

    InputError if some lines are UTF-8 and others are not.
    """
    with opened(path, compression) as file:
        start = file.read(PIECE)
        by_mark = next((name for mark, name in _MARKS if start.startswith(mark)), None)
        if by_mark is not None and by_mark != "utf-8":
            return by_mark
        zeros = _zeros(start)
        if zeros is not None:
            return zeros
        decode = codecs.getincrementaldecoder("utf-8")()
        try:
            piece = start
            while piece:
                if not (piece.isascii() and decode.getstate()[0] == b""):
                    decode.decode(piece)
                piece = file.read(PIECE)
            decode.decode(b"", final=True)
        except UnicodeDecodeError:
            pass
        else:
            return "utf-8"
    return _one_byte(path, compression)


def _zeros(start: bytes) -> str | None:
    """UTF-16 without a mark: every other byte of plain text is zero."""
    looked = start[:4096]
    even, odd = looked[::2].count(0), looked[1::2].count(0)
    half = len(looked) / 2
    if len(looked) >= 4 and odd > 0.4 * half and even == 0:
        return "utf-16-le"
    if len(looked) >= 4 and even > 0.4 * half and odd == 0:
        return "utf-16-be"
    return None


def _one_byte(path: Path, compression: Compression) -> str:
    """Windows-1252 or Latin-1, for a file that is not UTF-8."""
    seen: set[int] = set()
    several, single = 0, 0
    with opened(path, compression) as file:
        for number, line in enumerate(file, start=1):
            if line.isascii():
                continue
            try:
                line.decode()
                several = several or number
            except UnicodeDecodeError:
                single = single or number
                seen |= set(line)
    if several:
        raise InputError(
            f"{path} cannot be read: it is in two encodings (line {several} is UTF-8, line {single} is not); "
            "save all of it in one, or name the encoding that is meant"
        )
    if seen & set(_NEVER_TEXT):
        raise InputError(undecodable(path, Dialect(compression=compression)))
    if not seen & set(_WINDOWS_ONLY):
        return "latin-1"
    if seen & set(_UNDEFINED):
        raise InputError(
            f"{undecodable(path, Dialect(compression=compression)).partition(': ')[0]}, and not "
            f"{encoding_name('windows-1252')} either: name its encoding, or save it as UTF-8"
        )
    return "windows-1252"
