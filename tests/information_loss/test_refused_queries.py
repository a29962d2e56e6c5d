"""Sums that follow from the answers of query restriction, against ranks of matrices."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest

import equivoc as eq
from equivoc.information_loss.shown_table import original_table
from equivoc.information_loss.utility import drawn_queries, follows, losses, share_refused


def release(records: int, size: int, seed: int = 0):
    rng = np.random.default_rng(seed)
    table = pd.DataFrame({"age": rng.integers(0, 4, records), "pay": rng.integers(1, 9, records)})
    people = eq.Microdata(table, confidential="pay", keys=["age"])
    return eq.QueryRestriction(size=size).release(people, seed)


def answered(found, records: int, size: int) -> np.ndarray:
    """Answers × people: who is in each answered sum."""
    rows = []
    for first in range(0, records - size + 1, size // 2):
        row = np.zeros(records)
        row[found.order[first : first + size]] = 1
        rows.append(row)
    return np.array(rows)


def by_rank(matrix: np.ndarray, members: np.ndarray) -> bool:
    """A sum follows if adding it does not raise the rank."""
    both = np.vstack([matrix, members])
    return bool(np.linalg.matrix_rank(both) == np.linalg.matrix_rank(matrix))


@pytest.mark.parametrize(("records", "size"), [(4, 2), (7, 2), (6, 4), (7, 4), (9, 6), (11, 8), (8, 8)])
def test_every_set_of_people(records: int, size: int) -> None:
    found = release(records, size)
    matrix = answered(found, records, size)
    assert len(matrix) == len(found.answers)
    seen = set()
    for number in range(2**records):
        members = (number >> np.arange(records)) % 2 == 1
        expected = by_rank(matrix, members.astype(float))
        assert follows(found, members) == expected
        seen.add(expected)
    assert seen == {True, False}


@pytest.mark.parametrize("seed", range(5))
def test_the_share_refused(seed: int) -> None:
    found = release(6, 2, seed)
    matrix, original = answered(found, 6, 2), original_table(found.people)
    asked = [query.members(original) for query in drawn_queries(original, seed, columns=["age"])]
    expected = [not by_rank(matrix, members) for members in asked if members.any()]
    share, sums = share_refused(found, original, seed=seed)
    assert (share, sums) == (pytest.approx(np.mean(expected)), len(expected))


def test_a_refused_query_counts_as_wrong_by_its_whole() -> None:
    found = release(40, 8)
    values = {loss.measure: loss.value for loss in losses(found.people, found)}
    assert set(values) == {"query_error", "queries_refused"}
    assert 0 < values["query_error"] == values["queries_refused"] <= 1


@pytest.mark.parametrize(("records", "expected"), [(8, 0.0), (6, 1.0), (9, 1.0)])
def test_without_keys_the_sum_over_everyone_is_asked(records: int, expected: float) -> None:
    """It follows if everyone is in a block, and the number of blocks (of two records here) is even."""
    people = eq.Microdata(pd.DataFrame({"pay": range(records)}), confidential="pay")
    found = losses(people, eq.QueryRestriction(size=4).release(people, 0))
    assert [loss.value for loss in found] == [expected, expected]
    assert "1 sum over everyone" in found[1].meaning
