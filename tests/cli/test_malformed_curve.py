"""Files that ``equivoc curve`` cannot read: one sentence, whatever is wrong with them."""

from __future__ import annotations

import io
import os
import sys
from pathlib import Path

import pytest

from equivoc.cli.main import main


def refusal(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], source: object) -> str:
    monkeypatch.setattr(sys, "argv", ["equivoc", "curve", str(source)])
    with pytest.raises(SystemExit) as left:
        main()
    assert left.value.code == 2
    return capsys.readouterr().err


def test_a_huge_field(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    file = tmp_path / "x.csv"
    file.write_text("77,0.5\n80," + "9" * 200_000)
    assert "cannot be read as CSV" in refusal(monkeypatch, capsys, file)


def test_a_pipe_that_nobody_writes_to(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    os.mkfifo(tmp_path / "x.csv")
    assert "not an ordinary file" in refusal(monkeypatch, capsys, tmp_path / "x.csv")


def test_standard_input_that_is_no_text(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(b"77,0.5\n\xe9,0.5\n"), encoding="utf-8"))
    assert "standard input is not a text file" in refusal(monkeypatch, capsys, "-")
