"""Sums of a component's atoms that fit all answers, found from the answers alone: where chains and draws start."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from equivoc.systems.posteriors.components import Component
from equivoc.systems.posteriors.sum_tables import CAP, SumTable
from equivoc.systems.range_sums import ImpossibleAnswersError

_MOST_VARIABLES = 200_000
_MOST_NODES = 20_000


def starting_point(
    component: Component,
    tables: tuple[SumTable, ...],
    *,
    order: NDArray[np.int64] | None = None,
    objective: NDArray[np.float64] | None = None,
) -> NDArray[np.int64] | None:
    """Sums that fit, a vertex in the direction of ``objective`` (None: any, always the same); None if not found.

    ``order``: of the atoms, if known sums are runs in it: prefix sums as variables then make a much smaller program.
    ImpossibleAnswersError if nothing fits.
    """
    from scipy.optimize import Bounds, LinearConstraint, milp
    from scipy.sparse import csr_array

    program = _program(component, tables)
    if program is None:
        return None
    rows, low, high, least, greatest = program
    variables = len(least)
    if order is not None:
        rows, low, high = _in_prefix_sums(rows, low, high, least, greatest, order)
    cost = np.zeros(variables)
    if objective is not None:
        cost[: len(component.atoms)] = objective
        if order is not None:
            cost[order] = objective[order] - np.append(objective[order][1:], 0.0)
    matrix = csr_array(
        (
            [value for row in rows for value in row.values()],
            ([r for r, row in enumerate(rows) for _ in row], [c for row in rows for c in row]),
        ),
        shape=(len(rows), variables),
    )
    found = milp(
        cost,
        integrality=np.ones(variables),
        bounds=Bounds(np.array(least), np.array(greatest)),
        constraints=[LinearConstraint(matrix, np.array(low), np.array(high))] if rows else [],
        # Any point will do: the search need not prove that it is the best one.
        options={"node_limit": _MOST_NODES, "mip_rel_gap": 1e6},
    )
    if found.status == 2:
        raise ImpossibleAnswersError("answers contradict each other: no database gives all of them.")
    if found.x is None:
        return None
    point = np.rint(found.x[: len(component.atoms)])
    if order is not None:
        point[order] = np.diff(point[order], prepend=0.0)
    return np.asarray(point, dtype=np.int64)


def _in_prefix_sums(
    rows: list[dict[int, float]],
    low: list[float],
    high: list[float],
    least: list[float],
    greatest: list[float],
    order: NDArray[np.int64],
) -> tuple[list[dict[int, float]], list[float], list[float]]:
    """The same program with the variable of each atom replaced by the sum of all atoms up to it (limits in place)."""
    before = dict(zip(order[1:].tolist(), order[:-1].tolist(), strict=True))
    atoms = set(order.tolist())
    single = [{atom: 1.0} for atom in order.tolist()]
    low = low + [least[atom] for atom in order]
    high = high + [greatest[atom] for atom in order]
    changed = []
    for row in [*rows, *single]:
        new: dict[int, float] = {}
        for variable, value in row.items():
            new[variable] = new.get(variable, 0.0) + value
            if variable in atoms and variable in before:
                new[before[variable]] = new.get(before[variable], 0.0) - value
        changed.append({variable: value for variable, value in new.items() if value})
    for atom in atoms:
        least[atom], greatest[atom] = 0.0, np.inf
    return changed, low, high


def _program(
    component: Component, tables: tuple[SumTable, ...]
) -> tuple[list[dict[int, float]], list[float], list[float], list[float], list[float]] | None:
    """Rows with limits, then limits of the variables: the sums, a 0-1 variable per (atom, flag), people per value."""
    least = component.low.astype(np.float64).tolist()
    greatest = component.high.astype(np.float64).tolist()
    rows: list[dict[int, float]] = [dict.fromkeys(row.tolist(), 1.0) for row in component.rows]
    low = [float(total) for total in component.totals]
    high = list(low)
    raised: dict[tuple[int, int], int] = {}
    for extreme in component.extremes:
        for key in extreme:
            if key not in raised:
                raised[key] = len(least)
                least.append(0.0)
                greatest.append(1.0)
        rows.append({raised[key]: 1.0 for key in extreme})
        low.append(1.0)
        high.append(np.inf)
    for (atom, flag), variable in raised.items():
        domain, people = tables[atom].domain, tables[atom].people
        # Somebody at the cap: the sum is at least one span; somebody at the floor: at least one span is missing.
        if flag == CAP:
            rows.append({atom: 1.0, variable: -float(domain.steps)})
            low.append(0.0)
            high.append(np.inf)
        else:
            rows.append({atom: 1.0, variable: float(domain.steps)})
            low.append(-np.inf)
            high.append(float(people * domain.steps))
    gaps = [a for a, table in enumerate(tables) if len(table.domain.positions) != table.domain.steps + 1]
    if len(least) + sum(len(tables[a].domain.positions) for a in gaps) > _MOST_VARIABLES:
        return None
    for atom in gaps:
        # Not every sum between two possible ones is possible: count the people at each value.
        positions = tables[atom].domain.positions
        first = len(least)
        least.extend([0.0] * len(positions))
        greatest.extend([float(tables[atom].people)] * len(positions))
        rows.append({first + i: 1.0 for i in range(len(positions))})
        low.append(float(tables[atom].people))
        high.append(float(tables[atom].people))
        rows.append({atom: -1.0} | {first + i: float(p) for i, p in enumerate(positions) if p})
        low.append(0.0)
        high.append(0.0)
        for flag, place in ((CAP, len(positions) - 1), (3 - CAP, 0)):
            if (atom, flag) in raised:
                rows.append({first + place: 1.0, raised[atom, flag]: -1.0})
                low.append(0.0)
                high.append(np.inf)
    return rows, low, high, least, greatest
