"""A comparison from a plan: [data], [[technique]], [compare], [require]."""

from __future__ import annotations

import os
from typing import Any

from equivoc.assessment.requirements.requirement import requirements
from equivoc.decide.comparison.compare import Request, request
from equivoc.study.plan import DESIGNS, Plan, read_plan


def comparison_plan(path: str | os.PathLike[str]) -> Plan:
    """The plan in a TOML file; InputError names the line that is wrong."""
    plan = read_plan(path, "compare")
    with plan.at("require", {"limits": ("requirement",)}):
        requirements(plan.limits)
    return plan


def planned(plan: Plan, **instead: Any) -> Request:
    """The comparison of a plan; arguments that are given and not None replace those of the plan."""
    given = {name: value for name, value in instead.items() if value is not None}
    people = plan.people()
    with plan.at(
        "compare", {key: (key,) for key in DESIGNS["compare"]} | {"known": ("known", "is not a key")}
    ):
        return request(people, plan.techniques, **{"require": plan.limits, **plan.design, **given})
