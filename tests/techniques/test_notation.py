"""The notation of techniques: read and written, with one sentence for every mistake."""

from __future__ import annotations

from pathlib import Path

import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

from equivoc.errors import InputError
from equivoc.techniques.date_shift import DateShift
from equivoc.techniques.generalisation import Generalisation
from equivoc.techniques.geometric_noise import GeometricNoise
from equivoc.techniques.microaggregation import Microaggregation
from equivoc.techniques.noise_addition import NoiseAddition
from equivoc.techniques.noisy_table import NoisyTable
from equivoc.techniques.notation import TECHNIQUES, technique_from, technique_of
from equivoc.techniques.pram import PRAM
from equivoc.techniques.query_restriction import QueryRestriction
from equivoc.techniques.released_file import ReleasedFile
from equivoc.techniques.rounding import Rounding
from equivoc.techniques.sampling import Sampling
from equivoc.techniques.suppression import Suppression
from equivoc.techniques.swapping import Swapping
from equivoc.techniques.top_bottom_coding import TopBottomCoding
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
        belief=st.sampled_from(["uniform", "bayes"]),
    ),
    st.builds(
        NoiseAddition,
        percent=st.floats(0, 1e6) | st.integers(0, 1000),
        edge=st.sampled_from(["clip", "wrap", "extend"]),
        belief=st.sampled_from(["bayes", "interval"]),
    ),
    st.builds(
        ReleasedFile,
        table=st.sampled_from(["released.csv", "a folder/b=c.parquet"]),
        matching=st.sampled_from(["exact", "nearest", "probable"]),
    ),
    st.builds(
        Generalisation,
        k=st.integers(1, 100),
        hierarchies=st.just({"age": (2.5, 5, 20), "weight of a person": 10}),
        suppress=st.floats(0, 1, exclude_max=True),
    ),
    st.builds(
        Generalisation,
        levels=st.dictionaries(st.sampled_from(["a", "b c", "ż"]), st.integers(0, 9), min_size=1),
    ),
    st.builds(
        DateShift, days=st.integers(0, 36525), on=st.sampled_from(["confidential", "keys", "all", "a+b"])
    ),
    st.builds(Suppression, k=st.integers(1, 10**6), missing_keys=st.sampled_from(["own", "any"])),
    st.builds(
        Rounding,
        base=st.floats(1e-6, 1e6) | st.integers(1, 1000),
        method=st.sampled_from(["nearest", "random"]),
        on=st.sampled_from(["confidential", "keys", "all", "age", "age+sex"]),
    ),
    st.builds(TopBottomCoding, low=st.none() | st.floats(-1e6, 0), high=st.floats(1, 1e6)),
    st.builds(PRAM, keep=st.floats(0, 1), on=st.sampled_from(["keys", "all", "age+sex"])),
    st.builds(GeometricNoise, epsilon=st.floats(1e-6, 1e3)),
    st.builds(NoisyTable, epsilon=st.floats(1e-6, 1e3)),
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
    st.builds(
        Microaggregation,
        size=st.integers(1, 10**6),
        method=st.sampled_from([None, "optimal"]),
        belief=st.sampled_from(["sum", "order"]),
    ),
)


NAMES = st.text(alphabet='ab,:=+|;" 12/', min_size=1, max_size=6) | st.sampled_from(
    ["keys", "all", "confidential"]
)
COLUMNS = st.lists(NAMES, min_size=1, max_size=3, unique=True)
ANY_NAME = st.one_of(
    st.builds(Rounding, base=st.just(5), on=COLUMNS),
    st.builds(PRAM, keep=st.just(0.5), on=COLUMNS),
    st.builds(PRAM, matrix=st.dictionaries(NAMES, st.just([[0.5, 0.5], [0, 1]]), min_size=1, max_size=3)),
    st.builds(TopBottomCoding, high=st.just(5), on=COLUMNS),
    st.builds(Swapping, rate=st.just(0.5), on=COLUMNS),
    st.builds(Microaggregation, size=st.just(5), on=COLUMNS),
    st.builds(ReleasedFile, table=NAMES, matching=st.sampled_from(["exact", "nearest"])),
    st.builds(Generalisation, levels=st.dictionaries(NAMES, st.integers(0, 9), min_size=1, max_size=3)),
    st.builds(
        Generalisation,
        k=st.just(3),
        hierarchies=st.dictionaries(NAMES, st.sampled_from([5, (5, 10), 2.5]), min_size=1, max_size=3),
    ),
)


