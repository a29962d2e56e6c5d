"""ACS-like people: in their domains, the same for the same seed, alike as a frame and as a file."""

from __future__ import annotations

import tracemalloc
from pathlib import Path

import numpy as np
import pandas as pd
import pyarrow.parquet as pq
import pytest

import equivoc as eq
from equivoc.datasets import acs_figures, acs_people, pums_codes
from equivoc.datasets import shipped as attributes
from equivoc.datasets.acs_people import Lottery


@pytest.fixture(scope="module")
def people() -> pd.DataFrame:
    return eq.datasets.acs_like(200_000, seed=3)


def share(column: pd.Series) -> pd.Series:
    return column.value_counts(normalize=True).sort_index()


def test_every_value_lies_in_its_domain_and_every_level_occurs(people: pd.DataFrame) -> None:
    assert people.columns.tolist() == list(attributes.DOMAINS)
    for name, domain in attributes.DOMAINS.items():
        assert people[name].dtype == np.int16
        assert set(people[name].unique()) <= set(domain)
    for name in ("Salary", "Age", "Sex", "Education", "Industry", "Occupation"):
        assert people[name].nunique() == len(attributes.DOMAINS[name])
    assert len(attributes.SALARY) == 25
    assert people.Travel_time.nunique() > 150


def test_the_same_seed_gives_the_same_rows(people: pd.DataFrame) -> None:
    pd.testing.assert_frame_equal(eq.datasets.acs_like(200_000, seed=3), people)
    other = eq.datasets.acs_like(200_000, seed=4)
    # Independent rows agree on a salary of 25 values about one time in nine.
    assert (other.Salary == people.Salary).mean() < 0.2


def test_fewer_rows_are_the_first_of_more(people: pd.DataFrame) -> None:
    for rows in (1, 1000, acs_people._BLOCK, acs_people._BLOCK + 1):
        pd.testing.assert_frame_equal(eq.datasets.acs_like(rows, seed=3), people.head(rows))


