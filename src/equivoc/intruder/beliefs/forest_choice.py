"""A prior for each record by a forest on its released keys: leaf size, EM steps and share by held-out score.

A forest (scikit-learn) is fitted to the posteriors of the records outside a fold, and predicts the values of the
fold's records; posteriors and forests are updated in turn (EM). Part of the given prior is mixed in, because a forest
gives some values probability 0.

Cost: folds × steps forests for each leaf size; for 2,500 records with 46 values about 0.5 s each.
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
import numpy.typing as npt

from equivoc.intruder.beliefs import forests
from equivoc.intruder.beliefs.class_chain import believed_values, telling
from equivoc.intruder.beliefs.held_out import FOLDS, WORTH, HeldOutFile, Settings, mean_log

Floats = npt.NDArray[np.float64]
LEAVES = (30, 10, 3)
"""Minimal leaf sizes, tried in this order while a smaller one is better after one step."""
SHARES = (0.5, 0.8, 0.9, 0.97)
"""Weights of the forest's prediction; the rest is the given prior."""
STEPS = 3


def best_forest(file: HeldOutFile) -> tuple[Settings, Floats]:
    """The settings with the best held-out score, and each record's prior by the forest fitted without it."""
    likelihood = file.likelihood[file.symbols]
    given = likelihood @ file.prior
    best, prior, best_first = Settings("forest"), np.broadcast_to(file.prior, likelihood.shape), -np.inf
    for leaf in LEAVES:
        fits = [_fits(file, f, leaf) for f in range(FOLDS)]
        reached = -np.inf
        for step in range(1, (STEPS if _can_change(file.likelihood) else 1) + 1):
            found = np.empty(likelihood.shape)
            for f, fit in enumerate(fits):
                found[file.fold == f] = next(fit)
            learnt = np.einsum("rd,rd->r", likelihood, found)
            scores = [mean_log(s * learnt + (1 - s) * given, file.informative) for s in SHARES]
            score, share = max(zip(scores, SHARES, strict=True))
            if score > best.score:
                best = Settings("forest", leaf=leaf, share=share, steps=step, score=score)
                prior = share * found + (1 - share) * file.prior
            if step == 1 and score < best_first:
                return best, prior
            if step == 1:
                best_first = score
            if score <= reached + WORTH:
                break
            reached = score
    return best, prior


def _fits(file: HeldOutFile, fold: int, leaf: int) -> Iterator[Floats]:
    """Predictions for the fold's records after 1, 2, … EM steps on the others, without end."""
    own = file.fold == fold
    train = ~own & telling(file.likelihood)[file.symbols]
    likelihood = file.likelihood[file.symbols[train]]
    prior = np.broadcast_to(file.prior, likelihood.shape)
    while True:
        believed = believed_values(likelihood * prior, file.prior)
        found = forests.out_of_sample(file.keys[train], believed, file.keys, leaf=leaf, seed=file.seed + fold)
        yield found[own]
        prior = 0.9 * found[train] + 0.1 * file.prior


def _can_change(likelihood: Floats) -> bool:
    """True if some symbol leaves more than one value: otherwise the posteriors never change."""
    return bool((np.count_nonzero(likelihood[telling(likelihood)], axis=1) > 1).any())
