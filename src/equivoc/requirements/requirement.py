"""A requirement: a figure of the risk and the limit that it must keep, such as ``true_hit(5000) <= 0.2``."""

from __future__ import annotations

import math
import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from itertools import permutations
from typing import Literal, NoReturn

from equivoc.checks import check_choice, checked_number
from equivoc.errors import InputError, did_you_mean
from equivoc.text import exact

Over = Literal["mean", "worst", "p95"]
Comparison = Literal["<=", ">="]
OVER: tuple[Over, ...] = ("mean", "worst", "p95")
COMPARISONS: tuple[Comparison, ...] = ("<=", ">=")


@dataclass(frozen=True)
class Figure:
    """What a requirement can be about."""

    riskier: Literal["less", "more"]
    """Whether less or more of it is riskier."""
    low: float
    """The least value that it can have."""
    high: float
    """The greatest value that it can have."""
    has_eps: bool
    """True if it depends on the tolerance ε."""
    per_person: bool
    """True if each person has one, so that @worst and @p95 are allowed."""
    unit: str


FIGURES: dict[str, Figure] = {
    "h0": Figure("less", 0.0, math.inf, False, True, "bits"),
    "area": Figure("less", 0.0, math.inf, False, True, "bits × the attribute's unit"),
    "surprise": Figure("less", 0.0, math.inf, True, True, "bits"),
    "gain": Figure("more", -math.inf, math.inf, True, True, "bits"),
    "hit": Figure("more", 0.0, 1.0, True, True, "a share from 0 to 1"),
    "true_hit": Figure("more", 0.0, 1.0, True, True, "a share from 0 to 1"),
    "certain_right": Figure("more", 0.0, math.inf, False, False, "people"),
    "k": Figure("less", 1.0, math.inf, False, False, "records"),
    "l": Figure("less", 1.0, math.inf, False, False, "values"),
    "t": Figure("more", 0.0, 1.0, False, False, "a distance from 0 to 1"),
}
"""The figures by name. k, l and t are those of the released file by the known keys."""

EXAMPLE = "true_hit(5000) <= 0.2"
_LONGEST = 200
_NUMBER = re.compile(r"[+-]?(?:\d+(?:\.\d*)?|\.\d+)(?:[eE][+-]?\d+)?(?![\w.])", re.ASCII)
_WORD = re.compile(r"[^\W\d]\w*")


