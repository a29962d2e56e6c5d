"""An audit asks the data once per statement; a report takes the posteriors of its assessment."""

from __future__ import annotations

from collections import Counter
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest

import equivoc as eq
from equivoc.releases.release import Release
from equivoc.sql.exact_aggregates import ConfidentialValues

FRAME = pd.DataFrame({"sex": list("FFMMFM"), "age": [20, 30] * 3, "pay": [10, 20, 30, 40, 50, 60]})
LOG = [f"SELECT SUM(pay) FROM people WHERE age <= {20 + at}" for at in range(10)]


@pytest.fixture
def people() -> eq.Microdata:
    return eq.Microdata(FRAME, confidential="pay", keys=["sex", "age"])


def counted(monkeypatch: pytest.MonkeyPatch, owner: type, name: str) -> Counter[Any]:
    """How often a method is called with which arguments."""
    calls: Counter[Any] = Counter()
    method = getattr(owner, name)

    def counting(self: Any, *given: Any) -> Any:
        calls[tuple(map(_named, given))] += 1
        return method(self, *given)

    monkeypatch.setattr(owner, name, counting)
    return calls


def _named(given: Any) -> Any:
    if isinstance(given, np.ndarray):
        return given.tobytes()
    return getattr(given, "known", given)


def test_an_audit_asks_the_data_once_per_statement(
    people: eq.Microdata, monkeypatch: pytest.MonkeyPatch
) -> None:
    calls = counted(monkeypatch, ConfidentialValues, "answer")
    eq.audit(people, LOG).facts()
    assert calls.total() == len(LOG)


def test_recorded_answers_are_compared_with_the_data_once(
    people: eq.Microdata, monkeypatch: pytest.MonkeyPatch
) -> None:
    calls = counted(monkeypatch, ConfidentialValues, "answer")
    found = eq.audit(people, LOG, answers=[100.0] * 10)  # not what the data give
    assert calls.total() == len(LOG)
    assert any("The recorded answers of 10 statements" in note for note in found.notes)


@pytest.mark.parametrize("technique", [eq.Swapping(0.3), eq.NoiseAddition(20), eq.PRAM(keep=0.5)])
def test_a_report_takes_the_posteriors_of_the_assessment(
    technique: Any, people: eq.Microdata, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    calls = counted(monkeypatch, Release, "believed")
    result = eq.assess(people, technique)
    assert result.summary
    before = calls.copy()
    result.report(tmp_path / "report.html")
    new = calls - before
    assert sorted(known for known, _, _ in new) == [(), ("age",), ("sex",)]
    assert set(new.values()) == {1}
