"""Posteriors compared with the true values: surprise, trust and gain.

Person r has the true value c_r, which the intruder gives the probability p_r(c_r), and without the release prior(c_r).
Her surprise is ``−log2 p_r(c_r)`` bits; less is riskier. A posterior may give the true value probability 0, so the
prior is mixed in first: ``p′ = (1 − λ)·p + λ·prior`` with the λ, one for the whole file, that minimises the mean
surprise T(0). T(0) is convex in λ: Newton's method within a bracket, and both ends. ``trust`` is 1 − λ; 0: the release
gave her no information. ``gain`` is the prior's mean surprise less hers, in bits of truth per person; more is riskier,
and it is never negative.

Cost: some 10 passes over the cells (people of one class with one value are one cell).

Source: T. Gneiting and A. E. Raftery, *Strictly proper scoring rules, prediction, and estimation* (JASA 102, 2007).
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace

import numpy as np
import numpy.typing as npt

from equivoc.errors import InputError
from equivoc.learning.forest import out_of_sample

Floats = npt.NDArray[np.float64]
CERTAIN = 1e-9
"""Bits: an intruder with H0 below this is certain."""
HALF_BIT = 0.5
SEARCH_STEPS = 100
SEARCH_UNTIL = 1e-12


@dataclass(frozen=True, eq=False)
class Truth:
    """Surprise, trust and gain of one intruder, over people; a cell is people of one class with one value."""

    surprise: float
    """T(0): mean bits per person, with the prior mixed in. Less is riskier."""
    prior_surprise: float
    """The same without the release."""
    trust: float
    """1 − λ, from 0 to 1."""
    certain_right: float
    """How many people she is certain about (H0 < 1e-9, before mixing) and right."""
    certain_wrong: float
    """How many people she is certain about and wrong."""
    below_half_bit: float
    """The share of people with less than half a bit of surprise."""
    surprise_p05: float
    """Bits: the 5 % quantile of the surprise."""
    surprises: Floats = field(repr=False)
    """Of each cell, in bits."""

    @property
    def gain(self) -> float:
        """Bits per person gained from the release: the prior's surprise minus hers, 0 or more."""
        return self.prior_surprise - self.surprise


def hold_against_truth(
    belief: npt.ArrayLike, prior: npt.ArrayLike, counts: npt.ArrayLike, entropy: npt.ArrayLike
) -> Truth:
    """Surprise, trust and gain over cells of ``counts`` people with one class and one true value each.

    ``belief``: the posterior probability of the true value; ``prior``: its prior probability, above 0 (for a value that
    the prior rules out, give a small positive number); ``entropy``: the posterior's H0 in bits.

    >>> found = hold_against_truth([1.0, 0.0], [0.5, 0.5], [3, 1], [0.0, 0.0])   # certain, of three people rightly
    >>> round(found.trust, 4), round(found.surprise, 4), found.certain_right, found.certain_wrong
    (0.5, 0.8113, 3.0, 1.0)
    """
    p, given, people, h0 = checked_cells(belief, prior, counts, entropy)
    trust = best_trust(p, given, people)
    return scored(p, given, people, h0, np.full(len(p), trust), trust)


def best_trust(p: Floats, prior: Floats, people: Floats) -> float:
    """The trust, 1 − λ, with the least mean surprise; the larger one if several are equal.

    >>> best_trust(np.array([0.9, 0.9]), np.array([0.5, 0.5]), np.array([1.0, 1.0]))
    1.0
    """
    used = (people > 0) & (p != prior)
    ratio, weight = p[used] / prior[used] - 1.0, people[used]

    def slope(trust: float) -> tuple[float, float]:
        """The derivative of the sum of log likelihoods, which falls with trust, and its own derivative."""
        with np.errstate(divide="ignore"):
            each = ratio / (1.0 + trust * ratio)
        # Sums of products, not dot products: the last bits of a dot product depend on the number of BLAS threads.
        weighed = weight * each
        return float(weighed.sum()), -float((weighed * each).sum())

    if not len(ratio) or slope(1.0)[0] >= 0:
        return 1.0
    if slope(0.0)[0] <= 0:
        return 0.0
    low, high, trust = 0.0, 1.0, 0.5
    for _ in range(SEARCH_STEPS):
        value, change = slope(trust)
        low, high = (trust, high) if value > 0 else (low, trust)
        step = trust - value / change
        better = step if low < step < high else (low + high) / 2
        if abs(better - trust) < SEARCH_UNTIL:
            return better
        trust = better
    return trust


