"""Range sums of one even size: the bounds of every record, in closed form.

The database answers only sums over ``Q = 2l`` consecutive records of a secret order. All information
in such answers is ``a_i = s_i + s_(i+1)``, ``i = 1 … k``, where ``s_i`` is the sum of the i-th block of
``l`` records and ``k = ⌊2n/Q⌋ − 1``. Records past the last whole block are in no query; if fewer than ``Q``
records exist, no query can be asked and every record is in none.

Source: Alfalayleh and Brankovic, *Quantifying Privacy: A Novel Entropy-Based Measure of Disclosure Risk*
(2014), who solve two linear programs for each record. Every block sum follows from the first one, so no
program is needed.
"""

import math
from dataclasses import dataclass, field
from itertools import islice, pairwise
from operator import index

import numpy as np
from numpy.typing import ArrayLike, NDArray

from equivoc.errors import InputError
from equivoc.systems.grids import (
    BEYOND_CHANCE,
    EvenGrid,
    checked_prior,
    decimal_places,
    even_grid,
    log_sums,
    too_many_sums,
)
from equivoc.systems.system import ContradictionError


def block_layout(records: int, *, size: int) -> tuple[int, int]:
    """Records in a block, and whole blocks that some query covers (0 where no query fits).

    >>> block_layout(7, size=4), block_layout(3, size=4)
    ((2, 3), (2, 0))
    """
    try:
        whole = index(size)
    except TypeError:
        whole = 0
    if whole < 2 or whole % 2:
        raise InputError(f"size is {size!r}; a query covers an even number of records, at least 2.")
    blocks = records // (whole // 2)
    return whole // 2, blocks if blocks >= 2 else 0


