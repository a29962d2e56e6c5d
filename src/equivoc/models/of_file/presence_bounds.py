"""δ-presence: bounds of the probability that a person of the population is in the file."""

from __future__ import annotations

from dataclasses import dataclass

from equivoc.data.microdata import Microdata
from equivoc.models.known_classes import Known, known_classes
from equivoc.models.of_file.population import counted


@dataclass(frozen=True)
class DeltaPresence:
    """The least and the greatest chance that a person of the population is in the file."""

    low: float
    """0: of some people it is certain that they are not in it."""
    high: float
    """1: of some people it is certain that they are in it. Smaller is safer."""


def delta_presence(people: Microdata, *, population: Microdata, known: Known = None) -> DeltaPresence:
    """The chances f/F that someone who shares a class's keys is one of the file's f among the population's F.

    The file is (δ_min, δ_max)-present for ``low`` and ``high``. If membership in the file is confidential (patients
    of a clinic), ``high`` near 1 discloses it. ``population`` is Microdata with the same keys that includes the
    people of the file; its confidential column is ignored. Source: Nergiz, Atzori and Clifton (2007), Hiding the
    presence of individuals from shared databases.

    >>> import pandas as pd
    >>> everyone = pd.DataFrame({"sex": list("FFFFMMU"), "pay": range(7)})
    >>> public = Microdata(everyone, confidential="pay", keys=["sex"])
    >>> private = Microdata(everyone.iloc[[0, 1, 2, 4]], confidential="pay", keys=["sex"])
    >>> delta_presence(private, population=public)
    DeltaPresence(low=0.0, high=0.75)
    """
    classes = known_classes(people, known)
    found = counted(classes, population)
    chances = classes.sizes / found.sizes
    return DeltaPresence(low=0.0 if found.absent else float(chances.min()), high=float(chances.max()))
