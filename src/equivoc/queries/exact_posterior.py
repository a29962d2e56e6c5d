"""Range sums of one even size: the exact posterior of every record, by Bayes' rule.

Records are independent draws from a prior on the domain ``D``. With blocks of ``l`` records and ``N_l`` the
l-fold convolution of the prior, the first block's sum ``t`` has ``P(t) ∝ Π_i N_l(s_i(t))``, and given ``t`` a
record of block ``i`` has ``P(c = d | t) = prior(d) · N_(l−1)(s_i(t) − d) / N_l(s_i(t))``. Every record of a
block has the same posterior.

The queries are those of Alfalayleh and Brankovic (2014); their own intruder takes all values between two
bounds as equally likely (:mod:`equivoc.queries.range_sums`), which ignores part of the answers.
"""

from dataclasses import dataclass, field
from itertools import islice, pairwise

import numpy as np
from numpy.typing import ArrayLike, NDArray

from equivoc.errors import InputError
from equivoc.queries.checked_prior import checked_prior
from equivoc.queries.even_grids import EvenGrid, even_grid
from equivoc.queries.range_sums import alternating_shifts, block_layout, block_of_record, first_sum_interval
from equivoc.queries.sum_distributions import log_sums, too_many_sums

_MOST_CHANNEL_ENTRIES = 2**26
_ENTRIES_AT_A_TIME = 2**22


class ImpossibleAnswersError(InputError):
    """No records drawn from the prior have the given sums."""


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

        ``prior`` gives each value's probability (None: all equal); ImpossibleAnswersError if it rules the answers out.
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

    ``answers`` are those of :func:`equivoc.queries.range_sums.range_sum_answers`; ``values`` is the domain,
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
        raise ImpossibleAnswersError(
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
