"""Smallest sufficient sets against a search through all subsets."""

from __future__ import annotations

from itertools import combinations

from hypothesis import given, settings
from hypothesis import strategies as st

from equivoc.systems.smallest_sets import smallest_sufficient_set

families = st.lists(st.frozensets(st.integers(0, 7), max_size=5), min_size=1, max_size=6)


def smallest(family: list[frozenset[int]]) -> int:
    return min(len(each) for each in family)


@given(families, st.permutations(range(8)))
@settings(max_examples=300)
def test_no_smaller_set_suffices(family: list[frozenset[int]], items: list[int]) -> None:
    found = smallest_sufficient_set(items, lambda s: any(each <= s for each in family), work=10_000)
    assert found is not None
    assert found.smallest
    assert found.irreducible
    assert any(each <= set(found.items) for each in family)
    assert len(found.items) == smallest(family)


@given(families, st.integers(0, 60))
@settings(max_examples=300)
def test_a_limit_of_work_claims_nothing_wrong(family: list[frozenset[int]], work: int) -> None:
    tested: list[frozenset[int]] = []

    def suffices(chosen: frozenset[int]) -> bool:
        tested.append(chosen)
        return any(each <= chosen for each in family)

    found = smallest_sufficient_set(range(8), suffices, work=work)
    assert len(tested) <= work
    if found is None:
        return
    own = frozenset(found.items)
    assert any(each <= own for each in family)
    if found.smallest:
        assert len(own) == smallest(family)
    if found.irreducible:
        assert not any(
            any(each <= set(s) for each in family) for s in combinations(own, max(len(own) - 1, 0)) if own
        )


def test_unknown_answers_prove_nothing() -> None:
    def suffices(chosen: frozenset[int]) -> bool | None:
        return True if {1, 2} <= chosen else None

    found = smallest_sufficient_set(range(4), suffices, work=1000)
    assert found is not None
    assert found.items == (1, 2)
    assert not found.smallest
    assert not found.irreducible


def test_nothing_suffices() -> None:
    assert smallest_sufficient_set(range(5), lambda _: False, work=1000) is None


def test_dear_tests_use_up_the_work() -> None:
    assert smallest_sufficient_set(range(4), lambda s: 3 in s, work=4, cost=lambda s: len(s) + 1) is None
