"""A release about people, from which an intruder computes posteriors."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property, partial
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from equivoc.channels.channel import Channel
from equivoc.checks import check_choice
from equivoc.data.classes import Classes
from equivoc.data.columns import encoded
from equivoc.data.microdata import Microdata
from equivoc.errors import InputError
from equivoc.intruder.posteriors import Posteriors
from equivoc.intruder.prior import Evidence, Prior, prior_probabilities, symbol_count, unchanged
from equivoc.intruder.strengths import (
    INTRUDERS,
    PLAIN,
    STRENGTHS,
    Choice,
    InapplicableError,
    choose,
    informed,
    learned,
    nothing_to_learn,
    with_register,
    without_register,
)
from equivoc.releases.file_reading import OWN_PAIRS, FileReading
from equivoc.releases.plain_reading import plain

OWN = "the technique names its own intruder"
"""Why no other intruder is tried."""


@dataclass(frozen=True, eq=False)
class Release(ABC):
    """A release about ``people``, made by a technique; `posteriors` are the intruder's."""

    tabulated: ClassVar[bool] = False
    """True if the rows of ``table`` are cells with counts, not records."""
    links_others: ClassVar[bool] = False
    """True if people who are not in the data can be linked to it (`of_others`)."""
    may_mislead: ClassVar[bool] = False
    """True if the intruder does not know how the release was made: it may be right about some people only."""
    people: Microdata
    fixed: bool = field(default=False, kw_only=True)
    """True if the technique was given its own intruder or prior, so that the assessment's are not used."""
    mechanism: str = field(default="She knows how the release was made.", kw_only=True, repr=False)
    """What the intruder knows of the technique and its parameters, in sentences."""
    exactly: tuple[str, ...] = field(default=(), kw_only=True, repr=False)
    """Remarks on values of few people that are shown exactly, one sentence each."""

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

    @property
    def shown(self) -> Mapping[str, Any] | None:
        """The columns of the released records as Arrow arrays, keys and confidential; None if none are released."""
        return None

    @cached_property
    def reading(self) -> FileReading | None:
        """The released records as a file of unknown origin; None if there are none, or if they cannot be read so."""
        columns = self.shown
        if columns is None:
            return None
        try:
            return FileReading.of(self.people, {name: encoded(name, each) for name, each in columns.items()})
        except InputError:
            return None

    def with_prior(self, prior: NDArray[np.float64]) -> Release:
        """The same release for the technique's own intruder with ``prior`` (one probability for each value)."""
        return self

    def posteriors(
        self, known: Sequence[str] | None = None, *, prior: Prior = "marginal", intruder: str = "strongest"
    ) -> Posteriors:
        """The posterior of each class of people with equal ``known`` keys (None: all keys; []: one class).

        ``prior`` is what is publicly known of the confidential attribute: "marginal" (its distribution among the
        people), "uniform", or a probability for each value. ``intruder`` is "paper" (the algorithm as published, with a
        uniform prior), "informed", "register", "learned", or "strongest": of those that apply, the one whose beliefs
        come closest to the truth.
        """
        expected = prior_probabilities(prior, self.people)
        return self.choice(self.people.classes(known), expected, intruder).used.posteriors

    def choice(self, classes: Classes, prior: NDArray[np.float64], intruder: str = "strongest") -> Choice:
        """The intruders tried for these classes, and the one that is used: the strongest, or the one asked for."""
        check_choice("intruder", intruder, INTRUDERS)
        believed = partial(self._readings, classes, prior)
        if self.fixed:
            return choose(["own"], believed, prior, dict.fromkeys(STRENGTHS, OWN))
        if intruder == "strongest":
            reasons = self.left_out(classes)
            return choose([name for name in STRENGTHS if not reasons.get(name)], believed, prior, reasons)
        try:
            asked = believed(intruder)
        except InapplicableError as reason:
            if intruder in PLAIN and self.unreadable(intruder):
                raise InputError(f"intruder {intruder!r} cannot be used: {reason}.") from None
            return choose(["informed"], believed, prior, {intruder: str(reason)})
        return choose([intruder], lambda _: asked, prior, {})

    def _readings(self, classes: Classes, prior: NDArray[np.float64], intruder: str) -> Posteriors | Choice:
        """`believed`; for "file" and "plain" all of their readings."""
        if intruder in PLAIN:
            return self.plainly(classes, prior, intruder)
        return self.believed(classes, prior, intruder)

    def believed(self, classes: Classes, prior: NDArray[np.float64], intruder: str) -> Posteriors:
        """The posteriors of one intruder; `InapplicableError` if she has nothing to add, or cannot read the release."""
        if intruder in ("paper", "own"):
            return self.of_classes(classes)
        if intruder in PLAIN:
            return self.plainly(classes, prior, intruder).used.posteriors
        evidence = self.evidence
        if intruder == "register":
            reason = without_register(evidence, classes, most=None)
            if evidence is None or reason:
                raise InapplicableError(reason)
            return with_register(evidence, classes, prior)
        if intruder == "learned":
            reason = nothing_to_learn(evidence, classes, limited=False)
            if evidence is None or reason:
                raise InapplicableError(reason)
            return learned(evidence, classes, prior)
        return self.informed_of_classes(classes, prior)

    def unreadable(self, intruder: str) -> str:
        """Why "file" or "plain" cannot read the release without its mechanism; "" if she can."""
        return "no table of records is released that could be read plainly" if self.reading is None else ""

    def plainly(self, classes: Classes, prior: NDArray[np.float64], intruder: str) -> Choice:
        """The readings of an intruder who does not use how the release was made: "file" or "plain"."""
        reading = self.reading
        if reading is None:
            raise InapplicableError(
                "the release has no table of records that could be read without its mechanism"
            )
        if intruder == "plain":
            return plain(reading, classes, prior)
        return reading.strongest(classes, prior, most=OWN_PAIRS)

    def above_the_floor(self, classes: Classes, prior: NDArray[np.float64]) -> Choice:
        """The technique's own intruder, or somebody who does not use how the release was made and is stronger."""
        names = ["own", *(name for name in PLAIN if not self.unreadable(name))]
        return choose(names, partial(self._readings, classes, prior), prior, dict.fromkeys(STRENGTHS, OWN))

    def informed_of_classes(self, classes: Classes, prior: NDArray[np.float64]) -> Posteriors:
        """The posteriors of the informed intruder."""
        if self.evidence is None:
            return self.with_prior(prior).of_classes(classes)
        return informed(self.evidence, classes, prior)

    def left_out(self, classes: Classes) -> dict[str, str]:
        """Why some intruders are not tried for these classes, by their name."""
        reasons = {
            "register": without_register(self.evidence, classes),
            "learned": nothing_to_learn(self.evidence, classes),
            **{name: self.unreadable(name) for name in PLAIN},
        }
        if self.reading is not None and self.reading.unknown.too_large(classes, OWN_PAIRS):
            reasons["file by distance"] = (
                f"there are more than {OWN_PAIRS:,} pairs of a class and a record; only records that fit exactly are "
                "used"
            )
        return {name: reason for name, reason in reasons.items() if reason}

    @property
    def evidence(self) -> Evidence | None:
        """The released symbols of each record; None if the release has no records."""
        return None

    def sweep(
        self,
        *,
        min_size: int = 0,
        max_size: int | None = None,
        prior: NDArray[np.float64],
        intruder: str = "informed",
    ) -> Iterator[Posteriors]:
        """The posteriors for every subset of the keys of these sizes, each subset once."""
        evidence = self.evidence
        if intruder == "paper" or self.fixed:
            yield from self.own_sweep(min_size=min_size, max_size=max_size)
        elif intruder == "informed" and evidence is not None and not evidence.changed(self.people.keys):
            yield from _counted_sweep(
                self.people,
                evidence.symbols,
                evidence.channel_given(prior),
                min_size=min_size,
                max_size=max_size,
            )
        else:
            for classes in self.people.lattice(min_size=min_size, max_size=max_size):
                yield self.choice(classes, prior, intruder).used.posteriors

    def own_sweep(self, *, min_size: int = 0, max_size: int | None = None) -> Iterator[Posteriors]:
        """The posteriors of the technique's own intruder for every subset of the keys of these sizes."""
        for classes in self.people.lattice(min_size=min_size, max_size=max_size):
            yield self.of_classes(classes)

    @abstractmethod
    def of_classes(self, classes: Classes) -> Posteriors:
        """Linkage and channel for classes that are already counted."""

    def of_others(self, classes: Classes, prior: NDArray[np.float64], intruder: str) -> Posteriors:
        """The posteriors of one intruder for classes of people who need not be in the release (a control group)."""
        self.check_links_others()
        raise NotImplementedError

    def check_links_others(self) -> None:
        """InputError unless people who are not in the data can be looked up in the release."""
        if not self.links_others:
            raise InputError(
                "a control group can be assessed only with a released file: give the released table to ReleasedFile."
            )

    @property
    def assumption(self) -> str:
        """What the intruder is assumed to know and use, in sentences."""
        prior = "" if self.fixed else ", and her prior is the one stated for the assessment"
        return f"{self.mechanism} She knows how many people agree on the known keys{prior}."

    def notes(self, known: Sequence[str] | None = None) -> list[str]:
        """Remarks for readers of the figures for these keys, one sentence each."""
        return list(self.exactly)

    @property
    def doubt(self) -> str:
        """Why the posteriors may show less risk than there is, so that no requirement is met by them; "": they do
        not."""
        return ""


