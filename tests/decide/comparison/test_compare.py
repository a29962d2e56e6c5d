"""eq.compare: figures, choice, front and reasons against independent computations."""

from __future__ import annotations

from math import inf, nan
from typing import Any

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats

import equivoc as eq
from equivoc.experiments.compared import FRONT_RELEASES, on_front
from equivoc.information_loss.utility import MEASURES, losses, overall

TECHNIQUES = [eq.Unprotected(), eq.Sampling(fraction=0.3), eq.Rounding(base=50), eq.QueryRestriction(size=4)]
KNOWN = ["age", "sex"]
FIGURES = ["h0", "area", "surprise", "gain", "hit", "true_hit", "certain_right", "k"]


@pytest.fixture(scope="module")
def done(people: eq.Microdata) -> eq.Comparison:
    return eq.compare(people, TECHNIQUES, known=KNOWN, require=["true_hit(20) <= 0.725", "h0 >= 1"], seed=3)


def figures_of(result: Any) -> dict[str, float]:
    """The figures of an assessment, from its own tables: true hits are those of whoever is right about most people."""
    used = result.intruders[result.intruders["used"]].iloc[0]
    truth = result.summary["truth"]
    assert truth["true_hit"][result.eps[1]] >= result.intruders["true_hit"].max() - 1e-12
    return {name: float(used[name]) for name in FIGURES[:6]} | {
        "true_hit": truth["true_hit"][result.eps[1]],
        "certain_right": float(truth["certain_right"]),
    }


@pytest.mark.parametrize("place", range(len(TECHNIQUES)), ids=[t.name for t in TECHNIQUES])
def test_figures_are_those_of_an_assessment_with_the_same_seed(
    people: eq.Microdata, done: eq.Comparison, place: int
) -> None:
    technique, row = TECHNIQUES[place], done.frame.iloc[place]
    seeds = range(3, 3 + row["releases"])
    assert len(seeds) == 1 or (technique.random and len(seeds) == FRONT_RELEASES)
    results = [eq.assess(people, technique, known=KNOWN, seed=seed) for seed in seeds]
    assert done.hit_eps == results[0].eps[1]
    assert row["intruder"] == " or ".join(sorted({result.intruder for result in results}))
    every = [figures_of(result) for result in results]
    for name in every[0]:
        value = np.mean([found[name] for found in every])
        assert row[name] == pytest.approx(value, rel=1e-9, abs=1e-12), name
    releases = [technique.release(people, seed) for seed in seeds]
    lost = [overall(losses(people, release, seed=3)) for release in releases]
    for name in MEASURES:
        values = [found[name] for found in lost]
        expected = nan if None in values else np.mean(values)
        assert row[name] == pytest.approx(expected, nan_ok=True, rel=1e-9, abs=1e-12)
    if technique.name != "query-restriction":
        smallest = [pd.DataFrame(release.table).groupby(KNOWN).size() for release in releases]
        assert row["k"] == pytest.approx(np.mean([sizes[sizes > 0].min() for sizes in smallest]))
    else:
        assert np.isnan(row["k"])


def test_the_columns(done: eq.Comparison) -> None:
    figures = [name + end for name in (*FIGURES, *MEASURES, "risk", "loss") for end in ("", "_low", "_high")]
    assert list(done.frame.columns) == [
        "technique", "parameters", *figures, "meets", "front", "choice", "tied", "releases", "failed", "intruder",
    ]  # fmt: skip
    assert done.frame["technique"].tolist() == [t.name for t in TECHNIQUES]
    assert done.frame["parameters"].tolist() == ["", "fraction=0.3", "base=50", "size=4"]
    assert (done.frame[list(MEASURES)].iloc[0].dropna() == 0.0).all()  # unprotected
    assert list(done.why.columns[:6]) == ["technique", "parameters", "requirement", "value", "limit", "meets"]
    assert len(done.why) == 2 * len(TECHNIQUES)
    assert done.frame["risk"].tolist() == done.why["value"][::2].tolist()  # the first requirement
    assert done.frame["loss"].equals(done.frame["query_error"])
    by_technique = done.why.groupby(["technique", "parameters"], sort=False)["meets"].all()
    assert done.frame["meets"].tolist() == by_technique.tolist()


