"""What each technique's intruder is said to know: the mechanism, its parameters, the number of people, the prior."""

from __future__ import annotations

import pyarrow as pa
import pytest

import equivoc as eq
from equivoc.data.microdata import Microdata
from equivoc.techniques.notation import TECHNIQUES, technique_from

SAID = [
    ("unprotected", "She sees every record unchanged."),
    ("sampling:fraction=0.3", "simple random sample of 30 % of the records"),
    ("sampling:fraction=0.3", "For everyone outside it she uses her prior"),
    ("sampling:fraction=0.3,prior=uniform", "For everyone outside it she uses a uniform prior"),
    (
        "sampling:fraction=0.3,prior=marginal",
        "For everyone outside it she uses the distribution of the sample",
    ),
    ("query-restriction:size=4", "the sum of pay over every 4 neighbouring records"),
    ("query-restriction:size=4,belief=bayes", "all databases that fit the answers as equally likely"),
    ("query-restriction:size=4,belief=uniform", "between the least and the greatest"),
    (
        "noise-addition:percent=20",
        "ranks of age, sex and pay were moved independently by binomial noise of 20 %",
    ),
    ("noise-addition:percent=20", "She knows how often each value of age and sex occurs"),
    ("noise-addition:percent=20,edge=wrap", "continue at the other end"),
    ("noise-addition:percent=20,belief=interval", "pay was moved by at most half of 20 % of its domain"),
    ("rounding:base=5", "pay was rounded to multiples of 5: the nearest"),
    (
        "rounding:base=5,method=random,on=age+pay",
        "age and pay were rounded to multiples of 5: the one below or above",
    ),
    ("rounding:base=5,on=age", "how often each value of age occurs"),
    ("top-bottom-coding:low=15,high=30", "of pay below 15 are shown as 15 and above 30 are shown as 30"),
    ("date-shift:days=7", "pay of each record was moved by a whole number of days, any from −7 to 7"),
    ("pram:keep=0.7", "each value of age and sex stayed with probability 0.7"),
    (
        "geometric-noise:epsilon=2",
        "ε = 2. Two files are neighbours, for the privacy budget, if they differ in the value of",
    ),
    (
        "noisy-table:epsilon=0.5",
        "ε = 0.5. Two tables are neighbours, for the privacy budget, if one person is added",
    ),
    (
        "generalisation:k=2",
        "(ranges of neighbouring values (Mondrian), such that at least 2 records agree in all keys)",
    ),
    ("suppression:k=2", "until every combination occurred 2 times or more"),
    ("suppression:k=2", "and so how often it was starred"),
    ("swapping:rate=0.5", "a share 0.5 of the records exchanged their pay in random pairs, each column"),
    (
        "swapping:rate=0.5,window=40,on=age",
        "exchanged their age in random pairs at most 40 % of the ranks apart",
    ),
    ("microaggregation:size=3", "which records form a group, of 3 or more, and the sum of each group's pay"),
    ("microaggregation:size=3", "no two groups overlap"),
    (
        "microaggregation:size=3,on=age",
        "how often each value of age occurs in the file, and how far values lie",
    ),
]


@pytest.fixture(scope="module")
def people():
    table = {"age": [20, 21, 21, 23, 24, 30], "sex": list("FMFMFM"), "pay": [10, 20, 20, 40, 10, 30]}
    return Microdata(pa.table(table), confidential="pay", keys=["age", "sex"], domain=[10, 20, 30, 40])


@pytest.mark.parametrize(("notation", "said"), SAID)
def test_the_assumption_names_what_is_used(notation, said, people):
    release = technique_from(notation).release(people, 0)
    assert said in release.assumption
    assert "She knows how many people agree on the known keys" in release.assumption
    assert ("prior is the one stated for the assessment" in release.assumption) == (not release.fixed)


def test_every_technique_that_knows_its_mechanism_is_here():
    assert {notation.partition(":")[0] for notation, _ in SAID} == set(TECHNIQUES) - {"released-file"}


@pytest.mark.parametrize(
    ("intruder", "on"), [("sum", "pay"), ("sum", "age+pay"), (None, "age+pay"), (None, "age")]
)
def test_order_is_mentioned_only_where_it_is_used(intruder, on, people):
    told = eq.Microaggregation(size=3, method="mdav", on=on, belief=intruder).release(people).assumption
    assert "overlap" not in told
    assert ("how far values of pay lie from their group's mean" in told) == (intruder is None and "pay" in on)


@pytest.mark.parametrize("method", ["optimal", "mdav", "fast"])
def test_one_column_is_in_order_by_every_method(method, people):
    assert "no two groups overlap" in eq.Microaggregation(size=3, method=method).release(people).assumption


def test_too_fine_a_grid_leaves_bounds():
    fine = Microdata(pa.table({"pay": [0, 1, 2, 99_999_999] * 3}), confidential="pay")
    told = eq.QueryRestriction(size=4).release(fine, 0).assumption
    assert "She uses only the least and the greatest value that fit all answers." in told
