"""Individual risk: the chance that a survey record is identified, from the survey weights."""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from equivoc.data.classes import Classes
from equivoc.data.microdata import Microdata
from equivoc.models.known_classes import Known, known_classes
from equivoc.models.of_file.population import weighted

Floats = NDArray[np.float64]

# Up to this class size the recurrence is used where it is stable; beyond it the series needs few terms.
_LONGEST_RECURRENCE = 32
# Enough for 2^-53: a term is at most 2^-j where q ≤ ½, and 1 / C(f + j, j) of the first for any f.
_TERMS = 56


@dataclass(frozen=True, eq=False)
class IndividualRisk:
    """The chance of each record to be identified, and their sum. Smaller is safer."""

    classes: Classes = field(repr=False)
    of_class: Floats = field(repr=False)
    """The risk of each class's records."""

    @cached_property
    def risk(self) -> Floats:
        """Each record's risk, in the file's order."""
        return self.of_class[self.classes.of_record]

    @property
    def highest(self) -> float:
        return float(self.of_class.max())

    @property
    def expected(self) -> float:
        """The global risk as a number: how many records can be expected to be identified."""
        return float(self.of_class @ self.classes.sizes)

    @property
    def share(self) -> float:
        """The global risk as a share of the records."""
        return self.expected / len(self.classes.people)


def individual_risk(people: Microdata, *, known: Known = None) -> IndividualRisk:
    """Each record's risk E[1/F | f] by Benedetti and Franconi: f records of a class, F people in the population.

    F given f is negative binomial with the class's sampling rate p = f / (sum of its survey weights), so

        r = p^f / f · ₂F₁(f, f; f + 1; q) = p · I_f,   q = 1 − p,   I_f = ∫_0^1 (1−t)^(f−1) / (1 − q·t) dt,

    in closed form I_1 = ln(1/p) / q and I_(f+1) = (1/f − p · I_f) / q. A class whose weights sum to no more than its
    records is complete: r = 1/f. Weights are needed. Sources: Benedetti and Franconi (1998), Statistical and
    technological solutions for controlled data dissemination; Franconi and Polettini (2004), Individual risk estimation
    in µ-Argus: a review.

    >>> import pandas as pd
    >>> frame = pd.DataFrame({"sex": list("FFM"), "pay": range(3), "w": [180, 180, 215]})
    >>> found = individual_risk(Microdata(frame, confidential="pay", keys=["sex"], weights="w"))
    >>> found.risk.round(4), round(found.expected, 4)
    (array([0.0054, 0.0054, 0.0251]), 0.0359)
    """
    classes = known_classes(people, known)
    rate = classes.sizes / weighted(classes).sizes
    return IndividualRisk(classes, rate * _integral(classes.sizes, rate))


def _integral(sizes: NDArray[np.int64], rate: Floats) -> Floats:
    """I_f of each class. The forward recurrence multiplies rounding errors by p/q, so it is used for p ≤ ½ only."""
    found = np.empty(sizes.size)
    climbing = (rate <= 0.5) & (sizes <= _LONGEST_RECURRENCE)
    found[climbing] = _recurrence(sizes[climbing], rate[climbing])
    found[~climbing] = _series(sizes[~climbing], 1 - rate[~climbing])
    return found


def _recurrence(sizes: NDArray[np.int64], p: Floats) -> Floats:
    q = 1 - p
    found = -np.log(p) / q
    for f in range(1, int(sizes.max(initial=1))):
        found = np.where(sizes > f, (1 / f - p * found) / q, found)
    return found


def _series(sizes: NDArray[np.int64], q: Floats) -> Floats:
    """I_f = 1/f · Σ_j q^j · j! / ((f+1)(f+2)…(f+j)): every term is positive, so nothing cancels."""
    term = 1 / sizes
    found = term.copy()
    for j in range(1, _TERMS):
        term = term * q * (j / (sizes + j))
        found += term
    return found
