"""A comparison's description without any value of the data, and the test whether two can share a folder."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

from equivoc.arguments import is_number
from equivoc.data.microdata import Microdata
from equivoc.study.fingerprint import (
    Facts,
    are_cells_facts,
    are_texts,
    data_differences,
    data_facts,
    value_differences,
)
from equivoc.techniques.technique import Technique
from equivoc.version import __version__

SAME = ("seed", "prior", "intruder")


def comparison_facts(
    people: Microdata,
    techniques: Sequence[Technique],
    *,
    known: Sequence[str],
    replicates: int,
    seed: int,
    prior: str,
    intruder: str,
    hit_eps: float,
    require: Sequence[str],
    utility: str,
) -> Facts:
    """The comparison as plain data that may be printed."""
    return {
        "equivoc": __version__,
        "data": data_facts(people),
        "techniques": [technique.notation for technique in techniques],
        "once": [technique.notation for technique in techniques if not technique.random],
        "known": list(known),
        "replicates": replicates,
        "seed": seed,
        "prior": prior,
        "intruder": intruder,
        "hit_eps": hit_eps,
        "require": list(require),
        "utility": utility,
    }


def differences(stored: Facts, asked: Facts, same_data: bool) -> Iterator[str]:
    """The reasons why the stored cells cannot be used, each as a clause of a sentence.

    Techniques, replicates, requirements and the measure of utility may differ.
    """
    yield from data_differences(stored, asked, same_data)
    if stored["known"] != asked["known"]:
        yield f"its intruder knows {stored['known'] or 'no key'}, not {asked['known'] or 'no key'}"
    if stored["hit_eps"] != asked["hit_eps"]:
        yield f"its tolerance of hits is {stored['hit_eps']:g}, not {asked['hit_eps']:g}"
    yield from value_differences(stored, asked, SAME)


def are_facts(found: Any) -> bool:
    """True if this has the form of `comparison_facts`: a damaged store may contain anything."""
    return (
        are_cells_facts(found)
        and are_texts(found.get("known"))
        and is_number(found.get("hit_eps"))
        and are_texts(found.get("require"))
        and isinstance(found.get("utility"), str)
    )
