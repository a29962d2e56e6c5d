"""Which format a file has, by its first bytes, and the table in it."""

from __future__ import annotations

import bz2
import lzma
import zipfile
import zlib
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from equivoc.errors import InputError
from equivoc.files import check_readable
from equivoc.reading.formats.kinds import NAMES, SUFFIXES, Format, FormatTable

_START = 1024
"""As many bytes say what a file is."""
_SAS = bytes(12) + bytes.fromhex("c2ea8160b31411cfbd92080009c7318c181f1011")
_OLE = bytes.fromhex("d0cf11e0a1b11ae1")
_ENCRYPTED = "EncryptedPackage".encode("utf-16-le")
_STATA_OLD = range(102, 116)
"""The first byte of a .dta file before Stata 13: its version."""


def open_format(
    path: Path,
    *,
    format: str | None = None,
    sheet: str | None = None,
    encoding: str | None = None,
    labels: str | None = None,
) -> FormatTable | None:
    """The table in the file; None for text and Parquet, which engines read where they lie.

    ``format`` is a word of `NAMES`; None: what the first bytes say. ``sheet`` chooses one of several sheets of a
    workbook, or frames of an .RData file. ``encoding`` is that of texts of a statistics package, if the
    file does not say it or is wrong about it. ``labels="codes"`` leaves labelled values as they are stored.
    """
    known = detected(path)
    if format is not None and format in NAMES and known != format:
        raise InputError(f"{path} is not {NAMES[format]}: its first bytes say otherwise")
    if known is None or format in ("csv", "fixed", "parquet"):
        return None
    if sheet is not None and known not in ("excel", "ods", "r"):
        raise InputError(
            f"sheet is {sheet!r}, but {path} is {NAMES[known]}, which has one table: leave it out"
        )
    if encoding is not None and known not in ("spss", "stata", "sas", "xport"):
        raise InputError(
            f"encoding is {encoding!r}, but {path} is {NAMES[known]}, whose texts are Unicode: leave it out"
        )
    if labels not in (None, "labels", "codes"):
        raise InputError(f"labels is {labels!r}; give 'labels' or 'codes'.")
    if known == "arrow":
        from equivoc.reading.formats.arrow import ArrowFile

        return ArrowFile(path)
    if known in ("excel", "ods"):
        from equivoc.reading.formats.sheets import open_sheet

        return open_sheet(path, known, sheet=sheet)
    if known == "r":
        from equivoc.reading.formats.r import open_r

        return open_r(path, frame=sheet, labelled=labels != "codes")
    from equivoc.reading.formats.statistics import open_statistics

    return open_statistics(path, known, encoding=encoding, labelled=labels != "codes")


def detected(path: Path) -> Format | None:
    """What the file is by its first bytes; None for text, Parquet, and compressed text.

    InputError if its name says that it is one of these formats and its bytes do not, or if it needs a password.
    """
    check_readable(path)
    try:
        with path.open("rb") as file:
            start = file.read(_START)
            found = _of_bytes(start, path)
    except OSError as refused:
        raise InputError(f"{path} cannot be read: {refused.strerror}") from None
    meant = SUFFIXES.get(path.suffix.lower())
    if found is None and meant is not None and start:
        if path.suffix.lower() in (".rda", ".rdata") and _is_text(start):
            raise InputError(
                f"{path} is text, not a file of R: if it describes the columns of a fixed-width file, as for µ-ARGUS, "
                "give the data file and name this one as its layout"
            )
        raise InputError(
            f"{path} cannot be read: by its name it is {NAMES[meant]}, but its first bytes are not those of one; "
            "it is damaged or has another format"
        )
    return found


