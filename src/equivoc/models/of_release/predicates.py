"""Singling out: predicates made from a released table that fit exactly one person, and random ones beside them."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import combinations
from math import comb
from typing import Any

import numpy as np
from numpy.typing import NDArray

from equivoc.checks import check_choice, checked_whole_number
from equivoc.data.microdata import Microdata
from equivoc.models.of_file.measure import Known
from equivoc.models.of_release import fitting_kernels as kernels
from equivoc.models.of_release.attacks import Attribute, Interval, Rate, checked_attributes, excess
from equivoc.models.of_release.fitting_kernels import AT_LEAST, AT_MOST, EQUAL, NULL
from equivoc.releases.release import Release

Floats = NDArray[np.float64]

MOST_ATTEMPTS = 1_000_000
"""The search for predicates is given up after this many, …"""
MOST_WORK = 2_000_000_000
"""… or after looking at this many records, some seconds: few records are left out early in a long, varied table."""
_BATCH = 2_000
Ints = NDArray[np.int64]


@dataclass(frozen=True, eq=False)
class Predicates:
    """Predicates, one per row; each is as many conditions as there are columns, and a record must meet all."""

    attributes: Ints
    """The number of each condition's attribute."""
    signs: Ints
    """EQUAL, NULL, AT_MOST or AT_LEAST."""
    values: Floats
    """What the attribute is compared with."""

    def __len__(self) -> int:
        return len(self.attributes)

    def __getitem__(self, rows: Any) -> Predicates:
        return Predicates(self.attributes[rows], self.signs[rows], self.values[rows])

    def fitting(self, table: Floats) -> Ints:
        """How many records of a table fit each predicate: 0, 1, or 2 for several. The table has a row per attribute."""
        return _counted(self, table, len(self) + 1, np.iinfo(np.int64).max)[0]


@dataclass(frozen=True)
class Found:
    """Predicates that fit exactly one released record."""

    predicates: Predicates
    attempts: int
    """How many were made to find them."""
    all_there_are: bool
    """Whether every predicate that the release offers was made."""


def univariate(attributes: Sequence[Attribute], most: int, rng: np.random.Generator) -> Found:
    """Values that occur once in their column, and of numbers the least and the greatest: all, or ``most`` of them."""
    made: list[tuple[int, int, float]] = []
    for at, each in enumerate(attributes):
        values, times = np.unique(each.released, return_counts=True)  # all nulls are one NaN, the last
        made += [(at, NULL if np.isnan(v) else EQUAL, v) for v in values[times == 1]]
        values = values[~np.isnan(values)]
        if each.numeric and values.size:
            made += [(at, AT_MOST, values[0]), (at, AT_LEAST, values[-1])]
    table = np.array(made, np.float64).reshape(-1, 3)
    numbers = table[:, :2].astype(np.int64)
    every = Predicates(numbers[:, :1], numbers[:, 1:], table[:, 2:])
    if len(every) <= most:
        return Found(every, len(every), all_there_are=True)
    return Found(every[rng.choice(len(every), most, replace=False)], len(every), all_there_are=False)


def multivariate(attributes: Sequence[Attribute], width: int, most: int, rng: np.random.Generator) -> Found:
    """Different predicates of ``width`` attributes that fit exactly one released record, up to ``most``.

    A predicate is made of a released record and some attributes. Where there are few such pairs, all are tried, in
    random order; otherwise pairs are drawn. The predicates of different pairs that fit one record are different: each
    fits its own record.
    """
    released = np.stack([each.released for each in attributes])
    # In random order, a predicate that fits many records is soon seen to fit two.
    released = released[:, rng.permutation(released.shape[1])]
    high = _above_median(released)
    numeric = np.array([each.numeric for each in attributes])
    width = min(width, len(attributes))
    pairs = released.shape[1] * comb(len(attributes), width)
    kept: list[Predicates] = []
    seen: set[tuple[int, ...]] = set()
    attempts = work = 0
    for records, columns in _pairs(released.shape, width, rng):
        values, above = released[columns, records[:, None]], high[columns, records[:, None]]
        signs = np.where(numeric[columns], np.where(above, AT_LEAST, AT_MOST), EQUAL)
        made = Predicates(columns, np.where(np.isnan(values), NULL, signs), values)
        counts, tried, looked_at = _counted(made, released, most - len(seen), MOST_WORK - work)
        attempts, work = attempts + tried, work + looked_at
        for row in np.flatnonzero(counts == 1):
            pair = (int(records[row]), *columns[row].tolist())
            if pair not in seen:
                seen.add(pair)
                kept.append(made[row : row + 1])
        if len(seen) >= most or work >= MOST_WORK or attempts >= MOST_ATTEMPTS:
            break
    found = Predicates(
        *(
            np.concatenate([getattr(each, name) for each in kept] or [np.empty((0, width), kind)])
            for name, kind in (("attributes", np.int64), ("signs", np.int64), ("values", np.float64))
        )
    )
    return Found(found, attempts, all_there_are=attempts == pairs <= MOST_ATTEMPTS)