@given(ANY_NAME)
def test_the_notation_is_read_back_with_any_name(technique):
    again = technique_from(technique.notation)
    assert again == technique
    assert hash(again) == hash(technique)


def test_hierarchies_in_files_and_folders_of_any_name(tmp_path):
    folder = tmp_path / 'a, "b": c+d'
    folder.mkdir()
    (folder / "age.csv").write_text("1;low\n2;low\n", encoding="utf-8")
    for hierarchies in (folder, {"age": folder / "age.csv"}):
        technique = Generalisation(k=2, hierarchies=hierarchies)
        assert technique_from(technique.notation) == technique


def test_tables_in_memory_have_names_of_their_own():
    one, same, other = (pd.DataFrame({"a": [1, x]}) for x in (2, 2, 3))
    assert ReleasedFile(one).notation == ReleasedFile(same).notation != ReleasedFile(other).notation


@given(ALL)
def test_the_notation_is_read_back(technique):
    assert technique_from(technique.notation) == technique


@pytest.mark.parametrize(
    ("text", "technique"),
    [
        ("unprotected", Unprotected()),
        ("sampling:fraction=0.1", Sampling(fraction=0.1)),
        ("sampling:prior=marginal,fraction=1", Sampling(fraction=1, prior="marginal")),
        ("query-restriction:size=8", QueryRestriction(size=8)),
        ("noise-addition:percent=20", NoiseAddition(percent=20)),
        ("released-file:table=a.csv,matching=nearest", ReleasedFile("a.csv", matching="nearest")),
        ("rounding:base=10,method=random,on=age+pay", Rounding(10, "random", "age+pay")),
        ("top-bottom-coding:high=200", TopBottomCoding(high=200)),
        ("pram:keep=0.8,on=sex+age", PRAM(keep=0.8, on="sex+age")),
        ("geometric-noise:epsilon=1", GeometricNoise(1)),
        ("noisy-table:epsilon=0.5", NoisyTable(0.5)),
        ("microaggregation:size=3,belief=order", Microaggregation(size=3, belief="order")),
        (
            "microaggregation:size=3,method=fast,belief=order",
            Microaggregation(size=3, method="fast", belief="order"),
        ),
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
        (QueryRestriction(size=8, belief="bayes"), "query-restriction:size=8,belief=bayes"),
        (NoiseAddition(percent=20, edge="extend"), "noise-addition:percent=20,edge=extend"),
        (ReleasedFile("a.csv"), "released-file:table=a.csv"),
        (ReleasedFile(Path("a.csv"), matching="probable"), "released-file:table=a.csv,matching=probable"),
        (Generalisation(k=5), "generalisation:k=5"),
        (
            Generalisation(levels={"zip": 2, "age": 1}, hierarchies={"zip": 5, "age": (5, 10)}),
            "generalisation:hierarchies=age:5/10+zip:5,levels=age:1+zip:2",
        ),
        (Suppression(k=3), "suppression:k=3"),
        (DateShift(days=30), "date-shift:days=30"),
        (DateShift(days=30, on="seen+birth"), "date-shift:days=30,on=seen+birth"),
        (Suppression(k=3, missing_keys="any"), "suppression:k=3,missing_keys=any"),
        (Rounding(2.5, on=("age", "pay")), "rounding:base=2.5,on=age+pay"),
        (TopBottomCoding(high=200), "top-bottom-coding:high=200"),
        (PRAM(keep=0.25), "pram:keep=0.25"),
        (GeometricNoise(2.0), "geometric-noise:epsilon=2"),
        (Swapping(rate=1.0, window=5), "swapping:rate=1,window=5"),
        (Microaggregation(size=3, on=("age", "pay")), "microaggregation:size=3,on=age+pay"),
        (
            Microaggregation(size=3, method="optimal", belief="order"),
            "microaggregation:size=3,method=optimal,belief=order",
        ),
    ],
)
def test_techniques_to_words(technique, notation):
    assert technique.notation == notation


