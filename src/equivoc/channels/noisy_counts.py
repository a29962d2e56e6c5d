"""Expected true counts of a class of known size, given its noisy counts.

Cell d of a class shows the count y_d, the true count t_d plus two-sided geometric noise, ``P(y | t) ∝ α^|y − t|``. The
intruder knows that the true counts sum to N; a priori each of the N people is in cell d with
probability prior_d. So ``P(t) ∝ Π_d w_d(t_d)`` over all t that sum to N, with
``w_d(t) = prior_d^t / t! · α^|y_d − t|``, and a person of the class is in cell d with probability
``E[t_d | Σ t = N] / N``.

Method. As in `informed_linkage`: multiplying the prior by e^τ changes nothing, so choose τ such that the expected
sum is N; then ``E[t_d | Σ t = N]`` is a quotient of two sums over the unit circle, neither of them small. Sums of
log-concave counts are log-concave, so their tails fall at least as e^(1 − k) at k standard deviations: 40 of these
between the points keep the aliasing error below rounding. Points where the characteristic function is negligible
(``|φ_d(ω)| ≤ 1 − q_d(1 − cos(ω/2))``, q_d the mass that t and t + 1 share) are left out. The counts kept of each cell
are those within about 9 standard deviations of a Poisson count around the mode. No approximation beyond rounding.

Cost: cells × counts kept × points; nothing for N = 1, and for large N at most about 18·√(mode) × 20·√N,
less if the noisy counts are informative.

Source: A. Ghosh, T. Roughgarden and M. Sundararajan, *Universally utility-maximizing privacy mechanisms* (2009), for
the noise; the posterior with N known is ours, checked against enumeration.
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
import numpy.typing as npt

from equivoc.errors import InputError

Floats = npt.NDArray[np.float64]
Ints = npt.NDArray[np.int64]
CELLS_AT_A_TIME = 2**19
TAIL = 42.0
DEVIATIONS = 40
TINY = 1e-300
TILTS = 100


def expected_counts(
    noisy: npt.ArrayLike,
    prior: npt.ArrayLike,
    starts: npt.ArrayLike,
    people: npt.ArrayLike,
    *,
    alpha: float,
    copies: npt.ArrayLike | None = None,
) -> Floats:
    """E[t | Σ t = N] of every entry; class c has the entries from ``starts[c]`` on, and N = ``people[c]``.

    An entry is a cell with the noisy count ``noisy`` and the prior weight ``prior`` (its scale within a class does not
    matter), or ``copies`` such cells; the result is that of one of them. ``alpha`` lies between 0 and 1 (e^−ε).

    >>> expected_counts([2, 0], [0.5, 0.5], [0, 2], [2], alpha=0.1).round(3).tolist()   # w: 1, 2·10^-2, 10^-4
    [1.98, 0.02]
    """
    y, weights, begins, numbers, times = _checked(noisy, prior, starts, people, copies)
    if not 0 < alpha < 1:
        raise InputError(f"alpha is {alpha!r}; it must lie between 0 and 1.")
    found = np.zeros(len(y))
    row = np.repeat(np.arange(len(numbers)), np.diff(begins))
    y = np.clip(
        y, 0, numbers[row]
    )  # a count outside the possible range gives the same information as the nearest possible one
    total = np.bincount(row, weights=times * weights, minlength=len(numbers))
    stranded = (numbers > 0) & (total <= 0)
    if stranded.any():
        raise InputError(
            f"Class {int(np.argmax(stranded))} has people, but the prior allows none of its cells."
        )
    used = np.flatnonzero((weights > 0) & (numbers[row] > 0))
    if not len(used):
        return found
    # Classes of about the same size together: their windows are about as wide.
    used = used[np.lexsort((row[used], numbers[row[used]]))]
    opens = np.append(True, row[used][1:] != row[used][:-1])
    ends = np.append(np.flatnonzero(opens), len(used))
    which = row[used[ends[:-1]]]
    log_factorial = np.append(0.0, np.cumsum(np.log(np.arange(1, numbers.max() + 1))))
    log_prior = np.log(weights[used]) - np.log(total)[row[used]]
    at = 0
    while at < len(which):
        # A class's window is at most as wide as its N + 1; classes come in ascending N.
        width = int(_reach(numbers[which[at]]) * 2 + 2)
        step = next(iter(chunks(ends[at:] - ends[at], max(1, CELLS_AT_A_TIME // width))))[1]
        past = at + min(step, int(np.searchsorted(numbers[which[at:]], 2 * numbers[which[at]], side="right")))
        part = slice(ends[at], ends[past])
        entries = used[part]
        found[entries] = _conditioned(
            y[entries],
            log_prior[part],
            times[entries],
            ends[at:past] - ends[at],
            numbers[which[at:past]],
            -float(np.log(alpha)),
            log_factorial,
        )
        at = past
    return found


def chunks(starts: Ints, most: int) -> Iterator[tuple[int, int]]:
    """Runs of classes with at most ``most`` entries together; a class that has more is a run of its own."""
    at, classes = 0, len(starts) - 1
    while at < classes:
        past = max(at + 1, int(np.searchsorted(starts, starts[at] + most, side="right")) - 1)
        yield at, min(past, classes)
        at = past


def _reach(count: npt.ArrayLike) -> Floats:
    """The range of a Poisson-like count around its mode, without tails below e^−42."""
    third = TAIL / 3
    return np.asarray(np.ceil(third + np.sqrt(third**2 + 2 * TAIL * np.asarray(count, dtype=np.float64))))


def _conditioned(
    y: Ints, log_prior: Floats, copies: Ints, first: Ints, people: Ints, epsilon: float, log_factorial: Floats
) -> Floats:
    """The expected counts of the entries of a few classes; class c begins at ``first[c]``."""
    row = np.repeat(np.arange(len(first)), np.diff(np.append(first, len(y))))
    if people[-1] == 1:  # one person: exactly one cell has the count 1
        logs = log_prior - epsilon * (np.abs(y - 1) - np.abs(y))
        weights = np.exp(logs - np.maximum.reduceat(logs, first)[row])
        return np.asarray(weights / np.add.reduceat(copies * weights, first)[row])
    low, chances = _tilted(y, log_prior, copies, first, row, people, epsilon, log_factorial)
    offset = np.arange(chances.shape[1], dtype=np.float64)
    mean = np.einsum("ew,w->e", chances, offset)
    variance = np.einsum("ew,w->e", chances, offset**2) - mean**2
    largest = np.add.reduceat(copies * np.minimum(low + chances.shape[1] - 1, people[row]), first)
    deviation = float(np.sqrt(np.maximum(np.add.reduceat(copies * variance, first), 0.0)).max())
    points = int(min(DEVIATIONS * deviation + DEVIATIONS, int(largest.max()) + 1)) | 1
    shared = np.minimum(chances[:, 1:], chances[:, :-1]).sum(axis=1) if chances.shape[1] > 1 else 0 * mean
    # From the mean on, so that large counts lose no digits: t = low + offset, and the class's sum less its lows.
    left = people - np.add.reduceat(copies * low, first)
    whole, part = np.zeros(len(first)), np.zeros(len(y))
    for point in range(points // 2 + 1):
        angle = 2 * np.pi * point / points
        bound = np.add.reduceat(copies * np.log1p(-shared * (1 - np.cos(angle / 2)) * (1 - 1e-12)), first)
        if point and (bound < -TAIL).all():
            break
        cosine, sine = np.cos(angle * offset), np.sin(angle * offset)
        value = np.einsum("ew,w->e", chances, cosine) + 1j * np.einsum("ew,w->e", chances, sine)
        moment = np.einsum("ew,w->e", chances, cosine * offset) + 1j * np.einsum(
            "ew,w->e", chances, sine * offset
        )
        value[value == 0] = TINY
        product = _powers(value, copies, first) * np.exp(-1j * angle * left) * (1.0 + (point > 0))
        whole += product.real
        part += (product[row] * (moment / value)).real
    return np.asarray(low + part / whole[row])


def _powers(factor: npt.NDArray[np.complex128], copies: Ints, first: Ints) -> npt.NDArray[np.complex128]:
    """The product of each class's factors, each to the power of its copies: by real logarithms, which is faster."""
    size = np.log(factor.real**2 + factor.imag**2) / 2
    angle = np.arctan2(factor.imag, factor.real)
    return np.asarray(np.exp(np.add.reduceat(copies * (size + 1j * angle), first)))


