"""One figure per measure for a whole release, so that releases can be ranked."""

from __future__ import annotations

from collections.abc import Iterable

from equivoc.information_loss.loss import Loss

MEASURES = (
    "query_error",
    "distribution",
    "averages",
    "correlations",
    "two_way_tables",
    "pmse",
    "prediction",
    "queries_refused",
)
"""The names of all measures. "query_error" is the default for ranking."""


def overall(losses: Iterable[Loss]) -> dict[str, float | None]:
    """Each measure of a release: the largest over its attributes; None if the measure does not apply.

    >>> found = overall([Loss("averages", "age", 0.1, ""), Loss("averages", "pay", 0.3, "")])
    >>> found["averages"], found["pmse"]
    (0.3, None)
    """
    found: dict[str, float | None] = dict.fromkeys(MEASURES)
    for loss in losses:
        before = found[loss.measure]
        found[loss.measure] = loss.value if before is None else max(before, loss.value)
    return found
