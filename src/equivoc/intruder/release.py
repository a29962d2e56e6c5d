"""What was given out about people, and what an intruder makes of it."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from equivoc.data.classes import Classes
from equivoc.data.microdata import Microdata
from equivoc.errors import InputError
from equivoc.intruder.channel.channel import Channel
from equivoc.intruder.posteriors import Posteriors


@dataclass(frozen=True, eq=False)
class Release(ABC):
    """Something released about ``people``; a technique makes one, an intruder draws posteriors from it."""

    tabulated: ClassVar[bool] = False
    """Are the rows of ``table`` cells with counts, and not records?"""
    links_others: ClassVar[bool] = False
    """Can people who are not in the data be looked up in it, as `of_others` does?"""
    people: Microdata

    @property
    def table(self) -> Any:
        """What the intruder gets, where a file is released; None where none is."""
        return None

    @property
    def privacy_budget(self) -> float | None:
        """The ε of differential privacy that was spent on each person; None where nothing of the kind is promised."""
        return None

    @property
    def value_budget(self) -> float | None:
        """The ε of changing one person's value: by at most e^ε do the odds of two values change. None: no promise."""
        return self.privacy_budget

    @property
    def origins(self) -> NDArray[np.int64] | None:
        """Where a file is released: the number of the record that each of its rows was made from; None: unknown."""
        return None

    def with_prior(self, prior: NDArray[np.float64]) -> Release:
        """The same release before an intruder who expects ``prior`` (one probability for each value) beforehand.

        Where a technique's posterior has its own prior built in, the release itself.
        """
        return self

    def posteriors(self, known: Sequence[str] | None = None) -> Posteriors:
        """What she believes of each class of people who agree on the ``known`` keys (None: all; []: of everyone)."""
        return self.of_classes(self.people.classes(known))

    def sweep(self, *, min_size: int = 0, max_size: int | None = None) -> Iterator[Posteriors]:
        """The posteriors for every subset of the keys of these sizes, each subset once."""
        for classes in self.people.lattice(min_size=min_size, max_size=max_size):
            yield self.of_classes(classes)

    @abstractmethod
    def of_classes(self, classes: Classes) -> Posteriors:
        """Linkage and channel for classes that were counted already."""

    def of_others(self, classes: Classes) -> Posteriors:
        """The same for classes of other people, who may have nothing to do with the release (a control group)."""
        self.check_links_others()
        raise NotImplementedError

    def check_links_others(self) -> None:
        """InputError unless people who are not in the data can be looked up in the release."""
        if not self.links_others:
            raise InputError(
                f"a control group cannot be assessed with a {type(self).__name__}; hand the table that is released to "
                "ReleasedFile."
            )

    @property
    def assumption(self) -> str:
        """What the intruder is taken to know about the making of the release."""
        return "She knows how the release was made."

    def notes(self, known: Sequence[str] | None = None) -> list[str]:
        """What whoever reads the figures for these keys should know of how the release was read; a sentence each."""
        return []


@dataclass(frozen=True, eq=False)
class GroupedRelease(Release):
    """A release whose linkage counts: any record of the class is as likely the target's as any other.

    ``group[r]`` says which of the channel's rows is what was released about record r; with no channel it is the
    position of the record's value in the domain.
    """

    group: NDArray[np.integer[Any]] = field(repr=False)
    channel: Any = field(repr=False)

    @property
    def origins(self) -> NDArray[np.int64]:
        return np.arange(len(self.people))

    def with_prior(self, prior: NDArray[np.float64]) -> GroupedRelease:
        if not isinstance(self.channel, Channel):
            return self
        return replace(self, channel=self.channel.with_prior(prior))

    @property
    def _groups(self) -> int:
        return len(self.people.values) if self.channel is None else int(self.channel.shape[0])

    def of_classes(self, classes: Classes) -> Posteriors:
        counted = self.people.classes(classes.known, values=self.group, span=self._groups)
        return Posteriors(classes, self.people.attribute, counted.counts, self.channel)

    def sweep(self, *, min_size: int = 0, max_size: int | None = None) -> Iterator[Posteriors]:
        for classes in self.people.lattice(
            min_size=min_size, max_size=max_size, values=self.group, span=self._groups
        ):
            yield Posteriors(classes, self.people.attribute, classes.counts, self.channel)
