"""Knowing the mechanism never makes an intruder weaker than one who reads the same release without knowing it."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import pandas as pd
import pytest

import equivoc as eq
from equivoc.data.microdata import Microdata
from equivoc.notation.declared import params
from equivoc.releases.release import Release
from equivoc.techniques.notation import TECHNIQUES, technique_from
from equivoc.techniques.technique import Technique
from tests.sweeps import spread

MOST_BITS = 0.05
MOST_HITS = 0.02
OWN_INTRUDER = {"belief", "intruder", "prior", "matching", "channel"}
"""Parameters that ask for one particular intruder, instead of the strongest."""
ROWS = {
    "unprotected": ["unprotected"],
    "sampling": ["sampling:fraction=0.5"],
    "query-restriction": ["query-restriction:size=2", "query-restriction:size=8"],
    "noise-addition": [f"noise-addition:percent=10,edge={edge}" for edge in ("clip", "wrap", "extend")],
    "rounding": [f"rounding:base=50,method={method}" for method in ("nearest", "random")],
    "top-bottom-coding": ["top-bottom-coding:high=300", "top-bottom-coding:low=150,high=400"],
    "date-shift": ["date-shift:days=100"],
    "pram": ["pram:keep=0.6,on=confidential", "pram:keep=0.8,on=all"],
    "geometric-noise": ["geometric-noise:epsilon=5"],
    "noisy-table": [f"noisy-table:epsilon=2,levels={levels}" for levels in ("data", "public")],
    "generalisation": ["generalisation:k=5"],
    "suppression": ["suppression:k=3", "suppression:k=3,missing_keys=any"],
    "swapping": ["swapping:rate=0.3", "swapping:rate=0.3,on=all", "swapping:rate=1,window=10"],
    "microaggregation": [f"microaggregation:size=3,method={method}" for method in ("optimal", "mdav", "fast")]
    + ["microaggregation:size=3,on=all,method=mdav", "microaggregation:size=3,on=keys"],
    "released-file": [],
}
"""What is tried of every technique; a released file is what they are compared with."""


def shapes() -> dict[str, Microdata]:
    """Four shapes of data: one key, several keys, heavy tails, and values on no even grid."""
    rng = np.random.default_rng(26)
    n = 160
    age, job, sex = rng.integers(20, 60, n), rng.integers(0, 5, n), rng.integers(0, 2, n)
    steady = np.round(100 + 4 * (age - 20) + 30 * job + rng.normal(0, 40, n), -1).clip(50)
    heavy = np.round(np.exp(rng.normal(5, 1.1, n)) + 3 * age, -1) + 10
    uneven = np.exp(5 + 0.01 * age + rng.normal(0, 0.3, n))
    frame = pd.DataFrame(
        {"age": age, "job": job, "sex": sex, "steady": steady, "heavy": heavy, "uneven": uneven}
    )
    return {
        "one key": Microdata(frame, confidential="steady", keys=["job"]),
        "several keys": Microdata(frame, confidential="steady", keys=["age", "job", "sex"]),
        "heavy tails": Microdata(frame, confidential="heavy", keys=["age", "sex"]),
        "no even grid": Microdata(frame, confidential="uneven", keys=["age", "job"]),
    }


SHAPES = shapes()


def tenth(people: Microdata) -> float:
    return float(people.values[-1] - people.values[0]) / 10


def below_floor(people: Microdata, release: Release) -> list[str]:
    """Where the release is given a safer figure than the same table as a file of unknown origin."""
    eps = tenth(people)
    own, file = (
        eq.assess(people, each, eps=[eps]).summary["truth"]
        for each in (release, eq.ReleasedFile(release.table))
    )
    found = []
    if own["surprise"][0.0] > file["surprise"][0.0] + MOST_BITS:
        found.append(f"T(0) {own['surprise'][0.0]:.3f} > {file['surprise'][0.0]:.3f}")
    if own["true_hit"][eps] < file["true_hit"][eps] - MOST_HITS:
        found.append(f"true hit {own['true_hit'][eps]:.3f} < {file['true_hit'][eps]:.3f}")
    if own["certain_right"] < file["certain_right"]:
        found.append(f"certain and right {own['certain_right']} < {file['certain_right']}")
    if own["below_half_bit"] < file["below_half_bit"] - MOST_HITS:
        found.append(f"below half a bit {own['below_half_bit']:.3f} < {file['below_half_bit']:.3f}")
    return found


def face_value_hits(
    truth: Sequence[float], shown: Sequence[float], classes: Sequence[object], eps: float
) -> float:
    """The share of people whose value lies within ε/2 of the best window of the values shown for their class."""
    hits = 0.0
    frame = pd.DataFrame({"truth": truth, "shown": shown, "class": classes})
    for _, members in frame.groupby("class"):
        values = np.sort(members["shown"].to_numpy())
        inside = [values[(values >= low) & (values <= low + eps + 1e-9)] for low in np.unique(values)]
        best = max(map(len, inside))
        middles = [(group[0] + group[-1]) / 2 for group in inside if len(group) == best]
        hits += float(
            np.mean([(np.abs(members["truth"] - middle) <= eps / 2 + 1e-9).sum() for middle in middles])
        )
    return hits / len(frame)


def test_every_technique_and_every_declared_word_has_a_row() -> None:
    assert set(ROWS) == set(TECHNIQUES)
    for name, notations in ROWS.items():
        declared = {each.name: each for each in params(TECHNIQUES[name]) if each.kind == "choice"}
        words = {each: param.words or () for each, param in declared.items()}
        for parameter in set(words) - OWN_INTRUDER:
            default = declared[parameter].default
            tried = {getattr(technique_from(text), parameter) for text in notations}
            assert set(words[parameter]) <= tried | {default}, (name, parameter)


@pytest.mark.parametrize(
    ("notation", "shape"), spread([text for notations in ROWS.values() for text in notations], SHAPES, each=2)
)
def test_no_figure_is_safer_than_that_of_a_file_of_unknown_origin(shape: str, notation: str) -> None:
    people = SHAPES[shape]
    release = technique_from(notation).release(people, 4)
    if release.table is None or release.tabulated:
        # No records to compare with: she reads the answers or the counts as they are.
        assert "plain" in eq.assess(people, release).intruders["intruder"].tolist()
        return
    assert below_floor(people, release) == []


@pytest.mark.parametrize("shape", SHAPES)
@pytest.mark.parametrize(
    "notation",
    [
        "microaggregation:size=3,method=mdav",
        "rounding:base=50",
        "swapping:rate=0.3",
        "pram:keep=0.6,on=confidential",
    ],
)
def test_no_figure_is_safer_than_the_values_as_they_are_shown(shape: str, notation: str) -> None:
    people = SHAPES[shape]
    release, eps = technique_from(notation).release(people, 4), tenth(people)
    classes = list(zip(*(people.key_codes(name).tolist() for name in people.keys), strict=True))
    shown = release.table[people.confidential].to_numpy()
    plainly = face_value_hits(people.values[people.codes], shown, classes, eps)
    assert eq.assess(people, release, eps=[eps]).summary["truth"]["true_hit"][eps] >= plainly - MOST_HITS


@pytest.mark.parametrize("shape", ["heavy tails", "several keys"])
def test_a_channel_that_expects_members_anywhere_is_below_the_floor(shape: str) -> None:
    people = SHAPES[shape]
    planted = eq.Microaggregation(size=3, method="mdav", belief="sum").release(people)
    assert len(below_floor(people, planted)) >= 2


def test_a_weak_intruder_that_the_technique_names_is_said_to_be_weak() -> None:
    people = SHAPES["heavy tails"]
    weak = eq.assess(people, eq.Microaggregation(size=3, method="mdav", belief="sum"))
    assert weak.intruder == "own"
    (note,) = [each for each in weak.notes if "comes closer to the truth" in each]
    read = eq.assess(people, eq.ReleasedFile(weak.release.table)).summary["truth"]["surprise"][0.0]
    told = float(note.split(": ")[1].split(" bits")[0])
    assert told == pytest.approx(read, abs=0.02)
    strong = eq.assess(people, eq.Microaggregation(size=3, method="mdav", belief="order"))
    assert not any("comes closer to the truth" in each for each in strong.notes)


@pytest.mark.parametrize(
    "technique",
    [eq.Microaggregation(size=3, belief="sum"), eq.Microaggregation(size=3, method="fast", belief="sum")],
    ids=lambda each: each.notation,
)
def test_a_weak_intruder_that_the_technique_names_makes_nothing_publishable(technique: Technique) -> None:
    people = SHAPES["heavy tails"]
    eps = tenth(people) / 10
    own = eq.assess(people, technique, eps=[eps])
    read = eq.assess(people, eq.ReleasedFile(own.release.table), eps=[eps], intruder="plain")
    weak, strong = (each.summary["truth"]["true_hit"][eps] for each in (own, read))
    assert weak < strong - 0.1
    gain = (own.summary["truth"]["gain"] + read.summary["truth"]["gain"]) / 2
    limits = [f"true_hit({eps!r}) <= {(weak + strong) / 2!r}", f"gain <= {gain!r}"]
    for intruder in ("strongest", "informed"):
        judged = eq.assess(people, technique, require=limits, intruder=intruder)
        assert [each.meets for each in judged.requirements] == [False, False]
        assert judged.intruder == "own"
        assert judged.requirements[0].value >= strong - 1e-9
        assert any("requirements are judged by it" in each for each in judged.notes)
    drawn = eq.assess(people, technique, require=limits, replicates=2)
    assert not any(each.meets for each in drawn.requirements)
    done = eq.compare(people, [technique], require=limits)
    assert done.choice is None
    assert done.frame["intruder"].tolist() == [judged.decisive.intruder]
    assert done.frame["gain"][0] >= read.summary["truth"]["gain"] - 0.02


def test_a_strong_intruder_that_the_technique_names_is_kept() -> None:
    people = SHAPES["heavy tails"]
    result = eq.assess(
        people, eq.Microaggregation(size=3, method="mdav", belief="order"), require=["h0 >= 0"]
    )
    assert result.decisive.intruder == result.intruder == "own"
    assert not any("comes closer" in each for each in result.notes)
    assert result.requirements[0].value == pytest.approx(result.means["h0"])


def test_a_new_technique_without_a_row_fails(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("tests.techniques.test_floor.TECHNIQUES", {**TECHNIQUES, "new": eq.Swapping})
    with pytest.raises(AssertionError):
        test_every_technique_and_every_declared_word_has_a_row()
    monkeypatch.undo()
    monkeypatch.setitem(ROWS, "noise-addition", ["noise-addition:percent=10,edge=clip"])
    with pytest.raises(AssertionError):  # a word that is not tried
        test_every_technique_and_every_declared_word_has_a_row()
