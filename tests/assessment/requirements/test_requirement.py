"""Requirements are read as they are written, and mistakes are pointed at."""

from __future__ import annotations

import math
from itertools import product

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from equivoc.errors import InputError
from equivoc.requirements.outcome import over_people
from equivoc.requirements.requirement import FIGURES, OVER, Requirement, parse_requirement, requirements


@st.composite
def some_requirements(draw: st.DrawFn) -> Requirement:
    name = draw(st.sampled_from(sorted(FIGURES)))
    kind = FIGURES[name]
    eps = draw(st.none() | st.floats(0, 1e300, allow_nan=False)) if kind.has_eps else None
    over = draw(st.sampled_from(OVER)) if kind.per_person else "mean"
    low = 0.0 if name == "gain" else kind.low
    limit = draw(st.floats(low, min(kind.high, 1e300), allow_nan=False))
    return Requirement(name, eps, over, draw(st.sampled_from(("<=", ">="))), limit)


@given(some_requirements(), st.sampled_from(["", " ", "\t", "  "]))
def test_the_text_reads_back(requirement: Requirement, blank: str) -> None:
    assert parse_requirement(requirement.text) == requirement
    spaced = requirement.text.replace(" ", "")
    for sign in ("(", ")", "@", "<=", ">="):
        spaced = spaced.replace(sign, f"{blank}{sign}{blank}")
    assert parse_requirement(f"{blank}{spaced}{blank}") == requirement


@given(st.text(max_size=30))
def test_any_text_is_a_requirement_or_an_input_error(text: str) -> None:
    try:
        found = parse_requirement(text)
    except InputError as mistake:
        assert str(mistake).endswith((".", "?"))  # noqa: PT017
    else:
        assert found.figure in FIGURES


@pytest.mark.parametrize(
    ("text", "read"),
    [
        ("true_hit(5000) <= 0.2", Requirement("true_hit", 5000, "mean", "<=", 0.2)),
        ("h0@worst>=2", Requirement("h0", None, "worst", ">=", 2)),
        (" k >= 3 ", Requirement("k", None, "mean", ">=", 3)),
        ("gain(0)@p95 <= -1e-1", Requirement("gain", 0, "p95", "<=", -0.1)),
        ("hit@mean <= .5", Requirement("hit", None, "mean", "<=", 0.5)),
        ("hit(-0) <= 1.", Requirement("hit", 0, "mean", "<=", 1)),
    ],
)
def test_requirements_are_read(text: str, read: Requirement) -> None:
    assert parse_requirement(text) == read


@pytest.mark.parametrize(
    ("text", "character", "says"),
    [
        ("", 1, "begins with a figure"),
        ("<= 3", 1, "begins with a figure"),
        ("5 <= h0", 1, "begins with a figure"),
        ("  true_hits <= 0.2", 3, "did you mean 'true_hit'"),
        ("entropy >= 2", 1, "no figure 'entropy'"),
        ("H0 >= 2", 1, "did you mean 'h0'"),
        ("h0(5) >= 2", 3, "no tolerance"),
        ("k(5) >= 2", 2, "no tolerance"),
        ("hit() <= 0.2", 5, "tolerance ε is a finite number"),
        ("hit(-5) <= 0.2", 5, "ε is -5; it must be 0 or more"),
        ("hit(nan) <= 0.2", 5, "not 'nan'"),
        ("hit(1e999) <= 0.2", 5, "1e999 is too large"),
        ("hit(5 <= 0.2", 7, "end with ')'"),
        ("hit(5,000) <= 0.2", 6, "without separators"),
        ("hit(5)@best <= 0.2", 8, "mean, worst or p95, not 'best'"),
        ("hit(5)@ <= 0.2", 8, "mean, worst or p95"),
        ("k@worst >= 3", 2, "whole file"),
        ("hit(5) < 0.2", 8, "<= or >="),
        ("hit(5) = 0.2", 8, "<= or >="),
        ("hit(5) ≤ 0.2", 8, "<= or >="),
        ("hit(5) 0.2", 8, "<= or >="),
        ("hit(5)", 7, "<= or >="),
        ("h0 >= nan", 7, "not 'nan'"),
        ("h0 >= inf", 7, "not 'inf'"),
        ("h0 >= -inf", 7, "not '-inf'"),
        ("h0 >= 1e400", 7, "too large"),
        ("h0 >=", 6, "finite number"),
        ("h0 >= 2bits", 7, "not '2bits'"),
        ("h0 >= 1.2.3", 7, "not '1.2.3'"),
        ("hit(5) <= 20%", 13, "write 0.2"),
        ("h0 >= 2 and k >= 3", 9, "nothing may follow"),
        ("true_hit <= -0.1", 13, "no release can meet"),
        ("true_hit <= 20", 13, "for 20 % write 0.2"),
        ("hit >= 1.5", 8, "no release can meet"),
        ("h0 >= -1", 7, "every release meets"),
        ("k >= 0", 6, "every release meets"),
        ("k <= 0.5", 6, "no release can meet"),
        ("gain <= -0.1", 9, "no release can meet"),
        ("t >= 2", 6, "no release can meet"),
    ],
)
def test_a_mistake_is_pointed_at(text: str, character: int, says: str) -> None:
    with pytest.raises(InputError) as caught:
        parse_requirement(text)
    told = str(caught.value)
    assert f"wrong at character {character}:" in told
    assert says in told
    assert "\n" not in told


