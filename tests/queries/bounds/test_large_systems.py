"""Shortest paths, programs and projections against linear programs of scipy, on systems too large to enumerate."""

from __future__ import annotations

import numpy as np
import pytest
from numpy.typing import NDArray
from scipy import sparse
from scipy.optimize import linprog

from equivoc.systems.bounds import programs, solving
from equivoc.systems.bounds.bounds import person_bounds
from equivoc.systems.bounds.parts import difference_bounds
from equivoc.systems.constraints import answer_system
from equivoc.systems.runs import range_order
from equivoc.systems.system import AnswerSystem, Question

DOMAIN = np.arange(1, 251)


def range_system(
    people: int, questions: int, keys: int, seed: int, *, narrow: float = 1.0
) -> tuple[AnswerSystem, NDArray[np.int64], NDArray[np.int64]]:
    """Sums over boxes of the keys, the true positions, and the ranks of the atoms by the first key."""
    rng = np.random.default_rng(seed)
    values = np.where(rng.random(people) < 0.6, rng.integers(1, 20, people), rng.integers(1, 251, people))
    key = rng.integers(0, people if keys == 1 else 6, (people, keys))
    asked: list[Question] = []
    while len(asked) < questions:
        first = rng.integers(0, key.max() + 1, keys)
        last = first + rng.integers(0, max(1, int(narrow * (key.max() + 1))), keys)
        members = np.flatnonzero(np.all((key >= first) & (key <= last), axis=1))
        if len(members):
            total = float(values[members].sum())
            asked.append(Question("sum", members, total, statement=len(asked), text="SUM(value)"))
    system = answer_system(asked, values=DOMAIN, people=people, truth=values)
    _, person = np.unique(system.atoms.of_person, return_index=True)
    return system, values - 1, key[person, 0]


def by_scipy(system: AnswerSystem, atom: int) -> tuple[float, float]:
    cost = np.zeros(len(system.atoms))
    cost[atom] = 1.0
    box = np.column_stack([np.zeros(len(cost)), system.atoms.sizes * system.grid.steps])
    ends = [
        linprog(sign * cost, A_eq=system.matrix, b_eq=system.totals, bounds=box, method="highs").fun * sign
        for sign in (1, -1)
    ]
    return ends[0], ends[1]


def person(system: AnswerSystem, atom: int, ends: tuple[float, float]) -> tuple[int, int]:
    """One person's bounds from those of her atom's sum, rounded inwards."""
    steps, others = system.grid.steps, int(system.atoms.sizes[atom]) - 1
    low = max(0, int(np.ceil(ends[0] - 1e-6)) - others * steps)
    return low, min(steps, int(np.floor(ends[1] + 1e-6)))


