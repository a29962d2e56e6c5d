"""The summary of an assessment for publication: without the smallest and largest person's values."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from equivoc.report.facts.bounds import Bounds, tells_no_value

if TYPE_CHECKING:
    from equivoc.assessment.assessment import Assessment


def shown_summary(result: Assessment, bounds: Bounds | None) -> dict[str, Any]:
    """``result.summary`` with the range that may be shown, and without figures from which the true range follows."""
    attribute = result.people.attribute
    domain = {**result.summary["domain"]}
    if attribute.numeric:
        domain |= {
            "low": None if bounds is None else bounds.low,
            "high": None if bounds is None else bounds.high,
            "exact": bounds is not None and bounds.exact,
        }
    told = {**result.summary, "domain": domain, "dropped": result.people.dropped}
    return told if tells_no_value(attribute, bounds) else _without(told, "mean_entropy")


def _without(told: dict[str, Any], name: str) -> dict[str, Any]:
    return {
        key: _without(value, name) if isinstance(value, dict) else value
        for key, value in told.items()
        if key != name
    }
