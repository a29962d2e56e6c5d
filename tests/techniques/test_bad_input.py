"""Invalid input is rejected before any work, with one sentence that names what is wrong."""

from __future__ import annotations

import re
from math import inf, nan

import numpy as np
import pyarrow as pa
import pytest

import equivoc as eq
from equivoc.data.microdata import Microdata
from equivoc.errors import InputError
from equivoc.techniques.date_shift import DateShift
from equivoc.techniques.generalisation import Generalisation
from equivoc.techniques.geometric_noise import GeometricNoise
from equivoc.techniques.microaggregation import Microaggregation
from equivoc.techniques.noise_addition import NoiseAddition
from equivoc.techniques.noisy_table import NoisyTable
from equivoc.techniques.pram import PRAM
from equivoc.techniques.query_restriction import QueryRestriction
from equivoc.techniques.released_file import ReleasedFile
from equivoc.techniques.rounding import Rounding
from equivoc.techniques.sampling import Sampling
from equivoc.techniques.suppression import Suppression
from equivoc.techniques.swapping import Swapping
from equivoc.techniques.top_bottom_coding import TopBottomCoding
from equivoc.techniques.unprotected import Unprotected

TAKES_A_SEED = [
    Sampling(fraction=0.5),
    QueryRestriction(size=4),
    NoiseAddition(percent=20),
    Rounding(base=25),
    TopBottomCoding(high=30),
    DateShift(days=20),
    PRAM(keep=0.5),
    GeometricNoise(epsilon=1),
    NoisyTable(epsilon=1),
]
ALL = [
    Unprotected(),
    *TAKES_A_SEED,
    NoiseAddition(percent=20, belief="interval"),
    Generalisation(k=2),
    Suppression(k=2),
]


@pytest.mark.parametrize("fraction", [0, -0.1, 1.0001, 2, nan, inf, -inf])
def test_fraction_outside_its_range(fraction):
    with pytest.raises(InputError, match=f"fraction is {fraction}; it must be above 0 and at most 1"):
        Sampling(fraction=fraction)


@pytest.mark.parametrize("fraction", [1e-9, 0.012])
def test_fraction_that_draws_nobody(people, fraction):
    with pytest.raises(InputError, match="of 40 records is less than half a record"):
        Sampling(fraction=fraction).release(people, 0)


@pytest.mark.parametrize("size", [0, 1, 3, -2, 7, 4.0, 2.5, nan, "4", None, True])
def test_query_size_that_is_no_even_number(size):
    with pytest.raises(InputError, match=f"size is {size}; a query sums an even number of records"):
        QueryRestriction(size=size)


@pytest.mark.parametrize("size", [42, 1000])
def test_query_size_beyond_the_file(people, size):
    with pytest.raises(InputError, match=f"size is {size} but there are only 40 records"):
        QueryRestriction(size=size).release(people, 0)


def test_the_largest_query_size_works(people):
    assert len(QueryRestriction(size=np.int64(40)).release(people, 0).answers) == 1


@pytest.mark.parametrize("percent", [-1, -1e-9, nan, inf, -inf, 1_000_001, 1e308])
def test_percent_outside_its_range(percent):
    with pytest.raises(InputError, match=f"percent is {re.escape(str(percent))}; it must be 0 or more"):
        NoiseAddition(percent=percent)


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (
            lambda: Sampling(fraction=0.5, prior="flat"),
            "prior is 'flat'; it must be one of uniform, marginal",
        ),
        (
            lambda: QueryRestriction(size=2, belief="interval"),
            "belief is 'interval'; it must be one of uniform, bayes",
        ),
        (
            lambda: NoiseAddition(percent=5, edge="reflect"),
            "edge is 'reflect'; it must be one of clip, wrap, extend",
        ),
        (
            lambda: NoiseAddition(percent=5, belief="uniform"),
            "belief is 'uniform'; it must be one of bayes, interval",
        ),
    ],
)
def test_unknown_words(make, message):
    with pytest.raises(InputError, match=message):
        make()


@pytest.mark.parametrize("technique", TAKES_A_SEED, ids=lambda t: t.notation)
@pytest.mark.parametrize("seed", [-1, np.int64(-7), True, 1.5, "seven"])
def test_a_seed_is_a_whole_number_from_0(people, technique, seed):
    with pytest.raises(InputError, match="give a NumPy Generator or a seed of 0 or more"):
        technique.release(people, seed)


@pytest.mark.parametrize("technique", ALL, ids=lambda t: t.notation)
class TestKnown:
    @pytest.mark.parametrize(
        ("known", "message"),
        [
            (["agee"], "'agee' is not a key: did you mean 'age'"),
            (["pay"], "'pay' is not a key"),
            (["age", "age"], "a key is named twice"),
            ("age", r"known must be a list of keys, such as \['age'\]"),
        ],
    )
    def test_known_must_be_keys(self, people, technique, known, message):
        release = technique.release(people, 0)
        with pytest.raises(InputError, match=message):
            release.posteriors(known, intruder="paper")

    @pytest.mark.parametrize("sizes", [{"min_size": 4}, {"min_size": -1}, {"min_size": 2, "max_size": 1}])
    def test_sizes_without_a_subset(self, people, technique, sizes):
        release = technique.release(people, 0)
        with pytest.raises(InputError, match="leave no subset to count"):
            list(release.own_sweep(**sizes))
        with pytest.raises(InputError, match="leave no subset to count"):
            list(release.sweep(**sizes, prior=np.full(7, 1 / 7)))