@pytest.mark.parametrize("seed", range(3))
def test_shortest_paths_equal_linear_programs_for_200_people(
    seed: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    system, _, rank = range_system(200, 60, keys=1, seed=seed, narrow=0.1)
    paths = person_bounds(system, orders=[rank])
    assert paths.method.count("shortest paths") > 30
    assert paths.exact.all()
    monkeypatch.setattr(solving, "range_order", lambda matrix, ranks: None)
    by_programs = person_bounds(system)
    assert by_programs.method.count("linear programs") > 30
    np.testing.assert_array_equal(paths.low, by_programs.low)
    np.testing.assert_array_equal(paths.high, by_programs.high)
    for atom in range(0, len(system.atoms), 7):
        assert (paths.low[atom], paths.high[atom]) == person(system, atom, by_scipy(system, atom))
    assert (
        np.mean((paths.low > 0) | (paths.high < 249)) > 0.05
    )  # some are narrowed, or the test shows nothing


def test_shortest_paths_in_small_portions_are_the_same(monkeypatch: pytest.MonkeyPatch) -> None:
    from equivoc.systems.bounds import solving

    system, _, rank = range_system(200, 60, keys=1, seed=5, narrow=0.1)
    whole = person_bounds(system, orders=[rank])
    monkeypatch.setattr(solving, "_MOST_DISTANCES", 500)
    portions = person_bounds(system, orders=[rank])
    np.testing.assert_array_equal(whole.low, portions.low)
    np.testing.assert_array_equal(whole.high, portions.high)


@pytest.mark.parametrize("seed", range(2))
def test_projections_and_nearest_rows_against_all_rows(seed: int, monkeypatch: pytest.MonkeyPatch) -> None:
    """Outer bounds, and here equal to those of the programs with all rows for nearly everyone."""
    system, truth, _ = range_system(120, 50, keys=3, seed=seed, narrow=0.5)
    exact = [person(system, atom, by_scipy(system, atom)) for atom in range(len(system.atoms))]
    low, high = np.array(exact).T
    monkeypatch.setattr(programs, "_MOST_FOR_ALL_ROWS", 0)
    monkeypatch.setattr(programs, "_NEAREST_ROWS", (20, 40))
    found = person_bounds(system)
    of = system.atoms.of_person
    assert np.all((found.low[of] <= truth) & (truth <= found.high[of]))
    # Whole-number programs may narrow a few more than real numbers do.
    outer = np.array([name != "whole-number programs" for name in found.method])
    assert np.all((found.low <= low) & (high <= found.high) | ~outer)
    assert np.mean((found.low == low) & (found.high == high)) > 0.95
    assert np.mean((low > 0) | (high < 249)) > 0.05


def test_everyone_open_needs_no_program(monkeypatch: pytest.MonkeyPatch) -> None:
    """Broad sums over uniform values: projections alone must show that nothing is narrowed."""
    rng = np.random.default_rng(0)
    values = rng.integers(1, 251, 400)
    sets = [np.flatnonzero(rng.random(400) < 0.3) for _ in range(30)]
    asked = [Question("sum", s, float(values[s].sum()), statement=n, text="SUM") for n, s in enumerate(sets)]
    system = answer_system(asked, values=DOMAIN, people=400, truth=values)
    monkeypatch.setattr(programs, "_MOST_FOR_ALL_ROWS", 0)
    monkeypatch.setattr(programs, "_MOST_PROGRAMS", 0)
    found = person_bounds(system)
    assert set(found.method) <= {"linear programs", "prior domain"}
    assert np.all(found.low == 0)
    assert np.all(found.high == 249)


def test_differences_of_two_sums_against_programs() -> None:
    """Never narrower than the programs with both rows, and often equal to them."""
    rng = np.random.default_rng(1)
    equal = 0
    for _ in range(25):
        matrix = sparse.csr_array((rng.random((2, 7)) < 0.6).astype(np.int64))
        true = rng.integers(0, 11, 7)
        low, high = difference_bounds(matrix, matrix @ true, np.zeros(7, np.int64), np.full(7, 10, np.int64))
        for unknown in range(7):
            cost = np.eye(7)[unknown]
            ends = [
                s * linprog(s * cost, A_eq=matrix, b_eq=matrix @ true, bounds=(0, 10)).fun for s in (1, -1)
            ]
            assert low[unknown] <= ends[0] + 1e-6
            assert high[unknown] >= ends[1] - 1e-6
            equal += abs(low[unknown] - ends[0]) < 1e-6 and abs(high[unknown] - ends[1]) < 1e-6
    assert equal > 0.5 * 25 * 7


@pytest.mark.parametrize("seed", range(20))
def test_a_hidden_range_order_is_found(seed: int) -> None:
    """Ranges over shuffled columns: the given rank or the search finds runs."""
    rng = np.random.default_rng(seed)
    columns = 30
    first = rng.integers(0, columns - 1, 40)
    last = np.minimum(first + rng.integers(1, 12, 40), columns)
    shuffle = rng.permutation(columns)
    dense = np.zeros((40, columns), dtype=np.int64)
    for row, (a, b) in enumerate(zip(first, last, strict=True)):
        dense[row, shuffle[a:b]] = 1
    matrix = sparse.csr_array(dense)
    rank = np.argsort(shuffle)
    for ranks in ([rank], []):
        found = range_order(matrix, ranks)
        assert found is not None
        order, starts, ends = found
        for row in range(40):
            np.testing.assert_array_equal(np.sort(order[starts[row] : ends[row]]), np.flatnonzero(dense[row]))


def test_crossed_sets_have_no_range_order() -> None:
    ring = sparse.csr_array([[1, 1, 0], [0, 1, 1], [1, 0, 1]])
    assert range_order(ring) is None