def _tilted(
    y: Ints,
    log_prior: Floats,
    copies: Ints,
    first: Ints,
    row: Ints,
    people: Ints,
    epsilon: float,
    log_factorial: Floats,
) -> tuple[Ints, Floats]:
    """Each cell's distribution after the tilt: its least count kept, and the probabilities from there on.

    Under the weights e^(τt)·w_d(t) a count lies stochastically between Poisson counts of mean μα and μ/α, with
    μ = prior_d·e^τ. So the tilt lies within ε of log N.
    """
    target = people.astype(np.float64)
    low, high = np.log(target) - epsilon, np.log(target) + epsilon
    tilt = np.log(target)
    for _ in range(TILTS):
        least, chances = _law(y, log_prior + tilt[row], people[row], epsilon, log_factorial)
        count = np.arange(chances.shape[1], dtype=np.float64)
        mean = np.einsum("ew,w->e", chances, count)
        variance = np.einsum("ew,w->e", chances, count**2) - mean**2
        off = target - np.add.reduceat(copies * (least + mean), first)
        spread = np.maximum(np.add.reduceat(copies * variance, first), 0.0)
        settled = (np.abs(off) <= 0.01 * np.maximum(1.0, np.sqrt(spread))) | (high - low < 1e-9)
        if settled.all():
            break
        low, high = np.where(off > 0, tilt, low), np.where(off < 0, tilt, high)
        with np.errstate(divide="ignore", invalid="ignore", over="ignore"):
            step = tilt + off / spread
        inside = (step > low) & (step < high)  # False for a NaN step
        tilt = np.where(settled, tilt, np.where(inside, step, (low + high) / 2))
    return least, chances


