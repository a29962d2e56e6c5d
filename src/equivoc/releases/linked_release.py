"""A released file with changed keys or values, whose records are linked to people by evidence."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from itertools import combinations
from typing import TYPE_CHECKING, Any, Self

import numpy as np
from numpy.typing import NDArray

from equivoc.channels.channel import Channel
from equivoc.data.lattice import largest_size
from equivoc.intruder.posteriors import Posteriors
from equivoc.intruder.prior import Evidence, ReleasedColumn, unchanged
from equivoc.intruder.strengths import without_sizes
from equivoc.linkage.coded_file import CodedFile
from equivoc.linkage.key_linkage import linkage, sweep
from equivoc.releases.release import GroupedRelease, Release

if TYPE_CHECKING:
    from equivoc.data.classes import Classes
    from equivoc.data.microdata import Microdata


@dataclass(frozen=True, eq=False)
class LinkedRelease(Release):
    """A released file in which each key of each record was changed independently, by a rule that the intruder knows.

    She knows the target's true values v on some keys. For the paper's intruder released record r is the target's with
    ``link(r) ∝ Π_a P(true key a = v_a | released key a of r)``: exact if all levels of a key are equally likely
    beforehand, keys are changed independently, and she does not know how many people have v. The channel is that of the
    confidential column. For stronger intruders see `evidence`.
    """

    keys: Mapping[str, ReleasedColumn] = field(repr=False)
    """Every key of the people, in their order."""
    confidential: ReleasedColumn = field(repr=False)
    combined: bool = field(default=False, kw_only=True)
    """True if the confidential column is a combination of several, whose symbols are not written in a file."""

    @classmethod
    def changing(cls, people: Microdata, changed: Mapping[str, ReleasedColumn]) -> Self:
        """The file with these columns changed, and all others as they are."""
        columns = {
            name: changed[name] if name in changed else unchanged(people, name)
            for name in (*people.keys, people.confidential)
        }
        confidential = columns.pop(people.confidential)
        return cls(people, columns, confidential)

    def with_prior(self, prior: NDArray[np.float64]) -> LinkedRelease:
        if not isinstance(self.confidential.channel, Channel):
            return self
        channel = self.confidential.channel.with_prior(prior)
        return replace(self, confidential=replace(self.confidential, channel=channel))

    @cached_property
    def table(self) -> Any:
        return self.people.like(self._columns)

    @property
    def shown(self) -> Mapping[str, Any] | None:
        return None if self.combined else self._columns

    @property
    def _columns(self) -> dict[str, Any]:
        columns = {name: released.column for name, released in self.keys.items()}
        return {**columns, self.people.confidential: self.confidential.column}

    @property
    def origins(self) -> NDArray[np.int64]:
        return np.arange(len(self.people))

    @cached_property
    def _file(self) -> CodedFile:
        return self.evidence.as_published()

    @cached_property
    def evidence(self) -> Evidence:
        own = self.confidential
        return Evidence(
            self.people, self.keys, own.codes, own.channel if own.informed is None else own.informed
        )

    def notes(self, known: Sequence[str] | None = None) -> list[str]:
        if not without_sizes(self.evidence, self.people.classes(known)):
            return super().notes(known)
        return [
            *super().notes(known),
            "The file is too large for the informed intruder to use the number of people with the same known keys: she "
            "weights each released record by its own evidence. The real risk is somewhat higher.",
        ]

    @cached_property
    def _counted(self) -> GroupedRelease:
        """The same file if no known key was changed: posteriors are then shares of counts."""
        return GroupedRelease(self.people, self.confidential.codes, self.confidential.channel)

    def of_classes(self, classes: Classes) -> Posteriors:
        if all(self.keys[name].channel is None for name in classes.known):
            return self._counted.of_classes(classes)
        columns = [self.people.keys.index(name) for name in classes.known]
        weights = linkage(classes.key_codes, self._file, known=columns)
        return Posteriors(classes, self.people.attribute, weights, self.confidential.channel)

    def own_sweep(self, *, min_size: int = 0, max_size: int | None = None) -> Iterator[Posteriors]:
        keys = self.people.keys
        if all(released.channel is None for released in self.keys.values()):
            yield from self._counted.own_sweep(min_size=min_size, max_size=max_size)
            return
        largest = largest_size(len(keys), min_size=min_size, max_size=max_size)
        subsets = [s for size in range(min_size, largest + 1) for s in combinations(range(len(keys)), size)]
        original = np.empty((len(self.people), len(keys)), dtype=np.int64)
        for column, key in enumerate(keys):
            original[:, column] = self.people.key_codes(key)
        for found in sweep(original, self._file, subsets=subsets):
            classes = self.people.classes([keys[i] for i in found.known])
            yield Posteriors(classes, self.people.attribute, found.weights, self.confidential.channel)