def _of_bytes(start: bytes, path: Path) -> Format | None:
    if start.startswith((b"ARROW1", b"FEA1")) or _is_arrow_stream(start):
        return "arrow"
    if start.startswith((b"$FL2", b"$FL3")) or b"SPSSPORT" in start.replace(b"\r", b"").replace(b"\n", b""):
        return "spss"
    if start.startswith(b"<stata_dta>") or _is_old_stata(start):
        return "stata"
    if start.startswith(_SAS):
        return "sas"
    if start.startswith((b"HEADER RECORD*******LIBRARY", b"HEADER RECORD*******LIBV8")):
        return "xport"
    if start.startswith(b"PK\x03\x04"):
        return _of_zip(path)
    if start.startswith(_OLE):
        raise _is_ole(path)
    return "r" if _is_r(start, path) else None


def _is_arrow_stream(start: bytes) -> bool:
    """True for a schema message: a continuation mark, then a length that is a multiple of 8."""
    length = int.from_bytes(start[4:8], "little")
    return start.startswith(b"\xff\xff\xff\xff") and 0 < length < 2**24 and length % 8 == 0


def _is_old_stata(start: bytes) -> bool:
    """True for the header before Stata 13: version, byte order (1 or 2), file type 1, and a zero."""
    return (
        len(start) > 4
        and start[0] in _STATA_OLD
        and start[1] in (1, 2)
        and start[2] == 1
        and start[3] in (0, 1)
    )


def _of_zip(path: Path) -> Format | None:
    try:
        with zipfile.ZipFile(path) as archive:
            names = set(archive.namelist())
            kind = archive.read("mimetype")[:100] if "mimetype" in names else b""
    except (zipfile.BadZipFile, OSError, RuntimeError, zlib.error, NotImplementedError, ValueError) as broken:
        raise InputError(f"{path} cannot be read: it is a damaged zip file ({broken})") from None
    if "xl/workbook.bin" in names:
        raise InputError(f"{path} is a binary workbook: save it as .xlsx")
    if "xl/workbook.xml" in names:
        return "excel"
    return "ods" if kind.startswith(b"application/vnd.oasis.opendocument.spreadsheet") else None


def _is_ole(path: Path) -> InputError:
    """A container of Microsoft's: an encrypted workbook, or one of before 2007."""
    with path.open("rb") as file:
        while piece := file.read(1 << 20):
            if _ENCRYPTED in piece:
                return InputError(f"{path} is protected by a password: save a copy without one")
            file.seek(-min(len(piece) - 1, len(_ENCRYPTED)), 1) if len(piece) == 1 << 20 else None
    return InputError(f"{path} is a workbook in the format of before 2007: save it as .xlsx or CSV")


def _is_r(start: bytes, path: Path) -> bool:
    """True for a saved workspace or one saved object of R, compressed or not."""
    plain = start
    with _damage_ignored():
        if start.startswith(b"\x1f\x8b"):
            plain = zlib.decompressobj(31).decompress(start, 64)
        elif start.startswith(b"BZh"):
            # A block of bzip2 is only complete after up to 900 kB.
            with bz2.open(path) as file:
                plain = file.read(64)
        elif start.startswith((b"\xfd7zXZ\0", b"\x5d\0\0")):
            with lzma.open(path) as file:
                plain = file.read(64)
    if plain.startswith((b"RDX2\n", b"RDX3\n", b"RDA2\n", b"RDA3\n", b"RDB2\n", b"RDB3\n")):
        return True
    if plain.startswith(b"A\n"):  # a text file could begin like that, so its name decides
        return path.suffix.lower() == ".rds"
    return plain.startswith((b"X\n\0\0\0", b"B\n\2\0\0\0", b"B\n\3\0\0\0"))


@contextmanager
def _damage_ignored() -> Iterator[None]:
    """What cannot be decompressed is no file of R."""
    try:
        yield
    except (zlib.error, OSError, EOFError, lzma.LZMAError, ValueError):
        return


def _is_text(start: bytes) -> bool:
    return b"\0" not in start and not start.startswith((b"\x1f\x8b", b"BZh", b"\xfd7zXZ"))