def _law(y: Ints, log_mean: Floats, most: Ints, epsilon: float, log_factorial: Floats) -> tuple[Ints, Floats]:
    """P(t) ∝ μ^t/t! · e^−ε|y − t| for t up to ``most``: the least count kept, and entries × counts from there on.

    Below y the distribution is that of a Poisson count of mean μe^ε, above y of mean μe^−ε: the mode is y, unless
    the first is below it or the second above.
    """
    ceiling = np.log(most + 1.0)
    below, above = (
        np.exp(np.minimum(log_mean + epsilon, ceiling)),
        np.exp(np.minimum(log_mean - epsilon, ceiling)),
    )
    likeliest = np.clip(np.clip(y, np.floor(above), np.floor(below)), 0, most)
    reach = _reach(likeliest)
    least = np.maximum(likeliest - reach, 0).astype(np.int64)
    last = np.minimum(likeliest + reach, most).astype(np.int64)
    counts = least[:, None] + np.arange(int((last - least).max()) + 1)
    kept = counts <= last[:, None]
    counts = np.where(kept, counts, last[:, None])
    logs = counts * log_mean[:, None] - log_factorial[counts] - epsilon * np.abs(y[:, None] - counts)
    chances = np.where(kept, np.exp(logs - logs.max(axis=1, keepdims=True)), 0.0)
    return least, chances / chances.sum(axis=1, keepdims=True)


def _checked(
    noisy: npt.ArrayLike,
    prior: npt.ArrayLike,
    starts: npt.ArrayLike,
    people: npt.ArrayLike,
    copies: npt.ArrayLike | None,
) -> tuple[Ints, Floats, Ints, Ints, Ints]:
    y, weights = np.asarray(noisy, dtype=np.int64), np.asarray(prior, dtype=np.float64)
    begins, numbers = np.asarray(starts, dtype=np.int64), np.asarray(people, dtype=np.int64)
    times = np.ones(len(y), dtype=np.int64) if copies is None else np.asarray(copies, dtype=np.int64)
    if weights.shape != y.shape or not (np.isfinite(weights) & (weights >= 0)).all():
        raise InputError("Each noisy count needs a finite prior weight of 0 or more.")
    ascending = begins.shape == (len(numbers) + 1,) and not (np.diff(begins) < 0).any()
    if not ascending or begins[0] != 0 or begins[-1] != len(y):
        raise InputError(
            f"{len(numbers)} classes need {len(numbers) + 1} ascending starts from 0 to {len(y)}."
        )
    if times.shape != y.shape or (times < 1).any() or (numbers < 0).any():
        raise InputError("Each entry needs 1 copy or more, and each class a number of people of 0 or more.")
    return y, weights, begins, numbers, times
