"""Parses the notation of rules for unsafe cells: ``p:10``, ``dominance:n=1,k=60``, ``threshold:3``."""

from __future__ import annotations

from dataclasses import MISSING, fields
from typing import Any

from equivoc.did_you_mean import did_you_mean
from equivoc.errors import InputError
from equivoc.tables.rules import PQ, Dominance, PPercent, Rule, Threshold

RULES: dict[str, type[Any]] = {"p": PPercent, "dominance": Dominance, "pq": PQ, "threshold": Threshold}
LONGEST_QUOTED = 60


def rule_from(text: str) -> Rule:
    """The rule that a notation describes; a number without a name is the first parameter.

    >>> rule_from("p:10"), rule_from("dominance:n=2,k=85"), rule_from("threshold:3")
    (PPercent(p=10), Dominance(n=2, k=85), Threshold(least=3, percent=10))
    """
    shown = repr(text if len(text) <= LONGEST_QUOTED else f"{text[:LONGEST_QUOTED]}…")
    name, _, rest = text.partition(":")
    name = name.strip()
    if name not in RULES:
        raise InputError(f"the rule {shown} has an unknown name{did_you_mean(name[:LONGEST_QUOTED], RULES)}")
    kind = RULES[name]
    allowed = [f.name for f in fields(kind)]
    given: dict[str, Any] = {}
    for place, item in enumerate(filter(None, map(str.strip, rest.split(",")))):
        parameter, equals, value = (part.strip() for part in item.partition("="))
        if not equals and place == 0:
            parameter, value = allowed[0], item
        if parameter not in allowed:
            raise InputError(
                f"the rule {shown} has an unknown parameter{did_you_mean(parameter[:LONGEST_QUOTED], allowed)}"
            )
        if parameter in given:
            raise InputError(f"the rule {shown} gives {parameter} twice.")
        given[parameter] = _number(value, parameter, shown)
    for field in fields(kind):
        if field.default is MISSING and field.name not in given:
            raise InputError(f"the rule {shown} needs {field.name}, as in {name}:{field.name}=10.")
    found: Rule = kind(**given)
    return found


def _number(text: str, parameter: str, shown: str) -> float:
    for kind in (int, float):
        try:
            return kind(text)
        except ValueError:
            continue
    raise InputError(f"the rule {shown} has no number for {parameter}.")
