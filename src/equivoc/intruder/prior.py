"""What is publicly known of the confidential attribute without the release: a probability for each of its values."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Protocol

import numpy as np
from numpy.typing import ArrayLike, NDArray

from equivoc.channels.channel import Channel, Stated
from equivoc.data.microdata import Microdata
from equivoc.errors import InputError
from equivoc.linkage.coded_file import CodedFile, Unchanged
from equivoc.measure.distribution import SUM_TOLERANCE, numbers

if TYPE_CHECKING:
    import pyarrow as pa

Floats = NDArray[np.float64]
Prior = str | ArrayLike
"""A prior as a caller gives it: "marginal", "uniform", or a probability for each value."""
LEAST = 1e-12
"""A value that somebody has counts as possible, with at least this probability, even if the prior rules it out."""
ROOM = 9e-10
"""What the probabilities that are raised may add to a sum of 1 at the most; beyond 1e-9 a sum is refused."""


def without_zeros(prior: Floats) -> Floats:
    """The prior with a tiny probability where it has none, as it is mixed in before it meets the true values.

    >>> without_zeros(np.array([0.25, 0, 0.75]))
    array([2.5e-01, 1.0e-12, 7.5e-01])
    >>> bool(without_zeros(np.eye(1, 100_000)[0]).sum() < 1 + 1e-9)
    True
    """
    return np.maximum(prior, min(LEAST, ROOM / len(prior)))


def prior_probabilities(prior: Prior, people: Microdata) -> Floats:
    """One probability for each value of the domain; InputError says what is wrong with it."""
    values = len(people.attribute)
    if isinstance(prior, str) and prior == "uniform":
        return np.full(values, 1.0 / values)
    if isinstance(prior, str) and prior == "marginal":
        return marginal(people)
    if isinstance(prior, (str, bytes)) or np.ndim(prior) == 0:
        raise InputError(
            f'prior is {prior!r}; give one probability for each of the {values} values, or "marginal" or "uniform".'
        )
    given = numbers("prior", prior)
    if len(given) != values:
        raise InputError(
            f"prior has {len(given)} entries; give one probability for each of the {values} values."
        )
    if given.min() < 0:
        i = int(np.argmax(given < 0))
        raise InputError(f"prior[{i}] is {given[i]:g}; probabilities must be 0 or more.")
    if abs(float(given.sum()) - 1.0) > SUM_TOLERANCE:
        raise InputError(
            f"prior sums to {given.sum():.12g}, not to 1 (within {SUM_TOLERANCE:g}); divide it by its sum."
        )
    return given


def marginal(people: Microdata) -> Floats:
    """The distribution of the confidential attribute among the people."""
    counts = people.classes([]).counts.toarray().reshape(-1)
    return np.asarray(counts / counts.sum())


# A column of a released file: symbols, and the distribution of the original level given each symbol.


class Deferred(Protocol):
    """A table that is computed when it is first needed: a release is made without it."""

    def dense(self) -> NDArray[np.float64]:
        """The table."""
        ...


@dataclass(frozen=True, eq=False)
class ReleasedColumn:
    """A column as released: for each record a symbol (a number, a range, a star), and its channel.

    ``channel`` is symbols × levels of the original: P(true level | symbol), each row a distribution. None: the symbols
    are the levels themselves, and true. Tables may be computed when they are first needed (`table_of`).
    """

    codes: NDArray[np.integer[Any]] = field(repr=False)
    """For each released record, the number of its symbol."""
    labels: pa.Array = field(repr=False)
    """How each symbol is written in the released table."""
    channel: Any = field(default=None, repr=False)
    """A dense array, or a Channel; for the confidential column also a CSR array."""
    likelihood: NDArray[np.float64] | Deferred | None = field(default=None, repr=False)
    """Of a changed key, symbols × levels: P(symbol | level), up to a factor per symbol; None: unchanged."""
    informed: Channel | None = field(default=None, repr=False)
    """Of the confidential column: a stronger channel than ``channel``, where there is one."""

    @property
    def column(self) -> pa.Array:
        """The column of the released table."""
        import pyarrow as pa

        return self.labels.take(pa.array(self.codes))


def table_of(table: Any) -> NDArray[np.float64]:
    """A key's table, computed now if it was not yet."""
    return np.asarray(table if isinstance(table, np.ndarray) else table.dense())


