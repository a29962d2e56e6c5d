"""The limits by which a gateway answers or refuses a question."""

from __future__ import annotations

import json
import math
import os
import tomllib
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, fields
from datetime import date, datetime
from itertools import pairwise
from pathlib import Path
from types import MappingProxyType
from typing import Any

from equivoc.checks import check_choice, checked_number, checked_whole_number, is_finite, is_number
from equivoc.errors import InputError, did_you_mean
from equivoc.text import exact

SCOPES = ("everyone", "analyst")
MOST_DRAWS = 100_000
MOST_BYTES = 100_000
CONFIDENCE = 0.95
"""How sure the stated resolution of a share is."""


@dataclass(frozen=True)
class Policy:
    """What a gateway allows. Each limit states its unit and which direction is safer.

    >>> Policy(least_people=5).share_excluded
    0.047
    >>> Policy(least_people=0)
    Traceback (most recent call last):
    equivoc.errors.InputError: least_people is 0; it must be a whole number of 1 or more.
    """

    least_people: int = 3
    """k: a query set and the people outside it number at least k, and no sum of fewer than k people becomes known. More
    is safer."""
    least_h0: float = 1.0
    """The least uncertainty about every person's value, H0 in bits; 0: only certainty counts as disclosure. More is
    safer. 1 bit is the uncertainty between two equally likely values."""
    simulatable: bool = True
    """True: decisions depend on the questions and on past answers only. False: the gateway looks at the true answer;
    it answers more, and its refusals tell something about the data."""
    share: float = 0.01
    """The accepted probability that an answer discloses someone, judged over databases that fit the past answers. Less
    is safer."""
    draws: int = 100
    """How many such databases are drawn for a decision. More judge the share more precisely: see `share_excluded`."""
    scope: str = "everyone"
    """Whose past answers count: "everyone" (analysts may collude; safer) or "analyst" (each one's own)."""
    edges: Mapping[str, tuple[Any, ...]] = field(default_factory=dict)
    """Class edges of keys: conditions on such a key may only end on its edges. A class holds its lower edge."""
    work: int = 14_000_000_000
    """The most elementary operations for one decision; beyond them the question is refused. Counted, not timed, so that
    a decision does not depend on the machine."""
    questions_per_minute: int = 60
    """How many questions each analyst may send per minute; the service enforces it."""

    def __post_init__(self) -> None:
        def settle(name: str, value: object) -> None:
            object.__setattr__(self, name, value)

        settle("least_people", checked_whole_number("least_people", self.least_people, at_least=1))
        wanted = "a number of bits, 0 or more"
        settle("least_h0", checked_number("least_h0", self.least_h0, wanted, lambda v: 0 <= v < math.inf))
        if not isinstance(self.simulatable, bool):
            raise InputError(f"simulatable is {self.simulatable!r}; it must be true or false.")
        settle("draws", checked_whole_number("draws", self.draws, at_least=1))
        if self.draws > MOST_DRAWS:
            raise InputError(f"draws is {self.draws}; give at most {MOST_DRAWS}.")
        wanted = "a probability above 0 and below 1"
        settle("share", checked_number("share", self.share, wanted, lambda v: 0 < v < 1))
        if self.share * self.draws < 1:
            raise InputError(
                f"share is {self.share:g}, but {self.draws} draws cannot tell it from 0: give at least "
                f"{math.ceil(1 / self.share)} draws, or a share of {1 / self.draws:.2g} or more."
            )
        check_choice("scope", self.scope, SCOPES)
        settle("edges", MappingProxyType(_checked_edges(self.edges)))
        settle("work", checked_whole_number("work", self.work, at_least=1))
        least = checked_whole_number("questions_per_minute", self.questions_per_minute, at_least=1)
        settle("questions_per_minute", least)

    @property
    def draws_accepted(self) -> int:
        """The most draws in which someone may be disclosed: share · draws, rounded down."""
        return math.floor(self.share * self.draws + 1e-9)

    @property
    def share_excluded(self) -> float:
        """A question that discloses someone with this probability, or a greater one, is refused in 95 % of cases.

        The p with P(Binomial(draws, p) ≤ draws accepted) = 5 %, rounded up to two digits. It is what so many draws
        promise; the share itself is only the middle of what they measure.

        >>> Policy().share_excluded, Policy(share=0.01, draws=300).share_excluded
        (0.047, 0.026)
        """
        from scipy.stats import beta

        accepted = self.draws_accepted
        if accepted >= self.draws:
            return 1.0
        found = float(beta.ppf(CONFIDENCE, accepted + 1, self.draws - accepted))
        digits = 1 - math.floor(math.log10(found))
        return min(1.0, round(math.ceil(found * 10.0**digits - 1e-9) / 10.0**digits, digits))

    def text(self) -> str:
        """The policy as JSON, keys in order; two policies that decide alike have the same text.

        >>> Policy(edges={"age": [20, 40]}).text()[:46]
        '{"draws": 100, "edges": {"age": ["20", "40"]},'
        """
        facts: dict[str, Any] = {name: getattr(self, name) for name in _names()}
        facts["edges"] = {key: [_edge_text(edge) for edge in edges] for key, edges in self.edges.items()}
        return json.dumps(facts, sort_keys=True)


