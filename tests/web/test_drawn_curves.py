"""The lines of the page's chart: every drawn number is the one that `equivoc.assess` gives at that tolerance."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import httpx
import numpy as np
import pytest

import equivoc as eq
from equivoc.render.truth import MOST_ENTRIES
from equivoc.techniques.notation import technique_from
from tests.browser import Visit, in_a_browser
from tests.web import page_walk as walk
from tests.web.page_server import PageServer, opened

ROLES = {"confidential": "income", "kind": {"kind": "number"}, "keys": ["age"]}
TECHNIQUES = (
    "unprotected",
    "swapping:rate=0.5",
    "noise-addition:percent=20",
    "rounding:base=500",
)
ON_THE_PAGE = pytest.mark.xdist_group("page_curves")


def many_incomes(people: int = 2700) -> str:
    """So many incomes and ages that T(ε) is not computed at every break point."""
    income = np.unique(np.random.default_rng(3).lognormal(9.5, 0.8, 4 * people).round().astype(int))
    chosen = np.random.default_rng(4).permutation(income)[:people]
    rows = [f"{18 + at % 50},{value}" for at, value in enumerate(chosen)]
    return "age,income\n" + "\n".join(rows) + "\n"


@pytest.fixture(scope="module")
def csv() -> str:
    return many_incomes()


@pytest.fixture(scope="module")
def own(csv: str, tmp_path_factory: pytest.TempPathFactory) -> Any:
    file = tmp_path_factory.mktemp("curves") / "people.csv"
    file.write_text(csv, encoding="utf-8")
    return eq.read(file, confidential="income", keys=["age"])


@pytest.mark.parametrize("technique", TECHNIQUES)
@ON_THE_PAGE
def test_every_number_of_the_lines_is_that_of_assess(
    http: httpx.Client, csv: str, own: Any, technique: str
) -> None:
    opened(http, csv, ROLES)
    asked = {"technique": technique, "known": ["age"], "eps": 2000, "seed": 5, "curve": True}
    answer = http.post("/api/live/explore", json=asked)
    assert answer.status_code == 200, answer.text
    curve = answer.json()["curve"]
    assert len(curve["eps"]) * len(own.values) * 50 > MOST_ENTRIES
    assert len(curve["eps"]) == len(curve["release"]) == len(curve["prior"]) == len(curve["unprotected"])
    assert len(curve["truth"]["eps"]) == len(curve["truth"]["bits"])
    assert set(curve["truth"]["eps"]) <= set(curve["eps"])
    made = technique_from(technique)
    result = eq.assess(own, made, seed=5, intruder="informed", eps=curve["truth"]["eps"])
    told = result.summary["truth"]["surprise"]
    assert curve["truth"]["bits"] == pytest.approx([told[eps] for eps in curve["truth"]["eps"]], abs=1e-9)
    sizes, classes = result.posteriors.sizes, result.posteriors.curves()
    bare = eq.assess(own, eq.Unprotected(), intruder="informed").posteriors.curves()
    for at in range(0, len(curve["eps"]), 4):
        eps = curve["eps"][at]
        assert curve["release"][at] == pytest.approx(np.average(classes.at(eps), weights=sizes), abs=1e-9)
        assert curve["unprotected"][at] == pytest.approx(np.average(bare.at(eps), weights=sizes), abs=1e-9)
    if technique == "unprotected":  # the shares of a class are the best prediction for it: T is H
        h = dict(zip(curve["eps"], curve["release"], strict=True))
        assert curve["truth"]["bits"] == pytest.approx([h[eps] for eps in curve["truth"]["eps"]], abs=1e-9)


@ON_THE_PAGE
@in_a_browser
def test_the_picture_and_its_table_show_these_numbers(
    browser: Any, page_server: PageServer, http: httpx.Client, csv: str, own: Any, tmp_path: Path
) -> None:
    opened(http, csv, ROLES)
    http.patch("/api/state", json={"view": {"technique": "unprotected", "eps": 2500}})
    visit = Visit(browser, page_server.address)
    page = visit.page
    walk.show(page, "explore")
    page.wait_for_selector("path.line-truth")
    lines = {
        name: points(page.get_attribute(f"path.line.line-{name}", "d"))
        for name in ("truth", "release", "prior")
    }
    # The file as it is: what she believes is true, so that the two lines are one.
    assert len(lines["truth"]) > 10
    assert lines["truth"] == lines["release"]
    # Each line passes through its value at ε.
    for name in lines:
        dot = page.locator(f"circle.dot.line-{name}")
        there = (float(dot.get_attribute("cx")), float(dot.get_attribute("cy")))
        assert any(there == pytest.approx(point, abs=0.06) for point in lines[name]), name
    page.click("text=The same as numbers")
    rows = page.locator("figure:has(path.line-truth) details.numbers tbody tr").all()
    curve = http.post(
        "/api/live/explore", json={"technique": "unprotected", "known": ["age"], "eps": 2500, "curve": True}
    ).json()["curve"]
    result = eq.assess(own, eq.Unprotected(), intruder="informed", eps=curve["eps"])
    by_text = {f"{bits:.3f}" for bits in result.summary["truth"]["surprise"].values()}
    shown = [row.locator("td").nth(2).inner_text().strip() for row in rows]
    assert len(shown) > 5
    assert set(shown) <= by_text
    visit.close()
    assert visit.said == []


def points(drawn: str | None) -> list[tuple[float, float]]:
    """The points of a path of straight lines."""
    assert drawn is not None
    found = re.findall(r"[ML]([\d.]+),([\d.]+)", drawn)
    return [(float(x), float(y)) for x, y in found]
