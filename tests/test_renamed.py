"""Old names work, warn once with the new name, and give the same; docs/upgrading.md lists them."""

from __future__ import annotations

import json
import re
import warnings
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pandas as pd
import pytest

import equivoc as eq
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
