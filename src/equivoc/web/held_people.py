"""The people in memory, with the last releases and assessments: each question computes only what is new."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Callable, Hashable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any, TypeVar

import numpy as np

from equivoc.assessment.assess import assess
from equivoc.errors import InputError
from equivoc.render.several import together_facts
from equivoc.web.people_spec import PeopleSpec

if TYPE_CHECKING:
    from equivoc.assessment.assessment import Assessment
    from equivoc.data.microdata import Microdata
    from equivoc.releases.release import Release

KEPT = 8
"""Releases and assessments that are kept."""
Made = TypeVar("Made")


@dataclass(frozen=True)
class Asked:
    """What the page asks about: a release, what the intruder knows, and the tolerance."""

    technique: str = "unprotected"
    known: tuple[str, ...] | None = None
    eps: float | None = None
    """None: the library's own tolerances."""
    seed: int = 0
    prior: str = "marginal"
    intruder: str = "informed"
    require: tuple[str, ...] = ()

    @classmethod
    def of(cls, given: Mapping[str, Any], *, intruder: str = "informed") -> Asked:
        """From the JSON of a request; InputError names what is wrong."""
        eps = given.get("eps")
        if eps is not None and (
            isinstance(eps, bool) or not isinstance(eps, (int, float)) or not 0 <= eps < 1e300
        ):
            raise InputError("eps must be a number of 0 or more.")
        seed = given.get("seed", 0)
        if isinstance(seed, bool) or not isinstance(seed, int) or not 0 <= seed < 1 << 63:
            raise InputError("seed must be a whole number of 0 or more.")
        known = given.get("known")
        return cls(
            technique=text(given, "technique", "unprotected"),
            known=None if known is None else texts(given, "known"),
            eps=None if eps is None else float(eps),
            seed=seed,
            prior=text(given, "prior", "marginal"),
            intruder=intruder,
            require=texts(given, "require"),
        )


def text(given: Mapping[str, Any], name: str, default: str) -> str:
    """A text of a request."""
    found = given.get(name)
    if found is None:
        return default
    if not isinstance(found, str) or len(found) > 10_000:
        raise InputError(f"{name} must be a text.")
    return found


def texts(given: Mapping[str, Any], name: str) -> tuple[str, ...]:
    """A list of texts of a request; nothing is an empty one."""
    found = given.get(name) or []
    if not isinstance(found, list) or not all(isinstance(each, str) for each in found) or len(found) > 1000:
        raise InputError(f"{name} must be a list of texts.")
    return tuple(found)


@dataclass
class Kept:
    """The last few results by their key."""

    most: int = KEPT
    found: OrderedDict[Hashable, Any] = field(default_factory=OrderedDict)

    def get(self, key: Hashable, make: Callable[[], Made]) -> Made:
        """The result of the key, made if it is not there."""
        if key not in self.found:
            self.found[key] = make()
            while len(self.found) > self.most:
                self.found.popitem(last=False)
        self.found.move_to_end(key)
        found: Made = self.found[key]
        return found


