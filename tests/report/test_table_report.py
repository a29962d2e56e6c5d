"""The page of a released table: what is published is on it, what is not is not, hostile labels stay text."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest

import equivoc as eq
from tests.browser import Visit, in_a_browser
from tests.report.conftest import FORMULA, HOSTILE
from tests.report.markup import Markup

LONG = "x" * 10_000
SALES = [5003, 107, 2011, 1801, 1603, 1409, 2203, 1907, 3001, 2609, 2411, 2801]


def table_of(
    names: tuple[str, ...] = ("n", "s", "e"), branches: tuple[str, str] = ("a", "b")
) -> eq.CellTable:
    frame = pd.DataFrame(
        {
            "region": np.repeat(names, 4),
            "branch": list(np.repeat(branches, 2)) * 3,
            "size": ["big", "small"] * 6,
            "sales": SALES,
        }
    )
    people = eq.Microdata(frame, confidential="sales", keys=["region", "branch", "size"], domain=range(5101))
    return eq.tabulate(people, by=["region", "branch"], value="sales")


@pytest.fixture(scope="module")
def table() -> eq.CellTable:
    return table_of()


@pytest.fixture(scope="module")
def suppressed(table: eq.CellTable) -> Any:
    return eq.assess(table, eq.CellSuppression(rule=eq.Dominance(n=1, k=90)).release(table))


@pytest.fixture(scope="module")
def page(suppressed: Any, tmp_path_factory: pytest.TempPathFactory) -> str:
    path = suppressed.report(tmp_path_factory.mktemp("page") / "table.html")
    return str(path.read_text(encoding="utf-8"))


def facts_in(page: str) -> dict[str, Any]:
    return dict(json.loads(next(text for attrs, text in Markup(page).scripts if attrs.get("id") == "facts")))


def numbers(fact: Any) -> set[float]:
    if isinstance(fact, dict):
        return set().union(*map(numbers, fact.values()))
    if isinstance(fact, list):
        return set().union(*map(numbers, fact))
    return {fact} if isinstance(fact, (int, float)) else set()


def test_the_facts_are_those_of_the_release(suppressed: Any, page: str) -> None:
    facts = suppressed.facts()
    assert facts == facts_in(page)
    assert json.loads(json.dumps(facts, allow_nan=False)) == facts
    assert facts["kind"] == "table"
    assert facts["counts"] == {
        **{"cells": 12, "published": 8, "withheld": 4, "unsafe": 1, "unsafe_withheld": 1},
        **{"computed": 0, "computed_by_contributors": 0, "certain": 0, "assessed": 4, "shown": 12},
    }
    low, high = suppressed.release.bounds
    for row in facts["assessed"]:
        assert (row["low"], row["high"]) == (low[row["cell"]], high[row["cell"]])
    narrowest = float(np.min((high - low)[suppressed.release.withheld]))
    assert facts["headline"].startswith("None of 4 withheld cells can be computed exactly")
    assert f"{narrowest:,.6g} wide" in facts["headline"]


def test_values_of_withheld_cells_are_not_on_the_page(
    suppressed: Any, table: eq.CellTable, page: str
) -> None:
    hidden = np.flatnonzero(suppressed.release.withheld)
    secret = {float(v) for v in table.values[hidden]} | set(map(float, SALES))
    assert not secret & numbers(suppressed.facts())
    text = Markup(page).text
    assert not [value for value in secret if f"{value:,.0f}" in text or f"{value:.0f}" in text]
    shown = suppressed.facts(record_values=True)
    assert {float(v) for v in table.values[hidden]} <= numbers(shown)


def test_an_insiders_figures_are_not_on_the_page(suppressed: Any) -> None:
    """Her interval is narrower by twice her own contribution, so an area of it would disclose that."""
    hers = suppressed.frame.set_index(["region", "branch"])
    for row in suppressed.facts()["assessed"]:
        mine = hers.loc[tuple(row["categories"])]
        if mine["people"] > 1:
            assert row["area"] > mine["area"]
    for row in suppressed.facts(record_values=True)["assessed"]:
        assert row["area"] == hers.loc[tuple(row["categories"])]["area"]


def test_costs_are_not_told(suppressed: Any) -> None:
    """The sum of the values that secondary suppression withheld is one equation more for the attacker."""
    assert suppressed.release.added not in numbers(suppressed.facts())


def test_the_table_is_a_table(suppressed: Any, page: str) -> None:
    found = Markup(page)
    withheld = [a for tag, a in found.elements if tag == "a" and a.get("class") == "withheld-cell"]
    assert len(withheld) == 4
    ids = {a["id"] for _, a in found.elements if a.get("id")}
    for link in withheld:
        assert str(link["href"])[1:] in ids
        assert "between" in str(link["title"])
        assert "between" in str(link["aria-label"])
    assert sum(a.get("class") == "flag" for _, a in found.elements) == 1
    assert found.text.count("×") >= 4
    assert "unsafe" in found.text


def test_requirements_decide_the_headline(table: eq.CellTable) -> None:
    release = eq.CellSuppression(rule=eq.Dominance(n=1, k=90)).release(table)
    met = eq.assess(table, release, require=["certain_right <= 0"]).facts()
    assert met["tone"] == "calm"
    assert met["headline"].startswith("Yes, under this requirement")
    missed = eq.assess(table, release, require=["hit(100) <= 0.00001"]).facts()
    assert missed["tone"] == "alarm"
    assert missed["headline"].startswith("No, under this requirement")


def test_a_cell_that_can_be_computed_is_said(table: eq.CellTable) -> None:
    from equivoc.tables.release import TableRelease

    values = table.values.copy()
    values[5] = np.nan  # alone in its row
    facts = eq.assess(table, TableRelease(table, values)).facts()
    assert facts["headline"].startswith("1 of 1 withheld cell can be computed exactly")
    assert facts["tone"] == "alarm"
    assert facts["assessed"][0]["computed"]


def test_an_interval_without_limits_is_not_one_value() -> None:
    people = eq.Microdata(pd.DataFrame({"region": ["n"], "pay": [7]}), confidential="pay", keys=["region"])
    made = eq.tabulate(people, by=["region"], value="pay")
    facts = eq.assess(made, eq.CellSuppression(rule=eq.Threshold(3)).release(made)).facts()
    assert facts["counts"]["computed"] == 0
    assert facts["headline"].startswith("None of 2 withheld cells can be computed exactly; none has limits.")


@pytest.mark.parametrize("keys", [1, 3])
def test_one_and_three_keys(keys: int, table: eq.CellTable, tmp_path: Path) -> None:
    by = ["region", "branch", "size"][:keys]
    made = eq.tabulate(table.source, by=by)
    result = eq.assess(made, eq.CellRounding(base=3).release(made))
    facts = result.facts()
    numbered = [cell for part in facts["tables"] for row in part["rows"] for cell in row["cells"]]
    assert numbered == list(range(len(made)))
    assert len(facts["tables"]) == (1 if keys == 1 else 4)
    for cell, fact in enumerate(facts["cells"]):
        assert fact["value"] == result.release.values[cell]
    assert result.report(tmp_path / "table.html").stat().st_size > 100_000


def test_a_large_table_is_cut(monkeypatch: pytest.MonkeyPatch, table: eq.CellTable) -> None:
    monkeypatch.setattr("equivoc.render.table_release.MOST_CELLS", 7)
    facts = eq.assess(table, eq.CellRounding(base=100).release(table)).facts()
    assert len(facts["cells"]) == 7
    assert [len(part["rows"]) for part in facts["tables"]] == [2]


def test_hostile_labels_stay_text(tmp_path: Path) -> None:
    made = table_of((HOSTILE, FORMULA, LONG), ("<b>a</b>", "it's \\u{41}\u2028"))
    result = eq.assess(made, eq.CellSuppression(rule=eq.Dominance(n=1, k=90)).release(made))
    page = result.report(tmp_path / "table.html", record_values=True, title=HOSTILE).read_text(
        encoding="utf-8"
    )
    found = Markup(page)
    assert not found.handlers
    assert "b" not in {tag for tag, _ in found.elements}
    assert all(str(a["src"]).startswith("data:") for tag, a in found.elements if tag == "img")
    assert all(address.startswith(("#cell-", "data:")) for address in found.addresses())
    assert sum(tag == "script" for tag, _ in found.elements) == sum(
        tag == "script" for tag, _ in Markup(result.report(tmp_path / "again.html").read_text()).elements
    )
    assert LONG not in found.text
    assert HOSTILE in found.text


def test_it_does_not_replace_the_people(table: eq.CellTable, tmp_path: Path) -> None:
    file = tmp_path / "people.csv"
    pd.DataFrame({"region": list("nnss"), "sales": [1, 2, 3, 4]}).to_csv(file, index=False)
    made = eq.tabulate(eq.read(file, confidential="sales", keys=["region"]), by=["region"], value="sales")
    with pytest.raises(eq.InputError, match="also an input"):
        eq.assess(made, eq.CellRounding(base=5).release(made)).report(file)


def test_in_a_notebook(suppressed: Any) -> None:
    shown = suppressed._repr_html_()
    assert "None of 4 withheld cells" in shown
    assert "unsafe" in shown


@in_a_browser
def test_in_a_browser(browser: Any, suppressed: Any, tmp_path: Path) -> None:
    made = table_of((HOSTILE, FORMULA, LONG), ("<b>a</b>", "it's \\u{41}\u2028"))
    hostile = eq.assess(made, eq.CellSuppression(rule=eq.Dominance(n=1, k=90)).release(made))
    for result in (suppressed, hostile):
        path = result.report(tmp_path / "table.html")
        visit = Visit(browser, path.as_uri()).drawn()
        page = visit.page
        assert page.locator("#chart-intervals svg .role-mark path").count() >= 4
        for width in (1100, 680, 390):
            page.set_viewport_size({"width": width, "height": 900})
            assert visit.width() <= width
        page.locator("a.withheld-cell").first.focus()
        page.keyboard.press("Enter")  # leads to the cell's interval, without a mouse
        assert page.evaluate("document.querySelector('tr:target td.number') !== null")
        page.emulate_media(media="print")
        page.set_viewport_size({"width": 680, "height": 900})
        assert visit.width() <= 680
        assert visit.said == []
        assert {address.partition("#")[0] for address in visit.asked} == {path.as_uri()}
        visit.close()
