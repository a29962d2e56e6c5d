"""The classic measures of disclosure risk, one idea per file: ``eq.models.truta(people, release)`` and others."""

from equivoc.models.cell_rules import dominance, p_percent, pq_rule
from equivoc.models.cluster_risk import truta
from equivoc.models.nearest_records import spruill
from equivoc.models.posterior_risk import oganian_domingo_ferrer, trottini_fienberg
from equivoc.models.unique_matches import skinner_elliot

__all__ = [
    "dominance",
    "oganian_domingo_ferrer",
    "p_percent",
    "pq_rule",
    "skinner_elliot",
    "spruill",
    "trottini_fienberg",
    "truta",
]
