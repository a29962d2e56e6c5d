"""Categories: techniques that apply to them work, the others reject them in one sentence."""

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
def test_categories_and_their_codes_have_the_same_h0(technique: Technique, kind: object) -> None:
    """H0 does not depend on distances: per class, it is the same for categories and for their numbers."""
    found = eq.assess(people(kind), technique, intruder="informed")
    code = {name: place for place, name in enumerate(sorted(TREE))}
    coded = FRAME.assign(disease=FRAME["disease"].map(code))
    if isinstance(technique, eq.ReleasedFile):
        technique = eq.ReleasedFile(coded, matching=technique.matching)
    origin = eq.Microdata(coded, confidential="disease", keys=["age", "sex"])
    numbers = eq.assess(origin, technique, intruder="informed")
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
def test_other_techniques_reject_categories_in_one_sentence(technique: Technique, kind: object) -> None:
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
    assert eq.assess(origin, eq.ReleasedFile(released), intruder="paper").classes["h0"][0] == pytest.approx(
        1.5
    )
