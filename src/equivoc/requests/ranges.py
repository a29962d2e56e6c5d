"""The settings among which to choose: a technique, one of its parameters, and a range."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, fields
from math import isfinite
from typing import Any

from equivoc.checks import checked_number
from equivoc.data.microdata import Microdata
from equivoc.errors import InputError, did_you_mean
from equivoc.notation.declared import params
from equivoc.notation.ranges import Range
from equivoc.techniques.notation import named_parameters, technique_type
from equivoc.techniques.technique import Technique, tried_parameters, useful_range
from equivoc.text import exact

BETWEEN = ".."


@dataclass(frozen=True)
class SearchRange:
    """A technique with one parameter left open."""

    kind: type[Technique]
    parameter: str
    low: float | None = None
    """None: the technique's own range for the people."""
    high: float | None = None
    step: float | None = None
    """None: whole steps, or about a hundred settings; see `Range.values`."""
    fixed: Mapping[str, Any] = field(default_factory=dict)
    """The other parameters."""

    def __post_init__(self) -> None:
        name = f"{self.kind.name}: {self.parameter}"
        for end, given in (("low", self.low), ("high", self.high), ("step", self.step)):
            if given is not None:
                checked_number(f"{name}: {end}", given, "a finite number", isfinite)
        if self.step is not None and self.step <= 0:
            raise InputError(f"{name}: step is {self.step!r}; it must be above 0.")
        self._check_order(self.low, self.high)

    @property
    def tries(self) -> Range:
        """The values of the parameter that are worth trying."""
        return tried_parameters(self.kind)[self.parameter]

    def techniques(self, people: Microdata) -> list[Technique]:
        """The settings to choose from, the mildest first."""
        low, high = self.low, self.high
        if low is None or high is None:
            usual = useful_range(self.parameter, self.tries, people)
            low, high = usual[0] if low is None else low, usual[1] if high is None else high
            self._check_order(low, high)
        values = self.tries.values(low, high, self.step, name=self.parameter)
        if self.tries.stronger == "less":
            values = values[::-1]
        return [self.kind.read({**self.fixed, self.parameter: value}) for value in values]

    def _check_order(self, low: float | None, high: float | None) -> None:
        if low is not None and high is not None and low > high:
            raise InputError(
                f"{self.kind.name}: {self.parameter}: low is {exact(low)} and high is {exact(high)}; low must "
                "not be above high."
            )


def search_range(
    technique: type[Technique] | Technique | SearchRange | str,
    parameter: str | None = None,
    *,
    low: float | None = None,
    high: float | None = None,
    step: float | None = None,
    fixed: Mapping[str, Any] | None = None,
) -> SearchRange:
    """The range of one parameter of a technique; None: its usual parameter.

    A technique that is given as an instance keeps its other parameters. Text is read as on the command line.
    """
    if isinstance(technique, (str, SearchRange)):
        if not (parameter is None and low is None and high is None and step is None and fixed is None):
            raise InputError(
                "a range given as text or SearchRange takes no parameter, low, high, step or fixed."
            )
        return technique if isinstance(technique, SearchRange) else search_range_from(technique)
    given: dict[str, Any] = {}
    if isinstance(technique, Technique):
        kind = type(technique)
        given = {f.name: getattr(technique, f.name) for f in fields(technique)}
    elif isinstance(technique, type) and issubclass(technique, Technique):
        kind = technique
    else:
        raise InputError(f"technique is {technique!r}; give a technique such as NoiseAddition.")
    if not (fixed is None or isinstance(fixed, Mapping)):
        raise InputError(f'fixed is {fixed!r}; give other parameters by name, such as {{"edge": "wrap"}}.')
    chosen = _parameter(kind, parameter)
    given.pop(chosen, None)
    for name in fixed or {}:
        if name == chosen:
            raise InputError(f"{kind.name}: {name} is to be chosen, so it cannot be in fixed.")
    return SearchRange(kind, chosen, low, high, step, {**given, **(fixed or {})})


def search_range_from(text: str) -> SearchRange:
    """The range that a notation describes: ``noise-addition:percent=1..100``, or a name alone for its usual range.

    ``1..100..5`` has a step of 5. Other parameters keep one value: ``swapping:rate=0.05..1,on=keys``.

    >>> search_range_from("sampling:fraction=0.01..0.9").low
    0.01
    """
    name, parameters = named_parameters(text)
    kind = technique_type(name)
    ranges = {p: value for p, value in parameters.items() if isinstance(value, str) and BETWEEN in value}
    whole = {
        each.name for each in params(kind) if each.has_separators
    }  # their texts may contain two full stops
    ranges = {p: value for p, value in ranges.items() if p not in whole}
    if len(ranges) > 1:
        raise InputError(
            f"technique {text!r}: {' and '.join(ranges)} have a range; give a range to one of them."
        )
    fixed = {p: value for p, value in parameters.items() if p not in ranges}
    if not ranges:
        usual = _parameter(kind, None)
        if usual in fixed:
            raise InputError(
                f"technique {text!r}: {usual} has one value; give a range to choose from, as in {usual}=1..100."
            )
        return search_range(kind, fixed=fixed)
    ((parameter, written),) = ranges.items()
    ends = [_number(each) for each in written.split(BETWEEN)]
    if len(ends) > 3 or None in ends:
        raise InputError(
            f"technique {text!r}: {parameter}={written} is not a range; write low..high or low..high..step, in numbers."
        )
    low, high, step = (*ends, None)[:3]
    return search_range(kind, parameter, low=low, high=high, step=step, fixed=fixed)


def _number(text: str) -> float | None:
    for kind in (int, float):
        try:
            return kind(text)
        except ValueError:
            continue
    return None


def _parameter(kind: type[Technique], parameter: str | None) -> str:
    """The name of the parameter to choose; None: the usual one."""
    numbers = tried_parameters(kind)
    if not numbers:
        raise InputError(f"{kind.name} has no numeric parameter to choose.")
    if parameter is None:
        return next(iter(numbers))
    if not isinstance(parameter, str):
        raise InputError(f"parameter is {parameter!r}; give its name, such as {next(iter(numbers))!r}.")
    if parameter in numbers:
        return parameter
    if parameter in {f.name for f in fields(kind)}:
        raise InputError(f"{kind.name}: {parameter} is not a number; choose from {', '.join(numbers)}.")
    raise InputError(f"{kind.name} has no parameter {parameter!r}{did_you_mean(parameter, numbers)}")
