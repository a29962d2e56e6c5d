"""The figures of requirements against plain computations over the people and over the released table."""

from __future__ import annotations

import math

import numpy as np
import pandas as pd
import pytest

import equivoc as eq
from equivoc.models.of_release.released_table import released_anonymity
from equivoc.requirements.outcome import figure_value, used_eps, why_not
from equivoc.requirements.requirement import parse_requirement
from equivoc.techniques.unprotected import PublishedFile

RNG = np.random.default_rng(5)
FRAME = pd.DataFrame(
    {
        "age": RNG.integers(20, 60, 130),
        "sex": RNG.choice(["F", "M"], 130),
        "town": RNG.choice(["a", "b", "c"], 130),
        "pay": RNG.integers(1, 9, 130) * 10,
    }
)
KEYS = ["age", "sex", "town"]
EPS = [0, 20, 35]


def people(frame: pd.DataFrame = FRAME) -> eq.Microdata:
    return eq.Microdata(frame, confidential="pay", keys=KEYS)


@pytest.fixture(
    scope="module",
    params=[
        eq.Unprotected(),
        eq.Sampling(fraction=0.3),
        eq.NoiseAddition(percent=30),
        eq.Generalisation(k=4),
        eq.Swapping(rate=0.3),
    ],
    ids=lambda technique: technique.notation,
)
def result(request: pytest.FixtureRequest) -> eq.Assessment:
    return eq.assess(people(), request.param, known=["age", "sex"], eps=EPS)


def value(result: eq.Assessment, left: str) -> float:
    found = figure_value(result, parse_requirement(f"{left} <= 1"))
    assert found is not None
    return found


def of_each_person(result: eq.Assessment, figure: str, eps: float) -> np.ndarray:
    records = result.records
    if figure in ("h0", "area"):
        return records[figure].to_numpy()
    if figure != "gain":
        return records[f"{figure}_{eps:g}"].to_numpy()
    shares = FRAME["pay"].value_counts(normalize=True)
    if eps == 0:
        before = -np.log2(FRAME["pay"].map(shares))
    else:  # the prior as the posterior of a release that tells nothing: everybody in one class
        alone = eq.assess(people(), eq.Unprotected(), known=[], eps=[eps])
        before = alone.records[f"surprise_{eps:g}"]
    return (before - records[f"surprise_{eps:g}"]).to_numpy()


@pytest.mark.parametrize("figure", ["h0", "area", "surprise", "gain", "hit", "true_hit"])
@pytest.mark.parametrize("eps", EPS)
def test_over_people(result: eq.Assessment, figure: str, eps: float) -> None:
    left = figure if figure in ("h0", "area") else f"{figure}({eps})"
    each = of_each_person(result, figure, eps)
    assert len(each) == len(FRAME)
    more = figure in ("gain", "hit", "true_hit")
    assert value(result, left) == pytest.approx(each.mean(), rel=1e-9, abs=1e-12)
    worst = each.max() if more else each.min()
    assert value(result, f"{left}@worst") == pytest.approx(worst, rel=1e-9, abs=1e-12)
    needed = math.ceil(0.95 * len(each) - 1e-9)
    p95 = np.sort(each)[needed - 1] if more else np.sort(each)[::-1][needed - 1]
    found = value(result, f"{left}@p95")
    assert found == pytest.approx(p95, rel=1e-9, abs=1e-12)
    safe = (each <= found + 1e-9) if more else (each >= found - 1e-9)
    assert safe.mean() >= 0.95


def test_the_means_are_those_of_the_summary(result: eq.Assessment) -> None:
    truth, record = result.summary["truth"], result.summary["per_record"]
    row = result.intruders.set_index("intruder").loc[result.intruder]
    for left, told in [
        ("h0", record["h0"]["mean"]),
        ("area", record["area"]["mean"]),
        ("surprise(20)", truth["surprise"][20]),
        ("gain", truth["gain"]),
        ("gain(20)", truth["prior_surprise"][20] - truth["surprise"][20]),
        ("hit(35)", record["hit"][35]["mean"]),
        ("true_hit(35)", record["true_hit"][35]),
        ("certain_right", truth["certain_right"]),
        ("hit", row["hit"]),
        ("true_hit", result.intruders["true_hit"].max()),
        ("surprise", row["surprise"]),
    ]:
        assert value(result, left) == pytest.approx(told, rel=1e-12, abs=1e-12)


def test_the_tolerance_of_figures_without_one(result: eq.Assessment) -> None:
    used = {name: used_eps(result, parse_requirement(f"{name} <= 1")) for name in ("gain", "hit", "h0")}
    assert used == {"gain": 0.0, "hit": 20.0, "h0": None}


