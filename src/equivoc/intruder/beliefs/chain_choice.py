"""Chooses the chain of keys to learn from: their order, the shrinkage strengths and the EM steps, by held-out score.

Keys are added greedily until all are used; then the length with the best score is kept, and strengths are varied, all
together and one at a time. On a file larger than the part used for this choice, further keys are added if they improve
the score.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from equivoc.intruder.beliefs.class_chain import ClassChain
from equivoc.intruder.beliefs.held_out import FOLDS, WORTH, HeldOutFile, Settings, mean_log, score_of

STEPS = 30
STEPS_WHILE_ORDERING = 4
ROOT = 64.0
"""Initial strength of the given prior relative to the whole file."""
STRENGTHS = (1.0, 4.0, 16.0, 64.0, 256.0)
FIRST_STRENGTHS = (16.0, 128.0)
WORK = 1.5e9
"""The most cells × values × folds × steps on a large file: about 15 s."""


def best_chain(file: HeldOutFile) -> tuple[Settings, tuple[int, ...]]:
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


def lengthened(file: HeldOutFile, chosen: Settings, order: Sequence[int]) -> Settings:
    """The settings chosen on a part of the file, plus further keys that improve the score on the whole file (one fold).

    The score is that of the part plus the gain on the whole file, to be comparable with other models' scores.
    """

    def tried(keys: tuple[int, ...], strengths: tuple[float, ...]) -> Settings:
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
) -> Settings:
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
    return Settings("chain", order, strengths, steps=at, score=best)
