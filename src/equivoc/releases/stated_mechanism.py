"""Linkage to a file whose mechanism the owner states: the technique's own likelihoods, records in any order.

A release by the same technique serves as a pattern: it has the symbols of every column, their text, and their
likelihoods. The file's values are looked up among them.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from equivoc.channels.channel import Channel
from equivoc.data.classes import Classes
from equivoc.data.microdata import Microdata
from equivoc.errors import InputError
from equivoc.intruder.posteriors import Posteriors
from equivoc.intruder.prior import Evidence
from equivoc.intruder.strengths import InapplicableError, with_register, without_register
from equivoc.linkage.informed_linkage import informed_linkage
from equivoc.releases.linked_release import LinkedRelease
from equivoc.releases.symbol_reading import is_numeric

if TYPE_CHECKING:
    import pyarrow as pa

    from equivoc.data.columns import Column

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]
NEARLY = 1e-9
"""Numbers that differ by less than this share are the same: a file may hold rounded texts of them."""


class NeverShownError(InputError):
    """The file has a value that the stated technique cannot have written."""

    def __init__(self, technique: str, value: str) -> None:
        super().__init__(
            f"channel is {technique}, which never shows {value}: state the technique and the parameters that the file "
            "was made with, or no channel."
        )
        self.fact = f"{technique} never shows {value}"
        """Without advice about the channel, for files whose technique is certain."""


@dataclass(frozen=True, eq=False)
class OrPrior(Channel):
    """A channel with one more symbol, which is uninformative: its row is the prior."""

    channel: Channel | None = field(repr=False)
    """None: the symbols are the values."""
    prior: Floats = field(repr=False)

    @property
    def shape(self) -> tuple[int, int]:
        symbols = len(self.prior) if self.channel is None else self.channel.shape[0]
        return symbols + 1, len(self.prior)

    def mix(self, weights: Any) -> Floats:
        dense = weights if isinstance(weights, np.ndarray) else weights.toarray()
        stated = dense[:, :-1] if self.channel is None else self.channel.mix(dense[:, :-1])
        return np.asarray(stated + dense[:, -1:] * self.prior)


@dataclass(frozen=True, eq=False)
class StatedMechanism:
    """The file's records in the symbols of a technique, and the likelihoods of these symbols."""

    technique: str
    evidence: Evidence = field(repr=False)
    mechanism: str = field(repr=False)

    @classmethod
    def of(cls, technique: str, pattern: Any, columns: Mapping[str, Column]) -> StatedMechanism:
        """The mechanism of the release ``pattern`` with these columns of a file."""
        if not isinstance(pattern, LinkedRelease):
            raise InputError(
                f"channel is {technique}, which does not change records value by value; give a technique that does, "
                "such as noise-addition:percent=20, or none."
            )
        people = pattern.people
        keys = {
            name: replace(key, codes=_looked_up(technique, name, columns[name], key.labels))
            for name, key in pattern.keys.items()
        }
        own = pattern.confidential
        symbols = _looked_up(technique, people.confidential, columns[people.confidential], own.labels)
        channel = own.channel if own.informed is None else own.informed
        return cls(technique, Evidence(people, keys, symbols, channel), pattern.mechanism)

    @property
    def people(self) -> Microdata:
        return self.evidence.people

    def informed(self, classes: Classes, prior: Floats) -> Posteriors:
        """As the technique's informed intruder; a class that no record fits gets the prior."""
        columns = [self.people.keys.index(name) for name in classes.known]
        found = informed_linkage(
            classes.key_codes, classes.sizes, self._file, known=columns, may_fit_nothing=True
        ).linkage
        channel = self.evidence.channel_given(prior)
        lost = np.asarray(found.sum(axis=1)).reshape(-1) == 0
        if lost.any():
            dense = found if isinstance(found, np.ndarray) else found.toarray()
            found, channel = np.column_stack([dense, lost]), OrPrior(channel, prior)
        return Posteriors(classes, self.people.attribute, found, channel)

    def register(self, classes: Classes, prior: Floats) -> Posteriors:
        """As the technique's register intruder."""
        reason = without_register(self.evidence, classes, most=None)
        if reason:
            raise InapplicableError(reason)
        try:
            return with_register(self.evidence, classes, prior)
        except InputError:
            raise InapplicableError("the file and the register contradict each other") from None

    def left_out(self, classes: Classes) -> dict[str, str]:
        """Why some intruders are not tried, by their name."""
        reasons = {
            "register": without_register(self.evidence, classes),
            "learned": "it is unknown which released record is whose, so there is nothing to learn from",
        }
        return {name: reason for name, reason in reasons.items() if reason}

    @cached_property
    def _file(self) -> Any:
        return self.evidence.levels_given_symbols()


def _looked_up(technique: str, name: str, column: Column, labels: pa.Array) -> Ints:
    """Of each record, the number of its symbol; InputError if the technique cannot have written its value."""
    import pyarrow as pa
    import pyarrow.compute as pc

    shown = column.levels
    if is_numeric(labels.type):
        try:
            values = np.asarray(pc.cast(shown, pa.float64()).to_numpy(zero_copy_only=False), np.float64)
        except (pa.ArrowInvalid, pa.ArrowNotImplementedError):
            values = np.full(len(shown), np.inf)
        symbols = np.asarray(pc.cast(labels, pa.float64()).to_numpy(zero_copy_only=False), np.float64)
        order = np.argsort(symbols, kind="stable")  # NaN, a null, comes last
        known = order[: int(np.count_nonzero(~np.isnan(symbols)))]
        above = np.searchsorted(symbols[known], values).clip(0, len(known) - 1)
        below = np.maximum(above - 1, 0)
        nearer = np.abs(values - symbols[known][below]) < np.abs(symbols[known][above] - values)
        at = known[np.where(nearer, below, above)]
        away = np.abs(symbols[at] - values) > NEARLY * np.maximum(np.abs(values), 1e-300)
        if len(known) < len(symbols):  # the labels have a null
            at, away = np.where(np.isnan(values), order[-1], at), away & ~np.isnan(values)
        wrong = away | (np.isnan(values) & (len(known) == len(symbols)))
    else:
        places = {text: number for number, text in enumerate(pc.cast(labels, pa.string()).to_pylist())}
        found = [places.get(text, -1) for text in pc.cast(shown, pa.string()).to_pylist()]
        at = np.array(found, dtype=np.int64)
        wrong = at < 0
    used = np.bincount(column.codes, minlength=len(shown)) > 0
    if (wrong & used).any():
        value = shown[int(np.argmax(wrong & used))].as_py()
        raise NeverShownError(technique, f"the {name} {value!r}")
    return np.asarray(at[column.codes.astype(np.int64)], dtype=np.int64)
