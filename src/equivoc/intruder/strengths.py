"""The learned intruder: informed, and she learns from the release how the confidential value depends on the keys.

Each record gets the prior of its keys, learnt from the other records (`learning.learned`), in place of the public prior
of all people. Where known keys were changed, records are also weighted by how well their released value fits the known
keys: ``link · P(c′ | v) / P(c′ | y)``.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from equivoc.data.classes import Classes
from equivoc.errors import InputError
from equivoc.intruder.posteriors import Posteriors
from equivoc.intruder.prior import Evidence, symbol_count, without_zeros
from equivoc.intruder.truth import Truth, hold_against_truth
from equivoc.learning.learned import learn
from equivoc.linkage.informed_linkage import informed_linkage, too_many_pairs
from equivoc.linkage.register import register_linkage

# The informed intruder: Bayes' rule with the public prior, the mechanism, and the number N of people like the
# target.
#
# Where no known key was changed, every record of the class is equally likely the target's. Otherwise released
# record r matches the known values v with probability ``p_r = Π_a P(x_ra = v_a | released)``, and N records
# match: the probability that r is the target's is that of r being among them, divided by N
# (`linkage.informed_linkage`).

Floats = NDArray[np.float64]


def informed(evidence: Evidence, classes: Classes, prior: Floats) -> Posteriors:
    """The posterior of each class."""
    return Posteriors(
        classes, evidence.people.attribute, link(evidence, classes), evidence.channel_given(prior)
    )


def link(evidence: Evidence, classes: Classes) -> Any:
    """Classes × confidential symbols: how likely each symbol is the target's."""
    people = evidence.people
    if not evidence.changed(classes.known):
        width = symbol_count(people, evidence.channel)
        return people.classes(classes.known, values=evidence.symbols, span=width).counts
    columns = [people.keys.index(name) for name in classes.known]
    file = evidence.levels_given_symbols()
    return informed_linkage(classes.key_codes, classes.sizes, file, known=columns).linkage


def without_sizes(evidence: Evidence, classes: Classes) -> bool:
    """True if the file is too large to use the number of people like the target."""
    if not evidence.changed(classes.known):
        return False
    columns = [evidence.people.keys.index(name) for name in classes.known]
    return too_many_pairs(classes.key_codes, evidence.levels_given_symbols(), known=columns)


LEAST_PEOPLE = 100
"""The least number of people to learn from."""
MOST_LEARNED_PEOPLE = 100_000
MOST_CELLS = 2**22
"""The most people × values. In a larger file, the strongest intruder is chosen without this one."""


def learned(evidence: Evidence, classes: Classes, prior: Floats) -> Posteriors:
    """The posterior of each class."""
    people, known = evidence.people, list(classes.known)
    # In the people's order, so that nothing depends on the order in which keys are named.
    ordered = [name for name in people.keys if name in known]
    symbols = np.asarray(evidence.symbols, dtype=np.int64)
    likelihood = _likelihood(evidence, prior)
    if evidence.changed(known):
        targets = classes.key_codes[:, [known.index(name) for name in ordered]]
        found = learn(evidence.codes(ordered), symbols, likelihood, prior, targets=targets)
        columns = [people.keys.index(name) for name in known]
        # With the records' numbers in place of their values, the linkage is that of single records.
        file = replace(
            evidence.levels_given_symbols(),
            confidential=np.arange(len(symbols)),
            confidential_size=len(symbols),
        )
        weights = found.reweighted(
            informed_linkage(classes.key_codes, classes.sizes, file, known=columns).linkage
        )
    else:
        # Of hidden records only what is known can be used; all released keys of the others.
        used = ordered if evidence.hidden is not None else list(people.keys)
        found = learn(evidence.codes(used), symbols, likelihood, prior)
        weights = _members(classes)
    return Posteriors(classes, people.attribute, found.averaged(weights), None)


def nothing_to_learn(evidence: Evidence | None, classes: Classes, *, limited: bool = True) -> str:
    """Why nothing can be learnt, or (if ``limited``) why it costs too much for a file of this size; "" if neither."""
    if evidence is None:
        return "the release has no records to learn from"
    reason = _useless(evidence, classes)
    people, values = len(evidence.people), len(evidence.people.values)
    if limited and not reason and (people > MOST_LEARNED_PEOPLE or people * values > MOST_CELLS):
        reason = (
            f"the file has more than {MOST_LEARNED_PEOPLE:,} people, or {MOST_CELLS:,} people × values; "
            "select this intruder to use it"
        )
    return reason


def _useless(evidence: Evidence, classes: Classes) -> str:
    """Why nothing can be learnt; "" if something can."""
    if not evidence.learnable:
        return "no records are released to learn from"
    if evidence.channel is None and not evidence.changed(classes.known):
        return "the released values are the true ones, so there is nothing to learn"
    for name in classes.known:
        if evidence.is_changed(name) and not evidence.shows_levels(name):
            return f"the released {name} is not one of its levels, so classes cannot be compared with records"
    if len(evidence.people) < LEAST_PEOPLE:
        return f"fewer than {LEAST_PEOPLE} people are too few to learn from"
    return ""


def _likelihood(evidence: Evidence, prior: Floats) -> Floats:
    """Symbols × values: P(symbol | value) up to a factor per symbol, from the channel with this prior."""
    channel = evidence.channel_given(prior)
    if channel is None:
        return np.eye(len(prior))
    return np.asarray(np.divide(channel.dense(), prior, out=np.zeros(channel.shape), where=prior > 0))


