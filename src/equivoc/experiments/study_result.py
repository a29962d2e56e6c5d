"""The results of a study: one row per technique, number of known keys and replicate; averages; the chart."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar

from equivoc.data.fingerprint import Facts
from equivoc.data.remarks import counted_records
from equivoc.experiments.cell import CellResult, Figures
from equivoc.experiments.store import store_folder
from equivoc.experiments.stores import study_to_read
from equivoc.results.result import Reported

if TYPE_CHECKING:
    import altair
    import pandas as pd

KEY = ["technique", "parameters", "known_size"]
MEASURES = list(Figures._fields[1:])


@dataclass(frozen=True, eq=False)
class StudyResult(Reported):
    """The results of a finished or unfinished study.

    ``h0`` and ``h0_record`` are in bits, ``area`` and ``area_record`` in bits × the confidential attribute's unit; less
    is riskier. The first of each pair is averaged over classes (as in the paper), the second over people. ``surprise``
    and ``gain`` are in bits per person, compared with the true values, and ``true_hit`` is the share of people for whom
    the best guess is right (within half of ``true_hit_tolerance``), for each subset that of the intruder who is right
    about most, where several were tried: less surprise, more gain and more hits are riskier.
    """

    kind: ClassVar[str] = "study"

    made_of: Facts = field(repr=False)
    """The study's description: data, techniques, knowledge, replicates, seed, prior, intruder, version."""
    cells: Sequence[CellResult] = field(repr=False)
    folder: Path | None = None
    """The folder of the store; None if results were kept in memory."""
    remarks: tuple[str, ...] = ()
    """What to know about cells that were finished before, one sentence each."""

    @property
    def seed(self) -> int:
        """The seed of all releases."""
        return int(self.made_of["seed"])

    @property
    def intruder(self) -> str:
        """The intruder whose posteriors are measured."""
        return str(self.made_of["intruder"])

    @property
    def prior(self) -> str:
        """What is publicly known without the release: marginal or uniform."""
        return str(self.made_of["prior"])

    @property
    def true_hit_tolerance(self) -> float:
        """The ε of ``true_hit``, in the confidential attribute's unit, or levels of its hierarchy."""
        return float(self.made_of["true_hit_tolerance"])

    @property
    def area_unit(self) -> str:
        """The unit of areas, which are in bits × this."""
        data = self.made_of["data"]
        of_kind = {"ordered": "ranks", "categories": "levels", "tree": "levels"}
        return of_kind.get(data["kind"], f"unit of {data['confidential']}")

    @property
    def total(self) -> int:
        """How many cells the whole study has: one for each replicate, or only one if nothing is drawn at random."""
        once = len(self.made_of["once"])
        return once + (len(self.made_of["techniques"]) - once) * int(self.made_of["replicates"])

    @property
    def complete(self) -> bool:
        """True if every cell is done."""
        return len(self.cells) == self.total

    @cached_property
    def frame(self) -> pd.DataFrame:
        """A pandas frame: technique, parameters, known_size, replicate, the figures, seconds.

        Techniques are in the study's order. The same study gives the same bytes in all columns but ``seconds``, the
        time taken: one release is used for all numbers of known keys, and its time is divided equally among its rows.
        A technique that does not draw at random is released once; its rows are repeated for the other replicates, with
        0 seconds.
        """
        import pandas as pd

        place = {notation: i for i, notation in enumerate(self.made_of["techniques"])}
        rows = sorted(
            (
                (place[cell.key.technique], figures.known_size, replicate, figures, cell)
                for cell in self.cells
                for replicate in self._replicates(cell)
                for figures in cell.figures
            ),
            key=lambda row: row[:3],
        )
        names = [cell.key.technique.partition(":") for *_, cell in rows]
        columns: dict[str, Any] = {
            "technique": pd.Series([name for name, _, _ in names], dtype=object),
            "parameters": pd.Series([parameters for _, _, parameters in names], dtype=object),
            "known_size": pd.Series([row[1] for row in rows], dtype="int64"),
            "replicate": pd.Series([row[2] for row in rows], dtype="int64"),
        }
        for measure in MEASURES:
            columns[measure] = pd.Series([getattr(row[3], measure) for row in rows], dtype="float64")
        shares = [
            cell.seconds / len(cell.figures) if replicate == cell.key.replicate else 0.0
            for _, _, replicate, _, cell in rows
        ]
        columns["seconds"] = pd.Series(shares, dtype="float64")
        return pd.DataFrame(columns)

    def _replicates(self, cell: CellResult) -> Sequence[int]:
        """The replicates that a cell represents."""
        if cell.key.technique in self.made_of["once"]:
            return range(int(self.made_of["replicates"]))
        return [cell.key.replicate]

    @property
    def results(self) -> pd.DataFrame:
        """`frame` without ``seconds``: the same bytes for any number of workers and interruptions."""
        return self.frame.drop(columns="seconds")

    def summary(self) -> pd.DataFrame:
        """Means over the replicates, one row per technique, parameters and number of known keys.

        ``*_se`` is the standard error of the mean, s / √n with s the replicates' standard deviation (n − 1 in the
        denominator); NaN for one replicate, and 0 for a technique that does not draw at random. ``replicates`` is n.
        """
        import pandas as pd

        grouped = self.frame.groupby(KEY, sort=False)
        columns: dict[str, Any] = {"replicates": grouped.size()}
        once = {notation.partition(":")[::2] for notation in self.made_of["once"]}
        fixed = columns["replicates"].index.droplevel("known_size").isin(once)
        for measure in MEASURES:
            # The mean of equal numbers can be off by a rounding error.
            columns[measure] = grouped[measure].mean().mask(fixed, grouped[measure].first())
            columns[f"{measure}_se"] = grouped[measure].sem(ddof=1).mask(fixed, 0.0)
        return pd.DataFrame(columns).reset_index()

    def plot(self, *, per: str = "class") -> altair.ConcatChart:
        """H0 and A against the number of known keys, a line per parameter and a panel per technique.

        ``per="class"`` draws averages over classes (as in the paper), ``per="record"`` averages over people. The bands
        are ±1.96 standard errors. ``.save("x.png")`` and ``.save("x.svg")`` work offline.
        """
        from equivoc.charts.study import study_chart

        return study_chart(self.summary(), area_unit=self.area_unit, per=per)

    def __repr__(self) -> str:
        data = self.made_of["data"]
        return (
            f"<StudyResult: {len(self.made_of['techniques'])} techniques × {self.made_of['replicates']} replicates, "
            f"{len(self.cells)} of {self.total} cells done; {counted_records(data)}, "
            f"{len(data['keys'])} keys, confidential {data['confidential']}>"
        )


def load_study(store: str | Path) -> StudyResult:
    """The study in a folder that ``Study.run(store=…)`` or ``equivoc study --out`` wrote, finished or not."""
    folder = store_folder(store)
    with study_to_read(folder) as opened:
        return StudyResult(opened.facts, tuple(opened.cells()), folder, opened.remarks)
