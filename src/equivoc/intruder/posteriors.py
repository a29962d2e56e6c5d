"""What an intruder believes of every class of people: linkage × channel.

``p(d) = Σ_g link(g) · channel(d | g)``: a linkage says how likely what was released about g (a record, or records
alike) is the target's; a channel says what that tells about the confidential value. Every technique gives these two
and nothing else; everything above works on the posteriors.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from equivoc.errors import InputError
from equivoc.intruder.channel.channel import Channel, Stated
from equivoc.memory import check_memory

if TYPE_CHECKING:
    from scipy.sparse import csr_array

    from equivoc.attributes.attribute import Attribute
    from equivoc.data.classes import Classes
    from equivoc.measure.curves import Curves
    from equivoc.measure.tree import TreeCurves

Floats = NDArray[np.float64]
DENSE_UP_TO = 256 * 2**20
"""Bytes: a table of probabilities larger than this is kept sparse."""


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
        """The classes' key values: a frame of the kind that went in."""
        return self.classes.keys

    def __len__(self) -> int:
        return len(self.classes)

    @cached_property
    def probabilities(self) -> Floats | csr_array:
        """Classes × |D|; each row sums to 1. A scipy CSR array where a dense one would pass 256 MB."""
        return believed(shares(self.linkage, of=f"the known keys {list(self.known)}"), self.channel)

    def curves(self, *, tolerance: float | None = 1e-3) -> Curves | TreeCurves:
        """The measure on every class; see `equivoc.curves` for ``tolerance``."""
        # Whole counts of the values themselves need no table of probabilities.
        geometry = self.attribute.geometry
        if self._counted:
            return geometry.curves(self.linkage, counts=True, tolerance=tolerance)
        return geometry.curves(self.probabilities, tolerance=tolerance)

    @property
    def _counted(self) -> bool:
        return self.channel is None and bool(np.issubdtype(self.linkage.dtype, np.integer))

    def blocks(self, *, tolerance: float | None = None) -> Iterator[tuple[slice, Curves | TreeCurves]]:
        """The measure, for some classes at a time: tables of many classes × many values need not be whole in memory."""
        geometry, rows = self.attribute.geometry, len(self)
        wide = len(self.attribute)
        if self._counted or rows * wide * 8 <= DENSE_UP_TO or self.channel is None:
            yield slice(0, rows), self.curves(tolerance=tolerance)
            return
        channel = self.channel if isinstance(self.channel, Channel) else Stated(self.channel)
        for part, block in channel.blocks(shares(self.linkage, of=f"the known keys {list(self.known)}")):
            yield part, geometry.curves(block, tolerance=tolerance)

    def curves_of(self, rows: NDArray[np.int64], *, tolerance: float | None = None) -> Curves | TreeCurves:
        """The measure on some of the classes."""
        geometry = self.attribute.geometry
        if self._counted:
            return geometry.curves(self.linkage[rows], counts=True, tolerance=tolerance)
        link = shares(self.linkage[rows], of=f"the known keys {list(self.known)}")
        return geometry.curves(believed(link, self.channel), tolerance=tolerance)

    def shannon(self) -> Floats:
        """H0 of every class in bits, without the rest of the measure."""
        p = self.probabilities
        if isinstance(p, np.ndarray):
            with np.errstate(divide="ignore", invalid="ignore"):
                return np.asarray(-np.nansum(p * np.log2(p), axis=1) + 0.0)
        terms = np.append(p.data * np.log2(p.data), 0.0)
        return np.asarray(-np.add.reduceat(terms, p.indptr[:-1]) + 0.0)


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


def believed(link: Any, channel: Any) -> Floats | csr_array:
    """Rows of `shares` through the channel; a CSR array where a dense table would pass 256 MB.

    The last bits depend on nothing but the numbers: BLAS, no faster here, would have them depend on its threads.
    """
    from scipy.sparse import csr_array, issparse

    width = link.shape[1] if channel is None else channel.shape[1]
    if isinstance(channel, Channel):
        return _through(link, channel)
    if channel is not None:
        _check_filled(link, channel)
    dense = link.shape[0] * width * 8 <= DENSE_UP_TO
    if channel is not None:
        if issparse(link):
            link = link @ (channel if dense else csr_array(channel))
        elif issparse(channel):
            link = link @ channel
        else:
            link = np.einsum("cg,gd->cd", link, channel)
    if dense:
        return np.asarray(link.toarray() if issparse(link) else link)
    return csr_array(link)


def _through(link: Any, channel: Channel) -> Floats | csr_array:
    """`believed` for a channel that is an operator."""
    from scipy.sparse import csr_array, vstack

    rows, wide = link.shape[0], channel.shape[1]
    if rows * wide * 8 <= DENSE_UP_TO:
        return np.concatenate([block for _, block in channel.blocks(link)])
    check_memory(
        "the posteriors of all classes",
        rows=rows,
        columns=wide,
        advice="round the confidential values, or let fewer keys be known",
    )
    return csr_array(vstack([csr_array(block) for _, block in channel.blocks(link)], format="csr"))


def _check_filled(link: Any, channel: Any) -> None:
    """InputError if the posteriors, most of them filled by wide rows of the channel, would not fit in memory."""
    from scipy.sparse import issparse

    filled = np.diff(channel.indptr) if issparse(channel) else np.full(channel.shape[0], channel.shape[1])
    if issparse(link):
        entries = int(np.minimum(_row_sums(filled[link.indices], link.indptr), channel.shape[1]).sum())
    else:
        entries = link.shape[0] * channel.shape[1]
    check_memory(
        "the posteriors of all classes",
        rows=link.shape[0],
        columns=-(-entries // max(1, link.shape[0])),
        advice="round the confidential values, or let fewer keys be known",
    )


def _row_sums(entries: NDArray[np.int64], starts: NDArray[Any]) -> NDArray[np.int64]:
    total = np.concatenate([[0], np.cumsum(entries, dtype=np.int64)])
    return np.asarray(total[starts[1:]] - total[starts[:-1]])
