"""The intruder's posterior of every class of people: linkage × channel.

``p(d) = Σ_g link(g) · channel(d | g)``: the linkage is the probability that g (a released record, or a group of equal
records) is the target's; the channel is the distribution of the confidential value given g. Every technique provides
these two; everything else uses the posteriors.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from equivoc.channels.channel import Channel, Stated
from equivoc.checks import check_memory
from equivoc.errors import InputError
from equivoc.measure.distribution import Rows
from equivoc.measure.lanes import distinct_rows

if TYPE_CHECKING:
    from scipy.sparse import csr_array

    from equivoc.attributes.attribute import Attribute
    from equivoc.data.classes import Classes
    from equivoc.measure.curves import Curves
    from equivoc.measure.tree import TreeCurves

# Multiplies linkages by channels: equal rows only once, and in blocks of rows, so that memory stays bounded.

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]
DENSE_UP_TO = 256 * 2**20
"""Bytes: a table of probabilities larger than this is kept sparse."""


class Block(NamedTuple):
    """The posteriors of some classes; classes with equal linkages share a row."""

    classes: Ints
    """The numbers of the classes."""
    of: Ints
    """Of each of them, which row is its posterior."""
    probabilities: Any
    """Rows × |D|, dense or CSR; each row sums to 1."""


def shares(linkage: Any, *, of: str) -> Any:
    """The linkage with its rows divided by their sums: dense or CSR, as it was. ``of`` says what the classes are of."""
    from scipy.sparse import csr_array, issparse

    total = np.asarray(linkage.sum(axis=1), dtype=np.float64).reshape(-1)
    if not total.all():
        raise InputError(
            f"Nothing released fits class {int(np.argmin(total))} of {of}; was the release made from these people?"
        )
    if not issparse(linkage):
        return linkage / total[:, None]
    link = csr_array(linkage, dtype=np.float64)
    link.data = link.data / np.repeat(total, np.diff(link.indptr))
    return link


def mixed_blocks(links: Sequence[Any], channel: Any) -> Iterator[Block]:
    """Rows of `shares` of several linkages, multiplied by the channel (None: the symbols are the values).

    >>> from scipy.sparse import csr_array
    >>> link = csr_array([[0.5, 0.5], [1.0, 0.0], [0.5, 0.5]])
    >>> [(block.classes.tolist(), block.of.tolist()) for block in mixed_blocks([link], np.eye(2))]
    [([0, 2, 1], [0, 0, 1])]
    """
    link, of = distinct_links(links)
    if channel is None:
        yield Block(np.arange(len(of)), of, link)
        return
    operator = channel if isinstance(channel, Channel) else Stated(channel)
    order = np.argsort(of, kind="stable")
    bounds = np.searchsorted(of[order], np.arange(link.shape[0] + 1))
    for part, probabilities in operator.blocks(link):
        classes = order[bounds[part.start] : bounds[part.stop]]
        yield Block(classes, of[classes] - part.start, probabilities)


def distinct_links(links: Sequence[Any]) -> tuple[Any, Ints]:
    """The distinct rows of several linkages, and for each row the number of its distinct row."""
    if all(
        isinstance(link, np.ndarray) for link in links
    ):  # with changed keys, hardly any two classes have equal rows
        link = links[0] if len(links) == 1 else np.concatenate(links)
        return link, np.arange(len(link))
    from scipy.sparse import csr_array

    links = [csr_array(link) for link in links]
    for link in links:
        link.sort_indices()
    ends = np.cumsum([link.indptr[-1] for link in links])
    bounds = [
        np.zeros(1, np.int64),
        *(l.indptr[1:] + end - l.indptr[-1] for l, end in zip(links, ends, strict=True)),
    ]
    rows = Rows(
        np.concatenate([link.data for link in links]),
        np.concatenate([link.indices for link in links]).astype(np.int32, copy=False),
        np.concatenate(bounds),
        np.empty(0),
        links[0].shape[1],
    )
    representatives, of = distinct_rows(rows)
    # Ascending, so that the first classes are among the first rows.
    ascending = np.argsort(representatives, kind="stable")
    place = np.empty_like(ascending)
    place[ascending] = np.arange(len(ascending))
    whole = csr_array((rows.weights, rows.positions, rows.bounds), shape=(len(rows), rows.width))
    return whole[representatives[ascending]], place[of]


def believed(link: Any, channel: Any) -> Floats | csr_array:
    """Rows of `shares` multiplied by the channel, all at once; CSR if a dense table would exceed 256 MB.

    Without BLAS, which is no faster here, and whose last bits depend on the number of threads.
    """
    from scipy.sparse import csr_array, issparse, vstack

    rows, wide = link.shape[0], link.shape[1] if channel is None else channel.shape[1]
    dense = rows * wide * 8 <= DENSE_UP_TO
    if channel is None:
        if dense:
            return np.asarray(link.toarray() if issparse(link) else link)
        return csr_array(link)
    operator = channel if isinstance(channel, Channel) else Stated(channel)
    check_memory(
        "the posteriors of all classes",
        rows=rows,
        columns=-(-operator.entries(link) // max(1, rows)),
        advice="round the confidential values, or let fewer keys be known",
    )
    blocks = [block for _, block in operator.blocks(link)]
    if dense:
        return np.concatenate(
            [block if isinstance(block, np.ndarray) else block.toarray() for block in blocks]
        )
    return csr_array(vstack([csr_array(block) for block in blocks], format="csr"))


@dataclass(frozen=True, eq=False)
class Posteriors:
    """One posterior per class of people who agree on the known keys.

    ``linkage`` is classes × groups, each row how often or how likely a group is the target's (rows are divided by
    their sum); ``channel`` is groups × |D|, each row a distribution, or None where the groups are the values
    themselves.
    """

    classes: Classes
    attribute: Attribute
    """The confidential attribute: its domain D and what "close" means for its values."""
    linkage: Any = field(repr=False)
    channel: Any = field(repr=False)

    @property
    def values(self) -> NDArray[Any]:
        """The domain D: numbers, ascending, or labels."""
        return self.attribute.values

    @property
    def known(self) -> tuple[str, ...]:
        """The keys that the intruder knows."""
        return self.classes.known

    @property
    def sizes(self) -> NDArray[np.int64]:
        """|M_o|: how many records of the original each class has."""
        return self.classes.sizes

    @property
    def keys(self) -> Any:
        """The classes' key values, as a frame of the people's kind."""
        return self.classes.keys

    def __len__(self) -> int:
        return len(self.classes)

    @cached_property
    def probabilities(self) -> Floats | csr_array:
        """Classes × |D|; each row sums to 1. A scipy CSR array where a dense one would pass 256 MB."""
        return believed(self.link, self.channel)

    @property
    def link(self) -> Any:
        """The linkage with its rows divided by their sums."""
        return shares(self.linkage, of=f"the known keys {list(self.known)}")

    @property
    def _counted(self) -> bool:
        """True if the linkage holds integer counts of the values: then no table of probabilities is needed."""
        return self.channel is None and bool(np.issubdtype(self.linkage.dtype, np.integer))

    def blocks(self) -> Iterator[Block]:
        """The posteriors in blocks, so that a table of many classes × many values is never in memory as a whole.

        Classes with equal linkages share a row.
        """
        return mixed_blocks([self.link], self.channel)

    def curves(self, *, tolerance: float | None = 1e-3) -> Curves | TreeCurves:
        """The measure on every class, all in memory at once; see `equivoc.curves` for ``tolerance``."""
        return self.curves_of(slice(None), tolerance=tolerance)

    def measured(
        self, *, tolerance: float | None = None
    ) -> Iterator[tuple[NDArray[np.int64], Curves | TreeCurves]]:
        """The measure, block by block: the numbers of some classes, and their curves."""
        if self._counted:
            yield np.arange(len(self)), self.curves(tolerance=tolerance)
            return
        for block in self.blocks():
            found = self.attribute.geometry.curves(block.probabilities, tolerance=tolerance)
            yield block.classes, found.rows(block.of)

    def curves_of(
        self, rows: NDArray[np.int64] | slice, *, tolerance: float | None = None
    ) -> Curves | TreeCurves:
        """The measure on some of the classes."""
        geometry = self.attribute.geometry
        if self._counted:
            return geometry.curves(self.linkage[rows], counts=True, tolerance=tolerance)
        link = shares(self.linkage[rows], of=f"the known keys {list(self.known)}")
        return geometry.curves(believed(link, self.channel), tolerance=tolerance)

    def shannon(self) -> Floats:
        """H0 of every class in bits, without the rest of the measure."""
        found = np.empty(len(self))
        for block in self.blocks():
            found[block.classes] = row_entropies(block.probabilities)[block.of]
        return found

    def of_values(self, rows: NDArray[np.int64], columns: NDArray[np.integer[Any]]) -> Floats:
        """The probability of one value for one class, for each of many pairs of a class and a value's number."""
        order = np.argsort(rows, kind="stable")
        ascending, found = rows[order], np.empty(len(rows))
        for block in self.blocks():
            begins, ends = (
                np.searchsorted(ascending, block.classes, side=side) for side in ("left", "right")
            )
            pairs = order[ranges(begins, ends)]
            row = np.repeat(block.of, ends - begins)
            found[pairs] = np.asarray(block.probabilities[row, columns[pairs]], np.float64).reshape(-1)
        return found


def ranges(begins: NDArray[Any], ends: NDArray[Any]) -> NDArray[np.int64]:
    """The numbers from each begin to before its end, one range after the other.

    >>> ranges(np.array([5, 0]), np.array([7, 3])).tolist()
    [5, 6, 0, 1, 2]
    """
    lengths = np.asarray(ends - begins, dtype=np.int64)
    before = np.cumsum(lengths) - lengths
    return np.asarray(np.arange(lengths.sum()) + np.repeat(begins - before, lengths))


def row_entropies(p: Any) -> Floats:
    """The entropy of each row, in bits."""
    if isinstance(p, np.ndarray):
        with np.errstate(divide="ignore", invalid="ignore"):
            return np.asarray(-np.nansum(p * np.log2(p), axis=1) + 0.0)
    some = p.data > 0
    terms = np.zeros(len(p.data) + 1)
    np.log2(p.data, out=terms[:-1], where=some)
    terms[:-1] *= p.data
    return np.asarray(-np.add.reduceat(terms, p.indptr[:-1]) + 0.0)
