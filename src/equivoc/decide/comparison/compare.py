"""Compares techniques: the risk and the loss of each, and which one meets the requirements at the least loss."""

from __future__ import annotations

import os
from collections.abc import Iterable, Sequence
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

from equivoc.arguments import check_choice, checked_whole_number
from equivoc.assessment.requirements.figures import eps_of
from equivoc.assessment.requirements.requirement import Requirement, check_contradictions, requirements
from equivoc.data.microdata import Microdata, check_people
from equivoc.decide.comparison.cell import ComparedSetting, measured_tolerances, wanted_figures
from equivoc.decide.comparison.comparison import Comparison
from equivoc.decide.comparison.description import comparison_facts
from equivoc.decide.comparison.store import Store, open_store
from equivoc.decide.tables.compare_tables import compare_tables
from equivoc.did_you_mean import did_you_mean
from equivoc.errors import InputError
from equivoc.information_loss.overall import MEASURES
from equivoc.intruder.strengths.strongest import INTRUDERS
from equivoc.measure.input.arguments import tolerances
from equivoc.study.cell import MOST_CELLS, CellKey
from equivoc.study.fingerprint import Facts, data_fingerprint
from equivoc.study.resumable.progress import Progress, checked_kind
from equivoc.study.resumable.run import finish
from equivoc.study.resumable.store_file import Asked, store_folder
from equivoc.study.study import checked_techniques, too_many_cells
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
    eps: Any = None,
    store: str | os.PathLike[str] | None = None,
    workers: int = 1,
    progress: bool | Progress = False,
) -> Any:
    """Measure risk and loss of several techniques and choose one.

    The choice meets every requirement of ``require`` (such as "true_hit(5000) <= 0.2") and loses the least by the
    measure ``utility`` (see `equivoc.utility`; None: query_error, or cell_error of a table). ``known``, ``prior``,
    ``intruder`` and ``eps`` are those of `equivoc.assess`, the same for all techniques. Random techniques are released
    ``replicates`` times, with the seeds ``seed``, ``seed + 1``, …; a requirement is then judged at the riskier end of
    the 95 % interval of the mean.

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
        techniques = self.setting.techniques
        every = [
            CellKey(notation, replicate)
            for replicate in range(self.facts["replicates"])
            for notation, technique in techniques.items()
            if technique.random or replicate == 0
        ]
        with nullcontext() if folder is None else self._open(folder) as opened:
            cells = [] if opened is None else opened.cells()
            there = {cell.key for cell in cells}
            finish(
                "comparison",
                self.setting,
                [key for key in every if key not in there],
                opened,
                keep=cells.append,
                total=len(every),
                workers=workers,
                progress=kind,
            )
        return Comparison(
            self.facts, tuple(techniques.values()), self.requirements, self.utility, tuple(cells), folder
        )

    def _open(self, folder: Path) -> AbstractContextManager[Store]:
        contents = {notation: technique.content for notation, technique in self.setting.techniques.items()}
        asked = Asked(self.facts, partial(data_fingerprint, self.setting.people), contents)
        return open_store(folder, asked, wanted=[each.left for each in self.setting.wanted])


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
        hit_eps=hit_eps,
        require=[each.text for each in asked],
        utility=utility,
    )
    by_notation = {each.notation: each for each in chosen}
    setting = ComparedSetting(
        people, by_notation, keys, seed, prior, intruder, measured, wanted_figures(asked)
    )
    return Request(facts, setting, asked, utility)


def check_utility(utility: object) -> None:
    """InputError unless this is a measure of loss."""
    if utility not in MEASURES:
        raise InputError(
            f"utility is {utility!r}, which is no measure of loss{did_you_mean(utility, MEASURES)}"
        )
