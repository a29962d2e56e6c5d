"""The folder of a comparison: resumed results equal uninterrupted ones, whatever the number of workers."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pandas as pd
import pytest

import equivoc as eq
from equivoc.experiments import workers as module
from equivoc.experiments.stores import COMPARISON_FILE

TECHNIQUES = [eq.Unprotected(), eq.Sampling(fraction=0.3), eq.NoiseAddition(percent=20)]
OPTIONS: dict[str, Any] = {
    "known": ["age", "sex"],
    "replicates": 2,
    "require": ["true_hit(20) <= 0.6"],
    "seed": 4,
}


@pytest.fixture(scope="module")
def whole(people: eq.Microdata) -> eq.Comparison:
    return eq.compare(people, TECHNIQUES, **OPTIONS)


def same(one: eq.Comparison, other: eq.Comparison) -> None:
    pd.testing.assert_frame_equal(one.frame, other.frame, check_exact=True)
    pd.testing.assert_frame_equal(one.why, other.why, check_exact=True)
    assert one.reasons == other.reasons
    assert one.choice == other.choice


def computed(monkeypatch: pytest.MonkeyPatch) -> list[Any]:
    """The keys of all cells that are computed from now on."""
    compute, keys = module.compute, []

    def noting(setting: Any, asked: Any, **options: Any) -> Iterator[Any]:
        keys.extend(asked)
        return compute(setting, asked, **options)

    monkeypatch.setattr(module, "compute", noting)
    return keys


def test_one_worker_equals_two(people: eq.Microdata, whole: eq.Comparison) -> None:
    same(eq.compare(people, TECHNIQUES, workers=2, **OPTIONS), whole)


def test_resumed_equals_uninterrupted(
    people: eq.Microdata, whole: eq.Comparison, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    compute = module.compute

    def two_and_out(*given: Any, **named: Any) -> Iterator[Any]:
        for number, cell in enumerate(compute(*given, **named)):
            if number == 2:
                raise KeyboardInterrupt
            yield cell

    monkeypatch.setattr(module, "compute", two_and_out)
    with pytest.raises(
        KeyboardInterrupt, match=r"stopped with 2 of 5 cells done; they are kept in .*comparison"
    ):
        eq.compare(people, TECHNIQUES, store=tmp_path, **OPTIONS)
    with pytest.raises(KeyboardInterrupt, match="without a store, no result is kept"):
        eq.compare(people, TECHNIQUES, **OPTIONS)
    monkeypatch.undo()
    keys = computed(monkeypatch)
    same(eq.compare(people, TECHNIQUES, store=tmp_path, **OPTIONS), whole)
    assert len(keys) == 3
    assert [path.name for path in tmp_path.iterdir()] == [COMPARISON_FILE]


def test_only_what_is_new_is_computed(
    people: eq.Microdata, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    eq.compare(people, TECHNIQUES, store=tmp_path, **OPTIONS)
    keys = computed(monkeypatch)
    for changed in ({"require": ["true_hit(20) <= 0.3"]}, {"utility": "pmse"}, {"require": ["gain <= 1"]}):
        eq.compare(people, TECHNIQUES, store=tmp_path, **OPTIONS | changed)
    eq.compare(people, TECHNIQUES[:2], store=tmp_path, **OPTIONS)
    assert not keys  # other limits, figures that are there, fewer techniques
    more = {"require": ["h0@worst >= 0.5"]}
    found = eq.compare(people, TECHNIQUES, store=tmp_path, **OPTIONS | more)
    assert len(keys) == 5  # a figure that was not measured
    same(found, eq.compare(people, TECHNIQUES, **OPTIONS | more))
    keys.clear()
    eq.compare(people, [*TECHNIQUES, eq.Rounding(base=50)], store=tmp_path, **OPTIONS | more)
    assert [key.technique for key in keys] == ["rounding:base=50"]


@pytest.mark.parametrize(
    ("changed", "said"),
    [
        ({"seed": 5}, "its seed is 4, not 5"),
        ({"known": []}, r"its intruder knows \['age', 'sex'\], not no key"),
        ({"prior": "uniform"}, "its prior is marginal, not uniform"),
        ({"intruder": "paper"}, "its intruder is strongest, not paper"),
        ({"eps": [7]}, "its tolerance of hits is 5, not 7"),
    ],
)
def test_another_comparison_is_refused(
    people: eq.Microdata, tmp_path: Path, changed: dict[str, Any], said: str
) -> None:
    eq.compare(people, TECHNIQUES[:1], store=tmp_path, **OPTIONS)
    with pytest.raises(eq.InputError, match=f"belongs to another comparison: {said}"):
        eq.compare(people, TECHNIQUES[:1], store=tmp_path, **OPTIONS | changed)


def test_other_data_are_refused(people: eq.Microdata, frame: pd.DataFrame, tmp_path: Path) -> None:
    eq.compare(people, TECHNIQUES[:1], store=tmp_path, **OPTIONS)
    other = eq.Microdata(frame.iloc[::-1], confidential="salary", keys=people.keys, domain=range(10, 110, 10))
    with pytest.raises(eq.InputError, match="its data have other values, another order of rows"):
        eq.compare(other, TECHNIQUES[:1], store=tmp_path, **OPTIONS)


@pytest.mark.parametrize(
    "statement",
    [
        "UPDATE comparison SET facts = '[]'",
        "UPDATE comparison SET facts = replace(facts, '\"known\": [', '\"known\": [7, ')",
        'UPDATE comparison SET facts = replace(facts, \'"utility": "\', \'"utility": 7, "x": "\')',
        "UPDATE comparison SET salt = x'00'",
        "UPDATE results SET figures = '{}'",
        "UPDATE results SET figures = 'nothing'",
        'UPDATE results SET figures = replace(figures, \'"h0": \', \'"h0": "x", "y": \')',
        'UPDATE results SET figures = replace(figures, \'"pmse": \', \'"pmse": NaN, "y": \')',
        'UPDATE results SET figures = replace(figures, \'"intruder": \', \'"intruder": 7, "y": \')',
        "UPDATE results SET seconds = 'long'",
        "DROP TABLE results",
    ],
)
def test_a_damaged_store_is_one_sentence(people: eq.Microdata, tmp_path: Path, statement: str) -> None:
    eq.compare(people, TECHNIQUES[:1], store=tmp_path, **OPTIONS)
    connection = sqlite3.connect(tmp_path / COMPARISON_FILE)
    connection.execute(statement)
    connection.commit()
    connection.close()
    before = (tmp_path / COMPARISON_FILE).read_bytes()
    with pytest.raises(eq.InputError, match=r"damaged, or not a comparison|is not a comparison") as mistake:
        eq.compare(people, TECHNIQUES[:1], store=tmp_path, **OPTIONS)
    assert "\n" not in str(mistake.value)
    assert COMPARISON_FILE in str(mistake.value)
    if "results SET" not in statement:
        assert (tmp_path / COMPARISON_FILE).read_bytes() == before


def test_the_store_has_no_value_of_the_data(frame: pd.DataFrame, tmp_path: Path) -> None:
    secret = frame.assign(
        sex=frame["sex"].map({"F": "Xanthippe", "M": "Yggdrasil"}), salary=frame["salary"] + 7_310_000
    )
    people = eq.Microdata(secret, confidential="salary", keys=["age", "sex"])
    eq.compare(people, TECHNIQUES, store=tmp_path, known=["sex"])
    stored = (tmp_path / COMPARISON_FILE).read_bytes()
    assert b"sampling" in stored
    for value in (b"Xanthippe", b"Yggdrasil", *(str(pay).encode() for pay in secret["salary"].unique())):
        assert value not in stored
    assert (tmp_path / COMPARISON_FILE).stat().st_mode & 0o077 == 0


def test_a_mistake_leaves_no_store(people: eq.Microdata, tmp_path: Path) -> None:
    folder = tmp_path / "new"
    with pytest.raises(eq.InputError, match=r"^swapping:rate=0.1,on=shoe: "):
        eq.compare(people, [eq.Swapping(rate=0.1, on=("shoe",))], store=folder)
    assert not folder.exists()
