"""The page in a real browser: charts are drawn, nothing is requested from the network, no hostile script runs."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

import equivoc as eq
from tests.browser import Visit, in_a_browser

pytestmark = in_a_browser


@pytest.fixture(scope="module")
def report(result: eq.Assessment, tmp_path_factory: pytest.TempPathFactory) -> Path:
    return result.report(tmp_path_factory.mktemp("report") / "report.html", unit="K")


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_charts_are_drawn_and_nothing_is_asked_for(
    scheme: str, browser: Any, report: Path, tmp_path: Path
) -> None:
    visit = Visit(browser, report.as_uri(), color_scheme=scheme).drawn()
    assert visit.page.locator(".chart svg.marks").count() == 4
    for name in ("curve", "knowledge", "people", "contributions"):
        drawn = visit.page.locator(f"#chart-{name} svg .role-mark path")
        assert drawn.count() > 0, name
    assert visit.said == []
    assert visit.asked == [report.as_uri()]
    ink, paper = (
        visit.page.evaluate(f"getComputedStyle(document.querySelector('{where}')).{what}")
        for where, what in (("#chart-curve svg text", "fill"), ("body", "backgroundColor"))
    )
    assert abs(_brightness(ink) - _brightness(paper)) > 150
    assert (_brightness(paper) < 100) == (scheme == "dark")
    picture = tmp_path / f"{scheme}.png"
    visit.page.screenshot(path=str(picture), full_page=True)
    assert picture.stat().st_size > 50_000
    visit.close()


def test_hostile_names_and_values_do_not_run(browser: Any, hostile: eq.Assessment, tmp_path: Path) -> None:
    path = hostile.report(tmp_path / "hostile.html", record_values=True)
    visit = Visit(browser, path.as_uri()).drawn()
    visit.page.hover("#chart-contributions svg .role-mark path")  # the tooltip holds a hostile name
    visit.page.wait_for_selector("#vg-tooltip-element.visible")
    assert visit.page.locator("img").count() == 0
    assert visit.said == []
    assert visit.asked == [path.as_uri()]
    visit.close()


def test_without_scripts_there_are_still_pictures(browser: Any, report: Path) -> None:
    visit = Visit(browser, report.as_uri(), java_script_enabled=False)
    pictures = visit.page.locator("noscript img")
    assert pictures.count() == 4
    assert visit.page.locator("noscript img").first.bounding_box()["height"] > 100
    visit.close()


def test_it_fits_a_sheet_of_paper_and_a_telephone(browser: Any, report: Path, tmp_path: Path) -> None:
    visit = Visit(browser, report.as_uri(), color_scheme="dark").drawn()
    visit.page.emulate_media(media="print")
    background = visit.page.evaluate("getComputedStyle(document.body).backgroundColor")
    assert _brightness(background) > 250
    visit.page.set_viewport_size({"width": 680, "height": 960})  # A4 between its margins
    assert visit.width() <= 680
    visit.page.emulate_media(media="screen")
    visit.page.set_viewport_size({"width": 390, "height": 800})
    assert visit.width() <= 390
    visit.close()


def _brightness(colour: str) -> float:
    parts = [float(part) for part in colour[colour.index("(") + 1 : -1].split(",")[:3]]
    return sum(parts) / 3
