"""Categories: every technique that makes sense for them works, the others refuse in a sentence."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest

import equivoc as eq
from equivoc.techniques.technique import Technique

TREE = {"flu": ["lungs", "*"], "asthma": ["lungs", "*"], "ulcer": ["stomach", "*"], "colic": ["stomach", "*"]}
RNG = np.random.default_rng(7)
FRAME = pd.DataFrame(
    {
        "age": RNG.choice([30, 40, 50], 90),
        "sex": RNG.choice(list("FM"), 90),
        "disease": RNG.choice(list(TREE), 90),
    }
)
KINDS = [eq.Categories("disease"), eq.Tree("disease", TREE)]


def people(kind: object) -> eq.Microdata:
    return eq.Microdata(FRAME, confidential=kind, keys=["age", "sex"])  # type: ignore[arg-type]


@pytest.mark.parametrize("kind", KINDS, ids=["categories", "tree"])
@pytest.mark.parametrize(
    "technique",
    [
        eq.Unprotected(),
        eq.Sampling(0.5),
        eq.Swapping(0.3),
        eq.Suppression(3),
        eq.Generalisation(k=20),
        eq.PRAM(keep=0.7),
        eq.NoisyTable(1),
        eq.ReleasedFile(FRAME),
        eq.ReleasedFile(FRAME, matching="nearest"),
        eq.ReleasedFile(FRAME, matching="probable"),
    ],
    ids=lambda technique: technique.notation[:30],
)
def test_a_technique_for_categories_leaves_what_it_leaves_of_their_codes_as_numbers(
    technique: Technique, kind: object
) -> None:
    """H0 does not ask what is close: per class, it is the same as that of the categories' numbers."""
    found = eq.assess(people(kind), technique)
    code = {name: place for place, name in enumerate(sorted(TREE))}
    coded = FRAME.assign(disease=FRAME["disease"].map(code))
    if isinstance(technique, eq.ReleasedFile):
        technique = eq.ReleasedFile(coded, matching=technique.matching)
    numbers = eq.assess(eq.Microdata(coded, confidential="disease", keys=["age", "sex"]), technique)
    assert found.classes["h0"].tolist() == pytest.approx(numbers.classes["h0"].tolist())
    assert found.means["true_hit"][0.0] == pytest.approx(numbers.means["true_hit"][0.0])
    assert found.measures


@pytest.mark.parametrize("kind", KINDS, ids=["categories", "tree"])
@pytest.mark.parametrize(
    "technique",
    [
        eq.QueryRestriction(4),
        eq.NoiseAddition(20),
        eq.Swapping(0.3, window=2),
        eq.Microaggregation(3),
        eq.Rounding(10),
        eq.TopBottomCoding(high=20),
        eq.GeometricNoise(1),
    ],
    ids=lambda technique: technique.notation[:30],
)
def test_the_others_refuse_in_a_sentence(technique: Technique, kind: object) -> None:
    with pytest.raises(eq.InputError, match=r"'disease' holds categories.*choose a"):
        eq.assess(people(kind), technique)


def test_a_released_group_of_the_hierarchy_is_the_set_of_its_values() -> None:
    """Two people in a class, released as “lungs” and “ulcer”: a quarter for each disease of the lungs."""
    original = pd.DataFrame({"age": [30, 30, 40, 40], "disease": ["flu", "ulcer", "asthma", "colic"]})
    released = pd.DataFrame({"age": [30, 30, 40, 40], "disease": ["lungs", "ulcer", "asthma", "*"]})
    origin = eq.Microdata(original, confidential=eq.Tree("disease", TREE), keys=["age"])
    found = eq.ReleasedFile(released).release(origin, 0).posteriors(known=["age"], intruder="paper")
    young = dict(zip(origin.values, found.probabilities[0], strict=True))
    assert young == pytest.approx({"flu": 0.25, "asthma": 0.25, "ulcer": 0.5, "colic": 0.0})
    assert eq.assess(origin, eq.ReleasedFile(released)).classes["h0"][0] == pytest.approx(1.5)
