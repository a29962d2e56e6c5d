"""A Census person file (ACS PUMS), recoded to the paper's seven attributes."""

from __future__ import annotations

import os
import re
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from equivoc.arguments import checked_whole_number
from equivoc.datasets.attributes import AGE, DOMAINS, SALARY, SEX, TRAVEL_TIME
from equivoc.datasets.pums_codes import EDUCATION, INDUSTRIES, OCCUPATIONS, education_levels, group_numbers
from equivoc.datasets.pums_files import PersonFile, person_files
from equivoc.errors import InputError

if TYPE_CHECKING:
    import pandas as pd

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
