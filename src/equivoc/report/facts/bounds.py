"""The range of the confidential attribute for publication: never one person's value."""

from __future__ import annotations

from decimal import ROUND_CEILING, ROUND_FLOOR, Decimal
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

if TYPE_CHECKING:
    from equivoc.attributes.attribute import Attribute
    from equivoc.data.microdata import Microdata

FEWEST_PEOPLE = 3
"""Three is the usual threshold of official statistics for a figure that may be shown."""
SHARE = 0.01
DIGITS = 2


class Bounds(NamedTuple):
    """The range of the values that may be shown."""

    low: float
    high: float
    exact: bool
    """True if these are the ends of the domain; otherwise they are rounded percentiles."""


def shown_bounds(people: Microdata) -> Bounds | None:
    """The ends of a domain that was given, or of values that were rounded; otherwise the 1st and 99th percentile,
    rounded outward to two digits, each with at least three people at or beyond it. None if there are too few people, or
    for categories.
    """
    values = people.values
    if not people.attribute.numeric:
        return None
    if people.domain_given or people.rounded:
        return Bounds(float(values[0]), float(values[-1]), exact=True)
    beyond = max(FEWEST_PEOPLE, int(np.ceil(SHARE * len(people))))
    if len(people) < 2 * FEWEST_PEOPLE:
        return None
    codes = np.partition(people.codes, [beyond - 1, len(people) - beyond])
    low, high = values[codes[beyond - 1]], values[codes[len(people) - beyond]]
    return Bounds(_outward(float(low), ROUND_FLOOR), _outward(float(high), ROUND_CEILING), exact=False)


def tells_no_value(attribute: Attribute, bounds: Bounds | None) -> bool:
    """True if distances in the domain disclose no person's value: categories, or the ends of the domain are shown."""
    return not attribute.numeric or (bounds is not None and bounds.exact)


def _outward(value: float, rounding: str) -> float:
    """The value to two significant digits, in one direction.

    >>> _outward(123.4, ROUND_CEILING), _outward(-0.0456, ROUND_FLOOR), _outward(0, ROUND_FLOOR)
    (130.0, -0.046, 0.0)
    """
    number = Decimal(repr(value))
    if not number:
        return 0.0
    step = Decimal(1).scaleb(number.adjusted() - DIGITS + 1)
    return float((number / step).to_integral_value(rounding) * step)
