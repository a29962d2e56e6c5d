"""A Census person file (ACS PUMS), recoded to the paper's seven attributes."""

from __future__ import annotations

import csv
import io
import os
import re
import zipfile
import zlib
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import IO, TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from equivoc.checks import checked_whole_number
from equivoc.datasets.pums_codes import EDUCATION, INDUSTRIES, OCCUPATIONS, education_levels, group_numbers
from equivoc.datasets.shipped import AGE, DOMAINS, SALARY, SEX, TRAVEL_TIME
from equivoc.errors import InputError
from equivoc.files import check_readable

if TYPE_CHECKING:
    import pandas as pd
    import pyarrow as pa

# The columns of a Census person file as numbers, from a CSV file or the zip published by the Census.

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


COLUMNS = ("WAGP", "AGEP", "SEX", "SCHL", "INDP", "OCCP", "JWMNP")
"""The Census names of what the seven attributes are made from, in their order."""

_NAMED_BY_YEAR = re.compile(r"ss(\d\d)p", re.IGNORECASE)
_NAMED_SINCE_2017 = re.compile(r"psam_p", re.IGNORECASE)
_LAST_YEAR_OF_16_LEVELS = 7


def read_pums(path: str | os.PathLike[str], *, records: int | None = None, seed: int = 0) -> pd.DataFrame:
    """The people of a Census ACS PUMS person file who commute to paid work, in the paper's seven attributes.

    ``path`` is a CSV file or the zip published by the Census (``csv_pil.zip``); when the zip holds several
    person files, all are read, in the order of their names. ``records`` keeps that many rows at random by
    ``seed``, in the file's order. All columns are whole numbers:

    - ``Salary``: WAGP in thousands of US dollars, rounded half up to the nearest 10; above 250 it is 250. Rows
      without wages, or whose wages round to 0, are left out. WAGP is used unchanged, not adjusted to a year.
    - ``Age`` (AGEP): rows outside 16–84 years are left out. ``Sex`` (SEX): 1 male, 2 female.
    - ``Education``: SCHL in 16 levels. Files from 2008 on have 24 levels, which are folded. They are recognised by a
      level above 16 or, if none occurs, by the file's name (``ss08p…`` or later, ``psam_p…``).
    - ``Industry``, ``Occupation``: 18 groups of INDP and 25 of OCCP (`equivoc.datasets.pums_codes`). Rows whose
      code is blank, has letters, or lies in no group are left out.
    - ``Travel_time``: JWMNP in minutes; above 177 it is 177. Rows without a commute are left out.

    ``frame.attrs["left_out"]`` says how many rows each attribute left out; a row is counted once, under the
    first attribute that it lacks.

    >>> from tempfile import TemporaryDirectory
    >>> with TemporaryDirectory() as folder:
    ...     file = Path(folder, "ss06pil.csv")
    ...     _ = file.write_text("AGEP,SEX,SCHL,INDP,OCCP,JWMNP,WAGP\\n43,1,10,7690,4200,15,45000\\n")
    ...     read_pums(file).iloc[0].tolist()
    [50, 43, 1, 10, 11, 15, 15]
    """
    import pandas as pd

    if records is not None:
        checked_whole_number("records", records, at_least=1)
    checked_whole_number("seed", seed, at_least=0)
    path = Path(path)
    left_out = dict.fromkeys(DOMAINS, 0)
    parts = [_eligible(_recode(file), left_out) for file in person_files(path, COLUMNS)]
    table = {name: np.concatenate([part[name] for part in parts]) for name in DOMAINS}
    found = table["Salary"].size
    if not found:
        counts = ", ".join(f"{count:,} by {name}" for name, count in left_out.items() if count)
        raise InputError(
            f"{path} has no person with wages, a commute and known codes"
            + (f" (left out: {counts})" if counts else ": it has no records, only column names")
        )
    frame = pd.DataFrame(table)
    if records is not None:
        if records > found:
            raise InputError(
                f"{path} has {found:,} eligible rows, fewer than the {records:,} records asked for"
            )
        chosen = np.random.default_rng(seed).choice(found, records, replace=False)
        frame = frame.iloc[np.sort(chosen)].reset_index(drop=True)
    frame.attrs["left_out"] = left_out
    return frame


def _recode(file: PersonFile) -> dict[str, NDArray[np.int16]]:
    """The seven attributes of every row; 0 if the value is missing or outside the domain."""
    raw = file.numbers(COLUMNS)
    return {
        "Salary": _salary(raw["WAGP"]),
        "Age": _within(AGE, raw["AGEP"]),
        "Sex": _within(SEX, raw["SEX"]),
        "Education": education_levels(raw["SCHL"], folded=_has_24_levels(file.name, raw["SCHL"])),
        "Industry": group_numbers(INDUSTRIES, raw["INDP"]),
        "Occupation": group_numbers(OCCUPATIONS, raw["OCCP"]),
        "Travel_time": _within(TRAVEL_TIME, np.minimum(raw["JWMNP"], TRAVEL_TIME[-1])),
    }


def _eligible(
    columns: dict[str, NDArray[np.int16]], left_out: dict[str, int]
) -> dict[str, NDArray[np.int16]]:
    """The rows that have all attributes; the others are counted in ``left_out``."""
    eligible = np.ones(columns["Salary"].size, bool)
    for name, column in columns.items():
        left_out[name] += int(np.count_nonzero(eligible & (column == 0)))
        eligible &= column > 0
    return {name: column[eligible] for name, column in columns.items()}


def _salary(wages: NDArray[np.float64]) -> NDArray[np.int16]:
    """US dollars to thousands on the grid of 10; 0 where there are none."""
    tens = np.floor((wages + 5_000) / 10_000)
    return _within(SALARY, np.minimum(10 * tens, SALARY[-1]))


def _within(domain: range, numbers: NDArray[np.float64]) -> NDArray[np.int16]:
    """The numbers in the domain, 0 for the others."""
    return np.where(np.isin(numbers, np.array(domain)), numbers, 0).astype(np.int16)


def _has_24_levels(name: str, levels: NDArray[np.float64]) -> bool:
    """True if SCHL has 24 levels: by a level above 16, else by the year in the file's name."""
    if np.any(levels > len(EDUCATION)):
        return True
    year = _NAMED_BY_YEAR.match(name)
    if year:
        return int(year.group(1)) > _LAST_YEAR_OF_16_LEVELS
    return bool(_NAMED_SINCE_2017.match(name))
