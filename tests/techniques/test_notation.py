"""Techniques as words, there and back; and one sentence for every mistake."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from equivoc.errors import InputError
from equivoc.techniques.microaggregation import Microaggregation
from equivoc.techniques.noise_addition import NoiseAddition
from equivoc.techniques.notation import TECHNIQUES, technique_from, technique_of
from equivoc.techniques.query_restriction import QueryRestriction
from equivoc.techniques.sampling import Sampling
from equivoc.techniques.swapping import Swapping
from equivoc.techniques.unprotected import Unprotected

ALL = st.one_of(
    st.just(Unprotected()),
    st.builds(
        Sampling,
        fraction=st.floats(0, 1, exclude_min=True) | st.just(1),
        prior=st.sampled_from(["uniform", "marginal"]),
    ),
    st.builds(
        QueryRestriction,
        size=st.integers(1, 10**6).map(lambda half: 2 * half),
        intruder=st.sampled_from(["uniform", "bayes"]),
    ),
    st.builds(
        NoiseAddition,
        percent=st.floats(0, 1e6) | st.integers(0, 1000),
        edge=st.sampled_from(["clip", "wrap", "extend"]),
        intruder=st.sampled_from(["bayes", "interval"]),
    ),
    st.builds(
        Swapping,
        rate=st.floats(0, 1, exclude_min=True) | st.just(1),
        on=st.sampled_from(["confidential", "keys", "age+sex"]),
        window=st.none() | st.floats(0, 100, exclude_min=True),
    ),
    st.builds(
        Microaggregation,
        size=st.integers(1, 10**6),
        on=st.sampled_from(["confidential", "all", "age"]),
        method=st.sampled_from([None, "optimal", "mdav", "fast"]),
    ),
)


@given(ALL)
def test_there_and_back(technique):
    assert technique_from(technique.notation) == technique


@pytest.mark.parametrize(
    ("text", "technique"),
    [
        ("unprotected", Unprotected()),
        ("sampling:fraction=0.1", Sampling(fraction=0.1)),
        ("sampling:prior=marginal,fraction=1", Sampling(fraction=1, prior="marginal")),
        ("query-restriction:size=8", QueryRestriction(size=8)),
        ("noise-addition:percent=20", NoiseAddition(percent=20)),
        (" noise-addition : percent = 2.5 , edge = wrap ", NoiseAddition(percent=2.5, edge="wrap")),
    ],
)
def test_words_to_techniques(text, technique):
    assert technique_from(text) == technique


@pytest.mark.parametrize(
    ("technique", "notation"),
    [
        (Unprotected(), "unprotected"),
        (Sampling(fraction=0.1), "sampling:fraction=0.1"),
        (Sampling(fraction=0.1, prior="marginal"), "sampling:fraction=0.1,prior=marginal"),
        (QueryRestriction(size=8, intruder="bayes"), "query-restriction:size=8,intruder=bayes"),
        (NoiseAddition(percent=20, edge="extend"), "noise-addition:percent=20,edge=extend"),
        (Swapping(rate=1.0, window=5), "swapping:rate=1,window=5"),
        (Microaggregation(size=3, on=("age", "pay")), "microaggregation:size=3,on=age+pay"),
    ],
)
def test_techniques_to_words(technique, notation):
    assert technique.notation == notation


def test_each_name_leads_to_its_technique():
    assert {name: kind.name for name, kind in TECHNIQUES.items()} == {name: name for name in TECHNIQUES}


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("samplig:fraction=0.1", "there is no technique 'samplig'; did you mean 'sampling'?"),
        (
            "zzz",
            "there is no technique 'zzz'; there are unprotected, sampling, query-restriction, noise-addition, ",
        ),
        ("sampling:fracton=0.1", "sampling has no parameter 'fracton'; did you mean 'fraction'?"),
        ("noise-addition:percent=1,size=2", "noise-addition has no parameter 'size'; there are percent, "),
        ("unprotected:x=1", "unprotected has no parameter 'x'"),
        ("sampling", "sampling needs fraction, as in sampling:fraction="),
        ("query-restriction:intruder=bayes", "query-restriction needs size"),
        ("noise-addition:", "noise-addition needs percent"),
        ("sampling:fraction", "'fraction' needs a value"),
        ("sampling:0.1", "'0.1' needs a value"),
        ("sampling:fraction=abc", "fraction='abc'"),
        ("sampling:fraction=", "fraction=''"),
        ("noise-addition:percent=abc", "percent='abc'"),
        ("query-restriction:size=abc", "size is abc"),
        ("query-restriction:size=8.5", "size is 8.5"),
        ("sampling:fraction=nan", "fraction is nan"),
        ("sampling:fraction=0.1,prior=2", "prior is 2"),
        ("sampling:fraction=0.1,fraction=0.2", "fraction is given twice"),
    ],
)
def test_a_mistake_is_one_sentence(text, message):
    with pytest.raises(InputError) as raised:
        technique_from(text)
    said = str(raised.value)
    assert message in said
    assert "\n" not in said
    assert said.endswith((".", "?"))
    assert not said.endswith("?.")


def test_parameters_by_name():
    assert technique_of("sampling", {"fraction": 0.5}) == Sampling(fraction=0.5)
    with pytest.raises(InputError, match="wrong type"):
        technique_of("sampling", {"fraction": [0.5]})
