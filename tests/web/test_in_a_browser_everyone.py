"""In a browser: every view with results, for everyone: axe-core, zoom, a phone's width, light and dark, less motion."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest

from tests.browser import Visit, in_a_browser, violations
from tests.web import page_walk as walk
from tests.web.page_server import ROLES, PageServer, opened, people_csv, result_of

pytestmark = [in_a_browser, pytest.mark.xdist_group("page_everyone")]
VIEW = {
    "technique": "swapping:rate=0.5",
    "known": ["age", "sex"],
    "eps": 20,
    "require": ["certain_right <= 0", "true_hit(20) <= 0.95", "h0 >= 5"],
}
SQL = "SELECT SUM(pay) FROM people WHERE age > 31; SELECT SUM(pay) FROM people WHERE age > 32"
READY = {
    "data": "text=In use.",
    "explore": '[data-figure="explore-h"]',
    "techniques": '[data-figure="side-h0"]',
    "compare": ".chart[data-drawn] svg",
    "queries": '[data-figure="audit-certain"]',
    "tables": "table.cells",
    "take-away": '[data-code="compare-python"]',
}


@pytest.fixture(scope="module")
def prepared(page_server: PageServer) -> Iterator[PageServer]:
    """A server with people, a technique, rules met and not met, and a finished job of every kind."""
    with page_server.client() as http:
        opened(http, people_csv(100))
        http.post("/api/hierarchies/intervals", json={"column": "age", "widths": [2, 4]})
        http.put("/api/roles", json=ROLES)
        settings = ["swapping:rate=0.5", "rounding:base=30", "sampling:fraction=0.5"]
        http.patch("/api/state", json={"view": VIEW, "settings": settings})
        shared = {"known": ["age", "sex"], "eps": 20, "intruder": "informed", "require": VIEW["require"][:2]}
        result_of(http, kind="compare", techniques=settings, **shared)
        result_of(http, kind="choose", technique="swapping", parameter="rate", low=0.2, high=1, **shared)
        result_of(http, kind="audit", statements=SQL, eps=20)
        result_of(http, kind="table", by=["age", "sex"], value="pay", rule="p:10", method="suppress")
        result_of(http, kind="protect", technique="swapping:rate=0.5", **{**shared, "require": []})
        yield page_server
        http.delete("/api/file")


@pytest.fixture(scope="module")
def visit(browser: Any, prepared: PageServer) -> Iterator[Visit]:
    opened_page = Visit(browser, prepared.address, viewport={"width": 1280, "height": 900})
    yield opened_page
    opened_page.close()
    assert opened_page.said == []
    for address in opened_page.asked:
        assert address.startswith((f"{prepared.url}/", "data:,")), address


def show(visit: Visit, view: str) -> None:
    """A view with all that it has to show, everything that can be opened open."""
    walk.show(visit.page, view)
    visit.page.wait_for_selector(READY[view])
    if view not in ("queries", "tables"):
        walk.figures_are(visit.page)
    visit.page.evaluate(
        "() => document.querySelectorAll('main details').forEach((each) => { each.open = true; })"
    )


def test_axe_finds_nothing(visit: Visit) -> None:
    """On every view in light and dark, and with an explanation open."""
    found: list[str] = []
    for scheme in ("light", "dark"):
        # Colours in the middle of a transition would be judged as well.
        visit.page.emulate_media(color_scheme=scheme, reduced_motion="reduce")
        for view in walk.VIEWS:
            show(visit, view)
            if view == "explore":
                visit.page.locator("button.term").first.click()
            found += [f"{scheme}, {view}: {each}" for each in violations(visit.page)]
            visit.page.keyboard.press("Escape")
    visit.page.emulate_media(color_scheme="light", reduced_motion="no-preference")
    assert not found, "\n".join(found)


@pytest.mark.parametrize(("what", "width", "height"), [("a phone", 360, 740), ("200 % zoom", 640, 450)])
def test_no_scrolling_sideways_and_all_controls_reachable(
    visit: Visit, what: str, width: int, height: int
) -> None:
    """A window of 1280 × 900 at 200 % has 640 × 450 pixels of the page."""
    visit.page.set_viewport_size({"width": width, "height": height})
    try:
        for view in walk.VIEWS:
            show(visit, view)
            visit.page.wait_for_timeout(100)
            assert visit.width() <= width, (what, view)
            assert visit.page.evaluate(UNREACHABLE) == [], (what, view)
    finally:
        visit.page.set_viewport_size({"width": 1280, "height": 900})


UNREACHABLE = """() => {
  const missed = [];
  const middle = (box) => document.elementFromPoint(box.left + box.width / 2, box.top + box.height / 2);
  for (const each of document.querySelectorAll("a[href], button, input, select, textarea, summary")) {
    if (each.closest("[popover]") || each.matches(".skip") || !each.checkVisibility()) continue;
    each.scrollIntoView({ block: "center", inline: "center", behavior: "instant" });
    const box = each.getBoundingClientRect();
    const name = `${each.tagName} ${each.dataset.name ?? each.textContent.slice(0, 40)}`;
    const its = (hit) => hit && (each.contains(hit) || hit.contains(each) || hit.closest("label")?.contains(each));
    if (box.left < -1 || box.right > innerWidth + 1) missed.push(`outside the window: ${name}`);
    else if (box.width < 4 || box.height < 4) missed.push(`too small: ${name}`);
    else if (!Array.from(each.getClientRects()).some((line) => its(middle(line)))) missed.push(`covered: ${name}`);
  }
  return missed;
}"""
"""The controls that cannot be hit when they are scrolled to."""


def test_dark_is_dark_and_light_is_light(visit: Visit) -> None:
    show(visit, "explore")
    for scheme, dark in (("dark", True), ("light", False)):
        visit.page.emulate_media(color_scheme=scheme)
        paper, ink = (
            visit.page.evaluate("what => getComputedStyle(document.body)[what]", what)
            for what in ("backgroundColor", "color")
        )
        assert (brightness(paper) < 60, brightness(ink) > 200) == (dark, dark)


def test_less_motion_is_respected(visit: Visit) -> None:
    for wish, moves in (("no-preference", True), ("reduce", False)):
        visit.page.emulate_media(reduced_motion=wish)
        show(visit, "compare")
        assert visit.page.evaluate(MOVING) is moves
    visit.page.emulate_media(reduced_motion="no-preference")


MOVING = """() => Array.from(document.querySelectorAll("*")).some((each) => {
  const style = getComputedStyle(each);
  const seconds = (text) => text.split(",").some((part) => parseFloat(part) > 0);
  return seconds(style.transitionDuration) || (style.animationName !== "none" && seconds(style.animationDuration));
}) || getComputedStyle(document.documentElement).scrollBehavior === "smooth" """


def test_what_a_screen_reader_is_told(visit: Visit) -> None:
    """Beyond the rules of axe: tables have captions and headers, changes are announced, the title names the view."""
    page = visit.page
    for view in walk.VIEWS:
        show(visit, view)
        tables = page.locator("main table").count()
        assert tables == page.locator("main table > caption").count()
        assert tables == page.locator("main table:has(thead th[scope=col]):has(tbody th[scope=row])").count()
        assert page.locator("main [aria-live], main [role=status]").count() >= 1
        assert page.locator("h1").count() == 1
        assert page.inner_text("h1") in page.title()
        assert page.get_attribute("#panel", "aria-labelledby") == f"tab-{view}"


def brightness(colour: str) -> float:
    parts = [float(part) for part in colour[colour.index("(") + 1 : -1].split(",")[:3]]
    return sum(parts) / 3


def test_two_changes_of_a_rule_before_the_screen_follows(visit: Visit) -> None:
    """The second change must not take back the first, as it would with what the screen showed before."""
    show(visit, "techniques")
    visit.page.evaluate(
        """() => {
          const set = (name, value) => {
            const control = document.querySelector(`[data-name="${name}"]`);
            control.value = value;
            control.dispatchEvent(new Event("change", { bubbles: true }));
          };
          set("rule-1-figure", "true_hit");
          set("rule-1-limit", "0.65");
        }"""
    )
    visit.page.wait_for_function(
        "() => document.querySelector('[data-name=\"rule-1-limit\"]').value === '0.65'"
        " && document.querySelector('[data-name=\"rule-1-figure\"]').value === 'true_hit'"
    )
