"""Numbers of the confidential attribute: parse, round, and locate them in the domain."""

from __future__ import annotations

import sys
from collections.abc import Iterable, Mapping
from decimal import Decimal, InvalidOperation
from itertools import islice, pairwise
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from equivoc.attributes.written_values import are_dates, are_missing_words, are_numbers, are_other_numbers
from equivoc.checks import is_number
from equivoc.errors import InputError
from equivoc.text import exact

if TYPE_CHECKING:
    import pyarrow as pa

Floats = NDArray[np.float64]
# Values this close (relatively) to a member of the domain, or to a half, count as equal to it: 0.1 · 3 is not 0.3
# exactly.
_CLOSE = 8 * np.finfo(np.float64).eps
LONGEST_DOMAIN = 1_000_000
"""The most values that a given domain may have."""
_DOMAIN = "a list of numbers, such as range(10, 260, 10)"


GIVE_NUMBERS = "give numbers only"


class Misfit(NamedTuple):
    """Levels that cannot be used, and the reason; the caller adds the row."""

    levels: NDArray[np.int64]
    why: str
    advice: str = GIVE_NUMBERS
    """What to do about it."""
    all_are: str = ""
    """What all these levels are, after a number of values: "are not numbers"; "" if their number is not said."""
    examples: NDArray[np.int64] | None = None
    """The levels of which one is shown; None: all of them."""


NO_NUMBER = "is not a number"
NO_NUMBERS = "are not numbers"
IS_DATE = "is a date or time, not a number"
OTHER_NOTATION = "is not a number in this notation (write 1234.5, not 1.234,5 or 1,234.5)"
DECLARE = "declare it as categories (Categories in Python, --categories in a command)"
DATE_ADVICE = f"write dates as 2020-01-31, or give numbers, such as the days since a date, or {DECLARE}"
MISSING_ADVICE = (
    "if it stands for a missing value, leave these fields empty, and the rows out with drop_missing=True; if it is a "
    f"value of its own, {DECLARE}"
)

_INFINITY = r"(?i)^[+-]?inf(inity)?$"
_LARGEST = 1e150
"""The largest size of a value: squares of differences, and sums of many of them, must be finite."""


def as_numbers(levels: pa.Array, *, name: str, step: float | None = None) -> Floats | Misfit:
    """The levels (none of them null) as finite floats, or a Misfit with those that are not numbers.

    Different numbers that become the same float are rejected, unless they are rounded to a coarser ``step``.

    >>> import pyarrow as pa
    >>> as_numbers(pa.array(["10", "x"]), name="salary").why
    'is not a number'
    >>> as_numbers(pa.array([2**53, 2**53 + 1]), name="salary").why
    'cannot be distinguished from 9007199254740992 in double precision'
    """
    import pyarrow as pa
    import pyarrow.compute as pc

    kind = levels.type
    if pa.types.is_null(kind):
        return np.empty(0)
    if pa.types.is_string(kind) or pa.types.is_large_string(kind):
        texts = pc.utf8_trim_whitespace(levels)
        infinite = _where(pc.match_substring_regex(texts, _INFINITY))
        if infinite.size:
            return Misfit(infinite, "is infinite")
        words = _words(texts)
        if words is not None:
            return words
        levels = pc.utf8_ltrim(texts, characters="+")
    elif pa.types.is_boolean(kind):
        levels = pc.cast(levels, pa.int8())
    elif is_temporal(kind):
        return Misfit(np.arange(len(levels)), IS_DATE, DATE_ADVICE)
    elif not (pa.types.is_integer(kind) or pa.types.is_floating(kind) or pa.types.is_decimal(kind)):
        raise InputError(f"the confidential column {name!r} contains {kind} values: it must contain numbers")
    numbers: Floats = pc.cast(levels, pa.float64(), safe=False).to_numpy(zero_copy_only=False)
    infinite = np.flatnonzero(np.isinf(numbers))
    if infinite.size:
        # Text can contain a number too large for a float.
        return Misfit(infinite, "is infinite" if pa.types.is_floating(kind) else "is too large")
    large = np.flatnonzero(np.abs(numbers) > _LARGEST)
    if large.size:
        return Misfit(large, f"is larger than {_LARGEST:g}, the most that is measured", "use a larger unit")
    return _merged(levels, numbers, step) or numbers + 0.0


