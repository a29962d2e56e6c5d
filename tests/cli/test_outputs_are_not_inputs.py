"""No command writes over what it reads, over another output, or over a device."""

from __future__ import annotations

import os
import stat
import sys
from pathlib import Path

import pytest

from equivoc.cli.main import main

ROLES = "--confidential pay --keys age,sex"
PLAN = '[data]\npath = "results.csv"\nconfidential = "pay"\nkeys = ["age"]\n[[technique]]\nname = "unprotected"\n'
FILES = {
    "people.csv": "age,sex,pay\n30,F,10\n30,F,20\n30,M,20\n41,M,30\n41,M,30\n52,F,50\n",
    "d/records.csv": "age,sex,pay\n30,F,10\n30,F,20\n",
    "c.png": "1,.5\n2,.5\n",
    "s/results.csv": "age,pay\n30,10\n",
    "s/plan.toml": PLAN,
    "r/claims.csv": "AGEP,SEX\n30,1\n",
}


@pytest.mark.parametrize(
    "command",
    [
        f"report people.csv {ROLES} --out people.csv",
        f"report people.csv {ROLES} --json people.csv",
        f"report people.csv {ROLES} --json ./report.html",
        f"report d/records.csv {ROLES} --release people.csv --out people.csv",
        f"report d/records.csv {ROLES} --technique released-file:table=people.csv --out people.csv",
        f"report d/records.csv {ROLES} --control people.csv --out people.csv",
        f"assess d/records.csv {ROLES} --out d",
        "curve c.png --plot c.png",
        "study s/plan.toml --out s",
        "reproduce --pums r/claims.csv --out r",
        f"report people.csv {ROLES} --out pipe",
    ],
)
def test_refused_before_any_work(
    command: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    for name, text in FILES.items():
        Path(name).parent.mkdir(exist_ok=True)
        Path(name).write_text(text)
    os.mkfifo("pipe")
    before = sorted(tmp_path.rglob("*"))
    monkeypatch.setattr(sys, "argv", ["equivoc", *command.split()])
    with pytest.raises(SystemExit) as left:
        main()
    assert left.value.code == 2
    told = capsys.readouterr()
    assert "cannot be written" in told.err
    assert told.err.count("\n") == 1
    assert sorted(tmp_path.rglob("*")) == before
    assert {name: Path(name).read_text() for name in FILES} == FILES
    assert stat.S_ISFIFO(Path("pipe").stat().st_mode)
