"""Data swapping: pairs of records exchange their values."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from functools import lru_cache
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from equivoc.channels.channel import Bayes
from equivoc.channels.likelihood import Likelihood, Swapped, filled
from equivoc.checks import check_memory
from equivoc.data.microdata import Microdata, check_people
from equivoc.errors import InputError
from equivoc.intruder.prior import ReleasedColumn, unchanged
from equivoc.notation.declared import columns, number
from equivoc.notation.ranges import Range
from equivoc.notation.words import Columns
from equivoc.releases.linked_release import LinkedRelease
from equivoc.techniques.inside.exact_ends import exact_ends
from equivoc.techniques.technique import (
    ON,
    Randomness,
    Technique,
    check_order,
    columns_of,
    generator,
    in_words,
    knows_shares,
)
from equivoc.text import exact

if TYPE_CHECKING:
    from scipy.sparse import csr_array

# The distribution of moves in rank swapping, estimated by swapping ranks many times.
#
# The rank from which a record gets its value depends only on the number of records, the number that take part
# and the window. The distribution has no closed form. So ranks are swapped, with a fixed seed, until every
# row of the table is based on at least `DRAWS` draws. Ranks are grouped in blocks of 1/32 of the window
# (single ranks if the window is small). Away from the ends of the file all even blocks have the same
# distribution, and so have all odd blocks: each kind shares one row.

DRAWS = 10_000
"""Least number of draws for each row: the standard error of a probability, given that a record takes part, is at most
0.005."""
_BLOCKS_IN_WINDOW = 32
_MOST_BLOCKS = 2**15
_SEED = 20_140


@dataclass(frozen=True, eq=False)
class RankMoves:
    """The distribution of the true value's rank, given the block of the released value's rank."""

    ranks: int
    block: int
    """Ranks in a block; the last one may have fewer."""
    stays: NDArray[np.float64] = field(repr=False)
    """Blocks: the probability that it is the same rank."""
    moves: csr_array = field(repr=False)
    """Blocks × blocks: the probability that it is another one, evenly spread over the block."""

    def channel(self, counts: NDArray[np.int64]) -> Bayes:
        """P(true value | released value) in a file in which the values, in their order, occur ``counts`` times.

        The prior is the file's own distribution: the result is averaged over the ranks of the released value and summed
        over the ranks of each true value. The row of a value that does not occur has probability 1 for the value
        itself.
        """
        from scipy.sparse import csr_array, diags_array

        ends = np.cumsum(counts)
        begins_of_blocks = np.arange(0, self.ranks, self.block)
        cuts = np.union1d(begins_of_blocks, ends[ends < self.ranks])
        lengths = np.diff(np.append(cuts, self.ranks)).astype(np.float64)
        value, block = np.searchsorted(ends, cuts, side="right"), cuts // self.block
        shape = (len(counts), len(begins_of_blocks))
        common = csr_array((lengths, (value, block)), shape=shape)  # ranks of a value in a block
        of_value = diags_array(1.0 / np.maximum(counts, 1)) @ common
        of_block = common @ diags_array(1.0 / common.sum(axis=0))
        stays = np.where(counts > 0, of_value @ self.stays, 1.0)
        likelihood = RankSwapped(counts, stays, csr_array(of_value), self.moves, csr_array(of_block.T))
        return Bayes(likelihood, counts / self.ranks)


@dataclass(frozen=True, eq=False)
class RankSwapped(Likelihood):
    """P(released value | true value) as a product of sparse tables over blocks of ranks, without a table of all pairs.

    By Bayes' rule K(s | v) ∝ P(true value v | released value s) / N_v, where N_v is the number of records with the
    value v; the release has as many of each value as the original.
    """

    counts: NDArray[np.int64] = field(repr=False)
    """Values: how many records have each."""
    stays: NDArray[np.float64] = field(repr=False)
    """Values: the probability that it is the same rank."""
    of_value: csr_array = field(repr=False)
    """Values × blocks: the share of the value's ranks in each block."""
    moves: csr_array = field(repr=False)
    """Blocks × blocks: the probability that the true rank is another rank, in that block."""
    of_block: csr_array = field(repr=False)
    """Blocks × values: the share of the block's ranks that belong to each value."""

    @property
    def shape(self) -> tuple[int, int]:
        return len(self.stays), len(self.stays)

    def backward(self, weights: Any) -> NDArray[np.float64]:
        if not isinstance(weights, np.ndarray):
            moved = filled(weights @ self.of_value @ self.moves)
        else:
            moved = (self.moves.T @ (self.of_value.T @ weights.T)).T
        spread = (self.of_block.T @ moved.T).T
        return np.ascontiguousarray((spread + filled(weights) * self.stays) / np.maximum(self.counts, 1))

    def forward(self, prior: NDArray[np.float64]) -> NDArray[np.float64]:
        of_record = prior / np.maximum(self.counts, 1)
        moved = self.of_value @ (self.moves @ (self.of_block @ of_record))
        return np.asarray(moved + self.stays * of_record)


