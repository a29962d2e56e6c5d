"""Prosecutor, journalist and marketer risk: the chance of identifying a record in three kinds of attack."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from equivoc.arguments import checked_number
from equivoc.data.microdata import Microdata
from equivoc.models.known_classes import Known, known_classes
from equivoc.models.of_file.population import FILE, behind


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


def prosecutor_risk(people: Microdata, *, known: Known = None, threshold: float = 0.2) -> IdentificationRisk:
    """The risk if the intruder knows that the target is in the file: 1/f in a class of f records.

    Highest: 1/min f. Average: (number of classes)/n. Above: the share of records in classes with 1/f > ``threshold``
    (0.2: fewer than five alike). Source: El Emam and Dankar (2008), Protecting privacy using k-anonymity; the figures
    as in El Emam (2013), Guide to the de-identification of personal health information.

    >>> import pandas as pd
    >>> frame = pd.DataFrame({"sex": list("FFFFFFM"), "pay": range(7)})
    >>> found = prosecutor_risk(Microdata(frame, confidential="pay", keys=["sex"]))
    >>> found.highest, round(found.average, 3), round(found.above, 3)
    (1.0, 0.286, 0.143)
    """
    threshold = _checked_threshold(threshold)
    sizes = known_classes(people, known).sizes
    return IdentificationRisk(
        highest=1 / float(sizes.min()),
        average=len(sizes) / len(people),
        above=float(sizes[1 / sizes > threshold].sum()) / len(people),
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
