"""What all results have: their report; and the types of all results."""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from equivoc.assessment.assessment import Assessment
    from equivoc.assessment.budget import Budget
    from equivoc.assessment.of_table import TableAssessment
    from equivoc.assessment.several import SeveralAssessments
    from equivoc.auditing.result import Audit
    from equivoc.experiments.choose import Choice, ChoiceAmong
    from equivoc.experiments.compare_tables import TableComparison
    from equivoc.experiments.comparison import Comparison
    from equivoc.experiments.search import TableChoice
    from equivoc.experiments.study_result import StudyResult
    from equivoc.measure.curve import Curve, Window
    from equivoc.measure.curves import Curves
    from equivoc.protection.protect import Protected
    from equivoc.protection.verify import Verification
    from equivoc.tables.cell_table import CellTable

# Where each public name lives, loaded on first use.
_HOMES = {
    "Assessment": "equivoc.assessment.assessment",
    "Audit": "equivoc.auditing.result",
    "Budget": "equivoc.assessment.budget",
    "CellTable": "equivoc.tables.cell_table",
    "Choice": "equivoc.experiments.choose",
    "ChoiceAmong": "equivoc.experiments.choose",
    "Comparison": "equivoc.experiments.comparison",
    "Curve": "equivoc.measure.curve",
    "Curves": "equivoc.measure.curves",
    "Protected": "equivoc.protection.protect",
    "SeveralAssessments": "equivoc.assessment.several",
    "StudyResult": "equivoc.experiments.study_result",
    "TableAssessment": "equivoc.assessment.of_table",
    "TableChoice": "equivoc.experiments.search",
    "TableComparison": "equivoc.experiments.compare_tables",
    "Verification": "equivoc.protection.verify",
    "Window": "equivoc.measure.curve",
}

__all__ = [
    "Assessment",
    "Audit",
    "Budget",
    "CellTable",
    "Choice",
    "ChoiceAmong",
    "Comparison",
    "Curve",
    "Curves",
    "Protected",
    "SeveralAssessments",
    "StudyResult",
    "TableAssessment",
    "TableChoice",
    "TableComparison",
    "Verification",
    "Window",
]


def __getattr__(name: str) -> Any:
    if name not in _HOMES:
        raise AttributeError(f"module 'equivoc.results' has no attribute {name!r}")
    found = getattr(import_module(_HOMES[name]), name)
    globals()[name] = found
    return found


def __dir__() -> list[str]:
    return sorted(__all__)
