"""The informed intruder: Bayes' rule with the public prior, the mechanism, and the number N of people like the target.

Where no known key was changed, every record of the class is equally likely the target's. Otherwise released record r
matches the known values v with probability ``p_r = Π_a P(x_ra = v_a | released)``, and N records match: the
probability that r is the target's is that of r being among them, divided by N (`beliefs.conditional_bernoulli`).
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from equivoc.data.classes import Classes
from equivoc.intruder.beliefs.informed_linkage import informed_linkage, too_many_pairs
from equivoc.intruder.posteriors import Posteriors
from equivoc.intruder.strengths.evidence import Evidence, symbol_count

Floats = NDArray[np.float64]


def informed(evidence: Evidence, classes: Classes, prior: Floats) -> Posteriors:
    """The posterior of each class."""
    return Posteriors(classes, evidence.people.attribute, link(evidence, classes), evidence.told(prior))


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
