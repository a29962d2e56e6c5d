"""The measure and the truth for every class of one intruder's posteriors: computed once, block by block."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from equivoc.data.classes import Classes
from equivoc.engines.engine import checksums
from equivoc.errors import InputError
from equivoc.intruder.posteriors import Posteriors, ranges

Floats = NDArray[np.float64]
CHECKED_ROWS = 3
"""How many estimated areas are compared with certified ones."""
ELSEWHERE_FROM = 2**22
"""With fewer combinations of class and value than this, measuring here takes less time than asking a cluster."""


@dataclass(frozen=True, eq=False)
class ClassFigures:
    """H0, area, ε_max and hit rates of every class, and how often her best guess is right.

    Entropies are in bits, areas in bits × the attribute's unit. Less is riskier; for hits, more is.
    """

    sizes: NDArray[np.int64] = field(repr=False)
    """How many people each class has."""
    h0: Floats = field(repr=False)
    area: Floats = field(repr=False)
    eps_max: Floats = field(repr=False)
    mean_entropy: Floats = field(repr=False)
    """The area divided by the width of the domain, in bits."""
    estimated: NDArray[np.bool_] = field(repr=False)
    """True if the area is an estimate: for classes with many values, unless a tolerance is given."""
    largest_error: float | None
    """The largest relative error of the estimates that were checked; None if no area is estimated."""
    hit: dict[float, Floats] = field(repr=False)
    """By tolerance: the mass of her best window."""
    right: dict[float, Floats] = field(repr=False)
    """By tolerance, for each entry of ``classes.counts``: the chance that her best guess is within ε/2 of it."""
    surprises: dict[float, Floats] = field(default_factory=dict, repr=False)
    """By tolerance, for each entry of ``classes.counts``: the surprise in bits of someone who believes the posterior,
    if it was computed with the figures; else empty."""

    @property
    def means(self) -> dict[str, Any]:
        """Averages over people: h0, area, mean_entropy, and hit by tolerance."""
        return {
            **{name: self.mean(getattr(self, name)) for name in ("h0", "area", "mean_entropy")},
            "hit": {e: self.mean(hit) for e, hit in self.hit.items()},
        }

    def mean(self, figure: Floats) -> float:
        """The average over people."""
        return float(np.average(figure, weights=self.sizes))


def class_figures(
    posteriors: Posteriors, eps: Sequence[float], *, tolerance: float | None = None, truth: bool = True
) -> ClassFigures:
    """Measure every class. ``tolerance`` certifies areas of classes with many values; None estimates them.

    ``truth=False`` leaves out how often guesses are right (``right`` is then empty).
    """
    classes, geometry = posteriors.classes, posteriors.attribute.geometry
    elsewhere = measured_elsewhere(posteriors, eps, tolerance=tolerance) if truth else None
    if elsewhere is not None:
        return elsewhere
    counts = classes.counts if truth else None
    truths = true_places(classes, posteriors) if truth else np.empty(0)
    h0, area, eps_max = (np.empty(len(posteriors)) for _ in range(3))
    estimated = np.empty(len(posteriors), np.bool_)
    hits = {e: np.empty(len(posteriors)) for e in eps}
    right = {e: np.empty(len(truths)) for e in eps} if truth else {}
    error = None
    for part, measured in posteriors.measured(tolerance=tolerance):
        h0[part], area[part], eps_max[part] = measured.h0, measured.area, measured.eps_max
        estimated[part] = measured.estimated
        for e, hit in hits.items():
            hit[part] = measured.hit(e)
        if counts is not None:
            begins, ends = counts.indptr[part].astype(np.int64), counts.indptr[part + 1].astype(np.int64)
            entries, bounds = ranges(begins, ends), np.concatenate([[0], np.cumsum(ends - begins)])
            for e, share in right.items():
                share[entries] = measured.right_guesses(e, truths[entries], bounds)
        if error is None and measured.estimated.any():
            error = measured.check_estimates(CHECKED_ROWS)
    return ClassFigures(
        classes.sizes,
        h0,
        area,
        eps_max,
        area / geometry.width if geometry.width else np.zeros_like(area),
        estimated,
        error,
        hits,
        right,
    )


def measured_elsewhere(
    posteriors: Posteriors, eps: Sequence[float], *, tolerance: float | None
) -> ClassFigures | None:
    """The same figures, computed by the engine that holds the people; None if it cannot, or if there are few.

    Only for posteriors that are the classes' own distributions: no other leaves the engine's counts as they are.
    """
    classes = posteriors.classes
    if posteriors.linkage is not classes.counts or len(classes.cells) < ELSEWHERE_FROM:
        return None
    found = classes.people.measured_by_engine(classes.known, eps=eps, tolerance=tolerance)
    if found is None:
        return None
    counts = classes.counts
    columns = {name: found.column(name).combine_chunks() for name in found.column_names}
    if not np.array_equal(columns["check"], checksums(counts.indices, counts.data, counts.indptr[:-1])):
        raise InputError("the data have changed since they were counted: read them again")
    area, width = np.array(columns["area"]), posteriors.attribute.geometry.width
    errors = columns["error"].drop_null()
    return ClassFigures(
        classes.sizes,
        np.array(columns["h0"]),
        area,
        np.array(columns["eps_max"]),
        area / width if width else np.zeros_like(area),
        np.asarray(columns["estimated"].to_numpy(zero_copy_only=False), np.bool_),
        float(np.max(errors)) if len(errors) else None,
        {e: np.array(columns[f"hit{at}"]) for at, e in enumerate(eps)},
        {e: np.array(columns[f"right{at}"].flatten()) for at, e in enumerate(eps)},
        {e: np.array(columns[f"surprise{at}"].flatten()) for at, e in enumerate(eps)},
    )


def true_places(classes: Classes, posteriors: Posteriors) -> Floats:
    """Where the true value of each entry of ``classes.counts`` lies in the posteriors' geometry.

    The classes may be those of a control group, whose values need not be in the domain: a number keeps its position, a
    category outside the domain gets −1.
    """
    own, theirs = posteriors.attribute, classes.people.attribute
    places = own.geometry.positions if own is theirs else own.places_of(theirs)
    return np.asarray(places[classes.counts.indices])


# How often best guesses are right: per class, and record by record.

Shares = Mapping[float, Floats]
"""For each tolerance and entry of ``classes.counts``, the chance that her guess is right (`ClassFigures.right`)."""


def true_hits(classes: Classes, shares: Shares) -> dict[float, Floats]:
    """Per class and tolerance: the share of its people whose true value is within ε/2 of the best guess."""
    counts, row = members(classes)
    return {
        e: np.bincount(row, weights=counts.data * share, minlength=counts.shape[0]) / classes.sizes
        for e, share in shares.items()
    }


def of_records(classes: Classes, entries: Floats) -> Floats:
    """Figures of the entries of ``classes.counts``, record by record."""
    return np.asarray(entries[entry_numbers(classes, classes.of_record, classes.people.codes)])


def entry_numbers(classes: Classes, of: NDArray[Any], codes: NDArray[Any]) -> NDArray[np.int64]:
    """The entry of ``classes.counts`` of each record, given its class and the code of its value."""
    counts = classes.counts
    # Rows come one after the other, and columns ascend within a row, so the entries' codes ascend.
    entry = np.repeat(np.arange(counts.shape[0]), np.diff(counts.indptr)) * counts.shape[1] + counts.indices
    return np.asarray(np.searchsorted(entry, of.astype(np.int64) * counts.shape[1] + codes))


def members(classes: Classes) -> tuple[Any, NDArray[np.int64]]:
    """The people of the classes by value, and the class of each entry."""
    counts = classes.counts
    return counts, np.repeat(np.arange(counts.shape[0]), np.diff(counts.indptr))
