"""Trust per person: finds a group at risk in a release that tells little about most people.

One trust for the whole file can hide such a group: if the release is right about the older half and wrong about the
younger, the best single trust is about one half, and nobody seems to be at risk. Here each person's trust is predicted
from what the intruder knows (the known keys, the posterior's H0 and largest probability, the class's size), out of
fold, so that a person's own true value has no influence. The targets are the probabilities that the posterior and not
the prior produced the true value, ``ρ_r = t·p_r(c_r) / (t·p_r(c_r) + (1 − t)·prior(c_r))`` with t the trust so
far; a few such steps (EM). Predicted trust is clipped to [0, 0.999].

With scikit-learn the predictor is a forest. Without it, it is the mean within groups of one feature or of two, cut at
their quantiles, shrunk to the whole; the features are chosen by the surprise that they leave.

If trust per person does not reduce the surprise compared with one trust for all, the latter is used: a file without
such a group gives no false alarm.

Cost: folds × steps forests of at most 50,000 people; without scikit-learn features² × folds passes over the cells.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from itertools import combinations

import numpy as np
import numpy.typing as npt

from equivoc.errors import InputError
from equivoc.intruder.beliefs import forests
from equivoc.intruder.beliefs.truth import Truth, best_trust, checked_cells, scored

Floats = npt.NDArray[np.float64]
Ints = npt.NDArray[np.int64]
FOLDS = 5
STEPS = 4
MOST_TRUST = 0.999
LEAF = 30
BINS = 16
STRENGTH = 10.0
FIT_ON = 50_000
WORTH = 0.002
"""Bits: trust per person is used if it reduces the surprise by at least this, and by more than its standard error."""
Predictor = Callable[[Floats, Floats, Floats], Floats]
"""From the targets, the weights to fit with and the trust so far (cells each), the cells' trust."""


def gated_truth(
    belief: npt.ArrayLike,
    prior: npt.ArrayLike,
    counts: npt.ArrayLike,
    entropy: npt.ArrayLike,
    features: npt.ArrayLike,
    *,
    seed: int = 0,
    forest: bool | None = None,
) -> Truth:
    """As `hold_against_truth`, with a trust for each person; ``features`` is cells × what is known of the person.

    ``forest``: None uses scikit-learn if it is installed; True requires it. The trust reported is the mean.
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
    use_forest = forests.installed() if forest is None else forest
    trust = np.empty((len(p), FOLDS))
    for fold in range(FOLDS):
        others = held.sum(axis=1) - held[:, fold]
        if not others.any():
            return plain
        fit = _forest(known, seed + fold) if use_forest else _strata(known, p, given)
        own = np.full(len(p), best_trust(p, given, others))
        for _ in range(STEPS):
            own = np.clip(fit(_responsibility(p, given, own), others, own), 0.0, MOST_TRUST)
        trust[:, fold] = own
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


def _forest(features: Floats, seed: int) -> Predictor:
    def fit(targets: Floats, weights: Floats, trust: Floats) -> Floats:
        people = np.repeat(np.arange(len(weights)), np.rint(weights).astype(np.int64))
        if len(people) > FIT_ON:
            people = np.random.default_rng(seed).choice(people, FIT_ON, replace=False)
        return forests.out_of_sample(
            features[people], targets[people], features, leaf=min(LEAF, max(1, len(people) // 10)), seed=seed
        )

    return fit


def _strata(features: Floats, p: Floats, prior: Floats) -> Predictor:
    """The means of the targets within groups of one or two features, which are chosen at the first call."""
    bins = [_binned(features[:, f]) for f in range(features.shape[1])]
    chosen: list[Ints] = []

    def means(group: Ints, targets: Floats, weights: Floats) -> Floats:
        whole = weights @ targets / weights.sum()
        size = np.bincount(group, weights)
        return np.asarray((np.bincount(group, weights * targets) + STRENGTH * whole) / (size + STRENGTH))[
            group
        ]

    def left(group: Ints, weights: Floats, start: Floats) -> float:
        """The surprise of each half of the people with a fit to the other half."""
        rng = np.random.default_rng(0)
        half = rng.binomial(np.rint(weights).astype(np.int64), 0.5).astype(np.float64)
        total = 0.0
        for fitted, judged in ((half, weights - half), (weights - half, half)):
            if not fitted.any():
                return np.inf
            trust = start
            for _ in range(STEPS):
                trust = np.clip(means(group, _responsibility(p, prior, trust), fitted), 0.0, MOST_TRUST)
            total += float(judged @ -np.log2(prior + trust * (p - prior)))
        return total

    def fit(targets: Floats, weights: Floats, trust: Floats) -> Floats:
        if not chosen:
            alone = sorted(range(len(bins)), key=lambda f: left(bins[f], weights, trust))[:4]
            groups = [bins[f] for f in alone]
            groups += [
                np.unique(bins[a] * BINS + bins[b], return_inverse=True)[1] for a, b in combinations(alone, 2)
            ]
            chosen.append(min(groups, key=lambda group: left(group, weights, trust)))
        return means(chosen[0], targets, weights)

    return fit


def _binned(feature: Floats) -> Ints:
    """Up to 16 groups of about the same number of cells; equal numbers stay together."""
    cuts = np.unique(np.quantile(feature, np.arange(1, BINS) / BINS))
    return np.searchsorted(cuts, feature, side="left")
