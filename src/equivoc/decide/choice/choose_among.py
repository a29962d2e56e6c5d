"""The best of several techniques, each at the mildest setting that meets the requirements."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from math import inf
from typing import Any

import numpy as np

from equivoc.arguments import check_choice
from equivoc.assessment.requirements.requirement import Requirement
from equivoc.data.microdata import Microdata, check_people
from equivoc.decide.choice.choose import Choice, choose
from equivoc.decide.choice.search_range import SearchRange, search_range
from equivoc.errors import InputError
from equivoc.information_loss.overall import MEASURES, overall
from equivoc.information_loss.utility import losses
from equivoc.intruder.prior import Prior
from equivoc.techniques.technique import Technique


@dataclass(frozen=True, eq=False)
class ChoiceAmong:
    """The choices of several techniques, and the best of them."""

    choices: tuple[Choice, ...] = field(repr=False)
    """One per technique, in the given order."""
    losses: tuple[float | None, ...] = field(repr=False)
    """What each chosen setting loses by ``utility``; None if none was chosen, or the measure does not apply."""
    utility: str
    people: Microdata = field(repr=False)

    @property
    def best(self) -> Choice | None:
        """The choice with the least loss, the first of several; None if no technique meets the requirements."""
        meeting = [place for place, choice in enumerate(self.choices) if choice.technique is not None]
        place = min(meeting, key=self._rank, default=None)
        return None if place is None else self.choices[place]

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
        """One row per technique: technique, parameter, value, meets, loss, assessments, best."""
        return self.people.like(
            {
                "technique": [choice.kind.name for choice in self.choices],
                "parameter": [choice.parameter for choice in self.choices],
                "value": [choice.value for choice in self.choices],
                "meets": [choice.technique is not None for choice in self.choices],
                "loss": list(self.losses),
                "assessments": [choice.assessments for choice in self.choices],
                "best": [choice is self.best for choice in self.choices],
            }
        )

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
    progress: bool | Callable[[str], None] = False,
) -> ChoiceAmong:
    """The best of several techniques: of the mildest setting of each that meets the requirements, the least loss.

    ``techniques`` are classes, instances, ranges, or texts such as ``"noise-addition:percent=1..100"``, as in
    `choose`, which explains the other arguments. ``utility`` is the measure of `utility` by which losses are compared,
    its mean over the ``replicates``.
    """
    check_people("people", people)
    check_choice("utility", utility, MEASURES)
    if isinstance(techniques, str) or not isinstance(techniques, Sequence) or not techniques:
        raise InputError(f"techniques is {techniques!r}; give a list of at least one technique.")
    ranges = [search_range(each) for each in techniques]
    for each in ranges:  # a mistake in the last is reported before the first is searched
        each.techniques(people)
    choices = tuple(
        choose(
            people,
            each,
            require=require,
            known=known,
            seed=seed,
            replicates=replicates,
            eps=eps,
            prior=prior,
            intruder=intruder,
            progress=progress,
        )
        for each in ranges
    )
    lost = tuple(
        _loss(people, choice.technique, utility, seed=seed, replicates=replicates) for choice in choices
    )
    return ChoiceAmong(choices, lost, utility, people)


def _loss(
    people: Microdata, technique: Technique | None, utility: str, *, seed: int, replicates: int
) -> float | None:
    """The mean loss over the releases that were assessed."""
    if technique is None:
        return None
    seeds = range(seed, seed + replicates) if technique.random else [seed]
    found = [overall(losses(people, technique.release(people, each), seed=seed))[utility] for each in seeds]
    applying = [loss for loss in found if loss is not None]
    return float(np.mean(applying)) if applying else None
