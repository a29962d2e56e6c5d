"""The mildest setting of one technique that meets the requirements."""

from __future__ import annotations

import os
import sys
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from math import inf, isnan
from typing import Any

from equivoc.checks import check_choice
from equivoc.data.microdata import Microdata, check_people
from equivoc.errors import InputError
from equivoc.experiments.compared import FRONT_RELEASES, MISSING, Interval, overlap
from equivoc.experiments.ranked import undecided
from equivoc.experiments.search import Trial, choose_for_table, follow_the_setting, mildest
from equivoc.experiments.trying import Question, Trying, trying
from equivoc.information_loss.utility import MEASURES, losses, overall
from equivoc.intruder.prior import Prior
from equivoc.requests.ranges import SearchRange, search_range
from equivoc.requirements.outcome import over_releases
from equivoc.requirements.requirement import Requirement, requirements
from equivoc.tables.cell_table import CellTable
from equivoc.techniques.technique import Technique, tried_parameters
from equivoc.text import counted, exact


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
        less = tried_parameters(self.kind)[self.parameter].stronger == "less"
        return sorted(self.trials, key=lambda trial: trial.value, reverse=less)

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
            beyond = self.strongest.hopeless
            if beyond is None:
                return found
            # The binding requirement's sentence says it already.
            told = "" if beyond is self.strongest.binding else f" {beyond.text}: {beyond.reach}"
            return f"{found}{told} Choose another limit."
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
    participation: str | float | None = None,
    population: Any = None,
    utility: str | None = None,
    store: str | os.PathLike[str] | None = None,
    progress: bool | Callable[[str], None] = False,
) -> Any:
    """The mildest setting of a technique that meets every requirement, for ``people``.

    ``technique`` is a class, an instance (which keeps its other parameters), or text such as
    ``"noise-addition:percent=1..100"``; ``parameter`` is varied from ``low`` to ``high`` by ``step`` (None: the
    technique's usual parameter, its useful range, whole steps or about a hundred settings), and ``fixed`` are other
    parameters. The remaining arguments are those of `assess`. With ``replicates``, a random technique meets a
    requirement only if the riskier end of the 95 % interval of the mean does. ``store`` is a folder that keeps what was
    measured: an interrupted search goes on from there, and one with another range, technique, limit or more replicates
    measures only what is new. ``progress`` prints each setting on stderr, or is a function that gets the line.

    Where protection grows with the parameter, by bisection: 9 assessments of 100 settings. Where it may fall
    (Setting.monotone is False; a requirement on k, l, t, or on the riskiest person), by a grid and refinement. The
    chosen setting meets the requirements and the next milder one does not.

    ``technique`` can be a list: the best of several, as `choose_among` finds it, compared by ``utility`` (None:
    ``"query_error"``); the range of each then says what ``parameter``, ``low``, ``high``, ``step`` and ``fixed`` say.

    For a table of cells (`equivoc.tabulate`): the least base of `equivoc.CellRounding`, the least p of
    `equivoc.CellSuppression` with a p% rule, or the greatest ε of `equivoc.NoisyCells`; ``low`` and ``high`` must be
    given, and ``known``, ``fixed``, ``prior``, ``intruder``, ``replicates`` and ``store`` do not apply. The answer is
    a `TableChoice`.

    >>> import pandas as pd
    >>> from equivoc.techniques.top_bottom_coding import TopBottomCoding
    >>> people = Microdata(pd.DataFrame({"pay": [10, 20, 30, 40]}), confidential="pay")
    >>> best = choose(people, TopBottomCoding, "high", low=10, high=40, step=10, require=["h0 >= 1"])
    >>> best.value, best.failed
    (40, None)
    """
    if isinstance(people, CellTable):
        not_of_tables = (known, fixed, replicates, prior, intruder, utility, store)
        if not_of_tables != (None, None, 1, "marginal", "strongest", None, None):
            raise InputError(
                "known, fixed, replicates, prior, intruder, utility and store do not apply to a table of cells: leave "
                "them out."
            )
        if (participation, population) != (None, None):
            raise InputError("participation and population do not apply to a table of cells: leave them out.")
        return choose_for_table(
            people, technique, parameter, require=require, low=low, high=high, step=step, seed=seed, eps=eps
        )
    if isinstance(technique, (list, tuple)):
        if (parameter, low, high, step, fixed) != (None,) * 5:
            raise InputError(
                "parameter, low, high, step and fixed belong to a single technique: give several as ranges, such as "
                '["sampling:fraction=0.01..0.5", "noise-addition:percent=1..100"].'
            )
        return choose_among(
            people,
            technique,
            require=require,
            utility="query_error" if utility is None else utility,
            known=known,
            seed=seed,
            replicates=replicates,
            eps=eps,
            prior=prior,
            intruder=intruder,
            participation=participation,
            population=population,
            store=store,
            progress=progress,
        )
    if utility is not None:
        raise InputError(
            "utility compares several techniques: give a list of techniques, or leave utility out."
        )
    check_people("people", people)
    within = search_range(technique, parameter, low=low, high=high, step=step, fixed=fixed)
    question = Question(
        requirements(require),
        known=known,
        seed=seed,
        replicates=replicates,
        eps=eps,
        prior=prior,
        intruder=intruder,
        participation=participation,
        population=population,
    )
    settings = [] if people.several else within.techniques(people)
    with trying(people, settings, question, store=store) as tried:
        return _mildest_of(within, settings, tried, progress)


