"""Kinds of confidential attribute: their figures, and the errors for values that do not fit."""

from __future__ import annotations

from math import log2
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

import equivoc as eq
from equivoc.attributes.kinds import Bare, kinds_of

HEADER = "disease;chapter;all\n"
TREE = HEADER + "flu;lungs;*\nasthma;lungs;*\nulcer;stomach;*\n"


@pytest.fixture
def people(tmp_path: Path) -> Path:
    path = tmp_path / "people.csv"
    path.write_text(
        "sex,disease,severity,pay\nF,flu,mild,10\nF,asthma,severe,20\nM,ulcer,mild,20\nM,flu,severe,40\n"
    )
    return path


def refused(*arguments: object, **options: object) -> str:
    with pytest.raises(eq.InputError) as told:
        eq.read(*arguments, **options)  # type: ignore[arg-type]
    return str(told.value)


@pytest.mark.parametrize("k", [2, 5, 16])
def test_equally_likely_categories_have_h0_and_area_log2_of_their_number(k: int) -> None:
    frame = pd.DataFrame({"code": [f"c{i:02}" for i in range(k)]})
    result = eq.assess(eq.Microdata(frame, confidential="code"), eq.Unprotected())
    assert result.classes["h0"].tolist() == pytest.approx([log2(k)])
    assert result.classes["area"].tolist() == pytest.approx([log2(k)])


def test_numbers_read_as_ordered_or_as_codes_keep_their_h0() -> None:
    rng = np.random.default_rng(1)
    frame = pd.DataFrame({"age": rng.integers(0, 3, 60), "pay": rng.choice([1, 5, 50, 400], 60)})
    as_numbers = eq.assess(eq.Microdata(frame, confidential="pay", keys=["age"]), eq.Sampling(0.5))
    for kind in (eq.Ordered("pay", [1, 5, 50, 400]), eq.Categories("pay")):
        found = eq.assess(eq.Microdata(frame, confidential=kind, keys=["age"]), eq.Sampling(0.5))
        assert found.classes["h0"].tolist() == pytest.approx(as_numbers.classes["h0"].tolist())
    ranks = eq.assess(
        eq.Microdata(frame, confidential=eq.Ordered("pay", [1, 5, 50, 400]), keys=["age"]), eq.Sampling(0.5)
    )
    assert ranks.classes["area"].max() < 4 < as_numbers.classes["area"].min()


def test_names_of_categories_and_the_order_of_rows_change_nothing() -> None:
    rng = np.random.default_rng(3)
    frame = pd.DataFrame({"age": rng.integers(0, 4, 80), "disease": rng.choice(list("abcde"), 80)})
    tree = {"a": "x", "b": "x", "c": "y", "d": "y", "e": "y"}
    new = {"a": "zebra", "b": "10", "c": "m m", "d": "a", "e": "Ä"}
    renamed = frame.assign(disease=frame["disease"].map(new))
    renamed_tree = {new[leaf]: parent for leaf, parent in tree.items()}
    shuffled = frame.sample(frac=1, random_state=5)

    def figures(table: pd.DataFrame, hierarchy: dict[str, str]) -> dict[str, object]:
        kind = eq.Tree("disease", hierarchy)
        found = eq.assess(eq.Microdata(table, confidential=kind, keys=["age"]), eq.Unprotected()).summary
        told = {name: found[name] for name in ("per_class", "per_record", "prior")}
        return told | {"truth": {name: x for name, x in found["truth"].items() if name != "intruders"}}

    def flat(told: object) -> list[float]:
        return [x for each in told.values() for x in flat(each)] if isinstance(told, dict) else [float(told)]  # type: ignore[arg-type]

    original = flat(figures(frame, tree))
    assert flat(figures(renamed, renamed_tree)) == pytest.approx(original)
    assert flat(figures(shuffled, tree)) == pytest.approx(original)


def test_a_tree_by_hand() -> None:
    """Four people: flu, flu, asthma (lungs), ulcer (stomach): H is 1.5 bits, then 0.811 of the chapters, then 0."""
    frame = pd.DataFrame({"disease": ["flu", "flu", "asthma", "ulcer"]})
    kind = eq.Tree("disease", {"flu": "lungs", "asthma": "lungs", "ulcer": "stomach"})
    result = eq.assess(eq.Microdata(frame, confidential=kind), eq.Unprotected(), eps=[0, 1])
    chapters = 0.75 * log2(4 / 3) + 0.25 * 2
    assert result.classes["h0"][0] == pytest.approx(1.5)
    assert result.classes["area"][0] == pytest.approx(1.5 + chapters)
    assert result.summary["per_record"]["true_hit"] == pytest.approx({0.0: 0.5, 1.0: 0.75})


