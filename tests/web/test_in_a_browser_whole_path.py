"""In a browser: from the upload to the protected file, its certificate and the report, by mouse and by keyboard."""

from __future__ import annotations

import json
import os
import shlex
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import httpx
import pandas as pd
import pytest

from tests.browser import Visit, in_a_browser, violations
from tests.web import page_walk as walk
from tests.web.page_keyboard import Keyboard
from tests.web.page_server import PageServer, people_csv

pytestmark = [in_a_browser, pytest.mark.xdist_group("page_whole_path")]
SETTINGS = ("swapping:rate=0.5", "rounding:base=30")


@pytest.fixture
def visit(browser: Any, page_server: PageServer, http: httpx.Client) -> Iterator[Visit]:
    """The page without a file. It must say nothing on the console, and ask no other machine for anything."""
    opened = Visit(browser, page_server.address, accept_downloads=True)
    opened.page.wait_for_selector("text=Open a file to begin")
    yield opened
    opened.close()
    assert opened.said == []
    assert {
        address.split("/?")[0].split("/page/")[0].split("/api/")[0].rstrip("/") for address in opened.asked
    } == {page_server.url}


@pytest.fixture
def people(tmp_path: Path) -> Path:
    file = tmp_path / "people.csv"
    file.write_text(people_csv(), encoding="utf-8")
    return file


def downloaded(page: Any, name: str, folder: Path, *, enter: bool = False) -> Path:
    """The file behind a link of this name."""
    with page.expect_download() as arriving:
        if enter:
            page.keyboard.press("Enter")
        else:
            page.click(f'a[download="{name}"]')
    file = folder / name
    arriving.value.save_as(file)
    return file


def started(words: list[str], folder: Path) -> subprocess.Popen[str]:
    return subprocess.Popen(
        [sys.executable, *words],
        cwd=folder,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        env={**os.environ, "NUMBA_NUM_THREADS": "1"},
    )


def said(process: subprocess.Popen[str], codes: tuple[int, ...] = (0,)) -> str:
    """What a program printed; it must end with one of these codes."""
    out, problem = process.communicate(timeout=300)
    assert process.returncode in codes, problem
    return out


def test_by_mouse(visit: Visit, people: Path, tmp_path: Path) -> None:
    page = visit.page
    walk.upload(page, people)
    walk.choose_roles(page, confidential="pay", keys=["age", "sex"], round_to=10, unit="K")
    walk.show(page, "techniques")
    walk.choose_technique(page, "swapping", rate=0.5)
    page.wait_for_selector("text=No rule is set")
    assert page.locator("#verdict.facts").count() == 1
    walk.press(page, "add-rule")
    limit = walk.named(page, "rule-1-limit")
    limit.fill("60")
    limit.blur()
    walk.press(page, "add-rule")
    limit = walk.named(page, "rule-2-limit")
    limit.fill("1")
    limit.blur()
    walk.press(page, "add-setting")
    page.wait_for_selector("text=Safe by your 2 rules")
    walk.show(page, "compare")
    walk.named(page, "notation").fill(SETTINGS[1])
    walk.press(page, "add-typed")
    walk.run(page, "compare")
    page.wait_for_selector(".chart[data-drawn] svg")
    assert "The choice:" in page.inner_text("#choice")
    page.locator(".chart svg .mark-symbol path").first.click()
    page.wait_for_selector("#notation")
    assert page.inner_text("#notation") in SETTINGS
    walk.show(page, "compare")
    walk.press(page, "open-1")
    page.wait_for_selector("#notation")
    assert page.inner_text("#notation") == SETTINGS[0]
    walk.figures_are(page)
    shown = screen_figures(page)
    walk.show(page, "compare")
    compared = [
        [cell.inner_text() for cell in row.locator("td.number").all()]
        for row in page.locator(".view-compare table tbody tr").all()
    ]
    walk.show(page, "take-away")
    walk.run(page, "protect")
    walk.run(page, "report")
    folder = tmp_path / "taken"
    folder.mkdir()
    protected = downloaded(page, "protected.csv", folder)
    certificate = downloaded(page, "certificate.json", folder)
    report = downloaded(page, "report.html", folder)
    with page.expect_download() as arriving:
        walk.press(page, "plan-compare")
    arriving.value.save_as(tmp_path / "plan.toml")
    codes = {
        name: page.inner_text(f'[data-code="{name}"]')
        for name in ("assess-python", "assess-command", "compare-python")
    }

    program = codes["assess-python"] + FACTS.format("result") + codes["compare-python"] + FACTS.format("done")
    runs = {
        "python": started(["-c", program], tmp_path),
        "command": started(["-m", *shlex.split(codes["assess-command"]), "--json"], tmp_path),
        "plan": started(["-m", "equivoc", "compare", "plan.toml", "--json"], tmp_path),
        "verify": started(
            ["-m", "equivoc", "verify", str(certificate), str(people), str(protected)], tmp_path
        ),
    }
    printed = {name: said(run) for name, run in runs.items()}
    assessed, again = (json.loads(line) for line in printed["python"].splitlines() if line.startswith('{"'))
    assert shown == figures_of(assessed)
    assert shown == figures_of(json.loads(printed["command"]))
    for facts in (again, json.loads(printed["plan"])):
        rows = [
            [plainly(each["risk"]["mean"]), plainly(each["loss"]["mean"])] for each in facts["techniques"]
        ]
        assert rows == compared
    original, released = pd.read_csv(people), pd.read_csv(protected)
    assert len(released) == len(original)
    assert sorted(released["pay"]) == sorted(original["pay"])  # swapped, not changed
    assert list(released["pay"]) != list(original["pay"])
    assert (
        SETTINGS[0].split(":")[0]
        in json.loads(certificate.read_text(encoding="utf-8"))["technique"]["notation"]
    )
    assert "swapping:rate=0.5" in report.read_text(encoding="utf-8")


