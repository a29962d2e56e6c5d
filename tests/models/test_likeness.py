"""β-likeness and δ-disclosure privacy, against plain fractions over dictionaries, and hand-worked classes."""

from __future__ import annotations

from fractions import Fraction
from math import inf, log, log2
from typing import Any

import pandas as pd
import pytest
from hypothesis import given

import equivoc as eq
from equivoc.data.microdata import Microdata
from equivoc.models import beta_likeness, delta_disclosure, t_closeness
from tests.models.tables import Rows, four_anonymous, grouped, microdata, tables


def shares(rows: Rows) -> list[tuple[Fraction, Fraction]]:
    """(p, q) of every class and every value that anyone has."""
    everyone = [row[-1] for row in rows]
    return [
        (Fraction(everyone.count(v), len(rows)), Fraction(values.count(v), len(values)))
        for values in grouped(rows).values()
        for v in sorted(set(everyone))
    ]


@given(tables())
def test_against_fractions(rows: Rows) -> None:
    people, pairs = microdata(rows), shares(rows)
    gains = [(p, (q - p) / p) for p, q in pairs if q > p]
    beta = float(max((gain for _, gain in gains), default=0))
    assert beta_likeness(people) == pytest.approx(beta, abs=1e-12)
    too_much = any(float(gain) > -log(p) for p, gain in gains)
    assert beta_likeness(people, kind="enhanced") == pytest.approx(inf if too_much else beta, abs=1e-12)
    delta = max(inf if q == 0 else abs(log2(q / p)) for p, q in pairs)
    assert delta_disclosure(people) == pytest.approx(delta, abs=1e-12)
    delta = max(abs(log2(q / p)) for p, q in pairs if q)
    assert delta_disclosure(people, absent=False) == pytest.approx(delta, abs=1e-12)


def test_the_four_anonymous_inpatients() -> None:
    """Machanavajjhala et al. (2007), figure 2: cancer is 5 of 12; of the thirties all four have it.

    (1 − 5/12)/(5/12) = 7/5, which exceeds −ln 5/12 = 0.88; nobody below 30 has cancer.
    """
    people = microdata(four_anonymous())
    assert beta_likeness(people) == pytest.approx(7 / 5)
    assert beta_likeness(people, kind="enhanced") == inf
    assert delta_disclosure(people) == inf
    told = eq.measures(people).to_pandas().set_index("measure")["meaning"]
    assert "in the classes of 4 of 12 records (33.3%) some v of share p" in told["β-likeness, enhanced"]
    assert told["δ-disclosure privacy"].startswith("For 8 of 12 records (66.7%) the class lacks a v")
    # The rarest in a class where it occurs: of those from 40 on, one of four has cancer, heart disease.
    assert delta_disclosure(people, absent=False) == pytest.approx(log2(12 / 5))


def test_enhanced_bounds_frequent_values_more() -> None:
    """Cao and Karras (2012): β = 1 lets a value of share ½ fill a class; −ln ½ = 0.69 does not."""
    full = Microdata(pd.DataFrame({"k": [1, 1, 2, 2], "v": [1, 1, 2, 2]}), confidential="v", keys=["k"])
    assert (beta_likeness(full), beta_likeness(full, kind="enhanced")) == (1.0, inf)
    # A value of share 1/10 that doubles: 1 < −ln 0.1 = 2.3.
    rare = [(1, v) for v in [0] * 2 + [1] * 4 + [2] * 4] + [(2, v) for v in [1, 2] * 5]
    assert beta_likeness(microdata(rare)) == pytest.approx(1)
    assert beta_likeness(microdata(rare), kind="enhanced") == pytest.approx(1)


def test_alike_classes_and_a_single_value_leave_nothing() -> None:
    for rows in ([(1, 5), (1, 6), (2, 5), (2, 6)], [(1, 5), (2, 5)], [(1, 3)]):
        people = microdata(rows)
        assert beta_likeness(people) == 0
        assert beta_likeness(people, kind="enhanced") == 0
        assert delta_disclosure(people) == 0


@given(tables())
def test_beta_bounds_t_closeness(rows: Rows) -> None:
    """A gain of at most β·p in every value: the excess, t with equal distances, is at most β."""
    people = microdata(rows)
    assert t_closeness(people, distance="equal") <= beta_likeness(people) + 1e-12


def test_a_domain_value_that_nobody_has_is_not_lacking() -> None:
    frame = pd.DataFrame({"k": [1, 1, 2, 2], "v": [1, 2, 1, 2]})
    people = Microdata(frame, confidential="v", keys=["k"], domain=[1, 2, 3])
    assert delta_disclosure(people) == 0


def test_of_released_classes() -> None:
    """Generalised ages make two classes of one each; the figures are those of the released table."""
    frame = pd.DataFrame({"age": [20, 21, 30, 31], "pay": [1, 2, 1, 2]})
    people = Microdata(frame, confidential="pay", keys=["age"])
    released = frame.assign(age=["20-21", "20-21", "30-31", "30-31"])
    found = eq.measures(people, eq.ReleasedFile(released).release(people)).set_index("measure")["value"]
    assert found["β-likeness, basic"] == found["δ-disclosure privacy"] == 0
    assert beta_likeness(people) == 1


@pytest.mark.parametrize(
    ("call", "sentence"),
    [
        (lambda p: beta_likeness(p, kind="strict"), "kind is 'strict'; it must be one of basic, enhanced"),
        (lambda p: delta_disclosure(p, absent="no"), "absent must be True or False, not 'no'"),
        (lambda p: beta_likeness([1]), "people is a list"),
        (lambda p: delta_disclosure(p, known=["x"]), "'x' is not a key"),
    ],
)
def test_bad_input(call: Any, sentence: str) -> None:
    with pytest.raises(eq.InputError, match=sentence):
        call(microdata([(1, 5), (2, 6)]))
