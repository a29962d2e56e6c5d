"""What comparisons of techniques and of table methods share: the front, the choice, the frame, the reasons, the map."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from functools import cached_property
from math import isnan
from typing import TYPE_CHECKING, Any

from equivoc.experiments.compared import ComparedTechnique, not_told_apart, on_front, rank
from equivoc.requirements.requirement import Requirement
from equivoc.text import counted, figure

if TYPE_CHECKING:
    import altair
    import pandas as pd

# Sentences about a comparison: which technique to take, and why each other one was not chosen.

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
    every: Sequence[ComparedTechnique],
    chosen: ComparedTechnique | None,
    *,
    utility: str,
    required: bool,
    tied: Sequence[ComparedTechnique] = (),
) -> str:
    """Which technique to take, or that none meets the requirements; and from which it cannot be told apart."""
    if chosen is None:
        if not required:  # none could be measured
            return ""
        return f"None of {counted(len(every), 'technique')} meets every requirement."
    lost = (
        f"{utility} does not apply to it"
        if isnan(chosen.loss.mean)
        else f"{utility} {figure(chosen.loss.mean)}"
    )
    meeting = [each for each in every if each.meets]
    if not required:
        told = (
            f"{chosen.notation} loses the least ({lost}). No requirement was given, so nothing says whether that is "
            "safe enough."
        )
    elif len(meeting) == 1:
        told = f"Take {chosen.notation}: it is the only one that meets every requirement ({lost})."
    else:
        told = f"Take {chosen.notation}: of the {len(meeting)} that meet every requirement it loses the least ({lost})."
    beside = [undecided([each.notation for each in tied])] if tied else []
    if "own" in chosen.intruders:
        beside.append(
            "Its figures are for the intruder that its parameters name, who learns no less than someone who does not "
            "know how it was made; no other was tried: someone else may learn more."
        )
    return " ".join([told, *beside])


def undecided(tied: Sequence[str]) -> str:
    """That the choice cannot be told apart from the settings with these notations."""
    more = f" and {len(tied) - 3} more" if len(tied) > 3 else ""
    return (
        f"These draws cannot tell it apart from {', '.join(tied[:3])}{more}: what they lose differs by less than it "
        "varies from draw to draw."
    )


def could_not_run(every: Sequence[ComparedTechnique]) -> list[str]:
    """A sentence about those that could not be measured; [] if all could."""
    failed = [each for each in every if each.failure]
    if not failed:
        return []
    if len(failed) == 1:
        return [f"{failed[0].notation} could not be measured: {failed[0].failure}"]
    return [f"{len(failed)} could not be measured: {', '.join(each.notation for each in failed)}."]


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
    each: ComparedTechnique,
    chosen: ComparedTechnique | None,
    *,
    utility: str,
    risk: str,
    tied: bool = False,
) -> str:
    """Why this technique was not chosen; ``tied``: the draws cannot tell it apart from the chosen one."""
    if each.failure:
        return f"It could not be measured: {each.failure}"
    failed = [found.sentence for found in each.outcomes if not found.meets]
    if failed:
        return " ".join(failed)
    if chosen is None:  # cannot happen: a technique that meets everything would have been chosen
        return ""
    meets = "It meets every requirement, but " if each.outcomes else "It "
    if isnan(each.loss.mean):
        return f"{meets}{utility} does not apply to it, so that it cannot be ranked by what it loses."
    if each.loss.mean > chosen.loss.mean:
        more = "more on average" if max(each.releases, chosen.releases) > 1 else "more"
        overlap = "; their 95 % intervals overlap, so these draws cannot tell them apart" if tied else ""
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


NUMBERS_OF_OUTCOMES = ("value", "limit", "low", "high", "missed_by")


class Ranked:
    """Compared techniques or methods, ranked by one figure of risk and one measure of loss."""

    if TYPE_CHECKING:  # fields or properties of the subclasses

        @property
        def compared(self) -> tuple[ComparedTechnique, ...]: ...
        @property
        def risk(self) -> Requirement: ...
        @property
        def requirements(self) -> tuple[Requirement, ...]: ...
        @property
        def utility(self) -> str: ...
        @property
        def replicates(self) -> int: ...

    @cached_property
    def front(self) -> list[bool]:
        """For each of them, whether nothing else is at least as good in risk and in loss, and better in one."""
        sign = 1.0 if self.risk.riskier == "more" else -1.0
        return on_front(
            [sign * each.risk.mean for each in self.compared], [each.loss.mean for each in self.compared]
        )

    @property
    def ranked(self) -> list[ComparedTechnique]:
        """Those that meet every requirement, the least loss first."""
        meeting = [each for each in self.compared if each.meets]
        return sorted(meeting, key=lambda each: rank(each, self.risk.riskier))

    @property
    def chosen(self) -> ComparedTechnique | None:
        """The chosen one with its figures; None if none meets the requirements."""
        return next(iter(self.ranked), None)

    @property
    def tied(self) -> list[ComparedTechnique]:
        """Those that meet every requirement and cannot be told apart from the choice by what they lose."""
        chosen = self.chosen
        return [] if chosen is None else not_told_apart(chosen, self.ranked)

    @property
    def drawn_again(self) -> bool:
        """True if something has several releases, so that figures are means with intervals."""
        return any(each.releases > 1 for each in self.compared)

    @property
    def meets(self) -> bool:
        """True if one of them meets every requirement."""
        return self.chosen is not None

    @cached_property
    def why(self) -> pd.DataFrame:
        """A row for each of them and each requirement: technique, parameters, requirement, value, limit, meets.

        Also ``low`` and ``high``, the 95 % interval over replicates, at whose riskier end the value is judged, and
        ``missed_by``, how far it is from the limit.
        """
        import pandas as pd

        names = ("requirement", "value", "limit", "meets", "low", "high", "missed_by")
        rows = [
            (
                each.name,
                each.parameters,
                found.text,
                *(getattr(found, name) for name in names[1:]),
            )
            for each in self.compared
            for found in each.outcomes
        ]
        frame = pd.DataFrame(rows, columns=["technique", "parameters", *names])
        return frame.astype(dict.fromkeys(NUMBERS_OF_OUTCOMES, "float64") | {"meets": bool})

    @cached_property
    def reasons(self) -> dict[str, str]:
        """Why each other one was not chosen, by its notation."""
        chosen, risk, tied = self.chosen, self.risk.left, self.tied
        return {
            each.notation: reason(each, chosen, utility=self.utility, risk=risk, tied=each in tied)
            for each in self.compared
            if each is not chosen
        }

    @property
    def headline(self) -> str:
        """Which one to take; if none, which requirement binds."""
        told = headline(
            self.compared,
            self.chosen,
            utility=self.utility,
            required=bool(self.requirements),
            tied=self.tied,
        )
        if self.chosen is not None and self.chosen.warning:
            told = f"{told} But in what it releases {self.chosen.warning}"
        if not self.meets:
            told = f"{told} {binding([each for each in self.compared if not each.failure])}"
        return " ".join([told, *could_not_run(self.compared)])

    def figures_frame(self, risks: Iterable[str], losses: Iterable[str]) -> pd.DataFrame:
        """A row for each of them: technique, parameters, these figures and measures, risk, loss, meets, front, choice.

        ``tied``: it cannot be told apart from the choice by these draws; ``releases``: how many were made; ``failed``:
        why it could not be measured, or "". Over several releases: means, with ``*_low`` and ``*_high``, the 95 %
        interval of the mean (Student's). NaN: the figure does not apply.
        """
        import pandas as pd

        every = self.compared
        columns: dict[str, Any] = {
            "technique": pd.Series([each.name for each in every], dtype=object),
            "parameters": pd.Series([each.parameters for each in every], dtype=object),
        }
        intervals = {
            **{name: [each.risks[name] for each in every] for name in risks},
            **{name: [each.losses[name] for each in every] for name in losses},
            "risk": [each.risk for each in every],
            "loss": [each.loss for each in every],
        }
        for name, found in intervals.items():
            columns[name] = pd.Series([each.mean for each in found], dtype="float64")
            if self.drawn_again:
                columns[f"{name}_low"] = pd.Series([each.low for each in found], dtype="float64")
                columns[f"{name}_high"] = pd.Series([each.high for each in found], dtype="float64")
        columns["meets"] = pd.Series([each.meets for each in every], dtype=bool)
        columns["front"] = pd.Series(self.front, dtype=bool)
        chosen, tied = self.chosen, self.tied
        columns["choice"] = pd.Series([each is chosen for each in every], dtype=bool)
        columns["tied"] = pd.Series([each in tied for each in every], dtype=bool)
        columns["releases"] = pd.Series([each.releases for each in every], dtype="int64")
        columns["failed"] = pd.Series([each.failure for each in every], dtype=object)
        return pd.DataFrame(columns)

    def risk_utility_map(self, *, area_unit: str, loss_words: str) -> altair.TopLevelMixin:
        """A point for each of them, the front, and the limit of the first requirement."""
        from equivoc.charts.risk_utility import MapPoint, risk_utility_chart

        chosen, risk = self.chosen, self.risk
        points = [
            MapPoint(
                number,
                each.notation,
                (each.risk.mean, each.risk.low, each.risk.high),
                (each.loss.mean, each.loss.low, each.loss.high),
                meets=each.meets,
                front=front,
                chosen=each is chosen,
            )
            for number, (each, front) in enumerate(zip(self.compared, self.front, strict=True), 1)
        ]
        return risk_utility_chart(
            points,
            risk=risk.left,
            risk_unit=risk.kind.unit.replace("the attribute's unit", area_unit),
            riskier=risk.riskier,
            limit=risk.limit if self.requirements else None,
            limit_text=risk.text,
            loss=self.utility,
            loss_words=loss_words,
        )
