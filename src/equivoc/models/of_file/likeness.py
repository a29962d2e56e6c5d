"""β-likeness and δ-disclosure privacy: how much more (or less) frequent a value is in a class than among everyone."""

from __future__ import annotations

from dataclasses import dataclass
from math import inf, isinf
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from equivoc.checks import check_choice
from equivoc.data.classes import Classes
from equivoc.data.microdata import Microdata
from equivoc.errors import InputError
from equivoc.models.of_file.identification import counted
from equivoc.models.of_file.measure import Known, Measure, known_classes
from equivoc.text import bits, figure, part

KINDS = ("basic", "enhanced")
_ROUNDING = 1e-12


class Ratios(NamedTuple):
    """Of each value in each class, in the order of the classes' counts."""

    times: NDArray[np.float64]
    """q/p: its share in the class over its share among everyone."""
    share: NDArray[np.float64]
    """p: its share among everyone."""


def beta_likeness(people: Microdata, *, known: Known = None, kind: str = "basic") -> float:
    """The smallest β with which every class is β-like: the largest relative gain in the frequency of a value.

    With p_i the share of value i among everyone and q_i > p_i its share in a class, the gain is (q_i − p_i)/p_i.

    - ``kind="basic"``: β = max (q_i − p_i)/p_i over all classes and values; 1 means that some value is twice as
      frequent in a class as among everyone.
    - ``"enhanced"``: in addition no gain may exceed −ln p_i, which keeps a class from consisting of one frequent value
      only. Where one does, no β suffices, and the result is infinite.

    Smaller is safer; 0: all classes are distributed alike. Losses (q_i < p_i) do not count. Unlike t-closeness, a rare
    value counts as much as a frequent one. Source: J. Cao and P. Karras, Publishing microdata with a robust privacy
    guarantee, PVLDB 5 (2012), 1388–1399, definitions 2 and 3.

    >>> import pandas as pd
    >>> frame = pd.DataFrame({"sex": list("FFFFMMMM"), "pay": [1, 1, 1, 2, 1, 2, 2, 2]})
    >>> people = Microdata(frame, confidential="pay", keys=["sex"])
    >>> beta_likeness(people), beta_likeness(people, kind="enhanced")         # 3/4 against 1/2; −ln ½ = 0.69
    (0.5, 0.5)
    """
    check_choice("kind", kind, KINDS)
    return beta_of(ratios(known_classes(people, known)), kind)


def beta_of(found: Ratios, kind: str) -> float:
    """β of these ratios."""
    if kind == "enhanced" and excessive(found).any():
        return inf
    return _without_rounding(float(found.times.max()) - 1)


def excessive(found: Ratios) -> NDArray[np.bool_]:
    """Of each value in each class: is its gain above −ln p, which enhanced β-likeness rules out?"""
    return np.asarray(found.times - 1 > -np.log(found.share) + _ROUNDING)


def delta_disclosure(people: Microdata, *, known: Known = None, absent: bool = True) -> float:
    """The δ that the classes stay below: the largest |log2 (q_i/p_i)| over all classes and values, in bits.

    With p_i the share of value i among everyone and q_i its share in a class. The file is δ-disclosure private for
    every δ above this. Smaller is safer; 0: all classes are distributed alike. A value that someone has and a class
    lacks has q_i = 0, which makes it infinite: the class rules that value out. ``absent=False`` leaves such values out
    and looks only at those that occur in the class.

    Source: J. Brickell and V. Shmatikov, The cost of privacy: destruction of data-mining utility in anonymized data
    publishing (KDD 2008), definition 2. The base of the logarithm is ours; times ln 2 it is the natural one.

    >>> import pandas as pd
    >>> frame = pd.DataFrame({"sex": list("FFFFMMMM"), "pay": [1, 1, 1, 2, 1, 2, 2, 2]})
    >>> delta_disclosure(Microdata(frame, confidential="pay", keys=["sex"]))        # 1/4 against 1/2
    1.0
    """
    if not isinstance(absent, (bool, np.bool_)):
        raise InputError(f"absent must be True or False, not {absent!r}.")
    classes = known_classes(people, known)
    if absent and lacking(classes).any():
        return inf
    return delta_of(ratios(classes))


def delta_of(found: Ratios) -> float:
    """The largest |log2 (q/p)| of the values that occur in the classes."""
    return _without_rounding(float(np.abs(np.log2(found.times)).max()))


def lacking(classes: Classes) -> NDArray[np.bool_]:
    """Of each class: does it lack a value that someone else has?"""
    counts = classes.counts
    occurring = int(np.count_nonzero(np.bincount(counts.indices, minlength=counts.shape[1])))
    return np.asarray(np.diff(counts.indptr) < occurring)


def ratios(classes: Classes) -> Ratios:
    """q/p and p of every value that occurs in a class."""
    counts = classes.counts
    everyone = np.bincount(counts.indices, weights=counts.data, minlength=counts.shape[1])
    share = everyone[counts.indices] / len(classes.people)
    return Ratios(counts.data / np.repeat(classes.sizes, np.diff(counts.indptr)) / share, share)


def _without_rounding(figure: float) -> float:
    return figure if figure > _ROUNDING else 0.0


# β-likeness and δ-disclosure privacy of a file, each with a sentence about its value.


def likeness_measures(classes: Classes) -> list[Measure]:
    """Basic and enhanced β; δ by its definition, and of the values that occur in the classes."""
    unit, found, absent = classes.people.confidential, ratios(classes), lacking(classes)
    beta, enhanced, delta = beta_of(found, "basic"), beta_of(found, "enhanced"), delta_of(found)
    times = figure(1 + beta)
    frequent = int(classes.sizes[np.logical_or.reduceat(excessive(found), classes.counts.indptr[:-1])].sum())
    lack = part(int(np.sum(classes.sizes[absent])), len(classes.people))
    return [
        Measure(
            "β-likeness, basic",
            beta,
            f"In the worst class one {unit} is {times} times as frequent as among everyone, a gain of {figure(beta)}; "
            "less is safer.",
        ),
        Measure(
            "β-likeness, enhanced",
            enhanced,
            f"No β suffices: in the classes of {part(frequent, len(classes.people))} some {unit} of share p among "
            "everyone gains more than −ln p; less is safer."
            if isinf(enhanced)
            else f"The largest gain is {figure(enhanced)}, and no {unit} of share p gains more than −ln p; "
            "less is safer.",
        ),
        Measure(
            "δ-disclosure privacy",
            inf if absent.any() else delta,
            f"For {lack} the class lacks a {unit} that others have, and so rules it out; less is safer."
            if absent.any()
            else f"Each {unit} occurs in every class, and its share differs from everyone's by at most {bits(delta)}; "
            "less is safer.",
        ),
        Measure(
            "δ-disclosure privacy, values that occur",
            delta,
            f"Where it occurs, a {unit} is up to {figure(2.0**delta)} times more or less frequent than among everyone, "
            f"{bits(delta)}; less is safer.",
        ),
    ]


# δ-presence: bounds of the probability that a person of the population is in the file.


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
