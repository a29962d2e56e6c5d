"""Compares methods that protect a table: the risk and the loss of each, and which one meets the requirements."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from equivoc.assessment.of_table import TableAssessment, assess_table
from equivoc.checks import checked_whole_number
from equivoc.errors import InputError, did_you_mean
from equivoc.experiments.compared import (
    FRONT_RELEASES,
    MISSING,
    ComparedTechnique,
    Interval,
    failed,
    to_draw_again,
)
from equivoc.experiments.ranked import Ranked
from equivoc.information_loss.table_losses import TABLE_MEASURES, table_losses
from equivoc.requests.methods import check_method, is_random, notation, released, rules_of
from equivoc.requirements.outcome import Outcome, eps_of, outcome, overruled
from equivoc.requirements.requirement import Requirement, check_contradictions, requirements
from equivoc.results.result import Shown
from equivoc.tables.cell_table import CellTable
from equivoc.tables.redesign import RedesignedTable
from equivoc.tables.release import TableRelease
from equivoc.tables.rules import unsafe_cells
from equivoc.text import counted

if TYPE_CHECKING:
    import altair
    import pandas as pd

# An assessment over the same cells of the original table for every method, so that methods can be compared.

Floats = NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class OriginalCells(TableRelease):
    """What a redesigned table says about the cells of the original one."""

    given: tuple[Floats, Floats] = field(repr=False)

    @property
    def bounds(self) -> tuple[Floats, Floats]:
        """The least and the greatest value of each original cell."""
        return self.given


@dataclass(frozen=True, eq=False)
class SameCells(TableAssessment):
    """An assessment over chosen cells of the original table. ``k`` is that of the release itself."""

    chosen: NDArray[np.int64] = field(kw_only=True, repr=False)
    itself: TableAssessment = field(kw_only=True, repr=False)

    @property
    def cells(self) -> NDArray[np.int64]:
        """The chosen cells."""
        return self.chosen

    def _value(self, requirement: Requirement) -> float | None:
        return self.itself._value(requirement) if requirement.figure == "k" else super()._value(requirement)


def on_same_cells(
    table: CellTable,
    release: TableRelease,
    chosen: NDArray[np.int64],
    *,
    eps: tuple[float, ...],
    wanted: tuple[Requirement, ...],
) -> SameCells:
    """Assess a release over these cells of the original table."""
    itself = TableAssessment(table, release, eps, wanted)
    seen: Any = release
    if isinstance(release, RedesignedTable):
        low, high = release.original_bounds()
        seen = OriginalCells(table, np.where(low == high, low, np.nan), given=(low, high))
    return SameCells(table, seen, eps, wanted, chosen=chosen, itself=itself)


# The result of comparing methods that protect a table: a frame, the choice, and the reasons.

COLUMNS = ("h0", "area", "hit", "certain_right", "k")
"""The figures of risk that every comparison of tables shows."""
LOSS_WORDS = {
    "cell_error": "relative error of a user's inner cells",
    "cells_suppressed": "share of cells withheld",
    "total_suppressed": "share of the total withheld",
    "rounding_distance": "mean distance of rounded cells, in bases",
    "cells_lost": "share of inner cells merged",
}


@dataclass(frozen=True, eq=False)
class TableComparison(Ranked, Shown):
    """Several methods measured for the same table, cells and intruder.

    H0 is in bits, areas are in bits × the attribute's unit, hits are shares; less H0, area and k is riskier, more hits
    and certain_right are. Every measure of loss is 0 for a table that is published as it is, and more is worse.
    """

    kind: ClassVar[str] = "table comparison"

    table: CellTable = field(repr=False)
    methods: tuple[Any, ...]
    requirements: tuple[Requirement, ...]
    utility: str
    """The measure of loss that ranks the methods."""
    compared: tuple[ComparedTechnique, ...] = field(repr=False)
    """Every method with its figures and outcomes, in the given order."""
    risk: Requirement
    """The figure that ranks methods by risk: that of the first requirement, or the hit rate without requirements."""
    hit_eps: float
    replicates: int
    seed: int
    cells: str
    """Which cells the figures are over, in words."""

    @property
    def choice(self) -> Any:
        """The method that meets every requirement with the least loss (then the least risk); None if none does."""
        at = next((at for at, each in enumerate(self.compared) if each is self.chosen), None)
        return None if at is None else self.methods[at]

    @cached_property
    def frame(self) -> pd.DataFrame:
        """A row per method: technique, parameters, the figures of risk, the measures of loss, meets, front, choice.

        Over replicates: means, with ``*_low`` and ``*_high`` (Student's 95 % interval). NaN: it does not apply.
        """
        return self.figures_frame(COLUMNS, TABLE_MEASURES)

    def plot(self) -> altair.TopLevelMixin:
        """The risk–utility map: a point per method, the front, and the limit of the first requirement."""
        of = "people" if self.table.value is None else f"unit of {self.table.value}"
        return self.risk_utility_map(area_unit=of, loss_words=LOSS_WORDS[self.utility])

    def __repr__(self) -> str:
        return f"<TableComparison: {len(self.methods)} methods; {self.cells}; {self.headline}>"


ALWAYS = tuple(Requirement(name, None, "mean", "<=", 1.0) for name in COLUMNS)
"""Requirements that stand for the figures of the columns; their limits are not used."""
RISK_WITHOUT_REQUIREMENTS = next(each for each in ALWAYS if each.figure == "hit")


@dataclass(frozen=True)
class NamedMethod:
    """A method with the names by which it is shown."""

    method: Any
    notation: str

    @property
    def name(self) -> str:
        return self.notation.partition(":")[0]

    @property
    def random(self) -> bool:
        return is_random(self.method)


def compare_tables(
    table: CellTable,
    methods: Iterable[Any],
    *,
    require: Iterable[str | Requirement] = (),
    utility: str = "cell_error",
    replicates: int = 1,
    seed: int = 0,
    eps: Any = None,
) -> TableComparison:
    """Measure risk and loss of several methods for one table, and choose one; see `equivoc.compare`.

    Figures are over the same cells for all methods: those that are unsafe by a rule of any of the methods, or all
    cells with contributors if no method has a rule or none is unsafe. A method that cannot protect this table is a row
    with its sentence in the column ``failed``; InputError if none can.
    """
    given = list(methods) if isinstance(methods, Iterable) else [methods]
    if not given:
        raise InputError(
            "there is no method to compare; give at least one, such as eq.CellSuppression(rule=…)."
        )
    for method in given:
        check_method(method)
    named = [NamedMethod(method, notation(method)) for method in given]
    twice = [
        each.notation for at, each in enumerate(named) if each.notation in {n.notation for n in named[:at]}
    ]
    if twice:
        raise InputError(f"{twice[0]} is given twice; leave one out.")
    if utility not in TABLE_MEASURES:
        raise InputError(
            f"utility is {utility!r}, which is no loss of a table{did_you_mean(utility, TABLE_MEASURES)}"
        )
    replicates = checked_whole_number("replicates", replicates, at_least=1)
    seed = checked_whole_number("seed", seed, at_least=0)
    asked = requirements(require)
    # The tolerances of an assessment; the unprotected release stands for all of them.
    measured = assess_table(table, released(_unprotected(), table, seed=0), eps=eps, require=asked)
    tolerances = tuple(dict.fromkeys((*measured.eps, 0.0)))
    check_contradictions([each.at(eps_of(each, measured.hit_eps)) for each in asked])
    cells, words = _cells(table, given)

    def compared(each: NamedMethod, releases: int) -> ComparedTechnique:
        try:
            return _compared(
                table,
                each,
                cells,
                asked=asked,
                utility=utility,
                seeds=range(seed, seed + (releases if each.random else 1)),
                eps=tolerances,
                hit_eps=measured.hit_eps,
            )
        except InputError as mistake:
            method: Any = each  # it has the names of a technique, which is all that is asked of it
            return failed(
                method,
                str(mistake),
                asked=asked,
                measures=TABLE_MEASURES,
                figures=ALWAYS,
                hit_eps=measured.hit_eps,
            )

    risk = asked[0] if asked else RISK_WITHOUT_REQUIREMENTS
    found = [compared(each, replicates) for each in named]
    if all(each.failure for each in found):
        raise InputError(f"{found[0].notation}: {found[0].failure}")
    while True:
        done = TableComparison(
            table,
            tuple(given),
            asked,
            utility,
            tuple(found),
            risk.at(eps_of(risk, measured.hit_eps)),
            measured.hit_eps,
            replicates,
            seed,
            words,
        )
        again = [] if replicates > 1 else to_draw_again(done.ranked, done.compared)
        if not again:
            return done
        found = [
            compared(method, FRONT_RELEASES) if before in again else before
            for method, before in zip(named, found, strict=True)
        ]


def _unprotected() -> Any:
    from equivoc.techniques.unprotected import Unprotected

    return Unprotected()


def _cells(table: CellTable, methods: Sequence[Any]) -> tuple[NDArray[np.int64], str]:
    """The cells that the figures are over, and which they are, in words."""
    rules = tuple({rule.text: rule for method in methods for rule in rules_of(method)}.values())
    if rules:
        unsafe = np.flatnonzero(unsafe_cells(table, rules))
        if len(unsafe):
            which = " or ".join(rule.text for rule in rules)
            verb = "is" if len(unsafe) == 1 else "are"
            return unsafe, f"the {counted(len(unsafe), 'cell')} that {verb} unsafe by {which}"
    every = np.flatnonzero(table.people != 0)
    return every, f"all {len(every):,} cells with contributors"


def _compared(
    table: CellTable,
    named: NamedMethod,
    cells: NDArray[np.int64],
    *,
    asked: Sequence[Requirement],
    utility: str,
    seeds: Iterable[int],
    eps: tuple[float, ...],
    hit_eps: float,
) -> ComparedTechnique:
    wanted = (*asked, *ALWAYS)
    values: list[list[float | None]] = [[] for _ in wanted]
    reasons = [""] * len(wanted)
    losses: dict[str, list[float]] = {}
    exposed = ""
    for seed in seeds:
        release = released(named.method, table, seed=seed)
        exposed = exposed or release.exposed
        found = on_same_cells(table, release, cells, eps=eps, wanted=wanted).requirements
        for at, each in enumerate(found):
            values[at].append(each.value)
            reasons[at] = reasons[at] or each.reason
        for loss in table_losses(table, release):
            losses.setdefault(loss.measure, []).append(loss.value)

    def judged(at: int) -> Outcome:
        return outcome(wanted[at], values[at], eps=eps_of(wanted[at], hit_eps), reason=reasons[at])

    outcomes = tuple(overruled(judged(at), exposed) for at in range(len(asked)))
    risks = {each.figure: _interval(judged(at)) for at, each in enumerate(wanted) if at >= len(asked)}
    lost = {name: _loss(losses.get(name)) for name in TABLE_MEASURES}
    ranking = _interval(outcomes[0]) if asked else risks[RISK_WITHOUT_REQUIREMENTS.figure]
    method: Any = named  # it has the names of a technique, which is all that is asked of it
    return ComparedTechnique(
        method,
        risks,
        lost,
        ranking,
        lost[utility],
        outcomes,
        ("second largest contributor",),
        len(values[0]),
        warning=exposed,
    )


def _interval(found: Outcome) -> Interval:
    if found.value is None or found.low is None or found.high is None:
        return MISSING
    return Interval(found.value, found.low, found.high)


def _loss(values: Sequence[float] | None) -> Interval:
    if not values:
        return MISSING
    from equivoc.requirements.outcome import over_releases

    about = over_releases(values)
    return Interval(about["mean"], max(about["low"], 0.0), about["high"])