@dataclass
class HeldPeople:
    """The people of one file in their roles."""

    spec: PeopleSpec
    people: Microdata
    """With the confidential attribute that is on the screen."""
    everyone: Microdata | None = None
    """With all confidential attributes, if there are several; fewer people if some lack a value of the others."""
    releases: Kept = field(default_factory=Kept)
    assessments: Kept = field(default_factory=Kept)
    measured: Kept = field(default_factory=lambda: Kept(256))

    @classmethod
    def read(cls, spec: PeopleSpec) -> HeldPeople:
        """Read the file."""
        if not spec.also:
            return cls(spec, spec.read())
        everyone = spec.read()
        people = spec.alone.read() if everyone.dropped else everyone.of(spec.confidential)
        return cls(spec, people, everyone)

    @property
    def facts(self) -> dict[str, Any]:
        """The people in the state of the page."""
        people = self.people
        values = people.values
        numeric = people.attribute.numeric
        return {
            "records": len(people),
            "dropped": people.dropped,
            "reading": people.reading.json,
            "remarks": [remark.sentence for remark in people.remarks],
            "values": len(values),
            "kind": people.attribute.kind,
            "ordered": people.attribute.ordered,
            "low": float(values[0]) if numeric else None,
            "high": float(values[-1]) if numeric else None,
            "eps_max": float(people.attribute.geometry.width),
            "eps": [float(eps) for eps in people.attribute.geometry.default_tolerances()],
            "classes": len(people.classes(list(people.keys))),
        }

    def release(self, technique: str, seed: int) -> Release:
        """The release of a technique; the same seed gives the same one."""
        made = self.spec.technique(technique)
        key = (technique, seed if made.random else 0)
        found: Release = self.releases.get(key, lambda: made.release(self.people, seed))
        return found

    def assessed(self, asked: Asked) -> Assessment:
        """The assessment; the release is the one that `equivoc.assess` would draw with this seed."""

        def make() -> Assessment:
            # An earlier one at another tolerance, or with other requirements, has the same posteriors.
            before = self.beliefs(asked)
            found: Assessment = assess(
                self.people,
                before.release,
                known=list(asked.known) if asked.known is not None else None,
                eps=None if asked.eps is None else sorted({0.0, asked.eps}),
                prior=asked.prior,
                intruder=asked.intruder,
                require=asked.require,
            )
            technique = self.spec.technique(asked.technique)
            found = replace(found, technique=technique.notation, seed=asked.seed, drawn_by=technique)
            found.__dict__["choice"] = before.choice
            return found

        return self.assessments.get(asked, make)

    def beliefs(self, asked: Asked) -> Assessment:
        """The assessment whose posteriors all tolerances and requirements share."""
        plain = replace(asked, eps=None, require=())

        def make() -> Assessment:
            found: Assessment = assess(
                self.people,
                self.release(asked.technique, asked.seed),
                known=list(asked.known) if asked.known is not None else None,
                prior=asked.prior,
                intruder=asked.intruder,
            )
            return found

        return self.assessments.get(("beliefs", plain), make)

    def together(self, asked: Asked) -> dict[str, Any] | None:
        """The figures of all confidential attributes combined, each at its usual tolerance; None if there is one."""
        if self.everyone is None:
            return None
        try:
            found = assess(
                self.everyone,
                self.spec.technique(asked.technique),
                known=list(asked.known) if asked.known is not None else None,
                seed=asked.seed,
                prior=asked.prior,
                intruder=asked.intruder,
                require=asked.require,
            )
            units = {each.name: each.unit for each in self.spec.also} | {
                self.spec.confidential: self.spec.unit
            }
            facts = together_facts(found, units)
            rules = [
                {"attribute": each.attribute, "meets": each.meets, "sentence": each.sentence}
                for each in found.requirements
            ]
            return {**facts, "rules": rules, "records": len(self.everyone), "problem": ""}
        except InputError as mistake:
            return {"problem": self.spec.renamed(str(mistake))}

    def levels(self, known: Sequence[str] | None, most: int = 1000) -> dict[str, list[Any]]:
        """The values of each known key, for looking up a class."""
        names = self.people.known_keys(None if known is None else list(known))
        return {name: [_shown(level) for level in self.people.levels(name)[:most]] for name in names}

    def keys_of(self, known: Sequence[str], number: int) -> dict[str, Any]:
        """The key values of a class."""
        classes = self.people.classes(list(known))
        return {
            name: _shown(self.people.levels(name)[int(code)])
            for name, code in zip(classes.known, classes.key_codes[number], strict=True)
        }

    def class_of(self, known: Sequence[str], values: Mapping[str, Any]) -> int | None:
        """The number of the class with these key values; None if no record has them. Values are compared as shown."""
        names = self.people.known_keys(list(known))
        classes = self.people.classes(list(names))
        fits = np.ones(len(classes), bool)
        for place, name in enumerate(names):
            wanted = values.get(name)
            codes = [code for code, level in enumerate(self.people.levels(name)) if _shown(level) == wanted]
            fits &= np.isin(classes.key_codes[:, place], codes)
        found = np.flatnonzero(fits)
        return int(found[0]) if len(found) else None


def _shown(level: Any) -> Any:
    """A key's value in JSON: numbers, Booleans and texts as they are, anything else as text."""
    if isinstance(level, np.generic):
        level = level.item()
    return level if level is None or isinstance(level, (bool, int, float, str)) else str(level)
