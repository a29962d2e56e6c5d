"""Compares techniques: the risk and the loss of each, and which one meets the requirements at the least loss."""

from __future__ import annotations

import os
from collections.abc import Iterable, Sequence
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

from equivoc.assessment.participation import Participation
from equivoc.checks import check_choice, checked_whole_number
from equivoc.data.fingerprint import Facts, data_fingerprint
from equivoc.data.microdata import Microdata, check_people
from equivoc.errors import InputError, did_you_mean
from equivoc.experiments.cell import CellKey
from equivoc.experiments.compare_tables import compare_tables
from equivoc.experiments.compared import (
    FRONT_RELEASES,
    ComparedCell,
    ComparedSetting,
    measured_tolerances,
    to_draw_again,
    wanted_figures,
)
from equivoc.experiments.comparison import Comparison
from equivoc.experiments.description import comparison_facts
from equivoc.experiments.store import Asked, store_folder
from equivoc.experiments.stores import COMPARISON, ComparedStore, open_compared
from equivoc.experiments.study import checked_techniques
from equivoc.experiments.workers import Progress, checked_kind, finish
from equivoc.information_loss.utility import MEASURES
from equivoc.intruder.prior import prior_probabilities
from equivoc.intruder.strengths import INTRUDERS
from equivoc.measure.distribution import tolerances
from equivoc.requests.plan import DESIGNS, Plan
from equivoc.requests.question import MOST_CELLS, too_many_cells
from equivoc.requirements.nothing_released import NothingReleased
from equivoc.requirements.outcome import eps_of
from equivoc.requirements.requirement import Requirement, check_contradictions, requirements
from equivoc.tables.cell_table import CellTable
from equivoc.techniques.technique import Technique


def compare(
    people: Microdata | CellTable,
    techniques: Iterable[Any],
    *,
    known: Sequence[str] | None = None,
    require: Iterable[str | Requirement] = (),
    utility: str | None = None,
    replicates: int = 1,
    seed: int = 0,
    prior: str = "marginal",
    intruder: str = "strongest",
    participation: str | float | None = None,
    population: Any = None,
    eps: Any = None,
    store: str | os.PathLike[str] | None = None,
    workers: int = 1,
    progress: bool | Progress = False,
) -> Any:
    """Measure risk and loss of several techniques and choose one.

    The choice meets every requirement of ``require`` (such as "true_hit(5000) <= 0.2") and loses the least by the
    measure ``utility`` (see `equivoc.utility`; None: query_error, or cell_error of a table). ``known``, ``prior``,
    ``intruder``, ``participation``, ``population`` and ``eps`` are those of `equivoc.assess`, the same for all
    techniques. Random techniques are released
    ``replicates`` times, with the seeds ``seed``, ``seed + 1``, …; a requirement is then judged at the riskier end of
    the 95 % interval of the mean. With one replicate, those that decide the choice (the two with the least loss of
    those that meet the requirements, and at most two more that are close) are released 5 times. ``headline`` says if
    losses differ by less than they vary from draw to draw. A technique that cannot be released or measured is a row
    with its sentence in the column ``failed``; InputError if none can.

    ``store`` is a folder that keeps finished releases: an interrupted comparison continues from there, and one with
    other techniques, more replicates or other limits computes only what is new. ``workers`` is the number of processes;
    with more than one, a script must call this under ``if __name__ == "__main__":``. ``progress`` shows a bar on a
    terminal (True), lines ("plain") or nothing (False); a function is called with the numbers of finished and of all
    releases.

    Methods that protect a table of cells (`equivoc.tabulate`), such as `equivoc.CellSuppression`, are compared for that
    table and give a `TableComparison`: figures over the cells that are unsafe by a rule of any of the methods.
    ``known``, ``prior``, ``intruder``, ``store`` and ``workers`` do not apply to it.

    >>> import pandas as pd
    >>> from equivoc.techniques.rounding import Rounding
    >>> from equivoc.techniques.unprotected import Unprotected
    >>> frame = pd.DataFrame({"sex": ["F", "F", "M", "M"], "pay": [50, 107, 77, 80]})
    >>> people = Microdata(frame, confidential="pay", keys=["sex"])
    >>> compare(people, [Unprotected(), Rounding(base=200)], require=["h0 >= 1.5"]).choice.notation
    'rounding:base=200'
    """
    if isinstance(people, CellTable):
        if (known, store, workers, prior, intruder) != (None, None, 1, "marginal", "strongest"):
            raise InputError(
                "known, prior, intruder, store and workers do not apply to a table of cells: leave them out."
            )
        if (participation, population) != (None, None):
            raise InputError("participation and population do not apply to a table of cells: leave them out.")
        return compare_tables(
            people,
            techniques,
            require=require,
            utility="cell_error" if utility is None else utility,
            replicates=replicates,
            seed=seed,
            eps=eps,
        )
    asked = request(
        people,
        techniques,
        known=known,
        require=require,
        utility="query_error" if utility is None else utility,
        replicates=replicates,
        seed=seed,
        prior=prior,
        intruder=intruder,
        participation=participation,
        population=population,
        eps=eps,
    )
    return asked.run(store, workers=workers, progress=progress)