def test_the_choice_meets_all_and_loses_the_least(done: eq.Comparison) -> None:
    meeting = done.frame[done.frame["meets"]]
    assert 1 < len(meeting) < len(TECHNIQUES)  # else this test says nothing
    assert done.choice is TECHNIQUES[meeting["loss"].idxmin()]
    assert done.meets
    assert done.frame["choice"].tolist() == [t is done.choice for t in TECHNIQUES]
    assert set(done.reasons) == {t.notation for t in TECHNIQUES if t is not done.choice}
    for (_, row), technique in zip(done.frame.iterrows(), TECHNIQUES, strict=True):
        if technique is done.choice:
            continue
        reason = done.reasons[technique.notation]
        assert ("is not met" in reason) == (not row["meets"])
        assert ("loses more" in reason) == bool(row["meets"])


def test_a_technique_that_dominates_is_chosen(people: eq.Microdata) -> None:
    """A suppressed file with less risk and less loss than heavy noise, whatever the order and the measure."""
    good, bad = eq.Sampling(fraction=0.6), eq.NoiseAddition(percent=80)
    for techniques in ([good, bad], [bad, good]):
        done = eq.compare(people, techniques, known=[], require=["surprise >= 0"], utility="distribution")
        figures = done.frame.set_index("technique")
        assert figures.loc["sampling", "loss"] < figures.loc["noise-addition", "loss"]
        assert done.choice is good


def test_without_requirements_the_least_loss_is_taken(people: eq.Microdata) -> None:
    done = eq.compare(people, TECHNIQUES[::-1], known=KNOWN)
    assert done.choice is TECHNIQUES[0]
    assert done.frame["risk"].equals(done.frame["gain"])
    assert done.why.empty
    assert "No requirement was given" in done.headline


@pytest.mark.parametrize(("require", "riskier"), [([], "more"), (["h0 >= 0.1"], "less")])
def test_equal_losses_are_decided_by_risk_and_then_by_order(
    people: eq.Microdata, require: list[str], riskier: str
) -> None:
    """Swapping keeps every column's distribution, whatever its rate, so only the risk differs."""
    rates = [eq.Swapping(rate=0.1), eq.Swapping(rate=0.9)]
    for techniques in (rates, rates[::-1]):
        done = eq.compare(people, techniques, known=KNOWN, require=require, utility="distribution")
        risk = done.frame["risk"]
        assert done.frame["loss"].tolist() == [0.0, 0.0]
        assert risk[0] != risk[1]
        assert done.choice is techniques[int(risk.idxmin() if riskier == "more" else risk.idxmax())]
        assert "is riskier" in next(iter(done.reasons.values()))
    for twins in ([eq.Unprotected(), eq.Sampling(fraction=1)], [eq.Sampling(fraction=1), eq.Unprotected()]):
        done = eq.compare(people, twins, known=KNOWN)
        assert done.frame["loss"].tolist() == [0.0, 0.0]
        assert done.frame["risk"][0] == done.frame["risk"][1]
        assert done.choice is twins[0]


def test_none_meets_the_requirements(people: eq.Microdata) -> None:
    done = eq.compare(people, TECHNIQUES, known=KNOWN, require=["h0 >= 9", "true_hit <= 1"])
    assert done.choice is None
    assert not done.meets
    assert set(done.reasons) == {t.notation for t in TECHNIQUES}
    nearest = TECHNIQUES[int(done.frame["h0"].idxmax())]
    assert done.headline.startswith("None of 4 techniques meets every requirement. h0 >= 9 is met by none.")
    assert f"{nearest.notation} comes nearest" in done.headline


