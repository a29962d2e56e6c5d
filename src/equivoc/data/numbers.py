"""The confidential attribute's numbers: read, rounded, and placed in their domain."""

from __future__ import annotations

import math
from collections.abc import Iterable
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from equivoc.errors import InputError

if TYPE_CHECKING:
    import pyarrow as pa

Floats = NDArray[np.float64]
# Values this close (relatively) to a member of the domain, or to a half, are taken for it: 0.1 · 3 is not 0.3
# exactly.
_CLOSE = 8 * np.finfo(np.float64).eps


class Misfit(NamedTuple):
    """Levels that cannot be used, and why; whoever knows the rows says where they stand."""

    levels: NDArray[np.int64]
    why: str


# What a number looks like; "inf" and "nan" are words.
_NUMBER = r"^[+-]?(\d+\.?\d*|\.\d+)([eE][+-]?\d+)?$"
_INFINITY = r"^[+-]?[iI][nN][fF]"


def as_numbers(levels: pa.Array, *, name: str) -> Floats | Misfit:
    """The levels (none of them null) as finite floats, or those that are none.

    >>> import pyarrow as pa
    >>> as_numbers(pa.array(["10", "x"]), name="salary")
    Misfit(levels=array([1]), why='is not a number')
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
        words = _where(pc.invert(pc.match_substring_regex(texts, _NUMBER)))
        if words.size:
            return Misfit(words, "is not a number")
        levels = pc.utf8_ltrim(texts, characters="+")
    elif pa.types.is_boolean(kind):
        levels = pc.cast(levels, pa.int8())
    elif not (pa.types.is_integer(kind) or pa.types.is_floating(kind) or pa.types.is_decimal(kind)):
        raise InputError(f"the confidential column {name!r} holds {kind} values: it must hold numbers")
    numbers: Floats = pc.cast(levels, pa.float64(), safe=False).to_numpy(zero_copy_only=False)
    infinite = np.flatnonzero(np.isinf(numbers))
    return Misfit(infinite, "is infinite") if infinite.size else numbers + 0.0


def _where(mask: pa.Array) -> NDArray[np.int64]:
    return np.flatnonzero(mask.to_numpy(zero_copy_only=False))


def check_step(round_to: float | None) -> None:
    if round_to is None:
        return
    if isinstance(round_to, bool) or not isinstance(round_to, (int, float, np.integer, np.floating)):
        raise InputError(f"round_to must be a number, not {round_to!r}")
    if not (math.isfinite(round_to) and round_to > 0):
        raise InputError(f"round_to must be a finite number above 0, not {round_to}")


def round_half_up(numbers: Floats, step: float) -> Floats:
    """Each number's nearest multiple of ``step``; a half goes up.

    >>> round_half_up(np.array([4.0, 5.0, -5.0, 15.0]), 10)
    array([ 0., 10.,  0., 20.])
    >>> round_half_up(np.array([0.15]), 0.1)
    array([0.2])
    """
    return multiples(whole_steps(numbers, step, plus=0.5), step)


def whole_steps(numbers: Floats, step: float, *, plus: float = 0.0) -> Floats:
    """⌊number/step + plus⌋; a quotient that misses a whole number by rounding alone is taken for it."""
    quotient = numbers / step
    return np.asarray(np.floor(quotient + plus + _CLOSE * np.maximum(np.abs(quotient), 1.0)))


def multiples(steps: Floats, step: float) -> Floats:
    """So many steps, as one writes them: 3 / 10 is 0.3, 3 · 0.1 is not."""
    inverse = round(1 / step) if step <= 1 else 0
    exact = inverse > 0 and abs(inverse * step - 1) < 1e-12
    return (steps / inverse if exact else steps * step) + 0.0


def as_domain(domain: Iterable[Any]) -> Floats:
    """The caller's domain, ascending and without repetitions."""
    try:
        values = np.asarray(list(domain), dtype=np.float64)
    except (TypeError, ValueError):
        raise InputError("domain must be a list of numbers, such as range(10, 260, 10)") from None
    if values.ndim != 1 or values.size == 0:
        raise InputError("domain must be a list of at least one number, such as range(10, 260, 10)")
    wrong = np.flatnonzero(~np.isfinite(values))
    if wrong.size:
        raise InputError(f"domain must hold finite numbers, but its entry {wrong[0]} is {values[wrong[0]]}")
    return np.unique(values + 0.0)


def nearest_places(numbers: Floats, domain: Floats) -> NDArray[np.int64]:
    """The position in the domain of the value nearest to each number; of two equally near, the lower.

    >>> nearest_places(np.array([-3.0, 15.0, 15.1, 99.0]), np.array([10.0, 20.0])).tolist()
    [0, 0, 1, 1]
    """
    right = np.clip(np.searchsorted(domain, numbers), 1, max(domain.size - 1, 1))
    nearer = numbers - domain[right - 1] <= np.abs(domain[np.minimum(right, domain.size - 1)] - numbers)
    return np.minimum(np.where(nearer, right - 1, right), domain.size - 1)


def place(numbers: Floats, domain: Floats) -> NDArray[np.int32] | Misfit:
    """Each number's position in the domain, or those that are not in it."""
    at = nearest_places(numbers, domain)
    outside = np.flatnonzero(np.abs(domain[at] - numbers) > _CLOSE * np.abs(numbers))
    if outside.size:
        return Misfit(outside, "is not in the domain")
    return at.astype(np.int32)
