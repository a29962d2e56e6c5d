"""Hand-worked distances of distributions, averages, correlations and two-way tables."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pandas as pd
import pytest

import equivoc as eq
from equivoc.information_loss.utility import losses

ORIGINAL = pd.DataFrame({"sex": list("FFMM"), "age": [20, 30, 40, 50], "pay": [1, 2, 3, 4]})


def found(released: pd.DataFrame, original: pd.DataFrame = ORIGINAL) -> dict[tuple[str, str], float]:
    keys = [name for name in original.columns if name != "pay"]
    people = eq.Microdata(original, confidential="pay", keys=keys)
    release = eq.ReleasedFile(released).release(people)
    return {(loss.measure, loss.attribute): loss.value for loss in losses(people, release)}


def test_distance_of_numbers_is_in_standard_deviations() -> None:
    """All ages move up by 10; the standard deviation of 20, 30, 40, 50 is √125."""
    values = found(ORIGINAL.assign(age=ORIGINAL["age"] + 10))
    assert values["distribution", "age"] == pytest.approx(10 / np.sqrt(125))
    assert values["averages", "age"] == pytest.approx(10 / np.sqrt(125))
    assert values["distribution", "pay"] == values["averages", "pay"] == values["distribution", "sex"] == 0
    assert values["correlations", ""] == 0


def test_distance_of_categories_is_the_share_that_must_change() -> None:
    values = found(ORIGINAL.assign(sex=list("FFFM")))
    assert values["distribution", "sex"] == pytest.approx(0.25)
    assert ("averages", "sex") not in values


def test_a_category_that_the_original_lacks_counts_as_changed() -> None:
    assert found(ORIGINAL.assign(sex=list("FFXX")))["distribution", "sex"] == pytest.approx(0.5)


def test_the_largest_difference_of_mean_and_quartiles_counts() -> None:
    """Pay 1, 2, 3, 4 becomes 1, 2, 3, 12: the mean moves by 2, the upper quartile (3) not at all. If it becomes 2, 2,
    3, 4, the lower quartile moves by 1, the mean by 1/4."""
    values = found(ORIGINAL.assign(pay=[1, 2, 3, 12]))
    assert values["averages", "pay"] == pytest.approx(2 / np.sqrt(1.25))
    values = found(ORIGINAL.assign(pay=[2, 2, 3, 4]))
    assert values["averages", "pay"] == pytest.approx(1 / np.sqrt(1.25))


def test_correlations_differ_by_2_if_one_is_reversed() -> None:
    values = found(ORIGINAL.assign(pay=[4, 3, 2, 1]))
    assert values["correlations", ""] == pytest.approx(2.0)
    assert values["distribution", "pay"] == 0


def test_a_constant_column_correlates_with_nothing() -> None:
    assert found(ORIGINAL.assign(pay=[2, 2, 2, 2]))["correlations", ""] == pytest.approx(1.0)


def test_two_way_tables_see_what_columns_alone_do_not() -> None:
    """Sexes F F M M become M F F M: half of the records change cells in the tables with age and with pay."""
    values = found(ORIGINAL.assign(sex=list("MFFM")))
    assert values["distribution", "sex"] == 0
    assert values["two_way_tables", ""] == pytest.approx((0.5 + 0.5 + 0.0) / 3)


def test_two_way_tables_against_a_direct_computation() -> None:
    rng = np.random.default_rng(2)
    original = pd.DataFrame({k: rng.integers(0, 5, 200) for k in ("a", "b", "pay")})
    released = pd.DataFrame({k: rng.integers(0, 5, 150) for k in ("a", "b", "pay")})
    expected = []
    for one, other in (("a", "b"), ("a", "pay"), ("b", "pay")):
        own, there = (pd.crosstab(t[one], t[other], normalize=True) for t in (original, released))
        expected.append(0.5 * own.sub(there, fill_value=0).abs().to_numpy().sum())
    assert found(released, original)["two_way_tables", ""] == pytest.approx(np.mean(expected))


def test_a_star_is_any_level_equally_likely() -> None:
    """All ages starred: uniform over the four levels, as in the original; the correlation is lost."""
    values = found(ORIGINAL.assign(age="*"))
    assert values["distribution", "age"] == values["averages", "age"] == 0
    assert values["correlations", ""] == pytest.approx(1.0)
    assert values["two_way_tables", ""] > 0


def test_ranges_are_their_levels() -> None:
    """If all are 20 or 30, half of each, the four sorted ages differ by 0, 10, 10 and 20."""
    values = found(ORIGINAL.assign(age=["20-30", "20-30", "[40,60)", ">=40"]))
    assert values["distribution", "age"] == 0
    values = found(ORIGINAL.assign(age=["20-30", "20-30", "20-30", "20-30"]))
    assert values["distribution", "age"] == pytest.approx(10 / np.sqrt(125))


def test_fewer_records_are_compared_by_shares() -> None:
    assert found(ORIGINAL.iloc[:2])["distribution", "sex"] == pytest.approx(0.5)
    both = pd.concat([ORIGINAL, ORIGINAL.iloc[:2]])
    assert found(both)["distribution", "sex"] == pytest.approx(4 / 6 - 1 / 2)


def test_a_group_of_the_hierarchy_is_its_values() -> None:
    """A confidential tree released as its chapters: the same shares, if they are even."""
    original = pd.DataFrame({"sex": list("FFMM"), "pay": ["asthma", "flu", "gastritis", "ulcer"]})
    tree = eq.Tree("pay", {"asthma": "lungs", "flu": "lungs", "gastritis": "stomach", "ulcer": "stomach"})
    people = eq.Microdata(original, confidential=tree, keys=["sex"])
    masked = original.assign(pay=["lungs", "lungs", "stomach", "ulcer"])
    release = eq.ReleasedFile(masked).release(people)
    values = {(loss.measure, loss.attribute): loss.value for loss in losses(people, release)}
    assert values["distribution", "pay"] == pytest.approx(0.125)


def test_keys_at_a_level_of_their_hierarchy(tmp_path: Path) -> None:
    """Towns released as regions, whose names are no towns: each region is its towns, equally likely."""
    original = pd.DataFrame({"town": ["a", "a", "a", "b", "c", "c"], "pay": range(6)})
    people = eq.Microdata(original, confidential="pay", keys=["town"])
    file = tmp_path / "town.csv"
    file.write_text("a;north;*\nb;north;*\nc;south;*\n", encoding="utf-8")
    release = eq.Generalisation(hierarchies={"town": str(file)}, levels={"town": 1}).release(people)
    assert set(release.table["town"]) == {"north", "south"}
    values = {(loss.measure, loss.attribute): loss.value for loss in losses(people, release)}
    assert values["distribution", "town"] == pytest.approx(3 / 6 - 2 / 6)


def test_nulls_keep_their_place_whatever_the_other_numbers_do() -> None:
    original = pd.DataFrame({"age": pd.array([20, 30, None, None], "Int64"), "pay": [1, 2, 3, 4]})
    assert found(original, original)["distribution", "age"] == 0
    moved = found(original.assign(age=pd.array([20, 90, None, None], "Int64")), original)
    deviation = np.std([20, 30, 31, 31])
    assert moved["distribution", "age"] == pytest.approx(15 / deviation)