def as_policy(given: object, *, simulatable: bool | None = None) -> Policy:
    """A policy from a `Policy`, a mapping, or the path of a TOML file; None: the defaults.

    >>> as_policy({"least_people": 5}, simulatable=False).simulatable
    False
    >>> as_policy({"least_person": 5})
    Traceback (most recent call last):
    equivoc.errors.InputError: the policy has no 'least_person': did you mean 'least_people'?
    """
    where = ""
    if isinstance(given, Policy):
        values: Mapping[str, Any] = {name: getattr(given, name) for name in _names()}
        if simulatable is not None:
            values = {**values, "simulatable": simulatable}
        return Policy(**values)
    if given is None:
        values = {}
    elif isinstance(given, Mapping):
        values = given
    elif isinstance(given, (str, os.PathLike)) and "\0" not in os.fspath(given):
        values, where = _read(Path(given)), f"{given}: "
    else:
        raise InputError(f"policy is {given!r}; give limits by name, a Policy, or the path of a TOML file.")
    for name in values:
        if name not in _names():
            raise InputError(f"{where}the policy has no {name!r}{did_you_mean(name, _names())}")
    if simulatable is not None:
        if values.get("simulatable", simulatable) != simulatable:
            raise InputError(f"{where}the policy says simulatable = {values['simulatable']!r}; give it once.")
        values = {**values, "simulatable": simulatable}
    try:
        return Policy(**values)
    except InputError as problem:
        raise InputError(f"{where}{problem}") from None


def looser_in(old: str, new: Policy) -> list[str]:
    """The limits in which a policy allows more than an earlier one, given as its `Policy.text`; in words.

    Rate limits are left out: they bound the load, not what becomes known.

    >>> looser_in(Policy().text(), Policy(least_people=2, share=0.02, draws=200))
    ['least_people falls from 3 to 2', 'share rises from 0.01 to 0.02']
    """
    before, now = json.loads(old), json.loads(new.text())

    def found() -> Iterator[str]:
        for name in ("least_people", "least_h0"):
            if now[name] < before[name]:
                yield f"{name} falls from {before[name]:g} to {now[name]:g}"
        for name in ("share", "work"):
            if now[name] > before[name]:
                yield f"{name} rises from {before[name]:g} to {now[name]:g}"
        if now["draws"] < before["draws"]:
            yield f"draws falls from {before['draws']} to {now['draws']}"
        if before["simulatable"] and not now["simulatable"]:
            yield "simulatable is no longer true"
        if before["scope"] == "everyone" != now["scope"]:
            yield "scope is no longer everyone"
        for key, edges in before["edges"].items():
            if not set(now["edges"].get(key, [""])) <= set(edges):
                yield f"the edges of {key} are not a part of the earlier ones"

    return list(found())


def _names() -> list[str]:
    return [each.name for each in fields(Policy)]


def _read(path: Path) -> dict[str, Any]:
    try:
        if not path.is_file():
            raise InputError(f"there is no policy file {path}.")
        if path.stat().st_size > MOST_BYTES:
            raise InputError(
                f"the policy {path} has more than {MOST_BYTES:,} bytes; give a policy in TOML, not data."
            )
        return tomllib.loads(path.read_text(encoding="utf-8-sig"))
    except OSError as problem:
        raise InputError(f"the policy {path} cannot be read: {problem.strerror}.") from None
    except InputError:
        raise
    except UnicodeDecodeError:
        raise InputError(f"the policy {path} is not a text file; give TOML in UTF-8.") from None
    except (ValueError, RecursionError) as problem:  # tomllib's own error is a ValueError
        raise InputError(f"the policy {path} is not TOML: {str(problem)[:200]}.") from None


def _checked_edges(given: object) -> dict[str, tuple[Any, ...]]:
    if not isinstance(given, Mapping):
        raise InputError(f"edges is {given!r}; give class edges by key, as in age = [20, 40, 60].")
    found: dict[str, tuple[Any, ...]] = {}
    for key, edges in given.items():
        if not isinstance(key, str) or not isinstance(edges, Sequence) or isinstance(edges, str) or not edges:
            raise InputError(f"edges of {key!r}: give a list of at least one edge, as in age = [20, 40, 60].")
        number = all(is_finite(edge) for edge in edges)
        text = all(isinstance(edge, str) for edge in edges)
        day = all(isinstance(edge, date) and not isinstance(edge, datetime) for edge in edges)
        time = all(isinstance(edge, datetime) for edge in edges)
        if not (number or text or day or time):
            raise InputError(f"edges of {key!r}: give numbers, texts or dates, all of one kind.")
        ascending = all(low < high for low, high in pairwise(edges))
        if not ascending:
            raise InputError(f"edges of {key!r} are {list(edges)}; they must ascend.")
        found[key] = tuple(edges)
    return found


def _edge_text(edge: object) -> str:
    return exact(edge) if is_number(edge) else str(edge)
