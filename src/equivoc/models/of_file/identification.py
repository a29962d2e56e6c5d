"""Prosecutor, journalist and marketer risk: the chance of identifying a record in three kinds of attack."""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from equivoc.checks import checked_number
from equivoc.data.classes import Classes, class_of_records
from equivoc.data.microdata import Microdata, check_people
from equivoc.data.missing_keys import OWN, matches
from equivoc.errors import InputError
from equivoc.models.of_file.measure import Known, known_classes

# The number of people in the population for each class of a file.

FILE = "the file itself"
WEIGHTS = "the survey weights"
GIVEN = "the population given"


@dataclass(frozen=True, eq=False)
class Population:
    """The population counts of a file's classes, and their source."""

    sizes: NDArray[np.float64] = field(repr=False)
    """F: how many people of the population share each class's keys; never fewer than the file has."""
    source: str
    """The population given, the survey weights, or the file itself."""
    absent: int = 0
    """How many classes of the population nobody in the file belongs to (0 if that is not known)."""


def behind(classes: Classes, population: Microdata | None) -> Population:
    """The population of each class: counted in ``population``, else the weights' sums, else the class itself."""
    if population is not None:
        return counted(classes, population)
    if classes.people.weights is not None:
        return weighted(classes)
    return Population(classes.sizes.astype(np.float64), FILE)


def weighted(classes: Classes, missing_keys: str = OWN) -> Population:
    """Each class's sum of survey weights, and at least its records: a class cannot be larger than its population."""
    weights = classes.weights
    if weights is None:
        raise InputError("the people have no survey weights; name their column with Microdata(…, weights=…).")
    if weights.sum() < len(classes.people) * (1 - 1e-9):
        raise InputError(
            f"the survey weights sum to {weights.sum():g}, fewer than the {len(classes.people):,} records; "
            "give weights that sum to the size of the population."
        )
    found = matches(classes, missing_keys)
    assert found.weights is not None
    return Population(np.maximum(found.weights, found.sizes), WEIGHTS)


def counted(classes: Classes, population: Microdata) -> Population:
    """The records of ``population`` with the same key values; InputError unless they can include the file's."""
    check_people("population", population)
    for name in classes.known:
        if name not in population.keys:
            raise InputError(f"the population has no key {name!r}; name it among its keys.")
    everyone = population.classes(classes.known)
    places = {name: {v: at for at, v in enumerate(population.levels(name))} for name in classes.known}
    mapped = np.empty_like(classes.key_codes)
    for column, name in enumerate(classes.known):
        there = np.array([places[name].get(v, -1) for v in classes.people.levels(name)], np.int32)
        mapped[:, column] = there[classes.key_codes[:, column]]
    found = class_of_records(everyone.key_codes, list(np.maximum(mapped, 0).T), len(classes))
    found = np.minimum(found, len(everyone) - 1)
    present = np.all(everyone.key_codes[found] == mapped, axis=1)
    sizes = np.where(present, everyone.sizes[found], 0)
    short = np.flatnonzero(sizes < classes.sizes)
    if short.size:
        at = int(short[0])
        keys = (
            classes.people.levels(n)[c] for n, c in zip(classes.known, classes.key_codes[at], strict=True)
        )
        who = (
            ", ".join(f"{name} {key!r}" for name, key in zip(classes.known, keys, strict=True)) or "everyone"
        )
        raise InputError(
            f"the file has {classes.sizes[at]} of the people with {who}, the population {sizes[at]}; "
            "give a population that includes the people of the file."
        )
    return Population(sizes.astype(np.float64), GIVEN, len(everyone) - len(classes))


@dataclass(frozen=True)
class IdentificationRisk:
    """Chances that a record is correctly identified, 0 … 1. Smaller is safer."""

    highest: float
    """The highest risk of a record."""
    average: float
    """The mean over records (for the journalist: see `journalist_risk`)."""
    above: float
    """The share of records whose chance exceeds ``threshold``."""
    threshold: float
    population: str
    """The source of the population counts."""


@dataclass(frozen=True)
class MarketerRisk:
    """The number of records identified by matching the whole file. Smaller is safer."""

    share: float
    """The expected share of records that are identified correctly."""
    expected: float
    """Their expected number."""
    population: str
    """The source of the population counts."""


def prosecutor_risk(
    people: Microdata, *, known: Known = None, threshold: float = 0.2, missing_keys: str = OWN
) -> IdentificationRisk:
    """The risk if the intruder knows that the target is in the file: 1/f in a class of f records.

    Highest: 1/min f. Average: (number of classes)/n. Above: the share of records in classes with 1/f > ``threshold``
    (0.2: fewer than five alike). With ``missing_keys="any"`` f counts every record that could be equal to it, as in
    `k_anonymity`, and the average is that of 1/f over records. Source: El Emam and Dankar (2008), Protecting privacy
    using k-anonymity; the figures as in El Emam (2013), Guide to the de-identification of personal health information.

    >>> import pandas as pd
    >>> frame = pd.DataFrame({"sex": list("FFFFFFM"), "pay": range(7)})
    >>> found = prosecutor_risk(Microdata(frame, confidential="pay", keys=["sex"]))
    >>> found.highest, round(found.average, 3), round(found.above, 3)
    (1.0, 0.286, 0.143)
    """
    threshold = _checked_threshold(threshold)
    classes = known_classes(people, known)
    own, found = classes.sizes, matches(classes, missing_keys).sizes
    # Where each class is counted alone, Σ size/size is the number of classes, without rounding.
    sums = float(len(own)) if found is own else float((own / found).sum())
    return IdentificationRisk(
        highest=1 / float(found.min()),
        average=sums / len(people),
        above=float(own[1 / found > threshold].sum()) / len(people),
        threshold=threshold,
        population=FILE,
    )


