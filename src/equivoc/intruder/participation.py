"""An intruder who does not know whether her target is in the file: `p(d) = P · inside(d) + (1 − P) · π(d)`.

P is her chance, for each class of people with equal known keys, that the target took part. ``inside`` is what the
technique lets her believe of somebody in the file, π the distribution of the class in the population, which she learns
from the file by a chain of classes with one key fewer: `π_j(d) = (n_j(d) + s·π_{j−1}(d)) / (n_j + s)` with the weighted
counts n_j of the class of the first j keys, in units of the mean weight, and one strength s for all steps.

The order of the keys and the strength are those by which the file predicts each of its own records best when that
record is left out. For a masked release the counts are expected ones: the sums of her own posteriors, which nothing but
the release gives. The true values choose no setting.

Source: R. Benedetti and L. Franconi, *Statistical and technological solutions for controlled data dissemination*
(1998), for the chance of a link; the shrinkage is that of a hierarchical Dirichlet prior with a given strength.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from equivoc.channels.channel import Channel
from equivoc.checks import is_finite
from equivoc.data.classes import Classes
from equivoc.errors import InputError
from equivoc.intruder.posteriors import Posteriors
from equivoc.intruder.strengths import Choice, against_truth, changed

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]
WORDS = ("known", "unknown")
STRENGTHS = (2.0, 4.0, 8.0, 16.0, 32.0, 64.0, 128.0, 256.0, 512.0)
"""In records of mean weight: with so many in a class, its own counts and the class above weigh the same."""
FIRST_STRENGTH = 5.0
"""Of one step from the whole file, by which the order of the keys is chosen."""
MOST_CHOSEN_ON = 200_000
"""The most cells (pairs of a class and a value) on which the settings are chosen."""
DENSE_CELLS = 2**23
"""A table of more cells than this is kept sparse: 64 MB."""
WHOLE_FILE_STRENGTH = 0.5
MOST_EXPECTED = 2**24
"""The most classes × values from which the expected counts of a masked release are summed; more are sampled."""
ROWS_AT_A_TIME = 2**22
"""Cells of the mixed posteriors in memory at once."""


def checked_participation(given: Any) -> str | float:
    """ "known", "unknown" or a share above 0 and up to 1; None is "known". A text may hold the share.

    >>> checked_participation(None), checked_participation("0.02"), checked_participation(1)
    ('known', 0.02, 'known')
    """
    if given is None or (isinstance(given, str) and given in WORDS):
        return given or "known"
    share = given
    if isinstance(given, str):
        try:
            share = float(given)
        except ValueError:
            share = None
    if not is_finite(share) or not 0 < share <= 1:
        raise InputError(
            f'participation is {given!r}; give "known", "unknown", or the chance that her target took part, above 0 '
            "and at most 1."
        )
    return "known" if share == 1 else float(share)


@dataclass(frozen=True, eq=False)
class Cells:
    """Weighted records by class and value: the file's own, or those that an intruder expects."""

    of_class: Ints = field(repr=False)
    value: NDArray[np.integer[Any]] = field(repr=False)
    weight: Floats = field(repr=False)
    """In units of the mean weight of a record."""
    own: Floats = field(repr=False)
    """The part of it that one record of the class brings."""
    whole: Floats = field(repr=False)
    """The weight of that record, of which ``own`` has this value."""
    records: Floats = field(repr=False)
    """How many records it stands for."""

    def __len__(self) -> int:
        return len(self.value)

    def some(self, most: int) -> Cells:
        """At most so many, drawn evenly and always the same."""
        if len(self) <= most:
            return self
        at = np.sort(np.random.default_rng(0).choice(len(self), most, replace=False))
        return Cells(
            self.of_class[at],
            self.value[at],
            self.weight[at],
            self.own[at],
            self.whole[at],
            self.records[at],
        )


@dataclass(frozen=True, eq=False)
class Step:
    """The weighted counts in the classes of some of the known keys."""

    class_of: Ints = field(repr=False)
    """For each class of all known keys, the class here that it lies in."""
    counts: Any = field(repr=False)
    """Classes × values: dense, or CSR where a dense table would be large."""
    sizes: Floats = field(repr=False)
    """The sum of the counts of each class."""

    @classmethod
    def of(cls, cells: Cells, class_of: Ints, values: int) -> Step:
        from scipy.sparse import csr_array

        classes, here = int(class_of.max()) + 1, class_of[cells.of_class]
        sizes = np.asarray(np.bincount(here, weights=cells.weight, minlength=classes), np.float64)
        if classes * values <= DENSE_CELLS:
            table = np.bincount(here * values + cells.value, weights=cells.weight, minlength=classes * values)
            return cls(class_of, table.reshape(classes, values), sizes)
        found = csr_array((cells.weight, (here, cells.value)), shape=(classes, values))
        found.sum_duplicates()
        return cls(class_of, found, sizes)

    def at(self, classes: Ints, columns: NDArray[Any]) -> Floats:
        """The count of one value for one class, of many pairs."""
        rows = self.class_of[classes]
        if isinstance(self.counts, np.ndarray):
            return np.asarray(self.counts[rows, columns])
        table, values = self.counts, np.int64(self.counts.shape[1])
        codes = np.repeat(np.arange(table.shape[0]), np.diff(table.indptr)) * values + table.indices
        wanted = rows * values + columns
        place = np.minimum(np.searchsorted(codes, wanted), len(codes) - 1)
        return np.where(codes[place] == wanted, table.data[place], 0.0)

    def rows(self, classes: Ints) -> Floats:
        """Classes × values."""
        return _dense(self.counts[self.class_of[classes]])


