"""H0, area and beliefs about the true values for the classes of several subsets of the keys, measured in one call."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from equivoc.data.microdata import Microdata
from equivoc.intruder.beliefs.truth import best_trust, mean_surprise
from equivoc.intruder.mixing import mixed_blocks
from equivoc.intruder.posteriors import Posteriors, ranges
from equivoc.intruder.prior import LEAST

Floats = NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class MeasuredTogether:
    """The figures of all classes, and of all their cells: the people of one class with one true value."""

    sizes: NDArray[np.int64] = field(repr=False)
    """How many people each class has."""
    h0: Floats = field(repr=False)
    area: Floats = field(repr=False)
    people: Floats = field(repr=False)
    """How many people each cell has."""
    values: NDArray[np.int64] = field(repr=False)
    """The number of each cell's true value."""
    belief: Floats = field(repr=False)
    """The probability that the intruder gives each cell's true value."""
    right: Floats = field(repr=False)
    """The chance that her best guess comes within ε/2 of it."""
    subsets: NDArray[np.int64] = field(repr=False)
    """Where the cells of each subset begin, and where the last end."""

    def surprises(self, prior: Floats) -> Iterator[float]:
        """For each subset of the keys: her mean surprise T(0), in bits per person."""
        given = np.maximum(prior[self.values], LEAST)
        belief = np.minimum(self.belief, 1.0)
        for begin, end in zip(self.subsets[:-1], self.subsets[1:], strict=True):
            cells = belief[begin:end], given[begin:end], self.people[begin:end]
            yield mean_surprise(*cells, best_trust(*cells))


def measure_together(posteriors: Sequence[Posteriors], eps: float) -> MeasuredTogether:
    """Measure all classes of posteriors with one channel. Classes with the same linkage are computed once.

    Areas of classes with many values are estimated, as in an assessment; ``eps`` is the tolerance of the guesses.
    """
    first = posteriors[0]
    geometry = first.attribute.geometry
    counts = [found.classes.counts for found in posteriors]
    ends = np.cumsum([0, *(each.nnz for each in counts)])
    begins = [
        np.asarray(each.indptr[:-1], np.int64) + end for each, end in zip(counts, ends[:-1], strict=True)
    ]
    bounds = np.concatenate([*begins, ends[-1:]])
    values = np.concatenate([each.indices for each in counts]).astype(np.int64)
    classes, cells = len(bounds) - 1, len(values)
    h0, area, belief, right = np.empty(classes), np.empty(classes), np.empty(cells), np.empty(cells)
    truths = geometry.positions[values]
    for block in mixed_blocks([found.link for found in posteriors], first.channel):
        measured = geometry.curves(block.probabilities, tolerance=None)
        h0[block.classes], area[block.classes] = measured.h0[block.of], measured.area[block.of]
        lengths = bounds[block.classes + 1] - bounds[block.classes]
        at = ranges(bounds[block.classes], bounds[block.classes + 1])
        rows = np.repeat(block.of, lengths)
        belief[at] = np.asarray(block.probabilities[rows, values[at]], np.float64).reshape(-1)
        within = np.concatenate([[0], np.cumsum(lengths)])
        right[at] = measured.rows(block.of).right_guesses(eps, truths[at], within)
    sizes = np.concatenate([found.sizes for found in posteriors])
    people = np.concatenate([each.data for each in counts]).astype(np.float64)
    return MeasuredTogether(sizes, h0, area, people, values, belief, right, ends)


def prior_surprise(prior: Floats, people: Microdata) -> float:
    """The mean surprise of someone who has not seen the release, in bits per person."""
    given, everyone = np.maximum(prior, LEAST), np.bincount(people.codes, minlength=len(prior))
    return mean_surprise(given, given, everyone.astype(np.float64), 0.0)
