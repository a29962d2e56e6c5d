"""How cells add up: against sums over the categories of the data."""

import numpy as np

from equivoc.tables.cell_table import CellTable, Dimension


def test_totals_are_the_sums_of_their_parts_in_every_dimension() -> None:
    region = Dimension(
        "region", (None, "north", "south", "n1", "n2", "s1"), np.array([-1, 0, 0, 1, 1, 2], dtype=np.int64)
    )
    sex = Dimension.flat("sex", ["F", "M"])
    rng = np.random.default_rng(0)
    leaves = rng.integers(0, 9, size=(3, 2)).astype(float)  # n1, n2, s1 × F, M
    of_region = {0: [0, 1, 2], 1: [0, 1], 2: [2], 3: [0], 4: [1], 5: [2]}
    of_sex = {0: [0, 1], 1: [0], 2: [1]}
    values = np.array([leaves[np.ix_(of_region[r], of_sex[s])].sum() for r in range(6) for s in range(3)])
    table = CellTable(
        (region, sex),
        "pay",
        values,
        people=np.ones(18, dtype=np.int64),
        top=np.zeros((18, 2)),
        contributions=values,
        waived=np.zeros(18, dtype=bool),
    )
    relations = table.relations
    assert relations.shape == (3 * 3 + 6, 18)  # region: three nodes with children × 3; sex: one × 6
    assert np.abs(relations @ values).max() == 0
    assert table.inner.sum() == 6
    for cell in range(18):  # a wrong value breaks a relation wherever it stands
        changed = values.copy()
        changed[cell] += 1
        assert np.abs(relations @ changed).max() == 1
