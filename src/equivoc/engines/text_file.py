"""A text file: how its bytes are packed and encoded, its text, and a plain copy that DuckDB can read."""

from __future__ import annotations

import codecs
import gzip
import io
import lzma
import tempfile
import zipfile
import zlib
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import IO, BinaryIO, Literal, cast

from equivoc.errors import InputError
from equivoc.temporary_files import temporary_folder

Compression = Literal["none", "gzip", "zstd", "zip"]
PIECE = 1 << 20
FREELY = 64 * 2**20
"""So many bytes are unpacked without a question."""
MOST_RATIO = 200
"""Above that, so many times the packed size: text is hardly ever packed more tightly, a bomb of zeros is."""
NAMED = {"utf-8": "UTF-8", "utf-16": "UTF-16", "latin-1": "Latin-1", "windows-1252": "Windows-1252"}


@dataclass(frozen=True)
class Dialect:
    """How a text file holds its table."""

    separator: str = ","
    names: tuple[str, ...] = ()
    """The columns; of a file without a header column_1, column_2, …."""
    header: bool = True
    """True if the first line holds the names."""
    skipped: int = 0
    """Lines before the header: the one that tells a spreadsheet the separator."""
    row_names: bool = False
    """True if the first column has no name in the header, as R writes the names of rows."""
    encoding: str = "utf-8"
    compression: Compression = "none"

    @property
    def codec(self) -> str:
        """The encoding for Python; a byte order mark at the beginning is left out."""
        return "utf-8-sig" if self.encoding == "utf-8" else self.encoding


def compression_of(path: Path) -> Compression:
    """How the file is packed, by its name or its first bytes."""
    with path.open("rb") as file:
        start = file.read(4)
    if path.suffix.lower() == ".gz" or start[:2] == b"\x1f\x8b":
        return "gzip"
    if start == b"\x28\xb5\x2f\xfd":
        return "zstd"
    return "zip" if start == b"PK\x03\x04" else "none"


@contextmanager
def opened(path: Path, compression: Compression) -> Iterator[BinaryIO]:
    """The file's bytes, unpacked; InputError if it is damaged, or unpacks to much more than a text would."""
    try:
        with _unpacked(path, compression) as file:
            yield file
    except (OSError, EOFError, zlib.error, lzma.LZMAError, zipfile.BadZipFile, RuntimeError) as broken:
        if compression == "none" and not isinstance(broken, OSError):
            raise
        why = (
            str(broken).strip().splitlines()[0].rstrip(". ") if str(broken).strip() else type(broken).__name__
        )
        if compression == "none":
            raise InputError(f"{path} cannot be read: {why}") from None
        raise InputError(
            f"{path} cannot be read: it is damaged or truncated ({why}); get a new copy"
        ) from None


@contextmanager
def _unpacked(path: Path, compression: Compression) -> Iterator[BinaryIO]:
    if compression == "none":
        with path.open("rb") as file:
            yield file
    elif compression == "gzip":
        with gzip.open(path) as packed:
            yield cast("BinaryIO", _limited(packed, path))
    elif compression == "zstd":
        import pyarrow as pa

        with pa.input_stream(str(path.resolve()), compression="zstd") as stream:
            yield cast("BinaryIO", _limited(stream, path))
    else:
        with zipfile.ZipFile(path) as archive, archive.open(_only_file(archive, path)) as inside:
            yield cast("BinaryIO", _limited(inside, path))


def _only_file(archive: zipfile.ZipFile, path: Path) -> zipfile.ZipInfo:
    """The one file in a zip, folders and the notes of macOS left out."""
    files = [
        each for each in archive.infolist() if not (each.is_dir() or each.filename.startswith("__MACOSX/"))
    ]
    if len(files) != 1:
        named = ", ".join(each.filename for each in files[:5])
        many = f"{len(files)} files ({named}{', …' if len(files) > 5 else ''})" if files else "no file"
        raise InputError(f"{path} is a zip with {many}: give a zip with one file, or that file itself")
    if files[0].flag_bits & 1:
        raise InputError(f"{path} is locked with a password: unpack it and give the file inside")
    return files[0]


def _limited(file: object, path: Path) -> io.BufferedReader:
    return io.BufferedReader(_Limited(file, path), PIECE)


class _Limited(io.RawIOBase):
    """Unpacked bytes, counted: a small file that unpacks to gigabytes is refused before it fills the disk."""

    def __init__(self, file: object, path: Path) -> None:
        super().__init__()
        self._file = cast("BinaryIO", file)
        self._path = path
        self._most = max(FREELY, MOST_RATIO * path.stat().st_size)
        self._seen = 0

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: bytearray | memoryview) -> int:  # type: ignore[override]
        piece = self._file.read(len(buffer))
        buffer[: len(piece)] = piece
        self._seen += len(piece)
        if self._seen > self._most:
            raise InputError(
                f"{self._path} unpacks to more than {self._most / 2**20:,.0f} MiB, over {MOST_RATIO} times its size: "
                "unpack it yourself and give the file inside, if it is what it should be"
            )
        return len(piece)


@contextmanager
def open_text(path: Path, dialect: Dialect) -> Iterator[IO[str]]:
    """The file's text, unpacked and decoded, without a byte order mark and without the skipped lines."""
    with opened(path, dialect.compression) as file:
        text = io.TextIOWrapper(file, encoding=dialect.codec, newline="")
        for _ in range(dialect.skipped):
            text.readline()
        yield text
        text.detach()


@contextmanager
def plain_copy(path: Path, dialect: Dialect, folder: Path | None) -> Iterator[Path]:
    """The file itself if DuckDB reads it where it lies; else a copy in UTF-8 that only its owner can read, removed
    afterwards; it lies in ``folder``, or among the system's temporary files.
    """
    if dialect.encoding == "utf-8" and dialect.compression in ("none", "gzip"):
        yield path
        return
    with temporary_folder(Path(tempfile.gettempdir()) if folder is None else folder.resolve()) as private:
        copy = private / "people.csv"
        decode = codecs.getincrementaldecoder(dialect.codec)()
        try:
            with opened(path, dialect.compression) as file, copy.open("wb") as out:
                while piece := file.read(PIECE):
                    out.write(decode.decode(piece).encode())
                out.write(decode.decode(b"", final=True).encode())
        except UnicodeError:
            raise InputError(undecodable(path, dialect)) from None
        yield copy


def undecodable(path: Path, dialect: Dialect) -> str:
    """The message for a file that is not in its encoding, with the place."""
    name = encoding_name(dialect.encoding)
    advice = (
        "name its encoding, or save it as UTF-8" if dialect.encoding == "utf-8" else "name another encoding"
    )
    seen = 0
    with opened(path, dialect.compression) as file:
        for line in file:
            try:
                line.decode(dialect.encoding)
            except UnicodeDecodeError as wrong:
                if dialect.encoding.startswith("utf-16"):
                    break  # its lines are not those of the bytes
                before = line[: wrong.start]
                # A carriage return may end a line as well.
                lines = (before + b"x").splitlines()
                place = f"line {seen + len(lines)}, byte {len(lines[-1])}, is 0x{line[wrong.start]:02x}"
                return f"{path} is not {name} text ({place}): {advice}"
            seen += len(line.splitlines())
    return f"{path} is not {name} text: {advice}"


def encoding_name(encoding: str) -> str:
    """The encoding as people write it: UTF-8, Latin-1."""
    return NAMED.get(encoding, encoding)
