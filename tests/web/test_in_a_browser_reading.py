"""In a browser: a file of semicolons and decimal commas, and one that can be read in two ways."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pandas as pd
import pytest

import equivoc as eq
from tests.browser import Visit, in_a_browser
from tests.web import page_walk as walk
from tests.web.page_server import PageServer

pytestmark = [in_a_browser, pytest.mark.xdist_group("page_missing")]


def frame() -> pd.DataFrame:
    rows = [(30 + at % 4, "Köln" if at % 2 else "Bonn", 100.5 * (1 + at * at % 7)) for at in range(60)]
    return pd.DataFrame(rows, columns=["age", "town", "pay"])


def shown_bits(page: Any) -> float:
    """H(0) in the explorer."""
    return float(page.inner_text('[data-figure="explore-h"] .big'))


def bits(people: pd.DataFrame) -> float:
    held = eq.Microdata(people, confidential="pay", keys=["age", "town"])
    result = eq.assess(held, eq.Unprotected(), intruder="informed")
    return float(result.summary["per_record"]["h0"]["mean"])


def test_semicolons_and_decimal_commas(browser: Any, page_server: PageServer, tmp_path: Path) -> None:
    people = frame()
    people.to_csv(tmp_path / "leute.csv", sep=";", decimal=",", encoding="latin-1", index=False)
    visit = Visit(browser, page_server.address)
    page = visit.page
    walk.upload(page, tmp_path / "leute.csv")
    assert page.inner_text('[data-name="read-as"]') == "Read as: semicolons, decimal comma, Latin-1."
    walk.named(page, "reading-more").click()
    assert walk.named(page, "reading-encoding").get_attribute("placeholder") == "latin-1 (guessed)"
    walk.choose_roles(page, confidential="pay", keys=["age", "town"])
    walk.show(page, "explore")
    walk.named(page, "eps-number").fill("0")
    walk.named(page, "eps-number").blur()
    page.wait_for_selector("text=exactly right")
    assert shown_bits(page) == pytest.approx(bits(people), abs=0.01)
    visit.close()
    assert visit.said == []


def test_a_question_with_two_buttons(browser: Any, page_server: PageServer, tmp_path: Path) -> None:
    rows = [f"{30 + at % 4},{'FM'[at % 2]},{1 + at % 7}.{100 + at % 9}" for at in range(60)]
    (tmp_path / "two.csv").write_text("\n".join(["age,sex,pay", *rows]), encoding="utf-8")
    visit = Visit(browser, page_server.address)
    page = visit.page
    walk.upload(page, tmp_path / "two.csv")
    asked = page.inner_text('[data-name="reading-question"]')
    assert "1.100 is 1.100" in asked
    assert "1.100 is 1100" in asked
    walk.press(page, "reading-answer-2")
    page.wait_for_selector("text=Read as: commas, decimal comma, dots between thousands")
    assert not page.locator('[data-name="reading-question"]').count()
    walk.choose_roles(page, confidential="pay", keys=["age", "sex"])
    page.wait_for_selector("text=from 1,100 to 7,107")
    walk.show(page, "take-away")
    page.wait_for_selector('[data-code="assess-python"] >> text=thousands=')
    visit.close()
    assert visit.said == []


def test_two_confidential_attributes(browser: Any, page_server: PageServer, tmp_path: Path) -> None:
    people = frame().assign(illness=[("flu", "gout", "none")[at % 5 % 3] for at in range(60)])
    people.to_csv(tmp_path / "ill.csv", index=False)
    held = eq.Microdata(people, confidential=["pay", "illness"], keys=["age", "town"])
    reference = eq.assess(held, eq.Unprotected())
    visit = Visit(browser, page_server.address)
    page = visit.page
    walk.upload(page, tmp_path / "ill.csv")
    roles = {"age": "key", "town": "key", "pay": "confidential", "illness": "confidential"}
    for name, role in roles.items():
        walk.named(page, f"role-{name}-{role}").check(force=True)
    walk.press(page, "use-roles")
    page.wait_for_selector("text=In use.")
    walk.show(page, "techniques")
    with page_server.client() as http:
        assert http.patch("/api/state", json={"view": {"require": ["h0 >= 1.6"]}}).status_code == 200
    page.wait_for_selector("text=Not safe: met for pay, but not for illness")
    walk.named(page, "attribute").select_option("illness")
    page.wait_for_selector("text=Not safe by your rule")
    page.wait_for_selector("[data-together]")
    whole = page.inner_text('[data-together="h0"] strong')
    assert float(whole.split()[0]) == pytest.approx(reference.together["h0"], abs=0.01)
    least = page.inner_text('[data-together="any_true_hit"] strong')
    assert float(least.split()[0]) == pytest.approx(100 * reference.together["any_true_hit"], abs=0.1)
    walk.figures_are(page)
    hit = page.inner_text('[data-figure="true-hit"] .big')
    right = reference.attributes["illness"].summary["truth"]["true_hit"][0.0]
    assert float(hit.split()[0]) == pytest.approx(100 * right, abs=0.1)
    visit.close()
    assert visit.said == []
