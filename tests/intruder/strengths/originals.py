"""The informed intruder's posteriors by enumeration of every original of a few people.

A priori each person's keys follow their shares in the file and her value follows the prior, all independently. Each
original counts with that probability times the one that it gives the release. Only originals count in which the number
of people with the known keys is the true one.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from itertools import permutations, product
from math import prod
from typing import Any

import numpy as np
import pyarrow as pa

from equivoc.data.microdata import Microdata

Originals = list[tuple[list[tuple[Any, ...]], float]]
"""Records (keys, then the value), and how likely they gave the release: P(release | original)."""
Chance = Callable[[str, Any, Any], float]
"""Of a column, a true level and a shown one: P(shown | true)."""


def independent(people: Microdata, shown: dict[str, list[Any]], chance: Chance) -> Originals:
    """Every original, if each value of each record is changed on its own."""
    names = (*people.keys, people.confidential)
    levels = [[*people.levels(key)] for key in people.keys] + [people.values.tolist()]
    choices = []
    for record in range(len(people)):
        of_record = []
        for person in product(*levels):
            weight = prod(
                chance(name, true, shown[name][record]) for name, true in zip(names, person, strict=True)
            )
            if weight > 0:
                of_record.append((person, weight))
        choices.append(of_record)
    return [([person for person, _ in each], prod(w for _, w in each)) for each in product(*choices)]


def swapped(
    people: Microdata, shown: dict[str, list[Any]], *, on: Sequence[str], taking_part: int
) -> Originals:
    """Every original, if ``taking_part`` records exchange each column of ``on`` in pairs drawn evenly."""
    names = (*people.keys, people.confidential)
    found = []
    exchanges = list(pairings(len(people), taking_part))
    for chosen in product(exchanges, repeat=len(on)):
        columns = {name: list(shown[name]) for name in names}
        for name, partner in zip(on, chosen, strict=True):
            columns[name] = [shown[name][r] for r in partner]
        found.append((list(zip(*columns.values(), strict=True)), 1.0))
    return found


def pairings(records: int, taking_part: int) -> set[tuple[int, ...]]:
    """Each record's partner (itself: none), in every way to pair this many records."""
    found = set()
    for order in permutations(range(records), taking_part):
        partner = list(range(records))
        for one, other in zip(order[::2], order[1::2], strict=True):
            partner[one], partner[other] = other, one
        found.add(tuple(partner))
    return found


def released_alike(technique: Any, release: Any, people: Microdata) -> Originals:
    """Every original of which a technique that is not random makes the same release."""
    names = (*people.keys, people.confidential)
    shown = release.table.to_pydict()
    true = {name: people.decode(name, codes_of(people, name)).to_pylist() for name in names}
    choices = []
    for name in names:
        levels = people.values.tolist() if name == people.confidential else people.levels(name)
        same = shown[name] == true[name]
        choices.append([tuple(true[name])] if same else list(product(levels, repeat=len(people))))
    found = []
    for columns in product(*choices):
        table = dict(zip(names, columns, strict=True))
        if not could_be(people, shown, table):
            continue
        candidate = Microdata(
            pa.table(table), confidential=people.confidential, keys=people.keys, domain=people.values
        )
        again = technique.release(candidate)
        if again.table.to_pydict() == shown and np.array_equal(group(again), group(release)):
            found.append((list(zip(*columns, strict=True)), 1.0))
    return found


def group(release: Any) -> Any:
    """Who is in which group, if the release says so, the groups numbered by their first members."""
    of = getattr(release, "group", np.zeros(1))
    first = {g: r for r, g in reversed(list(enumerate(of)))}
    return [first[g] for g in of]


def could_be(people: Microdata, shown: dict[str, list[Any]], table: dict[str, Any]) -> bool:
    """A quick test: numbers have the mean that is shown, other symbols cover the level; every level occurs."""
    for name in (*people.keys, people.confidential):
        if name in people.keys and set(table[name]) != set(people.levels(name)):
            return False
        if all(isinstance(x, (int, float)) for x in (*table[name], *shown[name])):
            if abs(sum(table[name]) - sum(shown[name])) > 1e-6:
                return False
        elif any(not reads(s, x) for x, s in zip(table[name], shown[name], strict=True)):
            return False
    return True


def reads(shown: Any, level: Any) -> bool:
    """True if the symbol is the level, or a range, a set or a star."""
    return shown is None or str(shown) == str(level) or str(shown)[0] in "[{*"


def codes_of(people: Microdata, name: str) -> Any:
    return people.codes if name == people.confidential else people.key_codes(name)


def posterior(
    people: Microdata, originals: Originals, known: dict[str, Any], prior: Sequence[float]
) -> np.ndarray:
    """The share of each value among the people with these keys, over the originals in which there are as many."""
    names = [*people.keys, people.confidential]
    shares = []
    for key in people.keys:
        counts = np.bincount(people.key_codes(key)) / len(people)
        shares.append(dict(zip(people.levels(key), counts, strict=True)))
    shares.append(dict(zip(people.values.tolist(), prior, strict=True)))
    places = {names.index(key): value for key, value in known.items()}
    true = list(
        zip(*([people.levels(key)[c] for c in people.key_codes(key)] for key in people.keys), strict=True)
    )
    size = sum(all(person[at] == value for at, value in places.items()) for person in true)
    values = people.values.tolist()
    found = np.zeros(len(values))
    for records, weight in originals:
        alike = [person[-1] for person in records if all(person[at] == v for at, v in places.items())]
        if len(alike) != size:
            continue
        weight = weight * prod(shares[at][x] for person in records for at, x in enumerate(person))
        for value in alike:
            found[values.index(value)] += weight
    return found / found.sum()


def apart(
    release: Any, originals: Originals, known: Sequence[str], prior: Sequence[float], intruder: str
) -> np.ndarray:
    """Of each class, the total variation distance of the release's posterior from the enumeration's."""
    people = release.people
    post = release.posteriors(known, prior=prior, intruder=intruder)
    found = []
    for row, codes in zip(np.asarray(post.probabilities), post.classes.key_codes, strict=True):
        values = {key: people.levels(key)[code] for key, code in zip(known, codes, strict=True)}
        found.append(np.abs(row - posterior(people, originals, values, prior)).sum() / 2)
    return np.array(found)