def test_certain_people_are_counted_one_by_one() -> None:
    result = eq.assess(people(), eq.Unprotected(), known=KEYS)
    alone = FRAME.groupby(KEYS)["pay"].transform("nunique") == 1
    assert value(result, "certain_right") == alone.sum() > 0


def by_hand(table: pd.DataFrame, known: list[str], values: np.ndarray) -> tuple[int, int, float]:
    """k, l and t (by rank) of a table, by pandas."""
    groups = table.groupby(known, dropna=False, observed=True)["pay"] if known else [((), table["pay"])]
    sizes, distinct, far = [], [], []
    everyone = np.array([(table["pay"] <= v).mean() for v in values])
    for _, pay in groups:
        sizes.append(len(pay))
        distinct.append(pay.nunique())
        own = np.array([(pay <= v).mean() for v in values])
        far.append(np.abs(own - everyone).sum() / (len(values) - 1))
    return min(sizes), min(distinct), max(far)


@pytest.mark.parametrize(
    "technique",
    [
        eq.Unprotected(),
        eq.Generalisation(k=3),
        eq.Generalisation(k=8),
        eq.Generalisation(levels={"age": 1}, hierarchies={"age": 10}),
        eq.Suppression(k=3),
        eq.Sampling(fraction=0.4),
        eq.Swapping(rate=0.5),
        eq.NoiseAddition(percent=20),
    ],
    ids=lambda technique: technique.notation,
)
@pytest.mark.parametrize("known", [KEYS, ["age"], ["sex", "town"], []], ids=str)
def test_k_l_and_t_of_the_released_table(technique: eq.Generalisation, known: list[str]) -> None:
    result = eq.assess(people(), technique, known=known)
    table = result.release.table
    values = np.union1d(FRAME["pay"].unique(), table["pay"])
    k, distinct, t = by_hand(table, known, values)
    assert value(result, "k") == k
    assert value(result, "l") == distinct
    assert value(result, "t") == pytest.approx(t, abs=1e-12)


class WithoutAge(PublishedFile):
    """A file published without the column age."""

    @property
    def table(self) -> pd.DataFrame:
        return FRAME.drop(columns="age")


def test_a_known_key_that_was_not_released_tells_no_rows_apart() -> None:
    everyone = people()
    found = released_anonymity(everyone, WithoutAge(everyone), known=KEYS)
    groups = FRAME.groupby(["sex", "town"])["pay"]
    assert (found.k, found.l) == (groups.size().min(), groups.nunique().min())


def test_a_released_file_with_ranges_has_no_l_and_t(tmp_path) -> None:
    path = tmp_path / "released.csv"
    released = FRAME.assign(pay=FRAME["pay"].astype(str) + "-90")
    released.to_csv(path, index=False)
    result = eq.assess(people(), eq.ReleasedFile(path), known=["sex", "town"])
    assert value(result, "k") == FRAME.groupby(["sex", "town"]).size().min()
    assert figure_value(result, parse_requirement("l >= 2")) is None
    assert "not single values" in why_not(result, parse_requirement("t <= 0.2"))


@pytest.mark.parametrize("technique", [eq.QueryRestriction(size=10), eq.NoisyTable(epsilon=1)], ids=repr)
def test_a_release_without_records_has_no_k(technique) -> None:
    result = eq.assess(eq.Microdata(FRAME, confidential="pay", keys=["age"]), technique)
    for text in ("k >= 1", "l >= 1", "t <= 1"):
        assert figure_value(result, parse_requirement(text)) is None
        assert "no file of records" in why_not(result, parse_requirement(text))
    assert value(result, "hit") > 0


def test_a_disclosed_group_in_a_released_file_counts() -> None:
    """One trust for the whole file hides that the file is right about the older half; trust per person does not."""
    rng = np.random.default_rng(0)
    frame = pd.DataFrame(
        {
            "age": rng.integers(20, 80, 3000),
            "job": rng.integers(0, 10, 3000).astype(str),
            "pay": rng.integers(1, 11, 3000) * 10,
        }
    )
    pay, young = frame["pay"].to_numpy().copy(), (frame["age"] < 50).to_numpy()
    pay[young] = rng.permutation(pay[young])
    original = eq.Microdata(frame, confidential="pay", keys=["age", "job"])
    result = eq.assess(original, eq.ReleasedFile(frame.assign(pay=pay)))
    gated = result.truth.gated
    assert gated is not None
    assert gated.surprise < result.truth.overall.surprise
    assert value(result, "surprise") == pytest.approx(gated.surprise, rel=1e-9)
    assert value(result, "gain") == pytest.approx(gated.gain, rel=1e-9)
