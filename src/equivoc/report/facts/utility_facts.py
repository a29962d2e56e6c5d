"""The facts about utility: what the release costs those who use it."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from equivoc.errors import InputError
from equivoc.information_loss.utility import losses

if TYPE_CHECKING:
    from equivoc.assessment.assessment import Assessment

LABELS = {
    "query_error": "Query error",
    "distribution": "Distribution",
    "averages": "Averages",
    "correlations": "Correlations",
    "two_way_tables": "Two-way tables",
    "pmse": "pMSE ratio",
    "prediction": "Prediction",
    "queries_refused": "Queries refused",
}


def utility_facts(result: Assessment) -> dict[str, Any]:
    """One row per measure and attribute, with its unit and meaning; and the default measure as a sentence.

    The random queries and the people held out are drawn with the seed of the release.
    """
    seed = result.seed or 0
    try:
        found = losses(result.people, result.release, seed=seed)
    except InputError as refused:  # a release may be assessed although a column cannot be compared
        return {"seed": seed, "sentence": f"It cannot be measured: {refused}", "rows": []}
    first = next((loss.meaning for loss in found if loss.measure == "query_error"), None)
    nothing = "Nothing is released that a user could count or sum."
    return {
        "seed": seed,
        "sentence": nothing if first is None else f"{first[0].upper()}{first[1:]}.",
        "rows": [
            {
                "measure": loss.measure,
                "label": LABELS[loss.measure] + (f" of {loss.attribute}" if loss.attribute else ""),
                "attribute": loss.attribute,
                "value": loss.value,
                "unit": loss.unit,
                "meaning": loss.meaning,
            }
            for loss in found
        ],
    }