@dataclass(frozen=True)
class Requirement:
    """A limit of a figure. It is valid from birth: a figure that exists, an ε only where it has a meaning, and a limit
    that some release meets and some other does not.

    >>> Requirement("true_hit", 5000, "mean", "<=", 0.2).text
    'true_hit(5000) <= 0.2'
    """

    figure: str
    eps: float | None
    """The tolerance ε; None: 0 for surprise and gain, and the assessment's first ε above 0 for hit and true_hit."""
    over: Over
    """Over people: the mean; the riskiest person (worst); or the figure that 95 % of the people keep (p95)."""
    comparison: Comparison
    limit: float

    def __post_init__(self) -> None:
        if self.figure not in FIGURES:
            raise InputError(f"there is no figure {self.figure!r}{did_you_mean(self.figure, FIGURES)}")
        check_choice("over", self.over, OVER)
        check_choice("comparison", self.comparison, COMPARISONS)
        limit = checked_number("the limit of a requirement", self.limit, "a finite number", math.isfinite)
        object.__setattr__(self, "limit", limit + 0.0)  # no negative zero
        if self.eps is not None:
            if not self.kind.has_eps:
                raise InputError(
                    f"{self.figure} has no tolerance ε; write {self.figure} without parentheses."
                )
            eps = checked_number(
                f"the tolerance ε of {self.figure}",
                self.eps,
                "a finite number of 0 or more",
                lambda given: 0 <= given < math.inf,
            )
            object.__setattr__(self, "eps", eps + 0.0)
        if self.over != "mean" and not self.kind.per_person:
            raise InputError(f"{self.figure} is one figure of the whole file; leave out @{self.over}.")
        low, high = self.range
        if not low <= self.limit <= high:
            raise InputError(self._outside(low, high))

    @property
    def kind(self) -> Figure:
        """The figure's description."""
        return FIGURES[self.figure]

    @property
    def riskier(self) -> Literal["less", "more"]:
        """Whether less or more of the figure is riskier."""
        return self.kind.riskier

    @property
    def limits_risk(self) -> bool:
        """False for a requirement that asks for risk instead of limiting it, such as ``h0 <= 2``."""
        return (self.comparison == "<=") == (self.riskier == "more")

    @property
    def range(self) -> tuple[float, float]:
        """The least and the greatest value that the figure can have."""
        # The mean gain at ε = 0 is never negative; that of one person can be.
        if self.figure == "gain" and self.over == "mean" and not self.eps:
            return 0.0, math.inf
        return self.kind.low, self.kind.high

    @property
    def text(self) -> str:
        """The requirement as it is written; `parse_requirement` reads it back."""
        return f"{self.left} {self.comparison} {exact(self.limit)}"

    @property
    def left(self) -> str:
        """The left side: the figure, its ε if it has one, and over whom unless it is the mean."""
        eps = "" if self.eps is None else f"({exact(self.eps)})"
        return f"{self.figure}{eps}" + ("" if self.over == "mean" else f"@{self.over}")

    def at(self, eps: float | None) -> Requirement:
        """The same requirement at the tolerance that is used where it names none."""
        return self if self.eps is not None or eps is None else replace(self, eps=eps)

    def keeps(self, value: float) -> bool:
        """True if the value keeps the limit. Rounding errors do not count."""
        slack = 1e-12 * max(1.0, abs(self.limit))
        return value <= self.limit + slack if self.comparison == "<=" else value >= self.limit - slack

    def __str__(self) -> str:
        return self.text

    def _outside(self, low: float, high: float) -> str:
        """Why a limit outside the figure's range is no requirement."""
        says = f"is {self.kind.unit}" if math.isfinite(high) else f"is never below {exact(low)}"
        every = (self.limit > high) == (self.comparison == "<=")
        who = "every release meets" if every else "no release can meet"
        more = f"; for {exact(self.limit)} % write {exact(self.limit / 100)}" if self._percent else ""
        return f"{self.left} {says}, so {who} {self.text}; give another limit{more}."

    @property
    def _percent(self) -> bool:
        return self.figure in ("hit", "true_hit") and 1 < self.limit <= 100


def parse_requirement(text: str) -> Requirement:
    """Read a requirement: a figure, optionally (ε), optionally @mean, @worst or @p95, then <= or >=, then a number.

    >>> parse_requirement("h0@worst >= 2")
    Requirement(figure='h0', eps=None, over='worst', comparison='>=', limit=2.0)
    """
    if not isinstance(text, str):
        raise InputError(f"a requirement is {text!r}; write a text such as {EXAMPLE!r}.")
    if len(text) > _LONGEST:
        raise InputError(f"a requirement has {len(text):,} characters; write one such as {EXAMPLE!r}.")
    return _Reader(text).requirement()


def requirements(given: Iterable[str | Requirement] | str | Requirement | None) -> tuple[Requirement, ...]:
    """The requirements, read and checked: InputError if two of them contradict each other. None: no requirement.

    >>> [each.text for each in requirements(["h0>=2", "hit(10)@p95 <= .50"])]
    ['h0 >= 2', 'hit(10)@p95 <= 0.5']
    """
    if given is None:
        return ()
    if isinstance(given, (str, Requirement)):
        given = [given]
    if not isinstance(given, Iterable):
        raise InputError(f"require is {given!r}; give a list of texts such as {EXAMPLE!r}.")
    found = [each if isinstance(each, Requirement) else parse_requirement(each) for each in given]
    once = tuple(dict.fromkeys(found))
    check_contradictions(once)
    return once


def check_contradictions(given: Sequence[Requirement]) -> None:
    """InputError if one requirement asks for more of a figure than another allows, so that no release meets both."""
    for one, other in permutations(given, 2):
        opposite = (one.comparison, other.comparison) == (">=", "<=")
        if opposite and one.limit > other.limit and _never_above(one, other):
            raise InputError(
                f"the requirements {one.text} and {other.text} contradict each other; drop one of them."
            )


