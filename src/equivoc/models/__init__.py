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
    "DeltaPresence": "equivoc.models.of_file.presence_bounds",
    "IdentificationRisk": "equivoc.models.of_file.identification",
    "IndividualRisk": "equivoc.models.of_file.survey_risk",
    "MarketerRisk": "equivoc.models.of_file.identification",
    "MembershipInference": "equivoc.models.of_synthetic.closest_record",
    "PopulationUniques": "equivoc.models.of_population.estimate",
    "SinglingOut": "equivoc.models.of_synthetic.predicates",
    "SkinnerElliot": "equivoc.models.of_release.skinner_elliot_theta",
    "SpecialUniques": "equivoc.models.of_file.suda_scores",
    "Truta": "equivoc.models.of_release.truta_risk",
    "alpha_k_anonymity": "equivoc.models.of_file.anonymity",
    "bayes_vulnerability": "equivoc.models.of_release.best_guess",
    "beta_likeness": "equivoc.models.of_file.likeness",
    "conditional_min_entropy": "equivoc.models.of_release.best_guess",
    "delta_disclosure": "equivoc.models.of_file.likeness",
    "delta_presence": "equivoc.models.of_file.presence_bounds",
    "dominance": "equivoc.models.cell_rules",
    "individual_risk": "equivoc.models.of_file.survey_risk",
    "journalist_risk": "equivoc.models.of_file.identification",
    "k_anonymity": "equivoc.models.of_file.anonymity",
    "l_diversity": "equivoc.models.of_file.diversity",
    "marketer_risk": "equivoc.models.of_file.identification",
    "maximal_leakage": "equivoc.models.of_release.channel_leakage",
    "membership_inference": "equivoc.models.of_synthetic.closest_record",
    "min_entropy": "equivoc.models.of_release.best_guess",
    "min_entropy_leakage": "equivoc.models.of_release.best_guess",
    "oganian_domingo_ferrer": "equivoc.models.of_release.oganian_trottini",
    "p_percent": "equivoc.models.cell_rules",
    "population_uniques": "equivoc.models.of_population.estimate",
    "pq_rule": "equivoc.models.cell_rules",
    "prosecutor_risk": "equivoc.models.of_file.identification",
    "singling_out": "equivoc.models.of_synthetic.predicates",
    "skinner_elliot": "equivoc.models.of_release.skinner_elliot_theta",
    "spruill": "equivoc.models.of_release.spruill_share",
    "suda": "equivoc.models.of_file.suda_scores",
    "t_closeness": "equivoc.models.of_file.closeness",
    "trottini_fienberg": "equivoc.models.of_release.oganian_trottini",
    "truta": "equivoc.models.of_release.truta_risk",
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
