"""The record of an audit: kinds of frames, tolerances, partial knowledge, recorded answers and mistakes."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pandas as pd
import polars as pl
import pytest

import equivoc as eq
from equivoc.auditing import result as result_module
from equivoc.auditing.conclusions import within_bounds
from equivoc.systems.bounds.parts import PersonBounds

FRAME = pd.DataFrame(
    {"sex": list("FFMMM"), "age": [30, 41, 37, 37, 52], "salary": [50, 107, 77, 80, 60]},
)
LOG = """
SELECT SUM(salary) FROM people;
SELECT SUM(salary) FROM people WHERE age <= 41;
SELECT COUNT(*) FROM people;
SELECT sex, AVG(salary) FROM people GROUP BY sex
"""
ALL, FEMALE = "SELECT SUM(salary) FROM people", "SELECT SUM(salary) FROM people WHERE sex = 'F'"


def microdata(frame: object = FRAME, **options: object) -> eq.Microdata:
    options = {"confidential": "salary", "keys": ["sex", "age"], "domain": range(10, 151)} | options
    return eq.Microdata(frame, **options)  # type: ignore[arg-type]


@pytest.fixture(scope="module")
def people() -> eq.Microdata:
    return microdata()


@pytest.fixture(scope="module")
def found(people: eq.Microdata) -> eq.Audit:
    return eq.audit(people, LOG, eps=[0, 10, 100], require=["h0@worst >= 1", "hit(10) <= 0.9"])


def test_who_is_compromised_and_by_what(found: eq.Audit) -> None:
    assert found.compromised.to_dict("records") == [
        {
            "sex": "M",
            "age": 52,
            "record": 4,
            "value": 60.0,
            "low": 60.0,
            "high": 60.0,
            "h0": 0.0,
            "method": found.frame["method"][4],
            "proved": True,
        }
    ]
    [responsible] = found.responsible
    assert (responsible.person, responsible.people, responsible.smallest) == (4, 1, True)
    assert responsible.statements in ((1, 2), (2, 4))
    assert found.why(4) == responsible
    assert found.why(0) is None
    assert found.unexplained == 0
    assert repr(found) == "<Audit: 4 statements about 5 people, 1 with a known salary>"


def test_the_questions_of_each_statement(found: eq.Audit) -> None:
    frame = found.statements
    assert frame["statement"].tolist() == [1, 2, 3, 4, 4]
    assert frame["people"].tolist() == [5, 4, 5, 2, 3]
    assert frame["answer"].tolist() == [374.0, 314.0, 5.0, 78.5, pytest.approx(217 / 3)]
    assert frame["question"][3].endswith("WHERE \"sex\" = 'F'")


def test_requirements_are_those_of_the_assessment(found: eq.Audit) -> None:
    assert not found.meets
    assert [each.meets for each in found.requirements] == [False, True]
    assert found.assessment.summary["truth"]["certain_right"] == 1
    by_class = found.assessment.records
    np.testing.assert_allclose(by_class["h0"], found.frame["h0"])
    np.testing.assert_allclose(by_class["area"], found.frame["area"])


def test_within_a_tolerance(found: eq.Audit) -> None:
    width = found.frame["eps_max"]
    for eps in (0, 10, 137, 140):
        assert found.within(eps)["record"].tolist() == np.flatnonzero(width <= eps).tolist()
    half = found.posteriors.curves().hit(70) >= 0.5
    assert found.within(70, probability=0.5)["record"].tolist() == np.flatnonzero(half).tolist()
    assert half.sum() > 1
    for wrong in (0, 1.5, "x"):
        with pytest.raises(eq.InputError, match="probability is"):
            found.within(10, probability=wrong)  # type: ignore[arg-type]
    with pytest.raises(eq.InputError, match="eps"):
        found.within(-1)


def test_partial_knowledge_is_a_mixture_over_those_who_agree(people: eq.Microdata) -> None:
    found = eq.audit(people, LOG, known=["sex"])
    each = found.posteriors.probabilities
    male = found.assessment.posteriors.probabilities[1]
    np.testing.assert_allclose(male, each[[2, 3, 4]].mean(axis=0), atol=1e-12)
    assert found.frame["h0"][4] == 0.0
    assert found.assessment.records["h0"][4] > 1


def test_the_posteriors_of_people(found: eq.Audit) -> None:
    posteriors = found.posteriors
    assert len(posteriors) == 5
    np.testing.assert_allclose(posteriors.probabilities.sum(axis=1), 1)
    np.testing.assert_array_equal(posteriors.of(2), posteriors.probabilities[2])
    np.testing.assert_allclose(posteriors.curves().h0, found.frame["h0"])


def test_many_posteriors_are_sparse(found: eq.Audit, monkeypatch: pytest.MonkeyPatch) -> None:
    from equivoc.auditing import result as person_posteriors

    dense = found.posteriors.probabilities
    monkeypatch.setattr(person_posteriors, "DENSE_UP_TO", 10)
    sparse = found.posteriors.probabilities
    assert sparse.format == "csr"
    np.testing.assert_array_equal(sparse.toarray(), dense)


def test_methods_add_up(found: eq.Audit) -> None:
    assert sum(found.methods.values()) == 5
    assert list(found.methods) == found.frame["method"].value_counts().index.tolist()


def test_more_groups_than_are_explained(people: eq.Microdata, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(result_module, "MOST_GROUPS", 1)
    found = eq.audit(people, [f"SELECT SUM(salary) FROM people WHERE age = {age}" for age in (30, 41, 52)])
    assert len(found.compromised) == 3
    assert len(found.responsible) == 1
    assert found.unexplained == 2
    why = found.why(4)
    assert why is not None
    assert why.statements == (3,)


def test_frames_are_of_the_kind_of_the_people() -> None:
    found = eq.audit(microdata(pl.DataFrame(FRAME.to_dict("list"))), LOG)
    for frame in (found.frame, found.compromised, found.statements, found.within(10)):
        assert isinstance(frame, pl.DataFrame)


def test_columns_that_the_people_have_too() -> None:
    renamed = FRAME.rename(columns={"age": "low", "sex": "record"})
    found = eq.audit(
        microdata(renamed, keys=["record", "low"]), "SELECT SUM(salary) FROM people WHERE low = 52"
    )
    assert found.frame["low_"].tolist()[4] == 60.0
    assert found.compromised["record"].tolist() == ["M"]
    assert found.compromised["record_"].tolist() == [4]


def test_a_file_of_statements(people: eq.Microdata, tmp_path: Path) -> None:
    file = tmp_path / "log.sql"
    file.write_text("\ufeff" + LOG, encoding="utf-8")
    assert eq.audit(people, file).frame.equals(eq.audit(people, LOG).frame)


def test_recorded_answers_are_believed(people: eq.Microdata) -> None:
    found = eq.audit(people, f"{ALL} WHERE age = 52; -- answer: 61")
    assert found.compromised["value"].tolist() == [61.0]
    [note] = found.notes
    assert "1 statement (1) differ from what these data give" in note
    assert found.assessment.release.notes() == [note]
    assert found.assessment.summary["truth"]["certain_wrong"] == 1


def test_rounded_answers_are_those_of_the_data(people: eq.Microdata) -> None:
    log = "SELECT AVG(salary) FROM people WHERE sex = 'M'"
    rounded = eq.audit(people, [log], answers=[72.33])
    assert rounded.notes == ()
    assert rounded.frame.equals(eq.audit(people, [log]).frame)


def test_an_answers_file(people: eq.Microdata, tmp_path: Path) -> None:
    file = tmp_path / "answers.csv"
    file.write_text("statement,answer\n2,158\n", encoding="utf-8")
    found = eq.audit(people, [ALL, FEMALE], answers=file)
    assert found.statements["answer"].tolist() == [374.0, 158.0]


def test_the_same_seed_gives_the_same(people: eq.Microdata) -> None:
    assert eq.audit(people, LOG, seed=3).frame.equals(eq.audit(people, LOG, seed=3).frame)


@pytest.mark.parametrize(
    ("statements", "options", "told"),
    [
        ("", {}, "no statement"),
        (7, {}, "text"),
        ("SELECT SUM(salry) FROM people", {}, "did you mean 'salary'"),
        ("SELECT SUM(salary) FROM people WHERE agee > 3", {}, "character .* did you mean 'age'"),
        ("DROP TABLE people", {}, "statement 1, line 1, character 1"),
        (ALL, {"seed": -1}, "seed"),
        (ALL, {"known": ["agee"]}, "did you mean 'age'"),
        (ALL, {"prior": "flat"}, "prior is 'flat'"),
        (ALL, {"work": 0}, "work is 0"),
        (ALL, {"eps": [-1]}, "eps"),
        (ALL, {"require": ["h0 => 1"]}, "character"),
        (Path("nowhere.sql"), {}, "nowhere.sql"),
    ],
)
def test_mistakes_are_named(
    people: eq.Microdata, statements: object, options: dict[str, object], told: str
) -> None:
    with pytest.raises(eq.InputError, match=told):
        eq.audit(people, statements, **options)  # type: ignore[arg-type]


def test_a_log_that_is_no_text(people: eq.Microdata, tmp_path: Path) -> None:
    file = tmp_path / "log.sql"
    file.write_bytes(b"SELECT \xff")
    with pytest.raises(eq.InputError, match="not UTF-8 text"):
        eq.audit(people, file)


def test_only_numbers_can_be_audited() -> None:
    frame = FRAME.assign(ill=list("abcab"))
    with pytest.raises(eq.InputError, match="holds categories, which have no sums"):
        eq.audit(microdata(frame, confidential="ill", domain=None), ALL)
    with pytest.raises(eq.InputError, match="choose one"):
        eq.audit(microdata(frame, confidential=["salary", "ill"], domain=None), ALL)
    with pytest.raises(eq.InputError, match="people"):
        eq.audit(frame, ALL)  # type: ignore[arg-type]


def test_a_record_that_is_not_there(found: eq.Audit) -> None:
    with pytest.raises(eq.InputError, match="from 0 to 4"):
        found.why(5)


def test_values_outside_the_bounds_are_taken_out() -> None:
    low, high = np.array([1, 0, 2]), np.array([2, 2, 2])
    nothing = np.zeros(3, dtype=np.int64)
    bounds = PersonBounds(low, high, nothing, nothing, nothing.astype(bool), ("propagation",) * 3)
    rows = np.array([[0.5, 0.25, 0.25], [0.2, 0.3, 0.5], [0.5, 0.5, 0.0]])
    found = within_bounds(rows, np.array([0.2, 0.2, 0.6]), np.array([0, 1, 2]), bounds)
    np.testing.assert_allclose(found, [[0, 0.5, 0.5], [0.2, 0.3, 0.5], [0, 0, 1]])


def test_medians_of_many_people_are_left_out_and_said() -> None:
    many = eq.datasets.people("cps_hourly_workers")
    found = eq.audit(
        many,
        [
            "SELECT SUM(wage_per_hour) FROM people WHERE age > 70",
            "SELECT MEDIAN(wage_per_hour) FROM people",
            "SELECT STDDEV(wage_per_hour) FROM people WHERE age > 70",
        ],
    )
    [note] = found.notes
    assert "leave out the MEDIAN or variance of statements 2, 3" in note
    alone = eq.audit(many, "SELECT SUM(wage_per_hour) FROM people WHERE age > 70")
    np.testing.assert_allclose(found.frame["h0"], alone.frame["h0"])
    assert set(alone.frame["method"]) == {"prior", "convolution"}
    assert set(found.frame["method"]) == {"incomplete"}
    assert found.frame["error"].isna().all()


def test_figures_that_leave_something_out_meet_no_requirement() -> None:
    many = eq.datasets.people("cps_hourly_workers")
    asked = ["SELECT SUM(wage_per_hour) FROM people WHERE age > 70"]
    limits = ["h0@worst >= 0.1", "true_hit(0) <= 0.999", "h0 <= 100"]
    assert eq.audit(many, asked, require=limits).meets
    found = eq.audit(
        many, [*asked, "SELECT MEDIAN(wage_per_hour) FROM people WHERE age > 60"], require=limits
    )
    concerned = int((found.frame["method"] == "incomplete").sum())
    assert 0 < concerned < len(many)
    assert [each.meets for each in found.requirements] == [False, False, True]
    doubt = f"the figures of {concerned} people are incomplete, rough or bounds only"
    assert doubt in found.requirements[0].sentence
    assert found.requirements[0].missed_by is None
    facts = found.facts()
    assert doubt in facts["headline"]
    assert facts["disclosed_sentence"].startswith(
        "Nobody's exact wage_per_hour follows from the answers as far as"
    )
    assert facts["tone"] == "alarm"


def test_values_too_large_to_add_up() -> None:
    frame = pd.DataFrame({"age": range(4), "pay": [0.0, 1e149, 1e150, 1e150]})
    people = eq.Microdata(frame, confidential="pay", keys=["age"])
    with pytest.raises(eq.InputError, match=r"the value 1e\+150, too large to add up"):
        eq.audit(people, "SELECT SUM(pay) FROM people")
    with pytest.raises(eq.InputError, match=r"in row 2 .* 1.7e\+308, which is larger than 1e\+150"):
        eq.Microdata(frame.assign(pay=[0.0, 1.0, 1.7e308, 1.7e308]), confidential="pay", keys=["age"])
