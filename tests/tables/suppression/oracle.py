"""Is a pattern protected? Plain linear programs over inner cells only, every margin written as a sum of them."""

from __future__ import annotations

from itertools import product

import numpy as np
from numpy.typing import NDArray
from scipy.optimize import linprog

from equivoc.tables.cell_table import CellTable
from tests.tables.made_tables import leaves_below

Booleans = NDArray[np.bool_]
Floats = NDArray[np.float64]


def sums_of_inner_cells(table: CellTable) -> Floats:
    """Cells × inner cells: 1 where the inner cell is in the cell."""
    leaves = [leaves_below(dimension) for dimension in table.dimensions]
    inner = list(product(*[range(len(dimension.leaves)) for dimension in table.dimensions]))
    cells = list(np.ndindex(*table.shape))
    return np.array(
        [
            [float(all(at in leaves[d][node[d]] for d, at in enumerate(key))) for key in inner]
            for node in cells
        ]
    )


def singles(table: CellTable) -> list[set[int]]:
    """Of each single contributor, the cells in which she is alone."""
    sums = sums_of_inner_cells(table)
    found = []
    for column, cell in enumerate(np.flatnonzero(table.inner)):
        if table.people[cell] == 1:
            found.append({int(c) for c in np.flatnonzero((sums[:, column] > 0) & (table.people == 1))})
    return found


def share_a_relation(table: CellTable, one: int, other: int) -> bool:
    """Same nodes but in one dimension, and there siblings or parent and child."""
    a, b = table.nodes[one], table.nodes[other]
    differ = np.flatnonzero(a != b)
    if len(differ) != 1:
        return False
    parents = table.dimensions[int(differ[0])].parents
    x, y = int(a[differ[0]]), int(b[differ[0]])
    return bool(parents[x] == parents[y] or parents[x] == y or parents[y] == x)


def attacks(table: CellTable, known: set[int], cell: int) -> bool:
    """Whether the unsafe cell must be protected from the single contributor of these cells: they add up with it."""
    return cell not in known and any(share_a_relation(table, cell, other) for other in known)


def own_part(table: CellTable, known: set[int], cell: int) -> float:
    """What the single contributor who knows these cells contributes to the cell."""
    own = next(c for c in known if table.inner[c])
    column = int(np.flatnonzero(np.flatnonzero(table.inner) == own)[0])
    return float(table.values[own] * sums_of_inner_cells(table)[cell, column])


class Oracle:
    """Which patterns protect the unsafe cells of one table of contributions of at least 0."""

    def __init__(self, table: CellTable, unsafe: Booleans, protection: Floats) -> None:
        self.table, self.sums = table, sums_of_inner_cells(table)
        self.needs = []
        for cell in np.flatnonzero(unsafe):
            knowing: list[set[int]] = [set()]
            knowing += [known for known in singles(table) if attacks(table, known, int(cell))]
            for known in knowing:
                self.needs.append((int(cell), 1, float(protection[cell]), known))
                left = table.values[cell] - (own_part(table, known, int(cell)) if known else 0.0)
                self.needs.append((int(cell), -1, float(min(protection[cell], left)), known))

    def reach(self, pattern: Booleans, cell: int, sign: int, known: set[int]) -> float:
        """How far the cell can deviate from its value."""
        fixed = ~pattern
        fixed[list(known)] = True
        answer = linprog(
            -sign * self.sums[cell],
            A_eq=self.sums[fixed],
            b_eq=np.zeros(np.count_nonzero(fixed)),
            A_ub=-self.sums[~fixed],
            b_ub=self.table.values[~fixed],
            bounds=(None, None),
            method="highs",
        )
        return -float(answer.fun) if answer.status == 0 else np.inf

    def protected(self, pattern: Booleans) -> bool:
        """Whether every unsafe cell may be its protection above and below its value, for everybody."""
        return all(
            self.reach(pattern, cell, sign, known) >= level - 1e-7 for cell, sign, level, known in self.needs
        )


def cheapest(oracle: Oracle, forced: Booleans, free: NDArray[np.int64], cost: Floats) -> float | None:
    """The least added cost over all patterns, tried from the cheapest on; None: no pattern is protected."""
    choices = np.array(list(product([False, True], repeat=len(free))), dtype=bool)
    added = choices @ cost[free]
    pattern = forced.copy()
    pattern[free] = True
    if not oracle.protected(pattern):
        return None
    for choice in np.argsort(added, kind="stable"):
        pattern = forced.copy()
        pattern[free[choices[choice]]] = True
        if oracle.protected(pattern):
            return float(added[choice])
    raise AssertionError
