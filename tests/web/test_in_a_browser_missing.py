"""In a browser: values that are missing or no numbers are asked about, and every verdict says who was left out."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from equivoc.web import people_spec as wording
from tests.browser import Visit, in_a_browser
from tests.web import page_walk as walk
from tests.web.page_server import PageServer

pytestmark = in_a_browser
SAID = "12 of 60 people were left out because pay is missing; every figure is about the 48 others."


def write(file: Path, missing: str) -> Path:
    rows = (
        f"{30 + at % 4},{'FM'[at % 2]},{missing if at % 5 == 2 else 100 * (1 + at % 7)}" for at in range(60)
    )
    file.write_text("\n".join(["age,sex,pay", *rows]) + "\n", encoding="utf-8")
    return file


@pytest.mark.xdist_group("page_missing")
def test_missing_values_are_asked_about_and_said(
    browser: Any, page_server: PageServer, tmp_path: Path
) -> None:
    visit = Visit(browser, page_server.address)
    page = visit.page
    walk.upload(page, write(tmp_path / "words.csv", "NA"))
    refused = page.inner_text('[data-name="problem-pay"]')
    assert "the confidential column 'pay' is missing ('NA') in 12 rows (lines 4, 9, " in refused
    for words in (wording.LEAVE_OUT, wording.KIND):
        assert words in refused
        assert page.get_by_text(words.strip("“”")).count()
    walk.upload(page, write(tmp_path / "empty.csv", ""))
    walk.named(page, "drop-missing").check()
    walk.choose_roles(page, confidential="pay", keys=["age", "sex"])
    for view in ("data", "explore", "compare", "take-away"):
        walk.show(page, view)
        page.wait_for_selector(f"#verdict :text-is('{SAID}')")
    walk.show(page, "tables")
    walk.run(page, "table")
    page.wait_for_selector(f"#verdict :text-is('{SAID}')")
    walk.show(page, "queries")
    page.fill("textarea", "SELECT SUM(pay) FROM people WHERE age = 31")
    walk.run(page, "audit")
    page.wait_for_selector(f"#verdict :text-is('{SAID}')")
    visit.close()
    assert visit.said == []
