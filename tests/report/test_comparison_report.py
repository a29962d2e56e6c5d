"""The page of a comparison: the choice, the map with its limit, every technique, and no way out for hostile names."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest

import equivoc as eq
from equivoc.charts.drawing import LETTER, LINE, label_places
from equivoc.charts.risk_utility import MapPoint, risk_utility_chart
from tests.browser import Visit, in_a_browser
from tests.report.conftest import HOSTILE
from tests.report.markup import Markup

TECHNIQUES = [eq.Unprotected(), eq.Sampling(fraction=0.3), eq.Rounding(base=50), eq.QueryRestriction(size=4)]


def small(columns: dict[str, str]) -> pd.DataFrame:
    rng = np.random.default_rng(2)
    age = rng.integers(0, 5, 120)
    found = pd.DataFrame(
        {
            "age": 20 + 10 * age,
            "sex": rng.choice(["F", "M"], 120),
            "pay": 10 * (1 + np.clip(rng.binomial(8, 0.4, 120) + age // 2, 0, 9)),
        }
    )
    return found.rename(columns=columns)


@pytest.fixture(scope="module")
def people() -> eq.Microdata:
    return eq.Microdata(small({}), confidential="pay", keys=["age", "sex"])


@pytest.fixture(scope="module")
def done(people: eq.Microdata) -> eq.Comparison:
    return eq.compare(people, TECHNIQUES, require=["true_hit(20) <= 0.8", "h0 >= 0.5"], replicates=2)


@pytest.fixture(scope="module")
def page(done: eq.Comparison, tmp_path_factory: pytest.TempPathFactory) -> str:
    return done.report(tmp_path_factory.mktemp("page") / "choice.html", unit="K").read_text(encoding="utf-8")


@pytest.fixture(scope="module")
def hostile(tmp_path_factory: pytest.TempPathFactory) -> tuple[eq.Comparison, str]:
    people = eq.Microdata(
        small({"pay": HOSTILE, "age": "a\\b\x1b"}), confidential=HOSTILE, keys=["a\\b\x1b", "sex"]
    )
    techniques = [
        eq.Swapping(rate=0.2, on=(HOSTILE,)),
        eq.Swapping(rate=0.2, on=("a\\b\x1b",)),
        eq.Unprotected(),
    ]
    found = eq.compare(people, techniques, require=["gain <= 0.5"])
    path = found.report(tmp_path_factory.mktemp("hostile") / "choice.html")
    return found, path.read_text(encoding="utf-8")


def facts_in(page: str) -> dict[str, Any]:
    return json.loads(next(text for attrs, text in Markup(page).scripts if attrs.get("id") == "facts"))


def test_the_facts_are_those_of_the_frame(done: eq.Comparison, page: str) -> None:
    facts = done.facts(unit="K")
    assert facts == facts_in(page)
    assert json.loads(json.dumps(facts, allow_nan=False)) == facts
    assert facts["kind"] == "comparison"
    assert facts["choice"] == (None if done.choice is None else done.choice.notation)
    for row, told in zip(done.frame.to_dict("records"), facts["techniques"], strict=True):
        assert (told["technique"], told["parameters"]) == (row["technique"], row["parameters"])
        assert (told["meets"], told["front"], told["chosen"]) == (row["meets"], row["front"], row["choice"])
        assert told["risk"]["mean"] == row["risk"]
        assert told["risks"]["h0"] == {"mean": row["h0"], "low": row["h0_low"], "high": row["h0_high"]}
        assert told["losses"]["pmse"]["mean"] == (None if np.isnan(row["pmse"]) else row["pmse"])
    assert [o["value"] for t in facts["techniques"] for o in t["outcomes"]] == done.why["value"].tolist()


def test_the_page_says_what_to_take_and_why(done: eq.Comparison, page: str) -> None:
    text = " ".join(Markup(page).text.split())
    assert done.headline in text
    for technique in TECHNIQUES:
        assert technique.notation in text
    for reason in done.reasons.values():
        assert " ".join(reason.split()) in text
    for outcome in done.why["requirement"].unique():
        assert outcome in text
    for heading in (
        "Risk and loss",
        "Why not the others",
        "Requirements",
        "All figures of risk",
        "How it was compared",
    ):
        assert heading in text
    assert "seeds 0 to 1" in text
    assert "less is safer" in text
    headings = [tag for tag, _ in Markup(page).elements if tag in ("h1", "h2", "h3")]
    assert headings[0] == "h1"
    assert headings.count("h1") == 1
    tables = [tag for tag, _ in Markup(page).elements if tag in ("table", "caption")]
    assert tables == ["table", "caption"] * (len(tables) // 2)
    scopes = [attrs.get("scope") for tag, attrs in Markup(page).elements if tag == "th"]
    assert set(scopes) == {"col", "row"}


def test_none_that_meets_the_requirements(people: eq.Microdata, tmp_path: Path) -> None:
    done = eq.compare(people, TECHNIQUES[:2], require=["h0 >= 8"])
    page = done.report(tmp_path / "none.html").read_text(encoding="utf-8")
    text = " ".join(Markup(page).text.split())
    assert done.headline in text
    assert "Why none" in text
    assert 'class="verdict alarm"' in page


def test_nothing_is_fetched(page: str, hostile: tuple[eq.Comparison, str]) -> None:
    for each in (page, hostile[1]):
        found = Markup(each)
        assert found.handlers == []
        assert all(address.startswith("data:") for address in found.addresses())


def test_hostile_names_stay_text(page: str, hostile: tuple[eq.Comparison, str]) -> None:
    done, text = hostile
    found = Markup(text)
    usual = {tag for tag, _ in Markup(page).elements}
    assert {tag for tag, _ in found.elements} <= usual
    assert HOSTILE in found.text
    assert facts_in(text)["data"]["confidential"] == HOSTILE
    assert "<script>alert" not in text.replace("\\u003c", "")
    assert "<script>alert" not in done._repr_html_()


def test_the_same_comparison_gives_the_same_bytes(done: eq.Comparison, page: str, tmp_path: Path) -> None:
    assert done.report(tmp_path / "again.html", unit="K").read_text(encoding="utf-8") == page
    dated = done.report(tmp_path / "dated.html", title="My <title>", date="1 May 2026").read_text(
        encoding="utf-8"
    )
    assert "My &lt;title&gt;" in dated
    assert "1 May 2026" in Markup(dated).text
    with pytest.raises(eq.InputError, match="only an assessment has a section on the privacy budget"):
        done.report(tmp_path / "x.html", budget=True)


def values(spec: dict[str, Any]) -> list[dict[str, Any]]:
    """All rows of all data of a chart."""
    found = [row for rows in spec.get("datasets", {}).values() for row in rows]
    waiting = [spec]
    while waiting:
        part = waiting.pop()
        found += part.get("data", {}).get("values", [])
        waiting += part.get("layer", []) + part.get("hconcat", [])
    return found


def test_the_map_has_every_point_and_the_limit(done: eq.Comparison) -> None:
    rows = values(done.plot().to_dict())
    points = {row["name"]: row for row in rows if "name" in row}
    assert set(points) == {t.notation for t in TECHNIQUES}
    for number, (technique, (_, row)) in enumerate(zip(TECHNIQUES, done.frame.iterrows(), strict=True), 1):
        point = points[technique.notation]
        assert (point["number"], point["risk"], point["loss"]) == (str(number), row["risk"], row["loss"])
        assert point["front"] == ("yes" if row["front"] else "no")
        state = "the choice" if row["choice"] else "meets every requirement" if row["meets"] else "does not"
        assert point["state"] == state
    (limit,) = [row for row in rows if str(row.get("text", "")).startswith("limit:")]
    assert limit["risk"] == 0.8
    assert limit["text"] == "limit: true_hit(20) <= 0.8"
    bars = [row for row in rows if "risk_low" in row]
    random = done.frame[done.frame["risk_low"] < done.frame["risk_high"]]
    assert {(bar["risk_low"], bar["risk_high"]) for bar in bars} >= set(
        zip(random["risk_low"], random["risk_high"], strict=True)
    )
    told = json.dumps(done.plot().to_dict(), ensure_ascii=False)
    assert "lower is safer" in told
    assert "further left is more useful" in told


def test_without_requirements_there_is_no_limit(people: eq.Microdata) -> None:
    plain = eq.compare(people, TECHNIQUES[:3])
    rows = values(plain.plot().to_dict())
    assert not [row for row in rows if str(row.get("text", "")).startswith("limit:")]
    assert {row["state"] for row in rows if "state" in row} == {"the choice", "another technique"}
    higher = eq.compare(people, TECHNIQUES[:3], require=["h0 >= 1"]).plot()
    assert "higher is safer" in json.dumps(higher.to_dict(), ensure_ascii=False)


def test_a_map_of_nothing_that_can_be_drawn(tmp_path: Path) -> None:
    nowhere = (float("nan"),) * 3
    point = MapPoint(1, "x", nowhere, nowhere, meets=False, front=False, chosen=False)
    chart = risk_utility_chart(
        [point],
        risk="k",
        risk_unit="records",
        riskier="less",
        limit=3.0,
        limit_text="k >= 3",
        loss="pmse",
        loss_words="words",
    )
    chart.save(str(tmp_path / "map.png"))
    assert "x (not drawn)" in json.dumps(chart.to_dict())


def test_labels_do_not_cover_each_other() -> None:
    rng = np.random.default_rng(0)
    for spread in (300.0, 60.0):
        points = [(float(x), float(y)) for x, y in 50 + rng.random((12, 2)) * spread]
        lengths = [len(str(number)) for number in range(1, 13)]
        places = label_places(points, lengths, width=460, height=340)
        for i in range(12):
            for j in range(i):
                across = abs(places[i][0] - places[j][0]) >= (lengths[i] + lengths[j]) * LETTER / 2
                assert across or abs(places[i][1] - places[j][1]) >= LINE


@in_a_browser
@pytest.mark.parametrize("which", ["usual", "hostile"])
def test_in_a_browser(
    which: str, browser: Any, page: str, hostile: tuple[eq.Comparison, str], tmp_path: Path
) -> None:
    path = tmp_path / "page.html"
    path.write_text(page if which == "usual" else hostile[1], encoding="utf-8")
    visit = Visit(browser, path.as_uri()).drawn()
    assert visit.page.locator("#chart-map svg.marks").count() == 1
    assert visit.page.locator("#chart-map svg .mark-symbol path").count() >= 3
    visit.close()
    assert visit.said == []
    assert visit.asked == [path.as_uri()]
