"""Skinner and Elliot's θ against counting by hand and over all pairs, and its estimate against simulation."""

from __future__ import annotations

from math import isnan

import numpy as np
import pytest
from hypothesis import given as hypothesis_given

import equivoc as eq
from equivoc.data.microdata import Microdata
from equivoc.models.of_release.record_linkage import skinner_elliot, theta_of
from equivoc.models.of_release.released_table import Crossing
from tests.models.released import KEYS, Record, files, given, microdata


def by_definition(
    records: list[Record], rows: list[Record], made_from: list[int] | None, known: tuple[str, ...]
) -> float:
    """Of all pairs of an original and a released record that nobody else in the release agrees with, the right ones."""
    right = pairs = 0
    for r, row in enumerate(rows):
        cell = [row[k] for k in known]
        if sum([other[k] for k in known] == cell for other in rows) > 1:
            continue
        matching = [i for i, record in enumerate(records) if [record[k] for k in known] == cell]
        pairs += len(matching)
        right += len(matching) > 0 if made_from is None else made_from[r] in matching
    return right / pairs if pairs else float("nan")


@hypothesis_given(files())
def test_theta_over_all_pairs(drawn: tuple[list[Record], list[Record], list[int]]) -> None:
    records, rows, made_from = drawn
    people = microdata(records)
    for known in (KEYS, ("sex",), ()):
        for origins in (made_from, None):
            found = skinner_elliot(people, given(people, rows, origins), known=known)
            assert found.theta == pytest.approx(by_definition(records, rows, origins, known), nan_ok=True)


@hypothesis_given(files())
def test_order_and_names_change_nothing(drawn: tuple[list[Record], list[Record], list[int]]) -> None:
    records, rows, made_from = drawn
    people = microdata(records)
    found = skinner_elliot(people, given(people, rows, made_from))
    names = {"F": "Ω", "M": "a", None: None}
    renamed, last = (
        [[r | {"sex": names[r["sex"]]} for r in each] for each in (records, rows)],
        len(records) - 1,
    )
    other = microdata(renamed[0][::-1])
    again = skinner_elliot(other, given(other, renamed[1][::-1], [last - i for i in made_from[::-1]]))
    assert again.__dict__ == pytest.approx(found.__dict__, nan_ok=True)


def test_by_hand() -> None:
    """Eight people, four sampled: 30 and 41 are unique in the sample, shared by 3 and 1 people: θ = 2/4."""
    records = [{"age": a, "sex": "F", "pay": 10} for a in (30, 30, 30, 41, 52, 52, 60, 60)]
    people = microdata(records)
    chosen = [0, 3, 4, 5]
    found = skinner_elliot(people, given(people, [records[i] for i in chosen], chosen), known=["age"])
    assert found.theta == 2 / 4
    # π = 1/2, n1 = 2, n2 = 1, n3 = 0: θ̂ = 1/(1 + 1); v = (1/16)/4 · (2 + 4).
    assert found.estimate == 0.5
    assert found.variance == pytest.approx(6 / 64)


def test_the_file_itself() -> None:
    """Everyone unique is found for certain; without anyone unique there is no match to speak of."""
    people = microdata([{"age": a, "sex": "F", "pay": 10} for a in (30, 30, 41)])
    published = eq.Unprotected().release(people)
    found = skinner_elliot(people, published, known=["age"])
    assert (found.theta, found.estimate, found.variance) == (1.0, 1.0, 0.0)
    nobody = skinner_elliot(people, published, known=[])
    assert all(isnan(figure) for figure in (nobody.theta, nobody.estimate, nobody.variance))


def test_a_row_that_fits_someone_else_is_a_wrong_match() -> None:
    records = [{"age": 30, "sex": "F", "pay": 10}, {"age": 41, "sex": "F", "pay": 20}]
    people = microdata(records)
    swapped = given(people, [records[1], records[0]], [0, 1])
    assert skinner_elliot(people, swapped).theta == 0.0
    assert skinner_elliot(people, given(people, [records[1], records[0]], None)).theta == 1.0


def test_more_rows_than_people_are_no_sample() -> None:
    records = [{"age": 30, "sex": "F", "pay": 10}]
    people = microdata(records)
    found = skinner_elliot(people, given(people, [*records, {"age": 31, "sex": "F", "pay": 10}], None))
    assert found.theta == 1.0
    assert isnan(found.estimate)
    assert isnan(found.variance)


@pytest.fixture(scope="module")
def simulated() -> np.ndarray:
    """θ, θ̂ and v of 3,000 Bernoulli samples of 1,920 people in classes of 1 to 6; π = 0.3."""
    rng = np.random.default_rng(11)
    sizes = np.repeat([1, 2, 3, 4, 5, 6], [300, 200, 120, 80, 60, 40])
    people = int(sizes.sum())
    found = []
    for _ in range(3000):
        drawn = rng.binomial(sizes, 0.3)
        # The size of the sample is random; π is not: make n/N of this sample π by counting N as n/π.
        result = theta_of(Crossing(sizes, drawn, drawn), records=round(int(drawn.sum()) / 0.3))
        found.append((result.theta, result.estimate, result.variance))
    assert people == 1920
    return np.array(found)


def test_the_estimate_is_right_on_average(simulated: np.ndarray) -> None:
    theta, estimate, _ = simulated.mean(axis=0)
    assert estimate == pytest.approx(theta, rel=0.01)


def test_the_variance_is_that_of_the_estimates_error(simulated: np.ndarray) -> None:
    """Within 8 % (the simulation's own error is 2.6 %); half of it, or one without n_3, would be noticed."""
    error = np.var(simulated[:, 1] - simulated[:, 0])
    claimed = simulated[:, 2].mean()
    assert claimed == pytest.approx(error, rel=0.08)
    assert claimed != pytest.approx(error / 2, rel=0.08)


def test_a_release_without_a_table_and_other_peoples_release(people: Microdata) -> None:
    with pytest.raises(eq.InputError, match="the release has no table of records"):
        skinner_elliot(people, eq.QueryRestriction(size=2).release(people, 1))
    other = eq.Unprotected().release(microdata([{"age": 1, "sex": "F", "pay": 1}]))
    with pytest.raises(eq.InputError, match="other people"):
        skinner_elliot(people, other)
    with pytest.raises(eq.InputError, match="'pay' is not a key"):
        skinner_elliot(people, eq.Unprotected().release(people), known=["pay"])
