"""A column of a released file: symbols, and the distribution of the original level given each symbol."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from equivoc.intruder.channel.channel import Channel

if TYPE_CHECKING:
    import pyarrow as pa

    from equivoc.data.microdata import Microdata


@dataclass(frozen=True, eq=False)
class ReleasedColumn:
    """A column as released: for each record a symbol (a number, a range, a star), and its channel.

    ``channel`` is symbols × levels of the original: P(true level | symbol), each row a distribution. None: the symbols
    are the levels themselves, and true.
    """

    codes: NDArray[np.integer[Any]] = field(repr=False)
    """For each released record, the number of its symbol."""
    labels: pa.Array = field(repr=False)
    """How each symbol is written in the released table."""
    channel: Any = field(default=None, repr=False)
    """A dense array; for the confidential column also a CSR array."""
    likelihood: NDArray[np.float64] | None = field(default=None, repr=False)
    """Of a changed key, symbols × levels: P(symbol | level), up to a factor per symbol; None: unchanged."""
    informed: Channel | None = field(default=None, repr=False)
    """Of the confidential column: a stronger channel than ``channel``, where there is one."""

    @property
    def column(self) -> pa.Array:
        """The column of the released table."""
        import pyarrow as pa

        return self.labels.take(pa.array(self.codes))


def unchanged(people: Microdata, name: str) -> ReleasedColumn:
    """A key, or the confidential attribute, released as it is."""
    own = name == people.confidential
    codes = people.codes if own else people.key_codes(name)
    levels = len(people.values) if own else len(people.levels(name))
    return ReleasedColumn(codes, people.decode(name, np.arange(levels)))
