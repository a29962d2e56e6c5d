"""A technique's own description of a numeric parameter: its useful range, and which direction is safer."""

from __future__ import annotations

from dataclasses import dataclass
from math import ceil, floor, isfinite, log10
from typing import Literal

from equivoc.data.microdata import Microdata
from equivoc.errors import InputError

STEPS = 100
"""A range that is not of whole numbers has about this many settings."""
MOST_SETTINGS = 100_000


@dataclass(frozen=True)
class Setting:
    """A numeric parameter of a technique.

    >>> Setting("percent", 1, 100, stronger="more", monotone=True, meaning="how far").values(1, 100)[:3]
    (1, 2, 3)
    >>> Setting("share", 0.1, 1, stronger="more", monotone=True, meaning="share").values(0.1, 1)[:4]
    (0.1, 0.11, 0.12, 0.13)
    >>> Setting("epsilon", 0.1, 10, ratio=True, stronger="less", monotone=True, meaning="ε").values(0.1, 10)[-3:]
    (9.1, 9.5, 10)
    """

    parameter: str
    low: float
    """The lower end of the useful range, in ``unit``; a caller may go beyond it."""
    high: float
    stronger: Literal["more", "less"]
    """Whether a larger value protects more or less."""
    monotone: bool
    """True if protection grows with the parameter, up to the randomness of a release; False if it does on the whole
    but a stronger setting can be riskier than a milder one."""
    meaning: str
    """What the parameter is, in a few words."""
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

    def range(self, people: Microdata) -> tuple[float, float]:
        """The useful range for these people, in the parameter's own unit."""
        if self.unit == "records":
            return self.low, max(self.low, min(self.high, _down(len(people), self.step or 1)))
        if self.unit == "share":
            return min(max(self.low, ceil(100 / len(people)) / 100), self.high), self.high
        if self.unit == "number":
            return self.low, self.high
        if not people.attribute.numeric:
            raise InputError(
                f"{self.parameter}: {people.confidential!r} holds categories, so there is no range of numbers to try."
            )
        first, last = float(people.values[0]), float(people.values[-1])
        width = last - first
        if width == 0:
            raise InputError(
                f"{self.parameter}: all values of {people.confidential!r} are equal, so there is no range to try."
            )
        begin = first if self.unit == "value" else 0.0
        digits = 2 - floor(log10(width))
        return round(begin + self.low * width, digits), round(begin + self.high * width, digits)

    def values(self, low: float, high: float, step: float | None = None) -> tuple[float, ...]:
        """The settings to choose from, ascending, both ends included.

        Whole steps if both ends are whole numbers more than 1 apart (for values of the attribute, also larger ones, so
        that there are about a hundred); otherwise hundredths of the range, rounded up to 1, 2 or 5 units of a decimal.
        For a budget, steps of about 5 %.
        """
        if not isfinite(high - low):
            raise InputError(
                f"{self.parameter}: the range from {low} to {high} is too wide; give a smaller one."
            )
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
                f"{self.parameter}: a step of {step} makes more than {MOST_SETTINGS:,} settings from {low} to {high}; "
                "give a larger step."
            )
        count = floor((high - low) / step * (1 + 1e-12) + 1e-9)
        digits = max(_decimals(low), _decimals(step))
        found = [round(low + i * step, digits) for i in range(count + 1)]
        if found[-1] < high and not self.step:
            found.append(high)
        return tuple(map(_plain, dict.fromkeys(found)))


def _plain(number: float) -> float:
    """20.0 as 20: some parameters must be whole numbers, and both read alike."""
    return int(number) if _whole(number) else float(number)


def _whole(number: float) -> bool:
    return float(number).is_integer()


def _down(number: int, step: float) -> int:
    """The largest multiple of ``step`` that is not above the number."""
    return int(number // step * step)


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