def test_a_figure_that_does_not_apply_is_not_met(people: eq.Microdata) -> None:
    done = eq.compare(people, TECHNIQUES, known=KNOWN, require=["k >= 1"])
    queries = done.why[done.why["technique"] == "query-restriction"].iloc[0]
    assert not queries["meets"]
    assert np.isnan(queries["value"])
    assert done.frame["front"].tolist()[3] is False
    assert "is not met" in done.reasons["query-restriction:size=4"]


def test_a_loss_that_does_not_apply_comes_last(people: eq.Microdata) -> None:
    techniques = [eq.QueryRestriction(size=4), eq.NoiseAddition(percent=50)]
    done = eq.compare(people, techniques, known=KNOWN, utility="correlations")
    assert np.isnan(done.frame["loss"][0])
    assert done.choice is techniques[1]
    assert "does not apply" in done.reasons["query-restriction:size=4"]
    alone = eq.compare(people, techniques[:1], known=KNOWN, utility="correlations")
    assert alone.choice is techniques[0]
    assert "correlations does not apply to it" in alone.headline


def test_replicates_and_the_upper_end_of_the_interval(people: eq.Microdata) -> None:
    """With a limit between the mean and the upper end of the interval, the technique fails."""
    technique, eps = eq.Sampling(fraction=0.3), 20
    hits = [
        eq.assess(people, technique, known=KNOWN, seed=5 + r, eps=[0, eps]).means["true_hit"][eps]
        for r in range(4)
    ]
    mean, reach = np.mean(hits), stats.t.ppf(0.975, 3) * np.std(hits, ddof=1) / 2
    assert reach > 1e-4
    for limit, meets in ((mean + reach / 2, False), (mean + reach * 1.01, True)):
        done = eq.compare(
            people,
            [technique],
            known=KNOWN,
            require=[f"true_hit({eps}) <= {limit:.12f}"],
            replicates=4,
            seed=5,
        )
        assert done.meets is meets
        row = done.frame.iloc[0]
        assert [row["risk"], row["risk_low"], row["risk_high"]] == pytest.approx(
            [mean, mean - reach, mean + reach]
        )
        assert row["h0_low"] < row["h0"] < row["h0_high"]
    lower = eq.assess(people, technique, known=KNOWN, seed=5, replicates=4).spread["h0"]["low"]
    assert row["h0_low"] == pytest.approx(lower)
    at = eq.compare(people, [technique], known=KNOWN, require=[f"h0 >= {lower + 1e-6}"], replicates=4, seed=5)
    assert not at.meets


def test_a_technique_without_randomness_is_released_once(people: eq.Microdata) -> None:
    done = eq.compare(people, [eq.Rounding(base=50), eq.Sampling(fraction=0.5)], replicates=3, known=KNOWN)
    assert len(done.cells) == 1 + 3
    row = done.frame.iloc[0]
    assert row["h0_low"] == row["h0"] == row["h0_high"]


def test_utility_and_intruder_are_those_asked(people: eq.Microdata) -> None:
    done = eq.compare(
        people, TECHNIQUES[:3], known=KNOWN, utility="averages", intruder="paper", prior="uniform"
    )
    assert done.frame["loss"].equals(done.frame["averages"])
    assert done.frame["intruder"].tolist() == ["paper"] * 3
    expected = [
        eq.assess(people, t, known=KNOWN, intruder="paper", prior="uniform").means["h0"]
        for t in TECHNIQUES[:3]
    ]
    assert done.frame["h0"].tolist() == pytest.approx(expected)


