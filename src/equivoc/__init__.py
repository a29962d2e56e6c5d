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
    from equivoc import datasets, models
    from equivoc.assessment.assess import assess
    from equivoc.assessment.assessment import Assessment
    from equivoc.assessment.budget import Budget, budget
    from equivoc.auditing.audit import audit
    from equivoc.auditing.result import Audit
    from equivoc.data.microdata import Microdata
    from equivoc.data.read import read
    from equivoc.decide.choice.choose import Choice, choose
    from equivoc.decide.choice.choose_among import ChoiceAmong, choose_among
    from equivoc.decide.comparison.compare import compare
    from equivoc.decide.comparison.comparison import Comparison
    from equivoc.decide.protection.protect import Protected, protect
    from equivoc.decide.protection.verify import Verification, verify
    from equivoc.gateway.gateway import Gateway
    from equivoc.information_loss.utility import utility
    from equivoc.measure.curve import Curve, Window, curve
    from equivoc.measure.curves import Curves, curves
    from equivoc.measure.entropy import entropy_at
    from equivoc.models.measures import measures
    from equivoc.study.result import StudyResult, load_study
    from equivoc.study.study import Study
    from equivoc.tables.cell_table import CellTable
    from equivoc.tables.noisy_counts import NoisyCells
    from equivoc.tables.redesign import Redesign
    from equivoc.tables.rounding.cell_rounding import CellRounding
    from equivoc.tables.rules import PQ, Dominance, PPercent, Threshold
    from equivoc.tables.suppression.cell_suppression import CellSuppression
    from equivoc.tables.tabulate import tabulate
    from equivoc.techniques.differential_privacy.geometric_noise import GeometricNoise
    from equivoc.techniques.differential_privacy.noisy_table import NoisyTable
    from equivoc.techniques.generalisation.generalisation import Generalisation
    from equivoc.techniques.microaggregation.microaggregation import Microaggregation
    from equivoc.techniques.noise_addition import NoiseAddition
    from equivoc.techniques.pram.pram import PRAM
    from equivoc.techniques.query_restriction import QueryRestriction
    from equivoc.techniques.released_file import ReleasedFile
    from equivoc.techniques.rounding import Rounding
    from equivoc.techniques.sampling import Sampling
    from equivoc.techniques.suppression.suppression import Suppression
    from equivoc.techniques.swapping.swapping import Swapping
    from equivoc.techniques.top_bottom_coding import TopBottomCoding
    from equivoc.techniques.unprotected import Unprotected

# Where each public name lives. Loaded on first use, so that `import equivoc` stays as light as `import numpy`.
_HOMES = {
    "Curve": "equivoc.measure.curve",
    "Window": "equivoc.measure.curve",
    "curve": "equivoc.measure.curve",
    "entropy_at": "equivoc.measure.entropy",
    "Curves": "equivoc.measure.curves",
    "curves": "equivoc.measure.curves",
    "Microdata": "equivoc.data.microdata",
    "read": "equivoc.data.read",
    "Unprotected": "equivoc.techniques.unprotected",
    "Sampling": "equivoc.techniques.sampling",
    "QueryRestriction": "equivoc.techniques.query_restriction",
    "NoiseAddition": "equivoc.techniques.noise_addition",
    "ReleasedFile": "equivoc.techniques.released_file",
    "Generalisation": "equivoc.techniques.generalisation.generalisation",
    "Suppression": "equivoc.techniques.suppression.suppression",
    "GeometricNoise": "equivoc.techniques.differential_privacy.geometric_noise",
    "NoisyTable": "equivoc.techniques.differential_privacy.noisy_table",
    "PRAM": "equivoc.techniques.pram.pram",
    "Rounding": "equivoc.techniques.rounding",
    "TopBottomCoding": "equivoc.techniques.top_bottom_coding",
    "Swapping": "equivoc.techniques.swapping.swapping",
    "Microaggregation": "equivoc.techniques.microaggregation.microaggregation",
    "Number": "equivoc.attributes.kinds",
    "Ordered": "equivoc.attributes.kinds",
    "Categories": "equivoc.attributes.kinds",
    "Tree": "equivoc.attributes.kinds",
    "Assessment": "equivoc.assessment.assessment",
    "assess": "equivoc.assessment.assess",
    "Audit": "equivoc.auditing.result",
    "audit": "equivoc.auditing.audit",
    "Choice": "equivoc.decide.choice.choose",
    "ChoiceAmong": "equivoc.decide.choice.choose_among",
    "choose": "equivoc.decide.choice.choose",
    "choose_among": "equivoc.decide.choice.choose_among",
    "Budget": "equivoc.assessment.budget",
    "budget": "equivoc.assessment.budget",
    "Study": "equivoc.study.study",
    "Protected": "equivoc.decide.protection.protect",
    "protect": "equivoc.decide.protection.protect",
    "Verification": "equivoc.decide.protection.verify",
    "verify": "equivoc.decide.protection.verify",
    "StudyResult": "equivoc.study.result",
    "load_study": "equivoc.study.result",
    "measures": "equivoc.models.measures",
    "Comparison": "equivoc.decide.comparison.comparison",
    "compare": "equivoc.decide.comparison.compare",
    "utility": "equivoc.information_loss.utility",
    "Gateway": "equivoc.gateway.gateway",
    "CellTable": "equivoc.tables.cell_table",
    "tabulate": "equivoc.tables.tabulate",
    "CellRounding": "equivoc.tables.rounding.cell_rounding",
    "CellSuppression": "equivoc.tables.suppression.cell_suppression",
    "NoisyCells": "equivoc.tables.noisy_counts",
    "Redesign": "equivoc.tables.redesign",
    "PPercent": "equivoc.tables.rules",
    "PQ": "equivoc.tables.rules",
    "Dominance": "equivoc.tables.rules",
    "Threshold": "equivoc.tables.rules",
}

# Packages that are used by their name: eq.datasets.load(…), eq.models.k_anonymity(…).
_PACKAGES = ("datasets", "models")

__all__ = [
    "PQ",
    "PRAM",
    "Assessment",
    "Audit",
    "Budget",
    "Categories",
    "CellRounding",
    "CellSuppression",
    "CellTable",
    "Choice",
    "ChoiceAmong",
    "Comparison",
    "Curve",
    "Curves",
    "Dominance",
    "Gateway",
    "Generalisation",
    "GeometricNoise",
    "InputError",
    "Microaggregation",
    "Microdata",
    "NoiseAddition",
    "NoisyCells",
    "NoisyTable",
    "Number",
    "Ordered",
    "PPercent",
    "Protected",
    "QueryRestriction",
    "Redesign",
    "ReleasedFile",
    "Rounding",
    "Sampling",
    "Study",
    "StudyResult",
    "Suppression",
    "Swapping",
    "Threshold",
    "TopBottomCoding",
    "Tree",
    "Unprotected",
    "Verification",
    "Window",
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
