"""Old names work and give the same, older stores are read or refused, as docs/upgrading.md says."""

from __future__ import annotations

import json
import re
import shutil
import sqlite3
import warnings
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pandas as pd
import pytest

import equivoc as eq
from equivoc.experiments.stores import CHOICE, COMPARISON, STUDY
from equivoc.techniques.notation import technique_from
from tests.commands import run_command

PAGE = (Path(__file__).parent.parent / "docs" / "upgrading.md").read_text(encoding="utf-8")
FRAME = pd.DataFrame({"sex": list("FFMMFM"), "pay": [10, 20, 30, 40, 50, 60]})


def people() -> eq.Microdata:
    return eq.Microdata(FRAME, confidential="pay", keys=["sex"])


def assessed(**how: Any) -> Any:
    return eq.assess(people(), eq.Unprotected(), **how)


CALLS: dict[str, tuple[str, Callable[..., Any], Any, Callable[[Any], Any]]] = {
    "eq.assess(…, tolerance=0.01)": ("precision", assessed, 0.01, lambda it: it.summary),
    "eq.budget(…, epsilons=[1, 10])": (
        "budgets",
        lambda **how: eq.budget(people(), eps=0, **how),
        [1, 10],
        lambda it: it.frame.to_dict(),
    ),
    'eq.NoiseAddition(…, intruder="interval")': (
        "belief",
        lambda **how: eq.NoiseAddition(percent=20, **how),
        "interval",
        lambda it: it,
    ),
    'eq.QueryRestriction(…, intruder="bayes")': (
        "belief",
        lambda **how: eq.QueryRestriction(size=2, **how),
        "bayes",
        lambda it: it,
    ),
    'eq.Microaggregation(…, intruder="order")': (
        "belief",
        lambda **how: eq.Microaggregation(size=3, **how),
        "order",
        lambda it: it,
    ),
}


def old_argument(call: str) -> str:
    found = re.search(r"(\w+)=[^=]*\)$", call)
    assert found
    return found[1]


@pytest.mark.parametrize("call", CALLS)
def test_an_old_argument_warns_once_and_gives_the_same(call: str) -> None:
    new, function, value, figures = CALLS[call]
    old = old_argument(call)
    assert f"| `{call}` | `{call.replace(f'{old}=', f'{new}=')}` |" in PAGE
    with warnings.catch_warnings(record=True) as said:
        warnings.simplefilter("always")
        result = function(**{old: value})
    assert [str(each.message) for each in said] == [
        f"{old} is now called {new}; the old name works until version 1.0."
    ]
    assert said[0].category is DeprecationWarning
    assert said[0].filename == __file__
    assert figures(result) == figures(function(**{new: value}))
    with (
        pytest.warns(DeprecationWarning, match="is now called"),
        pytest.raises(eq.InputError, match=f"{old} is the old name of {new}: give {new} only"),
    ):
        function(**{old: value, new: value})


def test_old_attributes_warn_and_give_the_same() -> None:
    result = assessed(precision=0.01)
    with pytest.warns(DeprecationWarning, match="tolerance is now called precision"):
        assert result.tolerance == result.precision == 0.01
    technique = eq.QueryRestriction(size=2, belief="bayes")
    with pytest.warns(DeprecationWarning, match="intruder is now called belief"):
        assert technique.intruder == technique.belief == "bayes"  # type: ignore[attr-defined]


@pytest.mark.parametrize(
    "text",
    [
        "noise-addition:percent=20,intruder=interval",
        "query-restriction:size=8,intruder=bayes",
        "microaggregation:size=3,intruder=order",
    ],
)
def test_old_notations_are_read_and_new_ones_written(text: str) -> None:
    assert technique_from(text).notation == text.replace("intruder", "belief")
    with pytest.raises(eq.InputError, match="intruder is the old name of belief"):
        technique_from(f"{text},belief=order")


def test_tasks_with_old_names_are_read() -> None:
    people = {"source": "people.csv", "confidential": "pay", "keys": ["sex"]}
    task = {"verb": "assess", "people": people, "technique": "noise-addition:percent=20,intruder=interval"}
    old = eq.requests.read({**task, "tolerance": 0.01})
    new = eq.requests.read(
        {**task, "technique": "noise-addition:percent=20,belief=interval", "precision": 0.01}
    )
    assert old == new == eq.requests.read(old.json)
    assert "tolerance" not in json.loads(old.json)


def test_the_old_option_gives_the_same(tmp_path: Path) -> None:
    FRAME.to_csv(tmp_path / "people.csv", index=False)
    words = ["assess", "people.csv", "--confidential", "pay", "--keys", "sex", "--json"]
    old, new = (run_command(tmp_path, [*words, option, "0.01"]) for option in ("--tolerance", "--precision"))
    assert (old.returncode, old.stdout, old.stderr) == (new.returncode, new.stdout, new.stderr)
    assert old.returncode == 0
    assert json.loads(old.stdout)
    both = run_command(tmp_path, [*words, "--tolerance", "0.01", "--precision", "0.01"])
    assert both.returncode == 2
    assert "--tolerance is the old name of --precision: give --precision only." in both.stderr


