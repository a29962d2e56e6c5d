"""Audits against the enumeration of all databases that give the same answers."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings

import equivoc as eq
from tests.auditing.every_database import Case, answer, cases, certain, posterior, smallest_size

PAPER = pd.DataFrame(
    {"Sex": ["F", "F", "M", "M", "M"], "Age": [30, 41, 37, 37, 52], "Salary": [50, 107, 77, 80, 60]}
)


@pytest.fixture(scope="module")
def people() -> eq.Microdata:
    """The paper's people, in thousands."""
    return eq.Microdata(PAPER, confidential="Salary", keys=["Sex", "Age"], domain=range(10, 151))


@pytest.mark.parametrize(
    ("where", "records", "values", "area"),
    [("Sex='F'", [0, 1], (50.0, 107.0), 57.0), ("Age = 37", [2, 3], (77.0, 80.0), 3.0)],
)
def test_the_papers_examples(
    people: eq.Microdata, where: str, records: list[int], values: tuple[float, float], area: float
) -> None:
    log = f"SELECT MAX(Salary) FROM people WHERE {where}; SELECT AVG(Salary) FROM people WHERE {where}"
    found = eq.audit(people, log)
    rows = found.frame.iloc[records]
    assert rows[["low", "high"]].to_numpy().tolist() == [list(values)] * 2
    assert rows["h0"].tolist() == [1.0, 1.0]
    assert rows["area"].tolist() == [area, area]
    for record in records:
        row = found.posteriors.of(record)
        assert dict(zip(found.posteriors.values[row > 0], row[row > 0], strict=True)) == {
            values[0]: 0.5,
            values[1]: 0.5,
        }
    others = [at for at in range(5) if at not in records]
    assert set(found.frame.iloc[others]["method"]) == {"prior"}
    assert found.compromised.empty


def check(case: Case, found: eq.Audit, prior: np.ndarray) -> None:
    expected = posterior(case, prior)
    frame = found.frame
    np.testing.assert_allclose(found.posteriors.probabilities, expected, atol=1e-9)
    values = np.array(case.values, dtype=float)
    for at, row in enumerate(expected):
        possible = values[row > 0]
        if prior.all():
            assert (frame["low"][at], frame["high"][at]) == (possible.min(), possible.max())
        curve = eq.curve(values, row / row.sum())
        assert frame["h0"][at] == pytest.approx(curve.h0, abs=1e-8)
        assert frame["area"][at] == pytest.approx(curve.area, abs=1e-7)
        assert frame["eps_max"][at] == pytest.approx(possible.max() - possible.min())
    one_value = np.flatnonzero((expected > 0).sum(axis=1) == 1)
    assert found.compromised["record"].tolist() == one_value.tolist()
    assert found.compromised["value"].tolist() == [case.pay[at] for at in one_value]
    assert found.compromised["proved"].all()


@given(cases())
@settings(max_examples=60)
def test_every_database_counts_once(case: Case) -> None:
    check(case, eq.audit(case.people, case.log), np.full(len(case.values), 1 / len(case.values)))


@given(cases(aggregates=("SUM", "MAX"), most_people=4))
@settings(max_examples=20)
def test_a_prior_weighs_the_databases(case: Case) -> None:
    counts = np.array([case.pay.count(value) for value in case.values])
    check(case, eq.audit(case.people, case.log, prior="marginal"), counts / counts.sum())
    given_prior = np.arange(1, len(case.values) + 1) / sum(range(1, len(case.values) + 1))
    check(case, eq.audit(case.people, ";".join(case.log), prior=given_prior), given_prior)


@given(cases(most_people=4))
@settings(max_examples=40)
def test_responsible_statements_are_a_smallest_set(case: Case) -> None:
    found = eq.audit(case.people, case.log)
    for record in found.compromised["record"]:
        why = found.why(int(record))
        assert why is not None
        assert (why.smallest, why.irreducible) == (True, True)
        assert len(why.statements) == smallest_size(case, int(record))
        alone = [case.log[number - 1] for number in why.statements]
        if alone:
            assert int(record) in eq.audit(case.people, alone).compromised["record"].tolist()
    assert sum(each.people for each in found.responsible) == len(found.compromised)


@given(cases(aggregates=("SUM", "MEDIAN", "VAR_POP", "VAR_SAMP"), most_people=4))
@settings(max_examples=20)
def test_medians_and_variances_of_few_people_count(case: Case) -> None:
    found = eq.audit(case.people, case.log)
    assert found.notes == ()
    np.testing.assert_allclose(
        found.posteriors.probabilities,
        posterior(case, np.full(len(case.values), 1 / len(case.values))),
        atol=1e-9,
    )


@given(cases(most_people=4))
@settings(max_examples=40)
def test_another_database_is_only_found_where_there_is_one(case: Case) -> None:
    """The quick proof that a value does not follow is never wrong, and is usually found."""
    from equivoc.auditing.conclusions import has_another_value
    from equivoc.systems.constraints import answer_system
    from equivoc.systems.system import Question

    questions = [
        Question(
            each.aggregate.lower(),
            np.array(each.members, dtype=np.int64),
            answer(each, case.pay),
            at,
            each.sql,
        )
        for at, each in enumerate(case.asked)
    ]
    system = answer_system(questions, values=case.values, people=len(case.pay), truth=case.pay)
    place = {value: at for at, value in enumerate(case.values)}
    own = system.grid.positions[[place[value] for value in case.pay]]
    for person in range(len(case.pay)):
        if has_another_value(system, own, person):
            assert not certain(case, person, range(len(case.asked)))
