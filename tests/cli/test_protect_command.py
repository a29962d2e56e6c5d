"""``equivoc protect`` and ``equivoc verify``: what they print, their exit codes, and one sentence for every mistake."""

from __future__ import annotations

import json
import shlex
import sys
from pathlib import Path

import pytest

from equivoc.cli.main import main

ROLES = "--confidential pay --keys age,sex"
PEOPLE = "age,sex,pay,town\n" + "30,F,10,a\n30,F,20,b\n30,M,20,a\n41,M,30,b\n41,M,30,a\n52,F,50,b\n" * 4


@pytest.fixture
def run(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("COLUMNS", "100")
    Path("people.csv").write_text(PEOPLE)

    def run(command: str) -> tuple[int, str, str]:
        monkeypatch.setattr(sys, "argv", ["equivoc", *shlex.split(command)])
        with pytest.raises(SystemExit) as left:
            main()
        told = capsys.readouterr()
        return int(left.value.code or 0), told.out, told.err

    return run


def test_protect_and_verify(run) -> None:
    code, out, err = run(f"protect people.csv {ROLES} --technique swapping:rate=0.4 --out protected.csv")
    assert (code, err) == (0, "")
    assert "swapping:rate=0.4: 24 rows, columns age, sex, pay." in out
    assert "written: protected.csv\nwritten: protected.certificate.json\n" in out
    code, out, err = run("verify protected.certificate.json people.csv protected.csv")
    assert (code, err) == (0, "")
    assert out.endswith("The certificate holds.\n")
    assert "not checked: The release was not made again" in out


def test_names_with_commas_stand_in_double_quotes(run) -> None:
    header = 'age,sex,"Wage, per hour","the ""town"", or city"\n'
    Path("people.csv").write_text(header + PEOPLE.partition("\n")[2])
    roles = """--confidential '"Wage, per hour"' --keys age,sex --keep '"the ""town"", or city"'"""
    code, out, err = run(f"protect people.csv {roles} --technique swapping:rate=0.4 --out protected.csv")
    assert (code, err) == (0, "")
    assert 'columns age, sex, Wage, per hour, the "town", or city.' in out
    assert Path("protected.csv").read_text().startswith(header)
    assert run("verify protected.certificate.json people.csv protected.csv")[0] == 0


def test_verify_says_what_is_wrong_and_ends_with_2(run) -> None:
    run(f"protect people.csv {ROLES} --technique swapping:rate=0.4 --seed 7 --out protected.csv")
    code, out, err = run("verify protected.certificate.json people.csv protected.csv --seed 8")
    assert code == 2
    assert "wrong: The file is not what swapping:rate=0.4 with this seed makes" in out
    assert err.startswith("equivoc: the certificate does not hold. The file is not what")
    assert err.count("\n") == 1
    code, out, _ = run("verify protected.certificate.json people.csv protected.csv --seed 8 --json")
    assert code == 2
    assert json.loads(out)["holds"] is False
    code, out, _ = run("verify protected.certificate.json people.csv protected.csv --seed 7 --json")
    assert (code, json.loads(out)["holds"]) == (0, True)


def test_requirements_decide_the_exit_code(run) -> None:
    words = f"protect people.csv {ROLES} --technique unprotected --out protected.csv"
    code, out, err = run(f'{words} --require "k >= 4" --require "h0 >= 0"')
    assert (code, err) == (0, "")
    assert "k >= 4 is met" in out
    Path("protected.csv").unlink()
    Path("protected.certificate.json").unlink()
    code, out, err = run(f'{words} --require "k >= 5"')
    assert (code, err) == (3, "")
    assert "k >= 5 is not met" in out
    assert "Not written" in out
    assert not Path("protected.csv").exists()
    assert not Path("protected.certificate.json").exists()
    code, out, _ = run(f'{words} --require "k >= 5" --write-anyway --json')
    assert code == 3
    told = json.loads(out)
    assert (told["written"], told["meets"]) == (True, False)
    assert told["certificate"] == json.loads(Path("protected.certificate.json").read_text())
    assert run("verify protected.certificate.json people.csv protected.csv")[0] == 0


def test_the_seed_is_printed_only_on_request(run) -> None:
    words = (
        f"protect people.csv {ROLES} --technique swapping:rate=0.4 --out protected.csv --seed 8273645182736"
    )
    for more in ("", " --json"):
        _, out, err = run(words + more)
        assert "8273645182736" not in out + err + Path("protected.certificate.json").read_text()
    _, out, _ = run(f"{words} --show-seed")
    assert "Seed: 8273645182736" in out
    assert "can undo the random changes" in out
    assert json.loads(Path("protected.certificate.json").read_text())["seed"] == "8273645182736"


def test_keep_and_several_attributes(run) -> None:
    words = "protect people.csv --confidential pay,town --keys age,sex --technique sampling:fraction=0.5"
    code, out, _ = run(f"{words} --out p.parquet --certificate c.json --eps pay=10,town=1")
    assert code == 0
    assert json.loads(Path("c.json").read_text())["file"]["columns"] == ["age", "sex", "pay", "town"]
    assert run("verify c.json people.csv p.parquet")[0] == 0
    code, out, _ = run(f"protect people.csv {ROLES} --technique suppression:k=2 --keep town --out p.csv")
    assert code == 0
    assert "Note: town is published as in the original" in out
    assert Path("p.csv").read_text().startswith("age,sex,pay,town\n")


@pytest.mark.parametrize(
    ("words", "said"),
    [
        ("--technique query-restriction:size=8 --out p.csv", "makes no file"),
        ("--technique released-file:table=people.csv --out p.csv", "makes none"),
        ("--technique sampling:fraction=2 --out p.csv", "fraction is 2"),
        ("--technique unprotected --out people.csv", "also an input"),
        ("--technique unprotected --out p.csv --certificate people.csv", "also an input"),
        ("--technique unprotected --out p.xlsx", "ends in .csv or .parquet"),
        ("--technique unprotected --out p.csv --keep twon", "did you mean 'town'"),
        ("--technique unprotected --out p.csv --keep ''", "--keep is empty"),
        ("--technique unprotected --out p.csv --require 'h0 > 2'", "character"),
        ("--technique unprotected --out p.csv --require 'h0 >= 3' --require 'h0 <= 2'", "h0"),
        ("--technique unprotected --out p.csv --known town", "is not a key"),
        ("--technique unprotected --out p.csv --prior normal", "--prior normal"),
        ("--technique geometric-noise:epsilon=1 --seed 7 --out p.csv", "is not private"),
        ("--technique noisy-table:epsilon=1 --keep town --out p.csv", "not records of the original"),
        ("--technique unprotected", "Missing option '--out'"),
        ("--out p.csv", "Missing option '--technique'"),
    ],
)
def test_mistakes(words: str, said: str, run) -> None:
    code, out, err = run(f"protect people.csv {ROLES} {words}")
    assert (code, out) == (2, "")
    assert said in err
    assert err.count("\n") == 1
    assert [path.name for path in Path().iterdir()] == ["people.csv"]
    assert Path("people.csv").read_text() == PEOPLE


def test_a_file_that_a_technique_reads_is_not_overwritten(run) -> None:
    Path("age.csv").write_text("30;young\n41;old\n52;old\n")
    words = f"protect people.csv {ROLES} --technique generalisation:k=2,hierarchies=age:age.csv"
    assert run(f"{words} --out age.csv")[0] == 2
    assert run(f"{words} --out p.csv --certificate age.csv")[0] == 2
    assert run(f"{words} --out p.csv")[0] == 0
    assert run("verify p.certificate.json people.csv p.csv")[0] == 0
    Path("age.csv").write_text("30;young\n41;young\n52;old\n")
    code, _, err = run("verify p.certificate.json people.csv p.csv")
    assert code == 2
    assert "The files that the technique names are not those it was made with" in err
