"""Bounds of every person against all databases of a few people, by every method."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from equivoc.systems.bounds import bounds as person_bounds_module
from equivoc.systems.bounds import programs, solving
from equivoc.systems.bounds.bounds import person_bounds
from equivoc.systems.bounds.parts import PersonBounds
from equivoc.systems.constraints import answer_system
from equivoc.systems.system import Aggregate, Question
from tests.queries.bounds.enumeration import AGGREGATES, Case, random_case, true_ranges
from tests.sweeps import goes_on, times

WITH_MOMENTS: tuple[Aggregate, ...] = (*AGGREGATES, "median", "var_pop", "stddev_samp")


def checked(case: Case) -> tuple[PersonBounds, int]:
    """The bounds, after the comparison with all databases, and how many people's are wider than the true ones."""
    system = answer_system(case.questions, values=case.values, people=len(case.truth), truth=case.truth)
    found = person_bounds(system)
    of, grid = system.atoms.of_person, system.grid
    low, high = (grid.origin + side[of] * grid.step for side in (found.low, found.high))
    true_low, true_high = true_ranges(case)
    assert np.all(low <= true_low + 1e-9)
    assert np.all(high >= true_high - 1e-9)
    equal = (np.abs(low - true_low) < 1e-9) & (np.abs(high - true_high) < 1e-9)
    assert np.all(equal | ~found.exact[of])
    positions = np.rint((case.truth - grid.origin) / grid.step)
    sums = np.bincount(of, weights=positions)
    assert np.all((found.sum_low <= sums) & (sums <= found.sum_high))
    return found, int(np.count_nonzero(~equal))


@settings(max_examples=60)
@given(
    seed=st.integers(0, 2**32 - 1),
    ranges=st.booleans(),
    gaps=st.booleans(),
    aggregates=st.sampled_from([("sum", "avg"), AGGREGATES, WITH_MOMENTS]),
)
def test_bounds_hold_and_are_exact_where_they_say_so(
    seed: int, ranges: bool, gaps: bool, aggregates: tuple[Aggregate, ...]
) -> None:
    case = random_case(np.random.default_rng(seed), ranges=ranges, gaps=gaps, aggregates=aggregates)
    found, wider = checked(case)
    if (
        aggregates != WITH_MOMENTS
    ):  # so few people: whole-number programs settle what the other methods do not
        assert np.all(found.exact)
        assert wider == 0


@goes_on
@pytest.mark.parametrize("method", ["shortest paths", "linear programs", "nearest rows", "propagation"])
def test_every_method_alone(method: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """Without whole-number programs; most bounds of domains without gaps must still be exact, and some say so."""
    monkeypatch.setattr(person_bounds_module, "MOST_CELLS", 0)
    monkeypatch.setattr(solving, "is_forest", lambda system: method == "propagation" and _is_tree(system))
    if method != "shortest paths":
        monkeypatch.setattr(solving, "range_order", lambda matrix, ranks: None)
    if method == "nearest rows":
        monkeypatch.setattr(programs, "_MOST_FOR_ALL_ROWS", 0)
    methods: dict[str, int] = {}
    wider = exact = people = 0
    cases = times(200, 700)
    for seed in range(cases):
        rng = np.random.default_rng(seed)
        only_sums = bool(seed & 1)
        case = random_case(
            rng,
            ranges=method == "shortest paths",
            gaps=seed % 8 == 0,
            aggregates=("sum",) if only_sums else AGGREGATES,
        )
        found, off = checked(case)
        for name in found.method:
            methods[name] = methods.get(name, 0) + 1
        if seed % 8:
            wider += off
            people += len(case.truth)
            exact += int(np.sum(found.exact))
    used = "linear programs" if method == "nearest rows" else method
    assert methods[used] > cases / 7
    assert wider < 0.02 * people
    assert exact > 0.5 * people


def _is_tree(system: object) -> bool:
    from equivoc.systems.sum_systems import SumSystem, is_forest

    assert isinstance(system, SumSystem)
    return is_forest(system)


def ask(aggregate: Aggregate, members: list[int], known: float) -> Question:
    return Question(aggregate, np.array(members), known, statement=0, text=aggregate)


def test_two_women() -> None:
    """MAX and AVG over two women leave the greatest salary to one of them, and the rest of the sum to the other."""
    questions = [ask("max", [0, 1], 107), ask("avg", [0, 1], 78.5)]
    found = person_bounds(answer_system(questions, values=range(3, 120), people=3))
    assert (found.low + 3).tolist() == [50, 3]
    assert (found.high + 3).tolist() == [107, 119]
    assert found.exact.all()
    assert found.method[1] == "prior domain"


def test_the_only_person_who_can_have_the_maximum_has_it() -> None:
    """MAX over three people; a sum and another MAX cap two of them below it."""
    questions = [ask("max", [0, 1, 2], 100), ask("max", [0, 3], 60), ask("sum", [1, 4], 70)]
    system = answer_system(questions, values=range(101), people=5)
    found = person_bounds(system)
    low, high = found.low[system.atoms.of_person], found.high[system.atoms.of_person]
    assert (low[2], high[2]) == (100, 100)
    assert (high[0], high[1]) == (60, 70)


def test_a_median_is_left_out_and_its_people_are_not_called_exact() -> None:
    questions = [ask("median", [0, 1, 2], 4), ask("sum", [2, 3], 10)]
    system = answer_system(questions, values=range(11), people=5)
    found = person_bounds(system)
    np.testing.assert_array_equal(found.exact[system.atoms.of_person], [False, False, False, False, True])


def test_nothing_asked_leaves_the_domain() -> None:
    found = person_bounds(answer_system([], values=[1, 5, 9], people=4))
    assert (found.low.tolist(), found.high.tolist(), found.exact.tolist()) == ([0], [2], [True])
