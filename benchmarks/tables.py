"""Tables of totals: the attacker's intervals and cell suppression, time and gap against their bars.

    .venv/bin/python benchmarks/tables.py                       # all of it
    .venv/bin/python benchmarks/tables.py --only intervals      # or suppression, random
    .venv/bin/python benchmarks/tables.py --seeds 3             # more tables of each kind

Prints a line per table, exits 1 if a bar is missed. Contributions are lognormal, heaped (multiples of 10) or sparse
(half of the inner cells are empty). ``random`` protects 1,000 small tables and recomputes the intervals of an outsider
and of every single contributor.
"""

from __future__ import annotations

import argparse
import sys
from time import perf_counter

import numpy as np

from equivoc.errors import InputError
from equivoc.tables.attacker import cell_intervals
from equivoc.tables.cell_table import CellTable, Dimension
from equivoc.tables.contributions import Entries, of_people, summed_up
from equivoc.tables.rules import PPercent, protection_from_largest
from equivoc.tables.suppression.cell_suppression import CellSuppression
from equivoc.tables.suppression.problem import suppression_problem

KINDS = ("lognormal", "heaped", "sparse")


def groups(name: str, branches: int, size: int) -> Dimension:
    """A key with subtotals: so many groups of so many categories."""
    labels: list[str | None] = [None]
    parents = [-1]
    for group in range(branches):
        top = len(labels)
        labels += [f"{name}{group}", *(f"{name}{group}.{at}" for at in range(size))]
        parents += [0, *[top] * size]
    return Dimension(name, tuple(labels), np.array(parents, dtype=np.int64))


def flat(name: str, size: int) -> Dimension:
    return Dimension.flat(name, list(range(size)))


def firms_table(
    keys: tuple[Dimension, ...], kind: str, rng: np.random.Generator, *, mean: float = 7
) -> CellTable:
    """A table of totals: about ``mean`` firms in each inner cell."""
    shape = tuple(map(len, keys))
    inner = np.arange(int(np.prod(shape))).reshape(shape)[np.ix_(*(key.leaves for key in keys))].ravel()
    firms = 1 + rng.poisson(mean - 1, size=len(inner))
    if kind == "sparse":
        firms *= rng.random(len(inner)) < 0.5
    cells = np.repeat(inner, firms)
    amounts = rng.lognormal(3, 1.5, size=len(cells))
    if kind == "heaped":
        amounts = np.ceil(amounts / 10) * 10
    found = of_people(Entries(cells, amounts, np.zeros(len(cells), dtype=bool)), keys, keep=3)
    values = summed_up(amounts, cells, keys)
    return CellTable(keys, "pay", values, found.people, found.top, found.contributions, found.waived)


def intervals(seeds: int) -> bool:
    """Random inner cells of a 100 × 100 table, suppressed."""
    missed = False
    for count, bar in ((800, 2.0), (3000, 10.0)):
        for kind in KINDS:
            for seed in range(seeds):
                rng = np.random.default_rng(seed)
                table = firms_table((flat("a", 100), flat("b", 100)), kind, rng)
                suppressed = np.zeros(len(table), dtype=bool)
                suppressed[
                    rng.choice(np.flatnonzero(table.inner & (table.people > 0)), count, replace=False)
                ] = True
                start = perf_counter()
                found = cell_intervals(table, suppressed)
                seconds = perf_counter() - start
                slack = 10 * found.accuracy + 1e-9
                true = table.values[found.cells]
                right = bool(((found.low <= true + slack) & (true <= found.high + slack)).all())
                met = seconds <= bar and right
                missed |= not met
                print(
                    f"intervals, 100 × 100, {count:,} suppressed, {kind:9} {seconds:6.2f} s, mean width "
                    f"{found.width.mean():8.1f}; bar {bar:g} s: {'met' if met else 'MISSED'}",
                    flush=True,
                )
    return missed


SUPPRESSION = {
    "40 × 40": ((flat("a", 40), flat("b", 40)), 10.0, 0.0),
    "8 × 8 × 8": ((flat("a", 8), flat("b", 8), flat("c", 8)), 30.0, None),
    "4·4 × 3·4 × 14": ((groups("a", 4, 4), groups("b", 3, 4), flat("c", 14)), 60.0, 0.15),
}
"""Keys, the bar in seconds, and the largest gap (None: only printed)."""


