"""Membership by the closest record: distances one by one, copies, independent draws, and a leak of known size."""

from __future__ import annotations

from itertools import product
from typing import Any

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import equivoc as eq
from equivoc.data.microdata import Microdata
from equivoc.models import membership_inference, singling_out
from tests.models.released import Given
from tests.models.test_singling_out import KEYS, drawn, people_of

Row = tuple[Any, str | None, int]
ROW = st.tuples(
    st.sampled_from([20, 21, 25, 40, None]),
    st.sampled_from(["a", "b", "c", None]),
    st.sampled_from([1, 2, 5, 9]),
)


def frame_of(rows: list[Row]) -> pd.DataFrame:
    frame = pd.DataFrame(rows, columns=[*KEYS, "pay"])
    frame["age"] = frame["age"].astype("Int64")
    return frame


def distance(one: Row, other: Row, ranges: tuple[float, float]) -> float:
    """Numbers by their difference over the released range, at most 1; everything else 0 or 1."""
    total = float(one[1] != other[1])
    for at, spread in zip((0, 2), ranges, strict=True):
        a, b = one[at], other[at]
        if a is None or b is None or not spread:
            total += float(a != b)
        else:
            total += min(abs(a - b) / spread, 1.0)
    return total


@settings(max_examples=60)
@given(*[st.lists(ROW, min_size=1, max_size=8)] * 3)
def test_against_all_pairs(ours: list[Row], released: list[Row], others: list[Row]) -> None:
    m = min(len(ours), len(others))
    ours, others = ours[:m], others[:m]  # so that everyone is a candidate
    ranges = tuple(
        max(numbers) - min(numbers) if numbers else 0.0
        for numbers in ([row[at] for row in released if row[at] is not None] for at in (0, 2))
    )
    away = [min(distance(row, r, ranges) for r in released) for row in (*ours, *others)]  # type: ignore[arg-type]
    limit = sorted(away)[m - 1]
    below, tied = [d < limit - 1e-4 for d in away], [abs(d - limit) <= 1e-4 for d in away]
    share = (m - sum(below)) / sum(tied)
    taken = [1.0 if b else share if t else 0.0 for b, t in zip(below, tied, strict=True)]
    right = (sum(taken[:m]) + m - sum(taken[m:])) / (2 * m)
    people = people_of(frame_of(ours))
    found = membership_inference(people, Given(people, frame_of(released), None), control=frame_of(others))
    assert found.candidates == 2 * m
    assert found.accuracy == pytest.approx(right)
    assert found.people_distance == pytest.approx(float(np.median(away[:m])), abs=1e-5)
    assert found.control_distance == pytest.approx(float(np.median(away[m:])), abs=1e-5)


def test_a_copy_gives_everyone_away() -> None:
    people = people_of(drawn(400, 1))
    found = membership_inference(
        people, eq.ReleasedFile(drawn(400, 1)).release(people), control=drawn(500, 2)
    )
    assert found.accuracy > 0.98
    assert found.people_distance == 0 < found.control_distance
    assert found.advantage == pytest.approx(2 * found.accuracy - 1)


def test_an_independent_file_gives_nobody_away() -> None:
    found = []
    for seed in range(20):
        people = people_of(drawn(400, 3 * seed + 100))
        release = eq.ReleasedFile(drawn(400, 3 * seed + 101)).release(people)
        found.append(membership_inference(people, release, control=drawn(400, 3 * seed + 102), seed=seed))
    assert abs(np.mean([each.accuracy for each in found]) - 0.5) < 0.015
    assert sum(each.interval[0] <= 0.5 <= each.interval[1] for each in found) >= 17


def test_a_leak_of_known_size() -> None:
    """A tenth of the people copied into an otherwise independent file.

    Of 1,000 + 1,000 candidates she takes the 100 copied, and 900 of the other 1,900 at random: she is right about
    (100 + 900·900/1900 + 1000 − 900·1000/1900) / 2000 = 0.526.
    """
    found = []
    for seed in range(10):
        frame = drawn(1_000, 3 * seed)
        people = people_of(frame)
        synthetic = pd.concat([frame.iloc[:100], drawn(900, 3 * seed + 1)])
        found.append(
            membership_inference(
                people,
                eq.ReleasedFile(synthetic).release(people),
                control=drawn(1_000, 3 * seed + 2),
                attacks=1_000,
            )
        )
    assert np.mean([each.accuracy for each in found]) == pytest.approx(0.526, abs=0.012)


