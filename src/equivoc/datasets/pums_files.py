"""The columns of a Census person file as numbers, from a CSV file or the zip published by the Census."""

from __future__ import annotations

import csv
import io
import zipfile
import zlib
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import IO, TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from equivoc.errors import InputError
from equivoc.files import check_readable

if TYPE_CHECKING:
    import pyarrow as pa

# 7690, 0170, 15.0, and 1e+05, as R writes 100000.
_NUMBER = r"^\s*[+-]?[0-9]+(\.[0-9]*)?([eE][+-]?[0-9]+)?\s*$"
_ENCRYPTED = 0x1


@dataclass(frozen=True)
class PersonFile:
    """A CSV file with a header, on its own or inside a zip."""

    path: Path
    """The file on disk."""
    member: str | None = None
    """The CSV file's name inside the zip."""

    @property
    def name(self) -> str:
        """The CSV file's own name, without folders."""
        return Path(self.member or self.path).name

    def __str__(self) -> str:
        return str(self.path) if self.member is None else f"{self.member} in {self.path}"

    @contextmanager
    def open(self) -> Iterator[IO[bytes]]:
        """The file's bytes; errors become an InputError."""
        with _one_sentence(self.path):
            if self.member is None:
                with self.path.open("rb") as file:
                    yield file
            else:
                with zipfile.ZipFile(self.path) as archive, archive.open(self.member) as file:
                    yield file

    def header(self) -> list[str]:
        """The columns' names, in capitals."""
        with self.open() as file:
            lines = csv.reader(io.TextIOWrapper(file, encoding="utf-8-sig", errors="replace", newline=""))
            try:
                names = next(lines, [])
            except csv.Error as wrong:
                raise InputError(f"{self} is not a readable CSV file: {wrong}") from None
        if not names:
            raise InputError(f"{self} is empty: give a file with a header and records")
        return [name.strip().upper() for name in names]

    def numbers(self, columns: Sequence[str]) -> dict[str, NDArray[np.float64]]:
        """The named columns of every row; blanks and text are NaN."""
        import pyarrow as pa
        from pyarrow import csv as arrow_csv

        header = self.header()
        for name in columns:
            if header.count(name) > 1:
                raise InputError(f"{self} has more than one column named {name}: remove all but one")
        wanted = [str(header.index(name)) for name in columns]
        pieces: dict[str, list[NDArray[np.float64]]] = {name: [] for name in columns}
        with self.open() as file:
            try:
                batches = arrow_csv.open_csv(
                    file,
                    read_options=arrow_csv.ReadOptions(
                        column_names=[str(place) for place in range(len(header))]
                    ),
                    parse_options=arrow_csv.ParseOptions(newlines_in_values=True),
                    convert_options=arrow_csv.ConvertOptions(
                        include_columns=wanted, column_types=dict.fromkeys(wanted, pa.binary())
                    ),
                )
                for batch in batches:
                    for name, column in zip(columns, batch.columns, strict=True):
                        pieces[name].append(_as_numbers(column))
            except pa.ArrowInvalid as wrong:
                raise InputError(f"{self} is not a readable CSV file: {_one_line(wrong)}") from None
        # The header was read as a row like the others.
        return {name: np.concatenate(parts)[1:] for name, parts in pieces.items()}


def person_files(path: Path, columns: Sequence[str]) -> list[PersonFile]:
    """The CSV files that have all the columns: the file itself, or those in the zip by name."""
    check_readable(path)
    files = _members(path) if _is_zip(path) else [PersonFile(path)]
    lacking = {file: [name for name in columns if name not in file.header()] for file in files}
    whole = [file for file, missing in lacking.items() if not missing]
    if not whole:
        nearest = min(lacking, key=lambda file: len(lacking[file]))
        missing = lacking[nearest]
        raise InputError(
            f"{nearest} lacks the column{'s' * (len(missing) > 1)} {', '.join(missing)}: "
            "give a person file of the American Community Survey (PUMS)"
        )
    return whole


def _is_zip(path: Path) -> bool:
    with _one_sentence(path), path.open("rb") as file:
        return path.suffix.lower() == ".zip" or file.read(4) == b"PK\x03\x04"


def _members(path: Path) -> list[PersonFile]:
    with _one_sentence(path), zipfile.ZipFile(path) as archive:
        found = sorted(
            (
                info
                for info in archive.infolist()
                # Some programs add a folder of hidden "._" copies.
                if info.filename.lower().endswith(".csv") and not Path(info.filename).name.startswith(".")
            ),
            key=lambda info: info.filename,
        )
    if not found:
        raise InputError(f"{path} holds no CSV file: give the zip of a Census person file")
    if any(info.flag_bits & _ENCRYPTED for info in found):
        raise InputError(f"{path} is locked by a password: unpack it first")
    return [PersonFile(path, info.filename) for info in found]


@contextmanager
def _one_sentence(path: Path) -> Iterator[None]:
    """Turn errors of files and zips into InputError."""
    try:
        yield
    except (zipfile.BadZipFile, zlib.error, EOFError) as broken:
        raise InputError(f"{path} is a broken zip file ({str(broken).rstrip('.')}): get a new copy") from None
    except NotImplementedError as unknown:
        raise InputError(f"{path} cannot be unpacked ({unknown}): unpack it first") from None
    except OSError as refused:
        raise InputError(f"{path} cannot be read: {refused.strerror or refused}") from None


def _as_numbers(column: pa.Array) -> NDArray[np.float64]:
    import pyarrow as pa
    import pyarrow.compute as pc

    known = pc.if_else(pc.match_substring_regex(column, _NUMBER), column, None)
    numbers = pc.cast(pc.ascii_trim_whitespace(pc.cast(known, pa.string())), pa.float64())
    return np.asarray(numbers.to_numpy(zero_copy_only=False), np.float64)


def _one_line(wrong: Exception) -> str:
    return str(wrong).splitlines()[0].strip()[:200]
