"""What comparisons of techniques and of table methods share: the front, the choice, the frame, the reasons, the map."""

from __future__ import annotations

from collections.abc import Iterable
from functools import cached_property
from typing import TYPE_CHECKING, Any

from equivoc.assessment.requirements.requirement import Requirement
from equivoc.decide.comparison.compared import ComparedTechnique, rank
from equivoc.decide.comparison.front import on_front
from equivoc.decide.comparison.wording import binding, headline, reason

if TYPE_CHECKING:
    import altair
    import pandas as pd

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
    def chosen(self) -> ComparedTechnique | None:
        """The chosen one with its figures; None if none meets the requirements."""
        meeting = [each for each in self.compared if each.meets]
        return min(meeting, key=lambda each: rank(each, self.risk.riskier)) if meeting else None

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
        chosen, risk = self.chosen, self.risk.left
        return {
            each.notation: reason(each, chosen, utility=self.utility, risk=risk, replicates=self.replicates)
            for each in self.compared
            if each is not chosen
        }

    @property
    def headline(self) -> str:
        """Which one to take; if none, which requirement binds."""
        told = headline(self.compared, self.chosen, utility=self.utility, required=bool(self.requirements))
        return told if self.meets else f"{told} {binding(self.compared)}"

    def figures_frame(self, risks: Iterable[str], losses: Iterable[str]) -> pd.DataFrame:
        """A row for each of them: technique, parameters, these figures and measures, risk, loss, meets, front, choice.

        Over replicates: means, with ``*_low`` and ``*_high``, the 95 % interval of the mean (Student's). NaN: the
        figure does not apply.
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
            if self.replicates > 1:
                columns[f"{name}_low"] = pd.Series([each.low for each in found], dtype="float64")
                columns[f"{name}_high"] = pd.Series([each.high for each in found], dtype="float64")
        columns["meets"] = pd.Series([each.meets for each in every], dtype=bool)
        columns["front"] = pd.Series(self.front, dtype=bool)
        columns["choice"] = pd.Series([each is self.chosen for each in every], dtype=bool)
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
