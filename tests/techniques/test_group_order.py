"""Microaggregation with an intruder who knows that groups do not overlap, against all originals that fit."""

from __future__ import annotations

from collections import Counter
from fractions import Fraction
from itertools import combinations_with_replacement, pairwise, product
from math import factorial, prod

import numpy as np
import pandas as pd
import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from equivoc.data.microdata import Microdata
from equivoc.errors import InputError
from equivoc.systems.grids import even_grid
from equivoc.techniques.inside.group_intruders import order_channel, sum_channel
from equivoc.techniques.microaggregation import Microaggregation


def released(pays, domain, **parameters):
    people = Microdata(pd.DataFrame({"pay": pays}), confidential="pay", domain=domain)
    return Microaggregation(**parameters, belief="order").release(people)


def of_records(release):
    """P(each value) of every record's own pay."""
    return release.confidential.channel.dense()[release.confidential.codes]


def originals(levels, groups, column):
    """All columns over these levels with the groups' sums in which a group of no greater mean has no greater member."""
    every = np.array(list(product(levels, repeat=len(column))))
    members = [groups == group for group in range(groups.max() + 1)]
    column = np.array(column)
    fits = np.all([every[:, own].sum(axis=1) == column[own].sum() for own in members], axis=0)
    for one, other in product(members, repeat=2):
        if one is not other and column[one].mean() <= column[other].mean():
            fits &= every[:, one].max(axis=1) <= every[:, other].min(axis=1)
    return every[fits]


@settings(max_examples=150, deadline=None)
@given(
    st.sets(st.integers(0, 7), min_size=2, max_size=4).map(sorted),
    st.lists(st.integers(0, 3), min_size=2, max_size=7),
    st.integers(2, 4),
)
def test_every_record_against_all_originals(domain, codes, size):
    pays = [domain[code % len(domain)] for code in codes]
    release = released(pays, domain, size=min(size, len(pays)))
    possible = originals(domain, release.group, pays)
    expected = (possible[:, :, None] == domain).mean(axis=0)
    np.testing.assert_allclose(of_records(release), expected, rtol=1e-12, atol=0)


@settings(max_examples=60, deadline=None)
@given(
    st.lists(st.tuples(st.sampled_from([20, 21, 24]), st.sampled_from([10, 20])), min_size=3, max_size=7),
    st.integers(2, 3),
)
def test_a_key_in_order_against_all_originals(rows, size):
    """The target is anyone who has the known age in an original; her pay is the record's."""
    ages, pays = map(list, zip(*rows, strict=True))
    people = Microdata(
        pa.table({"age": ages, "pay": pays}), confidential="pay", keys=["age"], domain=[10, 20]
    )
    release = Microaggregation(size=size, on="age", belief="order").release(people)
    levels = sorted(set(ages))
    possible = originals(levels, release.group, ages)
    expected = np.array(
        [[(possible == age)[:, np.equal(pays, pay)].sum() for pay in (10, 20)] for age in levels]
    )
    expected = expected / expected.sum(axis=1, keepdims=True)
    np.testing.assert_allclose(
        release.posteriors(["age"], intruder="paper").probabilities, expected, atol=1e-12
    )


def test_two_groups_worked_by_hand():
    """Two have 2 together, two have 4. If the first are 1 and 1, the others are 1 and 3, 2 and 2, or 3 and 1.

    If one of the first has 2 and the other 0, in 2 orders, then nobody of the others is below 2: they have 2 and 2.
    """
    release = released([1, 2, 1, 2], range(5), size=2)
    assert release.group.tolist() == [0, 1, 0, 1]
    assert of_records(release)[0] == pytest.approx([1 / 5, 3 / 5, 1 / 5, 0, 0])
    assert of_records(release)[1] == pytest.approx([0, 1 / 5, 3 / 5, 1 / 5, 0])