@lru_cache(maxsize=64)
def rank_moves(records: int, taking_part: int, window: int) -> RankMoves:
    """The moves in a file of ``records`` records, of whom ``taking_part`` (2 or more) are swapped within ``window``
    ranks.

    >>> moves = rank_moves(4, 4, 1)  # always 1 with 2, 3 with 4
    >>> moves.channel(np.array([1, 2, 1])).dense().round(12)
    array([[0. , 1. , 0. ],
           [0.5, 0. , 0.5],
           [0. , 1. , 0. ]])
    """
    from scipy.sparse import csr_array

    from equivoc.techniques.inside.swapping_kernels import count_moves

    block = max(1, window // _BLOCKS_IN_WINDOW, -(-records // _MOST_BLOCKS))
    reach = window // block + 1
    blocks = -(-records // block)
    # The lower end affects about the first four windows, the upper end only the last one: skip most ranks in between.
    spared = max(0, records - max(6 * window, 16 * block, 1024)) // (2 * block) * 2 * block
    ends = {"lowest": -(-(4 * window + 16) // block), "highest": reach + 1}
    rows, swapped = _rows(blocks, **ends), _rows(blocks - spared // block, **ends)
    share = taking_part / records
    rng = np.random.default_rng(_SEED)
    runs = int(np.ceil(DRAWS / (block * share)))
    ranks = records - spared
    counts = rng.binomial(ranks, share, size=runs) if spared else np.full(runs, taking_part)
    stays, moves = np.zeros(rows.max() + 1), np.zeros((rows.max() + 1, 2 * reach + 1))
    state = rng.integers(2**63, size=1, dtype=np.uint64)
    count_moves(ranks, counts, window, block, swapped, state, stays, moves)
    draws = np.maximum(stays + moves.sum(axis=1), 1.0)
    stay = 1.0 - share + share * stays / draws
    to = np.arange(blocks)[:, None] + np.arange(-reach, reach + 1)
    weights = (share * moves / draws[:, None])[rows]
    used = weights > 0
    table = csr_array((weights[used], (np.nonzero(used)[0], to[used])), shape=(blocks, blocks))
    return RankMoves(records, block, stay[rows], table)


def _rows(blocks: int, *, lowest: int, highest: int) -> NDArray[np.int64]:
    """The row of each block: its own near the ends of the file; in between, one row for even and one for odd blocks."""
    own = np.arange(blocks)
    if blocks <= lowest + highest + 2:
        return own
    between = lowest + own % 2
    upper = lowest + 2 + own - (blocks - highest)
    return np.where(own < lowest, own, np.where(own < blocks - highest, between, upper))


@dataclass(frozen=True)
class Swapping(Technique):
    """Exchange values within random pairs of a share ``rate`` of the records; each column of ``on`` has its own pairs.

    Without ``window`` all pairs are equally likely. With it, records are ranked by the column (equal ones in random
    order); from the lowest up, each record that takes part draws a partner from the unpaired ones at most ``window``
    percent of all ranks above it: rank swapping (Moore, 1996).

    Every value stays in the file, so its distribution is known. With m of n records taking part and N_d records of
    value d, ``P(true = d | released = c) = (1 − m/n)·[d = c] + m/n · (N_d − [d = c]) / (n − 1)``. With a window, see
    `rank_moves`.

    >>> import pandas as pd
    >>> people = Microdata(pd.DataFrame({"pay": [10, 20, 20, 30]}), confidential="pay")
    >>> release = Swapping(rate=0.5).release(people, 0)
    >>> sorted(release.table["pay"])
    [10, 20, 20, 30]
    >>> release.confidential.channel.dense().round(3)
    array([[0.5  , 0.333, 0.167],
           [0.167, 0.667, 0.167],
           [0.167, 0.333, 0.5  ]])
    """

    name: ClassVar[str] = "swapping"
    rate: float = number(
        "share of the records that take part; more is safer", above=0, at_most=1, tries=Range(0.01, 1)
    )
    on: Columns = columns(ON, default="confidential")
    window: float | None = number(
        "how far a value may move, in percent of the ranks; None: anywhere; more is safer",
        above=0,
        at_most=100,
        wanted="above 0 and at most 100 percent",
        default=None,
        tries=Range(1, 100),
    )

    @property
    def whole_records(self) -> bool:
        return self.window is None

    def release(self, people: Microdata, rng: Randomness = None) -> SwappedFile:
        """Draw the pairs, column by column, and exchange."""
        check_people("people", people)
        names = columns_of(self.name, people, self.on)
        if self.window is not None and people.confidential in names:
            check_order(self.name, people, "so a window of ranks is not defined")
        random = generator(rng)
        columns = {name: unchanged(people, name) for name in (*people.keys, people.confidential)}
        for name in names:
            swapped = self._swapped(columns[name], random)
            if name != people.confidential and swapped.channel is not None:
                levels = len(swapped.labels)
                check_memory(
                    f"swapping: the table of probabilities for the values of {name!r}",
                    rows=levels,
                    columns=levels,
                    advice="coarsen that key, or leave it out of on",
                )
                channel = swapped.channel
                swapped = replace(swapped, channel=channel.dense(), likelihood=channel.likelihood.dense())
            columns[name] = swapped
        confidential = columns.pop(people.confidential)
        ends = exact_ends(
            people,
            names if self.window is not None else [],
            "swapping within a window leaves every value in the file, near its rank; top-code first",
        )
        return SwappedFile(people, columns, confidential, mechanism=self.mechanism(people), exactly=ends)

    def mechanism(self, people: Microdata) -> str:
        columns = columns_of(self.name, people, self.on)
        near = "" if self.window is None else f" at most {exact(self.window)} % of the ranks apart"
        return (
            f"She knows that a share {exact(self.rate)} of the records exchanged their {in_words(columns)} in random "
            f"pairs{near}, each column in its own pairs, but not who took part.{knows_shares(people, columns)}"
        )

    def _swapped(self, column: ReleasedColumn, random: np.random.Generator) -> ReleasedColumn:
        codes, n = column.codes, len(column.codes)
        taking_part = min(2 * int(self.rate * n / 2 + 0.5), n - n % 2)
        if taking_part == 0:
            return column
        counts = np.bincount(codes, minlength=len(column.labels))
        drawn = random.choice(n, size=taking_part, replace=False)
        channel: Bayes
        if self.window is None:
            one, other = drawn[: taking_part // 2], drawn[taking_part // 2 :]
            channel = Bayes(Swapped(counts, taking_part / n), counts / n)
        else:
            reach = int(self.window * n / 100 + 1e-9)
            if reach == 0:
                raise InputError(
                    f"swapping: window is {self.window} % of {n} ranks, less than one rank; "
                    f"make it {100 / n:.3g} or more."
                )
            one, other = _rank_pairs(codes, np.sort(drawn), reach, random)
            channel = rank_moves(n, taking_part, reach).channel(counts)
        swapped = codes.copy()
        swapped[one], swapped[other] = codes[other], codes[one]
        return replace(column, codes=swapped, channel=channel)


@dataclass(frozen=True, eq=False)
class SwappedFile(LinkedRelease):
    """The file with values exchanged between records, with an intruder who knows how pairs are drawn."""


def _rank_pairs(
    codes: NDArray[np.integer], ranks: NDArray[np.int64], reach: int, random: np.random.Generator
) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """The pairs of records that exchange values, from those at these ranks; each pair is listed in both orders."""
    from equivoc.techniques.inside.swapping_kernels import exchange

    record_at = np.lexsort([random.random(len(codes)), codes])
    partner = exchange(ranks, reach, random.integers(2**63, size=1, dtype=np.uint64))
    return record_at[ranks], record_at[ranks[partner]]
