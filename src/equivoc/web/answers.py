"""What the warm process answers, by name. Every answer is plain data, ready for JSON."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from dataclasses import asdict, dataclass
from hashlib import sha256
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from equivoc.assessment.class_figures import true_places
from equivoc.assessment.surprise import other_guesses, surprises_at
from equivoc.attributes.attribute import Attribute, closeness
from equivoc.errors import InputError
from equivoc.intruder.posteriors import ranges
from equivoc.reading.reading import Reading
from equivoc.render.assessment import curve_facts
from equivoc.render.parts import json_values, shown_bounds
from equivoc.web.held_people import Asked, HeldPeople
from equivoc.web.people_spec import PeopleSpec, in_words_of_the_page

if TYPE_CHECKING:
    from equivoc.assessment.assessment import Assessment

LATER = ("knowledge", "contributions", "curve", "utility", "measures", "advice", "together")
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

    def answer_preview(self, given: Mapping[str, Any]) -> dict[str, Any]:
        """The columns of a file with their guessed roles."""
        from equivoc.data.suggested_roles.suggest import suggestions
        from equivoc.web.preview import guesses, preview

        try:
            reading = Reading(**given["reading"])
            found = preview(Path(given["path"]), given=reading)
            suggested = suggestions(given["path"], given=reading)
        except InputError as mistake:
            raise InputError(str(mistake).replace(given["path"], given["name"])) from None
        stored = Path(given["path"]).name
        guessed = guesses(found.columns, suggested)
        return {
            "rows": found.rows,
            "sampled": found.sampled,
            "reading": {"asked": given["reading"], **found.guess.json},
            "columns": [
                {
                    **_plain(column),
                    "problem": in_words_of_the_page(column.problem.replace(stored, given["name"])),
                    "guess": asdict(guess),
                }
                for column, guess in zip(found.columns, guessed, strict=True)
            ],
        }

    def answer_people(self, spec: PeopleSpec | None) -> dict[str, Any] | None:
        """Read the people, or forget them."""
        self.held = None
        if spec is None:
            return None
        self.held = HeldPeople.read(spec)
        return self.held.facts

    def answer_assess(self, given: Mapping[str, Any]) -> dict[str, Any]:
        """The facts of an assessment; ``fields`` names those of LATER that are wanted."""
        from equivoc.render.assessment import core_facts
        from equivoc.web.held_people import texts

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
        answer = {
            "key": key_of(asked, held.spec),
            "intruder": result.intruder,
            "asked": _asked_facts(asked, result),
            "facts": facts,
            "utility": None,
            "utility_note": "",
        }
        later: dict[str, Callable[[], Any]] = {
            "knowledge": lambda: _knowledge(subsets or []),
            "contributions": lambda: _contributions(result),
            "curve": lambda: _curve_facts(result),
            "measures": lambda: [row._asdict() for row in result.measures],
            "together": lambda: held.together(asked),
        }
        for name in wanted:
            if name in later:
                facts[name] = later[name]()
        if "utility" in wanted:
            lost = held.measured.get(("utility", asked.technique, asked.seed), lambda: _utility(result))
            answer |= {"utility": lost["rows"] or None, "utility_note": lost["sentence"]}
        found: dict[str, Any] = json_values(answer)
        return found

    def answer_explore(self, given: Mapping[str, Any]) -> dict[str, Any]:
        """The H(ε) explorer."""
        return explore(self._people(), given)

    def answer_limits(self, given: Mapping[str, Any]) -> dict[str, Any]:
        """For each figure, a limit between nothing released and the file as it is."""
        from equivoc.web.proposals import proposed_limits

        held, asked = self._people(), Asked.of({**given, "technique": "unprotected", "require": []})
        bare = held.assessed(asked)
        found: dict[str, Any] = json_values(
            proposed_limits(bare, bare.hit_eps if asked.eps is None else asked.eps)
        )
        return found

    def answer_proposed(self, given: Mapping[str, Any]) -> dict[str, Any]:
        """Settings to begin a comparison with; each has been tried."""
        from equivoc.web.proposals import proposed_settings

        return {"settings": proposed_settings(self._people(), known=Asked.of(given).known)}

    def answer_levels(self, given: Mapping[str, Any]) -> dict[str, list[Any]]:
        """The values of each known key."""
        return self._people().levels(given.get("known"))

    def answer_catalogue(self, given: Any) -> dict[str, Any]:
        """Techniques, figures, measures of loss, intruders, priors and rules."""
        from equivoc.web.catalogue import catalogue

        return catalogue(self.held)

    def answer_calls(self, given: tuple[Mapping[str, Any], Mapping[str, Any]]) -> dict[str, Any]:
        """The calls that repeat what is on the screen."""
        from equivoc.web.calls import calls

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


def key_of(asked: Asked, spec: PeopleSpec) -> str:
    """A short name of what was asked about which attribute, whoever the intruder is."""
    described = {name: value for name, value in asdict(asked).items() if name != "intruder"}
    described |= {"attribute": spec.confidential} if spec.also else {}
    return sha256(json.dumps(described, sort_keys=True).encode()).hexdigest()[:16]


def _asked_facts(asked: Asked, result: Assessment) -> dict[str, Any]:
    return {**asdict(asked), "eps": result.hit_eps, "known": list(result.known)}


def _knowledge(subsets: list[Any]) -> dict[str, Any]:
    from equivoc.assessment.subsets import risk_by_knowledge

    return risk_by_knowledge(subsets)


def _contributions(result: Assessment) -> Any:
    from equivoc.render.assessment import contribution_facts

    return contribution_facts(result.summary)


def _curve_facts(result: Assessment) -> dict[str, Any]:

    return curve_facts(result, shown_bounds(result.people))


def _utility(result: Assessment) -> dict[str, Any]:
    from equivoc.render.parts import utility_facts

    return utility_facts(result)


def _plain(column: Any) -> dict[str, Any]:
    fields = asdict(column)
    return {**fields, "sample": list(fields["sample"]), "bars": list(fields["bars"])}


# The H(ε) explorer: mean figures at one tolerance, the whole curve, and one class with its windows.

FEW = 3
"""A class of fewer people is marked as small."""
CURVE_POINTS = 33
"""Tolerances of the curve: half as many as in a report, so that it follows while keys are toggled."""
MOST_VALUES = 2000
"""A posterior with more values is sent without those of probability 0, and at most this many."""


def explore(held: HeldPeople, given: Mapping[str, Any]) -> dict[str, Any]:
    """The figures at the tolerance that is asked for; ``curve`` adds the whole curve, ``class`` one class."""
    asked = Asked.of(given)
    result = held.beliefs(asked)
    eps = result.hit_eps if asked.eps is None else asked.eps
    facts: dict[str, Any] = {
        "intruder": result.intruder,
        "eps": eps,
        "close": closeness(held.people.attribute, eps, held.spec.unit).phrase,
        "mean": held.measured.get((result, "mean", eps), lambda: mean_figures(result, eps)),
    }
    if given.get("curve"):
        facts["curve"] = held.measured.get((result, "curve"), lambda: _curve(result))
    facts |= {"eps_max": float(held.people.attribute.geometry.width), **_looked_up(held, result, eps, given)}
    found: dict[str, Any] = json_values(facts)
    return found


def mean_figures(result: Assessment, eps: float) -> dict[str, float]:
    """Averages over people at one tolerance: bits, and shares of people."""
    posteriors = result.posteriors
    classes, sizes = posteriors.classes, posteriors.sizes
    counts, truths = classes.counts, true_places(classes, posteriors)
    h = np.empty(len(posteriors))
    hit, right = np.empty(len(posteriors)), np.empty(len(truths))
    hits = [each.right[eps] for each in other_guesses(result.choice, [eps], result.mixed_prior)]
    for part, measured in posteriors.measured():
        h[part], hit[part] = measured.at(eps), measured.hit(eps)
        begins, ends = counts.indptr[part].astype(np.int64), counts.indptr[part + 1].astype(np.int64)
        entries = ranges(begins, ends)
        bounds = np.concatenate([[0], np.cumsum(ends - begins)])
        right[entries] = measured.right_guesses(eps, truths[entries], bounds)
    overall = result.truth.overall
    bits = (
        overall.surprises
        if eps == 0
        else surprises_at(posteriors, [eps], overall.trust, result.mixed_prior)[eps]
    )
    one = np.array([eps])
    curve = result.mean_curve(one)
    return {
        "h": float(np.average(h, weights=sizes)),
        "hit": float(np.average(hit, weights=sizes)),
        "true_hit": max(float(np.average(each, weights=counts.data)) for each in (right, *hits)),
        "surprise": float(np.average(bits, weights=counts.data)),
        "prior_h": float(curve.prior[0]),
        "prior_hit": float(result.prior.hit(eps)[0]),
        "unprotected_h": float(curve.unprotected[0]),
    }


def _curve(result: Assessment) -> dict[str, Any]:
    """The lines of the chart. T(ε) has tolerances of its own, because they can be fewer than those of H(ε)."""
    facts = curve_facts(result, shown_bounds(result.people), most=CURVE_POINTS)
    return {**facts, "truth": {name: facts["truth"][name] for name in ("eps", "bits", "drawn")}}


def _looked_up(held: HeldPeople, result: Assessment, eps: float, given: Mapping[str, Any]) -> dict[str, Any]:
    """The class that is asked for, or the largest one; a sentence if nobody has these keys."""
    if "class" not in given:
        return {}
    wanted = given["class"]
    if wanted is None:
        largest = int(np.argmax(result.posteriors.sizes))
        return {"class": {**class_facts(held, result, largest, eps), "chosen": "largest"}}
    if not isinstance(wanted, dict):
        raise InputError('class must be key values by name, such as {"age": 37}.')
    found = held.class_of(result.known, wanted)
    if found is None:
        return {"class": None, "missing": "Nobody in the file has this combination of values."}
    return {"class": class_facts(held, result, found, eps)}


def class_facts(held: HeldPeople, result: Assessment, found: int, eps: float) -> dict[str, Any]:
    """One class: the posterior's values, its windows at ε, and its figures."""
    posteriors, attribute = result.posteriors, held.people.attribute
    row = np.array([found])
    measured = posteriors.curves_of(row)
    probabilities = _row(posteriors, found)
    own = np.flatnonzero(probabilities > 0)
    if len(own) > MOST_VALUES:
        own = np.sort(own[np.argsort(-probabilities[own], kind="stable")[:MOST_VALUES]])
    size = int(posteriors.sizes[found])
    classes = posteriors.classes
    begin, end = int(classes.counts.indptr[found]), int(classes.counts.indptr[found + 1])
    truths = true_places(classes, posteriors)[begin:end]
    right = measured.right_guesses(eps, truths, np.array([0, end - begin]))
    values = [_shown(value, attribute) for value in attribute.values[own]]
    return {
        "keys": held.keys_of(result.known, found),
        "size": size,
        "small": size < FEW,
        "values": values,
        "probabilities": probabilities[own],
        "windows": _windows(held, probabilities, own, eps),
        "h": float(measured.at(eps)[0]),
        "h0": float(measured.h0[0]),
        "hit": float(measured.hit(eps)[0]),
        "true_hit": float(np.average(right, weights=classes.counts.data[begin:end])),
        "unprotected_h0": _entropy(classes.counts.data[begin:end]),
    }


