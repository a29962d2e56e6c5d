"""The equivalence classes of a measure: people with equal values of the known keys."""

from __future__ import annotations

from collections.abc import Sequence

from equivoc.data.classes import Classes
from equivoc.data.microdata import Microdata, check_people

Known = Sequence[str] | None
"""The keys that the intruder knows; None: all of them."""


def known_classes(people: Microdata, known: Known) -> Classes:
    """The classes of people who agree on the ``known`` keys; counted once for all measures."""
    check_people("people", people)
    return people.classes(known)
