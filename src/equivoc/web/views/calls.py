"""The Python and command-line calls, and the plan, that repeat what is on the screen."""

from __future__ import annotations

import json
import shlex
from collections.abc import Mapping, Sequence
from typing import Any

from equivoc.errors import InputError
from equivoc.techniques.notation import named_parameters, technique_type

WHAT = ("assess", "report", "compare", "choose", "protect", "audit", "table")
LOG = "log.sql"
"""The file into which the pasted statements are put for the command line."""


def calls(content: Mapping[str, Any], given: Mapping[str, Any]) -> dict[str, Any]:
    """The calls for ``given["what"]``; other names of ``given`` are those of the job that is repeated."""
    what = given.get("what", "assess")
    if what not in WHAT:
        raise InputError(f"what must be one of {', '.join(WHAT)}.")
    if content["file"] is None or content["roles"] is None:
        raise InputError("there are no people yet: open a file and choose the roles of its columns.")
    view = content["view"]
    asked = {
        "technique": view["technique"],
        "known": view["known"],
        "eps": view["eps"],
        "seed": view["seed"],
        "prior": view["prior"],
        "require": view["require"],
        "intruder": "strongest",
        **{name: value for name, value in given.items() if value is not None},
    }
    asked["techniques"] = asked.get("techniques") or content["settings"] or [view["technique"]]
    asked["_files"] = {each["column"]: each["name"] for each in content["hierarchies"] if each["_file"]}
    asked["_rules"] = {each["column"]: each["name"] for each in content["hierarchies"]}
    if asked["known"] is not None and set(asked["known"]) == set(content["roles"]["keys"]):
        asked["known"] = None  # all keys
    people = _People(content["file"]["name"], content["roles"])
    python, command = _WRITERS[what](people, asked)
    plan = _plan(people, asked) if what == "compare" else None
    return {"python": f"import equivoc as eq\n\n{python}\n", "command": shlex.join(command), "plan": plan}


class _People:
    """The file and its roles, written as a call."""

    def __init__(self, name: str, roles: Mapping[str, Any]) -> None:
        self.name, self.roles, self.kind = name, roles, roles["kind"]

    def python(self, keys: Sequence[str] | None = None) -> str:
        roles, kind = self.roles, self.kind
        confidential = repr(roles["confidential"])
        if kind["kind"] == "ordered":
            confidential = f"eq.Ordered({confidential}, levels={kind['levels']!r})"
        elif kind["kind"] == "categories":
            confidential = f"eq.Categories({confidential})"
        elif kind["kind"] == "tree":
            confidential = f"eq.Tree({confidential}, {kind['hierarchy']!r})"
        words = [repr(self.name), f"confidential={confidential}", f"keys={list(keys or roles['keys'])!r}"]
        if kind["kind"] == "number" and kind["round_to"] is not None:
            words.append(f"round_to={_plain(kind['round_to'])!r}")
        if roles["weights"] is not None:
            words.append(f"weights={roles['weights']!r}")
        if roles["drop_missing"]:
            words.append("drop_missing=True")
        return f"people = eq.read({', '.join(words)})"

    def command(self, name: str, keys: Sequence[str] | None = None, *, kinds: bool = True) -> list[str]:
        roles, kind = self.roles, self.kind
        own = roles["confidential"]
        file = f"./{self.name}" if self.name.startswith("-") else self.name  # it would be taken for an option
        words = ["equivoc", name, file, "--confidential", _listed([own])]
        if keys or roles["keys"]:
            words += ["--keys", _listed(keys or roles["keys"])]
        if kind["kind"] == "number" and kind["round_to"] is not None:
            words += ["--round-to", str(_plain(kind["round_to"]))]
        if kinds and kind["kind"] == "ordered":
            words += ["--ordered", f"{own}={_listed(kind['levels'])}"]
        if kinds and kind["kind"] == "categories":
            words += ["--categories", _listed([own])]
        if kinds and kind["kind"] == "tree":
            words += ["--hierarchy", f"{own}={kind['hierarchy']}"]
        if kinds and roles["weights"] is not None:
            words += ["--weights", roles["weights"]]
        if roles["drop_missing"]:
            words.append("--drop-missing")
        return words


def technique_call(notation: str) -> str:
    """The technique as Python: ``eq.Sampling(fraction=0.1)``.

    >>> technique_call("swapping:rate=0.3,on=age+sex")
    "eq.Swapping(rate=0.3, on='age+sex')"
    """
    name, parameters = named_parameters(notation)
    given = ", ".join(f"{parameter}={value!r}" for parameter, value in parameters.items())
    return f"eq.{technique_type(name).__name__}({given})"


def _intruder(asked: Mapping[str, Any]) -> list[str]:
    """The arguments that every assessment has, where they are not the usual ones."""
    words = []
    if asked["known"] is not None:
        words.append(f"known={list(asked['known'])!r}")
    if asked["eps"] is not None:
        words.append(f"eps={_eps(asked)!r}")
    if asked["prior"] != "marginal":
        words.append(f"prior={asked['prior']!r}")
    if asked["intruder"] != "strongest":
        words.append(f"intruder={asked['intruder']!r}")
    if asked["require"]:
        words.append(f"require={list(asked['require'])!r}")
    return words


