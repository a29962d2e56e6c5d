"""ACS-like people of any number, drawn in pieces, each with its own random stream, from the chances that follow from
published figures.
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import ArrayLike, NDArray

from equivoc.checks import checked_whole_number
from equivoc.datasets import acs_figures as figures
from equivoc.datasets.shipped import AGE, DOMAINS, EDUCATION, SALARY, TRAVEL_TIME
from equivoc.errors import InputError

if TYPE_CHECKING:
    import pandas as pd


# Draws levels with given probabilities (Walker's alias method).


@dataclass(frozen=True, eq=False)
class Lottery:
    """Probabilities of the levels 0, 1, …, one row per condition, as alias tables.

    A uniformly drawn level is kept with the probability in ``keep``, otherwise replaced by the one in ``other``.

    >>> lottery = Lottery.of([[1, 0, 0], [0.2, 0.2, 0.6]])
    >>> lottery.draw(np.array([0, 0, 1, 1]), np.array([0.1, 0.9, 0.1, 0.9]))
    array([0, 0, 0, 2])
    """

    keep: NDArray[np.float64]
    """One row per condition, one column per level."""
    other: NDArray[np.int64]
    """In the same shape."""

    @classmethod
    def of(cls, chances: ArrayLike) -> Lottery:
        """From probabilities, or weights proportional to them."""
        given = np.atleast_2d(np.asarray(chances, np.float64))
        levels = given.shape[1]
        shares = given / given.sum(axis=1, keepdims=True) * levels
        keep = np.ones_like(shares)
        other = np.tile(np.arange(levels), (len(shares), 1))
        for row, left in enumerate(shares):
            small = [level for level in range(levels) if left[level] < 1]
            large = [level for level in range(levels) if left[level] >= 1]
            while small and large:
                poor, rich = small.pop(), large[-1]
                keep[row, poor], other[row, poor] = left[poor], rich
                left[rich] -= 1 - left[poor]
                if left[rich] < 1:
                    small.append(large.pop())
        return cls(keep, other)

    def draw(
        self, circumstances: NDArray[np.integer] | int, uniforms: NDArray[np.float64]
    ) -> NDArray[np.int64]:
        """One level per uniform number in [0, 1), by the probabilities of its condition."""
        levels = self.keep.shape[1]
        scaled = uniforms * levels
        ticket = scaled.astype(np.int64)
        scaled -= ticket
        place = ticket + np.multiply(circumstances, levels, dtype=np.int64)
        drawn: NDArray[np.int64] = np.where(
            scaled < self.keep.ravel()[place], ticket, self.other.ravel()[place]
        )
        return drawn


Floats = NDArray[np.float64]

_ROUNDS = 200


@dataclass(frozen=True, eq=False)
class Chances:
    """Each attribute's probabilities given those drawn before it; all levels are numbered from 0."""

    age: Lottery
    education: Lottery
    """One row per age."""
    industry: Lottery
    """One row per level of education."""
    sex: Lottery
    """One row per industry."""
    occupation: Lottery
    """One row per industry and level of education, sorted by industry first."""
    travel_time: Lottery
    """One row per sex."""
    earnings: tuple[Floats, Floats, Floats, Floats]
    """Log of yearly earnings (US dollars): the parts by age, sex, education and occupation, to be added."""
    steps: Floats
    """Log of the earnings (US dollars) from which the next salary of the grid is the nearest one."""


@cache
def chances() -> Chances:
    """All probabilities, computed once."""
    age = age_shares()
    education = education_by_age()
    joint = education_and_industry(age @ education)
    occupation = occupation_within(joint)
    women = np.array([share for _, share, _ in figures.INDUSTRIES.values()])
    return Chances(
        age=Lottery.of(age),
        education=Lottery.of(education),
        industry=Lottery.of(joint),
        sex=Lottery.of(np.column_stack([100 - women, women])),
        occupation=Lottery.of(occupation.reshape(-1, len(figures.OCCUPATIONS))),
        travel_time=Lottery.of(minutes_by_sex()),
        earnings=earnings_parts(),
        steps=np.log(1000.0 * (np.array(SALARY[:-1]) + SALARY.step / 2)),
    )


def age_shares() -> Floats:
    """The probability of each age: linear between the middles of the published groups, with the groups' shares."""
    ages = np.array(AGE)
    middles = [(low + high) / 2 for low, high in figures.AGES]
    density = [share / (high - low + 1) for (low, high), share in figures.AGES.items()]
    smooth = np.interp(ages, [*middles, AGE[-1] + 1], [*density, 0.02])
    for (low, high), share in figures.AGES.items():
        group = (ages >= low) & (ages <= high)
        smooth[group] *= share / smooth[group].sum()
    return np.asarray(smooth / smooth.sum())


