"""The number of people in the population for each class of a file."""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from equivoc.data.classes import Classes
from equivoc.data.counting.class_of_records import class_of_records
from equivoc.data.microdata import Microdata, check_people
from equivoc.errors import InputError

FILE = "the file itself"
WEIGHTS = "the survey weights"
GIVEN = "the population given"


@dataclass(frozen=True, eq=False)
class Population:
    """The population counts of a file's classes, and their source."""

    sizes: NDArray[np.float64] = field(repr=False)
    """F: how many people of the population share each class's keys; never fewer than the file has."""
    source: str
    """The population given, the survey weights, or the file itself."""
    absent: int = 0
    """How many classes of the population nobody in the file belongs to (0 if that is not known)."""


def behind(classes: Classes, population: Microdata | None) -> Population:
    """The population of each class: counted in ``population``, else the weights' sums, else the class itself."""
    if population is not None:
        return counted(classes, population)
    if classes.people.weights is not None:
        return weighted(classes)
    return Population(classes.sizes.astype(np.float64), FILE)


def weighted(classes: Classes) -> Population:
    """Each class's sum of survey weights, and at least its records: a class cannot be larger than its population."""
    weights = classes.weights
    if weights is None:
        raise InputError("the people have no survey weights; name their column with Microdata(…, weights=…).")
    if weights.sum() < len(classes.people) * (1 - 1e-9):
        raise InputError(
            f"the survey weights sum to {weights.sum():g}, fewer than the {len(classes.people):,} records; "
            "give weights that sum to the size of the population."
        )
    return Population(np.maximum(weights, classes.sizes), WEIGHTS)


def counted(classes: Classes, population: Microdata) -> Population:
    """The records of ``population`` with the same key values; InputError unless they can include the file's."""
    check_people("population", population)
    for name in classes.known:
        if name not in population.keys:
            raise InputError(f"the population has no key {name!r}; name it among its keys.")
    everyone = population.classes(classes.known)
    places = {name: {v: at for at, v in enumerate(population.levels(name))} for name in classes.known}
    mapped = np.empty_like(classes.key_codes)
    for column, name in enumerate(classes.known):
        there = np.array([places[name].get(v, -1) for v in classes.people.levels(name)], np.int32)
        mapped[:, column] = there[classes.key_codes[:, column]]
    found = class_of_records(everyone.key_codes, list(np.maximum(mapped, 0).T), len(classes))
    found = np.minimum(found, len(everyone) - 1)
    present = np.all(everyone.key_codes[found] == mapped, axis=1)
    sizes = np.where(present, everyone.sizes[found], 0)
    short = np.flatnonzero(sizes < classes.sizes)
    if short.size:
        at = int(short[0])
        keys = (
            classes.people.levels(n)[c] for n, c in zip(classes.known, classes.key_codes[at], strict=True)
        )
        who = (
            ", ".join(f"{name} {key!r}" for name, key in zip(classes.known, keys, strict=True)) or "everyone"
        )
        raise InputError(
            f"the file has {classes.sizes[at]} of the people with {who}, the population {sizes[at]}; "
            "give a population that includes the people of the file."
        )
    return Population(sizes.astype(np.float64), GIVEN, len(everyone) - len(classes))
