"""A control group: people of the same population who are not in the data."""

from __future__ import annotations

from typing import Any

from equivoc.data.microdata import Microdata
from equivoc.errors import InputError


def control_people(people: Microdata, control: Any) -> Microdata:
    """The control group as Microdata, read like the people's table."""
    try:
        if not isinstance(control, Microdata):
            return people.alike(control)
        if control.several:
            return control_people(people, control.of(people.confidential))
        if control.confidential != people.confidential:
            raise InputError(
                f"its confidential column is {control.confidential!r}, not {people.confidential!r}"
            )
        lacking = [key for key in people.keys if key not in control.keys]
        if lacking:
            raise InputError(f"it lacks the key {lacking[0]!r}")
        people.check_rounded_alike(control)
    except InputError as mistake:
        raise InputError(f"the control group cannot be used: {mistake}") from None
    return control
