"""The page of an audit: who is disclosed and by what, nothing about single persons, no way out for hostile SQL."""

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

LOG = """
SELECT SUM(pay) FROM people;
SELECT SUM(pay) FROM people WHERE NOT (age = 52);
SELECT sex, MAX(pay), AVG(pay) FROM people GROUP BY sex;
SELECT MIN(pay) FROM people WHERE age BETWEEN 30 AND 40
"""


@pytest.fixture(scope="module")
def found() -> eq.Audit:
    frame = pd.DataFrame(
        {
            "age": [30, 30, 30, 30, 41, 41, 41, 41, 41, 30, 30, 52, 30, 41],
            "sex": list("FFFFMMMFFMMFFM"),
            "pay": [1013, 1027, 1020, 1050, 1020, 1020, 1020, 1030, 1050, 1040, 1047, 1011, 1013, 1019],
        }
    )
    people = eq.Microdata(frame, confidential="pay", keys=["age", "sex"], domain=range(1010, 1061))
    return eq.audit(people, LOG, require=["h0@worst >= 0.5", "hit(10) <= 0.9"], eps=[0, 10])


@pytest.fixture(scope="module")
def page(found: eq.Audit, tmp_path_factory: pytest.TempPathFactory) -> str:
    return found.report(tmp_path_factory.mktemp("page") / "audit.html", unit="K").read_text(encoding="utf-8")


@pytest.fixture(scope="module")
def hostile(tmp_path_factory: pytest.TempPathFactory) -> tuple[eq.Audit, Path]:
    frame = pd.DataFrame(
        {
            HOSTILE: [HOSTILE, FORMULA] * 6,
            FORMULA: [HOSTILE, HOSTILE, FORMULA, FORMULA] * 3,
            "<b>pay</b>\u2028": [10, 20, 30] * 4,
        }
    )
    people = eq.Microdata(frame, confidential="<b>pay</b>\u2028", keys=[HOSTILE, FORMULA])
    column, value = '"' + HOSTILE.replace('"', '""') + '"', HOSTILE.replace("'", "''")
    log = f"SELECT SUM(\"<b>pay</b>\u2028\") FROM people WHERE {column} = '{value}'"
    found = eq.audit(people, log)
    return found, found.report(tmp_path_factory.mktemp("hostile") / "audit.html", record_values=True)


def facts_in(page: str) -> dict[str, Any]:
    return json.loads(next(text for attrs, text in Markup(page).scripts if attrs.get("id") == "facts"))


def numbers(fact: Any) -> set[float]:
    """All numbers among the facts."""
    if isinstance(fact, dict):
        return set().union(*map(numbers, fact.values()))
    if isinstance(fact, list):
        return set().union(*map(numbers, fact))
    return {fact} if isinstance(fact, (int, float)) else set()


def test_the_facts_are_those_of_the_record(found: eq.Audit, page: str) -> None:
    facts = found.facts(unit="K")
    assert facts == facts_in(page)
    assert json.loads(json.dumps(facts, allow_nan=False)) == facts
    assert facts["kind"] == "audit"
    assert facts["disclosed"]["exact"] == len(found.compromised) == 1
    for row in facts["disclosed"]["within"]:
        assert row["surely"] == len(found.within(row["eps"]))
        assert row["likely"] == len(found.within(row["eps"], probability=0.9))
    assert {row["method"]: row["people"] for row in facts["methods"]} == dict(found.methods)
    assert [row["statements"] for row in facts["responsible"]] == [
        list(each.statements) for each in found.responsible
    ]
    assert facts["disclosed"]["untouched"] == 0
    means = [row for row in facts["figures"] if row["name"] == "h0"]
    assert means[0]["release"] == pytest.approx(found.frame["h0"].mean())
    assert [row["sql"] for row in facts["statements"]] == list(found.sql)
    assert [row["questions"] for row in facts["statements"]] == [1, 1, 4, 1]