def _never_above(one: Requirement, other: Requirement) -> bool:
    """True if the first's figure cannot exceed the second's in any release, whatever the limits.

    The riskiest person has the least (or the most) of a figure, so not more (not less) than the mean or 95 % of the
    people. A hit grows with its tolerance, because a longer window holds more.
    """
    if one.figure != other.figure:
        return False
    wider = one.figure == "hit" and one.eps is not None and other.eps is not None and one.eps <= other.eps
    riskiest = one if one.riskier == "less" else other
    return (one.eps == other.eps or wider) and (one.over == other.over or riskiest.over == "worst")


class _Reader:
    """Reads a requirement from left to right; a mistake is reported with its character, counted from 1."""

    def __init__(self, text: str) -> None:
        self.text, self.place = text, 0

    def requirement(self) -> Requirement:
        figure = self._figure()
        eps = self._eps(figure) if self._next("(") else None
        over = self._over(figure) if self._next("@") else "mean"
        comparison = self._comparison()
        limit, begin = self._number("a limit")
        self._skip()
        if self.place < len(self.text):
            percent = self.text[self.place] == "%"
            self._fail(
                f"write {exact(limit / 100)} instead of {exact(limit)} %"
                if percent
                else f"nothing may follow the limit, but there is {self.text[self.place :]!r}"
            )
        try:
            return Requirement(figure, eps, over, comparison, limit)
        except InputError as mistake:
            self._fail(str(mistake).rstrip("."), begin)

    def _figure(self) -> str:
        word = self._word()
        if word is None:
            self._fail(f"a requirement begins with a figure ({', '.join(FIGURES)})")
        if word not in FIGURES:
            self._fail(f"there is no figure {word!r}{did_you_mean(word, FIGURES)}", self.place - len(word))
        return word

    def _eps(self, figure: str) -> float:
        if not FIGURES[figure].has_eps:
            with_eps = [name for name, each in FIGURES.items() if each.has_eps]
            self._fail(
                f"{figure} has no tolerance ε; only {', '.join(with_eps[:-1])} and {with_eps[-1]} have",
                self.place - 1,
            )
        eps, begin = self._number("a tolerance ε")
        if eps < 0:
            self._fail(f"the tolerance ε is {exact(eps)}; it must be 0 or more", begin)
        if not self._next(")"):
            self._fail("the tolerance ε must end with ')'")
        return eps

    def _over(self, figure: str) -> Over:
        begin = self.place - 1
        word = self._word()
        if word is None or word not in OVER:
            instead = "" if word is None else f", not {word!r}"
            self._fail(f"after @ comes mean, worst or p95{instead}", begin + 1)
        if word != "mean" and not FIGURES[figure].per_person:
            self._fail(f"{figure} is one figure of the whole file; leave out @{word}", begin)
        return word

    def _comparison(self) -> Comparison:
        for sign in COMPARISONS:
            if self._next(sign):
                return sign
        self._fail("write <= or >= and then the limit")

    def _number(self, what: str) -> tuple[float, int]:
        """The next number, and where it begins."""
        self._skip()
        begin = self.place
        found = _NUMBER.match(self.text, begin)
        if found is None:
            word = re.match(r"[^\s()@<>=]*", self.text[begin:])
            instead = f", not {word[0]!r}" if word and word[0] else ""
            self._fail(f"{what} is a finite number such as 0.2 or 5000{instead}")
        number = float(found[0])
        if not math.isfinite(number):
            self._fail(f"{what} is a finite number, and {found[0]} is too large")
        self.place = found.end()
        if re.match(r"[,_]\d", self.text[self.place :]):
            self._fail("write the number without separators")
        return number + 0.0, begin

    def _word(self) -> str | None:
        self._skip()
        found = _WORD.match(self.text, self.place)
        if found is None:
            return None
        self.place = found.end()
        return found[0]

    def _next(self, sign: str) -> bool:
        self._skip()
        if not self.text.startswith(sign, self.place):
            return False
        self.place += len(sign)
        return True

    def _skip(self) -> None:
        while self.place < len(self.text) and self.text[self.place].isspace():
            self.place += 1

    def _fail(self, what: str, place: int | None = None) -> NoReturn:
        at = (self.place if place is None else place) + 1
        stop = "" if what.endswith((".", "?")) else "."
        raise InputError(f"the requirement {self.text!r} is wrong at character {at}: {what}{stop}") from None