def _words(texts: pa.Array) -> Misfit | None:
    """The texts that are not numbers, and what to do about them; None if all are numbers."""
    no_number = ~are_numbers(texts)
    if not no_number.any():
        return None
    levels, missing = np.flatnonzero(no_number), are_missing_words(texts)
    for which, why, advice in (
        (are_other_numbers(texts), OTHER_NOTATION, GIVE_NUMBERS),
        (are_dates(texts), IS_DATE, DATE_ADVICE),
    ):
        if which.any():
            return Misfit(levels, why, advice, NO_NUMBERS, np.flatnonzero(which))
    only_missing = bool(np.all(missing[levels]))
    return Misfit(levels, NO_NUMBER, MISSING_ADVICE if only_missing else GIVE_NUMBERS, NO_NUMBERS)


def _merged(levels: pa.Array, numbers: Floats, step: float | None) -> Misfit | None:
    """The first level that differs from an earlier one but becomes the same float."""
    import pyarrow as pa

    if pa.types.is_floating(levels.type) or np.unique(numbers).size == numbers.size:
        return None
    order = np.argsort(numbers, kind="stable")
    for one, other in pairwise(order):
        if numbers[one] != numbers[other] or (step is not None and np.spacing(abs(numbers[one])) < step):
            continue
        first, second = levels[int(one)].as_py(), levels[int(other)].as_py()
        if not _equal(first, second):
            why = f"cannot be distinguished from {_shortened(first)} in double precision"
            return Misfit(np.array([other]), why, "round them in the table, or coarsely with round_to")
    return None


def _equal(one: Any, other: Any) -> bool:
    try:
        return Decimal(one) == Decimal(other)
    except InvalidOperation:  # an exponent out of range
        return False


def _shortened(value: Any) -> str:
    text = str(value)
    return text if len(text) <= 40 else f"{text[:40]}…"


def may_be_numbers(kind: pa.DataType) -> bool:
    """True if a column of this type can hold numbers: a numeric type, text, or only nulls."""
    import pyarrow as pa

    types = pa.types
    text = types.is_string(kind) or types.is_large_string(kind) or types.is_null(kind)
    return bool(text or types.is_integer(kind) or types.is_floating(kind) or types.is_decimal(kind))


def is_temporal(kind: pa.DataType) -> bool:
    """True if a column of this type holds dates, times or spans of time."""
    import pyarrow as pa

    return bool(pa.types.is_temporal(kind))


def _where(mask: pa.Array) -> NDArray[np.int64]:
    return np.flatnonzero(mask.to_numpy(zero_copy_only=False))


def check_step(round_to: float | None) -> None:
    if round_to is None:
        return
    if isinstance(round_to, bool) or not isinstance(round_to, (int, float, np.integer, np.floating)):
        raise InputError(f"round_to must be a number, not {round_to!r}")
    if not sys.float_info.min <= round_to <= sys.float_info.max:
        raise InputError(f"round_to must be a finite number above 0, not {_shortened(round_to)}")


def round_half_up(numbers: Floats, step: float) -> Floats:
    """Each number's nearest multiple of ``step``; a half goes up.

    >>> round_half_up(np.array([4.0, 5.0, -5.0, 15.0]), 10)
    array([ 0., 10.,  0., 20.])
    >>> round_half_up(np.array([0.15]), 0.1)
    array([0.2])
    """
    largest = float(np.max(np.abs(numbers), initial=0.0))
    if largest / step >= 2.0**53:  # every float of this size is a multiple
        raise InputError(f"round_to is {exact(step)}, which is too small for values such as {exact(largest)}")
    return multiples(whole_steps(numbers, step, plus=0.5), step)


def whole_steps(numbers: Floats, step: float, *, plus: float = 0.0) -> Floats:
    """⌊number/step + plus⌋; a quotient within rounding of a whole number counts as that number."""
    quotient = numbers / step
    return np.asarray(np.floor(quotient + plus + _CLOSE * np.maximum(np.abs(quotient), 1.0)))


def multiples(steps: Floats, step: float) -> Floats:
    """``steps`` · ``step`` without the rounding error of decimals: 3 / 10 is 0.3, 3 · 0.1 is not."""
    inverse = round(1 / step) if step <= 1 else 0
    exact = inverse > 0 and abs(inverse * step - 1) < 1e-12
    return (steps / inverse if exact else steps * step) + 0.0


