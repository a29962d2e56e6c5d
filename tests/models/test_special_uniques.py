"""SUDA: a worked table, and all subsets of the keys tried one by one."""

from __future__ import annotations

from itertools import combinations
from math import factorial
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from equivoc.data.microdata import Microdata
from equivoc.errors import InputError
from equivoc.models.of_file import suda as special_uniques
from equivoc.models.of_file import suda_kernels as special_uniques_kernels
from equivoc.models.of_file.suda import SpecialUniques, dis_suda, msu_score, suda
from tests.models.tables import Rows, households, microdata, tables


def minimal_uniques(rows: Rows, most: int) -> list[list[tuple[int, ...]]]:
    """Each record's minimal sample uniques: every subset is compared with every other record, then the minimal kept."""
    keys = len(rows[0]) - 1
    found = []
    for at, row in enumerate(rows):
        others = rows[:at] + rows[at + 1 :]
        unique = [
            subset
            for size in range(1, keys + 1)
            for subset in combinations(range(keys), size)
            if not any(all(row[k] == other[k] for k in subset) for other in others)
        ]
        minimal = [s for s in unique if not any(set(t) < set(s) for t in unique)]
        found.append([s for s in minimal if len(s) <= most])
    return found


def check(found: SpecialUniques, rows: Rows, most: int) -> None:
    """Everything that SUDA says, from the list of minimal sample uniques."""
    keys = len(rows[0]) - 1
    expected = minimal_uniques(rows, most)

    def worth(subset: tuple[int, ...]) -> float:
        product = 1
        for i in range(len(subset), most + 1):
            product *= (keys - i) if i < keys else 1
        return product

    scores = [sum(map(worth, subsets)) for subsets in expected]
    assert found.score.tolist() == scores
    assert found.msu_count.tolist() == [len(subsets) for subsets in expected]
    assert found.smallest_msu.tolist() == [min(map(len, subsets), default=0) for subsets in expected]
    for key in range(keys):
        of_key = [sum(worth(s) for s in subsets if key in s) for subsets in expected]
        shares = [part / total if total else 0 for part, total in zip(of_key, scores, strict=True)]
        assert found.contributions[:, key] == pytest.approx(shares)
        whole = sum(of_key) / sum(scores) if any(scores) else 0
        assert found.by_key[found.classes.known[key]] == pytest.approx(whole)


def test_the_households_of_the_practice_guide() -> None:
    """Table 4.5 of the guide, M = 3: records 3, 5, 7 and 8 score 6, 12, 6 and 10, the others 0."""
    found = suda(households(), max_size=3)
    assert found.score.tolist() == [0, 0, 6, 0, 12, 0, 6, 10, 0, 0]
    # Record 5: {rural}; {secondary complete, unemployed}, {female, unemployed}, {female, secondary complete}.
    assert found.msu_count[4] == 4
    assert found.smallest_msu[4] == 1
    residence, gender, education, labour = found.contributions[4]
    assert (residence, gender, education, labour) == pytest.approx((6 / 12, 4 / 12, 4 / 12, 4 / 12))
    # Total 34: residence 6 + 2, gender 4 + 2, education 6 + 4 + 6 + 6, labour status 4 + 4.
    assert found.by_key == pytest.approx({"a": 8 / 34, "b": 6 / 34, "c": 22 / 34, "d": 8 / 34})


def test_the_dis_suda_scores_of_the_practice_guide() -> None:
    """Its table 4.5 prints 0.0051, 0.0107, 0.0051, 0.0088: sdcMicro's formula on sdcMicro's former scores, in which an
    MSU of k of the K keys counts (2^(K−k) − 1) · k! (K−k)! / K!; 6 records are in pairs."""

    def former(size: int) -> float:
        return (2 ** (4 - size) - 1) * factorial(size) * factorial(4 - size) / factorial(4)

    scores = np.array([former(1), former(1) + 3 * former(2), former(1), former(1) + 2 * former(2)])
    assert dis_suda(scores, pairs=6, keys=4, fraction=0.01).round(4).tolist() == [
        0.0051,
        0.0107,
        0.0051,
        0.0088,
    ]


def test_dis_suda_of_the_people_uses_their_pairs_and_the_fraction() -> None:
    people = households()
    for fraction in (0.01, 0.3):
        # U·(1/DIS − 1) with U = 4, DIS = 4π / (4π + 6(1 − π)).
        dis = 4 * fraction / (4 * fraction + 6 * (1 - fraction))
        powers = {score: score**1.2 for score in (6, 12, 10)}
        total = 2 / powers[6] + 1 / powers[12] + 1 / powers[10]
        expected = [
            1 / (1 + 4 * (1 / dis - 1) / (powers[score] * total)) if score else 0
            for score in (0, 0, 6, 0, 12, 0, 6, 10, 0, 0)
        ]
        assert suda(people, fraction=fraction).dis_score == pytest.approx(expected)


def test_without_pairs_or_in_a_census_a_unique_match_is_certain() -> None:
    assert suda(microdata([(0, 0, 1), (0, 1, 1), (1, 0, 1)])).dis_score.tolist() == [1, 1, 1]
    assert suda(households(), fraction=1).dis_score.max() == 1
    assert suda(microdata([(0, 1), (0, 2)])).dis_score.tolist() == [0, 0]


