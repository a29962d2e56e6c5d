"""A prior for each record by a forest on its released keys: leaf size, EM steps and share by held-out score.

A forest is fitted to the posteriors of the records outside a fold, and predicts the values of the
fold's records; posteriors and forests are updated in turn (EM). Part of the given prior is mixed in, because a forest
gives some values probability 0. The leaf size is the best after one step with few trees.

Cost: folds × (leaf sizes × 25 + steps × 50) trees; for 2,500 records with 46 values 1 s.
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
import numpy.typing as npt

from equivoc.intruder.beliefs import forests
from equivoc.intruder.beliefs.class_chain import believed_values, telling
from equivoc.intruder.beliefs.held_out import FOLDS, WORTH, HeldOutFile, Settings, mean_log, score_of_prior

Floats = npt.NDArray[np.float64]
LEAVES = (100, 30, 10)
"""Minimal leaf sizes. On 2,500 records 30 was best or within 0.002 bit of it; 3 was always worse."""
SHARES = (0.5, 0.8, 0.9, 0.97)
"""Weights of the forest's prediction; the rest is the given prior."""
STEPS = 3
TREES = 50
"""100 trees left 0.001 to 0.003 bit less surprise."""
TREES_WHILE_CHOOSING = 25
FIT_ON = 8_000
"""The most records that a forest is fitted to."""
CLEAR = 0.003
"""Bits per record: a smaller leaf must be better by this. Large leaves gain more from further steps."""


def best_forest(file: HeldOutFile) -> tuple[Settings, Floats]:
    """The settings with the best held-out score, and each record's prior by the forest fitted without it."""
    chosen, reached = LEAVES[0], -np.inf
    for leaf in LEAVES:
        settings, _ = next(_tried(file, leaf, TREES_WHILE_CHOOSING))
        if settings.score > reached + CLEAR:
            chosen, reached = leaf, settings.score
    best, prior = Settings("forest"), np.broadcast_to(file.prior, (len(file.symbols), len(file.prior)))
    if reached < score_of_prior(file).score:  # there is nothing to learn
        return best, prior
    for settings, found in _tried(file, chosen, TREES):
        if settings.score <= best.score + WORTH:
            break
        best, prior = settings, settings.share * found + (1 - settings.share) * file.prior
    return best, prior


def _tried(file: HeldOutFile, leaf: int, trees: int) -> Iterator[tuple[Settings, Floats]]:
    """After each EM step, the best share with its held-out score, and the forests' predictions for all records."""
    likelihood = file.likelihood[file.symbols]
    given = likelihood @ file.prior
    fits = [_fits(file, fold, leaf, trees) for fold in range(FOLDS)]
    for step in range(1, (STEPS if _can_change(file.likelihood) else 1) + 1):
        found = np.empty(likelihood.shape)
        for fold, fit in enumerate(fits):
            found[file.fold == fold] = next(fit)
        learnt = np.einsum("rd,rd->r", likelihood, found)
        scores = [mean_log(s * learnt + (1 - s) * given, file.informative) for s in SHARES]
        score, share = max(zip(scores, SHARES, strict=True))
        yield Settings("forest", leaf=leaf, share=share, steps=step, score=score), found


def _fits(file: HeldOutFile, fold: int, leaf: int, trees: int) -> Iterator[Floats]:
    """Predictions for the fold's records after 1, 2, … EM steps on the others (an endless generator)."""
    own = np.flatnonzero(file.fold == fold)
    train = np.flatnonzero((file.fold != fold) & telling(file.likelihood)[file.symbols])
    if len(train) > FIT_ON:
        train = np.random.default_rng(file.seed).choice(train, FIT_ON, replace=False)
    likelihood = file.likelihood[file.symbols[train]]
    prior = np.broadcast_to(file.prior, likelihood.shape)
    asked = file.keys[np.append(own, train)]
    while True:
        believed = believed_values(likelihood * prior, file.prior)
        found = forests.out_of_sample(
            file.keys[train], believed, asked, leaf=leaf, seed=file.seed + fold, trees=trees
        )
        yield found[: len(own)]
        prior = 0.9 * found[len(own) :] + 0.1 * file.prior


def _can_change(likelihood: Floats) -> bool:
    """True if some symbol leaves more than one value: otherwise the posteriors never change."""
    return bool((np.count_nonzero(likelihood[telling(likelihood)], axis=1) > 1).any())