def _mildest_of(
    within: SearchRange,
    techniques: Sequence[Technique],
    tried: Trying,
    progress: bool | Callable[[str], None],
) -> Choice:
    """Search one range."""
    name = within.parameter
    trials: dict[int, Trial] = {}

    def missed(place: int) -> float:
        if place not in trials:
            chosen = techniques[place]
            trials[place] = Trial(chosen, getattr(chosen, name), tried.outcomes(chosen))
            if progress:
                verdict = "meets" if trials[place].meets else "does not meet"
                line = f"{chosen.notation} {verdict} the requirements"
                if callable(progress):
                    progress(line)
                else:
                    print(f"choose: {line}", file=sys.stderr, flush=True)
        return trials[place].missed

    last = len(techniques) - 1
    at = mildest(len(techniques), missed, monotone=within.tries.monotone and follow_the_setting(tried.asked))
    if at is None:
        missed(last)  # the answer says by how much the strongest setting fails
    return Choice(
        within.kind,
        name,
        None if at is None else trials[at],
        tuple(trials.values()),
        trials[max(trials)],
        trials[at - 1] if at else None,
        tried.setting.people,
    )


# The best of several techniques, each at the mildest setting that meets the requirements.


@dataclass(frozen=True, eq=False)
class ChoiceAmong:
    """The choices of several techniques, and the best of them."""

    choices: tuple[Choice, ...] = field(repr=False)
    """One per technique, in the given order."""
    lost: tuple[Interval, ...] = field(repr=False)
    """What each chosen setting loses by ``utility``, with the 95 % interval over its releases; NaN if none was chosen,
    or the measure does not apply."""
    utility: str
    people: Microdata = field(repr=False)

    @property
    def losses(self) -> tuple[float | None, ...]:
        """What each chosen setting loses on average; None if none was chosen, or the measure does not apply."""
        return tuple(None if isnan(each.mean) else each.mean for each in self.lost)

    @property
    def best(self) -> Choice | None:
        """The choice with the least loss, the first of several; None if no technique meets the requirements."""
        meeting = [place for place, choice in enumerate(self.choices) if choice.technique is not None]
        place = min(meeting, key=self._rank, default=None)
        return None if place is None else self.choices[place]

    @property
    def tied(self) -> tuple[Choice, ...]:
        """The choices that meet the requirements and cannot be told apart from the best by what they lose."""
        best = self.best
        if best is None:
            return ()
        least = self.lost[self.choices.index(best)]
        return tuple(
            choice
            for choice, each in zip(self.choices, self.lost, strict=True)
            if choice is not best and choice.technique is not None and overlap(least, each)
        )

    @property
    def note(self) -> str:
        """That the best is not the best for sure, in a sentence; "" if the draws tell."""
        names = [choice.technique.notation for choice in self.tied if choice.technique is not None]
        return undecided(names) if names else ""

    @property
    def technique(self) -> Technique | None:
        """The chosen technique; None if none meets the requirements."""
        return None if self.best is None else self.best.technique

    @property
    def closest(self) -> Choice:
        """If none meets them: the technique whose strongest setting misses the requirements by the least."""
        return min(self.choices, key=lambda choice: choice.strongest.missed)

    @property
    def assessments(self) -> int:
        """How many settings were tried, of all techniques."""
        return sum(choice.assessments for choice in self.choices)

    @property
    def frame(self) -> Any:
        """One row per technique: technique, parameter, value, meets, loss, assessments, best, tied."""
        return self.people.like(
            {
                "technique": [choice.kind.name for choice in self.choices],
                "parameter": [choice.parameter for choice in self.choices],
                "value": [choice.value for choice in self.choices],
                "meets": [choice.technique is not None for choice in self.choices],
                "loss": list(self.losses),
                "assessments": [choice.assessments for choice in self.choices],
                "best": [choice is self.best for choice in self.choices],
                "tied": [choice in self.tied for choice in self.choices],
            }
        )

    @property
    def tried(self) -> Any:
        """A frame, one row per setting in the order in which they were tried: technique, meets, and each figure."""
        trials = [trial for choice in self.choices for trial in choice.trials]
        columns: dict[str, list[Any]] = {
            "technique": [trial.technique.notation for trial in trials],
            "meets": [trial.meets for trial in trials],
        }
        for place, outcome in enumerate(trials[0].outcomes):
            columns[outcome.text] = [trial.outcomes[place].value for trial in trials]
        return self.people.like(columns)

    def _rank(self, place: int) -> float:
        loss = self.losses[place]
        return inf if loss is None else loss