def journalist_risk(
    people: Microdata, *, known: Known = None, population: Microdata | None = None, threshold: float = 0.2
) -> IdentificationRisk:
    """The risk if she does not know who is in the file: 1/F for F people of the population with the class's keys.

    F is counted in ``population`` (Microdata with the same keys that includes the people of the file); without one it
    is the class's sum of survey weights, and without weights f itself: then the file is the population, and journalist
    and prosecutor risk are equal. ``.population`` says which. Highest: 1/min F. Above: the share of records
    in classes with 1/F > ``threshold``. Average: the larger of J/Σ F over the file's J classes (she starts from a
    person) and 1/n · Σ f/F (she starts from a record). Sources: as for `prosecutor_risk`.

    >>> import pandas as pd
    >>> frame = pd.DataFrame({"sex": list("FFFM"), "pay": range(4), "w": [2, 3, 5, 4]})
    >>> found = journalist_risk(Microdata(frame, confidential="pay", keys=["sex"], weights="w"))
    >>> found.highest, round(found.average, 4), found.population
    (0.25, 0.1429, 'the survey weights')
    """
    threshold = _checked_threshold(threshold)
    classes = known_classes(people, known)
    found = behind(classes, population)
    from_person = len(classes) / float(found.sizes.sum())
    from_record = float((classes.sizes / found.sizes).sum()) / len(people)
    return IdentificationRisk(
        highest=1 / float(found.sizes.min()),
        average=max(from_person, from_record),
        above=float(classes.sizes[1 / found.sizes > threshold].sum()) / len(people),
        threshold=threshold,
        population=found.source,
    )


def marketer_risk(
    people: Microdata, *, known: Known = None, population: Microdata | None = None
) -> MarketerRisk:
    """The share of all records that she identifies by matching the whole file with the population: 1/n · Σ f/F.

    F as for `journalist_risk`. Source: El Emam (2013), Guide to the de-identification of personal health information;
    Dankar and El Emam (2010), A method for evaluating marketer re-identification risk.

    >>> import pandas as pd
    >>> frame = pd.DataFrame({"sex": list("FFFM"), "pay": range(4)})
    >>> marketer_risk(Microdata(frame, confidential="pay", keys=["sex"]))
    MarketerRisk(share=0.5, expected=2.0, population='the file itself')
    """
    classes = known_classes(people, known)
    found = behind(classes, population)
    expected = float(np.sum(classes.sizes / found.sizes))
    return MarketerRisk(expected / len(people), expected, found.source)


def _checked_threshold(threshold: float) -> float:
    return checked_number("threshold", threshold, "a chance from 0 to 1", lambda x: 0 <= x <= 1)


# Individual risk: the chance that a survey record is identified, from the survey weights.

Floats = NDArray[np.float64]

# Up to this class size the recurrence is used where it is stable; beyond it the series needs few terms.
_LONGEST_RECURRENCE = 32
# Enough for 2^-53: a term is at most 2^-j where q ≤ ½, and 1 / C(f + j, j) of the first for any f.
_TERMS = 56
# Terms below this share of their sum change none of its bits, and those after them are smaller still.
_LAST = 2.0**-56


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


def individual_risk(people: Microdata, *, known: Known = None, missing_keys: str = OWN) -> IndividualRisk:
    """Each record's risk E[1/F | f] by Benedetti and Franconi: f records of a class, F people in the population.

    F given f is negative binomial with the class's sampling rate p = f / (sum of its survey weights), so

        r = p^f / f · ₂F₁(f, f; f + 1; q) = p · I_f,   q = 1 − p,   I_f = ∫_0^1 (1−t)^(f−1) / (1 − q·t) dt,

    in closed form I_1 = ln(1/p) / q and I_(f+1) = (1/f − p · I_f) / q. A class whose weights sum to no more than its
    records is complete: r = 1/f. Weights are needed. With ``missing_keys="any"`` a missing key matches any value, as in
    sdcMicro (method "exact"): f and the weights are those of all records that could be equal to it. Sources: Benedetti
    and Franconi (1998), Statistical and technological solutions for controlled data dissemination; Franconi and
    Polettini (2004), Individual risk estimation in µ-Argus: a review.

    >>> import pandas as pd
    >>> frame = pd.DataFrame({"sex": list("FFM"), "pay": range(3), "w": [180, 180, 215]})
    >>> found = individual_risk(Microdata(frame, confidential="pay", keys=["sex"], weights="w"))
    >>> found.risk.round(4), round(found.expected, 4)
    (array([0.0054, 0.0054, 0.0251]), 0.0359)
    """
    classes = known_classes(people, known)
    sizes = matches(classes, missing_keys).sizes
    return IndividualRisk(classes, chance_of_link(sizes, weighted(classes, missing_keys).sizes))


def chance_of_link(sizes: NDArray[np.int64], population: Floats) -> Floats:
    """E[1/F | f] of classes with f = ``sizes`` records whose weights sum to ``population``, at least f; 0 where f is 0.

    >>> chance_of_link(np.array([2, 1, 0]), np.array([360.0, 215.0, 10.0])).round(4)
    array([0.0054, 0.0251, 0.    ])
    """
    some = np.asarray(sizes) > 0
    found = np.zeros(len(some))
    rate = np.minimum(sizes[some] / population[some], 1.0)
    found[some] = rate * _integral(sizes[some], rate)
    return found


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
        if (term < _LAST * found).all():
            break
    return found
