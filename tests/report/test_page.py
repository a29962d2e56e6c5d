"""The page is complete, runs no foreign script, and agrees with the facts."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import pytest

import equivoc as eq
from equivoc.render.page import render, write_report
from tests.report.conftest import FORMULA, HOSTILE
from tests.report.markup import Markup

OWN = {"data-chart": 4, "id": 1, "run": 2}
"""Scripts of ours: four charts, the facts, and the two that run."""


@pytest.fixture(scope="module")
def page(result: eq.Assessment) -> str:
    return render(result.facts(unit="K"))


@pytest.fixture(scope="module")
def hostile_page(hostile: eq.Assessment) -> str:
    return render(hostile.facts(record_values=True))


def scripts(page: str) -> dict[str, int]:
    kinds = [next(iter(attributes.keys() - {"type"}), "run") for attributes, _ in Markup(page).scripts]
    return {kind: kinds.count(kind) for kind in kinds}


def test_hostile_names_and_values_stay_text(hostile_page: str) -> None:
    seen = Markup(hostile_page)
    assert scripts(hostile_page) == OWN
    assert seen.handlers == []
    assert not {"b", "iframe", "object", "embed", "form", "svg", "a"} & {tag for tag, _ in seen.elements}
    images = [attributes for tag, attributes in seen.elements if tag == "img"]
    assert [str(image["src"])[:14] for image in images] == ["data:image/svg"] * 4
    assert HOSTILE in seen.text
    assert FORMULA in seen.text
    assert "<b>pay</b>" in seen.text
    assert "alert(1)</script>" not in hostile_page


def test_a_page_of_ordinary_data_has_the_same_elements(page: str) -> None:
    assert scripts(page) == OWN


def test_json_in_the_page_is_the_facts(
    page: str, hostile_page: str, hostile: eq.Assessment, result: Any
) -> None:
    for text, facts in ((page, result.facts(unit="K")), (hostile_page, hostile.facts(record_values=True))):
        found = [data for attributes, data in Markup(text).scripts if attributes.get("id") == "facts"]
        assert [json.loads(data) for data in found] == [facts]


def test_charts_are_described_with_units_and_the_safe_direction(page: str) -> None:
    charts = {a["data-chart"]: data for a, data in Markup(page).scripts if "data-chart" in a}
    assert set(charts) == {"curve", "knowledge", "people", "contributions"}
    for described in charts.values():
        assert re.search(r"(higher|lower) is safer|(left|right|more) is riskier", described)
    assert "tolerance ε (K)" in json.loads(charts["curve"])["layer"][0]["encoding"]["x"]["title"]


def test_nothing_is_fetched_and_the_policy_says_so(page: str, hostile_page: str) -> None:
    for text in (page, hostile_page):
        seen = Markup(text)
        assert [address for address in seen.addresses() if not address.startswith("data:")] == []
        policy = [a["content"] for tag, a in seen.elements if tag == "meta" and "http-equiv" in a]
        assert len(policy) == 1
        assert str(policy[0]).startswith("default-src 'none'; img-src data:;")
        assert "unsafe-eval" not in str(policy[0])
        assert "url(" not in "".join(re.findall(r"<style>.*?</style>", text, flags=re.DOTALL))
        outside = re.findall(r"https?://[^\s\"'<>\\)]+", seen.text)
        assert outside == []


def test_the_page_says_the_sentence_and_has_every_part(page: str, result: eq.Assessment) -> None:
    seen = Markup(page)
    facts = result.facts(unit="K")
    words = " ".join(seen.text.split())
    assert facts["sentences"]["shown"] in words
    assert facts["verdict"]["headline"] in words
    assert all(
        each["meaning"] in words
        for each in (*facts["methods"], *facts["measures"], *facts["utility"]["rows"])
    )
    parts = {a.get("id") for tag, a in seen.elements if tag == "section"}
    assert parts >= {
        "data",
        "figures",
        "intruders",
        "curve",
        "knowledge",
        "people",
        "riskiest",
        "contributions",
        "utility",
        "measures",
        "methods",
    }
    headings = [tag for tag, _ in seen.elements if tag in ("h1", "h2", "h3")]
    assert headings[0] == "h1"
    assert headings.count("h1") == 1
    assert all(a.get("scope") for tag, a in seen.elements if tag == "th")
    assert "seed 3" in words


def test_same_result_same_bytes_and_no_date_unless_given(result: eq.Assessment, tmp_path: Path) -> None:
    one = result.report(tmp_path / "one.html").read_bytes()
    again = eq.assess(
        result.people,
        eq.Sampling(fraction=0.5),
        known=["age", "sex"],
        seed=3,
        eps=[0, 10],
        intruder="informed",
    )
    assert "contributions" in again.summary  # computed before the report, so without its subsets of keys
    assert again.report(tmp_path / "two.html").read_bytes() == one
    dated = result.report(tmp_path / "three.html", date="1 May 2031").read_text(encoding="utf-8")
    assert "1 May 2031" in Markup(dated).text
    assert len(one) < 2_000_000


def test_written_whole_or_not_at_all(result: eq.Assessment, tmp_path: Path, monkeypatch: Any) -> None:
    path = tmp_path / "report.html"
    path.write_text("before")

    def full(*_: object) -> int:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(Path, "write_bytes", full)
    with pytest.raises(eq.InputError, match=r"report\.html cannot be written: No space left"):
        write_report(result, path)
    assert path.read_text() == "before"
    assert [each.name for each in tmp_path.iterdir()] == ["report.html"]


@pytest.mark.parametrize("where", ["nowhere/report.html", "."])
def test_a_path_that_cannot_be_written(where: str, result: eq.Assessment, tmp_path: Path) -> None:
    with pytest.raises(eq.InputError, match="cannot be written"):
        result.report(tmp_path / where)
    assert list(tmp_path.iterdir()) == []


def test_no_keys_at_all(tmp_path: Path, frame: Any) -> None:
    people = eq.Microdata(frame, confidential="pay")
    page = eq.assess(people, eq.Unprotected()).report(tmp_path / "r.html").read_text(encoding="utf-8")
    assert "everyone" in Markup(page).text


def test_a_report_never_replaces_the_file_it_is_about(frame: Any, tmp_path: Path) -> None:
    path, link = tmp_path / "people.csv", tmp_path / "link.html"
    frame.to_csv(path, index=False)
    link.symlink_to(path)
    before = path.read_bytes()
    result = eq.assess(eq.read(path, confidential="pay", keys=["age"]), eq.Unprotected())
    for output in (path, link):
        with pytest.raises(eq.InputError, match="it is also an input"):
            result.report(output)
    assert path.read_bytes() == before