@dataclass(frozen=True, eq=False)
class Request:
    """A comparison whose arguments are checked, and which is not computed yet."""

    facts: Facts
    setting: ComparedSetting
    requirements: tuple[Requirement, ...]
    utility: str

    def run(
        self,
        store: str | os.PathLike[str] | None = None,
        *,
        workers: int = 1,
        progress: bool | Progress = False,
    ) -> Comparison:
        """Compute the releases that are not in the ``store`` yet; the arguments are those of `compare`."""
        kind = checked_kind(progress)
        workers = checked_whole_number("workers", workers, at_least=1)
        folder = None if store is None else store_folder(store)
        nothing = self._nothing_released()
        cells: list[ComparedCell] = []
        keys = [
            CellKey(notation, replicate)
            for replicate in range(self.facts["replicates"])
            for notation, technique in self.setting.techniques.items()
            if technique.random or replicate == 0
        ]
        with nullcontext() if folder is None else self._open(folder) as opened:
            stored = {} if opened is None else {cell.key: cell for cell in opened.cells()}
            while keys:  # at first every technique, then those that decide the choice, drawn again
                cells += [stored[key] for key in keys if key in stored]
                missing = [key for key in keys if key not in stored]
                finish(
                    "comparison",
                    self.setting,
                    missing,
                    opened,
                    keep=cells.append,
                    total=len(cells) + len(missing),
                    workers=workers,
                    progress=kind,
                )
                done = Comparison(
                    self.facts,
                    tuple(self.setting.techniques.values()),
                    self.requirements,
                    self.utility,
                    tuple(cells),
                    folder,
                    nothing,
                    () if opened is None else opened.file.remarks,
                )
                keys = [
                    CellKey(each.notation, replicate)
                    for each in to_draw_again(done.ranked, done.compared)
                    for replicate in range(each.releases, FRONT_RELEASES)
                ]
            if all(each.failure for each in done.compared):
                first = done.compared[0]
                raise InputError(f"{first.notation}: {first.failure}")
        return done

    def _nothing_released(self) -> dict[str, float]:
        """The figures of the requirements if nothing is released, by their left side."""
        if not self.requirements:
            return {}
        setting, hit_eps = self.setting, self.facts["hit_eps"]
        without = NothingReleased.of(setting.people, prior_probabilities(setting.prior, setting.people))
        return {each.left: without.figure(each.at(eps_of(each, hit_eps))) for each in self.requirements}

    def _open(self, folder: Path) -> AbstractContextManager[ComparedStore]:
        contents = {notation: technique.content for notation, technique in self.setting.techniques.items()}
        asked = Asked(self.facts, partial(data_fingerprint, self.setting.people), contents)
        return open_compared(COMPARISON, folder, asked, wanted=[each.left for each in self.setting.wanted])


def request(
    people: Microdata,
    techniques: Iterable[Technique],
    *,
    known: Sequence[str] | None = None,
    require: Iterable[str | Requirement] = (),
    utility: str = "query_error",
    replicates: int = 1,
    seed: int = 0,
    prior: str = "marginal",
    intruder: str = "strongest",
    participation: str | float | None = None,
    population: Any = None,
    eps: Any = None,
) -> Request:
    """Check the arguments of `compare`; InputError names what is wrong."""
    check_people("people", people)
    if people.several:
        names = ", ".join(people.attributes)
        raise InputError(
            f"a comparison has one confidential attribute, but {names} are confidential: choose one."
        )
    chosen = checked_techniques(techniques)
    asked = requirements(require)
    check_utility(utility)
    check_choice("prior", prior, ("marginal", "uniform"))
    check_choice("intruder", intruder, INTRUDERS)
    participant = Participation.of(people, participation, population)
    keys = people.known_keys(known)
    replicates = checked_whole_number("replicates", replicates, at_least=1)
    seed = checked_whole_number("seed", seed, at_least=0)
    if len(chosen) * replicates > MOST_CELLS:
        raise InputError(too_many_cells(len(chosen), replicates))
    measured = measured_tolerances(people, None if eps is None else tolerances("eps", eps).tolist(), asked)
    hit_eps = next((e for e in measured if e > 0), 0.0)
    check_contradictions([each.at(eps_of(each, hit_eps)) for each in asked])
    facts = comparison_facts(
        people,
        chosen,
        known=keys,
        replicates=replicates,
        seed=seed,
        prior=prior,
        intruder=intruder,
        participation=participant.facts,
        hit_eps=hit_eps,
        require=[each.text for each in asked],
        utility=utility,
    )
    by_notation = {each.notation: each for each in chosen}
    setting = ComparedSetting(
        people, by_notation, keys, seed, prior, intruder, participant, measured, wanted_figures(asked)
    )
    return Request(facts, setting, asked, utility)


def check_utility(utility: object) -> None:
    """InputError unless this is a measure of loss."""
    if utility not in MEASURES:
        raise InputError(
            f"utility is {utility!r}, which is no measure of loss{did_you_mean(utility, MEASURES)}"
        )


# A comparison from a plan: [data], [[technique]], [compare], [require].

SAID = {key: (key,) for key in DESIGNS["compare"]} | {"known": ("known", "is not a key")}
"""For each key of [compare], the words in an error message that point to it."""


def planned(plan: Plan, **instead: Any) -> Request:
    """The comparison of a plan; arguments that are given and not None replace those of the plan."""
    given = {name: value for name, value in instead.items() if value is not None}
    people = plan.people()
    with plan.at("compare", SAID):
        return request(people, plan.techniques, **{"require": plan.requirements, **plan.design, **given})