@pytest.mark.parametrize(
    "fields",
    [
        ("h0", None, "mean", ">=", math.nan),
        ("h0", None, "mean", ">=", math.inf),
        ("h0", None, "mean", ">=", "2"),
        ("h0", None, "mean", ">=", True),
        ("hit", math.nan, "mean", "<=", 0.2),
        ("hit", -1, "mean", "<=", 0.2),
        ("h0", 5, "mean", ">=", 2),
        ("h0", None, "median", ">=", 2),
        ("h0", None, "mean", ">", 2),
        ("k", None, "worst", ">=", 2),
        ("k_anonymity", None, "mean", ">=", 2),
    ],
)
def test_a_requirement_is_valid_from_birth(fields: tuple) -> None:
    with pytest.raises(InputError):
        Requirement(*fields)


@pytest.mark.parametrize(
    "given", [5, [5], [None], ["h0 >= 2", 3], "h0 =", [b"h0 >= 2"], ["x" * 10_000], {"h0": 2}]
)
def test_lists_that_are_no_requirements(given: object) -> None:
    with pytest.raises(InputError):
        requirements(given)  # type: ignore[arg-type]


def test_one_text_none_and_repeats() -> None:
    assert requirements(None) == ()
    assert requirements("h0 >= 2") == requirements(["h0 >= 2", "h0 >= 2.0"])
    assert len(requirements(["h0 >= 2", "h0@worst >= 1"])) == 2


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("h0 >= 2", "h0 <= 1"),
        ("hit(5)@p95 <= 0.1", "hit(5)@p95 >= 0.2"),
        ("k <= 3", "k >= 4"),
        ("h0@worst >= 3", "h0 <= 2"),
        ("gain@worst <= 1", "gain@p95 >= 2"),
        ("hit(5) >= 0.2", "hit(6) <= 0.1"),
        ("hit(5)@p95 >= 0.2", "hit(6)@worst <= 0.1"),
    ],
)
def test_contradictions_are_refused(one: str, other: str) -> None:
    with pytest.raises(InputError, match="contradict") as caught:
        requirements([one, "area >= 5", other])
    assert one in str(caught.value)
    assert other in str(caught.value)


@pytest.mark.parametrize(
    "texts",
    [
        ["h0 >= 2", "h0 <= 2"],
        ["h0 >= 2", "h0@worst <= 1"],
        ["hit(6) >= 0.2", "hit(5) <= 0.1"],
        ["true_hit(5) >= 0.2", "true_hit(6) <= 0.1"],
        ["hit >= 0.2", "hit(6) <= 0.1"],
        ["h0 >= 2", "h0 >= 5"],
        ["h0@p95 >= 2", "h0 <= 1"],
        ["h0 >= 2", "surprise <= 1"],
    ],
)
def test_requirements_that_do_not_contradict(texts: list[str]) -> None:
    assert [each.text for each in requirements(texts)] == texts


@pytest.mark.parametrize("figure", ["h0", "gain"])
def test_a_contradiction_over_people_is_one_for_any_figures(figure: str) -> None:
    """Two requirements are refused exactly if no figures of people among many random ones meet both."""
    random = np.random.default_rng(0)
    drawn = [(random.integers(0, 4, size=40).astype(float), np.ones(40, dtype=np.int64)) for _ in range(20)]
    drawn += [
        (np.repeat([first, 2.0], [few, 40 - few]), np.ones(40, dtype=np.int64))
        for first in (0, 9)
        for few in (1, 9)
    ]
    for one, other in product(OVER, repeat=2):
        asked = parse_requirement(f"{figure}@{one} >= 1"), parse_requirement(f"{figure}@{other} <= 1")
        found = [[over_people(*figures, each) for each in asked] for figures in drawn]
        possible = any(more > less for more, less in found)
        try:
            requirements([f"{figure}@{one} >= 2", f"{figure}@{other} <= 1"])
        except InputError:
            assert not possible, (one, other)
        else:
            assert possible, (one, other)


def test_which_requirements_limit_the_risk() -> None:
    safe = ["h0 >= 2", "area >= 1", "surprise >= 1", "k >= 3", "l >= 2"]
    safe += ["gain <= 1", "hit <= 0.2", "true_hit <= 0.2", "certain_right <= 0", "t <= 0.2"]
    assert {parse_requirement(text).figure for text in safe} == set(FIGURES)
    for text in safe:
        assert parse_requirement(text).limits_risk
        turned = text.replace("<=", "=>").replace(">=", "<=").replace("=>", ">=")
        assert not parse_requirement(turned).limits_risk