def unchanged(people: Microdata, name: str) -> ReleasedColumn:
    """A key, or the confidential attribute, released as it is."""
    own = name == people.confidential
    codes = people.codes if own else people.key_codes(name)
    levels = len(people.values) if own else len(people.levels(name))
    return ReleasedColumn(codes, people.decode(name, np.arange(levels)))


# A release of records as used by the stronger intruders: symbols and their probabilities.


@dataclass(frozen=True, eq=False)
class Evidence:
    """Each record's released keys and confidential symbol, and P(symbol | level), P(value | symbol)."""

    people: Microdata
    keys: Mapping[str, ReleasedColumn] = field(repr=False)
    """Every key of the people, in their order."""
    symbols: NDArray[np.integer[Any]] = field(repr=False)
    """Of each record, the number of its confidential symbol."""
    channel: Any = field(repr=False)
    """P(value | symbol); None: the symbols are the true values."""
    hidden: NDArray[np.bool_] | None = field(default=None, repr=False)
    """True for each record of which nothing is released; None: all records are released."""
    learnable: bool = True
    """False if the keys of the records are not released, so that nothing can be learnt from them."""

    def is_changed(self, name: str) -> bool:
        """True if a released value of this key need not be the true one."""
        return self.keys[name].channel is not None

    def changed(self, known: Sequence[str]) -> bool:
        """True if one of these keys was changed, so that records must be linked by evidence."""
        return any(self.is_changed(name) for name in known)

    def shows_levels(self, name: str) -> bool:
        """True if the symbols of this key are its levels, in their order, and perhaps others after them."""
        import pyarrow as pa

        levels = self.people.decode(name, np.arange(len(self.people.levels(name))))
        shown = self.keys[name].labels.slice(0, len(levels))
        if pa.types.is_string(levels.type) and pa.types.is_large_string(shown.type):
            levels = levels.cast(shown.type)  # the same text, whatever kind of frame it came from
        return bool(shown.equals(levels))

    def channel_given(self, prior: Floats) -> Channel | None:
        """The channel with this prior."""
        if self.channel is None:
            return None
        channel = self.channel if isinstance(self.channel, Channel) else Stated(self.channel)
        return channel.with_prior(prior)

    def as_published(self) -> CodedFile:
        """The file with the technique's own weights of the true level given the released symbol of each key."""
        return self._file([_evidence(key, None) for key in self.keys.values()])

    def levels_given_symbols(self) -> CodedFile:
        """The file with P(true level | released symbol) of each key; a priori, levels follow their marginal."""
        return self._file([_believed_levels(self.people, name, key) for name, key in self.keys.items()])

    def symbols_given_levels(self) -> CodedFile:
        """The file with P(released symbol | true level) of each key, up to a factor per symbol."""
        return self._file([_evidence(key, key.likelihood) for key in self.keys.values()])

    def codes(self, names: Sequence[str]) -> NDArray[np.int64]:
        """Records × these keys: the released symbols."""
        found = np.empty((len(self.symbols), len(names)), dtype=np.int64)
        for column, name in enumerate(names):
            found[:, column] = self.keys[name].codes
        return found

    def _file(self, evidence: list[Floats | Unchanged]) -> CodedFile:
        symbols = np.asarray(self.symbols, dtype=np.int64)
        width = symbol_count(self.people, self.channel)
        return CodedFile(self.codes(list(self.keys)), evidence, symbols, width)


def symbol_count(people: Microdata, channel: Any) -> int:
    """The number of confidential symbols: those of the channel, or without one the values."""
    return len(people.values) if channel is None else int(channel.shape[0])


def _evidence(key: ReleasedColumn, table: Floats | Deferred | None) -> Floats | Unchanged:
    """Levels × symbols: the likelihood, or without one the technique's P(level | symbol)."""
    if key.channel is None:
        return Unchanged(len(key.labels))
    return table_of(key.channel if table is None else table).T


def _believed_levels(people: Microdata, name: str, key: ReleasedColumn) -> Floats | Unchanged:
    if key.likelihood is None:
        return _evidence(key, None)
    likelihood = table_of(key.likelihood)
    levels = np.bincount(people.key_codes(name), minlength=likelihood.shape[1])
    joint = likelihood * levels
    total = joint.sum(axis=1, keepdims=True)
    return np.asarray(np.divide(joint, total, out=np.zeros_like(joint), where=total > 0).T)
