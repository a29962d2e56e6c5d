"""All databases that give the recorded answers, one after the other: what an audit must agree with."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from itertools import combinations, product
from statistics import median, pvariance, variance

import numpy as np
from hypothesis import strategies as st

import equivoc as eq

Row = dict[str, object]
AGGREGATES: dict[str, Callable[[list[float]], float]] = {
    "SUM": sum,
    "AVG": lambda x: sum(x) / len(x),
    "MIN": min,
    "MAX": max,
    "MEDIAN": median,
    "VAR_POP": pvariance,
    "VAR_SAMP": variance,
}


@dataclass(frozen=True)
class Asked:
    """One statement in SQL, and who it is about."""

    sql: str
    aggregate: str
    members: tuple[int, ...]


@dataclass(frozen=True)
class Case:
    """People and a log about them."""

    rows: tuple[tuple[int, str], ...]
    """Age and sex."""
    pay: tuple[int, ...]
    values: tuple[int, ...]
    asked: tuple[Asked, ...]

    @property
    def people(self) -> eq.Microdata:
        import pandas as pd

        frame = pd.DataFrame(self.rows, columns=["age", "sex"]).assign(pay=self.pay)
        return eq.Microdata(frame, confidential="pay", keys=["age", "sex"], domain=self.values)

    @property
    def log(self) -> list[str]:
        return [each.sql for each in self.asked]


def answer(asked: Asked, pay: Sequence[float]) -> float | None:
    chosen = [pay[at] for at in asked.members]
    if not chosen or (asked.aggregate == "VAR_SAMP" and len(chosen) == 1):
        return None
    return float(AGGREGATES[asked.aggregate](chosen))


def consistent(case: Case, statements: Sequence[int] | None = None) -> list[tuple[int, ...]]:
    """The databases that give the same answers to these statements (None: all) as the true one."""
    used = [case.asked[at] for at in (range(len(case.asked)) if statements is None else statements)]
    true = [answer(each, case.pay) for each in used]
    return [
        database
        for database in product(case.values, repeat=len(case.pay))
        if all(_equal(answer(each, database), told) for each, told in zip(used, true, strict=True))
    ]


def _equal(one: float | None, other: float | None) -> bool:
    return one == other if one is None or other is None else abs(one - other) < 1e-9


def posterior(case: Case, prior: np.ndarray, statements: Sequence[int] | None = None) -> np.ndarray:
    """People × values: the shares of the databases that fit, each with the product of its prior probabilities."""
    found = np.zeros((len(case.pay), len(case.values)))
    place = {value: at for at, value in enumerate(case.values)}
    for database in consistent(case, statements):
        codes = [place[value] for value in database]
        weight = float(np.prod(prior[codes]))
        found[np.arange(len(codes)), codes] += weight
    return found / found.sum(axis=1, keepdims=True)


def certain(case: Case, person: int, statements: Sequence[int]) -> bool:
    return len({database[person] for database in consistent(case, statements)}) == 1


def smallest_size(case: Case, person: int) -> int:
    """The size of the smallest set of statements that leaves one value for the person."""
    numbers = range(len(case.asked))
    return next(
        size
        for size in range(len(case.asked) + 1)
        if any(certain(case, person, chosen) for chosen in combinations(numbers, size))
    )


Condition = tuple[str, Callable[[int, str], bool]]


@st.composite
def conditions(draw: st.DrawFn, depth: int = 2) -> Condition:
    """A WHERE clause, and whether it holds for an age and a sex."""
    kind = draw(
        st.sampled_from(["range", "sex", "at most", "not", "or", "in"] if depth else ["range", "sex"])
    )
    low = draw(st.integers(1, 5))
    if kind == "range":
        high = draw(st.integers(low, 5))
        return f"age BETWEEN {low} AND {high}", lambda age, sex: low <= age <= high
    if kind == "sex":
        which = draw(st.sampled_from("FM"))
        return f"sex = '{which}'", lambda age, sex: sex == which
    if kind == "at most":
        return f"{low} >= age", lambda age, sex: age <= low
    if kind == "in":
        high = draw(st.integers(1, 5))
        return f"age IN ({low}, {high})", lambda age, sex: age in (low, high)
    first, holds = draw(conditions(depth=depth - 1))
    if kind == "not":
        return f"NOT ({first})", lambda age, sex: not holds(age, sex)
    second, also = draw(conditions(depth=depth - 1))
    return f"({first}) OR ({second})", lambda age, sex: holds(age, sex) or also(age, sex)


@st.composite
def cases(
    draw: st.DrawFn, aggregates: Sequence[str] = ("SUM", "AVG", "MIN", "MAX"), most_people: int = 5
) -> Case:
    count = draw(st.integers(1, most_people))
    rows = tuple((draw(st.integers(1, 5)), draw(st.sampled_from("FM"))) for _ in range(count))
    values = draw(st.sampled_from([(0, 1, 2), (3, 4, 5, 6), (10, 20, 40, 50), (-2, 0, 2), (7,), (1, 2)]))
    pay = tuple(draw(st.sampled_from(values)) for _ in range(count))
    asked = []
    for _ in range(draw(st.integers(1, 5))):
        where, holds = draw(conditions())
        aggregate = draw(st.sampled_from(aggregates))
        members = tuple(at for at, (age, sex) in enumerate(rows) if holds(age, sex))
        asked.append(Asked(f"SELECT {aggregate}(pay) FROM people WHERE {where}", aggregate, members))
    return Case(rows, pay, values, tuple(asked))
