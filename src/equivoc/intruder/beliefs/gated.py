"""Trust per person: finds a group at risk in a release that discloses little about most people.

One trust for the whole file can hide such a group: if the release is right about the older half and wrong about the
younger, the best single trust is about one half, and nobody seems to be at risk. Here each person's trust is predicted
from what the intruder knows (the known keys, the posterior's H0 and largest probability, the class's size), out of
fold, so that a person's own true value has no influence. The targets are the probabilities that the posterior and not
the prior produced the true value, ``ρ_r = t·p_r(c_r) / (t·p_r(c_r) + (1 − t)·prior(c_r))`` with t the trust so
far; a few such steps (EM). Predicted trust is clipped to [0, 0.999].

If trust per person does not reduce the surprise compared with one trust for all, the latter is used: a file without
such a group gives no false alarm.

Cost: folds × steps forests of 30 trees, fitted to at most 5,000 people; 1 s for 3,000 people, 4 s for 100,000.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import numpy.typing as npt

from equivoc.errors import InputError
from equivoc.intruder.beliefs.forests import out_of_sample
from equivoc.intruder.beliefs.truth import Truth, best_trust, checked_cells, scored

Floats = npt.NDArray[np.float64]
FOLDS = 5
STEPS = 4
MOST_TRUST = 0.999
LEAF = 30
TREES = 30
FIT_ON = 5_000
WORTH = 0.002
"""Bits: trust per person is used if it reduces the surprise by at least this, and by more than its standard error."""


def gated_truth(
    belief: npt.ArrayLike,
    prior: npt.ArrayLike,
    counts: npt.ArrayLike,
    entropy: npt.ArrayLike,
    features: npt.ArrayLike,
    *,
    seed: int = 0,
) -> Truth:
    """As `hold_against_truth`, with a trust for each person; ``features`` is cells × predictors of trust.

    The trust reported is the mean.
    """
    p, given, people, h0 = checked_cells(belief, prior, counts, entropy)
    known = np.asarray(features, dtype=np.float64)
    if known.ndim != 2 or len(known) != len(p):
        raise InputError(
            f"The features need a row for each of the {len(p)} cells; their shape is {known.shape}."
        )
    one = best_trust(p, given, people)
    plain = scored(p, given, people, h0, np.full(len(p), one), one)
    if not known.shape[1]:
        return plain
    rng = np.random.default_rng(seed)
    # Cells are split among the folds person by person: five numbers of people for each cell.
    held = rng.multinomial(np.rint(people).astype(np.int64), np.full(FOLDS, 1 / FOLDS)).astype(np.float64)
    trust = np.empty((len(p), FOLDS))
    for fold in range(FOLDS):
        others = held.sum(axis=1) - held[:, fold]
        if not others.any():
            return plain
        fitted_to = np.repeat(np.arange(len(p)), np.rint(others).astype(np.int64))
        if len(fitted_to) > FIT_ON:
            fitted_to = np.random.default_rng(seed).choice(fitted_to, FIT_ON, replace=False)
        leaf = min(LEAF, max(1, len(fitted_to) // 10))
        one_for_others = best_trust(p, given, others)
        own = np.full(len(fitted_to), one_for_others)
        tested = np.flatnonzero(held[:, fold] > 0)
        for step in range(STEPS):
            targets = _responsibility(p[fitted_to], given[fitted_to], own)
            # The trust of the fold's own people is needed only at the end.
            asked = tested if step == STEPS - 1 else fitted_to
            predicted = out_of_sample(
                known[fitted_to], targets, known[asked], leaf=leaf, seed=seed + fold, trees=TREES
            )
            own = np.clip(predicted, 0.0, MOST_TRUST)
        trust[:, fold] = one_for_others
        trust[tested, fold] = own
    surprises = -np.log2(given[:, None] + trust * (p - given)[:, None])
    total = held.sum()
    gain = plain.surprises[:, None] - surprises
    mean = float((held * gain).sum() / total)
    error = float(np.sqrt((held * (gain - mean) ** 2).sum())) / total
    if mean < max(WORTH, 2 * error):
        return plain
    # Trust depends on the person's fold: the figures are computed on cells × folds.
    fine = [np.repeat(each, FOLDS) for each in (p, given, h0)]
    found = scored(
        fine[0], fine[1], held.ravel(), fine[2], trust.ravel(), float((held * trust).sum() / total)
    )
    sizes = held.sum(axis=1)
    per_cell = np.where(
        sizes > 0, (held * surprises).sum(axis=1) / np.maximum(sizes, 1), surprises.mean(axis=1)
    )
    return replace(found, surprises=per_cell)


def _responsibility(p: Floats, prior: Floats, trust: Floats) -> Floats:
    """ρ: the probability that the true value came from the posterior and not from the prior."""
    by_posterior = trust * p
    return np.asarray(by_posterior / (by_posterior + (1 - trust) * prior))