def education_by_age() -> Floats:
    """One row per age, one column per level."""
    rows = np.zeros((len(AGE), len(EDUCATION)))
    for start, shares in figures.EDUCATION_BY_AGE.items():
        levels = np.zeros(len(EDUCATION))
        for share, (name, parts) in zip(shares, figures.ATTAINMENTS.items(), strict=True):
            if name == "no diploma" and start == AGE[0]:
                parts = figures.SCHOOL_AGE_LEVELS
            for level, part in parts.items():
                levels[level - 1] = share * part
        rows[start - AGE[0] :] = levels / levels.sum()
    return rows


def education_and_industry(education: Floats) -> Floats:
    """The share of workers by level of education and industry, with the published shares of both."""
    industry = np.array([share for share, _, _ in figures.INDUSTRIES.values()])
    lean = np.array([_by_level(tiers, education) for _, _, tiers in figures.INDUSTRIES.values()]).T
    return _fitted(lean, education[:, None], (industry / industry.sum())[None, :])


def occupation_within(joint: Floats) -> Floats:
    """The share of workers by industry, level of education and occupation, with the published shares of occupations."""
    names = list(figures.OCCUPATIONS)
    within = np.full((len(figures.INDUSTRIES), len(names)), figures.ELSEWHERE)
    within[:, names.index("MIL")] = 0
    for row, main in enumerate(figures.OCCUPATIONS_WITHIN.values()):
        words = main.split()
        for name, percent in zip(words[::2], words[1::2], strict=True):
            within[row, names.index(name)] = float(percent)
    lean = np.array([_by_level(tiers, joint.sum(axis=1)) for _, _, tiers in figures.OCCUPATIONS.values()]).T
    shares = np.array([share for share, _, _ in figures.OCCUPATIONS.values()])
    return _fitted(
        within[:, None, :] * lean[None, :, :], joint.T[:, :, None], (shares / shares.sum())[None, None, :]
    )


def minutes_by_sex() -> Floats:
    """One row per sex, one column per minute; round numbers are more frequent, as in surveys."""
    minutes = np.array(TRAVEL_TIME)
    weight = np.ones(minutes.size)
    for divisor, factor in sorted(figures.ROUND_MINUTES.items()):
        weight[minutes % divisor == 0] = factor
    weight *= np.exp(-np.maximum(minutes - 60, 0) / figures.MINUTES_FALL_OFF)
    rows = np.zeros((2, minutes.size))
    for (low, high), shares in figures.MINUTES_TO_WORK.items():
        group = (minutes >= low) & (minutes <= high)
        rows[:, group] = np.outer(shares, weight[group] / weight[group].sum())
    return rows


def earnings_parts() -> tuple[Floats, Floats, Floats, Floats]:
    """Log of yearly earnings (US dollars) as a sum over age, sex, education and occupation."""
    known = figures.EARNINGS_BY_AGE
    by_age = np.interp(np.array(AGE), list(known), list(known.values()))
    by_sex = np.array([1.0, figures.WOMEN_TO_MEN])
    by_education = np.array(figures.WEEKLY_BY_EDUCATION) / figures.WEEKLY
    by_occupation = np.array([weekly for _, weekly, _ in figures.OCCUPATIONS.values()]) / figures.WEEKLY
    return (
        np.log(52 * figures.WEEKLY * by_age),
        np.log(by_sex),
        figures.EDUCATION_WEIGHT * np.log(by_education),
        figures.OCCUPATION_WEIGHT * np.log(by_occupation),
    )


def _by_level(tiers: tuple[float, ...], education: Floats) -> Floats:
    """The shares of the tiers, divided among their levels in proportion to how often these occur."""
    tier = np.searchsorted(figures.TIERS, np.array(EDUCATION))
    whole = np.bincount(tier, weights=education)
    return np.asarray(np.array(tiers)[tier] * education / whole[tier])


def _fitted(table: Floats, *margins: Floats) -> Floats:
    """The table nearest to the given one whose sums are the margins (iterative proportional fitting).

    A margin has as many axes as the table; the table is summed over the axes on which the margin has length 1.
    """
    for _ in range(_ROUNDS):
        for margin in margins:
            summed = tuple(axis for axis, length in enumerate(margin.shape) if length == 1)
            table = table * (margin / table.sum(axis=summed, keepdims=True))
    return table


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
