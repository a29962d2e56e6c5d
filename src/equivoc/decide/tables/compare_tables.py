"""Compares methods that protect a table: the risk and the loss of each, and which one meets the requirements."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from equivoc.arguments import checked_whole_number
from equivoc.assessment.of_table import assess_table
from equivoc.assessment.requirements.figures import eps_of
from equivoc.assessment.requirements.outcome import Outcome, outcome
from equivoc.assessment.requirements.requirement import Requirement, check_contradictions, requirements
from equivoc.decide.comparison.compared import MISSING, ComparedTechnique, Interval
from equivoc.decide.tables.methods import check_method, is_random, notation, released, rules_of
from equivoc.decide.tables.same_cells import on_same_cells
from equivoc.decide.tables.table_comparison import COLUMNS, TableComparison
from equivoc.did_you_mean import did_you_mean
from equivoc.errors import InputError
from equivoc.information_loss.table_losses import TABLE_MEASURES, table_losses
from equivoc.number_format import counted
from equivoc.tables.cell_table import CellTable
from equivoc.tables.rules import unsafe_cells

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
    cells with contributors if no method has a rule or none is unsafe.
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
    compared = []
    for each in named:
        try:
            compared.append(
                _compared(
                    table,
                    each,
                    cells,
                    asked=asked,
                    utility=utility,
                    seeds=range(seed, seed + (replicates if is_random(each.method) else 1)),
                    eps=tolerances,
                    hit_eps=measured.hit_eps,
                )
            )
        except InputError as mistake:
            raise InputError(f"{each.notation}: {mistake}") from None
    risk = asked[0] if asked else RISK_WITHOUT_REQUIREMENTS
    return TableComparison(
        table,
        tuple(given),
        asked,
        utility,
        tuple(compared),
        risk.at(eps_of(risk, measured.hit_eps)),
        measured.hit_eps,
        replicates,
        seed,
        words,
    )


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
    for seed in seeds:
        release = released(named.method, table, seed=seed)
        found = on_same_cells(table, release, cells, eps=eps, wanted=wanted).requirements
        for at, each in enumerate(found):
            values[at].append(each.value)
            reasons[at] = reasons[at] or each.reason
        for loss in table_losses(table, release):
            losses.setdefault(loss.measure, []).append(loss.value)

    def judged(at: int) -> Outcome:
        return outcome(wanted[at], values[at], eps=eps_of(wanted[at], hit_eps), reason=reasons[at])

    outcomes = tuple(judged(at) for at in range(len(asked)))
    risks = {each.figure: _interval(judged(at)) for at, each in enumerate(wanted) if at >= len(asked)}
    lost = {name: _loss(losses.get(name)) for name in TABLE_MEASURES}
    ranking = _interval(outcomes[0]) if asked else risks[RISK_WITHOUT_REQUIREMENTS.figure]
    method: Any = named  # it has the names of a technique, which is all that is asked of it
    return ComparedTechnique(
        method, risks, lost, ranking, lost[utility], outcomes, ("second largest contributor",), len(values[0])
    )


def _interval(found: Outcome) -> Interval:
    if found.value is None or found.low is None or found.high is None:
        return MISSING
    return Interval(found.value, found.low, found.high)


def _loss(values: Sequence[float] | None) -> Interval:
    if not values:
        return MISSING
    from equivoc.assessment.spread import over_releases

    about = over_releases(values)
    return Interval(about["mean"], max(about["low"], 0.0), about["high"])
