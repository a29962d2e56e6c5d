"""Conditional probabilities of age, education, industry and occupation from the published figures."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache

import numpy as np
from numpy.typing import ArrayLike, NDArray

from equivoc.datasets import acs_figures as figures
from equivoc.datasets.shipped import AGE, EDUCATION, SALARY, TRAVEL_TIME

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
