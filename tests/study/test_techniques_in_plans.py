"""Techniques that change values, in plans and worker processes: the same bytes for any number of workers."""

from __future__ import annotations

from pathlib import Path

import pandas as pd
import pytest

import equivoc as eq
from equivoc.experiments.study import study_of
from equivoc.requests.plan import read_plan

PLAN = """
[data]
path = "people.csv"
confidential = "pay"
keys = ["age", "sex"]

[[technique]]
name = "rounding"
base = [20, 30]
method = "random"

[[technique]]
name = "top-bottom-coding"
high = 30

[[technique]]
name = "pram"
matrix = "0.9 0.1;0.2 0.8"
on = "sex"

[[technique]]
name = "pram"
keep = [0.5, 0.9]

[[technique]]
name = "geometric-noise"
epsilon = [1, 10]

[[technique]]
name = "noisy-table"
epsilon = 1

[study]
replicates = 2
seed = 5
"""


@pytest.fixture
def plan(tmp_path: Path) -> Path:
    frame = pd.DataFrame(
        {"age": [30, 41, 52] * 8, "sex": list("FFFM") * 6, "pay": [10, 20, 30, 50, 20, 40, 40, 10] * 3}
    )
    frame.to_csv(tmp_path / "people.csv", index=False)
    (tmp_path / "plan.toml").write_text(PLAN, encoding="utf-8")
    return tmp_path / "plan.toml"


def test_any_number_of_workers_gives_the_same(plan):
    study = study_of(read_plan(plan))
    assert [t.notation for t in study.techniques] == [
        "rounding:base=20,method=random",
        "rounding:base=30,method=random",
        "top-bottom-coding:high=30",
        "pram:matrix=0.9 0.1;0.2 0.8,on=sex",
        "pram:keep=0.5",
        "pram:keep=0.9",
        "geometric-noise:epsilon=1",
        "geometric-noise:epsilon=10",
        "noisy-table:epsilon=1",
    ]
    one, two = (study.run(workers=workers).results for workers in (1, 2))
    pd.testing.assert_frame_equal(one, two)
    h0 = one[one.known_size == 2].groupby("parameters").h0.mean()
    assert h0["keep=0.5"] > h0["keep=0.9"]
    fixed = one[one.technique == "top-bottom-coding"].groupby("known_size").h0.nunique()
    assert (fixed == 1).all()


@pytest.mark.parametrize(
    ("wrong", "line", "message"),
    [
        ("0.9 0.1;0.2 0.9", 18, "row 2 of the matrix sums to 1.1"),
        ("no_such.csv", 18, "the matrix cannot be used: there is no file"),
    ],
)
def test_a_wrong_matrix_is_found_on_its_line(plan, wrong, line, message):
    plan.write_text(PLAN.replace("0.9 0.1;0.2 0.8", wrong), encoding="utf-8")
    with pytest.raises(eq.InputError) as raised:
        read_plan(plan)
    assert f"line {line}: pram: " in str(raised.value)
    assert message in str(raised.value)


HIERARCHY = "30;[30,45)\n41;[30,45)\n52;[45,60)\n"


@pytest.mark.parametrize(
    "technique",
    [
        'name = "generalisation"\nk = 4\nhierarchies = "age:age.csv"',
        'name = "generalisation"\nk = 4\nhierarchies = { age = "age.csv" }',
        'name = "generalisation"\nk = 4\nhierarchies = "steps"',
        'name = "pram"\nmatrix = "sex.matrix"\non = "sex"',
        'name = "pram"\nmatrix = { sex = "sex.matrix" }',
        'name = "released-file"\ntable = "people.csv"',
    ],
)
def test_files_are_beside_the_plan(plan, technique, monkeypatch, tmp_path_factory):
    """Not in the working folder, which has files of the same names that cannot be read."""
    (plan.parent / "steps").mkdir()
    for name in ("age.csv", "steps/age.csv"):
        (plan.parent / name).write_text(HIERARCHY, encoding="utf-8")
    (plan.parent / "sex.matrix").write_text("0.9,0.1\n0.2,0.8\n", encoding="utf-8")
    elsewhere = tmp_path_factory.mktemp("elsewhere")
    for name in ("age.csv", "sex.matrix", "people.csv", "steps"):
        (elsewhere / name).write_bytes(b"\xff")
    monkeypatch.chdir(elsewhere)
    head = PLAN.partition("[[technique]]")[0]
    plan.write_text(f"{head}[[technique]]\n{technique}\n[study]\nreplicates = 1\n", encoding="utf-8")
    assert study_of(read_plan(plan)).run(progress=False).complete