def test_the_page_says_who_and_why(found: eq.Audit, page: str) -> None:
    text = " ".join(Markup(page).text.split())
    assert "No, the answers do not meet all 2 requirements. h0@worst >= 0.5 is not met" in text
    assert "The exact pay of 1 of 14 people (7.1%) follows from the answers." in text
    assert 'class="verdict alarm"' in page
    for sql in found.sql:
        assert sql in text
    for heading in (
        "Which statements disclose them",
        "The statements",
        "Risk from person to person",
        "The most exposed groups",
        "Uncertainty at every tolerance",
        "How the figures were found",
        "Assumptions",
    ):
        assert heading in text
    headings = [tag for tag, _ in Markup(page).elements if tag in ("h1", "h2", "h3")]
    assert headings[0] == "h1"
    assert headings.count("h1") == 1
    tables = [tag for tag, _ in Markup(page).elements if tag in ("table", "caption")]
    assert tables == ["table", "caption"] * (len(tables) // 2)


def test_no_value_of_one_person_is_shown(found: eq.Audit, page: str, tmp_path: Path) -> None:
    """The disclosed person is 52 and has 1011; the answers of sets of one to three people are values, too."""
    text = Markup(page).text
    assert "1,011" not in text
    assert "1011" not in text
    assert 1011 not in numbers(facts_in(page))
    [row] = found.compromised.to_dict("records")
    assert (row["age"], row["value"]) == (52, 1011.0)
    assert facts_in(page)["riskiest"]["withheld"]["classes"] == 3
    named = found.report(tmp_path / "named.html", record_values=True).read_text(encoding="utf-8")
    told = facts_in(named)
    assert 1013 in numbers(told)
    assert [52, "F"] in [row["keys"] for row in told["riskiest"]["classes"]]
    assert told["statements"][3]["answers"] == [1013.0]


def test_partial_knowledge_is_said(found: eq.Audit) -> None:
    other = eq.audit(found.people, LOG, known=["sex"])
    facts = other.facts()
    assert "someone who knows sex of her target" in facts["knows"]
    assert facts["headline"] == "The exact pay of 1 of 14 people (7.1%) follows from the answers."
    assert [len(row["keys"]) for row in facts["riskiest"]["classes"]] == [1, 1]


def test_nobody_is_disclosed(found: eq.Audit, tmp_path: Path) -> None:
    safe = eq.audit(found.people, "SELECT AVG(pay) FROM people", require=["h0@worst >= 1"])
    page = safe.report(tmp_path / "safe.html").read_text(encoding="utf-8")
    text = " ".join(Markup(page).text.split())
    assert 'class="verdict calm"' in page
    assert "Nobody's exact pay follows from the answers." in text
    assert "None: nobody's exact value follows" in text


def test_nothing_is_fetched_and_hostile_sql_stays_text(page: str, hostile: tuple[eq.Audit, Path]) -> None:
    audit, path = hostile
    text = path.read_text(encoding="utf-8")
    found = Markup(text)
    assert found.handlers == []
    assert all(address.startswith("data:") for address in (*found.addresses(), *Markup(page).addresses()))
    assert {tag for tag, _ in found.elements} <= {tag for tag, _ in Markup(page).elements}
    assert HOSTILE in found.text
    assert "<script>alert" not in text.replace("\\u003c", "")
    assert "<script>alert" not in audit._repr_html_()


def test_the_same_audit_gives_the_same_bytes(found: eq.Audit, page: str, tmp_path: Path) -> None:
    again = eq.audit(found.people, LOG, require=["h0@worst >= 0.5", "hit(10) <= 0.9"], eps=[0, 10])
    assert again.report(tmp_path / "again.html", unit="K").read_text(encoding="utf-8") == page


def test_many_statements_are_counted(found: eq.Audit) -> None:
    log = ["SELECT COUNT(*) FROM people"] * 230
    facts = eq.audit(found.people, log).facts()
    assert (len(facts["statements"]), facts["log"]["shown"], facts["log"]["statements"]) == (200, 200, 230)
    assert facts["disclosed"]["untouched"] == 14


def test_the_original_is_not_overwritten(tmp_path: Path) -> None:
    file = tmp_path / "people.csv"
    pd.DataFrame({"age": [1, 2], "pay": [3, 4]}).to_csv(file, index=False)
    audit = eq.audit(eq.read(file, confidential="pay", keys=["age"]), "SELECT SUM(pay) FROM people")
    with pytest.raises(eq.InputError, match=r"people\.csv"):
        audit.report(file)


def test_a_notebook_shows_the_counts(found: eq.Audit) -> None:
    shown = found._repr_html_()
    assert "No, the answers do not meet all 2 requirements." in shown
    assert str(len(found.within(10))) in shown
    np.testing.assert_array_equal(found.certain[found.atom], found.frame["h0"] < 1e-9)


@in_a_browser
def test_in_a_browser(browser: Any, hostile: tuple[eq.Audit, Path]) -> None:
    visit = Visit(browser, hostile[1].as_uri()).drawn()
    assert visit.said == []
    assert visit.asked == [hostile[1].as_uri()]
    assert visit.page.locator("svg, canvas").count() >= 2
    visit.close()