def test_all_equal_is_guessing() -> None:
    frame = pd.DataFrame({"age": [30] * 5, "job": ["a"] * 5, "pay": [1] * 5})
    people = people_of(frame)
    found = membership_inference(people, eq.ReleasedFile(frame).release(people), control=frame)
    assert (found.accuracy, found.candidates) == (0.5, 10)


def test_in_the_frame_only_with_a_control_group() -> None:
    people, control = people_of(drawn(300, 1)), drawn(250, 3)
    release = eq.ReleasedFile(drawn(300, 2)).release(people)
    attacks = [
        "singling out, univariate",
        "singling out, multivariate",
        "membership inference, closest record",
    ]
    bare = eq.measures(people, release).set_index("measure")
    assert not set(attacks) & set(bare.index)
    found = eq.measures(people, release, control=control).set_index("measure")
    assert set(found.index) - set(bare.index) == set(attacks)
    for kind in ("univariate", "multivariate"):
        one = singling_out(people, release, control=control, kind=kind, attacks=300)
        assert found.loc[f"singling out, {kind}", "value"] == one.success
        assert f"{one.control:.1%} (" in found.loc[f"singling out, {kind}", "meaning"]
    two = membership_inference(people, release, control=control, attacks=300)
    assert found.loc[attacks[2], "value"] == two.accuracy
    assert found["meaning"].str.endswith(("; more is safer.", "; less is safer.")).all()
    assessed = eq.assess(people, eq.ReleasedFile(drawn(300, 2)), control=control).measures
    assert {row.measure: row.value for row in assessed if row.measure in attacks} == {
        name: found.loc[name, "value"] for name in attacks
    }
    only_age = eq.measures(people, release, control=control, known=["age"]).set_index("measure")
    alone = membership_inference(people, release, control=control, known=["age"], attacks=300)
    assert only_age.loc[attacks[2], "value"] == alone.accuracy


def test_where_three_attributes_single_out_nobody_all_are_used() -> None:
    """All combinations of three values of each of four keys: any three keys are three people's, all four one's."""
    frame = pd.DataFrame(list(product("xyz", repeat=4)), columns=list("abcd")).assign(pay=7)
    people = Microdata(frame, confidential="pay", keys=list("abcd"))
    release = eq.ReleasedFile(frame).release(people)
    assert singling_out(people, release, control=frame).attacks == 0
    told = eq.measures(people, release, control=frame).set_index("measure")["meaning"]
    few = "(5 attributes each; all there are; 300 were asked for)"
    assert told["singling out, multivariate"].startswith(
        f"Of 81 multivariate predicates from the release {few} "
    )


def test_a_small_group_is_said() -> None:
    people, control = people_of(drawn(300, 1)), drawn(20, 3)
    release = eq.ReleasedFile(drawn(300, 2)).release(people)
    few = membership_inference(people, release, control=control)
    assert (few.candidates, few.asked) == (40, 1000)
    assert few.note == "all of the smaller group and as many others; 1,000 were asked for"
    assert membership_inference(people, release, control=control, attacks=20).note == ""
    told = eq.measures(people, release, control=control).set_index("measure")["meaning"]
    assert "600 were asked for), half of them in the data" in told["membership inference, closest record"]


def test_bad_input() -> None:
    people = people_of(drawn(20, 1))
    release = eq.ReleasedFile(drawn(20, 2)).release(people)
    with pytest.raises(eq.InputError, match="attacks is 0; it must be a whole number of 1 or more"):
        membership_inference(people, release, control=drawn(20, 3), attacks=0)
    with pytest.raises(eq.InputError, match="give control"):
        membership_inference(people, release, control=None)
    with pytest.raises(eq.InputError, match="a control group needs a release"):
        eq.measures(people, control=drawn(20, 3))
    other = Microdata(drawn(20, 3), confidential="pay", keys=["age"])
    with pytest.raises(eq.InputError, match="the control group cannot be used: it lacks the key 'job'"):
        eq.measures(people, release, control=other)