def as_domain(domain: Iterable[Any]) -> Floats:
    """The caller's domain, ascending and without repeats; too long a domain is rejected before it uses memory."""
    if isinstance(domain, (str, bytes, Mapping)):
        raise InputError(f"domain must be {_DOMAIN}, not {_shortened(repr(domain))}")
    try:
        given = list(islice(domain, LONGEST_DOMAIN + 1))
        values = np.asarray(given[:LONGEST_DOMAIN], dtype=np.float64)
    except (TypeError, ValueError):
        raise InputError(f"domain must be {_DOMAIN}") from None
    except OverflowError:
        raise InputError("domain must contain finite numbers, but one of its entries is too large") from None
    if len(given) > LONGEST_DOMAIN:
        raise InputError(f"domain must have at most {LONGEST_DOMAIN:,} values: give fewer")
    if values.ndim != 1 or values.size == 0 or any(isinstance(entry, str) for entry in given):
        raise InputError("domain must be a list of at least one number, such as range(10, 260, 10)")
    wrong = np.flatnonzero(~np.isfinite(values))
    if wrong.size:
        raise InputError(
            f"domain must contain finite numbers, but its entry {wrong[0]} is {values[wrong[0]]}"
        )
    large = np.flatnonzero(np.abs(values) > _LARGEST)
    if large.size:
        raise InputError(
            f"domain holds {values[large[0]]:g}, larger than {_LARGEST:g}, the most that is measured: use a larger unit"
        )
    distinct = np.unique(values + 0.0)
    if np.any(np.abs(values) >= 2.0**53) and len(set(given)) > distinct.size:
        raise InputError(
            "domain has different numbers that are equal in double precision: give numbers below 2**53"
        )
    return distinct


def even_domain(low: float, high: float, step: float, *, most: int = LONGEST_DOMAIN) -> Floats:
    """The values from ``low`` to ``high`` in steps; an invalid domain is rejected before it uses memory.

    >>> even_domain(10, 50, 20)
    array([10., 30., 50.])
    >>> even_domain(0.1, 0.3, 0.1).tolist()
    [0.1, 0.2, 0.3]
    """
    for name, given in (("low", low), ("high", high), ("step", step)):
        if not is_number(given) or not abs(given) <= sys.float_info.max:
            said = _shortened(repr(given))
            raise InputError(f"domain: {name} is {said}; low, high and step must be finite numbers.")
    low, high, step = float(low), float(high), float(step)
    said = f"domain: from {exact(low)} to {exact(high)} in steps of {exact(step)}"
    if step <= 0 or high < low:
        raise InputError(
            f"{said} is not a list of values: give low:high:step with a step above 0, such as 10:250:10."
        )
    steps = (high - low) / step
    if not steps < most:
        raise InputError(f"{said} has more than {most:,} values: give a larger step.")
    count = int(steps + 1e-9) + 1
    first = round(low / step) if abs(low / step) < 2.0**53 else 0
    on_grid = abs(first * step - low) <= _CLOSE * abs(low)
    at = np.arange(count, dtype=np.float64)
    values: Floats = multiples(first + at, step) if on_grid else low + step * at
    if count > 1 and not np.all(np.diff(values) > 0):
        raise InputError(f"{said} has values that are equal in double precision: give a larger step.")
    return values


def nearest_places(numbers: Floats, domain: Floats) -> NDArray[np.int64]:
    """The position in the domain of the value nearest to each number; of two equally near, the lower.

    >>> nearest_places(np.array([-3.0, 15.0, 15.1, 99.0]), np.array([10.0, 20.0])).tolist()
    [0, 0, 1, 1]
    """
    right = np.clip(np.searchsorted(domain, numbers), 1, max(domain.size - 1, 1))
    nearer = numbers - domain[right - 1] <= np.abs(domain[np.minimum(right, domain.size - 1)] - numbers)
    return np.minimum(np.where(nearer, right - 1, right), domain.size - 1)


def place(numbers: Floats, domain: Floats) -> NDArray[np.int32] | Misfit:
    """Each number's position in the domain, or a Misfit with those that are not in it."""
    at = nearest_places(numbers, domain)
    outside = np.flatnonzero(np.abs(domain[at] - numbers) > _CLOSE * np.abs(numbers))
    if outside.size:
        return Misfit(outside, "is not in the domain")
    return at.astype(np.int32)
