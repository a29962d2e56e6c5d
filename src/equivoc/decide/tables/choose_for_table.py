"""The mildest setting of one method that makes a table meet the requirements."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np

from equivoc.arguments import checked_number
from equivoc.assessment.of_table import assess_table
from equivoc.assessment.requirements.requirement import Requirement, requirements
from equivoc.decide.choice.search import mildest
from equivoc.decide.choice.trial import Trial
from equivoc.decide.tables.methods import released
from equivoc.errors import InputError
from equivoc.number_format import counted, exact
from equivoc.tables.cell_table import CellTable
from equivoc.tables.noisy_counts import NoisyCells
from equivoc.tables.rounding.cell_rounding import CellRounding
from equivoc.tables.rules import PPercent
from equivoc.tables.suppression.cell_suppression import CellSuppression

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
        told = "" if missed is None or missed.binding is None else missed.binding.sentence
        if self.chosen is None:
            return (
                f"No setting that was tried meets the requirements ({trials}). At the strongest, "
                f"{self.parameter}={exact(self.strongest.value)}, {told}"
            )
        found = (
            f"{self.parameter}={exact(self.chosen.value)} is the mildest setting found that meets the requirements "
            f"({trials})."
        )
        if missed is None:
            return f"{found} It is the mildest of the range; a still milder one may do."
        return f"{found} The next milder one, {self.parameter}={exact(missed.value)}, fails: {told}"


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
            nothing = (None,) * len(asked)
            trials[place] = Trial(setting, values[place], result.requirements, nothing)
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
