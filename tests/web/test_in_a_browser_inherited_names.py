"""In a browser: keys named as what every JavaScript object inherits, and values of such names."""

from __future__ import annotations

from pathlib import Path
from time import monotonic
from typing import Any

import httpx
import pytest

import equivoc as eq
from tests.browser import Visit, in_a_browser
from tests.web import page_walk as walk
from tests.web.page_server import PageServer, people_csv, result_of

pytestmark = [in_a_browser, pytest.mark.xdist_group("page_inherited")]
NAMES = ("constructor", "__proto__", "toString", "hasOwnProperty")


def inherited_csv() -> str:
    lines = [",".join([*NAMES, "pay"])]
    for at, line in enumerate(people_csv().splitlines()[1:]):
        age, sex, pay, _ = line.split(",")
        lines.append(f"{age},{sex},{NAMES[at % 4]},{at % 2},{pay}")
    return "\n".join(lines) + "\n"


def test_every_view_works(browser: Any, page_server: PageServer, http: httpx.Client, tmp_path: Path) -> None:
    file = tmp_path / "people.csv"
    file.write_text(inherited_csv(), encoding="utf-8")
    visit = Visit(browser, page_server.address)
    page = visit.page
    walk.upload(page, file)
    walk.choose_roles(page, confidential="pay", keys=NAMES, round_to=10)
    assert http.get("/api/state").json()["roles"]["keys"] == list(NAMES)
    walk.show(page, "explore")
    page.wait_for_selector("path.line-release")
    card = page.locator("section.card:has(h2:text-is('One class of people'))")
    for name in NAMES:
        assert name in card.inner_text()
        assert walk.named(page, f"class-{name}").input_value() == ""
    looked_up = dict(zip(NAMES, ("31", "F", "__proto__", "1"), strict=True))
    for name, value in looked_up.items():
        walk.named(page, f"class-{name}").fill(value)
    walk.press(page, "look-up")
    page.wait_for_function("() => !document.querySelector('.view').textContent.includes('the largest class')")
    asked = {"constructor": 31, "__proto__": "F", "toString": "__proto__", "hasOwnProperty": 1}
    end = monotonic() + 20  # the page shows the class before the server has heard of it
    while http.get("/api/state").json()["view"]["class"] != asked and monotonic() < end:
        page.wait_for_timeout(50)
    assert http.get("/api/state").json()["view"]["class"] == asked
    # A key that is not known any more, and then is again.
    page.uncheck('[data-name="known-__proto__"]')
    page.check('[data-name="known-__proto__"]')
    assert http.patch("/api/state", json={"settings": ["unprotected", "swapping:rate=0.5"]}).is_success
    result_of(
        http, kind="compare", techniques=["unprotected", "rounding:base=30"], intruder="informed", eps=20
    )
    result_of(http, kind="table", by=list(NAMES[:2]), value="pay", rule="p:10", method="suppress")
    for view in walk.VIEWS:
        walk.show(page, view)
        page.wait_for_selector(f'[data-view="{view}"] .card')
    page.evaluate("() => { location.hash = '#constructor'; }")  # no view; the last one stays
    page.wait_for_timeout(200)
    assert page.locator('[data-view="take-away"] .card').count() > 0
    visit.close()
    assert visit.said == []


def test_the_report_draws_every_chart(browser: Any, tmp_path: Path) -> None:
    file = tmp_path / "people.csv"
    file.write_text(inherited_csv(), encoding="utf-8")
    people = eq.read(file, confidential="pay", keys=NAMES)
    result = eq.assess(people, eq.Swapping(rate=0.3))
    visit = Visit(browser, result.report(tmp_path / "report.html").as_uri()).drawn()
    for name in ("curve", "knowledge", "people", "contributions"):
        assert visit.page.locator(f"#chart-{name} svg .role-mark path").count() > 0, name
    assert visit.page.locator("#chart-contributions svg .role-mark path").count() == len(NAMES)
    labels = [
        (each.text_content() or "").strip()
        for each in visit.page.locator("#chart-contributions svg text").all()
    ]
    assert set(NAMES) <= set(labels)
    assert visit.said == []
    visit.close()