def at_random(
    attributes: Sequence[Attribute], width: int, number: int, rng: np.random.Generator
) -> Predicates:
    """Attributes, signs and values at random, each value from a released record of its own."""
    columns = _some_columns(len(attributes), min(width, len(attributes)), number, rng)
    released = np.stack([each.released for each in attributes])
    values = released[columns, rng.integers(released.shape[1], size=columns.shape)]
    ordered = np.array([each.numeric for each in attributes])[columns]
    signs = np.where(ordered, rng.choice([EQUAL, AT_MOST, AT_LEAST], columns.shape), EQUAL)
    return Predicates(columns, np.where(np.isnan(values), NULL, signs), values)


def _counted(predicates: Predicates, table: Floats, wanted: int, most_work: int) -> tuple[Ints, int, int]:
    """The kernel's counts (0 for predicates that it did not come to), how many it came to, and its work."""
    counts = np.zeros(len(predicates), np.int64)
    tried, work = kernels.fitting(
        table, predicates.attributes, predicates.signs, predicates.values, wanted, most_work, counts
    )
    return counts, tried, work


def _above_median(released: Floats) -> NDArray[np.bool_]:
    """Which values are above their column's median; null is not."""
    high = np.zeros(released.shape, bool)
    for row, column in zip(high, released, strict=True):
        values = column[~np.isnan(column)]
        if values.size:
            row[:] = column > np.median(values)
    return high


def _pairs(shape: tuple[int, int], width: int, rng: np.random.Generator) -> Iterator[tuple[Ints, Ints]]:
    """Batches of records with attributes: every pair once if there are at most MOST_ATTEMPTS, otherwise drawn."""
    attributes, records = shape
    if records * comb(attributes, width) <= MOST_ATTEMPTS:
        subsets = np.array(list(combinations(range(attributes), width)), np.int64)
        order = rng.permutation(records * len(subsets))
        for begin in range(0, len(order), _BATCH):
            record, subset = np.divmod(order[begin : begin + _BATCH], len(subsets))
            yield record, subsets[subset]
        return
    while True:
        yield rng.integers(records, size=_BATCH), _some_columns(attributes, width, _BATCH, rng)


def _some_columns(attributes: int, width: int, number: int, rng: np.random.Generator) -> Ints:
    """``width`` different attributes for each of ``number`` predicates, in ascending order."""
    order = np.argsort(rng.random((number, attributes)), axis=1)
    return np.sort(order[:, :width], axis=1)


KINDS = ("univariate", "multivariate")


@dataclass(frozen=True)
class SinglingOut:
    """How often a predicate made from the release fits exactly one person. Smaller is safer."""

    attacks: int
    """How many predicates were tried; 0 if the release has none that single out one of its own records."""
    asked: int
    """How many were asked for."""
    attempts: int
    """How many predicates were made from released records to find them; one that fits several is not tried."""
    all_there_are: bool
    """Whether the release offers no other predicate; if not, and ``attacks`` < ``asked``, the search was given up."""
    success: float
    """The share that fits exactly one of the people in the data."""
    interval: Interval
    """Wilson's 95 % interval of it."""
    compared: float
    """The share that fits exactly one of as many people in the data as the control group has, or fewer."""
    control: float
    """The share that fits exactly one of the control group (of as many as there are people in the data, or fewer)."""
    control_interval: Interval
    baseline: float
    """The share of predicates put together at random that fit exactly one of the people in the data."""
    excess: float
    """``compared`` − ``control``: the part of the success that is due to being in the data."""
    excess_interval: Interval
    """Newcombe's 95 % interval of it; if it holds 0, no difference is shown."""

    @property
    def risk(self) -> float:
        """(compared − control)/(1 − control), at least 0: the share of successes that being in the data adds."""
        return max(0.0, self.excess / (1 - self.control)) if self.control < 1 else 0.0

    @property
    def note(self) -> str:
        """Why fewer predicates were tried than asked for; empty if they were not fewer."""
        if self.attacks >= self.asked:
            return ""
        why = "all there are" if self.all_there_are else f"all that {self.attempts:,} attempts found"
        return f"{why}; {self.asked:,} were asked for"


