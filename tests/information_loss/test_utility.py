"""Every measure is 0 for the unprotected file of any shape, grows with damage, and says what it means."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest

import equivoc as eq
from equivoc.information_loss.differences import Loss
from equivoc.information_loss.utility import MEASURES, losses, overall


def frame(records: int = 400, seed: int = 5) -> pd.DataFrame:
    rng = np.random.default_rng(seed)
    age = rng.integers(18, 80, records)
    return pd.DataFrame(
        {
            "age": age,
            "sex": rng.choice(["F", "M"], records),
            "region": rng.choice(["north", "east", "south", "west"], records, p=[0.4, 0.3, 0.2, 0.1]),
            "pay": (1000 + 50 * age + rng.normal(0, 400, records)).round(-1),
            "disease": rng.choice(["asthma", "flu", "gastritis", "ulcer"], records),
            "weight": rng.uniform(1, 9, records),
        }
    )


DISEASES = {"asthma": "lungs", "flu": "lungs", "gastritis": "stomach", "ulcer": "stomach"}


def with_nulls() -> pd.DataFrame:
    data = frame().astype({"age": "Int64"})
    data.loc[::7, "age"] = pd.NA
    data.loc[::5, "region"] = None
    return data


KEYS = ["age", "sex", "region"]
SHAPES = {
    "numbers": lambda: eq.Microdata(frame(), confidential="pay", keys=KEYS),
    "one record": lambda: eq.Microdata(frame(1), confidential="pay", keys=KEYS),
    "three records": lambda: eq.Microdata(frame(3), confidential="pay", keys=KEYS),
    "thirty records": lambda: eq.Microdata(frame(30), confidential="pay", keys=KEYS),
    "one key": lambda: eq.Microdata(frame(), confidential="pay", keys=["age"]),
    "no key": lambda: eq.Microdata(frame(), confidential="pay"),
    "text keys only": lambda: eq.Microdata(frame(), confidential="pay", keys=["sex", "region"]),
    "nulls in keys": lambda: eq.Microdata(with_nulls(), confidential="pay", keys=KEYS),
    "all equal": lambda: eq.Microdata(frame().assign(age=30, pay=7), confidential="pay", keys=["age"]),
    "a given domain": lambda: eq.Microdata(
        frame().assign(pay=lambda d: d["age"] // 10), confidential="pay", keys=["sex"], domain=range(20)
    ),
    "rounded": lambda: eq.Microdata(frame(), confidential="pay", keys=KEYS, round_to=500),
    "weights": lambda: eq.Microdata(frame(), confidential="pay", keys=KEYS, weights="weight"),
    "categories": lambda: eq.Microdata(frame(), confidential="disease", keys=KEYS),
    "ordered": lambda: eq.Microdata(
        frame(), confidential=eq.Ordered("region", ["south", "west", "east", "north"]), keys=["age"]
    ),
    "tree": lambda: eq.Microdata(frame(), confidential=eq.Tree("disease", DISEASES), keys=KEYS),
    "one of several": lambda: eq.Microdata(frame(), confidential=["pay", "disease"], keys=KEYS).of("disease"),
}


@pytest.mark.parametrize("shape", SHAPES)
def test_all_measures_are_0_for_the_unprotected_file(shape: str) -> None:
    people = SHAPES[shape]()
    found = eq.utility(people, eq.Unprotected().release(people))
    assert found["value"].tolist() == [0.0] * len(found)
    assert {"query_error", "distribution"} <= set(found["measure"])


@pytest.mark.parametrize(
    "shape", ["numbers", "nulls in keys", "categories", "ordered", "tree", "three records"]
)
def test_all_measures_are_0_for_the_original_in_another_order(shape: str) -> None:
    people = SHAPES[shape]()
    shuffled = people.frame.sample(frac=1, random_state=3)
    found = losses(people, eq.ReleasedFile(shuffled).release(people))
    assert {loss.measure: loss.value for loss in found if loss.value} == {}


@pytest.mark.parametrize("shape", ["numbers", "categories", "tree"])
def test_records_twice_are_no_loss_except_for_models(shape: str) -> None:
    people = SHAPES[shape]()
    twice = pd.concat([people.frame, people.frame])
    found = overall(losses(people, eq.ReleasedFile(twice).release(people)))
    for measure in ("query_error", "distribution", "averages", "correlations", "two_way_tables", "pmse"):
        assert not found[measure]


def noisy(people: eq.Microdata, share: float) -> pd.DataFrame:
    """Noise of a given share of each number's standard deviation, and that share of categories replaced."""
    rng = np.random.default_rng(1)
    data = people.frame.copy()
    for name in data:
        if data[name].dtype.kind in "iuf":
            data[name] = data[name] + rng.normal(0, 2 * share * data[name].std(), len(data))
        else:
            replaced = rng.random(len(data)) < share
            data.loc[replaced, name] = data[name].min()
    return data


@pytest.mark.parametrize("shape", ["numbers", "categories", "tree"])
def test_every_measure_grows_with_damage(shape: str) -> None:
    people = SHAPES[shape]()
    rows = [
        overall(losses(people, eq.ReleasedFile(noisy(people, share)).release(people)))
        for share in (0.05, 0.20, 0.80)
    ]
    for measure in MEASURES[:-1]:
        values = [row[measure] for row in rows]
        if shape != "numbers" and measure == "correlations":
            assert values == [None] * 3  # age is the only number
            continue
        assert values == sorted(values), measure
        assert values[0] < values[2], measure
        assert values[0] > 0 or measure == "prediction"


