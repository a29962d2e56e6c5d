"""In a browser: names and values that are markup, formulas, very long or right to left are shown as text, and fit."""

from __future__ import annotations

import csv
from pathlib import Path
from typing import Any

import httpx
import pytest

from tests.browser import Visit, in_a_browser
from tests.web import page_walk as walk
from tests.web.page_server import PageServer, result_of

pytestmark = [in_a_browser, pytest.mark.xdist_group("page_hostile")]
SCRIPT = "<script>window.hacked = 1</script>"
IMAGE = '"><img src=x onerror="window.hacked = 2">'
FORMULA = "=1+1"
LONG = "x" * 10_000
ARABIC = "\u202eأجر الساعة"
CONFIDENTIAL = '<svg onload="window.hacked = 3">'
KEYS = [SCRIPT, IMAGE, FORMULA, LONG, ARABIC]
VALUES = [f"</script>{SCRIPT}", IMAGE, "=HYPERLINK(1)", "y" * 10_000, "عمر", "{{7*7}}", "it's\u2028a line"]


def hostile_csv(file: Path) -> Path:
    with file.open("w", encoding="utf-8", newline="") as written:
        rows = csv.writer(written)
        rows.writerow([*KEYS, CONFIDENTIAL])
        for at in range(84):
            keys = [VALUES[(at * step + step) % (3 + step % 5)] for step in range(1, 6)]
            rows.writerow([*keys, 10 * (at % 7)])
    return file


def test_nothing_is_executed_and_all_fits(
    browser: Any, page_server: PageServer, http: httpx.Client, tmp_path: Path
) -> None:
    file = hostile_csv(tmp_path / "<img src=x onerror=alert(1)>.csv")
    visit = Visit(browser, page_server.address)
    page = visit.page
    walk.upload(page, file)
    fits(visit)
    roles = {"confidential": CONFIDENTIAL, "kind": {"kind": "number", "unit": IMAGE}, "keys": KEYS}
    assert http.put("/api/roles", json=roles).status_code == 200
    shown = {"technique": "swapping:rate=0.5", "known": KEYS, "eps": 20}
    assert http.patch(
        "/api/state", json={"view": shown, "settings": [f"swapping:rate=0.5,on={SCRIPT}"]}
    ).is_success
    result_of(
        http, kind="compare", techniques=["swapping:rate=0.5", "unprotected"], intruder="informed", eps=20
    )
    own = CONFIDENTIAL.replace('"', '""')
    sql = f'SELECT SUM("{own}") FROM people WHERE "{FORMULA}" <> \'{SCRIPT}\''
    result_of(http, kind="audit", statements=sql, known=KEYS, eps=20, require=[])
    result_of(http, kind="table", by=KEYS[:2], value=CONFIDENTIAL, rule="p:10", method="suppress")
    for view in walk.VIEWS:
        walk.show(page, view)
        page.wait_for_function("() => !document.querySelector('.verdict.waiting, .busy')")
        fits(visit)
    assert page.evaluate("() => window.hacked") is None
    assert page.locator("#main img, #main script").count() == 0
    text = page.evaluate("() => document.body.textContent")
    assert CONFIDENTIAL[:30] in text
    visit.close()
    assert visit.said == []


def fits(visit: Visit) -> None:
    """Nothing has to be scrolled sideways at any width."""
    for width in (1100, 360):
        visit.page.set_viewport_size({"width": width, "height": 900})
        visit.page.wait_for_timeout(100)
        assert visit.width() <= width, visit.page.evaluate(TOO_WIDE, width)


TOO_WIDE = """width => Array.from(document.querySelectorAll("main *, header *"))
  .filter((each) => each.getBoundingClientRect().right > width + 1 && !each.closest(".table-box, pre, .chart"))
  .map((each) => `${each.tagName} ${each.getAttribute("class")} ${each.textContent.slice(0, 40)}`)
  .slice(0, 12)"""
"""What sticks out."""
