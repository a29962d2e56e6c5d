"""The useful range of a numeric parameter, which direction is safer, and the values to try in a range."""

from __future__ import annotations

from dataclasses import dataclass
from math import ceil, floor, isfinite, log10
from typing import Literal

from equivoc.checks import held
from equivoc.errors import InputError

STEPS = 100
"""A range that is not of whole numbers has about this many settings."""
MOST_SETTINGS = 100_000


@dataclass(frozen=True)
class Range:
    """The values of a numeric parameter that are worth trying.

    >>> Range(1, 100).values(1, 100)[:3]
    (1, 2, 3)
    >>> Range(0.1, 1).values(0.1, 1)[:4]
    (0.1, 0.11, 0.12, 0.13)
    >>> Range(0.1, 10, ratio=True, stronger="less").values(0.1, 10)[-3:]
    (9.1, 9.5, 10)
    """

    low: float
    """The lower end of the useful range, in ``unit``; a caller may go beyond it."""
    high: float
    stronger: Literal["more", "less"] = "more"
    """Whether a larger value protects more or less."""
    monotone: bool = True
    """True if protection grows with the parameter, up to the randomness of a release; False if it does on the whole
    but a stronger setting can be riskier than a milder one."""
    whole: bool = False
    """True if it must be a whole number."""
    step: float | None = None
    """The distance of values, where the technique demands one: 2 for even numbers."""
    ratio: bool = False
    """True if equal ratios matter rather than equal differences, as for a privacy budget."""
    unit: Literal["number", "share", "records", "value", "width"] = "number"
    """"share": of the records, at least one of them. "records": at most the number of people. "value", "width": ``low``
    and ``high`` are shares of the domain of the confidential attribute, to be turned into one of its values or a
    difference of values."""

    def values(
        self, low: float, high: float, step: float | None = None, *, name: str = "number"
    ) -> tuple[float, ...]:
        """The settings to choose from, ascending, both ends included.

        Whole steps if both ends are whole numbers more than 1 apart (for values of the attribute, also larger ones, so
        that there are about a hundred); otherwise hundredths of the range, rounded up to 1, 2 or 5 units of a decimal.
        For a budget, steps of about 5 %.
        """
        if not isfinite(high - low):
            raise InputError(f"{name}: the range from {low} to {high} is too wide; give a smaller one.")
        step = self.step if step is None else step
        if step is None and self.ratio and low > 0:
            return _by_ratio(low, high)
        if step is None:
            step = _round_step(high - low)
            if self.whole or (_whole(low) and _whole(high) and high - low > 1):
                step = max(1, step) if self.unit in ("value", "width") else 1
        if not step:  # the ends are equal, or as near as numbers can be
            return tuple(map(_plain, dict.fromkeys((low, high))))
        if (high - low) / step > MOST_SETTINGS:
            raise InputError(
                f"{name}: a step of {step} makes more than {MOST_SETTINGS:,} settings from {low} to {high}; "
                "give a larger step."
            )
        count = floor((high - low) / step * (1 + 1e-12) + 1e-9)
        digits = max(_decimals(low), _decimals(step))
        found = [round(low + i * step, digits) for i in range(count + 1)]
        if found[-1] < high and not self.step:
            found.append(high)
        return tuple(map(_plain, dict.fromkeys(found)))


def limits_in_words(
    *, above: float | None, at_least: float | None, below: float | None, at_most: float | None, whole: bool
) -> str:
    """The limits of a number in words.

    >>> limits_in_words(above=0, at_least=None, below=None, at_most=1, whole=False)
    'above 0 and at most 1'
    """
    kind = "a whole number" if whole else "a number"
    end = (
        ""
        if at_most is None and below is None
        else f"below {below}"
        if at_most is None
        else f"at most {at_most}"
    )
    if above is not None:
        return f"above {above} and {end}" if end else f"{kind} above {above}"
    if at_least is not None:
        return (
            f"from {at_least} to {end.removeprefix('at most ')}" if end else f"{kind} of {at_least} or more"
        )
    return kind if whole else "a finite number"


def _plain(number: float) -> float:
    """20.0 as 20: some parameters must be whole numbers, and both read alike."""
    return held(int(number)) if _whole(number) else float(number)


def _whole(number: float) -> bool:
    return float(number).is_integer()


def _round_step(apart: float) -> float:
    """A hundredth, rounded up to 1, 2 or 5 · 10^k.

    >>> _round_step(0.89), _round_step(1), _round_step(4500), _round_step(0)
    (0.01, 0.01, 50, 0)
    """
    if apart / STEPS < 1e-300:
        return 0
    power = floor(log10(apart / STEPS))
    first = apart / STEPS / 10.0**power
    digit = next(each for each in (1, 2, 5, 10) if first <= each * (1 + 1e-9))
    return _plain(round(digit * 10.0**power, max(0, -power)))


def _by_ratio(low: float, high: float) -> tuple[float, ...]:
    """From low to high by about 5 %, each with two significant digits."""
    begin, width = log10(low), log10(high) - log10(low)
    many = max(1, ceil(width * 50))
    inner = {float(f"{10 ** (begin + width * i / many):.2g}") for i in range(1, many)}
    return tuple(map(_plain, sorted({low, high, *(each for each in inner if low < each < high)})))


def _decimals(number: float) -> int:
    """How many decimals the shortest notation of a number has.

    >>> _decimals(0.25), _decimals(3), _decimals(1e-07)
    (2, 0, 7)
    """
    digits, _, power = repr(float(number)).partition("e")
    decimals = len(digits.partition(".")[2].rstrip("0"))
    return max(0, decimals - int(power or 0))
