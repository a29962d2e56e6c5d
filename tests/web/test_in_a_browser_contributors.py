"""In a browser: the verdict on a table whose unsafe cells a contributor can compute."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

import equivoc as eq
from tests.browser import Visit, in_a_browser
from tests.web import page_walk as walk
from tests.web.page_server import PageServer

pytestmark = in_a_browser

CELLS = {
    ("n", "a"): [4, 10, 13],
    ("n", "b"): [37],
    ("n", "c"): [126, 7],
    ("s", "a"): [79, 76, 41, 3],
    ("s", "b"): [12, 6, 13],
    ("s", "c"): [63, 24, 24],
    ("e", "b"): [30, 51, 34, 6],
    ("e", "c"): [80],
}
"""What firms contribute: two of them are alone in a cell."""


@pytest.mark.xdist_group("page_contributors")
def test_a_table_that_a_contributor_computes_is_not_called_safe(
    browser: Any, page_server: PageServer, tmp_path: Path
) -> None:
    rows = [f"{a},{b},{sales}" for (a, b), every in CELLS.items() for sales in every]
    file = tmp_path / "firms.csv"
    file.write_text("\n".join(["row,column,sales", *rows]) + "\n", encoding="utf-8")
    people = eq.read(file, confidential="sales", keys=["row", "column"])
    release = eq.CellSuppression(rule="p:10").release(eq.tabulate(people, ["row", "column"], "sales"))
    exposed = int(release.exposure.by_contributor.sum())
    assert exposed == 2
    visit = Visit(browser, page_server.address)
    page = visit.page
    walk.upload(page, file)
    walk.choose_roles(page, confidential="sales", keys=["row", "column"])
    walk.show(page, "tables")
    walk.run(page, "table")
    page.wait_for_selector(f"text=Not safe: a contributor can compute {exposed} unsafe cells")
    assert page.locator("text=Safe by the rule").count() == 0
    assert f"{exposed} unsafe cells can be computed exactly" in page.inner_text("main")
    visit.close()
    assert visit.said == []
