"""Rounding: released values and posteriors, against enumeration, counting and calibration."""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction
from math import floor, inf, nan

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.sparse import csr_array

from equivoc.channels import channel as inversion
from equivoc.data.microdata import Microdata
from equivoc.errors import InputError
from equivoc.techniques.rounding import Rounding
from equivoc.techniques.top_bottom_coding import TopBottomCoding
from tests.techniques.calibration import p_value
from tests.techniques.enumeration import assert_posteriors_by_enumeration

TINY = {"age": [1, 4, None], "sex": ["F", "M", "M"], "pay": [10, 20, 40]}
DOMAIN = [10, 15, 20, 40]


def tiny() -> Microdata:
    return Microdata(pa.table(TINY), confidential="pay", keys=["age", "sex"], domain=DOMAIN)


def chance(base: int, method: str, changed: set[str]):
    """Exact arithmetic, written from the definition."""

    def likelihood(column, true, shown) -> Fraction:
        if column not in changed or true is None or shown is None:
            return Fraction(true == shown)
        quotient = Fraction(true) / base
        if method == "nearest":
            return Fraction(shown == floor(quotient + Fraction(1, 2)) * base)
        below = floor(quotient)
        return {below * base: 1 - (quotient - below), (below + 1) * base: quotient - below}.get(
            shown, Fraction(0)
        )

    return likelihood


@pytest.mark.parametrize("method", ["nearest", "random"])
@pytest.mark.parametrize(("base", "on"), [(20, "pay"), (30, "pay"), (3, "age"), (7, "age+pay")])
@pytest.mark.parametrize("known", [[], ["age"], ["sex", "age"]], ids="+".join)
def test_every_original_that_gives_the_release(method, base, on, known):
    release = Rounding(base=base, method=method, on=on).release(tiny(), 4)
    assert_posteriors_by_enumeration(release, chance(base, method, set(on.split("+"))), known)


def test_a_half_goes_up_and_a_null_stays():
    people = Microdata(
        pa.table({"age": [-5, 5, 15, None], "pay": [0.15, 0.25, 0.3, 0.44]}), confidential="pay", keys=["age"]
    )
    assert Rounding(base=10, on="keys").release(people).table["age"].to_pylist() == [0, 10, 20, None]
    assert Rounding(base=0.1).release(people).table["pay"].to_pylist() == [0.2, 0.3, 0.3, 0.4]


def test_random_rounding_is_right_on_average():
    levels = np.array([0.0, 1.0, 3.0, 9.5, 10.0, -7.0])
    people = Microdata(pa.table({"pay": np.repeat(levels, 20_000)}), confidential="pay")
    shown = Rounding(base=10, method="random").release(people, 6).table["pay"].to_numpy()
    mean = shown.reshape(len(levels), -1).mean(axis=1)
    # The spread of one draw is at most half a base.
    assert np.abs(mean - levels).max() < 5 * 5 / np.sqrt(20_000)
    exact = np.isin(levels, [0, 10])
    assert (mean[exact] == levels[exact]).all()
    assert set(shown) == {-10, 0, 10}


@settings(max_examples=60, deadline=None)
@given(
    pays=st.lists(st.integers(-500, 500), min_size=1, max_size=30),
    base=st.integers(1, 300),
    seed=st.integers(0, 99),
)
def test_random_rounding_stays_within_a_base(pays, base, seed):
    people = Microdata(pa.table({"pay": pays}), confidential="pay")
    shown = Rounding(base=base, method="random").release(people, seed).table["pay"].to_numpy()
    assert (shown % base == 0).all()
    assert (np.abs(shown - np.array(pays)) < base).all()


def test_beliefs_are_calibrated_and_only_with_the_right_method():
    random, nearest = (Rounding(base=30, method=method) for method in ("random", "nearest"))
    assert p_value(random, files=100) > 0.01
    assert p_value(random, believed=nearest, files=100) < 1e-6


def test_beliefs_about_rounded_keys_are_calibrated_and_only_with_the_right_base():
    right, wrong = (Rounding(base=base, method="random", on="keys") for base in (3, 4))
    assert p_value(right, files=150) > 0.01
    assert p_value(right, files=150, known=["a"]) > 0.01
    assert p_value(right, believed=wrong, files=150, known=["a"]) < 1e-6


def test_a_wide_domain_stays_sparse_and_is_the_same(monkeypatch):
    people = Microdata(pa.table({"pay": np.arange(0, 400, 7)}), confidential="pay")
    technique = Rounding(base=25, method="random")
    dense = technique.release(people, 1).posteriors([], intruder="paper").probabilities
    monkeypatch.setattr(inversion, "DENSE_CELLS", 10)
    release = technique.release(people, 1)
    assert not isinstance(release.confidential.channel, np.ndarray)
    np.testing.assert_allclose(release.posteriors([], intruder="paper").probabilities, dense, rtol=1e-12)


def test_a_sparse_channel_behind_changed_keys_is_the_same():
    dense = Rounding(base=15, method="random", on="age+pay").release(tiny(), 3)
    sparse = replace(
        dense, confidential=replace(dense.confidential, channel=csr_array(dense.confidential.channel.dense()))
    )
    for known in ([], ["age"], ["age", "sex"]):
        np.testing.assert_allclose(
            sparse.posteriors(known, intruder="paper").probabilities,
            dense.posteriors(known, intruder="paper").probabilities,
            rtol=1e-12,
        )


@pytest.mark.parametrize("base", [0, -1, nan, inf])
def test_invalid_bases(base):
    with pytest.raises(InputError, match=f"rounding: base is {base}; it must be a number above 0"):
        Rounding(base=base)


def test_bad_words():
    with pytest.raises(InputError, match="method is 'up'; it must be one of nearest, random"):
        Rounding(base=1, method="up")
    with pytest.raises(InputError, match="rounding: on is 3; give"):
        Rounding(base=1, on=3)
    with pytest.raises(InputError, match="on names 'hight', which is neither a key"):
        Rounding(base=1, on="age+hight").release(tiny())


def test_columns_that_are_no_numbers():
    with pytest.raises(InputError, match="rounding: the key 'sex' holds string values; leave it out of on"):
        Rounding(base=10, on="all").release(tiny())
    infinite = Microdata(pa.table({"x": [1.0, inf], "pay": [1, 2]}), confidential="pay", keys=["x"])
    with pytest.raises(InputError, match="'x' holds an infinite number"):
        Rounding(base=10, on="x").release(infinite)


def test_a_key_with_too_many_values():
    values = np.arange(12_000)
    people = Microdata(pa.table({"x": values, "pay": values % 3}), confidential="pay", keys=["x"])
    with pytest.raises(InputError, match="'x' has 12,000 values, to be shown as 6,001; coarsen it more"):
        Rounding(base=2, on="x").release(people)


@pytest.mark.parametrize("technique", [Rounding(base=3, on="all"), TopBottomCoding(high=12, on="all")])
@pytest.mark.parametrize("kind", [pa.null(), pa.int64(), pa.string()])
def test_a_key_of_nulls_stays_as_it_is(technique, kind):
    table = pa.table({"age": pa.array([None] * 3, kind), "pay": [10, 20, 30]})
    people = Microdata(table, confidential="pay", keys=["age"])
    release = technique.release(people, 0)
    assert release.table["age"].to_pylist() == [None] * 3
    assert release.posteriors(["age"], intruder="paper").probabilities == pytest.approx(
        release.posteriors([], intruder="paper").probabilities, rel=1e-12
    )