@dataclass(frozen=True, eq=False)
class PopulationShares:
    """π: the distribution of the confidential value in the population of each class, learnt from the file."""

    values: int
    steps: tuple[Step, ...] = field(repr=False)
    """From all people to the class of all keys that are used."""
    strength: float
    order: tuple[str, ...]
    """The known keys, the most useful first."""
    unit: float
    """The mean weight of a record: weights are divided by it."""

    @classmethod
    def learnt(cls, classes: Classes, cells: Cells, values: int, unit: float) -> PopulationShares:
        """Order and strength chosen by leaving each record out."""
        tried, codes = cells.some(MOST_CHOSEN_ON), classes.key_codes.astype(np.int64)
        partitions, order = [np.zeros(len(classes), np.int64)], list[int]()
        for _ in classes.known:
            rest = [key for key in range(len(classes.known)) if key not in order]
            split = {key: _finer(partitions[-1], codes[:, key]) for key in rest}
            scores = {}
            for key, class_of in split.items():
                alone = _left_out(Step.of(tried, class_of, values), tried)
                scores[key] = _mean_log(_shrunk([alone], [FIRST_STRENGTH], values), tried)
            # Of equal ones the first: the order of the columns decides, not rounding.
            order.append(max(rest, key=lambda key: round(scores[key], 9)))
            partitions.append(split[order[-1]])
        steps = tuple(Step.of(cells, class_of, values) for class_of in partitions)
        without = [_left_out(step, cells) for step in steps]
        by_strength = {
            each: _mean_log(_shrunk(without, _strengths(len(steps), each), values), cells)
            for each in STRENGTHS
        }
        strength = max(STRENGTHS, key=lambda each: round(by_strength[each], 9))
        return cls(values, steps, strength, tuple(classes.known[key] for key in order), unit)

    def at(
        self, classes: Ints, columns: NDArray[Any], *, own: Floats | float = 0.0, whole: Floats | float = 0.0
    ) -> Floats:
        """π of one value for one class, of many pairs.

        ``own`` and ``whole`` leave a record out: what it brings of this value, and of all values.
        """
        parts = [
            (
                np.maximum(step.at(classes, columns) - own, 0.0),
                np.maximum(step.sizes[step.class_of[classes]] - whole, 0.0),
            )
            for step in self.steps
        ]
        return _shrunk(parts, _strengths(len(parts), self.strength), self.values)

    def rows(self, classes: Ints) -> Floats:
        """π of some classes, classes × values; each row sums to 1."""
        parts = [(step.rows(classes), step.sizes[step.class_of[classes]][:, None]) for step in self.steps]
        return _shrunk(parts, _strengths(len(parts), self.strength), self.values)


def _finer(class_of: Ints, codes: Ints) -> Ints:
    """The classes split by one more key."""
    both = class_of * (int(codes.max(initial=0)) + 1) + codes
    return np.asarray(np.unique(both, return_inverse=True)[1], np.int64).reshape(-1)


def _strengths(steps: int, strength: float) -> list[float]:
    """The whole file is hardly shrunk, every finer class by the one strength."""
    return [WHOLE_FILE_STRENGTH] + [strength] * (steps - 1)


def _shrunk(parts: Sequence[tuple[Floats, Floats]], strengths: Sequence[float], values: int) -> Floats:
    """Counts and sizes, from coarse to fine, each shrunk to the one before it; the first to equal shares."""
    found: Any = 1.0 / values
    for (counts, sizes), strength in zip(parts, strengths, strict=True):
        found = (counts + strength * found) / (sizes + strength)
    return np.asarray(found)


def _left_out(step: Step, cells: Cells) -> tuple[Floats, Floats]:
    """The counts of each cell's value and of its class without one record of the cell."""
    counts = np.maximum(step.at(cells.of_class, cells.value) - cells.own, 0.0)
    return counts, np.maximum(step.sizes[step.class_of[cells.of_class]] - cells.whole, 0.0)


def _mean_log(probability: Floats, cells: Cells) -> float:
    return float((cells.records * np.log(np.maximum(probability, 1e-300))).sum() / cells.records.sum())


# What the file, or a masked release of it, says about the classes.


