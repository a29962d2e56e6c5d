"""The mildest setting of one technique that meets the requirements."""

from __future__ import annotations

import sys
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from equivoc.assessment.assess import assess
from equivoc.assessment.requirements.figures import used_eps, value_without_release
from equivoc.assessment.requirements.requirement import Requirement, requirements
from equivoc.data.microdata import Microdata, check_people
from equivoc.decide.choice.search import mildest
from equivoc.decide.choice.search_range import search_range
from equivoc.decide.choice.trial import Trial, follow_the_setting
from equivoc.decide.tables.choose_for_table import choose_for_table
from equivoc.errors import InputError
from equivoc.intruder.prior import Prior
from equivoc.number_format import counted, exact, figure
from equivoc.tables.cell_table import CellTable
from equivoc.techniques.technique import Technique


@dataclass(frozen=True, eq=False)
class Choice:
    """The mildest setting that meets the requirements, and what was tried to find it.

    Its attributes are also those of the chosen technique: ``best.percent``.
    """

    kind: type[Technique]
    parameter: str
    """The parameter that was varied."""
    chosen: Trial | None
    """The chosen setting with its figures; None if none that was tried meets the requirements."""
    trials: tuple[Trial, ...] = field(repr=False)
    """What was tried, in that order."""
    strongest: Trial = field(repr=False)
    """The strongest setting of the range, or of those tried if it was not."""
    milder: Trial | None = field(repr=False)
    """The next milder setting; None if the mildest of the range meets the requirements, or none does."""
    people: Microdata = field(repr=False)

    @property
    def technique(self) -> Technique | None:
        """The chosen setting; None if none that was tried meets the requirements."""
        return None if self.chosen is None else self.chosen.technique

    @property
    def value(self) -> float | None:
        """The chosen value of the parameter; None if none meets the requirements."""
        return None if self.chosen is None else self.chosen.value

    @property
    def failed(self) -> Technique | None:
        """The next milder setting, which fails; None if there is none."""
        return None if self.milder is None else self.milder.technique

    @property
    def binding(self) -> str | None:
        """The requirement that the next milder setting misses or, if no setting is chosen, the strongest one."""
        found = self._missed.binding if self._missed else None
        return None if found is None else found.text

    @property
    def missed_by(self) -> float | None:
        """By how much it is missed there, in the unit of its figure."""
        found = self._missed.binding if self._missed else None
        return None if found is None else found.missed_by

    @property
    def _missed(self) -> Trial | None:
        return self.strongest if self.chosen is None else self.milder

    @property
    def assessments(self) -> int:
        """How many settings were tried; a random technique with replicates made as many releases of each."""
        return len(self.trials)

    @property
    def mildest_first(self) -> list[Trial]:
        """What was tried, by strength."""
        setting = next(each for each in self.kind.settings if each.parameter == self.parameter)
        return sorted(self.trials, key=lambda trial: trial.value, reverse=setting.stronger == "less")

    @property
    def tried(self) -> Any:
        """A frame, one row per setting in the order in which they were tried: value, meets, and each figure."""
        columns: dict[str, list[Any]] = {
            self.parameter: [trial.value for trial in self.trials],
            "meets": [trial.meets for trial in self.trials],
        }
        for place, outcome in enumerate(self.trials[0].outcomes):
            columns[outcome.text] = [trial.outcomes[place].value for trial in self.trials]
        return self.people.like(columns)

    @property
    def sentence(self) -> str:
        """The result in words."""
        name, trials = self.kind.name, f"{counted(self.assessments, 'setting')} tried"
        missed = self._missed
        told = "" if missed is None or missed.binding is None else missed.binding.sentence
        if self.chosen is None:
            found = (
                f"No setting of {name} that was tried meets the requirements ({trials}). At the strongest, "
                f"{self.parameter}={exact(self.strongest.value)}, {told}"
            )
            if self.strongest.hopeless is None:
                return found
            outcome, baseline = self.strongest.hopeless
            return (
                f"{found} Even without any release the figure of {outcome.text} is {figure(baseline)}, so no "
                "protection is likely to meet it: choose another limit."
            )
        found = (
            f"{name}: {self.parameter}={exact(self.chosen.value)} is the mildest setting found that meets the "
            f"requirements ({trials})."
        )
        if missed is None:
            return f"{found} It is the mildest of the range; a still milder one may do."
        return f"{found} The next milder one, {self.parameter}={exact(missed.value)}, fails: {told}"

    def __getattr__(self, name: str) -> Any:
        if not name.startswith("_") and "chosen" in self.__dict__ and self.chosen is not None:
            return getattr(self.chosen.technique, name)
        raise AttributeError(f"{type(self).__name__} has no attribute {name!r}")


