"""`make docs`: the site builds without warnings, loads nothing from outside, and documents every public name."""

from __future__ import annotations

import importlib.util
import inspect
import os
import re
import shutil
import subprocess
import sys
from collections.abc import Iterator
from html.parser import HTMLParser
from pathlib import Path
from typing import Any
from urllib.parse import unquote, urlsplit

import pytest

import equivoc as eq
from tests.browser import Visit, in_a_browser

ROOT = Path(__file__).resolve().parent.parent
pytestmark = pytest.mark.skipif(
    not (importlib.util.find_spec("mkdocs") and importlib.util.find_spec("mkdocstrings")),
    reason="mkdocs-material or mkdocstrings-python is not installed (make setup)",
)


class Page(HTMLParser):
    """What a page links to, what it loads, and the places that can be linked to."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.links: list[str] = []
        self.loads: list[str] = []
        self.places: set[str] = set()
        self.feed(text)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        given = {name: value or "" for name, value in attrs}
        self.places.add(given.get("id", ""))
        if tag == "a" and "href" in given:
            self.links.append(given["href"])
        elif tag == "link" and given.get("rel") not in {"prev", "next", "canonical"}:
            self.loads.append(given.get("href", ""))
        elif "src" in given:
            self.loads.append(given["src"])


def outside(address: str) -> bool:
    return bool(urlsplit(address).netloc)


def build(root: Path, folder: Path) -> subprocess.CompletedProcess[str]:
    """Run the command of `make docs`."""
    return subprocess.run(
        [sys.executable, "-m", "mkdocs", "build", "--strict", "--site-dir", str(folder)],
        cwd=root,
        env={**os.environ, "NO_MKDOCS_2_WARNING": "1", "NO_COLOR": "1"},
        capture_output=True,
        encoding="utf-8",
        check=False,
    )


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("docs") / "site"
    done = build(ROOT, folder)
    assert done.returncode == 0, done.stderr
    return folder


def test_the_command_is_that_of_the_makefile() -> None:
    assert "$(BIN)/python -m mkdocs build --strict\n" in (ROOT / "Makefile").read_text(encoding="utf-8")


@pytest.mark.parametrize(
    "text",
    ["[a page](nowhere.md)", "[a place](index.md#nowhere)", "::: equivoc.nowhere"],
    ids=["page", "place", "name"],
)
def test_a_wrong_link_or_name_is_an_error(text: str, tmp_path: Path) -> None:
    settings = (ROOT / "mkdocs.yml").read_text(encoding="utf-8")
    (tmp_path / "mkdocs.yml").write_text(settings[: settings.index("nav:")], encoding="utf-8")
    for folder in ("making", "assets"):
        shutil.copytree(ROOT / "docs" / folder, tmp_path / "docs" / folder)
    (tmp_path / "src").symlink_to(ROOT / "src")
    (tmp_path / "docs" / "making" / "reference_pages.py").write_text("", encoding="utf-8")
    for end, expected in (("", 0), (text, 1)):
        (tmp_path / "docs" / "index.md").write_text(f"# A page\n\n{end}\n", encoding="utf-8")
        done = build(tmp_path, tmp_path / "site")
        assert done.returncode == expected, done.stderr


@pytest.fixture(scope="module")
def pages(site: Path) -> dict[Path, Page]:
    return {path: Page(path.read_text(encoding="utf-8")) for path in site.rglob("*.html")}


def test_every_page_of_the_documentation_is_in_the_site(site: Path) -> None:
    for page in (ROOT / "docs").glob("*.md"):
        assert (site / f"{page.stem}.html").exists(), page.name


def test_nothing_is_loaded_from_outside(site: Path, pages: dict[Path, Page]) -> None:
    for path, page in pages.items():
        assert page.loads, path.name
        assert not [address for address in page.loads if outside(address)], path.name
    for sheet in site.rglob("*.css"):
        text = sheet.read_text(encoding="utf-8")
        assert not re.findall(r"(?:url\(|@import)\s*[\"']?(?:https?:)?//", text), sheet.name


def test_internal_links_lead_somewhere(site: Path, pages: dict[Path, Page]) -> None:
    for path, page in pages.items():
        if path.name == "404.html":  # its addresses are those of a server
            continue
        for address in [*page.links, *page.loads]:
            if outside(address) or not address:
                continue
            parts = urlsplit(address)
            target = (path.parent / unquote(parts.path)).resolve() if parts.path else path
            assert target.exists(), f"{path.name}: {address}"
            if parts.fragment and target in pages:
                assert unquote(parts.fragment) in pages[target].places, f"{path.name}: {address}"


def public_names() -> Iterator[tuple[str, object]]:
    for name in eq.__all__:
        yield f"equivoc.{name}", getattr(eq, name)
    for package in (eq.models, eq.datasets, eq.requests, eq.results, eq.tables):
        for name in package.__all__:
            yield f"{package.__name__}.{name}", getattr(package, name)


def text_of(page: Path) -> str:
    without_tags = re.sub(r"<[^>]+>", "", page.read_text(encoding="utf-8"))
    return "".join(without_tags.split())


def test_every_public_name_has_an_entry_with_its_docstring(site: Path, pages: dict[Path, Page]) -> None:
    texts = {path: text_of(path) for path in (site / "reference").glob("*.html")}
    for name, found in public_names():
        homes = [path for path in texts if name in pages[path].places]
        assert len(homes) == 1, f"{name} has {len(homes)} entries"
        words = re.findall(r"[A-Za-z]{3,}", (inspect.getdoc(found) or "").split("\n")[0])[:3]
        if not isinstance(found, str):
            assert words, f"{name} has no docstring"
            assert all(word in texts[homes[0]] for word in words), name


def test_signatures_show_arguments_only(site: Path) -> None:
    for page in (site / "reference").glob("*.html"):
        assert "ClassVar" not in text_of(page)


def test_examples_in_docstrings_are_code(site: Path) -> None:
    text = (site / "reference" / "techniques.html").read_text(encoding="utf-8")
    assert "<blockquote>" not in text
    assert text.count("highlight") > 10


@in_a_browser
def test_search_works_from_the_disk_without_network(site: Path, browser: Any) -> None:
    visit = Visit(browser, (site / "glossary.html").as_uri())
    visit.page.click("input[name=query]")
    visit.page.keyboard.type("swapping")
    visit.page.wait_for_selector(".md-search-result__item")
    visit.close()
    assert any("search_index" in address for address in visit.asked)
    assert not [address for address in visit.asked if address.startswith(("http:", "https:", "//"))]
    assert not visit.said
