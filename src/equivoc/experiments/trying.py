"""What a choice tries: one setting at a time, its releases from the store where they are there already."""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from functools import partial
from typing import Any

from equivoc.assessment.participation import Participation
from equivoc.checks import check_choice, checked_whole_number
from equivoc.data.fingerprint import data_fingerprint
from equivoc.data.microdata import Microdata
from equivoc.errors import InputError
from equivoc.experiments.cell import CellKey
from equivoc.experiments.compared import ComparedCell, ComparedSetting, measured_tolerances, outcome_over
from equivoc.experiments.description import comparison_facts
from equivoc.experiments.store import Asked, store_folder
from equivoc.experiments.stores import CHOICE, ComparedStore, open_compared
from equivoc.experiments.workers import compute, interruptible
from equivoc.intruder.prior import Prior, prior_probabilities
from equivoc.intruder.strengths import INTRUDERS
from equivoc.measure.distribution import tolerances
from equivoc.requests.question import MOST_CELLS, too_many_cells
from equivoc.requirements.nothing_released import NothingReleased
from equivoc.requirements.outcome import Outcome, eps_of
from equivoc.requirements.requirement import Requirement, check_contradictions
from equivoc.techniques.technique import Technique


@dataclass(frozen=True, eq=False)
class Question:
    """What a choice asks of every setting; the arguments of `equivoc.choose`."""

    asked: tuple[Requirement, ...]
    known: Sequence[str] | None = field(kw_only=True)
    seed: int = field(kw_only=True)
    replicates: int = field(kw_only=True)
    eps: Any = field(kw_only=True)
    prior: Prior = field(kw_only=True)
    intruder: str = field(kw_only=True)
    participation: str | float | None = field(default=None, kw_only=True)
    population: Any = field(default=None, kw_only=True)


@dataclass(frozen=True, eq=False)
class Trying:
    """The question of a choice, and the releases that are measured."""

    setting: ComparedSetting
    asked: tuple[Requirement, ...]
    hit_eps: float
    nothing: Mapping[str, float]
    """The figures of the requirements if nothing is released, by their left side."""
    replicates: int
    store: ComparedStore | None
    cells: dict[CellKey, ComparedCell] = field(repr=False)
    """What is measured: in this run, or in an interrupted one."""

    def outcomes(self, technique: Technique) -> tuple[Outcome, ...]:
        """How a setting stands to each requirement; InputError if it cannot be released or measured."""
        releases = self.replicates if technique.random else 1
        keys = [CellKey(technique.notation, replicate) for replicate in range(releases)]
        for cell in compute(self.setting, [key for key in keys if key not in self.cells], workers=1):
            if cell.failure:
                raise InputError(cell.failure)
            if self.store is not None:
                self.store.add(cell)
            self.cells[cell.key] = cell
        return tuple(
            outcome_over(
                each,
                [self.cells[key] for key in keys],
                hit_eps=self.hit_eps,
                nothing=self.nothing,
                attribute=self.setting.people.confidential,
            )
            for each in self.asked
        )


@contextmanager
def trying(
    people: Microdata,
    techniques: Sequence[Technique],
    question: Question,
    *,
    store: str | os.PathLike[str] | None,
) -> Iterator[Trying]:
    """The checked question about these settings, with its store open."""
    if people.several:
        raise InputError(
            "choose works with one confidential attribute; choose a setting for each of them, one after the other."
        )
    asked, prior, intruder = question.asked, question.prior, question.intruder
    if not asked:
        raise InputError('no requirement is given; give at least one, such as "true_hit <= 0.2".')
    keys = people.known_keys(question.known)
    given = None if question.eps is None else tolerances("eps", question.eps).tolist()
    expected = prior_probabilities(prior, people)
    participant = Participation.of(people, question.participation, question.population)
    check_choice("intruder", intruder, INTRUDERS)
    replicates = checked_whole_number("replicates", question.replicates, at_least=1)
    seed = checked_whole_number("seed", question.seed, at_least=0)
    measured = measured_tolerances(people, given, asked)
    hit_eps = next((each for each in measured if each > 0), 0.0)
    at_used = [each.at(eps_of(each, hit_eps)) for each in asked]
    check_contradictions(at_used)
    without = NothingReleased.of(people, expected)
    nothing = {each.left: without.figure(at) for each, at in zip(asked, at_used, strict=True)}
    by_notation = {each.notation: each for each in techniques}
    wanted = tuple({each.left: each for each in asked}.values())
    setting = ComparedSetting(
        people, by_notation, keys, seed, prior, intruder, participant, measured, wanted, with_losses=False
    )
    folder = None if store is None else store_folder(store)
    if folder is None:
        yield Trying(setting, asked, hit_eps, nothing, replicates, None, {})
        return
    if not isinstance(prior, str):
        raise InputError('a choice with a store has the prior "marginal" or "uniform": leave the store out.')
    if len(by_notation) * replicates > MOST_CELLS:
        raise InputError(too_many_cells(len(by_notation), replicates))
    facts = comparison_facts(
        people,
        tuple(by_notation.values()),
        known=keys,
        replicates=replicates,
        seed=seed,
        prior=prior,
        intruder=intruder,
        participation=participant.facts,
        hit_eps=hit_eps,
        require=[each.text for each in asked],
        utility="",
    )
    contents = {notation: technique.content for notation, technique in by_notation.items()}
    described = Asked(facts, partial(data_fingerprint, people), contents)
    with (
        open_compared(CHOICE, folder, described, wanted=[each.left for each in wanted]) as opened,
        interruptible("choice", opened, None),
    ):
        cells = {cell.key: cell for cell in opened.cells()}
        yield Trying(setting, asked, hit_eps, nothing, replicates, opened, cells)
