"""equivoc: how precisely can an intruder infer a person's confidential value?

>>> import equivoc as eq
>>> eq.curve([77, 80], [.5, .5]).area
3.0
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

from equivoc.errors import InputError
from equivoc.version import __version__

if TYPE_CHECKING:
    from equivoc.assessment.assess import assess
    from equivoc.assessment.assessment import Assessment as Assessment
    from equivoc.assessment.budget import Budget as Budget
    from equivoc.assessment.budget import budget
    from equivoc.auditing.audit import audit
    from equivoc.auditing.result import Audit as Audit
    from equivoc.data.microdata import Microdata
    from equivoc.data.read import read
    from equivoc.data.suggested_roles.suggest import suggest_roles
    from equivoc.experiments.choose import Choice as Choice
    from equivoc.experiments.choose import ChoiceAmong as ChoiceAmong
    from equivoc.experiments.choose import choose, choose_among
    from equivoc.experiments.compare import compare
    from equivoc.experiments.comparison import Comparison as Comparison
    from equivoc.experiments.study import Study
    from equivoc.experiments.study_result import StudyResult as StudyResult
    from equivoc.experiments.study_result import load_study
    from equivoc.gateway.gateway import Gateway
    from equivoc.information_loss.utility import utility
    from equivoc.measure.curve import Curve as Curve
    from equivoc.measure.curve import Window as Window
    from equivoc.measure.curve import curve, entropy_at
    from equivoc.measure.curves import Curves as Curves
    from equivoc.measure.curves import curves
    from equivoc.models.measures import measures
    from equivoc.protection.protect import Protected as Protected
    from equivoc.protection.protect import protect
    from equivoc.protection.verify import Verification as Verification
    from equivoc.protection.verify import verify
    from equivoc.tables.cell_rounding import CellRounding as CellRounding
    from equivoc.tables.cell_table import CellTable as CellTable
    from equivoc.tables.noisy_counts import NoisyCells as NoisyCells
    from equivoc.tables.redesign import Redesign as Redesign
    from equivoc.tables.rules import PQ as PQ
    from equivoc.tables.rules import Dominance as Dominance
    from equivoc.tables.rules import PPercent as PPercent
    from equivoc.tables.rules import Threshold as Threshold
    from equivoc.tables.suppression.cell_suppression import CellSuppression as CellSuppression
    from equivoc.tables.tabulate import tabulate
    from equivoc.techniques.date_shift import DateShift
    from equivoc.techniques.generalisation import Generalisation
    from equivoc.techniques.geometric_noise import GeometricNoise
    from equivoc.techniques.microaggregation import Microaggregation
    from equivoc.techniques.noise_addition import NoiseAddition
    from equivoc.techniques.noisy_table import NoisyTable
    from equivoc.techniques.pram import PRAM
    from equivoc.techniques.query_restriction import QueryRestriction
    from equivoc.techniques.released_file import ReleasedFile
    from equivoc.techniques.rounding import Rounding
    from equivoc.techniques.sampling import Sampling
    from equivoc.techniques.suppression import Suppression
    from equivoc.techniques.swapping import Swapping
    from equivoc.techniques.top_bottom_coding import TopBottomCoding
    from equivoc.techniques.unprotected import Unprotected

# Where each public name lives. Loaded on first use, so that `import equivoc` stays as light as `import numpy`.
_HOMES = {
    "Curve": "equivoc.measure.curve",
    "Window": "equivoc.measure.curve",
    "curve": "equivoc.measure.curve",
    "entropy_at": "equivoc.measure.curve",
    "Curves": "equivoc.measure.curves",
    "curves": "equivoc.measure.curves",
    "Microdata": "equivoc.data.microdata",
    "read": "equivoc.data.read",
    "suggest_roles": "equivoc.data.suggested_roles.suggest",
    "Unprotected": "equivoc.techniques.unprotected",
    "Sampling": "equivoc.techniques.sampling",
    "QueryRestriction": "equivoc.techniques.query_restriction",
    "NoiseAddition": "equivoc.techniques.noise_addition",
    "ReleasedFile": "equivoc.techniques.released_file",
    "Generalisation": "equivoc.techniques.generalisation",
    "Suppression": "equivoc.techniques.suppression",
    "DateShift": "equivoc.techniques.date_shift",
    "GeometricNoise": "equivoc.techniques.geometric_noise",
    "NoisyTable": "equivoc.techniques.noisy_table",
    "PRAM": "equivoc.techniques.pram",
    "Rounding": "equivoc.techniques.rounding",
    "TopBottomCoding": "equivoc.techniques.top_bottom_coding",
    "Swapping": "equivoc.techniques.swapping",
    "Microaggregation": "equivoc.techniques.microaggregation",
    "Number": "equivoc.attributes.kinds",
    "Ordered": "equivoc.attributes.kinds",
    "Categories": "equivoc.attributes.kinds",
    "Tree": "equivoc.attributes.kinds",
    "Assessment": "equivoc.assessment.assessment",
    "assess": "equivoc.assessment.assess",
    "Audit": "equivoc.auditing.result",
    "audit": "equivoc.auditing.audit",
    "Choice": "equivoc.experiments.choose",
    "ChoiceAmong": "equivoc.experiments.choose",
    "choose": "equivoc.experiments.choose",
    "choose_among": "equivoc.experiments.choose",
    "Budget": "equivoc.assessment.budget",
    "budget": "equivoc.assessment.budget",
    "Study": "equivoc.experiments.study",
    "Protected": "equivoc.protection.protect",
    "protect": "equivoc.protection.protect",
    "Verification": "equivoc.protection.verify",
    "verify": "equivoc.protection.verify",
    "StudyResult": "equivoc.experiments.study_result",
    "load_study": "equivoc.experiments.study_result",
    "measures": "equivoc.models.measures",
    "Comparison": "equivoc.experiments.comparison",
    "compare": "equivoc.experiments.compare",
    "utility": "equivoc.information_loss.utility",
    "Gateway": "equivoc.gateway.gateway",
    "CellTable": "equivoc.tables.cell_table",
    "tabulate": "equivoc.tables.tabulate",
    "CellRounding": "equivoc.tables.cell_rounding",
    "CellSuppression": "equivoc.tables.suppression.cell_suppression",
    "NoisyCells": "equivoc.tables.noisy_counts",
    "Redesign": "equivoc.tables.redesign",
    "PPercent": "equivoc.tables.rules",
    "PQ": "equivoc.tables.rules",
    "Dominance": "equivoc.tables.rules",
    "Threshold": "equivoc.tables.rules",
}

# Packages that are used by their name: eq.datasets.load(…), eq.models.k_anonymity(…). `dir` shows the types of results
# and the methods of tables in theirs, eq.results and eq.tables; eq.Assessment and eq.PPercent are the same.
_PACKAGES = ("datasets", "models", "requests", "results", "tables")

__all__ = [
    "PRAM",
    "Categories",
    "DateShift",
    "Gateway",
    "Generalisation",
    "GeometricNoise",
    "InputError",
    "Microaggregation",
    "Microdata",
    "NoiseAddition",
    "NoisyTable",
    "Number",
    "Ordered",
    "QueryRestriction",
    "ReleasedFile",
    "Rounding",
    "Sampling",
    "Study",
    "Suppression",
    "Swapping",
    "TopBottomCoding",
    "Tree",
    "Unprotected",
    "__version__",
    "assess",
    "audit",
    "budget",
    "choose",
    "choose_among",
    "compare",
    "curve",
    "curves",
    "datasets",
    "entropy_at",
    "load_study",
    "measures",
    "models",
    "protect",
    "read",
    "requests",
    "results",
    "suggest_roles",
    "tables",
    "tabulate",
    "utility",
    "verify",
]


def __getattr__(name: str) -> Any:
    if name in _PACKAGES:
        return import_module(f"equivoc.{name}")
    if name not in _HOMES:
        raise AttributeError(f"module 'equivoc' has no attribute {name!r}")
    found = getattr(import_module(_HOMES[name]), name)
    globals()[name] = found
    return found


def __dir__() -> list[str]:
    return sorted(__all__)
