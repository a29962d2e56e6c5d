"""k-anonymity, (α,k)-anonymity, l-diversity and t-closeness: the papers' tables, and plain counting in dictionaries."""

from __future__ import annotations

import math
from collections import Counter
from fractions import Fraction
from typing import Any

import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

import equivoc as eq
from equivoc.data.microdata import Microdata
from equivoc.errors import InputError
from equivoc.models.of_file.anonymity import (
    AlphaK,
    alpha_k_anonymity,
    distances,
    k_anonymity,
    l_diversity,
    t_closeness,
)
from tests.models.tables import (
    Rows,
    close_salaries,
    four_anonymous,
    grouped,
    microdata,
    tables,
    three_diverse,
    three_diverse_salaries,
)


def recursive_by_definition(values: list[Any], c: float) -> int:
    """The largest l with r_1 < c (r_l + … + r_m), tried one by one; any class is (c,1)-diverse."""
    counts = sorted(Counter(values).values(), reverse=True)
    return max([1, *(l for l in range(1, len(counts) + 1) if counts[0] < c * sum(counts[l - 1 :]))])


def distance_by_definition(
    values: list[int], everyone: list[int], domain: list[float], kind: str
) -> Fraction:
    """The earth mover's distance in exact fractions."""
    gaps = [
        Fraction(values.count(d), len(values)) - Fraction(everyone.count(d), len(everyone)) for d in domain
    ]
    if kind == "equal":
        return sum((abs(g) for g in gaps), Fraction(0)) / 2
    if len(domain) == 1:
        return Fraction(0)
    steps = [abs(sum(gaps[: i + 1], Fraction(0))) for i in range(len(domain))]
    return sum(steps, Fraction(0)) / (len(domain) - 1)


def every_measure(rows: Rows) -> list[float]:
    people = microdata(rows)
    alpha_k = alpha_k_anonymity(people)
    return [
        k_anonymity(people),
        alpha_k.k,
        alpha_k.alpha,
        l_diversity(people),
        l_diversity(people, kind="entropy"),
        l_diversity(people, kind="recursive", c=2),
        t_closeness(people),
        t_closeness(people, distance="equal"),
    ]


def test_the_four_anonymous_inpatients_are_not_diverse() -> None:
    people = microdata(four_anonymous())
    assert k_anonymity(people) == 4
    assert l_diversity(people) == 1
    assert l_diversity(people, kind="entropy") == 1.0
    assert l_diversity(people, kind="recursive", c=100) == 1
    assert alpha_k_anonymity(people) == AlphaK(alpha=1.0, k=4)


def test_the_three_diverse_inpatients() -> None:
    people = microdata(three_diverse())
    assert k_anonymity(people) == 4
    assert l_diversity(people) == 3
    # Each class has counts 2, 1, 1: H = 1.5 bits.
    assert l_diversity(people, kind="entropy") == pytest.approx(2**1.5, abs=1e-11)
    # 2 < 3·1, but not 2 < 2·1; 2 < 2·(1 + 1).
    assert l_diversity(people, kind="recursive", c=3) == 3
    assert l_diversity(people, kind="recursive", c=2) == 2
    assert l_diversity(people, kind="recursive", c=0.5) == 1
    assert alpha_k_anonymity(people) == AlphaK(alpha=0.5, k=4)


def test_recursive_diversity_looks_at_the_most_frequent_value() -> None:
    """Counts 9, 2, 1 sorted the other way would pass 1 < 2·(2 + 9)."""
    people = microdata([(0, 1)] * 9 + [(0, 2)] * 2 + [(0, 3)])
    assert l_diversity(people, kind="recursive", c=2) == 1
    assert l_diversity(people, kind="recursive", c=3.01) == 2
    assert l_diversity(people, kind="recursive", c=9.01) == 3


def test_the_salaries_of_the_closeness_paper() -> None:
    """Li et al. (2007), section 5.2: D[P1, Q] = 0.375, D[P2, Q] = 0.167; table 5 is 0.167-close."""
    assert t_closeness(microdata(three_diverse_salaries())) == pytest.approx(0.375, abs=1e-12)
    assert t_closeness(microdata(close_salaries())) == pytest.approx(1 / 6, abs=1e-12)
    # Three of nine values: ½ (3·(1/3 − 1/9) + 6/9).
    assert t_closeness(microdata(close_salaries()), distance="equal") == pytest.approx(2 / 3, abs=1e-12)


def test_values_that_nobody_has_count_in_the_ordered_distance() -> None:
    rows = {"sex": ["F", "F", "M", "M"], "pay": [1, 1, 2, 2]}
    narrow = Microdata(pa.table(rows), confidential="pay", keys=["sex"])
    wide = Microdata(pa.table(rows), confidential="pay", keys=["sex"], domain=[0, 1, 2, 3, 4])
    assert t_closeness(narrow) == 0.5
    # Half of the mass moves one of four steps.
    assert t_closeness(wide) == 0.125
    assert t_closeness(wide, distance="equal") == t_closeness(narrow, distance="equal") == 0.5


