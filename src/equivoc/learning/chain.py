"""A prior for each class of released keys, learnt from noisy values: a chain of classes with one key fewer, shrunk.

With the keys in some order, class j of a record is the set of records with the same first j keys. Its prior is its
own expected counts, shrunk to the class with one key fewer: ``π_j(d) = (n_j(d) + s_j·π_{j−1}(d)) / (n_j + s_j)``, where
``π_{−1}`` is the given prior. The true values are not released: n_j(d) sums the records' posteriors,
``L_r(d)·π_J(d) / Σ L_r·π_J``, and counts and posteriors are updated in turn (EM).

Cost per step: cells (records that agree on keys and symbol) × values, some 2 ns each. A few arrays of classes × values
doubles are in memory.

Source: A. P. Dempster, N. M. Laird and D. B. Rubin, *Maximum likelihood from incomplete data via the EM algorithm*
(1977); the shrinkage is that of a hierarchical Dirichlet prior with given strengths.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace

import numpy as np
import numpy.typing as npt

from equivoc.linkage.key_linkage import group

Floats = npt.NDArray[np.float64]
Ints = npt.NDArray[np.int64]


@dataclass(frozen=True, eq=False)
class ClassChain:
    """Records sorted into the classes of a chain of keys; records with equal class and symbol are one cell."""

    likelihood: Floats = field(repr=False)
    """Symbols × values: P(symbol | value), up to a factor per symbol."""
    prior: Floats = field(repr=False)
    starts: Ints = field(repr=False)
    """Where each class of level J, the finest, begins among the cells; one more at the end."""
    parents: tuple[Ints, ...] = field(repr=False)
    """Per level 1 … J, the class of the level above that each class lies in."""
    symbols: Ints = field(repr=False)
    """The symbol of each cell."""
    cell_of: Ints = field(repr=False)
    """The cell of each record."""

    @classmethod
    def of(
        cls, keys: Ints, symbols: Ints, likelihood: Floats, prior: Floats, *, order: Sequence[int]
    ) -> ClassChain:
        columns = list(order)
        sizes = [int(keys[:, k].max()) + 1 for k in columns]
        finest = group(keys[:, columns], tuple(range(len(columns))), sizes)
        cells, cell_of = np.unique(finest.class_of * len(likelihood) + symbols, return_inverse=True)
        codes = keys[finest.first][:, columns]
        opens = np.zeros((len(columns) + 1, len(codes)), dtype=bool)
        opens[:, 0] = True
        for level in range(1, len(columns) + 1):
            opens[level, 1:] = opens[level - 1, 1:] | (codes[1:, level - 1] != codes[:-1, level - 1])
        number = np.cumsum(opens, axis=1) - 1
        parents = [number[level - 1][opens[level]] for level in range(1, len(columns) + 1)]
        starts = np.searchsorted(cells // len(likelihood), np.arange(len(codes) + 1))
        return cls(likelihood, prior, starts, tuple(parents), cells % len(likelihood), cell_of.ravel())

    def counts(self, records: npt.NDArray[np.bool_]) -> Floats:
        """Training weights: how many of these records each cell has; 0 if the symbol is uninformative."""
        found = np.bincount(self.cell_of[records], minlength=len(self.symbols)).astype(np.float64)
        return np.where(telling(self.likelihood)[self.symbols], found, 0.0)

    def fits(self, weights: Floats, strengths: Sequence[float]) -> Iterator[Floats]:
        """The priors of the finest classes after 0, 1, 2, … EM steps on the weighted cells (an endless generator)."""
        from equivoc.learning import learning_kernels as kernels

        prior = np.tile(self.prior, (len(self.starts) - 1, 1))
        while True:
            yield prior
            evidence = self.evidence(prior)
            share = np.divide(weights, evidence, out=np.zeros_like(weights), where=evidence > 0)
            levels = [np.empty_like(prior)]
            kernels.expected_counts(self.likelihood, self.symbols, self.starts, share, prior, levels[0])
            for parents in self.parents[::-1]:
                levels.append(kernels.sums(levels[-1], parents))
            prior = self.prior[None, :]
            for level, counts in enumerate(levels[::-1]):
                parents = self.parents[level - 1] if level else np.zeros(1, dtype=np.int64)
                kernels.shrink(counts, float(strengths[level]), prior, parents)
                prior = counts

    def evidence(self, prior: Floats) -> Floats:
        """For each cell, P(its symbol | its class) = Σ_d L(d)·π(d)."""
        from equivoc.learning import learning_kernels as kernels

        found = np.empty(len(self.symbols))
        kernels.evidence(self.likelihood, self.symbols, self.starts, prior, found)
        return found

    def beliefs(self, prior: Floats, cells: Ints) -> Floats:
        """Posteriors of these cells: L·π, each row divided by its sum."""
        joint = self.likelihood[self.symbols[cells]] * prior[self.class_of_cells[cells]]
        return believed_values(joint, self.prior)

    @property
    def class_of_cells(self) -> Ints:
        """The finest class of each cell."""
        return np.repeat(np.arange(len(self.starts) - 1), np.diff(self.starts))


def believed_values(joint: Floats, prior: Floats) -> Floats:
    """Rows divided by their sums; the prior where the released symbol has probability 0."""
    total = joint.sum(axis=1, keepdims=True)
    found = np.broadcast_to(prior, joint.shape).copy()
    return np.asarray(np.divide(joint, total, out=found, where=total > 0))


def telling(likelihood: Floats) -> npt.NDArray[np.bool_]:
    """True for each symbol that gives information about the value."""
    return np.asarray((likelihood != likelihood[:, :1]).any(axis=1))


# Splits a released file into folds, and scores models on the records left out.

FOLDS = 5
WORTH = 1e-4
"""Bits per record: a smaller gain counts as 0."""


@dataclass(frozen=True)
class ModelSettings:
    """The chosen settings: a chain's keys, strengths and steps, or a forest's leaf size, weight and steps."""

    model: str = "prior"
    """"prior" (nothing to learn), "chain" or "forest"."""
    order: tuple[int, ...] = ()
    strengths: tuple[float, ...] = (64.0,)
    """For a chain: one for the whole file, then one for each key."""
    leaf: int = 0
    share: float = 0.0
    steps: int = 0
    score: float = -np.inf
    """Mean log2 likelihood of held-out records, in bits per record; larger is better."""


def score_of(settings: ModelSettings) -> float:
    """Larger is better."""
    return settings.score


@dataclass(frozen=True, eq=False)
class HeldOutFile:
    keys: Ints
    symbols: Ints
    fold: Ints
    likelihood: Floats
    prior: Floats
    seed: int

    def part(self, records: Ints) -> HeldOutFile:
        return replace(self, keys=self.keys[records], symbols=self.symbols[records], fold=self.fold[records])

    @property
    def informative(self) -> Floats:
        """1 for each record whose symbol gives information about the value, else 0: the weights of the score."""
        return telling(self.likelihood)[self.symbols].astype(np.float64)

    def chain(self, order: Sequence[int]) -> ClassChain:
        return ClassChain.of(self.keys, self.symbols, self.likelihood, self.prior, order=order)


def mean_log(evidence: Floats, weights: Floats) -> float:
    """Mean log2 of the evidence; impossible symbols are ignored, because no model can explain them."""
    fits = (evidence > 0) & (weights > 0)
    return float(weights[fits] @ np.log2(evidence[fits]) / max(weights.sum(), 1.0))


def score_of_prior(file: HeldOutFile) -> ModelSettings:
    """The settings that use the given prior without learning."""
    evidence = (file.likelihood @ file.prior)[file.symbols]
    return ModelSettings(score=mean_log(evidence, file.informative))


# Chooses the chain of keys to learn from: their order, the shrinkage strengths and the EM steps, by held-out
# score.
#
# Keys are added greedily until all are used; then the length with the best score is kept, and strengths are
# varied, all together and one at a time. On a file larger than the part used for this choice, further keys
# are added if they improve the score.

STEPS = 30
STEPS_WHILE_ORDERING = 4
ROOT = 64.0
"""Initial strength of the given prior relative to the whole file."""
STRENGTHS = (1.0, 4.0, 16.0, 64.0, 256.0)
FIRST_STRENGTHS = (16.0, 128.0)
WORK = 1.5e9
"""The most cells × values × folds × steps on a large file: about 15 s."""


def best_chain(file: HeldOutFile) -> tuple[ModelSettings, tuple[int, ...]]:
    """The settings with the best held-out score, and all keys in the order in which they are added."""
    found = [_tried(file, file.chain(()), (), (ROOT,), STEPS_WHILE_ORDERING)]
    while len(found[-1].order) < file.keys.shape[1]:
        last = found[-1]
        tries = []
        for key in range(file.keys.shape[1]):
            if key not in last.order:
                order = (*last.order, key)
                chain = file.chain(order)
                for strength in FIRST_STRENGTHS:
                    strengths = (*last.strengths, strength)
                    tries.append(_tried(file, chain, order, strengths, STEPS_WHILE_ORDERING))
        found.append(max(tries, key=score_of))
    best = max(found, key=score_of)
    chain = file.chain(best.order)
    options = [_tried(file, chain, best.order, (ROOT, *[s] * len(best.order))) for s in STRENGTHS]
    best = max([_tried(file, chain, best.order, best.strengths), *options], key=score_of)
    for level in range(len(best.strengths)):
        for factor in (0.25, 4.0) if level else (0.01, 0.1, 10.0, 100.0):
            other = tuple(s * factor if at == level else s for at, s in enumerate(best.strengths))
            best = max(best, _tried(file, chain, best.order, other), key=score_of)
    return best, found[-1].order


def lengthened(file: HeldOutFile, chosen: ModelSettings, order: Sequence[int]) -> ModelSettings:
    """The settings chosen on a part of the file, plus further keys that improve the score on the whole file (one fold).

    The score is that of the part plus the gain on the whole file, to be comparable with other models' scores.
    """

    def tried(keys: tuple[int, ...], strengths: tuple[float, ...]) -> ModelSettings:
        chain = file.chain(keys)
        affordable = int(WORK / (chain.symbols.size * file.prior.size * FOLDS))
        return _tried(file, chain, keys, strengths, min(max(affordable, 2), STEPS), folds=1)

    best = same = tried(chosen.order, chosen.strengths)
    for length in range(len(chosen.order) + 1, len(order) + 1):
        longer = tried(tuple(order[:length]), (*best.strengths, max(FIRST_STRENGTHS)))
        if longer.score <= best.score + WORTH:
            break
        best = longer
    return replace(best, score=chosen.score + best.score - same.score)


def _tried(
    file: HeldOutFile,
    chain: ClassChain,
    order: tuple[int, ...],
    strengths: tuple[float, ...],
    steps: int | None = None,
    *,
    folds: int = FOLDS,
) -> ModelSettings:
    """The best held-out score along the steps, and its step; stops when a step does not improve it."""
    held = [chain.counts(file.fold == f) for f in range(folds)]
    fits = [chain.fits(chain.counts(file.fold != f), strengths) for f in range(folds)]
    sizes = np.array([each.sum() for each in held])
    for each in fits:
        next(each)
    best, at = -np.inf, 0
    for step in range(1, (STEPS if steps is None else steps) + 1):
        scores = [
            mean_log(chain.evidence(next(fit)), own) if own.any() else 0.0
            for fit, own in zip(fits, held, strict=True)
        ]
        score = float(sizes @ scores / max(sizes.sum(), 1.0))
        if score <= best + WORTH:
            break
        best, at = score, step
    return ModelSettings("chain", order, strengths, steps=at, score=best)
