"""Sentences about a comparison: which technique to take, and why each other one was not chosen."""

from __future__ import annotations

from collections.abc import Sequence
from math import isnan

from equivoc.decide.comparison.compared import ComparedTechnique
from equivoc.number_format import counted, figure

LOSS_WORDS = {
    "query_error": "mean relative error of random counts and sums",
    "distribution": "largest distance of a distribution, in standard deviations or shares",
    "averages": "largest change of a mean or quartile, in standard deviations",
    "correlations": "mean change of correlations",
    "two_way_tables": "mean distance of two-way tables, as a share of the records",
    "pmse": "how well a model finds released records, as a ratio to a redraw",
    "prediction": "added error of a model trained on the release, in standard deviations or shares",
    "queries_refused": "share of random queries that are refused",
}
"""What each measure of loss means, for the axis of the chart and the page."""


def headline(
    every: Sequence[ComparedTechnique], chosen: ComparedTechnique | None, *, utility: str, required: bool
) -> str:
    """Which technique to take, or that none meets the requirements."""
    if chosen is None:
        return f"None of {counted(len(every), 'technique')} meets every requirement."
    lost = (
        f"{utility} does not apply to it"
        if isnan(chosen.loss.mean)
        else f"{utility} {figure(chosen.loss.mean)}"
    )
    if not required:
        return f"Take {chosen.notation}: it loses the least ({lost}). No requirement was given."
    meeting = [each for each in every if each.meets]
    if len(meeting) == 1:
        return f"Take {chosen.notation}: it is the only one that meets every requirement ({lost})."
    return f"Take {chosen.notation}: of the {len(meeting)} that meet every requirement it loses the least ({lost})."


def binding(every: Sequence[ComparedTechnique]) -> str:
    """If no technique meets all requirements: which requirement is met least often, and who comes nearest to it."""
    if not every or not every[0].outcomes:
        return ""
    met = [sum(each.outcomes[at].meets for each in every) for at in range(len(every[0].outcomes))]
    at = met.index(min(met))
    outcomes = [(each.notation, each.outcomes[at]) for each in every]
    text = outcomes[0][1].text
    missed = [(found.missed_by, who, found) for who, found in outcomes if found.missed_by]
    if met[at]:
        who = [name for name, found in outcomes if found.meets]
        told = f"{text} is met by {counted(met[at], 'technique')} ({', '.join(who[:3])}{', …' if len(who) > 3 else ''})"
        return f"{told}, and none of those meets the others."
    if not missed:
        return f"{text} is met by none: {outcomes[0][1].reason}."
    _, nearest, found = min(missed, key=lambda each: each[0])
    return f"{text} is met by none. {nearest} comes nearest: {found.sentence}"


def reason(
    each: ComparedTechnique, chosen: ComparedTechnique | None, *, utility: str, risk: str, replicates: int
) -> str:
    """Why this technique was not chosen."""
    failed = [found.sentence for found in each.outcomes if not found.meets]
    if failed:
        return " ".join(failed)
    if chosen is None:  # cannot happen: a technique that meets everything would have been chosen
        return ""
    meets = "It meets every requirement, but " if each.outcomes else "It "
    if isnan(each.loss.mean):
        return f"{meets}{utility} does not apply to it, so that it cannot be ranked by what it loses."
    if each.loss.mean > chosen.loss.mean:
        more = "more on average" if replicates > 1 else "more"
        near = replicates > 1 and each.loss.low <= chosen.loss.high
        overlap = "; their 95 % intervals overlap" if near else ""
        return (
            f"{meets}loses {more}: {utility} {figure(each.loss.mean)} against {figure(chosen.loss.mean)} for "
            f"{chosen.notation}{overlap}."
        )
    if each.risk.mean != chosen.risk.mean:
        return (
            f"{meets}loses as much ({utility} {figure(each.loss.mean)}) and is riskier: {risk} "
            f"{figure(each.risk.mean)} against {figure(chosen.risk.mean)} for {chosen.notation}."
        )
    return f"{meets}is equal to {chosen.notation} in {utility} and {risk}, and comes later in the list."
