"""One row of the table of measures."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from equivoc.data.classes import Classes
from equivoc.data.microdata import Microdata, check_people


class Measure(NamedTuple):
    """One figure and its sentence."""

    measure: str
    value: float
    meaning: str


# The equivalence classes of a measure: people with equal values of the known keys.

Known = Sequence[str] | None
"""The keys that the intruder knows; None: all of them."""


def known_classes(people: Microdata, known: Known) -> Classes:
    """The classes of people who agree on the ``known`` keys; counted once for all measures."""
    check_people("people", people)
    return people.classes(known)