@pytest.mark.parametrize(
    ("tree", "said"),
    [
        (
            HEADER + "flu;lungs;*\nasthma;lungs;*\n",
            "on line 4 of people.csv, the confidential column 'disease' holds 'ulcer'",
        ),
        (TREE + "flu;stomach;*\n", "two rows for 'flu' (line 2 and line 5)"),
        (
            HEADER + "flu;lungs;a\nasthma;lungs;b\nulcer;stomach;a\n",
            "'lungs' belongs to 'a' (line 2) and to 'b' (line 3)",
        ),
        (HEADER + "flu;lungs;*\nasthma;*\nulcer;stomach;*\n", "2 cells in the row of 'asthma' (line 3)"),
        (
            HEADER + "flu;lungs;*\nasthma;;*\nulcer;stomach;*\n",
            "an empty group in the row of 'asthma' (line 3)",
        ),
        ("", "is empty"),
    ],
)
def test_a_hierarchy_that_does_not_fit_is_refused_with_the_value_and_its_line(
    people: Path, tree: str, said: str
) -> None:
    file = people.with_name("tree.csv")
    file.write_text(tree)
    with pytest.raises(eq.InputError) as told:
        eq.read(people, confidential=eq.Tree("disease", file))
    assert said in str(told.value)
    assert "\n" not in str(told.value)


def test_a_hierarchy_without_a_file_is_refused(people: Path) -> None:
    with pytest.raises(eq.InputError, match=r"the hierarchy of 'disease' cannot be used: .*nowhere\.csv"):
        eq.Tree("disease", people.with_name("nowhere.csv"))


def test_values_that_are_not_of_the_kind_are_refused_with_their_line(people: Path) -> None:
    told = refused(people, confidential=eq.Number("disease"))
    assert told.startswith(
        "on line 2 of people.csv, the confidential column 'disease' holds 'flu', which is not a number"
    )
    told = refused(people, confidential=eq.Ordered("severity", ["mild", "moderate"]))
    assert told.startswith(
        "on line 3 of people.csv, the confidential column 'severity' holds 'severe', which is not one"
    )
    people.write_text("pay\n10\nmuch\n20\n")
    told = refused(people, confidential="pay")
    assert told.startswith(
        "on line 3 of people.csv, the confidential column 'pay' holds 'much', which is not a number, while"
    )
    assert "--categories" in told


def test_one_attribute_has_one_name(people: Path) -> None:
    assert "'pay' is named twice" in refused(people, confidential=["pay", eq.Categories("pay")])


def test_kinds_follow_from_names_and_options() -> None:
    made = kinds_of(
        ["disease", "severity", "code", "pay"],
        hierarchy={"disease": {"flu": "lungs"}},
        ordered={"severity": ["mild", "severe"]},
        categories=["code"],
        round_to=10,
    )
    assert [type(kind) for kind in made] == [eq.Tree, eq.Ordered, eq.Categories, Bare]
    assert made[-1] == Bare("pay", round_to=10)


@pytest.mark.parametrize(
    ("names", "said", "sentence"),
    [
        (
            ["disease"],
            {"hierarchy": {"diseases": {}}},
            "hierarchy is given for 'diseases', .* did you mean 'disease'",
        ),
        (
            ["severity"],
            {"ordered": {"severty": ["a"]}},
            "ordered is given for 'severty', .* did you mean 'severity'",
        ),
        (["code"], {"categories": ["cod"]}, "categories is given for 'cod', .* did you mean 'code'"),
        (["a"], {"ordered": {"a": ["x"]}, "categories": ["a"]}, "'a', whose kind was given before"),
        (
            ["a", "b"],
            {"round_to": 10},
            "round_to needs exactly one numeric column, but a and b may be numeric",
        ),
        (
            ["a"],
            {"categories": ["a"], "domain": [1]},
            "domain needs exactly one numeric column, but none of a is numeric",
        ),
    ],
)
def test_kinds_of_unknown_columns_are_rejected(
    names: list[str], said: dict[str, object], sentence: str
) -> None:
    with pytest.raises(eq.InputError, match=sentence):
        kinds_of(names, **said)  # type: ignore[arg-type]