def choose(
    people: Microdata | CellTable,
    technique: Any,
    parameter: str | None = None,
    *,
    require: Sequence[str | Requirement],
    low: float | None = None,
    high: float | None = None,
    step: float | None = None,
    known: Sequence[str] | None = None,
    fixed: Mapping[str, Any] | None = None,
    seed: int = 0,
    replicates: int = 1,
    eps: Any = None,
    prior: Prior = "marginal",
    intruder: str = "strongest",
    progress: bool | Callable[[str], None] = False,
) -> Any:
    """The mildest setting of a technique that meets every requirement, for ``people``.

    ``technique`` is a class, an instance (which keeps its other parameters), or text such as
    ``"noise-addition:percent=1..100"``; ``parameter`` is varied from ``low`` to ``high`` by ``step`` (None: the
    technique's usual parameter, its useful range, whole steps or about a hundred settings), and ``fixed`` are other
    parameters. The remaining arguments are those of `assess`. With ``replicates``, a random technique meets a
    requirement only if the riskier end of the 95 % interval of the mean does. ``progress`` prints each setting on
    stderr, or is a function that gets the line.

    Where protection grows with the parameter, by bisection: 9 assessments of 100 settings. Where it may fall
    (Setting.monotone is False; a requirement on k, l, t, or on the riskiest person), by a grid and refinement. The
    chosen setting meets the requirements and the next milder one does not.

    For a table of cells (`equivoc.tabulate`): the least base of `equivoc.CellRounding`, the least p of
    `equivoc.CellSuppression` with a p% rule, or the greatest ε of `equivoc.NoisyCells`; ``low`` and ``high`` must be
    given, and ``known``, ``fixed``, ``prior``, ``intruder`` and ``replicates`` do not apply. The answer is a
    `TableChoice`.

    >>> import pandas as pd
    >>> from equivoc.techniques.top_bottom_coding import TopBottomCoding
    >>> people = Microdata(pd.DataFrame({"pay": [10, 20, 30, 40]}), confidential="pay")
    >>> best = choose(people, TopBottomCoding, "high", low=10, high=40, step=10, require=["h0 >= 1"])
    >>> best.value, best.failed
    (40, None)
    """
    if isinstance(people, CellTable):
        if (known, fixed, replicates, prior, intruder) != (None, None, 1, "marginal", "strongest"):
            raise InputError(
                "known, fixed, replicates, prior and intruder do not apply to a table of cells: leave them out."
            )
        return choose_for_table(
            people, technique, parameter, require=require, low=low, high=high, step=step, seed=seed, eps=eps
        )
    check_people("people", people)
    if people.several:
        raise InputError(
            "choose works with one confidential attribute; choose a setting for each of them, one after the other."
        )
    asked = requirements(require)
    if not asked:
        raise InputError('no requirement is given; give at least one, such as "true_hit <= 0.2".')
    within = search_range(technique, parameter, low=low, high=high, step=step, fixed=fixed)
    techniques = within.techniques(people)
    name = within.setting.parameter
    trials: dict[int, Trial] = {}

    def missed(place: int) -> float:
        if place not in trials:
            chosen = techniques[place]
            result = assess(
                people,
                chosen,
                known=known,
                seed=seed,
                eps=eps,
                prior=prior,
                intruder=intruder,
                replicates=replicates,
                require=asked,
            )
            without = tuple(value_without_release(result, each.at(used_eps(result, each))) for each in asked)
            trials[place] = Trial(chosen, getattr(chosen, name), tuple(result.requirements), without)
            if progress:
                told = "meets" if trials[place].meets else "does not meet"
                line = f"{chosen.notation} {told} the requirements"
                if callable(progress):
                    progress(line)
                else:
                    print(f"choose: {line}", file=sys.stderr, flush=True)
        return trials[place].missed

    last = len(techniques) - 1
    at = mildest(len(techniques), missed, monotone=within.setting.monotone and follow_the_setting(asked))
    if at is None:
        missed(last)  # the answer says by how much the strongest setting fails
    return Choice(
        within.kind,
        name,
        None if at is None else trials[at],
        tuple(trials.values()),
        trials[max(trials)],
        trials[at - 1] if at else None,
        people,
    )
