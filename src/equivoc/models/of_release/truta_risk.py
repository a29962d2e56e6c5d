"""Truta, Fotouhi and Barth-Jones: minimal, maximal and weighted share of records that can be identified."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray

from equivoc.data.microdata import Microdata
from equivoc.data.reading.columns import fixed
from equivoc.errors import InputError
from equivoc.intruder.release import Release
from equivoc.models.known_classes import Known, known_classes
from equivoc.models.of_release.released_table import Crossing, crossing, released_table

Floats = NDArray[np.float64]
_SIZES = np.arange(1, 6)
DEFAULT_WEIGHTS: Floats = fixed((6 - np.maximum.outer(_SIZES, _SIZES)) / 5)
"""5 × 5: 1, 0.8, 0.6, 0.4, 0.2 where the larger of the two classes has 1, 2, 3, 4, 5 records; none counts beyond."""


@dataclass(frozen=True)
class Truta:
    """Shares of the released records, from 0 to 1. Lower is safer; minimal ≤ weighted ≤ maximal."""

    minimal: float
    """Records that are unique in both files: an exact match identifies them."""
    maximal: float
    """All records, each weighted with the chance that a random match is correct."""
    weighted: float
    """The same chances, multiplied by the data owner's weights for class sizes."""


def truta(
    people: Microdata,
    release: Release,
    *,
    known: Known = None,
    weights: ArrayLike | None = None,
) -> Truta:
    """Identification by exact matches on the ``known`` keys (None: all): certain matches only, and any match.

    With c_Ff the number of released records that are still in their owner's class, where that class has F records in
    the original and f in the release, n the released records, and W = (w_Ff) the weights,

        minimal = c_11 / n,   maximal = Σ c_Ff / max(F, f) / n,   weighted = Σ w_Ff / w_11 · c_Ff / max(F, f) / n.

    1/max(F, f) is the chance that a record is paired with its original when the records of a class are paired at
    random; in a sample it is 1/F. ``weights`` is a matrix: rows for F = 1, 2, …, columns for f = 1, 2, …; larger
    classes weigh nothing. No weight may exceed the first, w_11. Without one, `DEFAULT_WEIGHTS`: 1, 0.8, 0.6, 0.4, 0.2
    for max(F, f) = 1 … 5. W = [[1]] makes weighted the minimal, equal weights for all sizes make it the maximal.

    Sources: T. M. Truta, F. Fotouhi, D. Barth-Jones, Disclosure risk measures for microdata (SSDBM 2003) and for the
    sampling disclosure control method (SAC 2004). Theirs are the three measures and the matrix by sizes in both files;
    shares of the *released* records, max(F, f) for releases other than samples, and the default matrix are ours.

    >>> import pandas as pd
    >>> from equivoc.techniques.unprotected import Unprotected
    >>> frame = pd.DataFrame({"age": [30, 41, 41, 52, 52, 52, 52, 52], "pay": range(8)})
    >>> people = Microdata(frame, confidential="pay", keys=["age"])
    >>> truta(people, Unprotected().release(people))
    Truta(minimal=0.125, maximal=0.375, weighted=0.25)
    """
    matrix = _checked(DEFAULT_WEIGHTS if weights is None else weights)
    return identified(crossing(released_table(people, release), known_classes(people, known).known), matrix)


def identified(classes: Crossing, weights: Floats = DEFAULT_WEIGHTS) -> Truta:
    """The three shares from counted classes and a checked matrix of weights."""
    shared = (classes.original > 0) & (classes.own > 0)
    original, released, own = (c[shared] for c in (classes.original, classes.released, classes.own))
    rows = int(classes.released.sum())
    chances = own / np.maximum(original, released)
    held = (original <= weights.shape[0]) & (released <= weights.shape[1])
    weight = weights[original[held] - 1, released[held] - 1] / weights[0, 0]
    return Truta(
        minimal=int(np.count_nonzero((original == 1) & (released == 1))) / rows,
        maximal=float(chances.sum()) / rows,
        weighted=float((weight * chances[held]).sum()) / rows,
    )


def _checked(weights: ArrayLike) -> Floats:
    try:
        matrix = np.asarray(weights, dtype=np.float64)
    except (TypeError, ValueError):
        raise InputError("weights must be a matrix of numbers, such as [[1, 0.5], [0.5, 0.5]].") from None
    if matrix.ndim != 2 or matrix.size == 0:
        raise InputError(
            f"weights has shape {matrix.shape}; give a matrix: "
            "rows for class sizes in the original, columns for those in the release."
        )
    wrong = np.argwhere(~(np.isfinite(matrix) & (matrix >= 0)))
    if wrong.size:
        row, column = wrong[0]
        raise InputError(
            f"weights[{row}][{column}] is {matrix[row, column]}; a weight is a finite number, at least 0."
        )
    if matrix[0, 0] == 0 or matrix.max() > matrix[0, 0]:
        raise InputError(
            f"weights[0][0] is {matrix[0, 0]:g}; records unique in both files must have the largest weight, above 0."
        )
    return matrix