FACTS = '\nimport json\nprint(json.dumps({}.facts(unit="K")))\n'


def screen_figures(page: Any) -> dict[str, str]:
    """The figures of the verdict and of the table of risks, as they are written on the screen."""
    found = {
        name: page.inner_text(f'[data-figure="{name}"] .big')
        for name in ("exposed", "true-hit", "given-away", "certain-right")
    }
    for figure in page.locator('[data-figure^="side-"]').all():
        row = figure.locator("xpath=ancestor::tr")
        found[figure.get_attribute("data-figure")] = " ".join(row.locator("td.number").all_inner_texts())
    return found


def figures_of(facts: dict[str, Any]) -> dict[str, str]:
    """The same from the facts that the library gives, rounded as on the screen."""
    truth, hit, records = facts["truth"], facts["shown_hit"], facts["data"]["records"]
    found = {
        "exposed": f"{round(truth['below_half_bit'] * records)}",
        "true-hit": percent(hit["true_hit"]),
        "given-away": percent(truth["given_away"]),
        "certain-right": f"{truth['certain_right']}",
        "side-surprise": " ".join(f"{truth[name]:.3f}" for name in ("surprise", "unprotected", "prior")),
        "side-hit": " ".join(percent(hit[name]) for name in ("release", "unprotected", "prior")),
        "side-true_hit": f"{percent(hit['true_hit'])} – –",
    }
    for each in facts["figures"]:
        show = (lambda value: f"{value:.3f}") if each["unit"] == "bits" else plainly
        found[f"side-{each['name']}"] = " ".join(
            show(each[name]) for name in ("release", "unprotected", "prior")
        )
    return found


def percent(share: float) -> str:
    assert share in (0, 1) or 0.0005 < share < 0.9995  # others are written with more digits
    return f"{100 * share:.1f} %"


def plainly(value: float) -> str:
    """Four significant digits, as the page writes them."""
    return (
        f"{float(f'{value:.4g}'):,.6f}".rstrip("0").rstrip(".") if abs(value) < 1000 else f"{round(value):,}"
    )


def test_by_keyboard_alone(visit: Visit, people: Path, tmp_path: Path) -> None:
    page, keys = visit.page, Keyboard(visit.page)
    assert violations(page) == []
    # A key is pressed faster than Playwright begins to listen, so it listens from now on.
    page.on("filechooser", lambda _: None)
    keys.press("Tab")
    assert keys.at() == "Skip to the content"
    keys.tab_to("#tab-data")
    for key, view in (("ArrowRight", "explore"), ("ArrowLeft", "data")):
        keys.press(key)
        walk.shown(page, view)
    assert keys.at() == "Data"
    keys.tab_to('[data-name="open-file"]')
    with page.expect_file_chooser() as chooser:
        keys.press("Enter")
    chooser.value.set_files(people)
    page.wait_for_selector("text=What each column is")
    for column, role in (("age", "key"), ("sex", "key"), ("pay", "confidential"), ("note", "leave_out")):
        keys.choose(f'[data-name^="role-{column}-"]', role)
    keys.tab_to('[data-name="round-to"]')
    keys.write("10")
    keys.tab_to('[data-name="use-roles"]')
    keys.press("Enter")
    page.wait_for_selector("text=In use.")
    keys.tab_to('.view-data a[href="#explore"]')
    keys.press("Enter")
    page.wait_for_selector('[data-figure="explore-h"]')
    before = page.inner_text('[data-figure="explore-h"] .big')
    keys.tab_to('[data-name="eps"]')
    keys.press("End")
    page.wait_for_function(
        "before => document.querySelector('[data-figure=\"explore-h\"] .big').textContent !== before",
        arg=before,
    )
    keys.tab_to('[data-name="known-sex"]')
    keys.press("Space")
    page.wait_for_selector("text=somebody whose age she knows")
    keys.back_to("#tab-explore")
    keys.press("ArrowRight")
    walk.shown(page, "techniques")
    assert keys.at() == "Techniques"
    keys.tab_to('[data-name="technique-unprotected"]')
    for _ in range(30):
        if page.evaluate("() => document.activeElement.value") == "swapping":
            break
        keys.press("ArrowDown")
    keys.tab_to('[data-name="swapping-rate"]')
    keys.press("ArrowRight", "ArrowRight")
    keys.tab_to('[data-name="add-rule"]')
    keys.press("Enter")
    page.wait_for_selector('[data-name="rule-1-limit"]')
    keys.tab_to('[data-name="rule-1-limit"]')
    keys.write("60")
    keys.tab_to('.view-techniques a[href="#take-away"]')
    page.wait_for_selector("text=Safe by your rule")
    notation = page.inner_text("#notation")
    assert notation.startswith("swapping:rate=")
    keys.press("Enter")
    for kind, files in (("protect", ["certificate.json", "protected.csv"]), ("report", ["report.html"])):
        keys.tab_to(f'[data-name="{kind}"]')
        keys.press("Enter")
        walk.ended(page, kind)
        for file in files:
            keys.tab_to(f'a[download="{file}"]')
            assert downloaded(page, file, tmp_path, enter=True).stat().st_size > 100
    certified = json.loads((tmp_path / "certificate.json").read_text(encoding="utf-8"))
    assert certified["technique"]["notation"] == notation
    assert notation in (tmp_path / "report.html").read_text(encoding="utf-8")
    assert len(pd.read_csv(tmp_path / "protected.csv")) == 60
