"""make demo: the paper's figures are printed, and the picture is drawn."""

from __future__ import annotations

from pathlib import Path

import pytest

from equivoc.demo import main


def test_demo(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    monkeypatch.chdir(tmp_path)
    main()
    printed = capsys.readouterr().out
    for line in ("from ε = 2: H = 0.8113 bits", "area 6.514, ε_max 8", "area = 3K", "area = 57K"):
        assert line in printed
    assert (tmp_path / "out" / "two_salaries.png").read_bytes().startswith(b"\x89PNG\r\n\x1a\n")
    assert "within ±100 cents" in printed
    page = (tmp_path / "out" / "report.html").read_text(encoding="utf-8")
    assert "wage_per_hour" in page
    assert "</html>" in page
