"""Debian's chromium, driven by Playwright: how every test of this project finds it, starts it and listens to a page."""

from __future__ import annotations

import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import pytest

CHROMIUM = shutil.which("chromium") or shutil.which("chromium-browser")
OPTIONS = ["--headless", "--no-sandbox", "--disable-gpu", "--disable-background-networking", "--no-first-run"]
PATIENCE = 60_000
"""Milliseconds that a page may take on a busy machine before a test fails."""

in_a_browser = pytest.mark.filterwarnings("ignore::ResourceWarning", "ignore::DeprecationWarning")
"""The mark of tests with a browser: Playwright's own warnings are not ours to mend."""


@contextmanager
def chromium() -> Iterator[Any]:
    """The browser, running; the test is skipped where there is none."""
    playwright = pytest.importorskip("playwright.sync_api", reason="no browser: playwright is not installed")
    if CHROMIUM is None:
        pytest.skip("no browser: chromium is not installed (apt install chromium)")
    with playwright.sync_playwright() as driver:
        browser = driver.chromium.launch(executable_path=CHROMIUM, args=OPTIONS)
        yield browser
        browser.close()


class Visit:
    """A page that was opened in a window of its own, with all that it said and asked for."""

    def __init__(self, browser: Any, address: str, **options: Any) -> None:
        self.said: list[str] = []
        """Messages of the console, errors, refused requests and dialogs."""
        self.asked: list[str] = []
        """The addresses of all requests."""
        self.context = browser.new_context(**{"viewport": {"width": 1100, "height": 900}, **options})
        self.context.set_default_timeout(PATIENCE)
        self.context.on("request", lambda request: self.asked.append(request.url))
        self.context.on("response", self._note_failure)
        self.context.on("weberror", lambda problem: self.said.append(str(problem.error)))
        self.context.on("console", lambda message: self.said.append(message.text))
        self.context.on("dialog", self._dismiss)
        self.page = self.context.new_page()
        self.page.goto(address)

    def _note_failure(self, response: Any) -> None:
        if response.status >= 400:
            self.said.append(f"{response.status} {response.request.method} {response.url}")

    def _dismiss(self, dialog: Any) -> None:
        self.said.append(f"dialog: {dialog.message}")
        dialog.dismiss()

    def drawn(self) -> Visit:
        """When the charts of a report are drawn."""
        self.page.wait_for_function("() => document.documentElement.dataset.drawn")
        return self

    def width(self) -> int:
        """How wide the content is, in pixels; what exceeds the window's width is seen only by scrolling."""
        return int(self.page.evaluate("document.documentElement.scrollWidth"))

    def close(self) -> None:
        """Close the window and forget its cookies."""
        self.context.close()


def violations(page: Any) -> list[str]:
    """What axe-core finds wrong with a page for people who use a screen reader, a keyboard or strong contrasts."""
    axe = pytest.importorskip(
        "axe_playwright_python.sync_playwright", reason="axe-playwright-python is not installed"
    )
    found = axe.Axe().run(page, options={"resultTypes": ["violations"]}).response["violations"]
    return [
        f"{each['id']} ({each['impact']}): {node['target']} {node['failureSummary']}"
        for each in found
        for node in each["nodes"][:3]
    ]
