"""Singling out: predicates made from a released table that fit exactly one person."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from equivoc.arguments import check_choice, checked_whole_number
from equivoc.data.microdata import Microdata
from equivoc.intruder.release import Release
from equivoc.models.known_classes import Known
from equivoc.models.of_synthetic.attack_success import Interval, Rate, excess
from equivoc.models.of_synthetic.attacked_tables import Attribute, checked_attributes

KINDS = ("univariate", "multivariate")
_DRAWS = 4
"""A multivariate attack gives up after this many draws for each predicate asked for …"""
_FEWEST = 0.02
"""… or if of the first draws, as many as predicates are asked for, less than this share fit one record."""
Floats = NDArray[np.float64]


class Condition(NamedTuple):
    """One part of a predicate: an attribute's number, a sign (=, ≤ or ≥) and a value; None: is null."""

    attribute: int
    sign: str
    value: float | None


Predicate = tuple[Condition, ...]


class SortedTable:
    """Columns with their sorted order, to count the records that fit a predicate."""

    def __init__(self, columns: Sequence[Floats]) -> None:
        self.columns = columns
        self.orders = [np.argsort(column, kind="stable") for column in columns]
        self.sorted = [column[order] for column, order in zip(columns, self.orders, strict=True)]
        self.numbers = [int(np.count_nonzero(~np.isnan(column))) for column in columns]
        """How many records of each column are not null; nulls are sorted last."""

    def fitting(self, predicate: Predicate) -> int:
        """How many records fit; null fits neither ≤ nor ≥."""
        ranges = [self._range(condition) for condition in predicate]
        shortest = min(range(len(ranges)), key=lambda at: ranges[at][1] - ranges[at][0])
        begin, end = ranges[shortest]
        records = self.orders[predicate[shortest].attribute][begin:end]
        for at, (condition, (low, high)) in enumerate(zip(predicate, ranges, strict=True)):
            if at != shortest and low < high and len(records):
                column, values = self.columns[condition.attribute][records], self.sorted[condition.attribute]
                if condition.value is None:
                    records = records[np.isnan(column)]
                else:
                    records = records[(column >= values[low]) & (column <= values[high - 1])]
        return len(records)

    def _range(self, condition: Condition) -> tuple[int, int]:
        """Where in its sorted column the values are that fit."""
        at, sign, value = condition
        if value is None:
            return self.numbers[at], len(self.sorted[at])
        values = self.sorted[at][: self.numbers[at]]
        begin = 0 if sign == "≤" else int(np.searchsorted(values, value, side="left"))
        end = len(values) if sign == "≥" else int(np.searchsorted(values, value, side="right"))
        return begin, end


@dataclass(frozen=True)
class SinglingOut:
    """How often a predicate made from the release fits exactly one person. Smaller is safer."""

    attacks: int
    """How many predicates were tried; 0 if the release has none that single out one of its own records."""
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
      released record.

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
        predicates = list(_univariate(attributes))
        if len(predicates) > most:
            predicates = [predicates[at] for at in rng.choice(len(predicates), most, replace=False)]
    else:
        predicates = _multivariate(attributes, width, most, rng)
    naive = [_at_random(attributes, width, rng) for _ in predicates]
    same = min(people, control)
    everyone = SortedTable([each.people for each in attributes])
    drawn = rng.choice(people, same, replace=False)
    some = everyone if same == people else SortedTable([each.people[drawn] for each in attributes])
    drawn = rng.choice(control, same, replace=False)
    others = SortedTable([each.control[drawn] for each in attributes])
    whole, compared, beside = (_successes(predicates, table) for table in (everyone, some, others))
    difference, around = excess(compared, beside)
    return SinglingOut(
        attacks=len(predicates),
        success=whole.share,
        interval=whole.interval,
        compared=compared.share,
        control=beside.share,
        control_interval=beside.interval,
        baseline=_successes(naive, everyone).share,
        excess=difference,
        excess_interval=around,
    )


def _successes(predicates: Sequence[Predicate], table: SortedTable) -> Rate:
    return Rate(float(sum(table.fitting(predicate) == 1 for predicate in predicates)), len(predicates))


def _univariate(attributes: Sequence[Attribute]) -> Iterator[Predicate]:
    for at, each in enumerate(attributes):
        values, times = np.unique(each.released, return_counts=True)  # all nulls are one NaN, the last
        yield from ((Condition(at, "=", _or_null(v)),) for v in values[times == 1])
        values = values[~np.isnan(values)]
        if each.numeric and values.size:
            yield (Condition(at, "≤", float(values[0])),)
            yield (Condition(at, "≥", float(values[-1])),)


def _multivariate(
    attributes: Sequence[Attribute], width: int, most: int, rng: np.random.Generator
) -> list[Predicate]:
    """Different predicates that fit exactly one released record, up to ``most``."""
    released = SortedTable([each.released for each in attributes])
    medians = [
        float(np.median(values[:some])) if some else 0.0
        for values, some in zip(released.sorted, released.numbers, strict=True)
    ]
    tried: set[Predicate] = set()
    found: list[Predicate] = []
    for drawn in range(_DRAWS * most):
        if len(found) == most or (drawn == most and len(found) < _FEWEST * most):
            break
        record = int(rng.integers(len(attributes[0].released)))
        conditions = []
        for at in _some_attributes(len(attributes), width, rng):
            value = _or_null(attributes[at].released[record])
            above = value is not None and value > medians[at]
            sign = "=" if value is None or not attributes[at].numeric else "≥" if above else "≤"
            conditions.append(Condition(at, sign, value))
        predicate = tuple(conditions)
        if predicate not in tried:
            tried.add(predicate)
            if released.fitting(predicate) == 1:
                found.append(predicate)
    return found


def _at_random(attributes: Sequence[Attribute], width: int, rng: np.random.Generator) -> Predicate:
    """Attributes, signs and values at random, each value from a released record of its own."""
    found = []
    for at in _some_attributes(len(attributes), width, rng):
        column = attributes[at].released
        value = _or_null(column[rng.integers(len(column))])
        ordered = attributes[at].numeric and value is not None
        found.append(Condition(at, "=≤≥"[rng.integers(3)] if ordered else "=", value))
    return tuple(found)


def _some_attributes(number: int, width: int, rng: np.random.Generator) -> list[int]:
    chosen: list[int] = np.sort(rng.choice(number, min(width, number), replace=False)).tolist()
    return chosen


def _or_null(value: float) -> float | None:
    return None if np.isnan(value) else float(value)