def _options(asked: Mapping[str, Any]) -> list[str]:
    words = []
    if asked["known"] is not None:
        words += ["--known", _listed(asked["known"]) if asked["known"] else "none"]
    if asked["eps"] is not None:
        words += ["--eps", ",".join(str(each) for each in _eps(asked))]
    if asked["prior"] != "marginal":
        words += ["--prior", asked["prior"]]
    if asked["intruder"] != "strongest":
        words += ["--intruder", asked["intruder"]]
    for each in asked["require"]:
        words += ["--require", each]
    return words


def _eps(asked: Mapping[str, Any]) -> list[float]:
    return [_plain(each) for each in sorted({0.0, float(asked["eps"])})]


def _assess(people: _People, asked: Mapping[str, Any]) -> tuple[str, list[str]]:
    words = ["people", technique_call(asked["technique"]), f"seed={asked['seed']}", *_intruder(asked)]
    python = f"{people.python()}\nresult = eq.assess({', '.join(words)})\nprint(result.summary)"
    command = [*people.command("assess"), "--technique", asked["technique"], "--seed", str(asked["seed"])]
    return python, command + _options(asked)


def _report(people: _People, asked: Mapping[str, Any]) -> tuple[str, list[str]]:
    words = ["people", technique_call(asked["technique"]), f"seed={asked['seed']}", *_intruder(asked)]
    unit = people.kind["unit"]
    told = f", unit={unit!r}" if unit else ""
    python = f'{people.python()}\nresult = eq.assess({", ".join(words)})\nresult.report("report.html"{told})'
    command = [*people.command("report"), "--technique", asked["technique"], "--seed", str(asked["seed"])]
    command += _options(asked) + (["--unit", unit] if unit else [])
    return python, [*command, "--out", "report.html"]


def _compare(people: _People, asked: Mapping[str, Any]) -> tuple[str, list[str]]:
    techniques = ", ".join(technique_call(each) for each in asked["techniques"])
    words = ["people", f"[{techniques}]", *_intruder(asked), *_drawn(asked)]
    python = (
        f"{people.python()}\ndone = eq.compare({', '.join(words)})\nprint(done.headline)\nprint(done.frame)"
    )
    command = people.command("compare")
    for each in asked["techniques"]:
        command += ["--technique", each]
    command += _options(asked)
    if asked.get("utility"):
        command += ["--utility", asked["utility"]]
    command += ["--replicates", str(asked.get("replicates") or 1), "--seed", str(asked["seed"])]
    return python, command


def _choose(people: _People, asked: Mapping[str, Any]) -> tuple[str, list[str]]:
    name, parameters = named_parameters(asked["technique"])
    kind = technique_type(name)
    if not kind.settings:
        raise InputError(f"{name} has no parameter to choose.")
    parameter = asked.get("parameter") or kind.settings[0].parameter
    setting = next((each for each in kind.settings if each.parameter == parameter), kind.settings[0])
    others = {key: value for key, value in parameters.items() if key != parameter}
    low, high = asked.get("low"), asked.get("high")
    words = ["people", f"eq.{kind.__name__}", repr(parameter)]
    words += [
        f"{end}={_plain(value)!r}" for end, value in (("low", low), ("high", high)) if value is not None
    ]
    words += [f"fixed={others!r}"] if others else []
    words += [*_intruder(asked), *_drawn(asked, utility=False)]
    python = f"{people.python()}\nbest = eq.choose({', '.join(words)})\nprint(best.sentence)"
    ends = [setting.low if low is None else low, setting.high if high is None else high]
    within = "" if low is None and high is None else f"{parameter}={_plain(ends[0])}..{_plain(ends[1])}"
    fixed = ",".join(f"{key}={value}" for key, value in others.items())
    told = ",".join(filter(None, (within, fixed)))
    command = [*people.command("choose"), "--technique", f"{name}:{told}" if told else name]
    command += [
        *_options(asked),
        "--replicates",
        str(asked.get("replicates") or 1),
        "--seed",
        str(asked["seed"]),
    ]
    return python, command


def _protect(people: _People, asked: Mapping[str, Any]) -> tuple[str, list[str]]:
    """Without the seed of the screen: whoever knows it can undo random changes."""
    file = f"protected.{asked.get('format') or 'csv'}"
    words = ["people", technique_call(asked["technique"]), repr(file), *_intruder(asked)]
    python = f"{people.python()}\ndone = eq.protect({', '.join(words)})\nprint(done.certificate)"
    command = [*people.command("protect"), "--technique", asked["technique"], *_options(asked), "--out", file]
    return python, command


