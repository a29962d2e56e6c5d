"""The unprotected file: each class's own distribution, and the effect of more knowledge."""

from __future__ import annotations

from collections import Counter

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from equivoc.data.microdata import Microdata
from equivoc.techniques.unprotected import Unprotected

SUBSETS = [[], ["age"], ["sex"], ["sex", "age"], ["job", "age", "sex"]]


@pytest.mark.parametrize("known", SUBSETS, ids=str)
def test_posterior_is_the_class_own_distribution(people, records, domain, beliefs, classes_of, known):
    expected = {}
    for key, members in classes_of(records, known).items():
        pays = Counter(records[r]["pay"] for r in members)
        expected[key] = [pays[value] / len(members) for value in domain]
    post = Unprotected().release(people).posteriors(known, intruder="paper")
    assert beliefs(post) == expected
    assert sorted(post.sizes.tolist()) == sorted(map(len, classes_of(records, known).values()))


def test_the_table_is_the_file(people, records):
    table = Unprotected().release(people).table
    assert [{name: row[name] for name in records[0]} for row in table.to_pylist()] == records


@settings(max_examples=60, deadline=None)
@given(
    st.lists(
        st.tuples(
            st.sampled_from([1, 2, 3, None]),
            st.sampled_from(["x", "y", None]),
            st.sampled_from([0.5, 1.5]),
            st.sampled_from([10, 20, 30, 50]),
        ),
        min_size=1,
        max_size=25,
    )
)
def test_more_knowledge_never_raises_the_average_entropy(rows):
    columns = dict(zip(("a", "b", "c", "pay"), map(list, zip(*rows, strict=True)), strict=True))
    people = Microdata(pa.table(columns), confidential="pay", keys=["a", "b", "c"])
    average = {}
    for post in Unprotected().release(people).own_sweep():
        entropies = post.curves().h0
        np.testing.assert_allclose(post.shannon(), entropies, atol=1e-12)
        average[frozenset(post.known)] = post.sizes @ entropies / len(rows)
    assert len(average) == 8
    for less in average:
        for more in average:
            if less < more:
                assert average[more] <= average[less] + 1e-12
