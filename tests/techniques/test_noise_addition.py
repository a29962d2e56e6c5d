"""Noise addition against explicit double loops over the noisy table."""

from __future__ import annotations

from dataclasses import replace
from math import comb

import numpy as np
import pyarrow as pa
import pytest

from equivoc.data.microdata import Microdata
from equivoc.techniques.noise_addition import NoiseAddition
from equivoc.techniques.unprotected import Unprotected

EDGES = ["clip", "wrap", "extend"]
SUBSETS = [[], ["age"], ["sex"], ["sex", "age"], ["job", "age", "sex"]]
LEVELS = {
    "age": [20, 21, 22, 23, 24],
    "sex": ["F", "M", None],
    "job": ["cook", "judge", "nurse"],
    "pay": list(range(10, 80, 10)),
}
STEPS = {"age": 1, "pay": 10}  # the attributes whose released grid can grow


def most(percent, name):
    """M: the even number nearest to percent % of |domain| − 1, a half up."""
    return 2 * int((percent * (len(LEVELS[name]) - 1) + 100) // 200)


def edge_of(name, edge):
    return "clip" if edge == "extend" and name not in STEPS else edge


def released_rank(name, value, edge):
    if edge_of(name, edge) == "extend":
        return (value - LEVELS[name][0]) // STEPS[name]
    return LEVELS[name].index(value)


def likelihood(name, released, true, percent, edge):
    """P(released rank | true rank), by going through all M + 1 moves."""
    size, M = len(LEVELS[name]), most(percent, name)
    total = 0
    for j in range(M + 1):
        landed = true + j - M // 2
        if edge_of(name, edge) == "clip":
            landed = min(max(landed, 0), size - 1)
        elif edge_of(name, edge) == "wrap":
            landed %= size
        total += comb(M, j) * (landed == released)
    return total / 2**M


def linked(table, classes, known, percent, edge):
    """What the intruder who knows the noise believes."""
    found = {}
    for key in classes:
        row = [0.0] * len(LEVELS["pay"])
        for record in table:
            link = 1.0
            for name, value in zip(sorted(known), key, strict=True):
                seen = released_rank(name, record[name], edge)
                link *= likelihood(name, seen, LEVELS[name].index(value), percent, edge)
            seen = released_rank("pay", record["pay"], edge)
            told = [likelihood("pay", seen, d, percent, edge) for d in range(len(row))]
            row = [p + link * q / sum(told) for p, q in zip(row, told, strict=True)]
        found[key] = [p / sum(row) for p in row]
    return found


def reached(table, classes, percent, edge):
    """What the intruder of the printed text believes: each record of the class, all values in reach."""
    size, reach = len(LEVELS["pay"]), most(percent, "pay") // 2
    found = {}
    for key, members in classes.items():
        row = [0.0] * size
        for r in members:
            seen = released_rank("pay", table[r]["pay"], edge)
            far = [abs(seen - d) for d in range(size)]
            if edge == "wrap":
                far = [min(f, size - f) for f in far]
            near = [f <= reach for f in far]
            row = [p + n / sum(near) / len(members) for p, n in zip(row, near, strict=True)]
        found[key] = row
    return found


@pytest.mark.parametrize("known", SUBSETS, ids=str)
@pytest.mark.parametrize("percent", [40, 100, 250])
@pytest.mark.parametrize("edge", EDGES)
def test_posterior_is_linkage_times_channel(
    people, records, beliefs, classes_of, assert_same, known, percent, edge
):
    release = NoiseAddition(percent=percent, edge=edge).release(people, 9)
    expected = linked(release.table.to_pylist(), classes_of(records, known), known, percent, edge)
    assert_same(beliefs(release.posteriors(known, intruder="paper")), expected)


@pytest.mark.parametrize("known", SUBSETS, ids=str)
@pytest.mark.parametrize("percent", [40, 100, 250])
@pytest.mark.parametrize("edge", EDGES)
def test_interval_intruder_is_the_printed_text(
    people, records, beliefs, classes_of, assert_same, known, percent, edge
):
    release = NoiseAddition(percent=percent, edge=edge, belief="interval").release(people, 9)
    expected = reached(release.table.to_pylist(), classes_of(records, known), percent, edge)
    assert_same(beliefs(release.posteriors(known, intruder="paper")), expected)


@pytest.mark.parametrize("edge", EDGES)
@pytest.mark.parametrize("intruder", ["bayes", "interval"])
def test_without_noise_it_is_the_file_itself(people, beliefs, assert_same, edge, intruder):
    release = NoiseAddition(percent=0, edge=edge, belief=intruder).release(people, 3)
    file = Unprotected().release(people)
    for known in SUBSETS:
        assert_same(
            beliefs(release.posteriors(known, intruder="paper")),
            beliefs(file.posteriors(known, intruder="paper")),
        )
    assert release.table.equals(file.table)


@pytest.mark.parametrize("intruder", ["bayes", "interval"])
def test_both_intruders_get_the_same_table(people, intruder):
    one = NoiseAddition(percent=60, belief="bayes").release(people, 6).table
    other = NoiseAddition(percent=60, belief=intruder).release(people, 6).table
    assert one.equals(other)


@pytest.mark.parametrize("edge", EDGES)
def test_the_table_moves_as_far_as_the_noise(people, records, edge):
    """Every move lies within M/2, and over many files all that can happen does."""
    moved = {name: set() for name in LEVELS}
    for seed in range(60):
        table = NoiseAddition(percent=100, edge=edge).release(people, seed).table
        assert sorted(table.column_names) == sorted(LEVELS)
        for before, after in zip(records, table.to_pylist(), strict=True):
            for name, levels in LEVELS.items():
                rank = levels.index(before[name])
                moved[name].add((rank, released_rank(name, after[name], edge)))
    for name, levels in LEVELS.items():
        occurring = {levels.index(record[name]) for record in records}
        grown = most(100, name) if edge_of(name, edge) == "extend" else 0
        seen = range(-grown, len(levels) + grown)
        possible = {(r, s) for r in occurring for s in seen if likelihood(name, s, r, 100, edge)}
        rare = {(r, s) for r, s in possible if likelihood(name, s, r, 100, edge) < 0.02}
        assert possible - rare <= moved[name] <= possible, name


def test_extended_grids_keep_their_values_and_types():
    """0.1 + 2·0.1 is not 0.3: a value that did not move is published as it was, and whole numbers stay whole."""
    tenths = [0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7]
    table = pa.table({"x": tenths, "day": list(range(1, 8)), "pay": list(range(10, 80, 10))})
    people = Microdata(table, confidential="pay", keys=["x", "day"])
    assert NoiseAddition(percent=0, edge="extend").release(people, 0).table.equals(table)
    released = NoiseAddition(percent=100, edge="extend").release(people, 0).table
    assert released.schema == table.schema
    inside = [x for x in released.column("x").to_pylist() if 0.05 < x < 0.75]
    assert inside
    assert set(inside) <= set(tenths)


def test_only_even_numeric_grids_grow():
    """A gap, a null, a date-like text: such keys are clipped to the values that occur."""
    columns = {
        "gap": [1, 2, 4, 8, 16] * 8,
        "null": [1, 2, 3, 4, None] * 8,
        "flag": [True, False] * 20,
        "even": [1, 2, 3, 4, 5] * 8,
        "pay": [10, 20, 30, 40] * 10,
    }
    people = Microdata(pa.table(columns), confidential="pay", keys=["gap", "null", "flag", "even"])
    released = NoiseAddition(percent=100, edge="extend").release(people, 2).table.to_pydict()
    for name in ("gap", "null", "flag"):
        assert set(released[name]) == set(columns[name]), name
    assert set(released["even"]) - set(columns["even"]) <= {-1, 0, 6, 7}
    assert min(released["even"]) < 1
    assert max(released["even"]) > 5
    assert set(released["pay"]) - set(columns["pay"]) <= {-10, 0, 50, 60}
    assert min(released["pay"]) < 10
    assert max(released["pay"]) > 40


def test_a_class_that_noise_cannot_have_made_is_refused(people):
    """A release that is held against other people says so; nothing is divided by zero."""
    release = NoiseAddition(percent=0).release(people, 0)
    everyone_twenty = {key: replace(column, codes=column.codes * 0) for key, column in release.keys.items()}
    impossible = replace(release, keys=everyone_twenty)
    with pytest.raises(ValueError, match="No released record"):
        impossible.posteriors(["age"], intruder="paper")


def test_noise_is_drawn_afresh_for_every_attribute(people):
    """Two attributes with as many levels move independently of each other."""
    columns = {"a": [0, 1, 2, 3, 4] * 200, "b": [0, 1, 2, 3, 4] * 200, "pay": [0, 1, 2, 3, 4] * 200}
    twins = Microdata(pa.table(columns), confidential="pay", keys=["a", "b"])
    table = NoiseAddition(percent=100, edge="extend").release(twins, 1).table
    moves = np.array([np.array(table.column(name)) - columns[name] for name in columns])
    off_diagonal = np.corrcoef(moves)[np.triu_indices(3, 1)]
    assert np.abs(off_diagonal).max() < 0.12
