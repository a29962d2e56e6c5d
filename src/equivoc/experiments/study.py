"""A study: techniques × replicates, each measured against every intruder, in parallel and resumable."""

from __future__ import annotations

import os
from collections.abc import Iterable, Sequence
from contextlib import nullcontext
from dataclasses import dataclass, field
from functools import cached_property, partial
from pathlib import Path
from typing import Any

from equivoc.checks import check_choice, checked_whole_number
from equivoc.data.fingerprint import Facts, data_fingerprint
from equivoc.data.microdata import Microdata
from equivoc.errors import InputError
from equivoc.experiments.cell import CellKey, Setting
from equivoc.experiments.description import study_facts
from equivoc.experiments.store import Asked, store_folder
from equivoc.experiments.stores import open_study
from equivoc.experiments.study_result import StudyResult, load_study
from equivoc.experiments.workers import checked_kind, finish
from equivoc.intruder.strengths import INTRUDERS
from equivoc.requests.plan import DESIGNS, Plan
from equivoc.requests.plan_text import wrong
from equivoc.requests.question import MOST_CELLS, Knowledge, too_many_cells
from equivoc.techniques.technique import Technique


@dataclass(frozen=True, eq=False)
class Study:
    """Every technique, released ``replicates`` times, against intruders who know 0, 1, 2, … keys.

    ``known_sizes`` are the numbers of keys they know (None: 0 … all; for each number every subset of that size is
    included), or ``subsets`` lists the known keys. One technique and one replicate form a *cell*, which makes a release
    with its own random numbers, derived from ``seed``, the technique's notation and the replicate: results do not
    depend on order, workers, interruptions or the other techniques.

    >>> import pandas as pd
    >>> from equivoc.techniques.sampling import Sampling
    >>> frame = pd.DataFrame({"sex": ["F", "F", "M", "M"], "pay": [50, 107, 77, 80]})
    >>> people = Microdata(frame, confidential="pay", keys=["sex"])
    >>> done = Study(people, techniques=[Sampling(fraction=1)], replicates=2).run()
    >>> done.summary()[["technique", "parameters", "known_size", "h0", "area"]].round(1).values.tolist()
    [['sampling', 'fraction=1', 0, 2.0, 66.9], ['sampling', 'fraction=1', 1, 1.0, 30.0]]
    """

    people: Microdata
    techniques: Sequence[Technique] = field(kw_only=True)
    known_sizes: Sequence[int] | None = field(kw_only=True, default=None)
    subsets: Sequence[Sequence[str]] | None = field(kw_only=True, default=None)
    replicates: int = field(kw_only=True, default=30)
    seed: int = field(kw_only=True, default=0)
    prior: str = field(kw_only=True, default="marginal")
    """What is publicly known of the confidential attribute: "marginal" or "uniform"."""
    intruder: str = field(kw_only=True, default="informed")
    """One of "paper", "informed", "register", "learned", "strongest"; the last three take much longer."""

    def __post_init__(self) -> None:
        if not isinstance(self.people, Microdata):
            raise InputError(
                f"people is a {type(self.people).__name__}; give a Microdata, as eq.read returns."
            )
        if self.people.several:
            names = ", ".join(self.people.attributes)
            raise InputError(
                f"a study has one confidential attribute, but {names} are confidential: choose one."
            )
        object.__setattr__(self, "techniques", checked_techniques(self.techniques))
        knowledge = Knowledge.of(self.people.keys, known_sizes=self.known_sizes, subsets=self.subsets)
        if knowledge.subsets is None:
            object.__setattr__(self, "known_sizes", knowledge.sizes)
        else:
            object.__setattr__(self, "subsets", knowledge.subsets)
        object.__setattr__(
            self, "replicates", checked_whole_number("replicates", self.replicates, at_least=1)
        )
        object.__setattr__(self, "seed", checked_whole_number("seed", self.seed, at_least=0))
        check_choice("prior", self.prior, ("marginal", "uniform"))
        check_choice("intruder", self.intruder, INTRUDERS)
        if len(self.techniques) * self.replicates > MOST_CELLS:
            raise InputError(too_many_cells(len(self.techniques), self.replicates))

    @property
    def cells(self) -> list[CellKey]:
        """The keys of all cells, replicate by replicate, so that an unfinished study has results of every technique.

        A technique that does not draw at random has one cell.
        """
        return [
            CellKey(t.notation, replicate)
            for replicate in range(self.replicates)
            for t in self.techniques
            if t.random or replicate == 0
        ]

    @cached_property
    def made_of(self) -> Facts:
        """The study's description as plain data, without any value of the people."""
        known = self._knowledge.facts()
        return study_facts(
            self.people,
            self.techniques,
            known,
            replicates=self.replicates,
            seed=self.seed,
            prior=self.prior,
            intruder=self.intruder,
        )

    @property
    def _knowledge(self) -> Knowledge:
        if self.subsets is not None:
            return Knowledge.of(self.people.keys, known_sizes=None, subsets=self.subsets)
        return Knowledge.of(self.people.keys, known_sizes=self.known_sizes, subsets=None)

    def _asked(self) -> Asked:
        contents = {technique.notation: technique.content for technique in self.techniques}
        return Asked(self.made_of, partial(data_fingerprint, self.people), contents)

    def run(
        self,
        store: str | os.PathLike[str] | None = None,
        *,
        workers: int = 1,
        progress: bool | str = True,
    ) -> StudyResult:
        """Compute the cells that are not in the ``store`` yet, and return all results.

        ``store`` is a folder that keeps finished cells: an interrupted study continues from there, and one with other
        techniques or more replicates computes only the new cells. None keeps them in memory. ``workers`` is the number
        of processes, at most one per core: 1 computes in this process; with more, a script must call this under
        ``if __name__ == "__main__":``.
        ``progress`` shows a bar on a terminal (True), lines ("plain") or nothing (False).
        """
        kind = checked_kind(progress)
        workers = checked_whole_number("workers", workers, at_least=1)
        folder = None if store is None else store_folder(store)
        with nullcontext() if folder is None else open_study(folder, self._asked()) as opened:
            cells = [] if opened is None else opened.cells()
            there = {cell.key for cell in cells}
            missing = [key for key in self.cells if key not in there]
            setting = Setting(
                self.people,
                {technique.notation: technique for technique in self.techniques},
                self._knowledge,
                self.seed,
                self.prior,
                self.intruder,
            )
            finish(
                "study",
                setting,
                missing,
                opened,
                keep=cells.append,
                total=len(self.cells),
                workers=workers,
                progress=kind,
            )
        remarks = () if opened is None else opened.remarks
        return StudyResult(self.made_of, tuple(cells), folder, remarks)

    @staticmethod
    def load(store: str | Path) -> StudyResult:
        """A study from its folder, finished or not."""
        return load_study(store)


