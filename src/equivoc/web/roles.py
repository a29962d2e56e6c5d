"""Checks the parts of the state that the page may change: roles, view, settings."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from equivoc.checks import is_finite
from equivoc.errors import InputError, did_you_mean
from equivoc.reading.reading import Reading
from equivoc.web.people_spec import KINDS, OwnKind, PeopleSpec
from equivoc.web.state import VIEW

TABS = ("data", "explore", "techniques", "compare", "queries", "tables", "take-away")
MOST_TEXTS = 1000
LONGEST_TEXT = 20_000
NO_KIND = {"kind": "number", "round_to": None, "unit": "", "levels": None, "hierarchy": None}


def checked_roles(
    given: Any, columns: Sequence[Mapping[str, Any]], hierarchies: Sequence[Mapping[str, Any]]
) -> dict[str, Any]:
    """The roles of the columns, complete; InputError names what is wrong."""
    if not isinstance(given, dict):
        raise InputError("roles must be an object with confidential, kind and keys.")
    names = [column["name"] for column in columns]
    confidential = given.get("confidential")
    if confidential not in names:
        raise InputError("choose the confidential column.")
    keys = _texts(given.get("keys") or [], "keys")
    for name in keys:
        if name not in names:
            raise InputError(f"there is no column {name!r}.")
        if name == confidential:
            raise InputError(f"{name!r} is confidential, so it cannot be a key as well.")
    also = _others(given.get("also"), [str(confidential), *keys], names, hierarchies)
    taken = [str(confidential), *keys, *(each["name"] for each in also)]
    weights = given.get("weights")
    if weights is not None and (weights not in names or weights in taken):
        raise InputError("the weights must be a column without another role.")
    group = given.get("group")
    if group is not None and (group not in names or group in (*taken, weights)):
        raise InputError("the household must be a column without another role.")
    return {
        "confidential": confidential,
        "kind": _kind(given.get("kind"), hierarchies),
        "also": also,
        "keys": list(keys),
        "weights": weights,
        "group": group,
        "drop_missing": bool(given.get("drop_missing")),
    }


def _others(
    given: Any, taken: Sequence[str], names: Sequence[str], hierarchies: Sequence[Mapping[str, Any]]
) -> list[dict[str, Any]]:
    """The other confidential columns with their kinds."""
    if not isinstance(given or [], list):
        raise InputError("also must be a list of other confidential columns, each with its name and kind.")
    found: list[dict[str, Any]] = []
    for each in given or []:
        name = each.get("name") if isinstance(each, dict) else None
        if name not in names or name in taken or name in [other["name"] for other in found]:
            raise InputError(f"{name!r} cannot be confidential as well: give a column without another role.")
        found.append({"name": name, "kind": _kind(each.get("kind"), hierarchies)})
    return found


def _kind(described: Any, hierarchies: Sequence[Mapping[str, Any]]) -> dict[str, Any]:
    """The kind of a confidential column's values."""
    own: dict[str, Any] = {**NO_KIND, **(described if isinstance(described, dict) else {})}
    if own["kind"] not in KINDS:
        raise InputError(f"the kind must be one of {', '.join(KINDS)}.")
    round_to = own["round_to"]
    if round_to is not None and not (_number(round_to) and round_to > 0):
        raise InputError("values are rounded to a number above 0.")
    levels = own["levels"]
    if own["kind"] == "ordered" and not levels:
        raise InputError("an ordered attribute needs its values, lowest first.")
    if own["kind"] == "tree" and own["hierarchy"] not in [
        each["name"] for each in hierarchies if each["made"] == "uploaded"
    ]:
        raise InputError("choose an uploaded hierarchy for the confidential column.")
    return {
        "kind": own["kind"],
        "round_to": round_to,
        "unit": _text(own["unit"] or "", "unit"),
        "levels": None if not levels else list(_texts(levels, "levels")),
        "hierarchy": own["hierarchy"] if own["kind"] == "tree" else None,
    }


def same_people(one: Mapping[str, Any] | None, other: Mapping[str, Any]) -> bool:
    """True if the roles differ at most in which of the confidential attributes is on the screen."""
    return one is not None and _every(one) == _every(other)


