"""A study's description without any value of the data, and the test whether two studies can share a folder."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from hashlib import blake2b
from typing import Any

from equivoc.arguments import is_number, is_whole
from equivoc.attributes.geometry import Nested
from equivoc.data.microdata import Microdata
from equivoc.study.cell import MOST_CELLS, true_hit_tolerance
from equivoc.techniques.technique import Technique
from equivoc.version import __version__

Facts = dict[str, Any]


def study_facts(
    people: Microdata,
    techniques: Sequence[Technique],
    knowledge: Facts,
    *,
    replicates: int,
    seed: int,
    prior: str,
    intruder: str,
) -> Facts:
    """The study as plain data that may be printed: no value of the data.

    Computed from it is only the tolerance of true hits: 1, 2 or 5 times a power of ten.
    """
    return {
        "equivoc": __version__,
        "data": data_facts(people),
        "techniques": [technique.notation for technique in techniques],
        "once": [technique.notation for technique in techniques if not technique.random],
        "knowledge": knowledge,
        "replicates": replicates,
        "seed": seed,
        "prior": prior,
        "intruder": intruder,
        "true_hit_tolerance": true_hit_tolerance(people),
    }


def data_facts(people: Microdata) -> Facts:
    """The columns and the number of records; no value."""
    return {
        "records": len(people),
        "confidential": people.confidential,
        "kind": people.attribute.kind,
        "keys": list(people.keys),
    }


def data_fingerprint(people: Microdata, salt: bytes) -> str:
    """One keyed hash of all columns in row order, of the domain, and of its distances.

    A store keeps it with its own random ``salt``: it recognises the same data, but the hash cannot be looked up in
    a precomputed table, and no column can be guessed without all others.

    >>> import pandas as pd
    >>> people = Microdata(pd.DataFrame({"sex": ["F", "M"], "pay": [10, 20]}), confidential="pay", keys=["sex"])
    >>> data_fingerprint(people, b"one") == data_fingerprint(people, b"other")
    False
    """
    found = blake2b(key=salt, digest_size=32)
    for key in people.keys:
        for level in people.levels(key):
            found.update(repr(level).encode() + b"\0")  # repr escapes \0 in text
        found.update(b"\0" + people.key_codes(key).astype("<i4").tobytes())
    attribute = people.attribute
    found.update(attribute.kind.encode() + b"\0" + people.codes.astype("<i4").tobytes())
    if attribute.numeric:
        found.update(people.values.astype("<f8").tobytes())
    else:
        found.update("\0".join(map(repr, people.values)).encode())
    if isinstance(attribute.geometry, Nested):
        found.update(b"\0" + attribute.geometry.groups.astype("<i8").tobytes())
    return found.hexdigest()


def content_fingerprint(content: str | None, salt: bytes) -> str:
    """A keyed hash of the files that a technique's notation names; "" if it names none."""
    return "" if content is None else blake2b(content.encode(), key=salt, digest_size=32).hexdigest()


def differences(stored: Facts, asked: Facts, same_data: bool) -> Iterator[str]:
    """The reasons why the stored cells cannot be used for the requested study, each as a clause of a sentence.

    Techniques and replicates may differ: a cell does not depend on other cells.

    >>> data = {"confidential": "pay", "kind": "number", "keys": ["sex"], "records": 4}
    >>> one = {"equivoc": "1", "data": data, "knowledge": {}, "seed": 0, "prior": "marginal", "intruder": "paper"}
    >>> list(differences(one, {**one, "seed": 7}, True))
    ['its seed is 0, not 7']
    """
    yield from data_differences(stored, asked, same_data)
    for name in ("known_sizes", "subsets"):
        there, here = stored["knowledge"].get(name), asked["knowledge"].get(name)
        if there != here:
            yield f"its {name} are {there or 'not given'}, not {here or 'not given'}"
    yield from value_differences(stored, asked, ("seed", "prior", "intruder"))


def data_differences(stored: Facts, asked: Facts, same_data: bool) -> Iterator[str]:
    """The differences of version and data."""
    if stored["equivoc"] != asked["equivoc"]:
        yield f"it was made by equivoc {stored['equivoc']}, not {asked['equivoc']}"
    there, here = stored["data"], asked["data"]
    if there != here:
        if there["confidential"] != here["confidential"]:
            yield f"its confidential column is {there['confidential']}, not {here['confidential']}"
        if there["kind"] != here["kind"]:
            yield f"its confidential column is of the kind {there['kind']}, not {here['kind']}"
        if there["keys"] != here["keys"]:
            yield f"its keys are {there['keys']}, not {here['keys']}"
        if there["records"] != here["records"]:
            yield f"its data have {there['records']:,} records, not {here['records']:,}"
    elif not same_data:
        yield "its data have other values, another order of rows, another domain or another hierarchy"


def value_differences(stored: Facts, asked: Facts, names: Sequence[str]) -> Iterator[str]:
    """The differences of these facts."""
    for name in names:
        if stored[name] != asked[name]:
            yield f"its {name} is {stored[name]}, not {asked[name]}"


def are_facts(found: Any) -> bool:
    """True if this has the form of `study_facts`: a damaged store may contain anything."""
    if not are_cells_facts(found):
        return False
    known = found.get("knowledge")
    return (
        isinstance(known, dict)
        and (are_list_of(known.get("known_sizes"), _is_count) or are_list_of(known.get("subsets"), are_texts))
        and is_number(found.get("true_hit_tolerance"))
    )


def are_cells_facts(found: Any) -> bool:
    """True if this has what every description of techniques × replicates has: data, techniques, seed, intruder."""
    if not isinstance(found, dict) or not isinstance(found.get("data"), dict):
        return False
    data = found["data"]
    return (
        isinstance(found.get("equivoc"), str)
        and isinstance(data.get("confidential"), str)
        and isinstance(data.get("kind"), str)
        and are_texts(data.get("keys"))
        and _is_count(data.get("records"), least=1)
        and are_texts(found.get("techniques"))
        and are_texts(found.get("once"))
        and _is_count(found.get("replicates"), least=1)
        and len(found["techniques"]) * found["replicates"] <= MOST_CELLS
        and _is_count(found.get("seed"))
        and are_texts([found.get("prior"), found.get("intruder")])
    )


def known_sizes(facts: Facts) -> tuple[int, ...]:
    """The numbers of known keys that every cell has figures for, ascending."""
    known = facts["knowledge"]
    return tuple(sorted(known["known_sizes"] if "known_sizes" in known else {*map(len, known["subsets"])}))


def are_list_of(found: Any, kind: Callable[[Any], bool]) -> bool:
    """True for a list whose items are all of this kind."""
    return isinstance(found, list) and all(map(kind, found))


def are_texts(found: Any) -> bool:
    """True for a list of texts."""
    return are_list_of(found, lambda text: isinstance(text, str))


def _is_count(found: Any, *, least: int = 0) -> bool:
    return is_whole(found) and found >= least
