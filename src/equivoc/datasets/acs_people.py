"""ACS-like people of any number, drawn in pieces, each with its own random stream."""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from equivoc.checks import checked_whole_number
from equivoc.datasets import acs_figures as figures
from equivoc.datasets.acs_chances import Chances, chances
from equivoc.datasets.shipped import AGE, DOMAINS, SALARY
from equivoc.errors import InputError

if TYPE_CHECKING:
    import pandas as pd

Columns = dict[str, NDArray[np.int16]]

PIECE = 1_000_000
"""Rows per piece: a piece has one random stream per column, derived from the seed and its number."""

_BLOCK = 1 << 14  # rows worked on at a time: they fit in the processor's cache


def acs_like(n: int, *, seed: int = 0) -> pd.DataFrame:
    """``n`` people like those of the American Community Survey, in the paper's seven attributes.

    ``Salary`` (thousands of US dollars a year: 10, 20, … 250; confidential), ``Age`` (16–84 years), ``Sex`` (1
    male, 2 female), ``Education`` (1–16), ``Industry`` (1–18) and ``Occupation`` (1–25) as in `read_pums`,
    ``Travel_time`` (1–177 minutes). They are invented, from rounded figures of about 2019 after published tables
    (ACS B08303, B23006, C24030, DP03, S0801, S2401; BLS, CPS annual averages, 3, 7, 11, 18, 37, 39; all figures are
    in `equivoc.datasets.acs_figures`). Education depends on age; industry on education; sex on industry; occupation
    on industry and education; travel time, skewed to the right, on sex. The salary is log-normal given age, sex,
    education and occupation; it is rounded to the grid, and values beyond an end of the grid are set to that end.

    The same seed gives the same rows for any ``n``: a smaller ``n`` gives the first rows of a larger one.

    >>> acs_like(3, seed=1).equals(acs_like(1000, seed=1).head(3))
    True
    """
    import pandas as pd

    n, seed = checked_whole_number("n", n, at_least=1), checked_whole_number("seed", seed, at_least=0)
    whole: Columns = {name: np.empty(n, np.int16) for name in DOMAINS}
    start = 0
    for piece in _pieces(n, seed):
        size = piece["Salary"].size
        for name, column in piece.items():
            whole[name][start : start + size] = column
        start += size
    return pd.DataFrame(whole, copy=False)


def write_acs_like(path: str | os.PathLike[str], n: int, *, seed: int = 0) -> None:
    """The rows of ``acs_like(n, seed=seed)`` as a Parquet file, written piece by piece.

    Memory does not grow with ``n``. The file appears under its name when it is complete.

    >>> from tempfile import TemporaryDirectory
    >>> import pandas as pd
    >>> with TemporaryDirectory() as folder:
    ...     write_acs_like(Path(folder, "people.parquet"), 1000)
    ...     len(pd.read_parquet(Path(folder, "people.parquet")))
    1000
    """
    n, seed = checked_whole_number("n", n, at_least=1), checked_whole_number("seed", seed, at_least=0)
    path = Path(path)
    if path.is_dir():
        raise InputError(f"{path} is a folder: name the Parquet file to write")
    if not path.parent.is_dir():
        raise InputError(f"there is no folder {path.parent} to write {path.name} in")
    unfinished = path.with_name(f"{path.name}.part")
    try:
        try:
            _write(unfinished, n, seed)
            unfinished.replace(path)
        finally:
            unfinished.unlink(missing_ok=True)
    except OSError as refused:
        raise InputError(f"{path} cannot be written: {refused.strerror or refused}") from None


def _write(path: Path, n: int, seed: int) -> None:
    import pyarrow as pa
    import pyarrow.parquet as pq

    schema = pa.schema([(name, pa.int16()) for name in DOMAINS])
    with pq.ParquetWriter(path, schema) as writer:
        for piece in _pieces(n, seed):
            writer.write_table(pa.table(piece, schema=schema), row_group_size=PIECE)


def _pieces(n: int, seed: int) -> Iterator[Columns]:
    """The rows, at most `PIECE` at a time."""
    for number, start in enumerate(range(0, n, PIECE)):
        yield _piece(number, min(PIECE, n - start), seed)


def _piece(number: int, rows: int, seed: int) -> Columns:
    """The first rows of a piece. Every column reads its own stream in order, so fewer rows are a prefix."""
    fitted = chances()
    streams = {
        name: np.random.default_rng(np.random.SeedSequence(seed, spawn_key=(number, column)))
        for column, name in enumerate(DOMAINS)
    }
    piece: Columns = {name: np.empty(rows, np.int16) for name in DOMAINS}
    for start in range(0, rows, _BLOCK):
        block = slice(start, min(start + _BLOCK, rows))
        _fill({name: column[block] for name, column in piece.items()}, streams, fitted)
    return piece


def _fill(rows: Columns, streams: dict[str, np.random.Generator], fitted: Chances) -> None:
    """Draw one attribute after the other, each given those before it."""
    size = rows["Salary"].size
    uniforms = {name: stream.random(size) for name, stream in streams.items() if name != "Salary"}
    age = fitted.age.draw(0, uniforms["Age"])
    education = fitted.education.draw(age, uniforms["Education"])
    industry = fitted.industry.draw(education, uniforms["Industry"])
    sex = fitted.sex.draw(industry, uniforms["Sex"])
    workplace = industry * fitted.education.keep.shape[1] + education
    occupation = fitted.occupation.draw(workplace, uniforms["Occupation"])
    travel_time = fitted.travel_time.draw(sex, uniforms["Travel_time"])
    by_age, by_sex, by_education, by_occupation = fitted.earnings
    # Only sums and comparisons from here on, so that the salary does not depend on the machine's exp.
    earnings = by_age[age] + by_sex[sex] + by_education[education] + by_occupation[occupation]
    earnings += figures.SPREAD * streams["Salary"].standard_normal(size)
    rows["Salary"][:] = SALARY.start + SALARY.step * np.searchsorted(fitted.steps, earnings, side="right")
    rows["Age"][:] = AGE.start + age
    for name, level in (
        ("Sex", sex),
        ("Education", education),
        ("Industry", industry),
        ("Occupation", occupation),
        ("Travel_time", travel_time),
    ):
        rows[name][:] = level + 1