@dataclass(frozen=True, eq=False)
class GroupedRelease(Release):
    """A release with unchanged keys: all records of a class are equally likely the target's.

    ``group[r]`` is the channel's row for record r; without a channel, the position of the record's value in the domain.
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

    @cached_property
    def evidence(self) -> Evidence:
        keys = {key: unchanged(self.people, key) for key in self.people.keys}
        return Evidence(self.people, keys, self.group, self.channel)

    def of_classes(self, classes: Classes) -> Posteriors:
        counted = self.people.classes(
            classes.known, values=self.group, span=symbol_count(self.people, self.channel)
        )
        return Posteriors(classes, self.people.attribute, counted.counts, self.channel)

    def own_sweep(self, *, min_size: int = 0, max_size: int | None = None) -> Iterator[Posteriors]:
        return _counted_sweep(self.people, self.group, self.channel, min_size=min_size, max_size=max_size)


def _counted_sweep(
    people: Microdata,
    symbols: NDArray[np.integer[Any]],
    channel: Any,
    *,
    min_size: int,
    max_size: int | None,
) -> Iterator[Posteriors]:
    """The posteriors for every subset of unchanged keys: each record of a class is equally likely the target's."""
    true = people.lattice(min_size=min_size, max_size=max_size)
    shown = people.lattice(
        min_size=min_size, max_size=max_size, values=symbols, span=symbol_count(people, channel)
    )
    for classes, grouped in zip(true, shown, strict=True):
        yield Posteriors(classes, people.attribute, grouped.counts, channel)
