"""The report's section on utility: every measure with its unit and meaning, for one attribute and for several."""

from __future__ import annotations

import json
from html import unescape
from pathlib import Path

import pandas as pd
import pyarrow as pa
import pytest
from typer.testing import CliRunner

import equivoc as eq
from equivoc.cli.app import app
from equivoc.techniques.unprotected import PublishedFile


class NotReadable(PublishedFile):
    """The file with a key that is shown as a text, which is neither a number nor a range."""

    @property
    def table(self) -> pd.DataFrame:
        return pd.DataFrame({"key": ["old"] * 14, "pay": range(14)})


def section(page: str) -> str:
    return page.split('<section id="utility">')[1].split("</section>")[0]


def test_the_facts_are_those_of_eq_utility(result: eq.Assessment) -> None:
    told = result.facts()["utility"]
    expected = eq.utility(result.people, result.release, seed=3)
    assert told["seed"] == result.seed == 3
    assert len(told["rows"]) == len(expected) > 5
    for row, same in zip(told["rows"], expected.to_dict("records"), strict=True):
        assert {name: row[name] for name in same} == same
        assert row["unit"]
        assert row["label"].endswith(f" of {row['attribute']}") or not row["attribute"]
    assert told["sentence"].startswith("The answers to 200 random counts and sums (seed 3) are off by ")


def test_the_page_states_each_measure_its_unit_and_the_direction(
    result: eq.Assessment, tmp_path: Path
) -> None:
    page = result.report(tmp_path / "r.html").read_text(encoding="utf-8")
    assert "What it costs: utility" in section(page)
    assert "Less is better; every figure is 0 for the file published unchanged" in section(page)
    assert section(page).count("<tr>") == 1 + len(result.facts()["utility"]["rows"])


@pytest.mark.parametrize(
    "technique", [eq.Unprotected(), eq.NoisyTable(1.0), eq.QueryRestriction(size=4)], ids=lambda t: t.name
)
def test_every_kind_of_release_has_the_section(frame: pd.DataFrame, technique: eq.Unprotected) -> None:
    people = eq.Microdata(frame, confidential="pay", keys=["age", "sex"])
    told = eq.assess(people, technique, known=["sex"]).facts()["utility"]
    values = [row["value"] for row in told["rows"]]
    assert values
    if technique == eq.Unprotected():
        assert set(values) == {0.0}


def test_several_attributes_and_a_released_file_on_the_command_line(
    frame: pd.DataFrame, tmp_path: Path
) -> None:
    people = frame.assign(job=["cook", "judge"] * 7)
    people.to_csv(tmp_path / "people.csv", index=False)
    people.assign(age="*", pay=people.pay + 10).iloc[::-1].to_csv(tmp_path / "masked.csv", index=False)
    options = ["--confidential", "pay,job", "--keys", "age,sex", "--release", str(tmp_path / "masked.csv")]
    written = ["--out", str(tmp_path / "r.html"), "--json", str(tmp_path / "facts.json")]
    done = CliRunner().invoke(app, ["report", str(tmp_path / "people.csv"), *options, *written])
    assert done.exit_code == 0, done.output
    facts = json.loads((tmp_path / "facts.json").read_text(encoding="utf-8"))["attributes"]
    for name, other in (("pay", "job"), ("job", "pay")):
        rows = facts[name]["utility"]["rows"]
        assert name in {row["attribute"] for row in rows}
        assert other not in {row["attribute"] for row in rows}
        assert "What it costs: utility" in (tmp_path / f"r-{name}.html").read_text(encoding="utf-8")
    moved = {
        row["attribute"]: row["value"]
        for row in facts["pay"]["utility"]["rows"]
        if row["measure"] == "distribution"
    }
    assert moved["pay"] == pytest.approx(10 / frame.pay.std(ddof=0))
    assert moved["sex"] == 0


def test_a_column_that_cannot_be_compared_is_said_and_no_error(tmp_path: Path) -> None:
    table = pa.table({"key": pa.array([20] * 5 + [70] * 9), "pay": pa.array(range(14))})
    people = eq.Microdata(table, confidential="pay", keys=["key"])
    result = eq.assess(people, NotReadable(people))
    told = result.facts()["utility"]
    assert told["rows"] == []
    assert told["sentence"].startswith(
        "It cannot be measured: the column 'key' as released holds 'old', neither a"
    )
    page = result.report(tmp_path / "r.html").read_text(encoding="utf-8")
    assert told["sentence"] in unescape(section(page))
