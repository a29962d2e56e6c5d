"""The settings among which to choose: a technique, one of its parameters, and a range."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, fields
from math import isfinite
from typing import Any

from equivoc.arguments import checked_number
from equivoc.data.microdata import Microdata
from equivoc.did_you_mean import did_you_mean
from equivoc.errors import InputError
from equivoc.number_format import exact
from equivoc.techniques.notation import named_parameters, technique_type, with_parameters
from equivoc.techniques.setting import Setting
from equivoc.techniques.technique import Technique

BETWEEN = ".."


@dataclass(frozen=True)
class SearchRange:
    """A technique with one parameter left open."""

    kind: type[Technique]
    setting: Setting
    low: float | None = None
    """None: the technique's own range for the people."""
    high: float | None = None
    step: float | None = None
    """None: whole steps, or about a hundred settings; see `Setting.values`."""
    fixed: Mapping[str, Any] = field(default_factory=dict)
    """The other parameters."""

    def __post_init__(self) -> None:
        name = f"{self.kind.name}: {self.setting.parameter}"
        for end, given in (("low", self.low), ("high", self.high), ("step", self.step)):
            if given is not None:
                checked_number(f"{name}: {end}", given, "a finite number", isfinite)
        if self.step is not None and self.step <= 0:
            raise InputError(f"{name}: step is {self.step!r}; it must be above 0.")
        self._check_order(self.low, self.high)

    def techniques(self, people: Microdata) -> list[Technique]:
        """The settings to choose from, the mildest first."""
        low, high = self.low, self.high
        if low is None or high is None:
            usual = self.setting.range(people)
            low, high = usual[0] if low is None else low, usual[1] if high is None else high
            self._check_order(low, high)
        values = self.setting.values(low, high, self.step)
        if self.setting.stronger == "less":
            values = values[::-1]
        return [with_parameters(self.kind, {**self.fixed, self.setting.parameter: value}) for value in values]

    def _check_order(self, low: float | None, high: float | None) -> None:
        if low is not None and high is not None and low > high:
            raise InputError(
                f"{self.kind.name}: {self.setting.parameter}: low is {exact(low)} and high is {exact(high)}; low must "
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
    setting = _setting(kind, parameter)
    given.pop(setting.parameter, None)
    for name in fixed or {}:
        if name == setting.parameter:
            raise InputError(f"{kind.name}: {name} is to be chosen, so it cannot be in fixed.")
    return SearchRange(kind, setting, low, high, step, {**given, **(fixed or {})})


def search_range_from(text: str) -> SearchRange:
    """The range that a notation describes: ``noise-addition:percent=1..100``, or a name alone for its usual range.

    ``1..100..5`` has a step of 5. Other parameters keep one value: ``swapping:rate=0.05..1,on=keys``.

    >>> search_range_from("sampling:fraction=0.01..0.9").low
    0.01
    """
    name, parameters = named_parameters(text)
    kind = technique_type(name)
    ranges = {p: value for p, value in parameters.items() if isinstance(value, str) and BETWEEN in value}
    ranges = {p: value for p, value in ranges.items() if p not in kind.worded and p not in kind.files}
    if len(ranges) > 1:
        raise InputError(
            f"technique {text!r}: {' and '.join(ranges)} have a range; give a range to one of them."
        )
    fixed = {p: value for p, value in parameters.items() if p not in ranges}
    if not ranges:
        usual = _setting(kind, None).parameter
        if usual in fixed:
            raise InputError(
                f"technique {text!r}: {usual} has one value; give a range to choose from, as in {usual}=1..100."
            )
        return search_range(kind, fixed=fixed)
    ((parameter, written),) = ranges.items()
    numbers = [_number(each) for each in written.split(BETWEEN)]
    if len(numbers) > 3 or None in numbers:
        raise InputError(
            f"technique {text!r}: {parameter}={written} is not a range; write low..high or low..high..step, in numbers."
        )
    low, high, step = (*numbers, None)[:3]
    return search_range(kind, parameter, low=low, high=high, step=step, fixed=fixed)


def _number(text: str) -> float | None:
    for kind in (int, float):
        try:
            return kind(text)
        except ValueError:
            continue
    return None


def _setting(kind: type[Technique], parameter: str | None) -> Setting:
    """The description of a parameter; None: the usual one."""
    settings = {each.parameter: each for each in kind.settings}
    if not settings:
        raise InputError(f"{kind.name} has no numeric parameter to choose.")
    if parameter is None:
        return kind.settings[0]
    if not isinstance(parameter, str):
        raise InputError(
            f"parameter is {parameter!r}; give its name, such as {kind.settings[0].parameter!r}."
        )
    if parameter in settings:
        return settings[parameter]
    if parameter in {f.name for f in fields(kind)}:
        raise InputError(f"{kind.name}: {parameter} is not a number; choose from {', '.join(settings)}.")
    raise InputError(f"{kind.name} has no parameter {parameter!r}{did_you_mean(parameter, settings)}")
