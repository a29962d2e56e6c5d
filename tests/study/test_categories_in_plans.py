"""Studies of categories: plans that describe them, figures by hand, and stores that know a hierarchy."""

from __future__ import annotations

from math import log2
from pathlib import Path

import pandas as pd
import pytest

import equivoc as eq
from equivoc.data.fingerprint import data_fingerprint
from equivoc.experiments.study import study_of
from equivoc.requests.plan import read_plan

PEOPLE = "sex,disease,code\nF,flu,1\nF,asthma,2\nF,ulcer,2\nF,flu,1\nM,ulcer,1\nM,ulcer,2\n"
TREE = "disease;chapter;all\nflu;lungs;*\nasthma;lungs;*\nulcer;stomach;*\n"
PLAN = '[data]\npath = "people.csv"\nconfidential = "{name}"\nkeys = ["sex"]\n{kind}\n'
PLAN += '[[technique]]\nname = "unprotected"\n'


def plan(folder: Path, name: str, kind: str) -> Path:
    (folder / "people.csv").write_text(PEOPLE)
    (folder / "disease.csv").write_text(TREE)
    path = folder / "plan.toml"
    path.write_text(PLAN.format(name=name, kind=kind))
    return path


def test_a_study_on_a_tree_by_hand(tmp_path: Path) -> None:
    """Women: flu 2, asthma 1, ulcer 1: 1.5 bits, and 0.811 of lungs 3, stomach 1. Men: ulcers only."""
    read = read_plan(plan(tmp_path, "disease", 'hierarchy = { disease = "disease.csv" }\n'))
    assert read.hierarchies() == {"disease": tmp_path / "disease.csv"}
    done = study_of(read).run()
    row = done.summary().set_index("known_size").loc[1]
    women = 1.5 + 0.75 * log2(4 / 3) + 0.5
    assert row["h0"] == pytest.approx(1.5 / 2)
    assert row["area"] == pytest.approx(women / 2)
    assert row["area_record"] == pytest.approx(women * 4 / 6)
    assert done.area_unit == "levels"
    assert "bits × levels" in str(done.plot().to_dict())


@pytest.mark.parametrize(
    ("name", "kind", "unit"),
    [
        ("disease", "", "levels"),
        ("disease", 'ordered = { disease = ["flu", "asthma", "ulcer"] }', "ranks"),
        ("code", 'categories = ["code"]', "levels"),
        ("code", "", "unit of code"),
    ],
)
def test_other_kinds(name: str, kind: str, unit: str, tmp_path: Path) -> None:
    assert study_of(read_plan(plan(tmp_path, name, kind))).run().area_unit == unit


@pytest.mark.parametrize(
    ("kind", "sentence"),
    [
        (
            'hierarchy = { diseas = "disease.csv" }',
            "line 5: hierarchy is given for 'diseas', .* did you mean 'disease'",
        ),
        ('hierarchy = { disease = "no.csv" }', "line 5: the hierarchy of 'disease' cannot be used"),
        ("hierarchy = { disease = 3 }", "line 5: the hierarchy of 'disease' is 3"),
        (
            'hierarchy = "disease.csv"',
            "line 5: hierarchy is 'disease.csv'; it must be a table of attributes and files",
        ),
        (
            'ordered = { disease = ["flu", "asthma"] }',
            "line 5: on line 4 of people.csv, .*'ulcer', which is not one of its",
        ),
        ('ordered = { disease = "flu" }', "line 5: the levels of 'disease' must be a list"),
        ("categories = [3]", "line 5: categories is a list that contains 3"),
        ("round_to = 10", "line 3: on line 2 of people.csv, .*which is not a number"),
    ],
)
def test_mistakes_are_told_with_their_line(kind: str, sentence: str, tmp_path: Path) -> None:
    path = plan(tmp_path, "disease", kind)
    with pytest.raises(eq.InputError, match=sentence):
        study_of(read_plan(path))


def test_several_attributes_are_refused(tmp_path: Path) -> None:
    path = plan(tmp_path, "disease", "")
    path.write_text(path.read_text().replace('"disease"', '["disease", "code"]'))
    with pytest.raises(eq.InputError, match=r"line 3: confidential is .* it must be the name of one column"):
        read_plan(path)


def test_a_store_of_another_kind_or_hierarchy_is_not_continued(tmp_path: Path) -> None:
    frame = pd.DataFrame({"sex": list("FFM"), "disease": ["flu", "asthma", "ulcer"]})
    one, other = (
        eq.Microdata(frame, confidential=eq.Tree("disease", tree), keys=["sex"])
        for tree in (
            {"flu": "a", "asthma": "a", "ulcer": "b"},
            {"flu": "a", "asthma": "b", "ulcer": "b"},
        )
    )
    flat = eq.Microdata(frame, confidential="disease", keys=["sex"])
    assert len({data_fingerprint(people, b"salt") for people in (one, other, flat)}) == 3
    eq.Study(one, techniques=[eq.Unprotected()], replicates=1).run(tmp_path, progress=False)
    with pytest.raises(eq.InputError, match="another domain or another hierarchy"):
        eq.Study(other, techniques=[eq.Unprotected()], replicates=1).run(tmp_path, progress=False)
    with pytest.raises(eq.InputError, match="of the kind tree, not categories"):
        eq.Study(flat, techniques=[eq.Unprotected()], replicates=1).run(tmp_path, progress=False)
