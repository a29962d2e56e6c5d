"""In a browser: two tabs show the same state, and a killed server goes on where it was."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import httpx
import pytest

import equivoc as eq
from equivoc.serving.serving import bind
from tests.browser import Visit, in_a_browser
from tests.web import page_walk as walk
from tests.web.page_server import ROLES, PageServer, finished, job_of, opened, people_csv, wait_for

pytestmark = [in_a_browser, pytest.mark.xdist_group("page_tabs")]


def test_two_tabs_show_the_same(
    browser: Any, page_server: PageServer, http: httpx.Client, tmp_path: Path
) -> None:
    file = tmp_path / "people.csv"
    file.write_text(people_csv(), encoding="utf-8")
    visit = Visit(browser, page_server.address)
    one, two = visit.page, visit.context.new_page()
    two.goto(page_server.url)
    walk.upload(one, file)
    two.wait_for_selector("text=people.csv")
    walk.choose_roles(two, confidential="pay", keys=["age", "sex"], round_to=10)
    one.wait_for_selector("text=In use.")
    walk.show(one, "explore")
    walk.show(two, "explore")
    walk.named(one, "eps-number").fill("30")
    walk.named(one, "eps-number").blur()
    two.wait_for_function("() => document.querySelector('[data-name=\"eps-number\"]').value === '30'")
    walk.named(two, "known-sex").click()
    one.wait_for_function("() => !document.querySelector('[data-name=\"known-sex\"]').checked")
    for page in (one, two):
        page.wait_for_selector("text=somebody whose age she knows")
        walk.figures_are(page)
    figures = [page.locator(".tile .big").all_inner_texts() for page in (one, two)]
    assert figures[0] == figures[1]
    assert len(figures[0]) == 8
    walk.show(two, "tables")
    walk.run(two, "table")
    walk.show(one, "tables")
    one.wait_for_selector("table.cells")
    visit.close()
    assert visit.said == []


def test_the_secret_is_in_no_address(browser: Any, page_server: PageServer, http: httpx.Client) -> None:
    """Not the window's, not one that the page asks for, not a Referer; and no script can read it."""
    opened(http)
    secret, address = page_server.cookie.split("=", 1)[1], page_server.address
    referers: list[str] = []
    visit = Visit(browser, "about:blank")
    visit.context.on("request", lambda request: referers.append(request.headers.get("referer", "")))
    page = visit.page
    page.goto(address)
    walk.show(page, "take-away")
    assert page.evaluate("location.href") == f"{page_server.url}/#take-away"
    assert page.evaluate("document.cookie") == ""
    assert [each["httpOnly"] for each in visit.context.cookies()] == [True]
    assert [each["sameSite"] for each in visit.context.cookies()] == ["Strict"]
    assert not any(secret in told for told in (*visit.asked, *referers, page.content()))
    assert [told for told in visit.asked if "token=" in told] == [address]
    walk.press(page, "another-browser")
    offered = page.locator("[data-code=entrance]").inner_text()
    assert offered not in (address, "")
    other = Visit(browser, offered)
    walk.shown(other.page, "take-away")
    page.go_back()
    page.goto(address)  # from the history of a browser that has the cookie
    assert page.evaluate("location.pathname + location.search") == "/"
    strange = Visit(browser, address)
    assert "works once" in strange.page.inner_text("body")
    assert visit.said == other.said == []
    for each in (visit, other, strange):
        each.close()


def test_eight_tabs_load_and_follow_a_job(browser: Any, page_server: PageServer, http: httpx.Client) -> None:
    """A browser holds six connections to a server, for all its tabs together."""
    opened(http)
    settings = [f"noise-addition:percent={percent}" for percent in (5, 10, 20, 40)]
    visit = Visit(browser, page_server.address)
    tabs = [visit.page, *(visit.context.new_page() for _ in range(7))]
    for tab in tabs:
        tab.goto(f"{page_server.url}/#compare")
        tab.wait_for_selector(".view-compare")
    request = {"kind": "compare", "techniques": settings, "intruder": "informed", "eps": 20, "require": []}
    started = http.post("/api/jobs", json=request)
    assert started.status_code == 202, started.text
    for tab in tabs:
        tab.wait_for_selector('[data-kind="compare"]')
    assert finished(http, started.json()["id"])["status"] == "done"
    for tab in tabs:
        tab.wait_for_selector('[data-kind="compare"][data-job="done"]')
        tab.wait_for_selector(".view-compare tbody tr")
    visit.close()
    assert visit.said == []


def test_a_killed_server_goes_on(browser: Any, tmp_path: Path) -> None:
    """SIGKILL in the middle of a comparison. The window says so; with the next server on the same port, the comparison
    ends with the same figures as one that nobody interrupted, in the new window and in the old one."""
    with bind("127.0.0.1", 0) as free:
        port = str(free.getsockname()[1])
    folder, file = tmp_path / "page", tmp_path / "people.csv"
    file.write_text(people_csv(), encoding="utf-8")
    percents = range(2, 62, 2)
    settings = [f"noise-addition:percent={percent}" for percent in percents]
    server = PageServer.start(folder, "--port", port)
    with server.client() as http:
        opened(http, roles={**ROLES, "kind": {"kind": "number", "round_to": 10}})
        http.patch(
            "/api/state", json={"settings": settings, "view": {"eps": 20, "require": ["true_hit(20) <= 0.9"]}}
        )
        visit = Visit(browser, server.address)
        page = visit.page
        walk.show(page, "compare")
        page.click("text=How they are compared")
        walk.named(page, "intruder").select_option("informed")
        walk.press(page, "compare")
        name = wait_for(
            lambda: [job["id"] for job in http.get("/api/state").json()["jobs"] if job["kind"] == "compare"]
        )[0]
        assert 0 < wait_for(lambda: job_of(http, name)["done"]) < len(settings)
    server.kill()
    page.wait_for_selector("text=The server does not answer.")
    server = PageServer.start(folder, "--port", port)
    try:
        page.wait_for_selector("text=The server does not know this window.")
        fresh = visit.context.new_page()
        fresh.goto(server.address)
        walk.show(fresh, "compare")
        tables = []
        for each in (fresh, page):
            walk.ended(each, "compare")
            each.wait_for_selector(".view-compare tbody tr")
            rows = each.locator(".view-compare tbody tr").all()
            tables.append([" ".join(row.locator("td.number").all_inner_texts()) for row in rows])
        assert page.locator(".banner").count() == 0
        visit.close()
        with server.client() as http:
            assert job_of(http, name)["status"] == "done"
            told = http.get(f"/api/jobs/{name}/result").json()
    finally:
        assert server.stop() == (0, "")
    people = eq.read(file, confidential="pay", keys=["age", "sex"], round_to=10)
    every = [eq.NoiseAddition(percent=percent) for percent in percents]
    same = eq.compare(
        people, every, require=["true_hit(20) <= 0.9"], intruder="informed", eps=[0, 20]
    ).facts()
    assert {part: value for part, value in told.items() if part != "charts"} == same
    assert tables[0] == tables[1]
    assert len(tables[0]) == len(settings)
