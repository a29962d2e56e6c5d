"""Top and bottom coding against enumeration of all originals, and what it refuses."""

from __future__ import annotations

from math import inf, nan

import pyarrow as pa
import pytest

from equivoc.data.microdata import Microdata
from equivoc.errors import InputError
from equivoc.techniques.top_bottom_coding import TopBottomCoding
from tests.techniques.enumeration import assert_posteriors_by_enumeration


def tiny() -> Microdata:
    return Microdata(
        pa.table({"age": [18, 40, None], "sex": ["F", "M", "M"], "pay": [10, 40, 90]}),
        confidential="pay",
        keys=["age", "sex"],
        domain=[10, 20, 40, 80, 90],
    )


@pytest.mark.parametrize(
    ("low", "high", "on"),
    [(20, 80, "pay"), (None, 40, "pay"), (15, None, "pay"), (20, 30, "age"), (20, 35, "age+pay")],
)
@pytest.mark.parametrize("known", [[], ["age"], ["sex", "age"]], ids="+".join)
def test_every_original_that_gives_the_release(low, high, on, known):
    def likelihood(column, true, shown):
        if column in on.split("+") and true is not None:
            true = (
                low if low is not None and true < low else high if high is not None and true > high else true
            )
        return float(true == shown)

    release = TopBottomCoding(low=low, high=high, on=on).release(tiny())
    assert_posteriors_by_enumeration(release, likelihood, known)


def test_the_table_shows_the_limits_and_stays_numeric():
    release = TopBottomCoding(low=20, high=80).release(tiny())
    assert release.table["pay"].to_pylist() == [20, 40, 80]
    assert release.table["pay"].type == pa.int64()
    assert TopBottomCoding(low=19.5).release(tiny()).table["pay"].to_pylist() == [19.5, 40, 90]
    assert TopBottomCoding(high=30, on="age+pay").release(tiny()).table["age"].to_pylist() == [18, 30, None]


@pytest.mark.parametrize(
    ("parameters", "message"),
    [
        ({}, "neither low nor high is given"),
        ({"low": 5, "high": 5}, "low is 5 and high is 5; low must be below high"),
        ({"low": nan}, "low is nan; it must be a finite number"),
        ({"high": inf}, "high is inf; it must be a finite number"),
        ({"high": 5, "on": ["age", 3]}, "on is "),
    ],
)
def test_invalid_limits(parameters, message):
    with pytest.raises(InputError, match=message):
        TopBottomCoding(**parameters)


def test_a_column_that_is_no_number():
    with pytest.raises(InputError, match="top-bottom-coding: the key 'sex' holds string values"):
        TopBottomCoding(high=5, on="sex").release(tiny())
