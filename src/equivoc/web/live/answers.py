"""What the warm process answers, by name. Every answer is plain data, ready for JSON."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from dataclasses import asdict, dataclass
from hashlib import sha256
from pathlib import Path
from typing import TYPE_CHECKING, Any

from equivoc.errors import InputError
from equivoc.web.live.people_spec import PeopleSpec

if TYPE_CHECKING:
    from equivoc.assessment.assessment import Assessment
    from equivoc.web.live.held_people import Asked, HeldPeople

LATER = ("knowledge", "contributions", "curve", "utility", "measures", "advice")
"""Fields of an assessment that take longer; they are sent if they are asked for by name."""


@dataclass
class Answers:
    """The people that are held, if any, and the answers about them."""

    held: HeldPeople | None = None

    def __call__(self, name: str, given: Any) -> Any:
        """The answer of this name."""
        answer: Callable[[Any], Any] = getattr(self, f"answer_{name}")
        return answer(given)

    def answer_warm(self, given: Any) -> None:
        """Load the kernels that an assessment needs, on people made up for it."""
        import pandas as pd

        from equivoc.data.microdata import Microdata
        from equivoc.web.live.explorer import explore
        from equivoc.web.live.held_people import HeldPeople

        frame = pd.DataFrame({"a": [1, 1, 2, 2, 3, 3], "pay": [1.0, 2.0, 3.0, 5.0, 8.0, 8.0]})
        spec = PeopleSpec("", "", "pay", "number", ("a",))
        kept, self.held = (
            self.held,
            HeldPeople(spec, Microdata(frame, confidential="pay", keys=["a"])),
        )
        try:
            for technique in ("unprotected", "swapping:rate=0.5", "noise-addition:percent=50"):
                self.answer_assess({"technique": technique, "eps": 1.0})
                explore(self.held, {"technique": technique, "eps": 1.0, "curve": True, "class": {"a": 1}})
        finally:
            self.held = kept

    def answer_preview(self, given: Mapping[str, str]) -> dict[str, Any]:
        """The columns of a file with their guessed roles."""
        from equivoc.web.views.guessing import guesses
        from equivoc.web.views.preview import preview

        try:
            found = preview(Path(given["path"]))
        except InputError as mistake:
            raise InputError(str(mistake).replace(given["path"], given["name"])) from None
        guessed = guesses(found.columns, found.rows)
        return {
            "rows": found.rows,
            "sampled": found.sampled,
            "columns": [
                {**_plain(column), "guess": asdict(guess)}
                for column, guess in zip(found.columns, guessed, strict=True)
            ],
        }

    def answer_people(self, spec: PeopleSpec | None) -> dict[str, Any] | None:
        """Read the people, or forget them."""
        from equivoc.web.live.held_people import HeldPeople

        self.held = None
        if spec is None:
            return None
        self.held = HeldPeople.read(spec)
        return self.held.facts

    def answer_assess(self, given: Mapping[str, Any]) -> dict[str, Any]:
        """The facts of an assessment; ``fields`` names those of LATER that are wanted."""
        from equivoc.report.facts.assessment_facts import core_facts
        from equivoc.report.facts.json_values import json_values
        from equivoc.web.live.held_people import Asked, texts

        held = self._people()
        asked = Asked.of(given, intruder=str(given.get("intruder", "informed")))
        wanted = texts(given, "fields")
        unknown = [name for name in wanted if name not in LATER]
        if unknown:
            raise InputError(f"there is no field {unknown[0]!r}; choose from {', '.join(LATER)}.")
        result = held.assessed(asked)
        unit = held.spec.unit
        subsets = result.subsets if {"knowledge", "contributions", "advice"} & set(wanted) else None
        facts = core_facts(result, unit=unit, advice="advice" in wanted)
        told = {
            "key": key_of(asked),
            "intruder": result.intruder,
            "asked": _asked_facts(asked, result),
            "facts": facts,
            "utility": None,
            "utility_note": "",
        }
        later: dict[str, Callable[[], Any]] = {
            "knowledge": lambda: _knowledge(subsets or []),
            "contributions": lambda: _contributions(result),
            "curve": lambda: _curve(result),
            "measures": lambda: [row._asdict() for row in result.measures],
        }
        for name in wanted:
            if name in later:
                facts[name] = later[name]()
        if "utility" in wanted:
            lost = held.measured.get(("utility", asked.technique, asked.seed), lambda: _utility(result))
            told |= {"utility": lost["rows"] or None, "utility_note": lost["sentence"]}
        found: dict[str, Any] = json_values(told)
        return found

    def answer_explore(self, given: Mapping[str, Any]) -> dict[str, Any]:
        """The H(ε) explorer."""
        from equivoc.web.live.explorer import explore

        return explore(self._people(), given)

    def answer_levels(self, given: Mapping[str, Any]) -> dict[str, list[Any]]:
        """The values of each known key."""
        return self._people().levels(given.get("known"))

    def answer_catalogue(self, given: Any) -> dict[str, Any]:
        """Techniques, figures, measures of loss, intruders, priors and rules."""
        from equivoc.web.views.catalogue import catalogue

        return catalogue(self.held)

    def answer_calls(self, given: tuple[Mapping[str, Any], Mapping[str, Any]]) -> dict[str, Any]:
        """The calls that repeat what is on the screen."""
        from equivoc.web.views.calls import calls

        return calls(*given)

    def answer_hierarchy(self, given: Mapping[str, str]) -> dict[str, Any]:
        """Check a hierarchy's file."""
        from equivoc.attributes.hierarchy import Hierarchy

        try:
            found = Hierarchy.read(Path(given["path"]), key=given["column"])
        except InputError as mistake:
            raise InputError(str(mistake).replace(given["path"], given["name"])) from None
        return {"levels": len(found.rows[0]), "values": len(found.rows)}

    def answer_intervals(self, given: Mapping[str, Any]) -> dict[str, Any]:
        """Check widths of intervals."""
        from equivoc.attributes.hierarchy import Intervals

        found = Intervals.of(given["widths"])
        return {"levels": len(found.widths) + 2, "text": str(found)}

    def _people(self) -> HeldPeople:
        if self.held is None:
            raise InputError("there are no people yet: open a file and choose the roles of its columns.")
        return self.held


def key_of(asked: Asked) -> str:
    """A short name of what was asked, whoever the intruder is."""
    described = {name: value for name, value in asdict(asked).items() if name != "intruder"}
    return sha256(json.dumps(described, sort_keys=True).encode()).hexdigest()[:16]


def _asked_facts(asked: Asked, result: Assessment) -> dict[str, Any]:
    return {**asdict(asked), "eps": result.hit_eps, "known": list(result.known)}


def _knowledge(subsets: list[Any]) -> dict[str, Any]:
    from equivoc.assessment.by_knowledge import risk_by_knowledge

    return risk_by_knowledge(subsets)


def _contributions(result: Assessment) -> Any:
    from equivoc.report.facts.assessment_facts import contribution_facts

    return contribution_facts(result.summary)


def _curve(result: Assessment) -> dict[str, Any]:
    from equivoc.report.facts.assessment_facts import curve_facts
    from equivoc.report.facts.bounds import shown_bounds

    return curve_facts(result, shown_bounds(result.people))


def _utility(result: Assessment) -> dict[str, Any]:
    from equivoc.report.facts.utility_facts import utility_facts

    return utility_facts(result)


def _plain(column: Any) -> dict[str, Any]:
    told = asdict(column)
    return {**told, "sample": list(told["sample"]), "bars": list(told["bars"])}