def cells_of_file(classes: Classes, weight: Floats, unit: float) -> Cells:
    """The records of the file as they are; ``weight``: the sum of the weights of each entry of ``classes.counts``."""
    counts = classes.counts
    row = np.repeat(np.arange(counts.shape[0], dtype=np.int64), np.diff(counts.indptr))
    mean = weight / unit / counts.data
    return Cells(row, counts.indices, weight / unit, mean, mean, counts.data.astype(np.float64))


def expected_cells(posteriors: Posteriors, weight: Floats, unit: float, trust: float, prior: Floats) -> Cells:
    """What she expects of the records of each class: its weight, spread over the values as she believes.

    ``weight``: the sum of the weights of each class. Her posteriors count with the trust that they deserve.
    """
    values, classes = len(posteriors.attribute), len(posteriors)
    most = max(1, MOST_EXPECTED // values)
    chosen = np.zeros(classes, np.bool_)
    chosen[_some(classes, most)] = True
    rows, columns, shares = [], [], []
    for block in posteriors.blocks():
        for begin in range(0, len(block.classes), max(1, ROWS_AT_A_TIME // values)):
            part = slice(begin, begin + max(1, ROWS_AT_A_TIME // values))
            kept = chosen[block.classes[part]]
            table = trust * _dense(block.probabilities[block.of[part][kept]]) + (1.0 - trust) * prior
            at, column = np.nonzero(table)
            rows.append(block.classes[part][kept][at])
            columns.append(column)
            shares.append(table[at, column])
    row, share = np.concatenate(rows), np.concatenate(shares)
    total, records = (weight / unit)[row], posteriors.sizes[row].astype(np.float64)
    mean = total / records
    return Cells(row, np.concatenate(columns), total * share, mean * share, mean, records * share)


def _some(classes: int, most: int) -> NDArray[np.int64]:
    if classes <= most:
        return np.arange(classes)
    return np.random.default_rng(0).choice(classes, most, replace=False)


def _dense(table: Any) -> Floats:
    return np.asarray(table if isinstance(table, np.ndarray) else table.toarray(), np.float64)


def is_the_file(posteriors: Posteriors) -> bool:
    """True if they are the classes' own values: the file is published as it is."""
    return posteriors.channel is None and posteriors.linkage is posteriors.classes.counts


# The mixture, as a channel from classes to values.


@dataclass(frozen=True, eq=False)
class Unsure(Channel):
    """A row for each class: ``chance`` · what the release says + (1 − chance) · the class in the population."""

    inside: Posteriors = field(repr=False)
    chance: Floats = field(repr=False)
    population: PopulationShares = field(repr=False)

    @property
    def shape(self) -> tuple[int, int]:
        return len(self.inside), self.population.values

    def of(self, classes: Ints) -> Floats:
        """The rows of some classes."""
        linkage = self.inside.linkage[classes]
        part = Posteriors(self.inside.classes, self.inside.attribute, linkage, self.inside.channel)
        chance = self.chance[classes][:, None]
        return chance * _dense(part.probabilities) + (1.0 - chance) * self.population.rows(classes)

    def mix(self, weights: Any) -> Floats:
        from scipy.sparse import csr_array

        link = csr_array(weights)
        used = np.unique(link.indices)
        return np.asarray(link[:, used] @ self.of(used))

    def blocks(self, link: Any) -> Any:
        """As of any channel; a block has few enough rows for its table, however many classes there are."""
        step = max(1, ROWS_AT_A_TIME // self.population.values)
        for begin in range(0, link.shape[0], step):
            part = slice(begin, min(begin + step, link.shape[0]))
            yield part, self.mix(link[part])


def unsure(posteriors: Posteriors, chance: Floats, population: PopulationShares) -> Posteriors:
    """The posteriors of somebody who is not sure that her target is in the file."""
    from scipy.sparse import eye_array

    each = eye_array(len(posteriors), format="csr")
    return Posteriors(posteriors.classes, posteriors.attribute, each, Unsure(posteriors, chance, population))


def unsure_choice(choice: Choice, chance: Floats, population: PopulationShares) -> Choice:
    """The same intruders, not sure that their target is in the file; of them again the strongest."""

    def change(posteriors: Posteriors) -> Posteriors:
        return unsure(posteriors, chance, population)

    return changed(choice, change)


def learnt_shares(
    choice: Choice, weights: Floats | None, prior: Floats, of_entry: Callable[[], Floats]
) -> PopulationShares:
    """π as the intruder who is used learns it from the release.

    ``weights`` are the sums of each class (None: all records count once), ``of_entry`` gives those of each entry of the
    classes' counts.
    """
    posteriors = choice.used.posteriors
    classes, values = posteriors.classes, len(posteriors.attribute)
    total = classes.sizes.astype(np.float64) if weights is None else weights
    unit = float(total.sum() / classes.sizes.sum())
    if is_the_file(posteriors):
        cells = cells_of_file(classes, of_entry(), unit)
    else:
        trust = against_truth(posteriors, prior).trust
        cells = expected_cells(posteriors, total, unit, trust, prior)
    return PopulationShares.learnt(classes, cells, values, unit)