RELEASED = {"sex": ["F"], "age": ["20"], "job": ["cook"], "pay": ["10"]}


@pytest.mark.parametrize(
    ("changed", "message"),
    [
        ({"age": None}, "the key 'age' is not a column of the table"),
        ({"pay": None}, "the confidential column 'pay' is not a column"),
        ({"age": [], "sex": [], "job": [], "pay": []}, "it has no records, only column names"),
        ({"age": ["[20,"]}, "the key 'age' as released holds '\\[20,', neither a number nor a range"),
        ({"age": ["young"]}, "the key 'age' as released holds 'young'"),
        ({"age": [[20]]}, "column 'age' holds list<.*> values"),
        ({"job": ["{cook,"]}, "the key 'job' as released holds '{cook,', a range or set that does not parse"),
        ({"job": [7]}, "the key 'job' as released has none of the original's values, but values such as 7"),
        ({"pay": ["much"]}, "the confidential column 'pay' as released holds 'much', neither a number"),
        ({"pay": ["[10,"]}, "the confidential column 'pay' as released holds '\\[10,'"),
        ({"pay": [inf]}, "the confidential column 'pay' as released holds inf"),
    ],
)
@pytest.mark.parametrize("matching", ["exact", "nearest", "probable"])
def test_released_files_that_cannot_be_used(people, matching, changed, message):
    columns = {name: value for name, value in {**RELEASED, **changed}.items() if value is not None}
    with pytest.raises(InputError, match=f"the released file cannot be used: .*{message}") as mistake:
        ReleasedFile(pa.table(columns), matching=matching).release(people)
    assert "\n" not in str(mistake.value)


@pytest.mark.parametrize(
    ("content", "message"),
    [(None, "there is no file"), ("", "is empty"), ("sex,age,job,pay\n", "it has no records")],
)
def test_released_paths_that_cannot_be_used(people, tmp_path, content, message):
    path = tmp_path / "released.csv"
    if content is not None:
        path.write_text(content)
    with pytest.raises(InputError, match=message):
        ReleasedFile(path).release(people)


def test_a_released_file_is_a_table(people):
    with pytest.raises(InputError, match="cannot read people from a int"):
        ReleasedFile(7).release(people)


def test_more_keys_than_probable_matching_can_compare():
    names = [f"k{i}" for i in range(13)]
    frame = pa.table({name: ["a", "b"] for name in names} | {"pay": [1, 2]})
    wide = Microdata(frame, confidential="pay", keys=names)
    with pytest.raises(InputError, match="there are 13: give at most 12 keys"):
        ReleasedFile(frame, matching="probable").release(wide)
    assert len(ReleasedFile(frame, matching="nearest").release(wide).posteriors(names, intruder="paper")) == 2


@pytest.mark.parametrize("given", ["abc", None, [1], True])
@pytest.mark.parametrize(
    ("make", "says"),
    [
        (lambda given: eq.Sampling(given), "sampling: fraction is"),
        (lambda given: eq.QueryRestriction(given), "query-restriction: size is"),
        (lambda given: eq.NoiseAddition(given), "noise-addition: percent is"),
        (lambda given: eq.Swapping(given), "swapping: rate is"),
        (lambda given: eq.Microaggregation(given), "microaggregation: size is"),
        (lambda given: eq.Suppression(given), "suppression: k is"),
        (lambda given: eq.Rounding(given), "rounding: base is"),
        (lambda given: eq.DateShift(given), "date-shift: days is"),
        (lambda given: eq.GeometricNoise(given), "geometric-noise: epsilon is"),
        (lambda given: eq.NoisyTable(given), "noisy-table: epsilon is"),
        (lambda given: eq.TopBottomCoding(low=given or "x"), "top-bottom-coding: low is"),
        (lambda given: eq.PRAM(keep=given or "x"), "pram: keep is"),
        (lambda given: eq.Swapping(0.5, window=given or "x"), "swapping: window is"),
        (lambda given: eq.Generalisation(k=given or "x"), "generalisation: k is"),
        (lambda given: eq.Generalisation(k=2, suppress=given), "generalisation: suppress is"),
    ],
)
def test_values_that_are_not_numbers_are_rejected(make, says, given):
    with pytest.raises(eq.InputError, match=says):
        make(given)


@pytest.mark.parametrize("given", [7, 1.5, [[1]], [["a"]]])
def test_invalid_levels(given):
    with pytest.raises(InputError, match=r"generalisation: levels is .*; give a level per key, as in age:1"):
        Generalisation(levels=given)


@pytest.mark.parametrize("kind", [Swapping, Microaggregation])
@pytest.mark.parametrize("given", [7, 1.5, [], [1], ""])
def test_invalid_columns(kind, given):
    with pytest.raises(InputError, match=r"on is .*; give .confidential."):
        kind(2 if kind is Microaggregation else 0.5, on=given)


def test_a_matrix_file_that_cannot_be_read():
    with pytest.raises(InputError, match=r"the matrix cannot be used: there is no file"):
        PRAM(matrix="a\0b")
