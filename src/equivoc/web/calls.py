"""The Python and command-line calls, and the plan, that repeat what is on the screen."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from equivoc.errors import InputError
from equivoc.requests import Task, read
from equivoc.requests.spell import toml_value
from equivoc.techniques.notation import named_parameters, technique_type
from equivoc.techniques.technique import tried_parameters

WHAT = ("assess", "together", "report", "compare", "choose", "protect", "audit", "table")
LOG = "log.sql"
"""The file into which the pasted statements are put for the command line."""
OF_ALL = ("together", "protect")
"""What is about all confidential attributes, not only the one on the screen."""
QUESTION = ("known", "eps", "prior", "intruder", "require")
OWN = {
    "assess": ("technique", "seed"),
    "together": ("technique", "seed"),
    "report": ("technique", "seed", "unit"),
    "compare": ("techniques", "seed", "replicates", "utility"),
    "choose": ("technique", "seed", "replicates"),
    "protect": (
        "technique",
        "out",
    ),  # without the seed of the screen: whoever knows it can undo random changes
    "audit": ("queries", "statements"),
    "table": ("by", "value", "rule", "method", "hierarchies", "unit"),
}
"""The fields of each task that the page sets, beside those of its question."""


def calls(content: Mapping[str, Any], given: Mapping[str, Any]) -> dict[str, Any]:
    """The calls for ``given["what"]``; other names of ``given`` are those of the job that is repeated."""
    what = given.get("what", "assess")
    if what not in WHAT:
        raise InputError(f"what must be one of {', '.join(WHAT)}.")
    if content["file"] is None or content["roles"] is None:
        raise InputError("there are no people yet: open a file and choose the roles of its columns.")
    task = _task(what, content, {name: value for name, value in given.items() if value is not None})
    return {
        "python": task.python,
        "command": task.command,
        "plan": _plan(task) if what == "compare" else None,
    }


def _task(what: str, content: Mapping[str, Any], given: Mapping[str, Any]) -> Task:
    view, roles = content["view"], content["roles"]
    shown = {name: view[name] for name in ("technique", "known", "eps", "seed", "prior", "require")}
    asked: dict[str, Any] = {**shown, "unit": roles["kind"]["unit"], **given}
    if asked["known"] is not None and set(asked["known"]) == set(roles["keys"]):
        asked["known"] = None  # all keys
    if asked["eps"] is not None:
        asked["eps"] = [_plain(each) for each in sorted({0.0, float(asked["eps"])})]
    if what == "compare":
        asked["techniques"] = asked.get("techniques") or content["settings"] or [view["technique"]]
    if what == "choose":
        asked["technique"] = _range(asked)
    if what == "protect":
        asked["out"] = f"protected.{asked.get('format') or 'csv'}"
    if what == "audit":
        asked |= {"queries": LOG, "statements": None, "prior": None, "intruder": None}
    if what == "table":
        rules = [each for each in (asked.get("rule"), *(asked.get("rules") or ())) if each]
        by = list(asked.get("by") or roles["keys"][:2])
        own = {each["column"]: each["name"] for each in content["hierarchies"] if each["column"] in by}
        method = asked.get("method") or "none"
        # Requirements are those of the job, not those that the view has for people.
        required = list(given.get("require") or ()) if method != "none" else []
        asked |= {"by": by, "rule": rules, "method": method, "require": required, "eps": None, "prior": None}
        asked |= {"known": None, "intruder": None, "hierarchies": own if method == "redesign" else None}
        asked |= {} if method != "none" else {"unit": ""}
    several = what in OF_ALL and bool(roles["also"])
    if several:
        asked["eps"] = None  # each attribute has its own tolerances
    names = (*QUESTION, *OWN[what])
    found = {name: asked[name] for name in names if asked.get(name) is not None}
    verb = "assess" if what == "together" else what
    return read({"verb": verb, "people": _people(content, roles, several=several), **found})


def _people(content: Mapping[str, Any], roles: Mapping[str, Any], *, several: bool) -> dict[str, Any]:
    """The people with the attribute on the screen; ``several``: with all."""
    own = {"name": roles["confidential"], "kind": roles["kind"]}
    places = {column["name"]: at for at, column in enumerate(content["columns"])}
    every = sorted([own, *roles["also"]], key=lambda each: places[each["name"]]) if several else [own]
    kinds = {each["name"]: each["kind"] for each in every}
    rounded = [kind["round_to"] for kind in kinds.values() if kind["kind"] == "number"]
    if len(rounded) > 1 and any(each is not None for each in rounded):
        raise InputError(
            "with several confidential numbers, rounding is said in Python: "
            "confidential=[equivoc.Number(…, round_to=…), …]."
        )
    found: dict[str, Any] = {
        "source": content["file"]["name"],
        "confidential": list(kinds) if several else own["name"],
        **{name: roles[name] for name in ("keys", "weights", "group", "drop_missing")},
        "round_to": next((_plain(each) for each in rounded if each is not None), None),
        "ordered": {name: kind["levels"] for name, kind in kinds.items() if kind["kind"] == "ordered"},
        "categories": [name for name, kind in kinds.items() if kind["kind"] == "categories"],
        "hierarchy": {name: kind["hierarchy"] for name, kind in kinds.items() if kind["kind"] == "tree"},
    }
    reading = content["reading"]["asked"] if content["reading"] else {}
    return {name: value for name, value in found.items() if value not in (None, {}, [])} | reading


def _range(asked: Mapping[str, Any]) -> str:
    """The technique of a choice with the range of one parameter."""
    name, parameters = named_parameters(asked["technique"])
    tried = tried_parameters(technique_type(name))
    if not tried:
        raise InputError(f"{name} has no parameter to choose.")
    parameter = asked.get("parameter") or next(iter(tried))
    tries = tried.get(parameter, next(iter(tried.values())))
    low, high = asked.get("low"), asked.get("high")
    ends = [tries.low if low is None else low, tries.high if high is None else high]
    within = "" if low is None and high is None else f"{parameter}={_plain(ends[0])}..{_plain(ends[1])}"
    fixed = [f"{key}={value}" for key, value in parameters.items() if key != parameter]
    inside = ",".join(filter(None, (within, *fixed)))
    return f"{name}:{inside}" if inside else name


def _plan(task: Any) -> str:
    """The comparison as a plan for ``equivoc compare plan.toml``."""
    people = task.people.data
    source, (own,) = people.pop("source"), people.pop("confidential")
    weights = people.pop("weights", None)
    lines = ["[data]", f"path = {toml_value(source)}", f"confidential = {toml_value(own)}"]
    lines += [f"{name} = {toml_value(value)}" for name, value in {"keys": [], **people}.items()]
    if weights is not None:
        lines.append(f"weights = {toml_value(weights)}")
    for technique in task.techniques:
        lines += ["", "[[technique]]", f"name = {toml_value(technique.name)}"]
        lines += [f"{name} = {toml_value(value)}" for name, value in technique.data.items()]
    lines += ["", "[compare]", f"replicates = {task.replicates}", f"seed = {task.seed}"]
    question = {each.name: value for each, value in task.given() if each.name in ("known", "eps", "utility")}
    question |= {"prior": task.prior, "intruder": task.intruder}
    lines += [
        f"{name} = {toml_value(list(v) if isinstance(v, tuple) else v)}" for name, v in question.items()
    ]
    if task.require:
        lines += ["", "[require]", f"rules = {toml_value(list(task.require))}"]
    return "\n".join(lines) + "\n"


def _plain(number: float) -> float:
    return int(number) if float(number).is_integer() else number
