"""What contributors compute of a suppressed table, against linear programs written from the definition."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import product

import numpy as np
import pandas as pd
import pytest
from scipy import sparse
from scipy.optimize import linprog

import equivoc as eq
from equivoc.attributes.hierarchy import Hierarchy
from equivoc.errors import InputError
from equivoc.tables.cell_table import CellTable
from equivoc.tables.suppression.exposure import exposure
from tests.sweeps import TIMES_AS_MANY
from tests.tables.suppression.oracle import sums_of_inner_cells

LARGEST = 1e4
"""More than any total: the grand total may be withheld."""
Record = tuple[str, tuple[str, ...], float]
"""A holding, its cell, what it contributes."""


def table_of(records: Sequence[Record], *, keys: int, grouped: bool = True, **tree: object) -> CellTable:
    names = list("abcd")[:keys]
    frame = pd.DataFrame([[h, *cell, amount] for h, cell, amount in records], columns=["h", *names, "pay"])
    people = eq.Microdata(frame, confidential="pay", keys=[*names, "h"])
    return eq.tabulate(people, names, "pay", contributors="h" if grouped else None, hierarchies=tree or None)


def computed(
    table: CellTable, records: Sequence[Record], hidden: np.ndarray, unsafe: np.ndarray
) -> np.ndarray:
    """Contributors (the first row: an outsider) × cells: True for unsafe cells that she computes exactly.

    For each of them, the least and the greatest that *others* can have contributed to the cell: she knows every
    published total, subtracts her own contributions, knows in which cells she is alone, and that nobody contributes
    less than 0. Cells in which she is alone do not count.
    """
    sums = sums_of_inner_cells(table)
    inner = {
        tuple(d.labels[int(n)] for d, n in zip(table.dimensions, table.nodes[cell], strict=True)): at
        for at, cell in enumerate(np.flatnonzero(table.inner))
    }
    holdings = sorted({holding for holding, _, _ in records})
    found = np.zeros((len(holdings) + 1, len(table)), dtype=bool)
    for row, who in enumerate([None, *holdings]):
        own, inside = np.zeros(len(inner)), np.zeros(len(inner), dtype=bool)
        others_inside = np.zeros(len(inner), dtype=bool)
        for holding, cell, amount in records:
            if holding == who:
                own[inner[cell]] += amount
                inside[inner[cell]] = True
            else:
                others_inside[inner[cell]] = True
        alone = (sums @ inside > 0) & (sums @ others_inside == 0)
        fixed = ~hidden | alone
        cells = np.flatnonzero(hidden & unsafe & ~alone)
        if not len(cells):
            continue
        # One program for all ends of all cells, each with unknowns of its own: fewer calls.
        aims = np.concatenate([sums[cells], -sums[cells]])
        answer = linprog(
            aims.ravel(),
            A_eq=sparse.block_diag([sums[fixed]] * len(aims), format="csr"),
            b_eq=np.tile((table.values - sums @ own)[fixed], len(aims)),
            bounds=(0, LARGEST),
            method="highs",
        )
        assert answer.status == 0
        ends = (aims * answer.x.reshape(len(aims), -1)).sum(axis=1)
        found[row, cells] = np.abs(ends[: len(cells)] + ends[len(cells) :]) < 1e-6
    return found


def random_records(seed: int, shape: tuple[int, ...]) -> list[Record]:
    """Seven holdings; in each cell nobody, one, or several of them; some contribute nothing."""
    rng = np.random.default_rng(seed)
    records: list[Record] = []
    for cell in product(*[range(size) for size in shape]):
        for _ in range(int(rng.choice(5, p=[0.1, 0.35, 0.15, 0.2, 0.2]))):
            amount = 0.0 if rng.random() < 0.15 else float(np.ceil(rng.lognormal(3, 1)))
            records.append((f"h{rng.integers(7)}", tuple(f"x{place}" for place in cell), amount))
    return records


SHAPES = ((3, 4), (3, 3), (5,), (2, 2, 3), (2, 2, 2, 2))


def test_every_contributor_of_random_tables() -> None:
    """All holdings are tried by the oracle, those who are alone nowhere too."""
    exposed, zeros, made, far = 0, 0, 0, 0
    for seed in range(20 * max(1, TIMES_AS_MANY)):
        shape, rule = SHAPES[seed % len(SHAPES)], ("p:15", "threshold:3")[seed // 5 % 2]
        records = random_records(seed, shape)
        table = table_of(records, keys=len(shape))
        try:
            release = eq.CellSuppression(rule=rule).release(table)
        except InputError:
            continue
        made += 1
        expected = computed(table, records, release.withheld, release.primary)
        found = release.exposure
        assert found.complete
        assert found.by_anybody.tolist() == expected[0].tolist(), seed
        assert found.by_contributor.tolist() == (expected.any(axis=0) & ~expected[0]).tolist(), seed
        assert release.proven <= (not expected.any())
        assert bool(release.notes) >= expected.any()
        exposed += int(found.by_contributor.any())
        zeros += int((found.by_anybody & (table.values == 0)).any())
        far += int(found.by_contributor.any() and len(shape) > 2)
    assert made >= 12
    assert zeros >= 1
    assert min(exposed, far) >= 2, (made, exposed, zeros, far)


def test_any_choice_of_cells() -> None:
    """The check alone, on cells withheld at random: hierarchies, and records as contributors."""
    computable = 0
    for seed in range(40 * max(1, TIMES_AS_MANY)):
        rng = np.random.default_rng(seed)
        grouped, shape = bool(seed % 2), ((3, 3), (4, 2), (2, 2, 2))[seed % 3]
        records = random_records(seed + 1000, shape)
        if not grouped:
            records = [(f"r{at}", cell, amount) for at, (_, cell, amount) in enumerate(records)]
        present = sorted({cell[0] for _, cell, _ in records})
        groups = {name: ["north" if name in present[:2] else "south"] for name in present}
        tree = {"a": Hierarchy.of(groups, key="a")}
        table = table_of(records, keys=len(shape), grouped=grouped, **(tree if seed % 4 < 2 else {}))
        hidden = rng.random(len(table)) < 0.5
        unsafe = rng.random(len(table)) < 0.7
        expected = computed(table, records, hidden, unsafe)
        found = exposure(table, hidden, unsafe, seconds=60)
        assert found.by_anybody.tolist() == expected[0].tolist(), seed
        assert found.by_contributor.tolist() == (expected.any(axis=0) & ~expected[0]).tolist(), seed
        computable += int(found.by_contributor.any())
    assert computable >= 3


def three_firms() -> list[Record]:
    """A holding alone in two cells of a row, one firm in the third, five firms in every other cell."""
    records: list[Record] = [("H", ("n", "a"), 40), ("H", ("n", "b"), 30), ("X", ("n", "c"), 50)]
    for row, column in product("nse", "abcd"):
        if (row, column) not in (("n", "a"), ("n", "b"), ("n", "c")):
            records += [(f"{row}{column}{amount}", (row, column), amount) for amount in (36, 33, 30, 27, 24)]
    return records


def test_a_holding_alone_in_two_cells_of_a_row() -> None:
    table = table_of(three_firms(), keys=2)
    release = eq.CellSuppression(rule="p:10").release(table)
    third = table.frame.index[(table.frame["a"] == "n") & (table.frame["b"] == "c")][0]
    assert release.withheld.sum() > 3
    assert np.flatnonzero(release.exposure.cells).tolist() == [third]
    assert release.found.proven  # the search did find the cheapest choice for what it protects from
    assert not release.proven
    assert release.notes == (
        "1 unsafe cell can be computed exactly: 1 by a contributor who knows her own contributions.",
    )
    result = eq.assess(table, release, require=["k >= 1", "certain_right <= 0", "h0@worst >= 0.1"])
    assert result.disclosed == 1
    assert [each.meets for each in result.requirements] == [False, False, False]
    assert (
        "k >= 1 is not met: it is 5, but 1 unsafe cell can be computed exactly"
        in result.requirements[0].sentence
    )
    assert not result.meets
    assert not eq.assess(table, release, require=["k >= 1"]).meets
    facts = result.facts()
    assert facts["headline"].startswith("No, it may not be published. 1 unsafe cell can be computed exactly")
    assert (facts["tone"], facts["counts"]["computed_by_contributors"]) == ("alarm", 1)
    alone = eq.assess(table, release).facts()
    assert "1 unsafe cell can be computed exactly: 1 by a contributor" in alone["headline"]
    assert alone["tone"] == "alarm"
    assert "not every unsafe cell is protected from contributors" in alone["method"]
    method = eq.CellSuppression(rule=eq.PPercent(10))
    done = eq.compare(table, [method], require=["k >= 1"])
    assert (done.choice, done.frame["meets"].tolist()) == (None, [False])
    assert "1 unsafe cell can be computed exactly" in done.headline
    assert "1 unsafe cell can be computed exactly" in eq.compare(table, [method]).headline
    assert eq.choose(table, method, low=10, high=10.5, step=1, require=["k >= 1"]).technique is None
    # As separate firms nobody knows two of the cells.
    apart = eq.CellSuppression(rule="p:10").release(table_of(three_firms(), keys=2, grouped=False))
    assert apart.proven
    assert apart.notes == ()


def test_a_withheld_cell_of_nothing() -> None:
    """A protection of 10 % of 0 asks for nothing, so the other cells of its lines may all be published."""
    records = [(f"{cell}{at}", cell, 10.0 + at) for cell in product("xyz", "uvw") for at in range(4)]
    records = [each for each in records if each[1] != ("x", "u")] + [("Z", ("x", "u"), 0.0)]
    table = table_of(records, keys=2)
    release = eq.CellSuppression(rule="threshold:3").release(table)
    assert release.withheld.sum() == release.exposure.by_anybody.sum() == 1
    assert not release.proven
    assert release.notes == ("1 unsafe cell can be computed exactly: 1 by anybody.",)


def test_what_was_not_checked_is_not_called_safe() -> None:
    table = table_of(three_firms(), keys=2)
    release = eq.CellSuppression(rule="p:10").release(table)
    found = exposure(table, release.withheld, release.primary, seconds=0)
    assert (found.checked, found.contributors, found.complete, found.safe) == (0, 2, False, False)
    assert "Of 2 contributors alone in a withheld cell, 0 were checked in time" in found.notes[0]


def test_contributors_of_a_table_from_elsewhere_that_are_not_told_apart() -> None:
    """The file says that a margin has fewer contributors than its parts: somebody is in several of them."""
    for grouped in (True, False):
        frame = table_of(three_firms(), keys=2, grouped=grouped).frame
        read = eq.CellTable.read(frame, by=["a", "b"])
        release = eq.CellSuppression(rule="p:10").release(read)
        assert release.exposure.told_apart != grouped
        assert release.proven != grouped
        assert ("Some contributors are in several cells" in " ".join(release.notes)) == grouped
        if grouped:
            said = eq.assess(read, release, require=["k >= 1"]).facts()["headline"]
            assert said.endswith("But not every contributor was checked.")


@pytest.mark.parametrize("value", ["pay", None])
def test_negative_contributions_and_counts(value: str | None) -> None:
    """Without a lower bound of 0, only cells that she is alone in tell her something."""
    frame = pd.DataFrame(
        [[h, *cell, amount] for h, cell, amount in three_firms()], columns=["h", "a", "b", "pay"]
    )
    frame.loc[frame.index[-1], "pay"] = -5
    people = eq.Microdata(frame, confidential="pay", keys=["a", "b", "h"])
    table = eq.tabulate(people, ["a", "b"], value, contributors="h")
    hidden = (table.people <= 1) & table.inner
    # In its column each of the three stands alone.
    assert exposure(table, hidden, hidden, seconds=60).by_anybody.sum() == 3
    third = np.flatnonzero(hidden)[-1]
    hidden[table.nodes[:, 0] == 0] = True
    found = exposure(table, hidden, hidden & table.inner, seconds=60)
    assert found.by_anybody.sum() == 0
    assert np.flatnonzero(found.by_contributor).tolist() == [third]
