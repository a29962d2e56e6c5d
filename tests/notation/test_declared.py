"""Declared parameters: what a declaration rules out is refused by name; every text leads back to the same object."""

from __future__ import annotations

import json
from dataclasses import dataclass, field
from typing import Any, ClassVar

import pytest
from hypothesis import given
from hypothesis import strategies as st

import equivoc as eq
from equivoc.errors import InputError
from equivoc.notation.declared import Declared, Param, choice, columns, flag, number, params, text
from equivoc.notation.described import docs_rows, first_sentence, invalid_values
from equivoc.techniques.notation import TECHNIQUES, technique_from

VALID: dict[str, dict[str, Any]] = {
    "sampling": {"fraction": 0.1},
    "query-restriction": {"size": 4},
    "noise-addition": {"percent": 5},
    "rounding": {"base": 5},
    "top-bottom-coding": {"high": 9},
    "date-shift": {"days": 30},
    "pram": {"keep": 0.5},
    "geometric-noise": {"epsilon": 1},
    "noisy-table": {"epsilon": 1},
    "generalisation": {"k": 3},
    "suppression": {"k": 3},
    "swapping": {"rate": 0.2},
    "microaggregation": {"size": 3},
    "released-file": {"table": "a.csv"},
    "unprotected": {},
}
EVERY = [(name, each) for name, kind in TECHNIQUES.items() for each in params(kind)]


@dataclass(frozen=True)
class Brew(Declared):
    """Makes tea. It takes some minutes."""

    name: ClassVar[str] = "brew"
    cups: int = number("how many", at_least=1, at_most=6, whole=True)
    heat: float = number("degrees", above=0, below=100, default=80.0)
    leaf: str | None = choice("the sort", "black", "green", default=None)
    on: Any = columns("where", default="keys")
    hot: bool = flag("served hot")
    remark: str = text("anything", default="")
    boiled: bool = field(default=False)


@pytest.mark.parametrize(("name", "param"), EVERY, ids=[f"{name}:{param.name}" for name, param in EVERY])
def test_what_a_declaration_rules_out_is_refused_by_name(name: str, param: Param) -> None:
    rest = {key: value for key, value in VALID[name].items() if key != param.name}
    values = invalid_values(param)
    assert values or param.kind in ("columns", "file", "text")
    for value in values:
        with pytest.raises(InputError, match=rf"^{name}: {param.name} is "):
            TECHNIQUES[name](**rest, **{param.name: value})


@pytest.mark.parametrize(
    ("given", "sentence"),
    [
        ({"cups": 0}, "brew: cups is 0; it must be from 1 to 6."),
        ({"cups": 2.0}, "brew: cups is 2.0; it must be from 1 to 6."),
        ({"cups": True}, "brew: cups is True; it must be from 1 to 6."),
        ({"cups": 1, "heat": 100}, "brew: heat is 100; it must be above 0 and below 100."),
        ({"cups": 1, "heat": float("nan")}, "brew: heat is nan; it must be above 0 and below 100."),
        ({"cups": 1, "heat": None}, "brew: heat is None; it must be above 0 and below 100."),
        ({"cups": 1, "leaf": "blue"}, "brew: leaf is 'blue'; it must be one of black, green."),
        ({"cups": 1, "leaf": ["black"]}, "brew: leaf is ['black']; it must be one of black, green."),
        ({"cups": 1, "hot": 1}, "brew: hot is 1; it must be true or false."),
        (
            {"cups": 1, "on": 3},
            'brew: on is 3; give "confidential", "keys", "all" or columns by their names.',
        ),
        ({"cup": 1}, "brew has no parameter 'cup': did you mean 'cups'?"),
        ({}, "brew needs cups, as in brew:cups=…."),
    ],
)
def test_the_sentence_names_what_is_wrong(given: dict[str, Any], sentence: str) -> None:
    with pytest.raises(InputError) as raised:
        Brew.read(given)
    assert str(raised.value) == sentence


def test_limits_are_valid_or_not_as_they_say() -> None:
    for cups in (1, 6):
        assert Brew(cups).cups == cups
    assert Brew(1, heat=99.999).heat == 99.999
    with pytest.raises(InputError):
        Brew(7)


names = st.text(min_size=1, max_size=8).filter(lambda name: name.strip() and "\0" not in name)
brews = st.builds(
    Brew,
    cups=st.integers(1, 6),
    heat=st.floats(0.001, 99),
    leaf=st.sampled_from([None, "black", "green"]),
    on=st.sampled_from(["keys", "all", "confidential"]) | st.lists(names, min_size=1, max_size=3).map(tuple),
    hot=st.booleans(),
)


@given(brews)
def test_plain_data_leads_back(brew: Brew) -> None:
    assert Brew.read(json.loads(json.dumps(brew.data))) == brew
    made = eval(brew.python, {"eq": type("eq", (), {"Brew": Brew})})
    assert made == brew


@pytest.mark.parametrize("name", TECHNIQUES)
def test_notation_python_and_json_of_a_technique_agree(name: str) -> None:
    technique = TECHNIQUES[name](**VALID[name])
    assert technique_from(technique.notation) == technique
    assert eval(technique.python, {"eq": eq}) == technique
    assert TECHNIQUES[name].read(technique.data) == technique


def test_a_field_without_a_declaration_is_no_parameter() -> None:
    assert [each.name for each in params(Brew)] == ["cups", "heat", "leaf", "on", "hot", "remark"]


def test_rows_for_the_documentation() -> None:
    rows = docs_rows(Brew)
    assert rows[2] == "| `cups` | how many | from 1 to 6 | required |"
    assert rows[4] == "| `leaf` | the sort | one of black, green |  |"
    assert len(rows) == 2 + 6
    assert first_sentence(Brew) == "Makes tea."