def chain_in_fractions(levels, sizes, sums):
    """P(a member of each group has each level), tuple by tuple, in exact numbers: forwards, then backwards."""
    tuples = []
    for size, total in zip(sizes, sums, strict=True):
        fitting = (t for t in combinations_with_replacement(levels, size) if sum(t) == total)
        tuples.append([(t, factorial(size) // prod(map(factorial, Counter(t).values()))) for t in fitting])
    before = [dict(tuples[0])]
    for group in tuples[1:]:
        last = before[-1]
        before.append({t: n * sum(w for u, w in last.items() if u[-1] <= t[0]) for t, n in group})
    after = [{t: 1 for t, _ in tuples[-1]}]
    for group, following in zip(tuples[-2::-1], tuples[:0:-1], strict=True):
        last = after[-1]
        after.append({t: sum(n * last[u] for u, n in following if t[-1] <= u[0]) for t, _ in group})
    rows = []
    for forward, backward, size in zip(before, after[::-1], sizes, strict=True):
        weight = {t: forward[t] * backward[t] for t in forward}
        whole = sum(weight.values()) * size
        rows.append([float(Fraction(sum(w * t.count(v) for t, w in weight.items()), whole)) for v in levels])
    return rows


@pytest.mark.parametrize("seed", range(4))
def test_long_chains_against_tuples_counted_in_whole_numbers(seed):
    """Sixty people on a grid with gaps: too many originals to enumerate, but few enough to count exactly."""
    rng = np.random.default_rng(seed)
    domain = np.sort(rng.choice(40, 14, replace=False))
    pays = rng.choice(domain, 60)
    release = released(pays, domain, size=int(rng.integers(2, 5)))
    sizes, sums = np.bincount(release.group), np.bincount(release.group, pays).astype(int)
    expected = chain_in_fractions(domain.tolist(), sizes.tolist(), sums.tolist())
    np.testing.assert_allclose(of_records(release), np.array(expected)[release.group], rtol=1e-12, atol=0)


def test_mirrored_values():
    """A symmetric chain with more originals than float64 can count."""
    rng = np.random.default_rng(5)
    sums = np.sort(rng.choice(3_000, 1_600, replace=False)).reshape(-1, 4).sum(axis=1)
    grid, sizes, once = even_grid(range(3_000)), np.full(400, 4), np.ones(400, dtype=np.int64)
    found = order_channel(grid, sizes, sums, once)
    mirrored = order_channel(grid, sizes, 4 * 2_999 - sums, once)
    np.testing.assert_allclose(mirrored[:, ::-1], found, rtol=1e-10)
    np.testing.assert_allclose(found @ np.arange(3_000), sums / 4, rtol=1e-10)


def test_a_single_group_has_no_neighbours():
    """Only the sum is known. 250! is beyond float64, but the smallest tail probability must be right."""
    grid, size, total, once = even_grid(range(5)), np.array([250]), np.array([180]), np.array([1])
    found = order_channel(grid, size, total, once)
    np.testing.assert_allclose(found, sum_channel(grid, size, total), rtol=1e-10)


def test_one_group_of_all_is_the_intruder_who_knows_the_sum(people):
    order, total = (Microaggregation(size=40, belief=i).release(people) for i in ("order", "sum"))
    np.testing.assert_allclose(
        order.confidential.channel.dense(), total.confidential.channel.dense(), rtol=1e-12
    )


def test_groups_of_equal_means_hold_nothing_else():
    """Each value fills two groups: in any order of the two, nobody of one is above anybody of the other."""
    pays = np.repeat([10, 30, 40], 6)
    release = released(pays, [10, 20, 30, 40, 50], size=3)
    assert (np.bincount(release.group) == 3).all()
    assert (of_records(release) == np.equal.outer(pays, [10, 20, 30, 40, 50])).all()


def test_equal_means_of_groups_of_different_sizes():
    """Two who have 4 and three who have 6: all have 2, in whatever order the two groups come."""
    grid, once = even_grid(range(5)), np.array([1, 1])
    for sizes, sums in (([2, 3], [4, 6]), ([3, 2], [6, 4])):
        found = order_channel(grid, np.array(sizes), np.array(sums), once)
        assert found.tolist() == [[0, 0, 1, 0, 0]] * 2


def test_a_group_of_one_value_between_others_is_not_certain():
    """Between 10, 10 and 30, 30 there is room for 10, 30 as for 20, 20: a mean that is a level proves nothing."""
    release = released([10] * 2 + [20] * 2 + [30] * 2, [10, 20, 30], size=2)
    assert of_records(release)[2] == pytest.approx([1 / 3, 1 / 3, 1 / 3])


def test_several_columns_have_no_order(people):
    message = r"belief order is for one column, not 2 \(age, pay\); use sum"
    with pytest.raises(InputError, match=message):
        Microaggregation(size=3, on="age+pay", belief="order").release(people)
    with pytest.raises(InputError, match=message):
        Microaggregation(size=3, method="mdav", on="age+pay", belief="order").release(people)


@pytest.mark.parametrize("method", ["mdav", "fast"])
@pytest.mark.parametrize("size", [2, 3, 7])
def test_groups_of_one_column_never_overlap(method, size):
    """Whatever the method: it takes the farthest record, which is at an end, and its neighbours."""
    rng = np.random.default_rng(size)
    for values in (
        rng.normal(size=200),
        rng.lognormal(0, 2, 200).round(1),
        rng.integers(5, size=200).astype(float),
        np.append(np.arange(199.0), 1e18),  # distances to the outlier all round to the same number
    ):
        people = Microdata(pd.DataFrame({"pay": values}), confidential="pay")
        group = Microaggregation(size=size, method=method).release(people).group
        members = sorted((values[group == g].mean(), g) for g in range(group.max() + 1))
        for (_, lower), (_, upper) in pairwise(members):
            assert values[group == lower].max() <= values[group == upper].min()


@pytest.mark.parametrize("method", ["mdav", "fast"])
def test_every_method_has_the_order(method):
    """Against all originals that fit, as for the optimal groups."""
    pays = [0, 3, 3, 1, 0, 3, 2]
    release = released(pays, range(4), size=2, method=method)
    possible = originals(range(4), release.group, pays)
    expected = (possible[:, :, None] == np.arange(4)).mean(axis=0)
    np.testing.assert_allclose(of_records(release), expected, rtol=1e-12, atol=0)


def test_groups_too_large_to_go_through_all_orders():
    """No error: members lie between the neighbouring means, and the sum is kept."""
    values = np.arange(500) // 2
    release = released(values, range(250), size=250)
    found = of_records(release)
    np.testing.assert_allclose(found.sum(axis=1), 1)
    means = release.table["pay"].to_numpy()
    np.testing.assert_allclose(found @ np.arange(250), means, atol=0.5)
    lower = means == means.min()
    assert not found[lower][:, np.arange(250) > means.max()].any()
    assert (found[np.arange(500), values] > 0).all()
