"""What single contributors can work out about others, from the definition of the p % rule, not from its levels."""

from __future__ import annotations

import numpy as np

from equivoc.errors import InputError
from equivoc.tables.cell_table import CellTable, Dimension
from equivoc.tables.rules import PPercent
from equivoc.tables.suppression.cell_suppression import CellSuppression
from tests.tables.made_tables import leaves_below, table_of, tree
from tests.tables.suppression.oracle import Oracle, share_a_relation

SHAPES = (
    lambda: [Dimension.flat("a", range(3)), Dimension.flat("b", range(4))],
    lambda: [tree("a", [2, 2]), Dimension.flat("b", range(3))],
    lambda: [Dimension.flat("a", range(2)), Dimension.flat("b", range(3)), Dimension.flat("c", range(2))],
)
P = 20.0

Firm = tuple[int, float]
"""The number of a firm's inner cell, and what it contributes."""


def made(seed: int) -> tuple[CellTable, list[list[Firm]]]:
    """A table, and the firms in each of its cells."""
    rng = np.random.default_rng(seed)
    dimensions = SHAPES[seed % len(SHAPES)]()
    keys = list(np.ndindex(*[len(dimension.leaves) for dimension in dimensions]))
    given = {
        key: np.ceil(rng.lognormal(3, 1.5, size=rng.choice(5, p=[0.2, 0.3, 0.1, 0.2, 0.2]))) for key in keys
    }
    table = table_of(dimensions, {key: list(amounts) for key, amounts in given.items()})
    below = [leaves_below(dimension) for dimension in dimensions]
    firms = [
        [
            (at, float(amount))
            for at, key in enumerate(keys)
            if all(leaf in below[d][nodes[d]] for d, leaf in enumerate(key))
            for amount in given[key]
        ]
        for nodes in np.ndindex(*table.shape)
    ]
    return table, firms


def worked_out(table: CellTable, firms: list[list[Firm]], hidden: np.ndarray) -> list[tuple[bool, bool]]:
    """For each firm that is alone in an inner cell, and each unsafe cell that adds up with a cell it is alone in:
    whether it is the largest there, and whether it learns another firm's contribution to within p %.

    It knows the published cells, the cells in which it is alone, what it contributes, and that nobody contributes less
    than 0: linear programs over inner cells tell how large and how small the unsafe cell can be.
    """
    oracle = Oracle(table, np.zeros(len(table), bool), np.zeros(len(table)))
    unsafe = []
    for cell, inside in enumerate(firms):
        amounts = sorted((amount for _, amount in inside), reverse=True)
        # By definition: the second largest subtracts herself, and is left with x1 + (all others) < (1 + p %) x1.
        if amounts and sum(amounts[2:]) < P / 100 * amounts[0]:
            unsafe.append(cell)
    found = []
    for at, inner in enumerate(np.flatnonzero(table.inner)):
        if len(firms[inner]) != 1:
            continue
        she = firms[inner][0]
        known = {cell for cell, inside in enumerate(firms) if inside == [she] and she[0] == at}
        for cell in unsafe:
            if cell in known or not any(share_a_relation(table, cell, other) for other in known):
                continue
            own = she[1] if she in firms[cell] else 0.0
            others = [firm[1] for firm in firms[cell] if firm != she or not own]
            target = max(others)
            high = table.values[cell] + oracle.reach(hidden, cell, 1, known) - own
            learns = high < (1 + P / 100) * target - 1e-6
            if len(others) == 1:  # nobody else could have contributed what is left
                low = table.values[cell] - oracle.reach(hidden, cell, -1, known) - own
                learns |= low > (1 - P / 100) * target + 1e-6
            found.append((own > target, learns))
    return found


def released(table: CellTable, *, singles: bool = True) -> np.ndarray | None:
    """What is withheld; None if the table cannot be protected."""
    try:
        return CellSuppression(rule=PPercent(P), singles=singles).release(table).withheld
    except InputError:
        return None


def all_worked_out(seeds: range, *, singles: bool = True) -> list[tuple[bool, bool]]:
    every = []
    for seed in seeds:
        table, firms = made(seed)
        hidden = released(table, singles=singles)
        if hidden is not None:
            every += worked_out(table, firms, hidden)
    return every


def test_nobody_who_is_alone_in_a_cell_learns_another_contribution() -> None:
    every = all_worked_out(range(42))
    assert sum(largest for largest, _ in every) >= 20
    assert sum(not largest for largest, _ in every) >= 20
    assert not any(learns for _, learns in every)


def test_the_check_can_fail() -> None:
    """Without protection from single contributors, some learn; without secondary suppression, the largest do too."""
    assert any(learns for _, learns in all_worked_out(range(8, 24), singles=False))
    primary = []
    for seed in range(6):
        table, firms = made(seed)
        primary += worked_out(table, firms, PPercent(P).unsafe(table))
    assert any(learns for largest, learns in primary if largest)
    assert any(learns for largest, learns in primary if not largest)
