"""A release about people, from which an intruder computes posteriors."""

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
    """A release about ``people``, made by a technique; `posteriors` are the intruder's."""

    tabulated: ClassVar[bool] = False
    """True if the rows of ``table`` are cells with counts, not records."""
    links_others: ClassVar[bool] = False
    """True if people who are not in the data can be linked to it (`of_others`)."""
    people: Microdata
    fixed: bool = field(default=False, kw_only=True)
    """True if the technique was told which intruder to use."""
    mechanism: str = field(default="She knows how the release was made.", kw_only=True, repr=False)
    """What the intruder knows of the technique and its parameters, in sentences."""

    @property
    def table(self) -> Any:
        """The released file; None if no file is released."""
        return None

    @property
    def privacy_budget(self) -> float | None:
        """The ε of differential privacy for each person; None if there is no guarantee."""
        return None

    @property
    def value_budget(self) -> float | None:
        """The ε for a change of one value: the odds of two values change by at most e^ε. None: no guarantee."""
        return self.privacy_budget

    @property
    def origins(self) -> NDArray[np.int64] | None:
        """For a released file: the number of the original record of each row; None: unknown."""
        return None

    def with_prior(self, prior: NDArray[np.float64]) -> Release:
        """The same release before an intruder who expects ``prior`` (one probability for each value) beforehand.

        Where a technique's posterior has its own prior built in, the release itself.
        """
        return self

    def posteriors(self, known: Sequence[str] | None = None) -> Posteriors:
        """The posterior of each class of people with equal ``known`` keys (None: all keys; []: one class)."""
        return self.of_classes(self.people.classes(known))

    def sweep(self, *, min_size: int = 0, max_size: int | None = None) -> Iterator[Posteriors]:
        """The posteriors for every subset of the keys of these sizes, each subset once."""
        for classes in self.people.lattice(min_size=min_size, max_size=max_size):
            yield self.of_classes(classes)

    @abstractmethod
    def of_classes(self, classes: Classes) -> Posteriors:
        """Linkage and channel for classes that are already counted."""

    def of_others(self, classes: Classes) -> Posteriors:
        """The same for classes of other people, who need not be in the release (a control group)."""
        self.check_links_others()
        raise NotImplementedError

    def check_links_others(self) -> None:
        """InputError unless people who are not in the data can be looked up in the release."""
        if not self.links_others:
            raise InputError(
                f"a control group cannot be assessed with a {type(self).__name__}; give the released table to "
                "ReleasedFile."
            )

    @property
    def assumption(self) -> str:
        """What the intruder is assumed to know and use, in sentences."""
        prior = "" if self.fixed else ", and her prior is the one stated for the assessment"
        return f"{self.mechanism} She knows how many people agree on the known keys{prior}."

    def notes(self, known: Sequence[str] | None = None) -> list[str]:
        """Remarks for readers of the figures for these keys, one sentence each."""
        return []


@dataclass(frozen=True, eq=False)
class GroupedRelease(Release):
    """A release with unchanged keys: all records of a class are equally likely the target's.

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
