"""The register intruder: informed, and she knows the keys of everybody in the file, so records compete for people.

The likelihoods P(released record | keys of a person) are scaled until every record and every person counts once
(`beliefs.register`). The result differs from the informed linkage only where a known key was changed. She is less
certain than possible: the scaling approximates a quotient of permanents.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from equivoc.data.classes import Classes
from equivoc.intruder.beliefs.register import register_linkage
from equivoc.intruder.posteriors import Posteriors
from equivoc.intruder.strengths.evidence import Evidence

Floats = NDArray[np.float64]
MOST_PEOPLE = 10_000
"""In a file with more people, the strongest intruder is chosen without this one."""


def with_register(evidence: Evidence, classes: Classes, prior: Floats) -> Posteriors:
    """The posterior of each class; InputError if there are too many pairs of a person and a record."""
    columns = [evidence.people.keys.index(name) for name in classes.known]
    file = evidence.symbols_given_levels()
    found = register_linkage(classes.key_codes, classes.sizes, file, known=columns)
    return Posteriors(classes, evidence.people.attribute, found.linkage, evidence.told(prior))


def without_register(evidence: Evidence | None, classes: Classes) -> str:
    """Why a register adds nothing, or is too costly for a file of this size; "" if neither."""
    if evidence is None:
        return "the release has no records that a register could be compared with"
    if not evidence.changed(classes.known):
        return "no known key was changed, so a register adds nothing"
    if len(evidence.people) > MOST_PEOPLE:
        return f"the file has more than {MOST_PEOPLE:,} people; select this intruder to use it"
    return ""
