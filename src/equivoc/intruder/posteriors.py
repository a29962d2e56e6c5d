"""What an intruder believes of every class of people: linkage × channel.

``p(d) = Σ_g link(g) · channel(d | g)``: a linkage says how likely what was released about g (a record, or records
alike) is the target's; a channel says what that tells about the confidential value. Every technique gives these two
and nothing else; everything above works on the posteriors.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from equivoc.errors import InputError
from equivoc.measure.curves import Curves, curves
from equivoc.memory import check_memory

if TYPE_CHECKING:
    from scipy.sparse import csr_array

    from equivoc.data.classes import Classes

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
    values: Floats
    """The domain D."""
    linkage: Any = field(repr=False)
    channel: Any = field(repr=False)

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

    def curves(self, *, tolerance: float = 1e-3) -> Curves:
        """The measure on every class."""
        # Whole counts of the values themselves need no table of probabilities.
        if self.channel is None and np.issubdtype(self.linkage.dtype, np.integer):
            return curves(self.values, self.linkage, counts=True, tolerance=tolerance)
        return curves(self.values, self.probabilities, tolerance=tolerance)

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
