"""The pictures of the documentation show the figures that the program gives today."""

from __future__ import annotations

import json
import struct
from pathlib import Path

import pytest

from docs.making.page_screenshots import SHOWN
from docs.making.pictures import CHARTS, COMPARED, IMAGES, KNOWN, RECORD, REQUIRED, fingerprint, main

DOCS = IMAGES.parent
SCREENSHOTS = {f"page_{view}" for view in SHOWN}
"""Pictures of the page, made by ``docs/making/page_screenshots.py``; they differ from browser to browser."""


def test_every_picture_is_made_by_a_module_and_shown_on_a_page() -> None:
    pages = "".join(page.read_text(encoding="utf-8") for page in DOCS.glob("*.md"))
    assert {picture.stem for picture in IMAGES.glob("*.png")} == {*CHARTS, *SCREENSHOTS}
    assert set(json.loads(RECORD.read_text(encoding="utf-8"))) == set(CHARTS)
    for name in (*CHARTS, *SCREENSHOTS):
        assert f"](images/{name}.png)" in pages, f"no page shows {name}"
        head = (IMAGES / f"{name}.png").read_bytes()[:24]
        width, height = struct.unpack(">II", head[16:])
        assert head[:4] == b"\x89PNG"
        assert 500 < width < 2500
        assert 100 < height < 2500


@pytest.mark.parametrize("name", sorted(CHARTS))
def test_pictures_are_up_to_date(name: str) -> None:
    recorded = json.loads(RECORD.read_text(encoding="utf-8"))
    assert fingerprint(CHARTS[name]()) == recorded[name], f"run: python -m docs.making.pictures {name}"


def test_a_changed_figure_changes_the_fingerprint() -> None:
    import equivoc as eq

    one = eq.curve([1, 3, 8], [0.2, 0.3, 0.5]).plot()
    other = eq.curve([1, 3, 8], [0.2, 0.35, 0.45]).plot()
    assert fingerprint(one) == fingerprint(eq.curve([1, 3, 8], [0.2, 0.3, 0.5]).plot())
    assert fingerprint(one) != fingerprint(other)


def test_the_module_writes_the_picture_and_its_fingerprint(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr("docs.making.pictures.IMAGES", tmp_path)
    monkeypatch.setattr("docs.making.pictures.RECORD", tmp_path / "made_from.json")
    main(["two_salaries"])
    assert (tmp_path / "two_salaries.png").read_bytes()[:4] == b"\x89PNG"
    assert set(json.loads((tmp_path / "made_from.json").read_text(encoding="utf-8"))) == {"two_salaries"}
    assert "two_salaries.png" in capsys.readouterr().out


def test_the_map_is_that_of_the_tutorials_command() -> None:
    text = (DOCS / "tutorial.md").read_text(encoding="utf-8")
    command = next(part for part in text.split("\n$ ") if part.startswith("equivoc compare"))
    assert command.count("--technique ") == len(COMPARED)
    assert command.count("--require ") == len(REQUIRED)
    for technique in COMPARED:
        assert f"--technique {technique}" in command
    for requirement in REQUIRED:
        assert f'--require "{requirement}"' in command
    assert f"--keys {','.join(KNOWN)}" in command
