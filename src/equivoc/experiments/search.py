"""The search for the mildest of many settings that meets the requirements, with few assessments."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from math import inf
from typing import Any

import numpy as np

from equivoc.assessment.of_table import assess_table
from equivoc.checks import checked_number
from equivoc.errors import InputError
from equivoc.requests.methods import released
from equivoc.requirements.outcome import Outcome
from equivoc.requirements.requirement import Requirement, requirements
from equivoc.tables.cell_rounding import CellRounding
from equivoc.tables.cell_table import CellTable
from equivoc.tables.noisy_counts import NoisyCells
from equivoc.tables.rules import PPercent
from equivoc.tables.suppression.cell_suppression import CellSuppression
from equivoc.techniques.technique import Technique
from equivoc.text import counted, exact

# One setting that was tried: its technique, and how it stands to each requirement.

WITH_THE_SETTING = ("h0", "area", "surprise", "gain", "hit", "true_hit", "certain_right")
"""The figures that follow a monotone parameter. k, l and t describe the released keys: a smaller sample has a smaller
k, though it is safer."""


@dataclass(frozen=True)
class Trial:
    """A setting and the outcome of each requirement."""

    technique: Technique
    value: float
    outcomes: tuple[Outcome, ...]

    @property
    def meets(self) -> bool:
        """True if it meets every requirement."""
        return all(each.meets for each in self.outcomes)

    @property
    def missed(self) -> float:
        """By how much it misses the requirements, relative to their limits; 0 if it meets them."""
        return max(map(_relative, self.outcomes))

    @property
    def binding(self) -> Outcome | None:
        """The requirement that is missed by the largest share of its limit; None if all are met."""
        return None if self.meets else max(self.outcomes, key=_relative)

    @property
    def hopeless(self) -> Outcome | None:
        """The first requirement that is not met even if nothing is released; None if there is none."""
        return next((each for each in self.outcomes if each.beyond_reach), None)


def _relative(outcome: Outcome) -> float:
    if outcome.meets:
        return 0.0
    if outcome.missed_by is None:  # the figure does not apply to this release
        return inf
    # A limit missed by less than can be written as a number is still missed.
    return max(outcome.missed_by / (abs(outcome.limit) or 1.0), 5e-324)


def follow_the_setting(requirements: Sequence[Requirement]) -> bool:
    """True if each requirement limits the risk in a figure that moves with a monotone parameter.

    The figure of the riskiest person depends on the draw too much.
    """
    return all(
        each.figure in WITH_THE_SETTING and each.over != "worst" and each.limits_risk for each in requirements
    )


GRID = 9
"""Settings of the first, coarse grid."""
EXHAUSTIVE = 16
"""Up to this many settings are tried one after the other."""

Missed = Callable[[int], float]
"""By how much the setting of this number misses the requirements; 0 if it meets them. 0 is the mildest setting."""


def mildest(count: int, missed: Missed, *, monotone: bool) -> int | None:
    """The number of the mildest of ``count`` settings that meets the requirements; None if none of those tried does.

    If ``monotone``, every setting stronger than one that meets them is taken to meet them too: the strongest is tried,
    then the mildest, then those between by bisection, 2 + log2(count) at most. Otherwise a coarse grid is tried from
    the mildest on, and the gap before the first that meets them is bisected; if none does, the neighbourhood of the
    closest one is tried more finely. Either way, the result meets them, and the next milder setting, if there is one,
    was tried and does not.

    >>> mildest(100, lambda i: max(0, 70 - i), monotone=True)
    70
    """
    last = count - 1
    if monotone:
        if missed(last) > 0:
            return None
        return 0 if missed(0) == 0 else _between(0, last, missed)
    if count <= EXHAUSTIVE:
        return next((i for i in range(count) if missed(i) == 0), None)
    grid = [round(i * last / (GRID - 1)) for i in range(GRID)]
    found = _first(grid, missed)
    if found is None:
        closest = min(range(GRID), key=lambda place: missed(grid[place]))
        begin, end = grid[max(closest - 1, 0)], grid[min(closest + 1, GRID - 1)]
        steps = min(GRID - 1, end - begin)
        found = _first([begin + round(i * (end - begin) / steps) for i in range(steps + 1)], missed)
    return None if found is None else _between(*found, missed)


def _first(places: Sequence[int], missed: Missed) -> tuple[int, int] | None:
    """The first place that meets the requirements, after the one before it; (0, 0) if it is the first of all."""
    before = 0
    for place in places:
        if missed(place) == 0:
            return before, place
        before = place
    return None


def _between(fails: int, meets: int, missed: Missed) -> int:
    """A place in (fails, meets] that meets the requirements, while the one before it does not: by bisection."""
    while meets - fails > 1:
        middle = (fails + meets) // 2
        if missed(middle) > 0:
            fails = middle
        else:
            meets = middle
    return meets


# The mildest setting of one method that makes a table meet the requirements.

MOST_SETTINGS = 10_000
PARAMETERS = {CellRounding: "base", CellSuppression: "p", NoisyCells: "epsilon"}
"""The parameter of each method; more of it is safer, but for epsilon."""


@dataclass(frozen=True, eq=False)
class TableChoice:
    """The mildest setting that meets the requirements, and what was tried to find it."""

    parameter: str
    chosen: Trial | None
    """The chosen setting with its outcomes; None if none that was tried meets the requirements."""
    trials: tuple[Trial, ...] = field(repr=False)
    """What was tried, in that order."""
    milder: Trial | None = field(repr=False)
    """The next milder setting, which fails; None if the mildest of the range meets them, or none does."""
    strongest: Trial = field(repr=False)
    notes: tuple[str, ...] = ()
    """What to know about how the people of the table were read."""

    @property
    def technique(self) -> Any:
        """The chosen method; None if none that was tried meets the requirements."""
        return None if self.chosen is None else self.chosen.technique

    @property
    def value(self) -> float | None:
        """The chosen value of the parameter."""
        return None if self.chosen is None else self.chosen.value

    @property
    def failed(self) -> Any:
        """The next milder method, which fails; None if there is none."""
        return None if self.milder is None else self.milder.technique

    @property
    def tried(self) -> Any:
        """A pandas frame, one row per setting in the order in which they were tried: value, meets, and each figure."""
        import pandas as pd

        columns: dict[str, list[Any]] = {
            self.parameter: [trial.value for trial in self.trials],
            "meets": [trial.meets for trial in self.trials],
        }
        for place, outcome in enumerate(self.trials[0].outcomes):
            columns[outcome.text] = [trial.outcomes[place].value for trial in self.trials]
        return pd.DataFrame(columns)

    @property
    def sentence(self) -> str:
        """The result in words."""
        trials = f"{counted(len(self.trials), 'setting')} tried"
        missed = self.strongest if self.chosen is None else self.milder
        reason = "" if missed is None or missed.binding is None else missed.binding.sentence
        if self.chosen is None:
            return (
                f"No setting that was tried meets the requirements ({trials}). At the strongest, "
                f"{self.parameter}={exact(self.strongest.value)}, {reason}"
            )
        found = (
            f"{self.parameter}={exact(self.chosen.value)} is the mildest setting found that meets the requirements "
            f"({trials})."
        )
        if missed is None:
            return f"{found} It is the mildest of the range; a still milder one may do."
        return f"{found} The next milder one, {self.parameter}={exact(missed.value)}, fails: {reason}"


def choose_for_table(
    table: CellTable,
    method: Any,
    parameter: str | None = None,
    *,
    require: Sequence[str | Requirement],
    low: float | None,
    high: float | None,
    step: float | None = None,
    seed: int = 0,
    eps: Any = None,
) -> TableChoice:
    """The mildest setting of a method for a table; see `equivoc.choose`.

    The base of CellRounding (the least), p of CellSuppression with a p% rule (the least), or ε of NoisyCells (the
    greatest), from ``low`` to ``high`` by ``step`` (None: 1, or a hundredth of the range if that is less). Protection
    need not grow with the setting, so up to 16 settings are all tried, and of more a grid that is then refined.
    """
    kind = method if isinstance(method, type) else type(method)
    if kind not in PARAMETERS:
        names = ", ".join(f"eq.{each.__name__}" for each in PARAMETERS)
        raise InputError(f"{method!r} has no setting to choose for a table of cells; use {names}.")
    name = PARAMETERS[kind]
    if parameter not in (None, name):
        raise InputError(
            f"parameter is {parameter!r}; the setting of {kind.__name__} that can be chosen is {name!r}."
        )
    asked = requirements(require)
    if not asked:
        raise InputError('no requirement is given; give at least one, such as "hit(100) <= 0.2".')
    values = _values(low, high, step)
    if kind is NoisyCells:
        values = values[::-1]
    trials: dict[int, Trial] = {}

    def missed(place: int) -> float:
        if place not in trials:
            setting = _with(method, kind, values[place])
            result = assess_table(table, released(setting, table, seed=seed), eps=eps, require=asked)
            trials[place] = Trial(setting, values[place], result.requirements)
        return trials[place].missed

    at = mildest(len(values), missed, monotone=False)
    if at is None:
        missed(len(values) - 1)  # the answer says by how much the strongest setting fails
    return TableChoice(
        name,
        None if at is None else trials[at],
        tuple(trials.values()),
        trials[at - 1] if at else None,
        trials[max(trials)],
        table.remarks,
    )


def _values(low: float | None, high: float | None, step: float | None) -> list[float]:
    if low is None or high is None:
        raise InputError("give low and high: the range of the setting.")
    begin = checked_number("low", low, "a finite number above 0", lambda value: 0 < value < np.inf)
    end = checked_number("high", high, "a finite number above 0", lambda value: 0 < value < np.inf)
    if begin > end:
        raise InputError(f"low is {exact(begin)} and high is {exact(end)}; low must not be above high.")
    each = min(1.0, (end - begin) / 100) or 1.0 if step is None else step
    each = checked_number("step", each, "a finite number above 0", lambda value: 0 < value < np.inf)
    count = int(np.floor((end - begin) / each + 1e-9)) + 1
    if count > MOST_SETTINGS:
        raise InputError(f"there are {count:,} settings from low to high; give a larger step.")
    # Multiples of a step such as 0.1 are rounded, so that 3 × 0.1 is 0.3.
    return [float(f"{begin + place * each:.12g}") for place in range(count)]


def _with(method: Any, kind: type, value: float) -> Any:
    """The method with this setting, and its other parameters kept if it was given as an instance."""
    if kind is CellSuppression:
        rule = PPercent(value)
        if isinstance(method, type):
            return CellSuppression(rule=rule)
        if not isinstance(method.rule, PPercent):
            raise InputError(
                "p can be chosen for one p% rule; give eq.CellSuppression(rule=eq.PPercent(10))."
            )
        return replace(method, rule=rule)
    if isinstance(method, type):
        return kind(value)
    return replace(method, **{PARAMETERS[kind]: value})
