"""Classic measures of disclosure risk, one per file.

>>> import equivoc as eq
>>> eq.models.k_anonymity(eq.datasets.people("cps_hourly_workers"), known=["sex"]) > 100
True
"""

from __future__ import annotations

from importlib import import_module
from typing import Any

# Where each measure lives, loaded on first use. A file never has a measure's name: importing it would hide the measure.
_HOMES = {
    "AlphaK": "equivoc.models.of_file.anonymity",
    "DeltaPresence": "equivoc.models.of_file.likeness",
    "IdentificationRisk": "equivoc.models.of_file.identification",
    "IndividualRisk": "equivoc.models.of_file.identification",
    "MarketerRisk": "equivoc.models.of_file.identification",
    "MembershipInference": "equivoc.models.of_release.closest_record",
    "PopulationUniques": "equivoc.models.of_file.population",
    "SinglingOut": "equivoc.models.of_release.predicates",
    "SkinnerElliot": "equivoc.models.of_release.record_linkage",
    "SpecialUniques": "equivoc.models.of_file.suda",
    "Truta": "equivoc.models.of_release.record_linkage",
    "alpha_k_anonymity": "equivoc.models.of_file.anonymity",
    "bayes_vulnerability": "equivoc.models.of_release.guessing",
    "beta_likeness": "equivoc.models.of_file.likeness",
    "conditional_min_entropy": "equivoc.models.of_release.guessing",
    "delta_disclosure": "equivoc.models.of_file.likeness",
    "delta_presence": "equivoc.models.of_file.likeness",
    "dominance": "equivoc.models.cell_rules",
    "individual_risk": "equivoc.models.of_file.identification",
    "journalist_risk": "equivoc.models.of_file.identification",
    "k_anonymity": "equivoc.models.of_file.anonymity",
    "l_diversity": "equivoc.models.of_file.anonymity",
    "marketer_risk": "equivoc.models.of_file.identification",
    "maximal_leakage": "equivoc.models.of_release.guessing",
    "membership_inference": "equivoc.models.of_release.closest_record",
    "min_entropy": "equivoc.models.of_release.guessing",
    "min_entropy_leakage": "equivoc.models.of_release.guessing",
    "oganian_domingo_ferrer": "equivoc.models.of_release.release_measures",
    "p_percent": "equivoc.models.cell_rules",
    "population_uniques": "equivoc.models.of_file.population",
    "pq_rule": "equivoc.models.cell_rules",
    "prosecutor_risk": "equivoc.models.of_file.identification",
    "singling_out": "equivoc.models.of_release.predicates",
    "skinner_elliot": "equivoc.models.of_release.record_linkage",
    "spruill": "equivoc.models.of_release.record_linkage",
    "suda": "equivoc.models.of_file.suda",
    "t_closeness": "equivoc.models.of_file.anonymity",
    "trottini_fienberg": "equivoc.models.of_release.release_measures",
    "truta": "equivoc.models.of_release.record_linkage",
}

__all__ = sorted(_HOMES)


def __getattr__(name: str) -> Any:
    if name not in _HOMES:
        raise AttributeError(f"module 'equivoc.models' has no attribute {name!r}")
    found = getattr(import_module(_HOMES[name]), name)
    globals()[name] = found
    return found


def __dir__() -> list[str]:
    return __all__
