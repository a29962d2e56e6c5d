"""Messages on stderr while a command runs."""

from __future__ import annotations

import io
import sys

import pytest

from equivoc import parallel as compiled
from equivoc.cli import process as waiting


class Screen(io.StringIO):
    def isatty(self) -> bool:
        return True


def test_the_time_is_shown_only_on_a_terminal(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(compiled, "kernels_are_compiled", lambda _: True)
    monkeypatch.setattr(waiting, "PATIENCE", 0.0)
    told = []
    for stream in (Screen(), io.StringIO()):
        monkeypatch.setattr(sys, "stderr", stream)
        with waiting.waiting("assessing"):
            while isinstance(stream, Screen) and not stream.getvalue():
                pass
        told.append(stream.getvalue())
    assert told[0].startswith("\requivoc: assessing, 0 s")
    assert told[0].endswith(" \r")  # wiped out
    assert told[1] == ""


@pytest.mark.parametrize("there", [True, False])
def test_the_first_run_says_that_it_compiles(
    there: bool, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(compiled, "kernels_are_compiled", lambda _: there)
    with waiting.waiting("assessing"):
        pass
    assert capsys.readouterr().err == ("" if there else f"{waiting.COMPILING}\n")