def test_fewer_rows_are_the_first_of_more_across_pieces(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(acs_people, "PIECE", 1000)
    whole = eq.datasets.acs_like(5000, seed=3)
    for rows in (999, 1000, 1001, 3500):
        pd.testing.assert_frame_equal(eq.datasets.acs_like(rows, seed=3), whole.head(rows))
    # Pieces are not copies of one another.
    assert not whole.head(1000).equals(whole.iloc[1000:2000].reset_index(drop=True))


def test_the_file_contains_the_frame(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(acs_people, "PIECE", 1000)
    for name in ("people.parquet", "again.parquet"):
        eq.datasets.write_acs_like(tmp_path / name, 3500, seed=5)
    pd.testing.assert_frame_equal(
        pd.read_parquet(tmp_path / "people.parquet"), eq.datasets.acs_like(3500, seed=5)
    )
    written = pq.ParquetFile(tmp_path / "people.parquet")
    assert [written.metadata.row_group(g).num_rows for g in range(written.num_row_groups)] == [1000] * 3 + [
        500
    ]
    assert {str(field.type) for field in written.schema_arrow} == {"int16"}
    assert (tmp_path / "people.parquet").read_bytes() == (tmp_path / "again.parquet").read_bytes()
    assert len(list(tmp_path.iterdir())) == 2


def test_writing_more_takes_no_more_memory(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(acs_people, "PIECE", 20_000)
    eq.datasets.write_acs_like(tmp_path / "warm.parquet", 20_000)

    def peak(rows: int) -> int:
        tracemalloc.start()
        eq.datasets.write_acs_like(tmp_path / "people.parquet", rows)
        _, most = tracemalloc.get_traced_memory()
        tracemalloc.stop()
        return most

    few, many = peak(40_000), peak(400_000)
    assert many < 1.3 * few + 500_000
    assert 1.3 * few + 500_000 < 400_000 * 14, "the bound would not notice all rows being held"


def test_an_interrupted_file_is_not_left_behind(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def full(*_: object) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(acs_people, "_piece", full)
    with pytest.raises(eq.InputError, match="cannot be written: No space left on device"):
        eq.datasets.write_acs_like(tmp_path / "people.parquet", 10)
    assert not list(tmp_path.iterdir())


def test_an_impossible_place_is_named(tmp_path: Path) -> None:
    with pytest.raises(eq.InputError, match="is a folder"):
        eq.datasets.write_acs_like(tmp_path, 10)
    with pytest.raises(eq.InputError, match="there is no folder"):
        eq.datasets.write_acs_like(tmp_path / "nowhere" / "people.parquet", 10)


@pytest.mark.parametrize("n", [0, -1, 2.5, "10", True, None])
def test_a_number_of_people_is_a_whole_number(n: object, tmp_path: Path) -> None:
    with pytest.raises(eq.InputError, match=r"n is .*; it must be a whole number of 1 or more"):
        eq.datasets.acs_like(n)  # type: ignore[arg-type]
    with pytest.raises(eq.InputError, match=r"n is .*; it must be a whole number of 1 or more"):
        eq.datasets.write_acs_like(tmp_path / "people.parquet", n)  # type: ignore[arg-type]


@pytest.mark.parametrize("seed", [-1, 0.5, None])
def test_a_seed_is_a_whole_number(seed: object) -> None:
    with pytest.raises(eq.InputError, match=r"seed is .*; it must be a whole number of 0 or more"):
        eq.datasets.acs_like(10, seed=seed)  # type: ignore[arg-type]


def test_a_numpy_number_is_a_number() -> None:
    pd.testing.assert_frame_equal(
        eq.datasets.acs_like(np.int64(5), seed=np.int32(1)), eq.datasets.acs_like(5, seed=1)
    )


def test_industries_and_occupations_have_the_published_shares(people: pd.DataFrame) -> None:
    for name, given in (("Industry", acs_figures.INDUSTRIES), ("Occupation", acs_figures.OCCUPATIONS)):
        figures = np.array([row[0] for row in given.values()])
        # Five standard errors of a share among 200,000 are at most 0.006.
        assert np.abs(share(people[name]).to_numpy() - figures / figures.sum()).max() < 0.006


def test_the_figures_name_the_groups_of_the_census_file() -> None:
    assert list(acs_figures.INDUSTRIES) == [group.label for group in pums_codes.INDUSTRIES]
    assert list(acs_figures.OCCUPATIONS_WITHIN) == list(acs_figures.INDUSTRIES)
    assert list(acs_figures.OCCUPATIONS) == [group.label for group in pums_codes.OCCUPATIONS]
    assert len(acs_figures.WEEKLY_BY_EDUCATION) == len(pums_codes.EDUCATION)


def test_fitted_tables_have_both_margins() -> None:
    education = acs_people.age_shares() @ acs_people.education_by_age()
    joint = acs_people.education_and_industry(education)
    np.testing.assert_allclose(joint.sum(axis=1), education, atol=1e-12)
    occupation = acs_people.occupation_within(joint)
    np.testing.assert_allclose(occupation.sum(axis=2), joint.T, atol=1e-6)
    shares = np.array([row[0] for row in acs_figures.OCCUPATIONS.values()])
    np.testing.assert_allclose(occupation.sum(axis=(0, 1)), shares / shares.sum(), atol=1e-12)


def test_salary_rises_with_education_and_differs_by_sex(people: pd.DataFrame) -> None:
    by_education = people.groupby("Education").Salary.mean()
    assert by_education[9] > by_education[8] + 5
    assert by_education[13] > by_education[9] + 15
    assert by_education[16] > by_education[13] + 10
    by_sex = people.groupby("Sex").Salary.mean()
    assert by_sex[1] > by_sex[2] + 8
    by_age = people.groupby("Age").Salary.mean()
    assert by_age[18] < by_age[25] < by_age[45]
    assert by_age[80] < by_age[45]


def test_log_salary_scatters_as_stated() -> None:
    # Far from the ends of the grid, among people who are alike in all that the salary depends on.
    whole = eq.datasets.acs_like(1_000_000, seed=1)
    alike = whole[(whole.Age.between(38, 50)) & (whole.Sex == 1) & (whole.Education == 13)]
    logs = np.log(alike[alike.Occupation == 4].Salary)
    assert logs.size > 2000
    assert logs.std() == pytest.approx(acs_figures.SPREAD, abs=0.08)


def test_occupation_depends_on_industry_and_education(people: pd.DataFrame) -> None:
    teachers = share(people[people.Industry == 12].Occupation)
    assert teachers.idxmax() == 9
    assert people[people.Occupation == 25].Industry.unique().tolist() == [18]
    building = people[people.Industry == 4]
    managers = building.Occupation.eq(1).groupby(building.Education >= 13).mean()
    assert managers[True] > 2 * managers[False]
    health = people[people.Industry == 13]
    assert health.Sex.eq(2).mean() == pytest.approx(0.77, abs=0.02)


def test_pupils_have_no_degree(people: pd.DataFrame) -> None:
    assert (people[people.Age < 18].Education >= 13).mean() < 0.005
    assert (people[people.Age.between(30, 60)].Education >= 13).mean() > 0.3


def test_travel_time_is_skewed_to_the_right(people: pd.DataFrame) -> None:
    assert people.Travel_time.mean() > people.Travel_time.median() + 3
    assert people.Travel_time.skew() > 1.5
    assert people.Travel_time.mean() == pytest.approx(27.5, abs=1.5)
    assert share(people.Travel_time)[30] > 5 * share(people.Travel_time)[31]


def test_a_lottery_keeps_its_chances() -> None:
    rng = np.random.default_rng(0)
    chances = rng.dirichlet(np.full(25, 0.3), size=40)
    chances[:, 3] = 0
    chances /= chances.sum(axis=1, keepdims=True)
    lottery = Lottery.of(7 * chances)
    implied = lottery.keep.copy()
    for row in range(40):
        np.add.at(implied[row], lottery.other[row], 1 - lottery.keep[row])
    np.testing.assert_allclose(implied / 25, chances, atol=1e-12)


def test_a_lottery_draws_by_circumstance() -> None:
    lottery = Lottery.of([[0.5, 0.5, 0.0], [0.1, 0.0, 0.9]])
    even = (np.arange(30_000) + 0.5) / 30_000
    for circumstance, chances in enumerate(([0.5, 0.5, 0.0], [0.1, 0.0, 0.9])):
        drawn = lottery.draw(np.full(even.size, circumstance), even)
        np.testing.assert_allclose(np.bincount(drawn, minlength=3) / even.size, chances, atol=1e-3)


def test_the_lattice_takes_them(people: pd.DataFrame) -> None:
    keys = list(attributes.DOMAINS)[1:]
    data = eq.Microdata(people, confidential="Salary", keys=keys, domain=attributes.SALARY)
    assert data.classes(["Sex"]).sizes.sum() == len(people)