def _windows(
    held: HeldPeople, probabilities: NDArray[np.float64], sent: NDArray[np.int64], eps: float
) -> list[dict[str, Any]]:
    """The optimal windows at ε: from, to, probability, and the places of their values among those that are sent."""
    attribute = held.people.attribute
    own = np.flatnonzero(probabilities > 0)
    place = {int(value): at for at, value in enumerate(sent)}
    if attribute.ordered:
        from equivoc.measure.curve import curve

        places = attribute.geometry.positions[own]
        found = curve(places, probabilities[own] / probabilities[own].sum(), tolerance=1e-3).windows(eps)
        groups = [
            (own[np.searchsorted(places, low) : np.searchsorted(places, high, side="right")].tolist(), p)
            for low, high, p in found
        ]
    else:
        from equivoc.measure.tree import tree_curve

        geometry: Any = attribute.geometry
        there = set(own.tolist())
        groups = [
            ([leaf for leaf in group.leaves if leaf in there], group.probability)
            for group in tree_curve(geometry.groups, probabilities).windows(eps)
        ]
    return [
        {
            "low": _shown(attribute.values[members[0]], attribute),
            "high": _shown(attribute.values[members[-1]], attribute),
            "p": float(p),
            "values": [place[member] for member in members if member in place],
        }
        for members, p in groups
    ]


def _row(posteriors: Any, found: int) -> NDArray[np.float64]:
    table = posteriors.probabilities[[found]]
    dense = table.toarray() if hasattr(table, "toarray") else np.asarray(table)
    return np.asarray(dense, dtype=np.float64).reshape(-1)


def _entropy(counts: NDArray[np.integer[Any]]) -> float:
    shares = counts / counts.sum()
    return float(-(shares * np.log2(shares)).sum()) + 0.0


def _shown(value: Any, attribute: Attribute) -> Any:
    if attribute.dates is not None:
        return attribute.text(value)
    return value.item() if isinstance(value, np.generic) else value