def _every(roles: Mapping[str, Any]) -> dict[str, Any]:
    own = {"name": roles["confidential"], "kind": roles["kind"]}
    every = sorted([own, *roles["also"]], key=lambda each: str(each["name"]))
    return {**roles, "confidential": None, "kind": None, "also": every}


def people_spec(content: Mapping[str, Any], folder: Path) -> PeopleSpec | None:
    """How the people of the state are read; None if there is no file or no roles."""
    file, roles = content["file"], content["roles"]
    if file is None or roles is None:
        return None
    files = {
        each["name"]: str(folder / "hierarchies" / each["_file"])
        for each in content["hierarchies"]
        if each.get("_file")
    }
    kind = roles["kind"]
    return PeopleSpec(
        path=file["_path"],
        name=file["name"],
        confidential=roles["confidential"],
        kind=kind["kind"],
        keys=tuple(roles["keys"]),
        round_to=kind["round_to"],
        unit=kind["unit"],
        levels=tuple(kind["levels"] or ()),
        hierarchy=files.get(kind["hierarchy"]),
        weights=roles["weights"],
        group=roles["group"],
        also=tuple(
            OwnKind(
                each["name"],
                each["kind"]["kind"],
                each["kind"]["round_to"],
                tuple(each["kind"]["levels"] or ()),
                files.get(each["kind"]["hierarchy"]),
                each["kind"]["unit"],
            )
            for each in roles["also"]
        ),
        drop_missing=roles["drop_missing"],
        reading=content["reading"]["asked"] if content["reading"] else {},
        hierarchies=files,
        column_rules={
            each["column"]: files.get(each["name"]) or each["_widths"] for each in content["hierarchies"]
        },
    )


READING = (
    "format",
    "separator",
    "decimal",
    "thousands",
    "encoding",
    "header",
    "missing",
    "labels",
    "dates",
    "sheet",
)
"""What the page says about a file; a layout would name another file of this machine."""


def checked_reading(given: Any) -> dict[str, Any]:
    """How the file is to be read, as plain data; what is null is guessed."""
    if not isinstance(given, dict):
        raise InputError('reading must be an object, such as {"decimal": ","}.')
    for name in given:
        if name not in READING:
            raise InputError(f"reading has no {name!r}{did_you_mean(name, READING)}")
    for column, words in given["missing"].items() if isinstance(given.get("missing"), dict) else ():
        _texts(words, f"the missing words of {column}")
    asked: dict[str, Any] = Reading(**given).data
    return asked


def checked_view(given: Any) -> dict[str, Any]:
    """The view with every name that it must have, and nothing else."""
    if not isinstance(given, dict):
        raise InputError("view must be an object.")
    unknown = [name for name in given if name not in VIEW]
    if unknown:
        raise InputError(f"view has no {unknown[0]!r}.")
    view = {**VIEW, **given}
    if view["tab"] not in TABS:
        raise InputError(f"tab must be one of {', '.join(TABS)}.")
    if view["known"] is not None:
        view["known"] = list(_texts(view["known"], "known"))
    if view["eps"] is not None and not (_number(view["eps"]) and view["eps"] >= 0):
        raise InputError("eps must be a number of 0 or more.")
    if isinstance(view["seed"], bool) or not isinstance(view["seed"], int) or not 0 <= view["seed"] < 1 << 63:
        raise InputError("seed must be a whole number of 0 or more.")
    view["require"] = list(_texts(view["require"], "require"))
    for name in ("technique", "prior"):
        _text(view[name], name)
    if view["class"] is not None and not isinstance(view["class"], dict):
        raise InputError("class must be key values by name.")
    return view


def checked_settings(given: Any) -> list[str]:
    """The notations that are compared."""
    return list(_texts(given, "settings"))


def _texts(given: Any, name: str) -> tuple[str, ...]:
    if not isinstance(given, (list, tuple)) or len(given) > MOST_TEXTS:
        raise InputError(f"{name} must be a list of at most {MOST_TEXTS:,} texts.")
    return tuple(_text(each, name) for each in given)


def _text(given: Any, name: str) -> str:
    if not isinstance(given, str) or len(given) > LONGEST_TEXT:
        raise InputError(f"{name} must hold texts of at most {LONGEST_TEXT:,} characters.")
    return given


def _number(given: Any) -> bool:
    return is_finite(given)
