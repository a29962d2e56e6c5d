"""A release of records as used by the stronger intruders: symbols and their probabilities."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from equivoc.data.microdata import Microdata
from equivoc.intruder.channel.channel import Channel, Stated
from equivoc.intruder.linkage.coded_file import CodedFile, Unchanged
from equivoc.intruder.released_column import ReleasedColumn

Floats = NDArray[np.float64]


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

    def told(self, prior: Floats) -> Channel | None:
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


def _evidence(key: ReleasedColumn, table: Floats | None) -> Floats | Unchanged:
    """Levels × symbols: the likelihood, or without one the technique's P(level | symbol)."""
    if key.channel is None:
        return Unchanged(len(key.labels))
    return np.asarray((key.channel if table is None else table).T)


def _believed_levels(people: Microdata, name: str, key: ReleasedColumn) -> Floats | Unchanged:
    if key.likelihood is None:
        return _evidence(key, None)
    levels = np.bincount(people.key_codes(name), minlength=key.likelihood.shape[1])
    joint = key.likelihood * levels
    total = joint.sum(axis=1, keepdims=True)
    return np.asarray(np.divide(joint, total, out=np.zeros_like(joint), where=total > 0).T)
