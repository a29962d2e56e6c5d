"""The mildest setting for a table, against trying every setting."""

from __future__ import annotations

from typing import Any

import pandas as pd
import pytest

import equivoc as eq

SALES = [5003, 107, 2011, 1801, 1603, 1409, 2203, 1907, 3001, 2609, 2411, 2801]


def made(value: str | None = "sales") -> eq.CellTable:
    frame = pd.DataFrame({"region": list("nnnnsssseeee"), "branch": list("aabb") * 3, "sales": SALES})
    people = eq.Microdata(frame, confidential="sales", keys=["region", "branch"], domain=range(6001))
    return eq.tabulate(people, by=["region", "branch"], value=value)


@pytest.mark.parametrize(
    ("method", "values", "require"),
    [
        (eq.CellRounding(5, "controlled"), [float(v) for v in range(100, 1000, 100)], "hit(100) <= 0.4"),
        (eq.CellSuppression(rule=eq.PPercent(1)), [1.0, 2.0, 3.0], "certain_right <= 0"),
    ],
)
def test_it_is_the_first_that_meets(method: Any, values: list[float], require: str) -> None:
    table = made()
    found = eq.choose(
        table, method, require=[require], low=values[0], high=values[-1], step=values[1] - values[0]
    )
    for value in values:
        setting = (
            eq.CellRounding(value, "controlled")
            if isinstance(method, eq.CellRounding)
            else eq.CellSuppression(rule=eq.PPercent(value))
        )
        if eq.assess(table, setting.release(table), require=[require]).meets:
            assert found.value == value
            break
        assert value in found.tried.iloc[:, 0].tolist()
    else:
        assert found.value is None
    assert found.value is None or str(found.value).removesuffix(".0") in found.sentence


def test_less_epsilon_is_stronger() -> None:
    found = eq.choose(made(None), eq.NoisyCells, require=["h0 >= 3"], low=0.1, high=2, step=0.1)
    assert found.technique == eq.NoisyCells(found.value)
    assert found.failed.epsilon == pytest.approx(found.value + 0.1)
    assert not found.milder.meets


def test_none_meets() -> None:
    found = eq.choose(made(), eq.CellRounding, require=["h0 >= 30"], low=5, high=20, step=5)
    assert found.technique is None
    assert found.sentence.startswith("No setting that was tried meets the requirements (4 settings tried).")
    assert "base=20" in found.sentence


@pytest.mark.parametrize(
    ("method", "options", "sentence"),
    [
        (eq.Redesign(rule=eq.PPercent(10)), {}, "has no setting to choose"),
        (eq.CellRounding, {"parameter": "method"}, "that can be chosen is 'base'"),
        (eq.CellRounding, {"low": None}, "give low and high"),
        (eq.CellRounding, {"low": 9, "high": 1}, "low must not be above high"),
        (eq.CellRounding, {"low": -1}, "low is -1"),
        (eq.CellRounding, {"step": 0}, "step is 0"),
        (eq.CellRounding, {"step": 1e-9}, "give a larger step"),
        (eq.CellRounding, {"require": []}, "no requirement is given"),
        (eq.CellRounding, {"known": ["region"]}, "do not apply to a table"),
        (eq.CellSuppression(rule=eq.Threshold(3)), {}, "one p% rule"),
    ],
)
def test_mistakes_are_named(method: Any, options: dict[str, Any], sentence: str) -> None:
    with pytest.raises(eq.InputError) as refused:
        eq.choose(made(), method, **{"require": ["h0 >= 1"], "low": 1, "high": 5, **options})
    assert sentence in str(refused.value)
