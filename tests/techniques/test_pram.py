"""PRAM: its matrix in every form, its draw, and its posterior against enumeration and calibration."""

from __future__ import annotations

import pickle
from dataclasses import replace
from math import nan

import numpy as np
import pyarrow as pa
import pytest
from scipy import stats

from equivoc.data.microdata import Microdata
from equivoc.errors import InputError
from equivoc.techniques.notation import technique_from
from equivoc.techniques.pram import PRAM
from tests.techniques.calibration import p_value
from tests.techniques.enumeration import assert_posteriors_by_enumeration

TWO = [[0.9, 0.1], [0.3, 0.7]]
THREE = [[0.5, 0.5, 0.0], [0.1, 0.6, 0.3], [0.0, 0.2, 0.8]]


def tiny() -> Microdata:
    return Microdata(
        pa.table({"sex": ["F", "M", "M"], "job": ["a", "b", None], "pay": [10, 20, 30]}),
        confidential="pay",
        keys=["sex", "job"],
    )


@pytest.mark.parametrize("known", [[], ["sex"], ["job", "sex"]], ids="+".join)
@pytest.mark.parametrize("seed", [0, 1])
def test_every_original_that_gives_the_release(known, seed):
    technique = PRAM({"sex": TWO, "job": THREE, "pay": THREE})
    levels = {"sex": ["F", "M"], "job": ["a", "b", None], "pay": [10, 20, 30]}

    def likelihood(column, true, shown):
        matrix = TWO if column == "sex" else THREE
        return matrix[levels[column].index(true)][levels[column].index(shown)]

    assert_posteriors_by_enumeration(technique.release(tiny(), seed), likelihood, known)


@pytest.mark.parametrize("known", [[], ["sex", "job"]], ids="+".join)
def test_keep_is_a_matrix_with_the_rest_shared_evenly(known):
    def likelihood(column, true, shown):
        others = {"sex": 1, "job": 2, "pay": 2}[column]
        return 0.7 if true == shown else 0.3 / others

    assert_posteriors_by_enumeration(PRAM(keep=0.7, on="all").release(tiny(), 3), likelihood, known)


def test_values_are_drawn_by_the_matrix():
    matrix = np.array([[0.2, 0.0, 0.8], [0.0, 1.0, 0.0], [0.3, 0.7, 0.0]])
    people = Microdata(pa.table({"pay": np.repeat([1, 2, 3], 5000)}), confidential="pay")

    def p(believed):
        shown = PRAM(matrix, on="confidential").release(people, 8).table["pay"].to_numpy()
        counts = np.array([np.bincount(row, minlength=4)[1:] for row in shown.reshape(3, -1)])
        possible = np.array(believed) > 0
        assert not counts[matrix == 0].any()
        return stats.chisquare(counts[possible], 5000 * np.array(believed)[possible]).pvalue

    assert p(matrix) > 0.01
    assert p([[0.23, 0.0, 0.77], [0.0, 1.0, 0.0], [0.3, 0.7, 0.0]]) < 1e-6


def test_beliefs_are_calibrated_and_only_with_the_right_matrix():
    technique = PRAM(keep=0.8, on="all")
    assert p_value(technique, key_levels=4, files=150) > 0.01
    assert p_value(technique, believed=PRAM(keep=0.9, on="all"), key_levels=4, files=150) < 1e-6


def test_one_matrix_in_every_form(tmp_path):
    file = tmp_path / "matrix.csv"
    file.write_text("0.9,0.1\n0.3,0.7\n", encoding="utf-8")
    technique = PRAM(TWO, on="sex")
    for given in (np.array(TWO), tuple(map(tuple, TWO)), file, str(file), "0.9 0.1;0.3 0.7"):
        assert PRAM(given, on=["sex"]) == replace(technique, on=("sex",))
        assert hash(PRAM(given, on="sex")) == hash(technique)
    assert technique_from(f"pram:matrix={file},on=sex") == technique
    assert PRAM(matrix={"sex": TWO}) == PRAM(matrix=(("sex", PRAM(TWO).matrix),))


@pytest.mark.parametrize(
    "technique",
    [
        PRAM(keep=0.1 + 0.2),
        PRAM(keep=1, on="sex+age"),
        PRAM([[1]]),
        PRAM([[1 / 3, 2 / 3], [0.25, 0.75]], on="sex"),
        PRAM({"sex": TWO, "job": THREE}),
    ],
    ids=lambda t: t.notation,
)
def test_the_notation_is_read_back(technique):
    assert technique_from(technique.notation) == technique
    assert pickle.loads(pickle.dumps(technique)) == technique
    assert replace(technique) == technique
    assert eval(repr(technique), {"PRAM": PRAM}) == technique


def test_a_large_matrix_goes_by_a_digest_of_its_own():
    one, other = np.eye(11), np.eye(11)[::-1]
    assert PRAM(one).notation.startswith("pram:matrix=11x11-")
    assert PRAM(one).notation == PRAM(one.copy()).notation != PRAM(other).notation


@pytest.mark.parametrize(
    ("parameters", "message"),
    [
        ({}, "give either matrix or keep"),
        ({"matrix": TWO, "keep": 0.5}, "give either matrix or keep"),
        ({"keep": 1.5}, "keep is 1.5; it must be a probability"),
        ({"keep": nan}, "keep is nan"),
        ({"matrix": [[0.5, 0.5], [0.5, 0.4]]}, r"row 2 of the matrix sums to 0\.9; each row must sum to 1"),
        ({"matrix": {"sex": [[0.5]]}}, r"row 1 of the matrix of 'sex' sums to 0\.5"),
        ({"matrix": [[1.5, -0.5], [0, 1]]}, "has -0.5 in row 1, column 2"),
        ({"matrix": [[nan, 1], [0, 1]]}, "has nan in row 1, column 1"),
        ({"matrix": [[0.5, 0.5]]}, "has the shape 1 × 2; give one row and one column"),
        ({"matrix": [[1, 0], [1]]}, "rows differ in length"),
        ({"matrix": "no/such/file.csv"}, "there is no file no/such/file.csv"),
        ({"matrix": {"sex": TWO}, "on": "sex"}, "matrix names the columns sex, so on must be left out"),
    ],
)
def test_invalid_parameters(parameters, message):
    with pytest.raises(InputError, match=message):
        PRAM(**parameters)


def test_a_file_of_words(tmp_path):
    file = tmp_path / "matrix.csv"
    file.write_text("F,M\n1,0\n0,1\n", encoding="utf-8")
    with pytest.raises(InputError, match="something that is not a number"):
        PRAM(file)


def test_a_matrix_that_does_not_fit_the_people():
    with pytest.raises(InputError, match="the matrix is 2 × 2 but 'job' has 3 levels"):
        PRAM(TWO).release(tiny(), 0)
    with pytest.raises(InputError, match="on names 'height'"):
        PRAM({"height": TWO}).release(tiny(), 0)
    many = Microdata(pa.table({"pay": np.arange(6000)}), confidential="pay")
    with pytest.raises(InputError, match="'pay' has 6,000 levels, too many for a matrix"):
        PRAM(keep=0.5, on="confidential").release(many, 0)
