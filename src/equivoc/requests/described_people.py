"""How the people were read, as plain data for a certificate: roles and kinds of columns, but no record."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from hashlib import sha256
from pathlib import Path
from typing import Any

import numpy as np

from equivoc.attributes.hierarchy import Calendar, Hierarchy
from equivoc.attributes.kinds import Bare, Categories, Kind, Number, Ordered, Tree
from equivoc.attributes.level_text import written
from equivoc.attributes.numbers import even_domain
from equivoc.data.microdata import Microdata
from equivoc.errors import InputError
from equivoc.files import is_file
from equivoc.reading.reading import Reading

KINDS: dict[str, type[Kind]] = {
    "by its values": Bare,
    "number": Number,
    "ordered": Ordered,
    "categories": Categories,
    "tree": Tree,
}
LONGEST_DOMAIN = 1_000_000


def described_people(people: Microdata) -> dict[str, Any]:
    """Columns, their roles and kinds, how they were read, the number of records, and of rows left out for want of a
    value.
    """
    return {
        "records": len(people),
        "left_out": people.dropped,
        "keys": list(people.keys),
        "confidential": [_described(kind) for kind in people.kinds if kind.name in people.attributes],
        "drop_missing": people.drop_missing,
        "reading": people.reading.json,
    }


def read_described(
    source: Any,
    described: Mapping[str, Any],
    *,
    hierarchy: Mapping[str, Path] | None = None,
    folders: Sequence[Path] = (),
) -> Microdata:
    """The people in ``source``, read as described.

    The file of a hierarchy is the one in ``hierarchy``, or one of its name in one of the ``folders``; InputError if its
    content is not what it was, or if a column in ``hierarchy`` has none.
    """
    trees = {each["name"] for each in described["confidential"] if "hierarchy" in each}
    unused = [name for name in hierarchy or {} if name not in trees]
    if unused:
        raise InputError(f"hierarchy names {unused[0]!r}, which is no confidential column with a hierarchy.")
    kinds = [_kind(each, hierarchy or {}, folders) for each in described["confidential"]]
    asked = Reading.read((described.get("reading") or {}).get("asked") or {})
    options = asked.options if isinstance(source, (str, os.PathLike)) else {}
    return Microdata(
        source, confidential=kinds, keys=described["keys"], drop_missing=described["drop_missing"], **options
    )


def hierarchy_files(people: Microdata) -> list[Path]:
    """The files of the confidential attributes' hierarchies."""
    trees = [kind.hierarchy for kind in people.kinds if isinstance(kind, Tree)]
    trees = [each for each in trees if isinstance(each, Hierarchy)]
    return [Path(each.source) for each in trees if is_file(each.source)]


def _described(kind: Kind) -> dict[str, Any]:
    names = {own: name for name, own in KINDS.items()}
    found: dict[str, Any] = {"name": kind.name, "kind": names[type(kind)]}
    if isinstance(kind, (Bare, Number)):
        found |= {"round_to": kind.round_to, "domain": _domain(kind.domain)}
    if isinstance(kind, Number):
        found["unit"] = kind.unit
    if isinstance(kind, Ordered):
        found["levels"] = None if kind.levels is None else [written(level) for level in kind.levels]
    if isinstance(kind, Tree) and isinstance(kind.hierarchy, Calendar):
        found["hierarchy"] = {"periods": str(kind.hierarchy)}
    elif isinstance(kind, Tree):
        found["hierarchy"] = {"file": Path(kind.hierarchy.source).name, "sha256": _digest(kind.hierarchy)}
    return found


def _domain(given: Any) -> Any:
    """The values of a domain; low, high and step if they are even and many."""
    if given is None:
        return None
    values = np.array(list(given), dtype=np.float64)
    if len(values) > 3:
        low, high, step = float(values[0]), float(values[-1]), float(values[1] - values[0])
        if np.array_equal(even_domain(low, high, step, most=len(values) + 1), values):
            return {"low": low, "high": high, "step": step}
    return values.tolist()


def _kind(described: Mapping[str, Any], files: Mapping[str, Path], folders: Sequence[Path]) -> Kind:
    name, kind = described["name"], described["kind"]
    if kind == "tree":
        return Tree(name, _hierarchy(name, described["hierarchy"], files, folders))
    if kind == "ordered":
        return Ordered(name, described["levels"])
    if kind == "categories":
        return Categories(name)
    domain = described["domain"]
    if isinstance(domain, dict):
        domain = even_domain(domain["low"], domain["high"], domain["step"], most=LONGEST_DOMAIN)
    numeric: dict[str, Any] = {"round_to": described["round_to"], "domain": domain}
    return Number(name, unit=described["unit"], **numeric) if kind == "number" else Bare(name, **numeric)


def _hierarchy(
    name: str, described: Mapping[str, Any], files: Mapping[str, Path], folders: Sequence[Path]
) -> Hierarchy | Calendar:
    if "periods" in described:
        return Calendar.of(described["periods"])
    file = Path(described["file"]).name
    found = files.get(name) or next((folder / file for folder in folders if is_file(folder / file)), None)
    if found is None:
        raise InputError(
            f"the hierarchy of {name!r}, {file}, is not beside the people: name it by hierarchy."
        )
    hierarchy = Hierarchy.read(found, key=name)
    if _digest(hierarchy) != described["sha256"]:
        raise InputError(f"the hierarchy {found} is not the one that the file was protected with.")
    return hierarchy


def _digest(hierarchy: Hierarchy) -> str:
    return sha256(repr(hierarchy.rows).encode()).hexdigest()