def checked_techniques(techniques: Iterable[Any]) -> tuple[Technique, ...]:
    """The techniques, each once; InputError if one is given twice or is none."""
    if isinstance(techniques, (Technique, str)) or not isinstance(techniques, Iterable):
        raise InputError(f"techniques is {techniques!r}; give a list, such as [Sampling(fraction=0.1)].")
    chosen = tuple(techniques)
    if not chosen:
        raise InputError("techniques is empty; give at least one, such as [Sampling(fraction=0.1)].")
    seen: set[str] = set()
    for technique in chosen:
        if not isinstance(technique, Technique):
            raise InputError(
                f"techniques contains {technique!r}; give techniques such as Sampling(fraction=0.1)."
            )
        if technique.notation in seen:
            raise InputError(f"techniques contains {technique.notation} twice; give it once.")
        seen.add(technique.notation)
    return chosen


def study_of(plan: Plan, *, prior: str | None = None, intruder: str | None = None) -> Study:
    """Read the people and create the study; ``prior`` and ``intruder`` replace those of the plan."""
    if plan.requirements:
        message = "a study has no requirements; run equivoc compare with this plan, or leave out [require]."
        raise wrong(plan.path, plan.lines, "require", "", message)
    instead = {"prior": prior, "intruder": intruder}
    design = plan.design | {name: given for name, given in instead.items() if given is not None}
    people = plan.people()
    with plan.at("study", {key: (key,) for key in DESIGNS["study"]}):
        return Study(people, techniques=plan.techniques, **design)
