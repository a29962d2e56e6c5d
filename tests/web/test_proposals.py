"""What the page proposes: settings that run for any shape of file, and limits that a release can keep."""

from __future__ import annotations

from pathlib import Path

import httpx
import numpy as np
import pytest

import equivoc as eq
from equivoc.requirements.requirement import FIGURES, Requirement
from equivoc.web.catalogue import catalogue
from equivoc.web.held_people import HeldPeople
from equivoc.web.people_spec import PeopleSpec
from equivoc.web.proposals import limit_between, proposed_limits, proposed_settings
from tests.web.page_server import opened

TREE = "flu;lung\ncough;lung\ngout;joint\nnone;none\n"


def numbers(count: int) -> list[str]:
    rng = np.random.default_rng(count)
    return [str(10 * value) for value in rng.integers(1, 12, count)]


def categories(count: int) -> list[str]:
    return [("flu", "cough", "gout", "none")[at * 7 % 4] for at in range(count)]


SHAPES: dict[str, tuple[int, str, tuple[str, ...], list[str]]] = {
    "numbers": (120, "number", ("age", "sex"), numbers(120)),
    "numbers, no key": (60, "number", (), numbers(60)),
    "numbers, one key": (60, "number", ("age",), numbers(60)),
    "numbers, one value": (30, "number", ("age",), ["10"] * 30),
    "two people": (2, "number", ("age", "sex"), ["10", "20"]),
    "one person": (1, "number", ("age",), ["10"]),
    "fractions": (40, "number", ("age",), [f"{at / 3:.4f}" for at in range(40)]),
    "categories": (80, "categories", ("age", "sex"), categories(80)),
    "categories, no key": (5, "categories", (), categories(5)),
    "ordered": (80, "ordered", ("sex",), categories(80)),
    "a tree": (80, "tree", ("age", "sex"), categories(80)),
}


def held(tmp_path: Path, shape: str) -> HeldPeople:
    count, kind, keys, values = SHAPES[shape]
    rows = [f"{30 + at % 5},{'FM'[at % 2]},{value}" for at, value in enumerate(values)]
    file = tmp_path / "people.csv"
    file.write_text("age,sex,secret\n" + "\n".join(rows) + "\n", encoding="utf-8")
    tree = tmp_path / "tree.csv"
    tree.write_text(TREE, encoding="utf-8")
    levels = ("none", "cough", "flu", "gout") if kind == "ordered" else ()
    spec = PeopleSpec(
        str(file),
        "people.csv",
        "secret",
        kind,
        keys,
        levels=levels,
        hierarchy=str(tree) if kind == "tree" else None,
    )
    assert len(spec.read()) == count
    return HeldPeople.read(spec)


@pytest.mark.parametrize("shape", SHAPES)
def test_every_proposed_setting_runs(tmp_path: Path, shape: str) -> None:
    people = held(tmp_path, shape)
    settings = proposed_settings(people)
    assert len(settings) >= 1 + bool(SHAPES[shape][2] and SHAPES[shape][0] > 2)
    techniques = [people.spec.technique(notation) for notation in settings]
    assert [technique.notation for technique in techniques] == settings
    done = eq.compare(people.people, techniques, intruder="informed")
    assert done.frame["failed"].tolist() == [""] * len(settings)


@pytest.mark.parametrize("shape", ["numbers", "fractions", "categories", "a tree"])
def test_a_technique_that_is_shown_at_first_can_run(tmp_path: Path, shape: str) -> None:
    people = held(tmp_path, shape)
    for technique in catalogue(people)["techniques"]:
        if technique["applies"]:
            made = people.spec.technique(technique["starting"])
            assert made.notation == technique["starting"]
            assert eq.assess(people.people, made, intruder="informed").truth.overall.surprise >= 0


def test_numbers_get_a_setting_of_most_techniques(tmp_path: Path) -> None:
    names = {notation.partition(":")[0] for notation in proposed_settings(held(tmp_path, "numbers"))}
    assert {"unprotected", "sampling", "noise-addition", "rounding", "pram", "top-bottom-coding"} <= names
    assert {"generalisation", "suppression", "swapping", "microaggregation"} <= names


@pytest.mark.parametrize("shape", SHAPES)
@pytest.mark.parametrize("eps", [0.0, 20.0])
def test_every_proposed_limit_lies_between_nothing_released_and_the_file(
    tmp_path: Path, shape: str, eps: float
) -> None:
    people = held(tmp_path, shape).people
    bare = eq.assess(people, eq.Unprotected(), eps=sorted({0.0, eps}), intruder="informed")
    for name, found in proposed_limits(bare, eps).items():
        safer_is_less = FIGURES[name].riskier == "more"
        for over, each in found.items():
            asked = Requirement(name, each["eps"], over, "<=" if safer_is_less else ">=", each["limit"])
            assert asked.keeps(each["nothing"]), (asked.text, each)
            riskier = each["file"] > each["nothing"] if safer_is_less else each["file"] < each["nothing"]
            if riskier:
                low, high = sorted((each["nothing"], each["file"]))
                assert low <= each["limit"] <= high, (asked.text, each)
            (outcome,) = eq.assess(
                people, eq.Unprotected(), intruder="informed", require=[asked]
            ).requirements
            assert not outcome.beyond_reach, outcome.sentence
            assert outcome.value == pytest.approx(each["file"], abs=1e-12)


def test_the_limit_of_the_issue() -> None:
    """A limit of 0.5, where nothing released is 0.67 already, is never proposed."""
    assert 0.67 <= limit_between(0.67, 0.98, "<=") <= 0.98


def test_the_page_gets_them(http: httpx.Client) -> None:
    opened(http)
    limits = http.post("/api/live/limits", json={"known": ["age"], "eps": 20}).json()
    assert set(limits) == set(FIGURES)
    assert limits["true_hit"]["mean"]["eps"] == 20
    assert limits["true_hit"]["mean"]["nothing"] <= limits["true_hit"]["mean"]["limit"]
    settings = http.post("/api/live/proposed", json={"known": ["age"]}).json()["settings"]
    assert "unprotected" in settings
    assert http.get("/api/state").json()["view"]["require"] == []
