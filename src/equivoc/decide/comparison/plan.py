"""A comparison from a plan: [data], [[technique]], [compare], [require]."""

from __future__ import annotations

from typing import Any

from equivoc.decide.comparison.compare import Request, request
from equivoc.study.plan import DESIGNS, Plan

SAID = {key: (key,) for key in DESIGNS["compare"]} | {"known": ("known", "is not a key")}
"""For each key of [compare], the words in an error message that point to it."""


def planned(plan: Plan, **instead: Any) -> Request:
    """The comparison of a plan; arguments that are given and not None replace those of the plan."""
    given = {name: value for name, value in instead.items() if value is not None}
    people = plan.people()
    with plan.at("compare", SAID):
        return request(people, plan.techniques, **{"require": plan.requirements, **plan.design, **given})
