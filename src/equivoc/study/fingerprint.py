"""What a study is made of, as plain data: two studies that agree in it have the same results."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from hashlib import sha256
from typing import Any

from numpy.typing import NDArray

from equivoc.data.microdata import Microdata
from equivoc.techniques.technique import Technique
from equivoc.version import __version__

Facts = dict[str, Any]


def data_facts(people: Microdata) -> Facts:
    """The roles, the domain, and a hash of each column's values in row order.

    >>> import pandas as pd
    >>> frame = pd.DataFrame({"sex": ["F", "M"], "pay": [10, 20]})
    >>> data_facts(Microdata(frame, confidential="pay", keys=["sex"]))["records"]
    2
    """
    columns = {key: _hash(map(repr, people.levels(key)), people.key_codes(key)) for key in people.keys}
    columns[people.confidential] = _hash((), people.codes)
    return {
        "records": len(people),
        "confidential": people.confidential,
        "keys": list(people.keys),
        "domain": people.values.tolist(),
        "columns": columns,
    }


def study_facts(
    people: Microdata, techniques: Sequence[Technique], knowledge: Facts, *, replicates: int, seed: int
) -> Facts:
    """Everything that a study's results depend on."""
    contents = {each.notation: each.content for each in techniques if each.content is not None}
    return {
        "equivoc": __version__,
        "data": data_facts(people),
        "techniques": [technique.notation for technique in techniques],
        "contents": contents,
        "knowledge": knowledge,
        "replicates": replicates,
        "seed": seed,
    }


def differences(stored: Facts, asked: Facts) -> Iterator[str]:
    """What the store has that differs from what is asked for, each as half a sentence.

    >>> one = {"equivoc": "1", "data": {}, "techniques": [], "knowledge": {}, "replicates": 30, "seed": 0}
    >>> list(differences(one, {**one, "seed": 7}))
    ['its seed is 0, not 7']
    """
    if stored["equivoc"] != asked["equivoc"]:
        yield f"it was made by equivoc {stored['equivoc']}, not {asked['equivoc']}"
    yield from _data_differences(stored["data"], asked["data"])
    yield from _technique_differences(stored["techniques"], asked["techniques"])
    there = stored.get("contents", {})
    for notation, content in asked.get("contents", {}).items():
        if there.get(notation, content) != content:
            yield f"what {notation} names has changed"
    for name in ("known_sizes", "subsets"):
        there, here = stored["knowledge"].get(name), asked["knowledge"].get(name)
        if there != here:
            yield f"its {name} are {there or 'not given'}, not {here or 'not given'}"
    for name in ("replicates", "seed"):
        if stored[name] != asked[name]:
            yield f"its {name} {'is' if name == 'seed' else 'are'} {stored[name]}, not {asked[name]}"


def _data_differences(stored: Facts, asked: Facts) -> Iterator[str]:
    if stored == asked:
        return
    same_columns = True
    for name, what in (("confidential", "confidential column"), ("keys", "keys")):
        if stored[name] != asked[name]:
            same_columns = False
            verb = "is" if name == "confidential" else "are"
            yield f"its {what} {verb} {stored[name]}, not {asked[name]}"
    if stored["records"] != asked["records"]:
        yield f"its data have {stored['records']:,} records, not {asked['records']:,}"
    elif stored["domain"] != asked["domain"]:
        yield f"its domain is {_span(stored['domain'])}, not {_span(asked['domain'])}"
    elif same_columns:
        other = [name for name in asked["columns"] if stored["columns"].get(name) != asked["columns"][name]]
        yield f"its data hold other values in {', '.join(map(repr, other))}"


def _technique_differences(stored: list[str], asked: list[str]) -> Iterator[str]:
    """Their order does not matter: a cell is the same whatever stands before it."""
    lacking = [notation for notation in asked if notation not in stored]
    extra = [notation for notation in stored if notation not in asked]
    if lacking:
        yield f"its techniques lack {', '.join(lacking)}"
    if extra:
        yield f"its techniques have {', '.join(extra)} as well"


def _span(domain: list[float]) -> str:
    return f"{len(domain)} values from {domain[0]:g} to {domain[-1]:g}"


def _hash(levels: Iterable[str], codes: NDArray[Any]) -> str:
    found = sha256()
    for level in levels:
        found.update(level.encode() + b"\0")
    found.update(codes.astype("<i4").tobytes())
    return found.hexdigest()