def _audit(people: _People, asked: Mapping[str, Any]) -> tuple[str, list[str]]:
    statements = asked.get("statements")
    text = 'pathlib.Path("log.sql")' if statements is None else repr(statements)
    before = "import pathlib\n\n" if statements is None else ""
    asked = {**asked, "intruder": "strongest", "prior": "marginal"}
    words = ", ".join(["people", text, *_intruder(asked)])
    python = f"{before}{people.python()}\nfound = eq.audit({words})\nprint(found.frame)"
    command = [*people.command("audit", kinds=False), "--queries", LOG, *_options(asked)]
    return python, command


def _table(people: _People, asked: Mapping[str, Any]) -> tuple[str, list[str]]:
    by, value = list(asked.get("by") or people.roles["keys"][:2]), asked.get("value")
    rules, method = (
        [each for each in (asked.get("rule"), *(asked.get("rules") or ())) if each],
        asked.get("method"),
    )
    used = [name for name in (*by, *([value] if value else [])) if name != people.roles["confidential"]]
    keys = list(dict.fromkeys([*people.roles["keys"], *used]))
    lines = [people.python(keys), f"table = eq.tabulate(people, {by!r}, {value!r})"]
    command = [*people.command("table", keys, kinds=False), "--by", _listed(by)]
    command += ["--value", value] if value else []
    for each in rules:
        command += ["--rule", each]
    name, _, base = (method or "none").partition(":")
    if name == "suppress":
        lines.append(f"release = eq.CellSuppression(rule={rules!r}).release(table)")
        command.append("--suppress")
    elif name == "round":
        lines.append(f"release = eq.CellRounding(base={_plain(float(base))!r}).release(table)")
        command += ["--round", base]
    elif name == "redesign":
        own = {column: rule for column, rule in asked["_rules"].items() if column in by}
        lines.append(f"release = eq.Redesign(rule={rules!r}, hierarchies={own!r}).release(table)")
        command += [
            "--redesign",
            "--hierarchies",
            "+".join(f"{column}:{rule}" for column, rule in own.items()),
        ]
    if name == "none":
        lines.append(f"print(table.unsafe({rules!r}))" if rules else "print(table.frame)")
    else:
        lines.append("print(eq.assess(table, release).frame)")
    return "\n".join(lines), command


def _drawn(asked: Mapping[str, Any], *, utility: bool = True) -> list[str]:
    words = [f"seed={asked['seed']}"]
    if (asked.get("replicates") or 1) != 1:
        words.append(f"replicates={asked['replicates']}")
    if utility and asked.get("utility"):
        words.append(f"utility={asked['utility']!r}")
    return words


def _plan(people: _People, asked: Mapping[str, Any]) -> str:
    """The comparison as a plan for ``equivoc compare plan.toml``."""
    roles, kind = people.roles, people.kind
    own = json.dumps(roles["confidential"], ensure_ascii=False)
    lines = [
        "[data]",
        f"path = {_toml(people.name)}",
        f"confidential = {own}",
        f"keys = {_toml(roles['keys'])}",
    ]
    if kind["kind"] == "number" and kind["round_to"] is not None:
        lines.append(f"round_to = {_plain(kind['round_to'])}")
    if kind["kind"] == "ordered":
        lines.append(f"ordered = {{ {own} = {_toml(kind['levels'])} }}")
    if kind["kind"] == "categories":
        lines.append(f"categories = [{own}]")
    if kind["kind"] == "tree":
        lines.append(f"hierarchy = {{ {own} = {_toml(kind['hierarchy'])} }}")
    if roles["drop_missing"]:
        lines.append("drop_missing = true")
    for notation in asked["techniques"]:
        name, parameters = named_parameters(notation)
        lines += ["", "[[technique]]", f"name = {_toml(name)}"]
        lines += [f"{parameter} = {_toml(value)}" for parameter, value in parameters.items()]
    lines += ["", "[compare]"]
    if asked["known"] is not None:
        lines.append(f"known = {_toml(list(asked['known']))}")
    lines += [f"replicates = {asked.get('replicates') or 1}", f"seed = {asked['seed']}"]
    lines += [f"prior = {_toml(asked['prior'])}", f"intruder = {_toml(asked['intruder'])}"]
    if asked.get("utility"):
        lines.append(f"utility = {_toml(asked['utility'])}")
    if asked["eps"] is not None:
        lines.append(f"eps = {_toml(_eps(asked))}")
    if asked["require"]:
        lines += ["", "[require]", f"rules = {_toml(list(asked['require']))}"]
    return "\n".join(lines) + "\n"


def _toml(value: Any) -> str:
    """A text, number or list in TOML; JSON writes these the same way."""
    return json.dumps(value, ensure_ascii=False)


def _plain(number: float) -> float:
    return int(number) if float(number).is_integer() else number


def _listed(names: Sequence[str]) -> str:
    """Names of columns as an option takes them: one with a comma or a quote stands in quotes."""
    return ",".join(
        '"' + name.replace('"', '""') + '"'
        if name.strip() != name or any(mark in name for mark in ',"')
        else name
        for name in names
    )


_WRITERS = {
    "assess": _assess,
    "report": _report,
    "compare": _compare,
    "choose": _choose,
    "protect": _protect,
    "audit": _audit,
    "table": _table,
}