def singling_out(
    people: Microdata,
    release: Release,
    *,
    control: Any,
    known: Known = None,
    kind: str = "multivariate",
    columns: int = 3,
    attacks: int = 500,
    seed: int = 0,
) -> SinglingOut:
    """An intruder guesses from a released table that exactly one person in the data fits a predicate.

    - ``kind="univariate"``: one attribute: a value that occurs once in the released column, and of numbers the least
      (≤) and the greatest (≥). All of them, or ``attacks`` of them at random.
    - ``"multivariate"``: a random released record and ``columns`` random attributes (all, if there are fewer): equal
      categories; of numbers ≥ its value if that is above the released median, ≤ otherwise. Kept if it fits exactly one
      released record. Predicates are made until ``attacks`` are kept, or there are no others (of up to a million), or
      a million were made or two thousand million records looked at. With fewer than asked for, ``note`` says why.

    The attributes are the ``known`` keys (None: all) and the confidential one. A predicate succeeds if it fits exactly
    one person. The same predicates are tried on the ``control`` group, people of the same population who were not used
    to make the release (a table with the people's columns, or Microdata): a success there comes from information about
    the population. The success rate depends on the number of people, so both groups are compared with equally many
    people, drawn with the ``seed``. The baseline is predicates with attributes, signs and values at random.

    Source: M. Giomi, F. Boenisch, C. Wehmeyer and B. Tasnádi, A unified framework for quantifying privacy risk in
    synthetic data, PoPETs 2023(2), 312–328: the attacks of its Anonymeter. Comparing equal numbers is ours; there a
    model of the dependence on size is fitted.

    >>> import pandas as pd
    >>> from equivoc.techniques.released_file import ReleasedFile
    >>> frame = pd.DataFrame({"town": list("AABBC"), "pay": [10, 20, 20, 30, 40]})
    >>> people = Microdata(frame, confidential="pay", keys=["town"])
    >>> others = pd.DataFrame({"town": list("ABBAB"), "pay": [10, 20, 20, 20, 30]})
    >>> found = singling_out(people, ReleasedFile(frame).release(people), control=others, kind="univariate")
    >>> found.attacks, found.success, found.control        # town C; pay 10, 30, 40, ≤ 10, ≥ 40
    (6, 1.0, 0.5)
    """
    check_choice("kind", kind, KINDS)
    width = checked_whole_number("columns", columns, at_least=1)
    most, seed = (
        checked_whole_number("attacks", attacks, at_least=1),
        checked_whole_number("seed", seed, at_least=0),
    )
    attributes, others = checked_attributes(people, release, control, known)
    return attack(attributes, len(people), len(others), kind, width, most, np.random.default_rng(seed))


def attack(
    attributes: Sequence[Attribute],
    people: int,
    control: int,
    kind: str,
    width: int,
    most: int,
    rng: np.random.Generator,
) -> SinglingOut:
    """The attack on columns that are coded alike."""
    if kind == "univariate":
        width = 1
        found = univariate(attributes, most, rng)
    else:
        found = multivariate(attributes, width, most, rng)
    # As many as were asked for, so that the baseline is as precise if the release offers few.
    naive = at_random(attributes, width, most, rng)
    same = min(people, control)
    everyone = np.stack([each.people for each in attributes])
    some = everyone if same == people else everyone[:, rng.choice(people, same, replace=False)]
    others = np.stack([each.control for each in attributes])
    others = others if same == control else others[:, rng.choice(control, same, replace=False)]
    whole, compared, beside = (_successes(found.predicates, table) for table in (everyone, some, others))
    difference, around = excess(compared, beside)
    return SinglingOut(
        attacks=len(found.predicates),
        asked=most,
        attempts=found.attempts,
        all_there_are=found.all_there_are,
        success=whole.share,
        interval=whole.interval,
        compared=compared.share,
        control=beside.share,
        control_interval=beside.interval,
        baseline=_successes(naive, everyone).share,
        excess=difference,
        excess_interval=around,
    )


def _successes(predicates: Predicates, table: Floats) -> Rate:
    return Rate(float(np.count_nonzero(predicates.fitting(table) == 1)), len(predicates))
