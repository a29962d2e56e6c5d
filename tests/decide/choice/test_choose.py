"""`choose` against an exhaustive grid on random files; how many settings it tries; ranges where all or none meet."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd
import pytest

import equivoc as eq
from equivoc.requests.ranges import search_range_from
from tests.sweeps import spread

RANGES = (
    "noise-addition:percent=1..60",
    "sampling:fraction=0.1..0.9..0.02",
    "swapping:rate=0.05..1..0.02",
    "top-bottom-coding:high=10..300..10",
    "query-restriction:size=2..30",
    "geometric-noise:epsilon=0.5..40",
    "microaggregation:size=2..17",
    "rounding:base=10..300..10",
    "pram:keep=0.05..0.95..0.05,on=confidential",
    "suppression:k=2..30",
)


def random_people(seed: int) -> eq.Microdata:
    rng = np.random.default_rng(seed)
    n = int(rng.integers(60, 160))
    age = rng.integers(20, 20 + rng.integers(3, 12), n)
    pay = 10 * np.clip(np.round(rng.lognormal(1.5 + 0.03 * (age - 20), 0.8, n)), 1, 30)
    frame = pd.DataFrame({"age": age, "sex": rng.choice(list("FM"), n), "pay": pay})
    return eq.Microdata(frame, confidential="pay", keys=["age", "sex"], domain=range(10, 310, 10))


def on_the_grid(people: eq.Microdata, text: str, figure: str) -> list[float]:
    """The figure at every setting, the mildest first, without the search and its requirements."""
    found = []
    for technique in search_range_from(text).techniques(people):
        means = eq.assess(people, technique, intruder="informed", eps=[50], seed=3).means
        found.append(float(means[figure] if figure == "h0" else means[figure][50.0]))
    return found


@pytest.mark.parametrize(("seed", "figure"), spread(range(20), ["h0", "true_hit"]))
def test_against_an_exhaustive_grid(seed: int, figure: str) -> None:
    """The result meets the requirement and the next milder setting does not; where figures are monotone around the
    limit, it is the mildest of all."""
    people, text = random_people(seed), RANGES[seed % len(RANGES)]
    grid = np.array(on_the_grid(people, text, figure))
    limit = round(float(np.quantile(grid, np.random.default_rng(seed).uniform(0.2, 0.8))), 4)
    meets = grid >= limit if figure == "h0" else grid <= limit
    requirement = f"h0 >= {limit}" if figure == "h0" else f"true_hit(50) <= {limit}"
    best = eq.choose(people, text, require=[requirement], intruder="informed", seed=3)
    values = [getattr(technique, best.parameter) for technique in search_range_from(text).techniques(people)]
    tried = dict(zip(best.tried[best.parameter], best.tried["meets"], strict=True))
    assert all(meets[values.index(value)] == met for value, met in tried.items())
    if best.technique is None:
        assert not meets[-1]
        assert best.binding.startswith(figure)
        assert best.missed_by == pytest.approx(abs(grid[-1] - limit))
        return
    at = values.index(best.value)
    assert meets[at]
    assert at == 0 or not meets[at - 1]
    assert best.failed == (None if at == 0 else search_range_from(text).techniques(people)[at - 1])
    if len(np.flatnonzero(np.diff(meets.astype(int)))) <= 1:  # fails up to some setting, meets from there on
        assert at == int(np.argmax(meets))


def test_most_of_the_grids_are_monotone_around_the_limit() -> None:
    """So the test above compares with the mildest of all in most cases."""
    clear = 0
    for seed in range(20):
        grid = np.array(on_the_grid(random_people(seed), RANGES[seed % len(RANGES)], "h0"))
        limit = float(np.quantile(grid, 0.5))
        clear += len(np.flatnonzero(np.diff((grid >= limit).astype(int)))) <= 1
    assert clear >= 12


@pytest.fixture(scope="module")
def workers() -> eq.Microdata:
    return eq.Microdata(
        eq.datasets.load("cps_hourly_workers"),
        confidential="wage_per_hour",
        keys=["age", "sex", "education"],
        round_to=100,
    )


@pytest.mark.parametrize("limit", [0.64, 0.66, 0.7, 0.75])
def test_noise_from_1_to_100_percent_takes_ten_assessments_at_most(
    workers: eq.Microdata, limit: float
) -> None:
    best = eq.choose(
        workers,
        eq.NoiseAddition,
        "percent",
        low=1,
        high=100,
        require=[f"true_hit(500) <= {limit}"],
        intruder="informed",
    )
    assert best.assessments == len(best.tried) <= 10
    assert best.technique == eq.NoiseAddition(best.percent)
    assert best.failed == eq.NoiseAddition(best.percent - 1)
    assert best.binding == f"true_hit(500) <= {limit}"
    assert best.missed_by > 0


def test_all_settings_meet(workers: eq.Microdata) -> None:
    best = eq.choose(workers, eq.Sampling, require=["h0 >= 0.1"], intruder="informed")
    assert (best.value, best.failed, best.binding, best.missed_by) == (0.9, None, None, None)
    assert best.assessments == 2
    assert "mildest of the range" in best.sentence


def test_no_setting_meets(workers: eq.Microdata) -> None:
    best = eq.choose(
        workers,
        eq.NoiseAddition,
        require=["h0 >= 0.1", "true_hit(500) <= 0.01"],
        known=["age"],
        intruder="informed",
    )
    assert best.technique is None
    assert best.value is None
    assert best.binding == "true_hit(500) <= 0.01"
    strongest = eq.assess(workers, eq.NoiseAddition(100), known=["age"], intruder="informed", eps=[500])
    assert best.missed_by == pytest.approx(strongest.means["true_hit"][500.0] - 0.01)
    assert best.assessments == 1
    assert "percent=100" in best.sentence
    with pytest.raises(AttributeError):
        best.percent  # noqa: B018


def test_the_riskier_end_of_the_interval_decides(workers: eq.Microdata) -> None:
    """Over replicates, the setting that is chosen meets the requirement at the upper end, not only on average."""
    given: dict[str, Any] = {"known": ["age", "sex"], "intruder": "informed", "seed": 5}
    best = eq.choose(
        workers,
        eq.Sampling,
        low=0.05,
        high=0.9,
        step=0.05,
        require=["true_hit(500) <= 0.66"],
        replicates=4,
        **given,
    )
    assert best.technique is not None
    for technique, meets in ((best.technique, True), (best.failed, False)):
        hits = [
            eq.assess(workers, technique, eps=[500], **{**given, "seed": 5 + r}).means["true_hit"][500.0]
            for r in range(4)
        ]
        upper = np.mean(hits) + 3.182446 * np.std(hits, ddof=1) / 2  # Student's, 3 degrees of freedom
        assert (upper <= 0.66) == meets


def test_k_is_searched_on_a_grid(workers: eq.Microdata) -> None:
    """k of a sample falls with the fraction, though a smaller sample is safer: bisection would not find it."""
    best = eq.choose(
        workers, eq.Sampling, low=0.1, high=1, require=["k >= 2"], known=["sex"], intruder="informed"
    )
    assert best.value == 1
    least = eq.choose(workers, eq.Suppression, low=2, high=12, require=["k >= 5"], intruder="informed")
    assert least.k == 5
    assert least.failed == eq.Suppression(4)


def test_progress_is_told_on_stderr(capsys: pytest.CaptureFixture[str]) -> None:
    best = eq.choose(
        random_people(0),
        "sampling:fraction=0.5..0.9..0.1",
        require=["h0 >= 1"],
        intruder="informed",
        progress=True,
    )
    told = capsys.readouterr()
    assert len(told.err.splitlines()) == best.assessments
    assert told.err.startswith("choose: sampling:fraction=0.5 meets the requirements")
    assert told.out == ""


def test_several_attributes_are_refused() -> None:
    frame = pd.DataFrame({"age": [1, 2], "pay": [10, 20], "ill": ["a", "b"]})
    people = eq.Microdata(frame, confidential=["pay", "ill"], keys=["age"])
    with pytest.raises(eq.InputError, match="one confidential attribute"):
        eq.choose(people, eq.Sampling, require=["h0 >= 1"])


@pytest.mark.parametrize("require", [[], None, ()])
def test_without_requirements_there_is_nothing_to_choose_by(require: Any) -> None:
    with pytest.raises(eq.InputError, match="no requirement is given"):
        eq.choose(random_people(0), eq.Sampling, require=require)


def test_low_above_high() -> None:
    with pytest.raises(eq.InputError, match="low is 9 and high is 2; low must not be above high"):
        eq.choose(random_people(0), eq.NoiseAddition, "percent", low=9, high=2, require=["h0 >= 1"])


def test_one_setting() -> None:
    best = eq.choose(
        random_people(0),
        eq.NoiseAddition,
        "percent",
        low=9,
        high=9,
        require=["h0 >= 0.01"],
        intruder="informed",
    )
    assert (best.value, best.failed, best.assessments) == (9, None, 1)


def test_a_limit_that_fails_without_any_release_is_named() -> None:
    """Four equally frequent values: without a release H0 is 2 bits, so no technique leaves 3."""
    people = eq.Microdata(pd.DataFrame({"pay": [10, 20, 30, 40]}), confidential="pay")
    asked = eq.choose(people, eq.Rounding, "base", low=10, high=40, step=10, require=["h0 >= 3"])
    assert asked.technique is None
    assert "Even if nothing is released it is 2, so no protection" in asked.sentence
    assert asked.sentence.endswith("Choose another limit.")
    assert asked.sentence.count("Even if") == 1
    possible = eq.choose(people, eq.Sampling, "fraction", low=0.75, high=1, step=0.25, require=["h0 >= 1.99"])
    assert "Even if" not in possible.sentence