def _members(classes: Classes) -> Any:
    """Classes × records: 1 for each record of the class."""
    from scipy.sparse import csr_array

    of = classes.of_record
    return csr_array((np.ones(len(of)), (of, np.arange(len(of)))), shape=(len(classes), len(of)))


# The register intruder: informed, and she knows the keys of everybody in the file, so records compete for
# people.
#
# The likelihoods P(released record | keys of a person) are scaled until every record and every person counts
# once (`linkage.register`). The result differs from the informed linkage only where a known key was changed.
# She is less certain than possible: the scaling approximates a quotient of permanents.

MOST_PEOPLE = 10_000
"""In a file with more people, the strongest intruder is chosen without this one."""


def with_register(evidence: Evidence, classes: Classes, prior: Floats) -> Posteriors:
    """The posterior of each class; InputError if there are too many pairs of a person and a record."""
    columns = [evidence.people.keys.index(name) for name in classes.known]
    file = evidence.symbols_given_levels()
    found = register_linkage(classes.key_codes, classes.sizes, file, known=columns)
    return Posteriors(classes, evidence.people.attribute, found.linkage, evidence.channel_given(prior))


def without_register(evidence: Evidence | None, classes: Classes, *, most: int | None = MOST_PEOPLE) -> str:
    """Why a register adds nothing, or is too costly for a file of more people than ``most``; "" if neither."""
    if evidence is None:
        return "the release has no records that a register could be compared with"
    if not evidence.changed(classes.known):
        return "no known key was changed, so a register adds nothing"
    if most is not None and len(evidence.people) > most:
        return f"the file has more than {most:,} people; select this intruder to use it"
    return ""


# The strongest intruder: of those that apply, the one whose beliefs come closest to the truth.

PLAIN = ("file", "plain")
"""Intruders who do not use how the release was made: they read it as a file of unknown origin, or at face value."""
STRENGTHS = ("informed", "register", "learned", "paper", *PLAIN)
"""Intruders, the one to prefer first if their surprises are about the same."""
INTRUDERS = ("strongest", *sorted(STRENGTHS))
TIE = 0.015
"""Bits of mean surprise: smaller differences do not decide."""


class InapplicableError(InputError):
    """An intruder has nothing to add to a release, or cannot read it; the message is the reason."""


@dataclass(frozen=True, eq=False)
class Tried:
    """One intruder's posteriors, and how they compare with the true values."""

    intruder: str
    posteriors: Posteriors = field(repr=False)
    prior: Floats = field(repr=False)
    beside: tuple[Posteriors, ...] = field(default=(), repr=False)
    """Other ways in which she could read the release, farther from the truth on average: they may be right about more
    people."""

    @cached_property
    def truth(self) -> Truth:
        """Surprise, trust and gain; computed on first use, since an intruder who was asked for needs no comparison."""
        return against_truth(self.posteriors, self.prior)


@dataclass(frozen=True, eq=False)
class Choice:
    """The intruders that were tried, and the one that is used."""

    used: Tried
    tried: tuple[Tried, ...]
    left_out: dict[str, str]
    """Those that were not tried, and why."""

    @property
    def others(self) -> tuple[tuple[str, Posteriors], ...]:
        """The intruders that are not used, and every intruder's other readings of the release, each with her name."""
        found: list[tuple[str, Posteriors]] = []
        for each in self.tried:
            readings = each.beside if each is self.used else (each.posteriors, *each.beside)
            found += [(each.intruder, posteriors) for posteriors in readings]
        return tuple(found)


def choose(
    names: Sequence[str],
    believed: Callable[[str], Posteriors | Choice],
    prior: Floats,
    left_out: dict[str, str],
) -> Choice:
    """Try each intruder; use the one with the least mean surprise T(0), and of about equal ones the simplest.

    One that turns out to be inapplicable is left out, with the reason. An intruder with several readings is herself a
    choice: the one of them that is used stands for her.
    """
    tried, reasons = [], dict(left_out)
    for name in names:
        try:
            tried.append(_tried(name, believed(name), prior))
        except InapplicableError as reason:
            reasons[name] = str(reason)
    return Choice(_nearest(tried), tuple(tried), reasons)


def changed(choice: Choice, change: Callable[[Posteriors], Posteriors]) -> Choice:
    """The same intruders with other posteriors; the one that is used is chosen again."""
    tried = [
        Tried(each.intruder, change(each.posteriors), each.prior, tuple(map(change, each.beside)))
        for each in choice.tried
    ]
    return Choice(_nearest(tried), tuple(tried), choice.left_out)


def _nearest(tried: Sequence[Tried]) -> Tried:
    """The one whose beliefs come closest to the truth; of about equal ones the first."""
    if len(tried) == 1:
        return tried[0]
    least = min(each.truth.surprise for each in tried)
    return next(each for each in tried if each.truth.surprise <= least + TIE)


def _tried(name: str, found: Posteriors | Choice, prior: Floats) -> Tried:
    if isinstance(found, Posteriors):
        return Tried(name, found, prior)
    beside = tuple(each.posteriors for each in found.tried if each is not found.used)
    return Tried(name, found.used.posteriors, prior, beside)


def against_truth(posteriors: Posteriors, prior: Floats) -> Truth:
    """Surprise, trust and gain at ε = 0 of posteriors of the people's own classes (not who is certain)."""
    counts = posteriors.classes.counts
    row = np.repeat(np.arange(counts.shape[0]), np.diff(counts.indptr))
    given = without_zeros(prior)[counts.indices]
    return hold_against_truth(
        posteriors.of_values(row, counts.indices), given, counts.data, np.ones(len(given))
    )
