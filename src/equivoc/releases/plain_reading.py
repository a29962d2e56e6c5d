"""The plain intruder: she takes each released value at its word, or as the middle of a bell curve.

She links records to people by the keys that fit (exact matching). A released number y stands for y itself, or for the
values round it: ``P(d | y) ∝ prior(d) · exp(−(d − y)² / 2σ²)``. She learns σ from what is published:

- "exactly": σ = 0, the nearest value of the domain;
- "between its neighbours": the standard deviation of a value that lies anywhere between the middles to the next
  released values; small where values were averaged or rounded in crowded places;
- "with the missing variance": σ² is the difference between the variance of the released numbers and that of the prior.
  Noise adds variance, and averages take it away.

Of these, the one whose beliefs come closest to the truth is used. The true values never set a width.
"""

from __future__ import annotations

from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from equivoc.intruder.posteriors import Posteriors
from equivoc.intruder.strengths import Choice, choose

if TYPE_CHECKING:
    from equivoc.data.classes import Classes
    from equivoc.releases.file_reading import FileReading
    from equivoc.releases.released_columns import ReleasedConfidential

Floats = NDArray[np.float64]
WIDTHS = ("exactly", "between its neighbours", "with the missing variance")
REACH = 5.0
"""Standard deviations: values farther from the released one have no weight."""
MOST_ENTRIES = 2**24
"""The most pairs of a released number and a value within its reach: 200 MB. A wider bell curve is left out."""


def plain(reading: FileReading, classes: Classes, prior: Floats) -> Choice:
    """The plain intruder's readings, and the one that is used."""
    by_width = bells(reading.confidential, reading.people.attribute, prior)
    return choose(tuple(by_width), partial(_linked, reading, classes, by_width), prior, {})


def plain_of_others(reading: FileReading, classes: Classes, prior: Floats) -> Posteriors:
    """The posteriors of classes of other people, by the width that is best for the people of the file."""
    chosen = plain(reading, reading.people.classes(list(classes.known)), prior).used.intruder
    return _linked(reading, classes, bells(reading.confidential, reading.people.attribute, prior), chosen)


def _linked(
    reading: FileReading, classes: Classes, by_width: dict[str, ReleasedConfidential], width: str
) -> Posteriors:
    """Exact matching with the values of one width; a class that no record fits has the prior."""
    matching = replace(reading.fixed, confidential=by_width[width])
    linkage = matching.or_last(matching.fitting(classes))
    return Posteriors(classes, reading.people.attribute, linkage, by_width[width].channel)


def bells(
    confidential: ReleasedConfidential, attribute: Any, prior: Floats
) -> dict[str, ReleasedConfidential]:
    """By width: the released values as distributions over the domain; only "exactly" where no number was released."""
    face = replace(confidential, channel=confidential.with_prior(prior))
    found = {WIDTHS[0]: face}
    places = confidential.places
    shown = np.flatnonzero(np.isfinite(places) & (confidential.records > 0))
    if not attribute.ordered or not len(shown):
        return found
    at = attribute.geometry.positions
    sigmas = np.zeros((2, len(places)))
    sigmas[0, shown] = spacing(places[shown])
    sigmas[1, shown] = missing_deviation(places[shown], confidential.records[shown], at, prior)
    for width, sigma in zip(WIDTHS[1:], sigmas, strict=True):
        channel = bell_rows(face.channel[face.group_of], places, sigma, at, prior)
        if channel is not None:
            every_symbol = np.arange(len(places))
            found[width] = replace(confidential, group_of=every_symbol, channel=channel)
    return found


def spacing(places: Floats) -> Floats:
    """The standard deviation of a value anywhere between the middles from each place to its neighbours.

    >>> spacing(np.array([0.0, 12.0, 36.0])).round(2).tolist()
    [3.46, 5.2, 6.93]
    """
    distinct, of = np.unique(places, return_inverse=True)
    if len(distinct) < 2:
        return np.zeros(len(places))
    gaps = np.diff(distinct)
    widths = (np.concatenate([gaps[:1], gaps]) + np.concatenate([gaps, gaps[-1:]])) / 2
    return np.asarray(widths[of.reshape(-1)] / np.sqrt(12.0))


def missing_deviation(places: Floats, records: NDArray[np.int64], at: Floats, prior: Floats) -> float:
    """The square root of the difference between the variance of the released numbers and the prior's.

    >>> missing_deviation(np.array([1.0, 3.0]), np.array([5, 5]), np.array([0.0, 4.0]), np.array([0.5, 0.5]))
    1.7320508075688772
    """
    return float(abs(_variance(places, records.astype(np.float64)) - _variance(at, prior)) ** 0.5)


def _variance(numbers: Floats, weights: Floats) -> float:
    share = weights / weights.sum()
    mean = (numbers * share).sum()
    return float(((numbers - mean) ** 2 * share).sum())


def bell_rows(as_shown: Any, places: Floats, sigma: Floats, at: Floats, prior: Floats) -> Any | None:
    """Symbols × values, CSR, and the prior as a last row: a bell curve round each place; None if it has too many
    entries.

    Symbols without a place or a width, and those with no value of the prior in reach, keep their row ``as_shown``.
    """
    from scipy.sparse import csr_array, vstack

    wide = np.isfinite(places) & (sigma > 0)
    if not wide.any():
        return None
    y, spread = np.where(wide, places, 0.0), np.where(wide, sigma, 1.0)
    first, past = (
        np.searchsorted(at, y - REACH * spread),
        np.searchsorted(at, y + REACH * spread, side="right"),
    )
    lengths = np.where(wide, past - first, 0)
    if lengths.sum() > MOST_ENTRIES:
        return None
    starts = np.concatenate([[0], np.cumsum(lengths)])
    row = np.repeat(np.arange(len(places)), lengths)
    column = np.arange(starts[-1]) + np.repeat(first - starts[:-1], lengths)
    weight = prior[column] * np.exp(
        -((at[column] - y[row]) ** 2) / np.maximum(2 * spread[row] ** 2, np.finfo(np.float64).tiny)
    )
    total = np.bincount(row, weight, minlength=len(places))
    kept = total > 0
    data = np.divide(weight, total[row], out=np.zeros_like(weight), where=kept[row])
    table = csr_array((data, column, starts), shape=(len(places), len(at)))
    every = np.arange(len(kept) + 1)
    rest = csr_array(((~kept).astype(np.float64), every[:-1], every), shape=(len(kept), len(kept)))
    return csr_array(vstack([table + rest @ csr_array(as_shown), csr_array(prior[None, :])], format="csr"))