def choose_among(
    people: Microdata,
    techniques: Sequence[type[Technique] | Technique | SearchRange | str],
    *,
    require: Sequence[str | Requirement],
    utility: str = "query_error",
    known: Sequence[str] | None = None,
    seed: int = 0,
    replicates: int = 1,
    eps: Any = None,
    prior: Prior = "marginal",
    intruder: str = "strongest",
    participation: str | float | None = None,
    population: Any = None,
    store: str | os.PathLike[str] | None = None,
    progress: bool | Callable[[str], None] = False,
) -> ChoiceAmong:
    """The best of several techniques: of the mildest setting of each that meets the requirements, the least loss.

    ``techniques`` are classes, instances, ranges, or texts such as ``"noise-addition:percent=1..100"``, as in
    `choose`, which explains the other arguments. ``utility`` is the measure of `utility` by which losses are compared,
    its mean over the ``replicates``. One release does not show how much a loss varies from draw to draw: if no
    replicates were asked for and several techniques meet the requirements, the chosen settings are released five times
    for it, and ``tied`` are those that cannot be told apart from the best. One ``store`` serves all techniques.
    """
    check_people("people", people)
    check_choice("utility", utility, MEASURES)
    if isinstance(techniques, str) or not isinstance(techniques, Sequence) or not techniques:
        raise InputError(f"techniques is {techniques!r}; give a list of at least one technique.")
    ranges = [search_range(each) for each in techniques]
    question = Question(
        requirements(require),
        known=known,
        seed=seed,
        replicates=replicates,
        eps=eps,
        prior=prior,
        intruder=intruder,
        participation=participation,
        population=population,
    )
    # A mistake in the last is reported before the first is searched.
    settings = [[] if people.several else each.techniques(people) for each in ranges]
    with trying(people, [each for some in settings for each in some], question, store=store) as tried:
        choices = tuple(
            _mildest_of(each, own, tried, progress) for each, own in zip(ranges, settings, strict=True)
        )
    several = sum(choice.technique is not None for choice in choices) > 1
    releases = FRONT_RELEASES if several and replicates == 1 else replicates
    lost = tuple(_lost(people, choice.technique, utility, seed=seed, releases=releases) for choice in choices)
    return ChoiceAmong(choices, lost, utility, people)


def _lost(
    people: Microdata, technique: Technique | None, utility: str, *, seed: int, releases: int
) -> Interval:
    """The loss over releases with the seeds ``seed``, ``seed + 1``, …."""
    if technique is None:
        return MISSING
    seeds = range(seed, seed + releases) if technique.random else [seed]
    found = [overall(losses(people, technique.release(people, each), seed=seed))[utility] for each in seeds]
    applying = [loss for loss in found if loss is not None]
    if not applying:
        return MISSING
    about = over_releases(applying)
    return Interval(about["mean"], max(about["low"], 0.0), about["high"])
