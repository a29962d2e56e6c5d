"""Multiplies linkages by channels: equal rows only once, and in blocks of rows, so that memory stays bounded."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from equivoc.errors import InputError
from equivoc.intruder.channel.channel import Channel, Stated
from equivoc.measure.input.rows import Rows
from equivoc.measure.lanes.equal_rows import distinct_rows
from equivoc.memory import check_memory

if TYPE_CHECKING:
    from scipy.sparse import csr_array

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
