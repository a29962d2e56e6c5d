"""Data described without any value: their columns, a keyed hash, and how two descriptions differ."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from hashlib import blake2b
from typing import Any

from equivoc.attributes.attribute import Nested
from equivoc.data.microdata import Microdata

Facts = dict[str, Any]


def data_facts(people: Microdata) -> Facts:
    """The columns, the number of records, and of rows left out for want of a value; no value."""
    return {
        "records": len(people),
        "left_out": people.dropped,
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


def data_differences(stored: Facts, asked: Facts, same_data: bool) -> Iterator[str]:
    """The differences of version and data."""
    if stored["equivoc"] != asked["equivoc"]:
        yield f"it was made by equivoc {stored['equivoc']}, not {asked['equivoc']}"
    there, here = stored["data"], asked["data"]
    if any(there[name] != here[name] for name in ("confidential", "kind", "keys", "records")):
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
