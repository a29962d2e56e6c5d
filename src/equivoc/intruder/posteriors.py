"""The intruder's posterior of every class of people: linkage × channel.

``p(d) = Σ_g link(g) · channel(d | g)``: the linkage is the probability that g (a released record, or a group of equal
records) is the target's; the channel is the distribution of the confidential value given g. Every technique provides
these two; everything else uses the posteriors.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from equivoc.intruder.mixing import Block, believed, mixed_blocks, shares

if TYPE_CHECKING:
    from scipy.sparse import csr_array

    from equivoc.attributes.attribute import Attribute
    from equivoc.data.classes import Classes
    from equivoc.measure.curves import Curves
    from equivoc.measure.tree import TreeCurves

Floats = NDArray[np.float64]


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
            found[block.classes] = _shannon(block.probabilities)[block.of]
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


def _shannon(p: Any) -> Floats:
    """The entropy of each row, in bits."""
    if isinstance(p, np.ndarray):
        with np.errstate(divide="ignore", invalid="ignore"):
            return np.asarray(-np.nansum(p * np.log2(p), axis=1) + 0.0)
    some = p.data > 0
    terms = np.zeros(len(p.data) + 1)
    np.log2(p.data, out=terms[:-1], where=some)
    terms[:-1] *= p.data
    return np.asarray(-np.add.reduceat(terms, p.indptr[:-1]) + 0.0)
