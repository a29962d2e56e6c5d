"""Contradicting answers against all databases, and smallest sets against all subsets."""

from __future__ import annotations

from dataclasses import replace
from itertools import combinations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from equivoc.systems.bounds.bounds import fits, of_questions, person_bounds, possible, require_possible
from equivoc.systems.constraints import answer_system
from equivoc.systems.smallest_sets import irreducible, smallest
from equivoc.systems.system import Aggregate, ContradictionError, Question
from tests.queries.bounds.enumeration import answer, databases, fitting, random_case

# Averages are left out: 1.5 and 2 do not contradict each other, as 2 may be 1.5 rounded.
EXACTLY_READ: tuple[Aggregate, ...] = ("sum", "min", "max")


def mistaken(
    rng: np.random.Generator, questions: tuple[Question, ...], values: np.ndarray
) -> tuple[Question, ...]:
    """Some answers replaced by those of other values: each alone is possible."""
    return tuple(
        replace(q, answer=float(answer(q.aggregate, rng.choice(values, q.people))))
        if q.people and rng.random() < 0.5
        else q
        for q in questions
    )


@settings(max_examples=150)
@given(seed=st.integers(0, 2**32 - 1), ranges=st.booleans(), gaps=st.booleans())
def test_contradictions_are_found_and_named(seed: int, ranges: bool, gaps: bool) -> None:
    rng = np.random.default_rng(seed)
    case = random_case(rng, ranges=ranges, gaps=gaps, aggregates=EXACTLY_READ)
    questions = mistaken(rng, case.questions, case.values)
    every = databases(case.values, len(case.truth))
    some_fits = bool(fitting(questions, every).any())
    error = None
    try:
        system = answer_system(questions, values=case.values, people=len(case.truth))
        assert possible(system) == some_fits
        require_possible(system)
    except ContradictionError as raised:
        error = raised
    assert some_fits == (error is None)
    if error is not None:
        named = error.questions
        assert not fitting(named, every).any()
        for left_out in range(len(named)):
            assert fitting(named[:left_out] + named[left_out + 1 :], every).any()
        fewest = min(
            size
            for size in range(1, len(questions) + 1)
            for some in combinations(questions, size)
            if not fitting(some, every).any()
        )
        assert error.smallest
        assert len(named) == fewest


@settings(max_examples=60)
@given(seed=st.integers(0, 2**32 - 1))
def test_a_subset_with_coarser_atoms_is_the_same_system(seed: int) -> None:
    rng = np.random.default_rng(seed)
    case = random_case(rng, ranges=False, gaps=bool(seed & 1), aggregates=EXACTLY_READ)
    people = len(case.truth)
    system = answer_system(case.questions, values=case.values, people=people)
    # Of several answers about the same people, only one has a row.
    with_rows = {*system.row_question.tolist(), *(extreme.question for extreme in system.extremes)}
    chosen = [n for n in sorted(with_rows) if rng.random() < 0.6]
    some, anew = (
        of_questions(system, chosen),
        answer_system([case.questions[n] for n in chosen], values=case.values, people=people),
    )
    one, other = person_bounds(some), person_bounds(anew)
    np.testing.assert_array_equal(one.low[some.atoms.of_person], other.low[anew.atoms.of_person])
    np.testing.assert_array_equal(one.high[some.atoms.of_person], other.high[anew.atoms.of_person])


def three_pairs(answers: tuple[float, float, float]) -> list[Question]:
    pairs = [(0, 1), (1, 2), (0, 2)]
    return [
        Question("sum", np.array(pair), total, statement=2 * n, text=f"SUM(x) WHERE person IN {pair}")
        for n, (pair, total) in enumerate(zip(pairs, answers, strict=True))
    ]


def test_three_pairs_with_an_odd_total_have_no_whole_numbers() -> None:
    """Real numbers fit (4.5, 4.5, 5.5); no whole ones do. Any two of the sums are possible."""
    system = answer_system(three_pairs((9, 10, 10)), values=range(11), people=4)
    with pytest.raises(
        ContradictionError, match=r"a smallest contradicting set\): statement 1, SUM"
    ) as caught:
        require_possible(system)
    assert [question.statement for question in caught.value.questions] == [0, 2, 4]
    require_possible(answer_system(three_pairs((9, 11, 10)), values=range(11), people=4))


def test_bounds_name_the_contradiction_that_they_meet() -> None:
    """One of 60 answers is wrong; bounds of range sums notice it, and the named sets are checked one by one."""
    rng = np.random.default_rng(2)
    values = rng.integers(1, 251, 300)
    asked = []
    for statement in range(60):
        first = int(rng.integers(0, 290))
        members = np.arange(first, min(300, first + int(rng.integers(2, 40))))
        total = float(values[members].sum()) + (2_000 if statement == 17 else 0)
        total = min(total, 250.0 * len(members))
        asked.append(Question("sum", members, total, statement=statement, text="SUM(x)"))
    system = answer_system(asked, values=range(1, 251), people=300, truth=values)
    with pytest.raises(ContradictionError) as caught:
        person_bounds(system)
    numbers = [question.statement for question in caught.value.questions]
    assert 17 in numbers
    assert possible(of_questions(system, numbers)) is False
    for left_out in numbers:
        assert possible(of_questions(system, [n for n in numbers if n != left_out])) is True


def test_answers_of_the_truth_need_no_search() -> None:
    questions = three_pairs((9, 11, 10))
    system = answer_system(questions, values=range(11), people=4)
    assert fits(system, np.array([4, 5, 6, 0]))
    assert not fits(system, np.array([4, 5, 5, 0]))
    greatest = [Question("max", np.array([0, 3]), 4.0, statement=0, text="MAX(x)")]
    known = answer_system(greatest, values=range(11), people=4)
    assert fits(known, np.array([4, 5, 6, 0]))
    assert not fits(known, np.array([3, 5, 6, 0]))
    assert not fits(known, np.array([4, 5, 6, 5]))


@settings(max_examples=100)
@given(
    sets=st.lists(st.sets(st.integers(0, 7), min_size=1, max_size=4), min_size=1, max_size=4),
)
def test_smallest_sets_against_all_subsets(sets: list[set[int]]) -> None:
    def holds(some: object) -> bool:
        assert isinstance(some, list)
        return any(one <= set(some) for one in sets)

    found = irreducible(range(8), holds)
    assert holds(found)
    assert not any(holds([x for x in found if x != left_out]) for left_out in found)
    best, proven = smallest(range(8), holds, most=10_000)
    assert proven
    assert len(best) == min(len(one) for one in sets)
    assert not smallest(range(8), holds, most=0)[1] or len(found) == 1
