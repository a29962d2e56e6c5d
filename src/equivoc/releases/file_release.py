"""A released file from any source, with an intruder who links its records to people by keys."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from equivoc.errors import InputError
from equivoc.intruder.posteriors import Posteriors
from equivoc.intruder.strengths import PLAIN, InapplicableError
from equivoc.releases.file_reading import FileReading
from equivoc.releases.fixed_matching import MOST_KEYS
from equivoc.releases.plain_reading import plain_of_others
from equivoc.releases.release import Release

if TYPE_CHECKING:
    from equivoc.data.classes import Classes
    from equivoc.releases.fixed_matching import MatchWeights
    from equivoc.releases.released_columns import ReleasedConfidential
    from equivoc.releases.stated_mechanism import StatedMechanism
    from equivoc.releases.symbol_reading import Symbols

MATCHINGS = ("exact", "nearest", "probable")
Floats = NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class FileRelease(Release):
    """A masked or synthetic file from any source; the intruder links its records to people by the known keys.

    With ``matching`` (`FixedMatching`) there is one intruder. Without it:

    - paper: exact matching, confidential values at face value;
    - informed: of the methods of `UnknownMechanism`, the one whose beliefs are closest to the truth. Classes that no
      record fits get the prior, and so do missing confidential values;
    - register: the weights by distance, scaled such that each record and each person counts once.

    With a ``stated`` mechanism, informed and register are those of the technique that the owner names.
    """

    links_others: ClassVar[bool] = True
    may_mislead: ClassVar[bool] = True
    matching: str | None
    keys: Mapping[str, Symbols] = field(repr=False)
    """Every key of the people, as released."""
    confidential: ReleasedConfidential = field(repr=False)
    stated: StatedMechanism | None = field(default=None, repr=False)
    """How the file was made, if the owner says so."""

    def __post_init__(self) -> None:
        if self.matching == "probable" and len(self.keys) > MOST_KEYS:
            raise InputError(
                f"probable matching compares all subsets of the keys, and there are {len(self.keys)}: give at most "
                f"{MOST_KEYS} keys, or match exactly or by distance."
            )

    @cached_property
    def table(self) -> Any:
        import pyarrow as pa

        columns: dict[str, Symbols | ReleasedConfidential] = dict(self.keys)
        columns[self.people.confidential] = self.confidential
        return self.people.like(
            {name: each.labels.take(pa.array(each.codes)) for name, each in columns.items()}
        )

    @property
    def assumption(self) -> str:
        if self.stated is not None:
            return f"{self.stated.mechanism} She knows how many people agree on the known keys."
        return "She does not know how the released file was made, and takes its confidential values at face value."

    def notes(self, known: Sequence[str] | None = None) -> list[str]:
        if self.stated is not None:
            return []
        notes = []
        for name, key in self.keys.items():
            if key.invented.any():
                example = key.labels[int(np.argmax(key.invented))].as_py()
                notes.append(
                    f"{int(key.records[key.invented].sum()):,} released records hold a {name} that nobody in the "
                    f"original has, such as {example!r}; nobody agrees with them on it."
                )
            if key.suppressed:
                notes.append(
                    f"{key.suppressed:,} released records have no {name}, more than the original would explain; they "
                    "are read as any value, a missing one included."
                )
            between = (key.sizes == 0) & ~key.invented
            if self.matching in ("exact", "probable") and between.any():
                notes.append(
                    f"{int(key.records[between].sum()):,} released records hold a {name} between or beyond the "
                    "original's; nobody agrees with them on it; nearest matching uses their distance."
                )
        lost = self.unmatched(known)
        if lost:
            without = (
                "uses the distribution of the whole file"
                if self.matching
                else "uses similar records, or her prior"
            )
            notes.append(f"No released record fits what is known of {lost:,} people; for them she {without}.")
        return notes

    def unmatched(self, known: Sequence[str] | None = None) -> int:
        """The number of people without an exactly matching record."""
        if self.matching in ("nearest", "probable"):
            return 0
        classes = self.people.classes(known)
        found = self.reading.fixed.fitting(classes)
        return int(classes.sizes[np.diff(found.indptr) == 0].sum())

    @property
    def weights(self) -> MatchWeights:
        """Probable matching's m and u of every key, estimated from all people × all released records."""
        return self.reading.fixed.weights

    def of_classes(self, classes: Classes) -> Posteriors:
        return self.reading.exact(classes, self.matching or "exact")

    def believed(self, classes: Classes, prior: Floats, intruder: str) -> Posteriors:
        if intruder in ("paper", "own"):
            return self.of_classes(classes)
        if intruder in PLAIN:
            return self.plainly(classes, prior, intruder).used.posteriors
        if intruder == "learned":
            raise InapplicableError(self.left_out(classes)["learned"])
        if self.stated is not None:
            by = self.stated.register if intruder == "register" else self.stated.informed
            return by(classes, prior)
        if intruder == "register":
            return self.reading.register(classes, prior)
        return self.reading.informed(classes, prior).used.posteriors

    def of_others(self, classes: Classes, prior: Floats, intruder: str) -> Posteriors:
        if self.stated is not None:
            raise InputError(
                "a control group cannot be assessed with a stated channel; leave out the channel or the control group."
            )
        if intruder in ("paper", "own"):
            return self.of_classes(classes)
        if intruder == "plain":
            return plain_of_others(self.reading, classes, prior)
        return self.reading.informed_of_others(classes, prior)

    def left_out(self, classes: Classes) -> dict[str, str]:
        if self.stated is not None:
            return self.stated.left_out(classes)
        reasons = self.reading.left_out(classes)
        return reasons | {"file": "the file's origin is unknown, so every intruder reads it so"}

    @cached_property
    def reading(self) -> FileReading:
        return FileReading(self.people, self.keys, self.confidential)