def test_a_loss_within_the_spread_is_said_to_be(people: eq.Microdata) -> None:
    twins = [eq.Sampling(fraction=0.5), eq.Sampling(fraction=0.51), eq.QueryRestriction(size=8)]
    done = eq.compare(people, twins, known=[], replicates=3, intruder="paper")
    rows = done.frame.set_index(["technique", "parameters"])
    chosen = rows[rows["choice"]].iloc[0]
    seen = set()
    for (name, parameters), row in rows[~rows["choice"]].iterrows():
        overlap = bool(row["loss_low"] <= chosen["loss_high"])
        assert ("their 95 % intervals overlap" in done.reasons[f"{name}:{parameters}"]) == overlap
        seen.add(overlap)
    assert seen == {True, False}


FIGURE = st.one_of(st.integers(0, 4).map(float), st.floats(0, 4), st.just(nan))


@given(st.lists(st.tuples(FIGURE, FIGURE), max_size=12))
def test_the_front_against_brute_force(points: list[tuple[float, float]]) -> None:
    def better(one: tuple[float, float], other: tuple[float, float]) -> bool:
        return one[0] <= other[0] and one[1] <= other[1] and one != other

    expected = [
        not any(x != x for x in point) and not any(better(other, point) for other in points)
        for point in points
    ]
    assert on_front([r for r, _ in points], [x for _, x in points]) == expected


def test_infinite_figures_are_compared() -> None:
    assert on_front([inf, 1.0], [0.0, inf]) == [True, True]


def test_the_front_turns_with_the_figure(people: eq.Microdata) -> None:
    """More h0 is safer, more gain is riskier: the same front up to the differences of the figures."""
    for require, sign in ((["h0 >= 0"], -1), (["gain <= 9"], 1)):
        frame = eq.compare(people, TECHNIQUES, known=KNOWN, require=require).frame
        risk, loss = sign * frame["risk"], frame["loss"]
        expected = [
            not any(
                (risk[j] <= risk[i] and loss[j] <= loss[i]) and (risk[j] < risk[i] or loss[j] < loss[i])
                for j in range(len(frame))
            )
            for i in range(len(frame))
        ]
        assert frame["front"].tolist() == expected


@pytest.mark.parametrize(
    ("changed", "said"),
    [
        ({"techniques": []}, "techniques is empty"),
        ({"techniques": [eq.Unprotected(), eq.Unprotected()]}, "contains unprotected twice"),
        ({"techniques": ["sampling"]}, "techniques contains 'sampling'"),
        ({"utility": "queryerror"}, "did you mean 'query_error'"),
        ({"utility": 3}, "utility is 3"),
        ({"require": ["h0 > 2"]}, "character 4"),
        ({"require": ["h0 >= 2", "h0 <= 1"]}, "contradict"),
        ({"replicates": 0}, "replicates is 0"),
        ({"seed": -1}, "seed is -1"),
        ({"workers": 0}, "workers is 0"),
        ({"prior": "flat"}, "prior is 'flat'"),
        ({"intruder": "x"}, "intruder is 'x'"),
        ({"known": ["shoe"]}, "shoe"),
        ({"eps": [-1]}, "eps"),
        ({"replicates": 1_000_000}, "too many"),
        ({"techniques": [eq.Swapping(rate=0.1, on=("shoe",)), eq.Swapping(rate=0.2, on=("shoe",))]}, "shoe"),
    ],
)
def test_mistakes_are_one_sentence(people: eq.Microdata, changed: dict[str, Any], said: str) -> None:
    arguments = {"techniques": TECHNIQUES, "known": KNOWN} | changed
    with pytest.raises(eq.InputError, match=said) as mistake:
        eq.compare(people, arguments.pop("techniques"), **arguments)
    assert "\n" not in str(mistake.value)


def test_people_with_several_attributes_are_refused(frame: pd.DataFrame) -> None:
    people = eq.Microdata(frame, confidential=["salary", "job"], keys=["age"])
    with pytest.raises(eq.InputError, match="one confidential attribute, but salary, job are confidential"):
        eq.compare(people, TECHNIQUES)
    with pytest.raises(eq.InputError, match="people is"):
        eq.compare(frame, TECHNIQUES)