def test_an_msu_scores_the_product_of_the_keys_left() -> None:
    assert [msu_score(k, keys=5, max_size=5) for k in range(1, 6)] == [24, 6, 2, 1, 1]
    assert [msu_score(k, keys=6, max_size=3) for k in range(1, 4)] == [60, 12, 3]


@given(tables(keys=4, most=30), st.integers(1, 4))
def test_against_all_subsets(rows: Rows, most: int) -> None:
    most = min(most, len(rows[0]) - 1)
    check(suda(microdata(rows), max_size=most), rows, most)


@settings(max_examples=30)
@given(tables(keys=4, most=30))
def test_the_hash_table_finds_what_the_plain_one_finds(rows: Rows) -> None:
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(special_uniques, "_TABLE_SHARE", 0)
        patch.setattr(special_uniques, "_SHORT_TABLE", 0)
        check(suda(microdata(rows)), rows, len(rows[0]) - 1)


def test_many_rows_meet_in_the_hash_table() -> None:
    rng = np.random.default_rng(5)
    key_codes = np.asfortranarray(rng.integers(0, 60, (4000, 3)).astype(np.int32))
    single = rng.random(4000) < 0.9
    rows = np.flatnonzero(rng.random(4000) < 0.8)
    columns = np.array([0, 2])
    codes = key_codes[rows, 0] * 60 + key_codes[rows, 2]
    expected = rows[(np.bincount(codes)[codes] == 1) & single[rows]]
    assert 0 < expected.size < rows.size
    assert np.array_equal(special_uniques_kernels.lone_by_hash(key_codes, columns, rows, single), expected)
    by_table = special_uniques_kernels.lone_by_table(key_codes, columns, np.array([60, 60]), rows, single)
    assert np.array_equal(by_table, expected)


@given(tables(keys=3, most=25), st.randoms(use_true_random=False))
def test_order_and_names_change_nothing(rows: Rows, random: Any) -> None:
    order = random.sample(range(len(rows)), len(rows))
    renamed = [(*(77 if k is None else 9 - k for k in rows[at][:-1]), 0) for at in order]
    straight, other = suda(microdata(rows)), suda(microdata(renamed))
    assert other.score.tolist() == straight.score[order].tolist()
    assert other.dis_score == pytest.approx(straight.dis_score[order])
    assert other.contributions.ravel() == pytest.approx(straight.contributions[order].ravel())


def test_known_keys_only() -> None:
    rows = [(0, 0, 1), (0, 1, 1), (1, 1, 1)]
    found = suda(microdata(rows), known=["b"])
    assert found.score.tolist() == [1, 0, 0]
    assert found.by_key == {"b": 1}
    nothing = suda(microdata(rows), known=[])
    assert nothing.score.tolist() == [0, 0, 0]
    assert nothing.by_key == {}


def test_thirteen_keys_need_a_size() -> None:
    columns = {f"k{i}": [0, 1, i % 2] for i in range(13)}
    people = Microdata(pa.table(columns | {"v": [1, 2, 3]}), confidential="v", keys=list(columns))
    with pytest.raises(InputError, match="max_size"):
        suda(people)
    # The third record agrees with the second on the 6 odd keys and with the first on the 7 even ones, so that the
    # first is alone on each odd key, the second on each even one, and the third on one of each.
    assert suda(people, max_size=1).msu_count.tolist() == [6, 7, 0]
    assert suda(people, max_size=2).msu_count.tolist() == [6, 7, 6 * 7]


@pytest.mark.parametrize("make", [pd.DataFrame, pl.DataFrame, pa.table])
def test_the_frame_is_of_the_peoples_kind(make: Any) -> None:
    frame = make({"age": [30, 30, 41, 41], "sex": ["F", "M", "M", "M"], "pay": [1, 2, 3, 4]})
    found = suda(Microdata(frame, confidential="pay", keys=["age", "sex"])).frame()
    assert isinstance(found, pa.Table if make is pa.table else make)
    plain = found.to_pydict() if make is pa.table else {name: list(found[name]) for name in found.columns}
    assert plain == {
        "suda": [1, 1, 0, 0],
        "dis_suda": pytest.approx([0.01, 0.01, 0, 0]),  # 1 / (1 + 99 · 2 / 2)
        "msu_count": [1, 1, 0, 0],
        "smallest_msu": [1, 2, 0, 0],
        "age_contribution": [0, 1, 0, 0],
        "sex_contribution": [1, 1, 0, 0],
    }


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"max_size": 0}, r"max_size is 0; it must be a whole number of keys, at least 1\."),
        ({"max_size": 1.5}, r"max_size is 1\.5; it must be"),
        ({"fraction": 0}, r"fraction is 0; it must be above 0 and at most 1\."),
        ({"fraction": 1.1}, r"fraction is 1\.1; it must be"),
        ({"known": ["x"]}, r"'x' is not a key"),
    ],
)
def test_bad_arguments(arguments: dict[str, Any], message: str) -> None:
    with pytest.raises(InputError, match=message):
        suda(microdata([(0, 1)]), **arguments)