def test_break_points_are_the_epsilons() -> None:
    one, many = eq.curve([1, 3, 8], [0.5, 0.2, 0.3]), eq.curves([1, 3, 8], [[0.5, 0.2, 0.3]])
    assert one.break_points.tolist() == one.epsilons.tolist() == [0, 2, 7]
    assert many.break_points.tolist() == many.epsilons.tolist() == [0, 2, 5, 7]


LIMITS: dict[str, Any] = {"require": ["h0 >= 0.1"], "intruder": "informed"}


def test_choose_takes_a_list_as_choose_among_does() -> None:
    ranges = ["top-bottom-coding:high=30..60..30", "sampling:fraction=0.4..0.5..0.1"]
    old = eq.choose_among(people(), ranges, utility="averages", **LIMITS)
    new = eq.choose(people(), ranges, utility="averages", **LIMITS)
    assert type(old) is type(new) is eq.results.ChoiceAmong
    assert (str(old), old.tried.to_dict()) == (str(new), new.tried.to_dict())
    with pytest.raises(eq.InputError, match="low, high, step and fixed belong to a single technique"):
        eq.choose(people(), ranges, low=1, **LIMITS)
    with pytest.raises(eq.InputError, match="utility compares several techniques"):
        eq.choose(people(), "sampling:fraction=0.4..0.5..0.1", utility="averages", **LIMITS)


@pytest.mark.parametrize(
    "words",
    [
        "audit people.csv --confidential pay {queries|statements} log.sql",
        "table people.csv --by sex --value pay {hierarchies|key-hierarchies} sex:groups.csv",
        "choose people.csv --confidential pay --keys sex --technique sampling:fraction=0.4..0.5..0.1 "
        "--require h0>=0.1 --intruder informed {out|store} folder",
    ],
)
def test_both_names_of_an_option_do_the_same(words: str, tmp_path: Path) -> None:
    outputs = []
    for which in (1, 2):
        FRAME.to_csv(tmp_path / "people.csv", index=False)
        (tmp_path / "log.sql").write_text("SELECT SUM(pay) FROM people WHERE sex = 'F';", encoding="utf-8")
        (tmp_path / "groups.csv").write_text("F,all\nM,all\n", encoding="utf-8")
        command = re.sub(r"\{(\S+)\|(\S+)\}", rf"--\{which}", words)
        assert f"{command.split()[0]} … {command.split()[-2]} " in PAGE
        ran = run_command(tmp_path, [*command.split(), "--json"])
        assert ran.returncode == 0, ran.stderr
        outputs.append(json.loads(ran.stdout))
        if (tmp_path / "folder").exists():
            assert (tmp_path / "folder" / "tried.csv").is_file()
            shutil.rmtree(tmp_path / "folder")
    assert outputs[0] == outputs[1]


def test_stores_are_read_or_refused_as_the_page_says(tmp_path: Path) -> None:
    rows = dict(re.findall(r"^\| (`equivoc (?:study|comparison|choice).*) \| (.*) \|$", PAGE, re.M))
    formats = {name: text for names, text in rows.items() for name in re.findall(r"`(.*?)`", names)}
    read = {text for text, says in formats.items() if says.startswith("read")}
    kinds = (STUDY, COMPARISON, CHOICE)
    assert read == {text for kind in kinds for text in (kind.format, kind.before_digests) if text}
    assert formats.keys() - read == {text for kind in kinds for text in kind.old_formats}
    study = eq.Study(people(), techniques=[eq.Unprotected()], known_sizes=[0], replicates=1)
    study.run(store=tmp_path / "kept", workers=1)
    assert eq.Study.load(tmp_path / "kept").results.equals(eq.load_study(tmp_path / "kept").results)
    any_other = re.search(r'^\| any other \| refused: it "(.*)" \(', PAGE, re.M)
    assert any_other
    refused = {text: formats[text].split('"')[1] for text in formats.keys() - read}
    for text, sentence in {**refused, "equivoc study 9": any_other[1]}.items():
        with sqlite3.connect(tmp_path / "kept" / STUDY.file) as connection:
            connection.execute("UPDATE study SET format = ?", (text,))
        before = (tmp_path / "kept" / STUDY.file).read_bytes()
        with pytest.raises(eq.InputError) as caught:
            eq.Study.load(tmp_path / "kept")
        assert sentence in str(caught.value)
        assert (tmp_path / "kept" / STUDY.file).read_bytes() == before


def test_exit_codes_are_those_of_the_page(tmp_path: Path) -> None:
    FRAME.to_csv(tmp_path / "people.csv", index=False)
    words = ["measures", "people.csv", "--keys", "sex"]
    ran = [run_command(tmp_path, more) for more in (words, [*words, "--confidential", "nowhere"])]
    limit = ["assess", "people.csv", "--confidential", "pay", "--keys", "sex", "--require", "h0 >= 9"]
    codes = [each.returncode for each in (*ran, run_command(tmp_path, limit))]
    assert codes == [0, 2, 3]
    assert re.findall(r"^\| (\d+) \|", PAGE, re.M) == ["0", "1", "2", "3", "130", "143"]
