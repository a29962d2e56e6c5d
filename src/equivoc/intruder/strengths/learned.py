"""The learned intruder: informed, and she learns from the release how the confidential value depends on the keys.

Each record gets the prior of its keys, learnt from the other records (`beliefs.learned`), in place of the public prior
of all people. Where known keys were changed, records are also weighted by how well their released value fits the known
keys: ``link · P(c′ | v) / P(c′ | y)``.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from equivoc.data.classes import Classes
from equivoc.intruder.beliefs.informed_linkage import informed_linkage
from equivoc.intruder.beliefs.learned import learn
from equivoc.intruder.posteriors import Posteriors
from equivoc.intruder.strengths.evidence import Evidence

Floats = NDArray[np.float64]
LEAST_PEOPLE = 100
"""The least number of people to learn from."""
MOST_PEOPLE = 100_000
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


def can_learn(evidence: Evidence, classes: Classes) -> bool:
    """True if learning is possible and useful, regardless of its cost."""
    return not _useless(evidence, classes)


def nothing_to_learn(evidence: Evidence | None, classes: Classes) -> str:
    """Why nothing can be learnt, or why it costs too much for a file of this size; "" if neither."""
    if evidence is None:
        return "the release has no records to learn from"
    reason = _useless(evidence, classes)
    people, values = len(evidence.people), len(evidence.people.values)
    if not reason and (people > MOST_PEOPLE or people * values > MOST_CELLS):
        reason = (
            f"the file has more than {MOST_PEOPLE:,} people, or {MOST_CELLS:,} people × values; "
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
    told = evidence.told(prior)
    if told is None:
        return np.eye(len(prior))
    return np.asarray(np.divide(told.dense(), prior, out=np.zeros(told.shape), where=prior > 0))


def _members(classes: Classes) -> Any:
    """Classes × records: 1 for each record of the class."""
    from scipy.sparse import csr_array

    of = classes.of_record
    return csr_array((np.ones(len(of)), (of, np.arange(len(of)))), shape=(len(classes), len(of)))