def test_noise_addition_of_the_paper_grows_with_its_percent() -> None:
    people = eq.Microdata(frame(2000), confidential="pay", keys=["age", "sex"])
    errors = []
    for percent in (5, 20, 80):
        drawn = [eq.NoiseAddition(percent=percent).release(people, seed) for seed in range(3)]
        errors.append(np.mean([overall(losses(people, each))["query_error"] for each in drawn]))
    assert 0 < errors[0] < errors[1] < errors[2]


@pytest.mark.parametrize(
    "technique",
    [
        eq.Sampling(0.5),
        eq.NoiseAddition(percent=40),
        eq.Generalisation(k=5),
        eq.Suppression(k=5),
        eq.Swapping(rate=0.5),
        eq.Microaggregation(size=5),
        eq.Rounding(base=500),
        eq.TopBottomCoding(low=2000, high=4000),
        eq.PRAM(keep=0.5),
        eq.GeometricNoise(epsilon=0.01),
        eq.QueryRestriction(size=4),
    ],
    ids=lambda technique: technique.name,
)
def test_every_technique_has_a_query_error(technique: eq.Unprotected) -> None:
    people = eq.Microdata(frame(), confidential="pay", keys=KEYS)
    found = losses(people, technique.release(people, 0))
    assert overall(found)["query_error"] > 0
    assert all(np.isfinite(loss.value) and loss.value >= 0 for loss in found)
    assert all(loss.unit and loss.measure in MEASURES for loss in found)


def test_no_meaning_prints_a_persons_value() -> None:
    people = eq.Microdata(
        pd.DataFrame(
            {
                "age": [7770001, 7770002, 7770003],
                "town": ["Aville", "Bville", "Cville"],
                "pay": [8880001, 8880002, 8880009],
            }
        ),
        confidential="pay",
        keys=["age", "town"],
    )
    for technique in (eq.Sampling(0.4), eq.Rounding(base=10), eq.Generalisation(k=3), eq.Unprotected()):
        told = " ".join(loss.meaning for loss in losses(people, technique.release(people, 1)))
        for value in ("77700", "88800", "ville"):
            assert value not in told.replace(",", "")


def test_the_split_and_the_seed_are_stated() -> None:
    people = eq.Microdata(frame(), confidential="pay", keys=KEYS)
    release = eq.Rounding(base=500).release(people)
    [known] = [loss for loss in losses(people, release, seed=7) if loss.measure == "prediction"]
    assert "30% of the people, held out from both (drawn with seed 7)" in known.meaning
    [unknown] = [
        loss
        for loss in losses(people, eq.ReleasedFile(release.table).release(people), seed=7)
        if loss.measure == "prediction"
    ]
    assert "drawn with seed 7; both models may have seen their records" in unknown.meaning


def test_the_same_seed_gives_the_same_figures_and_another_seed_others() -> None:
    people = eq.Microdata(frame(), confidential="pay", keys=KEYS)
    release = eq.Sampling(0.5).release(people, 0)
    assert losses(people, release, seed=1) == losses(people, release, seed=1)
    assert losses(people, release, seed=1) != losses(people, release, seed=2)


def test_overall_is_the_largest_over_attributes() -> None:
    given = [Loss("averages", "age", 0.2, ""), Loss("averages", "pay", 0.1, ""), Loss("pmse", "", 3.0, "")]
    found = overall(given)
    assert tuple(found) == MEASURES
    assert (found["averages"], found["pmse"], found["prediction"]) == (0.2, 3.0, None)


def test_the_frame_is_of_the_callers_kind() -> None:
    import polars as pl

    people = eq.Microdata(pl.from_pandas(frame()), confidential="pay", keys=KEYS)
    found = eq.utility(people, eq.Sampling(0.5).release(people, 0))
    assert isinstance(found, pl.DataFrame)
    assert found.columns == ["measure", "attribute", "value", "meaning"]


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (lambda p, r: (p.frame, r), "people is a DataFrame"),
        (lambda p, r: (p, eq.Sampling(0.5)), "release is a Sampling"),
        (lambda p, r: (eq.Microdata(frame(10), confidential="pay", keys=KEYS), r), "made from other people"),
        (lambda p, r: (eq.Microdata(frame(), confidential="pay", keys=["age"]), r), "made from other people"),
    ],
)
def test_bad_arguments_are_refused(arguments, words) -> None:
    people = eq.Microdata(frame(), confidential="pay", keys=KEYS)
    release = eq.Sampling(0.5).release(people, 0)
    with pytest.raises(eq.InputError, match=words):
        eq.utility(*arguments(people, release))


@pytest.mark.parametrize("seed", [-1, 1.5, "x", None, True])
def test_a_bad_seed_is_refused(seed) -> None:
    people = eq.Microdata(frame(), confidential="pay", keys=KEYS)
    with pytest.raises(eq.InputError, match="seed"):
        eq.utility(people, eq.Unprotected().release(people), seed=seed)


def test_any_seed_that_numpy_takes_works() -> None:
    people = eq.Microdata(frame(60), confidential="pay", keys=KEYS)
    eq.utility(people, eq.Rounding(base=10).release(people), seed=2**62)