@given(tables(keys=3), st.floats(0.1, 20))
def test_every_measure_against_its_definition(rows: Rows, c: float) -> None:
    people = microdata(rows)
    classes = grouped(rows)
    everyone = [row[-1] for row in rows]
    assert k_anonymity(people) == min(map(len, classes.values()))
    shares = [n / len(v) for v in classes.values() for n in Counter(v).values()]
    assert alpha_k_anonymity(people).alpha == pytest.approx(max(shares), abs=1e-12)
    assert l_diversity(people) == min(len(set(v)) for v in classes.values())
    entropies = [
        -sum(n / len(v) * math.log(n / len(v)) for n in Counter(v).values()) for v in classes.values()
    ]
    assert l_diversity(people, kind="entropy") == pytest.approx(math.exp(min(entropies)), abs=1e-9)
    expected = min(recursive_by_definition(v, c) for v in classes.values())
    assert l_diversity(people, kind="recursive", c=c) == expected
    for kind in ("ordered", "equal"):
        far = [distance_by_definition(v, everyone, people.values.tolist(), kind) for v in classes.values()]
        assert t_closeness(people, distance=kind) == pytest.approx(float(max(far)), abs=1e-12)
        # The largest alone would hide a mistake in the others.
        each = distances(people.classes(people.keys), kind)
        assert sorted(each) == pytest.approx(sorted(map(float, far)), abs=1e-12)


@given(tables(keys=3), st.randoms(use_true_random=False))
def test_order_and_names_change_nothing(rows: Rows, random: Any) -> None:
    shuffled = random.sample(rows, len(rows))
    # New names in another order; null stays null, and the other keys stay apart from it.
    renamed = [(*(None if k is None else f"{9 - k}" for k in keys), value) for *keys, value in rows]
    assert every_measure(shuffled) == pytest.approx(every_measure(rows), abs=1e-9)
    assert every_measure(renamed) == pytest.approx(every_measure(rows), abs=1e-9)


@given(tables(keys=3))
def test_a_null_key_is_a_value_like_any_other(rows: Rows) -> None:
    filled = [(*(77 if k is None else k for k in keys), value) for *keys, value in rows]
    assert every_measure(filled) == pytest.approx(every_measure(rows), abs=1e-9)


@given(tables(keys=2))
def test_who_knows_nothing_sees_one_class(rows: Rows) -> None:
    everyone = microdata(rows)
    assert k_anonymity(everyone, known=[]) == len(rows)
    assert l_diversity(everyone, known=[]) == len({row[-1] for row in rows})
    assert t_closeness(everyone, known=[]) == 0
    assert k_anonymity(everyone, known=["a"]) >= k_anonymity(everyone)


def test_entropy_diversity_is_the_least_h0() -> None:
    rows = [(at % 3, at * at % 7) for at in range(50)]
    people = microdata(rows)
    h0 = eq.Unprotected().release(people).posteriors(["a"], intruder="paper").curves().h0
    assert l_diversity(people, kind="entropy") == pytest.approx(2 ** h0.min(), abs=1e-9)


@pytest.mark.parametrize("values", [2, 3, 5, 6, 7, 10, 100])
def test_equally_frequent_values_have_a_whole_entropy_diversity(values: int) -> None:
    assert l_diversity(microdata([(0, v) for v in range(values)]), kind="entropy") == float(values)


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"kind": "unique"}, r"kind is 'unique'; it must be one of distinct, entropy, recursive\."),
        ({"kind": "recursive"}, r"kind='recursive' needs c, .* give c=3, say\."),
        ({"kind": "recursive", "c": 0}, r"c is 0; it must be a finite number above 0\."),
        ({"kind": "recursive", "c": math.nan}, r"c is nan; it must be"),
        ({"kind": "recursive", "c": True}, r"c is True; it must be"),
        ({"kind": "entropy", "c": 2}, r"only kind='recursive' has a c; leave it out for kind='entropy'\."),
        ({"known": ["z"]}, r"'z' is not a key"),
        ({"known": "a"}, r"known must be a list of keys"),
    ],
)
def test_bad_arguments_of_l_diversity(arguments: dict[str, Any], message: str) -> None:
    with pytest.raises(InputError, match=message):
        l_diversity(microdata([(0, 1)]), **arguments)


def test_bad_distance_and_bad_people() -> None:
    with pytest.raises(InputError, match=r"distance is 'far'; it must be one of ordered, equal, tree\."):
        t_closeness(microdata([(0, 1)]), distance="far")
    with pytest.raises(InputError, match=r"people is a list; convert it with eq\.Microdata"):
        k_anonymity([1, 2])  # type: ignore[arg-type]


def test_every_name_of_the_package_leads_to_a_measure_or_its_record() -> None:
    assert eq.models.k_anonymity is k_anonymity
    assert dir(eq.models) == sorted(eq.models.__all__)
    assert all(callable(getattr(eq.models, name)) for name in eq.models.__all__)
    assert not hasattr(eq.models, "no_such_measure")