def suppression(seeds: int) -> bool:
    """The p% rule with p = 10."""
    missed = False
    for name, (keys, bar, gap) in SUPPRESSION.items():
        for kind in KINDS:
            for seed in range(seeds):
                table = firms_table(keys, kind, np.random.default_rng(seed))
                release = CellSuppression(rule=PPercent(10)).release(table)
                met = (
                    release.seconds <= bar
                    and (gap is None or release.gap <= gap)
                    and protected(release.cells, release)
                )
                missed |= not met
                print(
                    f"suppression, {name:14} {kind:9} {len(table):5,} cells, "
                    f"{np.count_nonzero(release.primary):4} unsafe, "
                    f"{np.count_nonzero(release.withheld):4} suppressed, {release.seconds:6.2f} s, gap on added cost "
                    f"{release.gap:6.2%}{' (proven optimum)' if release.proven else ''}; bar {bar:g} s"
                    f"{'' if gap is None else f', {gap:.0%}'}: {'met' if met else 'MISSED'}",
                    flush=True,
                )
    return missed


def protected(table: CellTable, release: object) -> bool:
    """Whether each unsafe cell's interval, computed again, reaches its protection on both sides, for everybody."""
    hidden, rule = release.withheld, PPercent(10)  # type: ignore[attr-defined]
    cells = np.flatnonzero(rule.unsafe(table))
    if not len(cells):
        return True
    found, level, value = (
        cell_intervals(table, hidden, cells=cells),
        rule.protection(table)[cells],
        table.values[cells],
    )
    slack = 1e-7 * level + 10 * found.accuracy
    outside = (found.high >= value + level - slack) & (found.low <= np.maximum(value - level, 0) + slack)
    return bool(outside.all()) and protected_from_singles(table, hidden, rule)


def protected_from_singles(table: CellTable, hidden: np.ndarray, rule: PPercent) -> bool:
    """The same for each single contributor, who knows her cells: her intervals of the unsafe cells beside them."""
    nothing = np.zeros(len(table), dtype=bool)
    goals = suppression_problem(
        table,
        unsafe=rule.unsafe(table),
        protection=rule.protection(table),
        from_largest=protection_from_largest(table, rule),
        cost=table.values,
        must=nothing,
        must_not=nothing,
    ).goals
    for known in {goal.known for goal in goals if goal.known}:
        hers = [goal for goal in goals if goal.known == known]
        own = {cell: float(table.values[cell]) for cell in known if hidden[cell]}
        found = cell_intervals(table, hidden, known=own, cells=[goal.cell for goal in hers])
        true = table.values[found.cells]
        for at, goal in enumerate(hers):
            reached = found.high[at] - true[at] if goal.sign > 0 else true[at] - found.low[at]
            if reached < goal.level * (1 - 1e-7) - 10 * found.accuracy[at]:
                return False
    return True


def random_tables(seeds: int) -> bool:
    """1,000 small tables for each seed."""
    shapes = (
        (flat("a", 5),),
        (flat("a", 4), flat("b", 5)),
        (groups("a", 2, 3), flat("b", 4)),
        (groups("a", 2, 2), groups("b", 2, 3)),
        (flat("a", 3), flat("b", 3), flat("c", 3)),
    )
    start, unprotected, impossible = perf_counter(), 0, 0
    for number in range(1000 * seeds):
        rng = np.random.default_rng(number)
        table = firms_table(
            shapes[number % len(shapes)], KINDS[number // 5 % 3], rng, mean=float(rng.uniform(1, 6))
        )
        try:
            unprotected += not protected(table, CellSuppression(rule=PPercent(10)).release(table))
        except InputError:
            impossible += 1
    print(
        f"random tables: {1000 * seeds:,} in {perf_counter() - start:.0f} s, {impossible} cannot be protected, "
        f"{unprotected} with an interval that is too narrow; bar 0: {'MISSED' if unprotected else 'met'}"
    )
    return bool(unprotected)


PARTS = {"intervals": intervals, "suppression": suppression, "random": random_tables}


def main() -> int:
    arguments = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    arguments.add_argument("--only", choices=list(PARTS))
    arguments.add_argument("--seeds", type=int, default=1)
    given = arguments.parse_args()
    chosen = [given.only] if given.only else list(PARTS)
    missed = [PARTS[name](given.seeds) for name in chosen]
    return int(any(missed))


if __name__ == "__main__":
    sys.exit(main())
