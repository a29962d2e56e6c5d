"""The classes that a measure looks at: people who agree on the keys that an intruder knows."""

from __future__ import annotations

from collections.abc import Sequence

from equivoc.data.classes import Classes
from equivoc.data.microdata import Microdata
from equivoc.errors import InputError

Known = Sequence[str] | None
"""The keys that the intruder knows; None: all of them."""


def check_people(name: str, given: object) -> None:
    """InputError unless ``given`` is Microdata."""
    if not isinstance(given, Microdata):
        raise InputError(
            f"{name} is a {type(given).__name__}; make people of it with eq.Microdata(…, confidential=…, keys=[…])."
        )


def known_classes(people: Microdata, known: Known) -> Classes:
    """The classes of people who agree on the ``known`` keys; counted once, however many measures ask for them."""
    check_people("people", people)
    return people.classes(people.keys if known is None else known)
