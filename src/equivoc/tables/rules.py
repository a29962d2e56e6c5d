"""The rules that say which cells are unsafe, and how much protection they need: p %, pq, dominance, threshold.

With x_1 ≥ x_2 ≥ … the absolute contributions of a cell's contributors, unweighted, and T their sum. Empty cells,
cells whose contributors all agreed to be published, and cells whose value is not known are never unsafe. If some
agreed, the rule protects the largest of the others. Source: A. Hundepool et al., Handbook on Statistical Disclosure
Control, the chapter on magnitude tables.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import MISSING, dataclass, fields, replace
from typing import TYPE_CHECKING, Any, Protocol, runtime_checkable

import numpy as np
from numpy.typing import NDArray

from equivoc.checks import checked_number, checked_whole_number
from equivoc.errors import InputError, did_you_mean
from equivoc.models.cell_rules import (
    checked_dominance,
    checked_p,
    checked_q,
    dominance_protection,
    dominated_cells,
    estimable_cells,
    estimation_protection,
)
from equivoc.text import exact

if TYPE_CHECKING:
    from equivoc.tables.cell_table import CellTable

Floats = NDArray[np.float64]
Booleans = NDArray[np.bool_]


@runtime_checkable
class Rule(Protocol):
    """A rule for unsafe cells."""

    @property
    def text(self) -> str:
        """The rule as it is written on the command line."""

    def unsafe(self, table: CellTable) -> Booleans:
        """True for every cell, margins included, that must not be published."""

    def protection(self, table: CellTable) -> Floats:
        """How far above its value an intruder's upper bound of each unsafe cell must lie, in the value's unit; 0 for
        safe cells.
        """


@dataclass(frozen=True)
class PPercent:
    """A cell is unsafe if the second largest contributor can estimate the largest to within ``p`` %.

    T − x_1 − x_2 < p/100 · x_1; protection p/100 · x_1 − (T − x_1 − x_2). A larger p is stricter.
    """

    p: float

    def __post_init__(self) -> None:
        checked_p(self.p)

    @property
    def text(self) -> str:
        """The rule as it is written on the command line."""
        return f"p:{exact(self.p)}"

    def unsafe(self, table: CellTable) -> Booleans:
        """True for every cell that is unsafe by the rule."""
        return PQ(self.p).unsafe(table)

    def protection(self, table: CellTable) -> Floats:
        """The protection that each unsafe cell needs; 0 for safe cells."""
        return PQ(self.p).protection(table)


@dataclass(frozen=True)
class PQ:
    """As `PPercent`, for an intruder who knew the other contributions to within ``q`` % before.

    q/100 · (T − x_1 − x_2) < p/100 · x_1; protection p/q · x_1 − (T − x_1 − x_2). A larger p and a smaller q are
    stricter.
    """

    p: float
    q: float = 100

    def __post_init__(self) -> None:
        checked_p(self.p)
        checked_q(self.q)

    @property
    def text(self) -> str:
        """The rule as it is written on the command line."""
        return f"pq:p={exact(self.p)},q={exact(self.q)}"

    def unsafe(self, table: CellTable) -> Booleans:
        """True for every cell that is unsafe by the rule."""
        top = _largest(table, 2, "the p % rule" if self.q == 100 else "the pq rule")
        found = estimable_cells(table.contributions, top, p=self.p, q=self.q, protected=_protected(table))
        return found & may_be_unsafe(table)

    def protection(self, table: CellTable) -> Floats:
        """The protection that each unsafe cell needs; 0 for safe cells."""
        unsafe, top = self.unsafe(table), np.abs(table.top)
        needed = estimation_protection(
            table.contributions, top, p=self.p, q=self.q, protected=_protected(table)
        )
        return np.where(unsafe, needed, 0.0)


@dataclass(frozen=True)
class Dominance:
    """A cell is unsafe if its ``n`` largest contributions exceed ``k`` % of all.

    x_1 + … + x_n > k/100 · T; protection 100/k · (x_1 + … + x_n) − T. A larger n and a smaller k are stricter.
    """

    n: int = 1
    k: float = 60

    def __post_init__(self) -> None:
        checked_dominance(self.n, self.k)

    @property
    def text(self) -> str:
        """The rule as it is written on the command line."""
        return f"dominance:n={self.n},k={exact(self.k)}"

    def unsafe(self, table: CellTable) -> Booleans:
        """True for every cell that is unsafe by the rule."""
        top = _largest(table, self.n, "dominance")
        n = min(self.n, top.shape[1])
        found = dominated_cells(table.contributions, top, n=n, k=self.k, protected=_protected(table))
        return found & may_be_unsafe(table)

    def protection(self, table: CellTable) -> Floats:
        """The protection that each unsafe cell needs; 0 for safe cells."""
        unsafe, top = self.unsafe(table), np.abs(table.top)
        n = min(self.n, top.shape[1])
        needed = dominance_protection(table.contributions, top, n=n, k=self.k, protected=_protected(table))
        return np.where(unsafe, needed, 0.0)


@dataclass(frozen=True)
class Threshold:
    """A cell is unsafe if it has fewer than ``least`` contributors (but is not empty).

    Protection of a count: as far as the count is below ``least``, at least 1. Of a total: ``percent`` % of it, as the
    number of contributors says nothing about their contributions (τ-ARGUS calls this the safety range).
    """

    least: int
    percent: float = 10

    def __post_init__(self) -> None:
        checked_whole_number("least", self.least, at_least=1)
        checked_number("percent", self.percent, "a percentage above 0", lambda percent: 0 < percent < np.inf)

    @property
    def text(self) -> str:
        """The rule as it is written on the command line."""
        return f"threshold:{self.least}" + ("" if self.percent == 10 else f",percent={exact(self.percent)}")

    def unsafe(self, table: CellTable) -> Booleans:
        """True for every cell that is unsafe by the rule."""
        if (table.people[~np.isnan(table.values)] < 0).any():
            raise InputError(
                "the table does not say how many contributors its cells have, so the threshold rule cannot judge them: "
                "add a column people."
            )
        return (table.people < self.least) & may_be_unsafe(table)

    def protection(self, table: CellTable) -> Floats:
        """The protection that each unsafe cell needs; 0 for safe cells."""
        if table.value is None:
            needed = np.maximum(self.least - table.values, 1.0)
        else:
            needed = self.percent / 100 * np.maximum(np.abs(table.values), table.contributions)
        return np.where(self.unsafe(table), needed, 0.0)


def as_rules(given: Any) -> tuple[Rule, ...]:
    """One rule or several, each a rule or its text (``p:10``)."""
    several = [given] if isinstance(given, (str, Rule)) or not isinstance(given, Iterable) else list(given)
    rules = [rule_from(rule) if isinstance(rule, str) else rule for rule in several]
    for rule in rules:
        if not isinstance(rule, Rule) or isinstance(rule, type):
            raise InputError(
                f"the rule is {rule!r}; give eq.PPercent(10), eq.Dominance(n=1, k=60), eq.PQ(p=20, q=100) or "
                "eq.Threshold(3)."
            )
    if not rules:
        raise InputError("there is no rule; give at least one, such as eq.PPercent(10).")
    return tuple(rules)


def unsafe_cells(table: CellTable, rules: Any) -> Booleans:
    """True for every cell that is unsafe by one of the rules."""
    return np.asarray(np.any([rule.unsafe(table) for rule in as_rules(rules)], axis=0))


def protection_levels(table: CellTable, rules: Any) -> Floats:
    """The largest protection that one of the rules asks for, for each cell; 0 for safe cells."""
    return np.asarray(np.max([rule.protection(table) for rule in as_rules(rules)], axis=0))


def protection_from_largest(table: CellTable, rules: Any) -> Floats:
    """The protection that each unsafe cell needs from its own largest contributor, who knows x_1: that of the largest
    other contributor.

    p % and pq: p/q · x_2 − (T − x_1 − x_2). Dominance: x_2 takes the place of x_n. Threshold: the percentage of
    T − x_1. For p % and pq it is never more than `protection_levels`.
    """
    if table.value is None or table.top.shape[1] < 2:
        return protection_levels(table, rules)
    first, second = np.abs(table.top[:, 0]), np.abs(table.top[:, 1])
    others = second if table.unwaived is None else np.minimum(table.unwaived, second)
    without_first = replace(
        table, values=table.values - table.top[:, 0], contributions=table.contributions - first
    )
    found = [
        rule.protection(without_first if isinstance(rule, Threshold) else replace(table, unwaived=others))
        for rule in as_rules(rules)
    ]
    return np.asarray(np.max(found, axis=0))


def may_be_unsafe(table: CellTable) -> Booleans:
    """True for cells that a rule may call unsafe: with contributors who did not all agree, and with a known value."""
    return np.asarray((table.people != 0) & ~table.waived & ~np.isnan(table.values))


def _protected(table: CellTable) -> Floats | None:
    """The largest contribution of each cell that the rule protects; None: the largest of all."""
    return None if table.unwaived is None else table.unwaived


def _largest(table: CellTable, n: int, rule: str) -> Floats:
    """The absolute largest contributions; InputError if the rule cannot judge this table."""
    if table.value is None:
        raise InputError(
            f"the table counts people, and {rule} is about contributions to a total: use eq.Threshold (threshold:3)."
        )
    kept = table.top.shape[1]
    if not kept:
        raise InputError(
            f"the table does not say what its largest contributions are, so {rule} cannot judge its cells: add the "
            "columns people, largest and second."
        )
    if kept < n and bool(((table.people > kept) | (table.people < 0)).any()):
        raise InputError(
            f"{rule} needs the {n} largest contributions of each cell, and the table keeps {kept}: tabulate with "
            f"largest={n}."
        )
    return np.abs(table.top)


# Parses the notation of rules for unsafe cells: ``p:10``, ``dominance:n=1,k=60``, ``threshold:3``.

RULES: dict[str, type[Any]] = {"p": PPercent, "dominance": Dominance, "pq": PQ, "threshold": Threshold}
LONGEST_QUOTED = 60


def rule_from(text: str) -> Rule:
    """The rule that a notation describes; a number without a name is the first parameter.

    >>> rule_from("p:10"), rule_from("dominance:n=2,k=85"), rule_from("threshold:3")
    (PPercent(p=10), Dominance(n=2, k=85), Threshold(least=3, percent=10))
    """
    shown = repr(text if len(text) <= LONGEST_QUOTED else f"{text[:LONGEST_QUOTED]}…")
    name, _, rest = text.partition(":")
    name = name.strip()
    if name not in RULES:
        raise InputError(f"the rule {shown} has an unknown name{did_you_mean(name[:LONGEST_QUOTED], RULES)}")
    kind = RULES[name]
    allowed = [f.name for f in fields(kind)]
    given: dict[str, Any] = {}
    for place, item in enumerate(filter(None, map(str.strip, rest.split(",")))):
        parameter, equals, value = (part.strip() for part in item.partition("="))
        if not equals and place == 0:
            parameter, value = allowed[0], item
        if parameter not in allowed:
            raise InputError(
                f"the rule {shown} has an unknown parameter{did_you_mean(parameter[:LONGEST_QUOTED], allowed)}"
            )
        if parameter in given:
            raise InputError(f"the rule {shown} gives {parameter} twice.")
        given[parameter] = _number(value, parameter, shown)
    for field in fields(kind):
        if field.default is MISSING and field.name not in given:
            raise InputError(f"the rule {shown} needs {field.name}, as in {name}:{field.name}=10.")
    found: Rule = kind(**given)
    return found


def _number(text: str, parameter: str, shown: str) -> float:
    for kind in (int, float):
        try:
            return kind(text)
        except ValueError:
            continue
    raise InputError(f"the rule {shown} has no number for {parameter}.")
