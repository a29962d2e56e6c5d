"""Studies and comparisons described without any value of the data, and whether two can share a folder."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import Any

from equivoc.checks import is_number, is_whole
from equivoc.data.fingerprint import Facts, data_differences, data_facts, value_differences
from equivoc.data.microdata import Microdata
from equivoc.experiments.cell import true_hit_tolerance
from equivoc.requests.question import MOST_CELLS
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
    participation: str | float,
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
        **({} if participation == "known" else {"participation": participation}),
        "hit_eps": hit_eps,
        "require": list(require),
        "utility": utility,
    }


def comparison_differences(stored: Facts, asked: Facts, same_data: bool) -> Iterator[str]:
    """The reasons why the stored cells cannot be used, each as a clause of a sentence.

    Techniques, replicates, requirements and the measure of utility may differ.
    """
    yield from data_differences(stored, asked, same_data)
    if stored["known"] != asked["known"]:
        yield f"its intruder knows {stored['known'] or 'no key'}, not {asked['known'] or 'no key'}"
    there, here = (facts.get("participation", "known") for facts in (stored, asked))
    if there != here:
        yield f"its participation is {there}, not {here}"
    if stored["hit_eps"] != asked["hit_eps"]:
        yield f"its tolerance of hits is {stored['hit_eps']:g}, not {asked['hit_eps']:g}"
    yield from value_differences(stored, asked, SAME)


def are_comparison_facts(found: Any) -> bool:
    """True if this has the form of `comparison_facts`: a damaged store may contain anything."""
    return (
        are_cells_facts(found)
        and are_texts(found.get("known"))
        and is_number(found.get("hit_eps"))
        and are_texts(found.get("require"))
        and isinstance(found.get("utility"), str)
    )


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


def study_differences(stored: Facts, asked: Facts, same_data: bool) -> Iterator[str]:
    """The reasons why the stored cells cannot be used for the requested study, each as a clause of a sentence.

    Techniques and replicates may differ: a cell does not depend on other cells.

    >>> data = {"confidential": "pay", "kind": "number", "keys": ["sex"], "records": 4}
    >>> one = {"equivoc": "1", "data": data, "knowledge": {}, "seed": 0, "prior": "marginal", "intruder": "paper"}
    >>> list(study_differences(one, {**one, "seed": 7}, True))
    ['its seed is 0, not 7']
    """
    yield from data_differences(stored, asked, same_data)
    for name in ("known_sizes", "subsets"):
        there, here = stored["knowledge"].get(name), asked["knowledge"].get(name)
        if there != here:
            yield f"its {name} are {there or 'not given'}, not {here or 'not given'}"
    yield from value_differences(stored, asked, ("seed", "prior", "intruder"))


def are_study_facts(found: Any) -> bool:
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
        and _is_count(data.get("left_out", 0))
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
