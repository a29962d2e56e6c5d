"""Makes pictures of every view of the page, at three widths and in the dark, of the shipped people.

    python docs/making/page_screenshots.py FOLDER            # all
    python docs/making/page_screenshots.py FOLDER compare    # one view
    python docs/making/page_screenshots.py FOLDER --dark     # all widths in the dark as well
    python docs/making/page_screenshots.py docs/images --for-docs   # those that the documentation shows

It starts ``equivoc serve`` itself and works on the page as a person does: a file, its roles, a technique, two rules, a
comparison, an audit of queries, a table, the protected file and the report. Needs chromium and playwright.
"""

from __future__ import annotations

import argparse
import sys
import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).resolve().parents[2]))
from equivoc.datasets.shipped import path as shipped_path
from tests.browser import Visit, chromium
from tests.web import page_walk as walk
from tests.web.page_server import PageServer

WIDTHS = (360, 800, 1280)
KEYS = ("age", "sex", "education")
HEIGHT = 860
SHOWN = {"data": "header", "explore": "header", "techniques": ".view", "compare": "#choice"}
"""The views that the documentation shows, and where each picture begins."""
TECHNIQUE = "swapping:rate=0.6"
COMPARED = (
    "sampling:fraction=0.1",
    "swapping:rate=0.3",
    "noise-addition:percent=20",
    "generalisation:k=10",
    "pram:keep=0.5",
)
STATEMENTS = """SELECT AVG(wage_per_hour) FROM people WHERE age > 60;
SELECT AVG(wage_per_hour) FROM people WHERE age > 61;
SELECT MAX(wage_per_hour) FROM people WHERE age = 64 AND sex = 'Female';
SELECT SUM(wage_per_hour) FROM people WHERE age = 75"""


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("folder", type=Path)
    parser.add_argument("view", nargs="?", choices=walk.VIEWS)
    parser.add_argument("--for-docs", action="store_true", help="only the pictures of docs/page.md")
    parser.add_argument("--dark", action="store_true", help="every width in the dark, not only the widest")
    given = parser.parse_args()
    given.folder.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory() as name, chromium() as browser:
        server = PageServer.start(Path(name) / "page")
        try:
            visit = Visit(browser, server.address, viewport={"width": 1280, "height": 900})
            page = visit.page
            page.wait_for_function("() => document.documentElement.dataset.ready")
            if given.view in (None, "data") and not given.for_docs:
                take(page, given.folder, "empty", dark=given.dark)
            walk.upload(page, shipped_path("cps_hourly_workers"))
            walk.choose_roles(page, confidential="wage_per_hour", keys=KEYS, round_to=100, unit="cents")
            for view in walk.VIEWS:
                if given.view in (None, view):
                    STEPS.get(view, lambda page: None)(page)
                    walk.show(page, view)
                    if view in ("data", "explore", "techniques", "take-away"):
                        walk.figures_are(page)
                    if not given.for_docs:
                        take(page, given.folder, view, dark=given.dark)
                    elif view in SHOWN:
                        take_for_docs(page, given.folder, view)
            for said in visit.said:
                print(f"the page said: {said}", file=sys.stderr)
            visit.close()
        finally:
            server.stop()


def take(page: Any, folder: Path, name: str, *, dark: bool) -> None:
    """Pictures of the whole view, from its first line to its last."""
    for scheme, widths in (("light", WIDTHS), ("dark", WIDTHS if dark else WIDTHS[-1:])):
        page.emulate_media(color_scheme=scheme)
        for width in widths:
            page.set_viewport_size({"width": width, "height": 900})
            page.evaluate("() => { document.activeElement?.blur(); window.scrollTo(0, 0); }")
            page.wait_for_timeout(150)  # charts are drawn anew for the width
            file = folder / f"{name}-{width}{'' if scheme == 'light' else '-dark'}.png"
            page.screenshot(path=file, full_page=True)
            print(file)
    page.emulate_media(color_scheme="light")
    page.set_viewport_size({"width": 1280, "height": 900})


def take_for_docs(page: Any, folder: Path, view: str) -> None:
    """The upper part of a view, from the place that SHOWN names."""
    page.set_viewport_size({"width": 1100, "height": HEIGHT})
    page.evaluate("() => document.activeElement?.blur()")
    page.locator(SHOWN[view]).first.evaluate(
        "place => window.scrollTo(0, place.getBoundingClientRect().top + scrollY - 24)"
    )
    page.wait_for_timeout(300)
    file = folder / f"page_{view}.png"
    page.screenshot(path=file)
    print(file)
    page.set_viewport_size({"width": 1280, "height": 900})


def explore(page: Any) -> None:
    walk.choose_technique(page, "swapping", rate=0.6)
    walk.show(page, "explore")
    walk.named(page, "eps-number").fill("500")
    walk.named(page, "eps-number").blur()


def techniques(page: Any) -> None:
    walk.choose_technique(page, "swapping", rate=0.6)
    if page.locator(".rule").count() < 2:
        walk.press(page, "add-rule")
        walk.named(page, "rule-1-figure").select_option("true_hit")
        limit = walk.named(page, "rule-1-limit")
        limit.fill("0.65")
        limit.blur()
        walk.press(page, "add-rule")
        walk.named(page, "rule-2-limit").wait_for()
    walk.press(page, "add-setting")


def compare(page: Any) -> None:
    walk.show(page, "compare")
    for notation in COMPARED:
        walk.named(page, "notation").fill(notation)
        walk.press(page, "add-typed")
    walk.run(page, "compare")
    page.wait_for_selector(".chart[data-drawn] svg")


def queries(page: Any) -> None:
    walk.show(page, "queries")
    walk.named(page, "statements").fill(STATEMENTS)
    walk.run(page, "audit")
    page.wait_for_selector('[data-figure="audit-certain"]')


def tables(page: Any) -> None:
    walk.show(page, "tables")
    walk.named(page, "by-age").click()
    walk.named(page, "by-education").click()
    walk.run(page, "table")
    page.wait_for_selector("table.cells")


def take_away(page: Any) -> None:
    walk.choose_technique(page, "swapping", rate=0.6)
    walk.show(page, "take-away")
    walk.run(page, "protect")
    walk.run(page, "report")
    page.wait_for_selector('[data-code="assess-python"]')


STEPS: dict[str, Callable[[Any], None]] = {
    "explore": explore,
    "techniques": techniques,
    "compare": compare,
    "queries": queries,
    "tables": tables,
    "take-away": take_away,
}

if __name__ == "__main__":
    main()