def test_each_name_leads_to_its_technique():
    assert {name: kind.name for name, kind in TECHNIQUES.items()} == {name: name for name in TECHNIQUES}


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("samplig:fraction=0.1", "there is no technique 'samplig': did you mean 'sampling'?"),
        (
            "zzz",
            "there is no technique 'zzz': choose from unprotected, sampling, query-restriction, noise-addition",
        ),
        ("sampling:fracton=0.1", "sampling has no parameter 'fracton': did you mean 'fraction'?"),
        ("noise-addition:percent=1,size=2", "noise-addition has no parameter 'size': choose from percent, "),
        ("unprotected:x=1", "unprotected has no parameter 'x'"),
        ("sampling", "sampling needs fraction, as in sampling:fraction="),
        ("query-restriction:belief=bayes", "query-restriction needs size"),
        ("noise-addition:", "noise-addition needs percent"),
        ("sampling:fraction", "'fraction' needs a value"),
        ("sampling:0.1", "'0.1' needs a value"),
        ("sampling:fraction=abc", "fraction is 'abc'; it must be above 0"),
        ("sampling:fraction=", "fraction is ''; it must be above 0"),
        ("noise-addition:percent=abc", "percent is 'abc'; it must be 0 or more"),
        ("query-restriction:size=abc", "size is abc"),
        ("query-restriction:size=8.5", "size is 8.5"),
        ("sampling:fraction=nan", "fraction is nan"),
        ("sampling:fraction=0.1,prior=2", "prior is 2"),
        ("sampling:fraction=0.1,fraction=0.2", "fraction is given twice"),
        ("released-file:matching=exact", "released-file needs table"),
        (
            "released-file:table=a.csv,matching=fuzzy",
            "matching is 'fuzzy'; it must be one of exact, nearest, probable",
        ),
        ("generalisation", "needs either k or levels"),
        ("generalisation:hierarchies=age:5", "needs either k or levels"),
        ("generalisation:k=5,levels=age:1", "needs either k or levels"),
        ("generalisation:k=0", "k is 0; it must be a whole number of 1 or more"),
        ("generalisation:k=2.5", "k is 2.5"),
        ("generalisation:k=five", "k is 'five'"),
        ("generalisation:k=5,suppress=0.1", "suppress needs k and hierarchies"),
        ("generalisation:k=5,hierarchies=age:5,suppress=1", "suppress is 1; it must be from 0 to below 1"),
        ("generalisation:k=5,hierarchies=age:5,suppress=nan", "suppress is nan"),
        ("generalisation:levels=age:x", "the level of 'age' is 'x'"),
        ("generalisation:levels=age:-1", "the level of 'age' is '-1'"),
        ("generalisation:levels=age", "the level of 'age' is ''"),
        ("generalisation:k=5,hierarchies=age:none.csv", "there is no file none.csv"),
        ("generalisation:k=5,hierarchies=nowhere", "there is no such folder"),
        ("suppression", "suppression needs k"),
        ("microaggregation:size=3,belief=all", "belief is 'all'; it must be one of sum, order"),
        ("suppression:k=0", "k is 0; it must be a whole number of 1 or more"),
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
    with pytest.raises(InputError, match="must be above 0"):
        technique_of("sampling", {"fraction": [0.5]})