def mean_surprise(p: Floats, prior: Floats, people: Floats, trust: float) -> float:
    """T(0) over cells with this trust, in bits per person; with trust 0 it is the prior's."""
    each = np.log2(prior + trust * (p - prior))
    return float(-(people * each).sum() / people.sum())


def scored(p: Floats, prior: Floats, people: Floats, h0: Floats, trust: Floats, overall: float) -> Truth:
    """The figures with each cell's own trust; ``overall`` is the one to report."""
    with np.errstate(divide="ignore"):  # the surprise of a cell without people does not matter
        surprises = -np.log2(prior + trust * (p - prior)) + 0.0
    total = people.sum()
    certain = h0 < CERTAIN
    right = p > 0.5
    return Truth(
        surprise=float(people[people > 0] @ surprises[people > 0] / total),
        prior_surprise=float(people @ -np.log2(prior) / total),
        trust=overall,
        certain_right=float(people[certain & right].sum()),
        certain_wrong=float(people[certain & ~right].sum()),
        below_half_bit=float(people[surprises < HALF_BIT].sum() / total),
        surprise_p05=weighted_quantile(surprises, people, 0.05),
        surprises=surprises,
    )


def weighted_quantile(numbers: Floats, weights: Floats, share: float) -> float:
    """The least number that at least this share of the weight does not exceed.

    >>> weighted_quantile(np.array([3.0, 1.0, 2.0]), np.array([1.0, 1.0, 18.0]), 0.05)
    1.0
    """
    order = np.argsort(numbers, kind="stable")
    reached = np.cumsum(weights[order])
    return float(numbers[order][np.searchsorted(reached, share * reached[-1] * (1 - 1e-12))])


def checked_cells(
    belief: npt.ArrayLike, prior: npt.ArrayLike, counts: npt.ArrayLike, entropy: npt.ArrayLike
) -> tuple[Floats, Floats, Floats, Floats]:
    """The four arrays as doubles of one shape; `InputError` for invalid values."""
    p, given, people, h0 = (np.asarray(each, dtype=np.float64) for each in (belief, prior, counts, entropy))
    if not (p.shape == given.shape == people.shape == h0.shape) or p.ndim != 1:
        raise InputError("Beliefs, priors, counts and entropies must have one number for each cell.")
    if not ((p >= 0) & (p <= 1 + 1e-9)).all() or not ((given > 0) & (given <= 1 + 1e-9)).all():
        raise InputError("Beliefs must lie from 0 to 1, and priors above 0 and up to 1.")
    if not (people >= 0).all() or not people.any():
        raise InputError("Counts must be 0 or more, and there must be people.")
    return np.minimum(p, 1.0), np.minimum(given, 1.0), people, h0


# Trust per person: finds a group at risk in a release that discloses little about most people.
#
# One trust for the whole file can hide such a group: if the release is right about the older half and wrong
# about the younger, the best single trust is about one half, and nobody seems to be at risk. Here each
# person's trust is predicted from what the intruder knows (the known keys, the posterior's H0 and largest
# probability, the class's size), out of fold, so that a person's own true value has no influence. The targets
# are the probabilities that the posterior and not the prior produced the true value, ``ρ_r = t·p_r(c_r) /
# (t·p_r(c_r) + (1 − t)·prior(c_r))`` with t the trust so far; a few such steps (EM). Predicted trust is
# clipped to [0, 0.999].
#
# If trust per person does not reduce the surprise compared with one trust for all, the latter is used: a file
# without such a group gives no false alarm.
#
# Cost: folds × steps forests of 30 trees, fitted to at most 5,000 people; 1 s for 3,000 people, 4 s for
# 100,000.

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