def block_of_record(records: int, *, size: int) -> NDArray[np.int64]:
    """The block (from 0) of each record in query order; records in no query get the number of blocks.

    >>> block_of_record(7, size=4)
    array([0, 0, 1, 1, 2, 2, 3])
    """
    per_block, blocks = block_layout(records, size=size)
    return np.minimum(np.arange(records) // per_block, blocks)


def range_sum_answers(confidential: ArrayLike, *, size: int) -> NDArray[np.float64]:
    """The ``k`` independent answers: sums of each two adjacent blocks, in the attribute's unit.

    Exact where the values are decimals of at most nine places (and their sums keep within 2^53 units of the
    last one).

    >>> range_sum_answers([10, 20, 30, 40, 50, 60], size=4)
    array([100., 180.])
    """
    values = _finite_vector(confidential, name="confidential")
    per_block, blocks = block_layout(len(values), size=size)
    in_queries = values[: blocks * per_block]
    places = decimal_places(in_queries, headroom=2.0 * per_block)
    factor = 1.0 if places is None else 10.0**places
    units = in_queries if places is None else np.rint(in_queries * factor)
    block_sums = units.reshape(blocks, per_block).sum(axis=1)
    return np.asarray((block_sums[:-1] + block_sums[1:]) / factor, dtype=np.float64)


def bounds(confidential: ArrayLike, *, size: int, low: float, high: float) -> NDArray[np.float64]:
    """Least and greatest value that each record can have, given the answers and the domain's ends: n × 2.

    The records come in query order, and so do the bounds. Only the answers to the queries, ``low`` and
    ``high`` enter the computation: see :func:`bounds_from_answers`.

    >>> bounds([10, 20, 50, 10, 50], size=2, low=10, high=50)
    array([[10., 10.],
           [20., 20.],
           [50., 50.],
           [10., 10.],
           [50., 50.]])
    """
    values = _finite_vector(confidential, name="confidential")
    outside = np.flatnonzero((values < low) | (values > high))
    if len(outside):
        raise InputError(
            f"confidential[{outside[0]}] is {values[outside[0]]:g}, "
            f"which is not between low ({low:g}) and high ({high:g})."
        )
    per_block, _ = block_layout(len(values), size=size)
    # Rounded sums of other numbers may look like decimals; here the values themselves are known, so check them.
    places = decimal_places(np.append(values, [low, high]), headroom=4.0 * per_block)
    return _bounds(range_sum_answers(values, size=size), size, len(values), low, high, places)


def bounds_from_answers(
    answers: ArrayLike, *, size: int, records: int, low: float, high: float
) -> NDArray[np.float64]:
    """Bounds ``[L, U]`` of each record from the answers alone: n × 2, in query order, in O(n).

    With ``t = s_1`` the block sums are ``s_i = ±(t + u_i)``, signs alternating and ``u_i`` known from the
    answers. ``l·d_min ≤ s_i ≤ l·d_max`` for every block leaves an interval for ``t``, hence ``[s_lo, s_hi]``
    for each block, and ``L = max(d_min, s_lo − (l−1)·d_max)``, ``U = min(d_max, s_hi − (l−1)·d_min)`` for
    each of its records.

    The bounds are exact where answers, ``low`` and ``high`` are decimals (integers among them), which are
    then assumed to be exact. Otherwise each is moved outwards by the possible rounding error, so that no
    possible value is excluded.

    >>> bounds_from_answers([390.0, 250.0], size=4, records=7, low=0, high=100)[[0, 2, 4, 6]]
    array([[ 90., 100.],
           [ 90., 100.],
           [  0.,  60.],
           [  0., 100.]])
    """
    given = _finite_vector(answers, name="answers")
    per_block, blocks = block_layout(records, size=size)
    if len(given) != max(blocks - 1, 0):
        raise InputError(
            f"answers holds {len(given)} sums, but {records} records with queries of size {size} have "
            f"{max(blocks - 1, 0)} independent ones."
        )
    places = decimal_places(np.append(given, [low, high]), headroom=4.0 * per_block * BEYOND_CHANCE)
    return _bounds(given, size, records, low, high, places)


def _bounds(
    answers: NDArray[np.float64], size: int, records: int, low: float, high: float, places: int | None
) -> NDArray[np.float64]:
    if not (math.isfinite(low) and math.isfinite(high) and low <= high):
        raise InputError(f"low and high are {low:g} and {high:g}; they must be finite, low not above high.")
    per_block, blocks = block_layout(records, size=size)
    result = np.empty((records, 2))
    result[:] = low, high
    if blocks:
        spans = _record_spans(answers, per_block, float(low), float(high), places)
        result[: blocks * per_block] = np.repeat(spans, per_block, axis=0)
    return result


def alternating_shifts(answers: NDArray[np.float64]) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Signs and shifts that give every block sum from the first: ``s_i = sign_i · (s_1 + shift_i)``.

    >>> signs, shifts = alternating_shifts(np.array([100.0, 180.0]))
    >>> signs * (30 + shifts)
    array([ 30.,  70., 110.])
    """
    signs = np.ones(len(answers) + 1)
    signs[1::2] = -1.0
    shifts = np.zeros(len(answers) + 1)
    np.cumsum(-signs[:-1] * answers, out=shifts[1:])
    return signs, shifts


def first_sum_interval(
    signs: NDArray[np.float64], shifts: NDArray[np.float64], *, least: float, greatest: float
) -> tuple[float, float]:
    """The interval for ``s_1`` that keeps every block sum within the ends; empty: low above high.

    >>> first_sum_interval(np.array([1.0, -1.0]), np.array([0.0, -390.0]), least=0.0, greatest=200.0)
    (190.0, 200.0)
    """
    rising = signs > 0
    return (
        float(np.max(np.where(rising, least, -greatest) - shifts)),
        float(np.min(np.where(rising, greatest, -least) - shifts)),
    )


def _record_spans(
    answers: NDArray[np.float64], per_block: int, low: float, high: float, places: int | None
) -> NDArray[np.float64]:
    """``[L, U]`` of a record of each block; ``places``: all are decimals with so many places (None: they are not).

    Shifts are sums or differences of two block sums, so nothing here grows past 4·l·max|d|.
    """
    if places is not None:
        factor, slack = 10.0**places, 0.0
        answers, low, high = (
            np.rint(answers * factor),
            float(np.rint(low * factor)),
            float(np.rint(high * factor)),
        )
    else:
        # An answer is the rounded sum of 2l numbers, and a shift adds up to k answers.
        largest_sum = 2 * per_block * max(abs(low), abs(high))
        factor, slack = (
            1.0,
            float(np.finfo(np.float64).eps) * 2 * per_block * (len(answers) + 2) * largest_sum,
        )
    signs, shifts = alternating_shifts(answers)
    first_low, first_high = first_sum_interval(
        signs, shifts, least=per_block * low, greatest=per_block * high
    )
    if first_low > first_high + 2 * slack:
        raise InputError(
            f"answers contradict each other: no {per_block * len(signs)} values between {low / factor:g} and "
            f"{high / factor:g} have these sums."
        )
    ends = signs[:, None] * (np.array([first_low, first_high]) + shifts[:, None])
    least, greatest = ends.min(axis=1), ends.max(axis=1)
    others = per_block - 1
    spans = np.column_stack([least - others * high - slack, greatest - others * low + slack])
    return np.asarray(np.clip(spans, low, high) / factor + 0.0, dtype=np.float64)  # + 0.0 turns -0 into 0


def _finite_vector(numbers: ArrayLike, *, name: str) -> NDArray[np.float64]:
    vector = np.asarray(numbers, dtype=np.float64)
    if vector.ndim != 1:
        raise InputError(f"{name} has {vector.ndim} dimensions; it must be a plain sequence of numbers.")
    bad = np.flatnonzero(~np.isfinite(vector))
    if len(bad):
        raise InputError(f"{name}[{bad[0]}] is {vector[bad[0]]}; every one must be a finite number.")
    return vector


# Range sums of one even size: the exact posterior of every record, by Bayes' rule.
#
# Records are independent draws from a prior on the domain ``D``. With blocks of ``l`` records and ``N_l`` the
# l-fold convolution of the prior, the first block's sum ``t`` has ``P(t) ∝ Π_i N_l(s_i(t))``, and given ``t``
# a record of block ``i`` has ``P(c = d | t) = prior(d) · N_(l−1)(s_i(t) − d) / N_l(s_i(t))``. Every record of
# a block has the same posterior.
#
# The queries are those of Alfalayleh and Brankovic (2014); their own intruder takes all values between two
# bounds as equally likely (:mod:`equivoc.systems.range_sums`), which ignores part of the answers.

_MOST_CHANNEL_ENTRIES = 2**26
_ENTRIES_AT_A_TIME = 2**22


@dataclass(frozen=True, eq=False)
class AnsweredBlocks:
    """What the answers disclose about every block, for any prior.

    Blocks of equal sign and shift have equal sums for any first sum: they share a row of `probabilities`.
    """

    grid: EvenGrid = field(repr=False)
    per_block: int
    kinds: NDArray[np.int64] = field(repr=False)
    """Kinds of blocks × (sign, shift)."""
    multiplicity: NDArray[np.int64] = field(repr=False)
    """How many blocks of each kind there are."""
    first: NDArray[np.int64] = field(repr=False)
    """The possible sums of the first block, in steps of the grid above the least."""
    row: NDArray[np.int64] = field(repr=False)
    """The row of each record, in query order."""

    def probabilities(self, prior: ArrayLike | None = None) -> NDArray[np.float64]:
        """(Kinds of blocks + 1) × |D|; each row sums to 1. The last row is the prior: that of records in no query.

        ``prior`` gives each value's probability (None: all equal); ContradictionError if it rules the answers out.
        """
        belief = _given_or_uniform(prior, len(self.grid.positions))
        if not len(self.kinds):
            return belief[None, :]
        others_log, block_log = next(islice(pairwise(log_sums(self.grid, belief)), self.per_block - 1, None))
        first, weights = _first_sum_posterior(self.first, self.kinds, self.multiplicity, block_log)
        channel = _channel(self.grid, belief, others_log, block_log)
        return np.vstack([_mix(first, weights, self.kinds, channel), belief[None, :]])


def answered_blocks(answers: ArrayLike, *, size: int, records: int, values: ArrayLike) -> AnsweredBlocks:
    """For the exact posterior over ``values`` of every record, from the answers to range sums of ``size`` records.

    ``answers`` are those of :func:`equivoc.systems.range_sums.range_sum_answers`; ``values`` is the domain,
    ascending and on an even grid, gaps allowed. InputError if the grid is too fine, or there is none.

    >>> found = answered_blocks([1, 3], size=4, records=7, values=[0, 1])
    >>> found.probabilities()[found.row]
    array([[1. , 0. ],
           [1. , 0. ],
           [0.5, 0.5],
           [0.5, 0.5],
           [0. , 1. ],
           [0. , 1. ],
           [0.5, 0.5]])
    """
    grid = even_grid(values)
    block = block_of_record(records, size=size)
    per_block, blocks = block_layout(records, size=size)
    sums = _in_steps(answers, grid, size=size, blocks=blocks)
    nothing = np.empty(0, dtype=np.int64)
    if blocks == 0:
        return AnsweredBlocks(grid, per_block, nothing.reshape(0, 2), nothing, nothing, block)
    _refuse_if_too_fine(grid, per_block)
    signs, shifts = alternating_shifts(sums)
    codes, kind_of_block, multiplicity = np.unique(
        2 * shifts.astype(np.int64) + (signs < 0), return_inverse=True, return_counts=True
    )
    kinds = np.column_stack([1 - 2 * (codes & 1), codes >> 1])
    low, high = first_sum_interval(signs, shifts, least=0.0, greatest=float(per_block * grid.steps))
    first = np.arange(int(low), int(high) + 1)
    row = np.append(kind_of_block.reshape(-1), len(kinds))[block]
    return AnsweredBlocks(grid, per_block, kinds, multiplicity, first, row)


def _first_sum_posterior(
    first: NDArray[np.int64],
    kinds: NDArray[np.int64],
    multiplicity: NDArray[np.int64],
    block_log: NDArray[np.float64],
) -> tuple[NDArray[np.int64], NDArray[np.float64]]:
    """The first block's possible sums and their probabilities."""
    log_weight = np.zeros(len(first))
    for part in _parts(len(kinds), len(first)):
        log_weight += multiplicity[part].astype(np.float64) @ block_log[_block_sums(first, kinds[part])]
    peak = float(np.max(log_weight, initial=-np.inf))
    if peak == -np.inf:
        raise ContradictionError(
            "answers cannot come from these values: no records drawn from the prior have these sums."
        )
    weights = np.exp(log_weight - peak)
    possible = weights > 0
    return first[possible], weights[possible] / weights.sum()


def _channel(
    grid: EvenGrid,
    belief: NDArray[np.float64],
    others_log: NDArray[np.float64],
    block_log: NDArray[np.float64],
) -> NDArray[np.float64]:
    """A record's distribution (columns) for each sum of its block (rows); all 0 for impossible sums."""
    padding = np.full(grid.steps, -np.inf)
    rest_log = np.concatenate([padding, others_log, padding])
    rest = np.arange(len(block_log))[:, None] - grid.positions[None, :] + grid.steps
    with np.errstate(divide="ignore"):
        log_belief = np.log(belief)
    whole_log = np.where(block_log > -np.inf, block_log, 0.0)
    return np.asarray(np.exp(log_belief + rest_log[rest] - whole_log[:, None]), dtype=np.float64)


def _mix(
    first: NDArray[np.int64],
    weights: NDArray[np.float64],
    kinds: NDArray[np.int64],
    channel: NDArray[np.float64],
) -> NDArray[np.float64]:
    """Average the channel over the block sums that the first sum's posterior implies, kind by kind."""
    mixed = np.empty((len(kinds), channel.shape[1]))
    for part in _parts(len(kinds), len(channel)):
        sums = _block_sums(first, kinds[part])
        spread = np.zeros((len(sums), len(channel)))
        np.put_along_axis(spread, sums, np.broadcast_to(weights, sums.shape), axis=1)
        mixed[part] = spread @ channel
    # The rows sum to 1 up to rounding in the convolutions; normalise them.
    return np.asarray(mixed / mixed.sum(axis=1, keepdims=True), dtype=np.float64)


def _block_sums(first: NDArray[np.int64], kinds: NDArray[np.int64]) -> NDArray[np.int64]:
    """Sums of a block of each kind (sign, shift), for each first sum."""
    return np.asarray(kinds[:, :1] * (first[None, :] + kinds[:, 1:]), dtype=np.int64)


def _in_steps(answers: ArrayLike, grid: EvenGrid, *, size: int, blocks: int) -> NDArray[np.float64]:
    """The answers counted in steps of the grid above their least possible value."""
    given = np.asarray(answers, dtype=np.float64)
    if given.shape != (max(blocks - 1, 0),):
        raise InputError(
            f"answers has shape {given.shape}; these records have {max(blocks - 1, 0)} independent sums."
        )
    steps = (given - size * grid.origin) / grid.step
    whole = np.rint(steps)
    # An answer sums `size` values, each of them within a millionth of a step of the grid.
    off = np.flatnonzero(~(np.abs(steps - whole) <= 1e-6 * size))
    if len(off):
        raise InputError(f"answers[{off[0]}] is {given[off[0]]:g}, which no {size} of the values sum to.")
    return whole


def _given_or_uniform(prior: ArrayLike | None, count: int) -> NDArray[np.float64]:
    return np.full(count, 1.0 / count) if prior is None else checked_prior(prior, count)


def _refuse_if_too_fine(grid: EvenGrid, per_block: int) -> None:
    sums = per_block * grid.steps + 1
    if too_many_sums(grid, per_block) or sums * len(grid.positions) > _MOST_CHANNEL_ENTRIES:
        raise InputError(
            f"values span {grid.steps} steps of {grid.step:g}, too many for the exact posterior with blocks "
            f"of {per_block} records: round the confidential attribute to a coarser grid (round_to)."
        )


def _parts(rows: int, columns: int) -> list[slice]:
    """Slices of the rows that keep a rows × columns work array small."""
    at_a_time = max(1, _ENTRIES_AT_A_TIME // max(columns, 1))
    return [slice(start, start + at_a_time) for start in range(0, rows, at_a_time)]
