"""A released file from any source, with an intruder who links its records to people by keys."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from equivoc.data.counting.class_of_records import class_of_records
from equivoc.errors import InputError
from equivoc.intruder.files.match_weights import MatchWeights, estimate, pattern_counts
from equivoc.intruder.files.record_tree import RecordTree
from equivoc.intruder.posteriors import Posteriors
from equivoc.intruder.release import Release

if TYPE_CHECKING:
    from equivoc.data.classes import Classes
    from equivoc.data.microdata import Microdata
    from equivoc.intruder.files.released_confidential import ReleasedConfidential
    from equivoc.intruder.files.released_symbols import Symbols

MATCHINGS = ("exact", "nearest", "probable")
MOST_KEYS = 12
"""Probable matching counts agreement on every subset of the keys: 4,096 of them."""
CELLS_AT_A_TIME = 2**22
Floats = NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class FileRelease(Release):
    """A masked or synthetic file from any source; the intruder links its records to people by the known keys.

    With v the target's known values and s_a(r) the levels of key a that record r may have,

    - exact: ``link(r) ∝ Π_a [v_a ∈ s_a(r)] / |s_a(r)|``; if no record fits, the distribution of the whole file;
    - nearest: the records at the least distance ``Σ_a δ_a²``, equally likely (`record_tree` has δ);
    - probable: ``link(r) ∝ Π_a (v_a ∈ s_a(r) ? m_a/u_a : (1 − m_a)/(1 − u_a))`` (`match_weights` has m and u).
    """

    links_others: ClassVar[bool] = True
    matching: str
    keys: Mapping[str, Symbols] = field(repr=False)
    """Every key of the people, as released."""
    confidential: ReleasedConfidential = field(repr=False)

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
        return "She does not know how the released file was made, and takes its confidential values at face value."

    def notes(self, known: Sequence[str] | None = None) -> list[str]:
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
            if self.matching != "nearest" and between.any():
                notes.append(
                    f"{int(key.records[between].sum()):,} released records hold a {name} between or beyond the "
                    "original's; nobody agrees with them on it; nearest matching uses their distance."
                )
        lost = self.unmatched(known)
        if lost:
            notes.append(
                f"No released record fits what is known of {lost:,} people; for them she uses the distribution of the "
                "whole file."
            )
        return notes

    def unmatched(self, known: Sequence[str] | None = None) -> int:
        """The number of people without an exactly matching record, who get the distribution of the whole file."""
        if self.matching != "exact":
            return 0
        classes = self.people.classes(known)
        found = self._tree(classes.known).fitting(self._points(classes), shared=True)
        return int(classes.sizes[np.diff(found.indptr) == 0].sum())

    def of_classes(self, classes: Classes) -> Posteriors:
        return Posteriors(classes, self.people.attribute, self._linkage(classes), self.confidential.channel)

    def of_others(self, classes: Classes, prior: Floats, intruder: str) -> Posteriors:
        return self.believed(classes, prior, intruder)

    def _linkage(self, classes: Classes) -> Any:
        if self.matching == "probable":
            return self._weighed(classes)
        tree, points = self._tree(classes.known), self._points(classes)
        if self.matching == "nearest":
            return tree.nearest(points)
        return self._or_marginal(tree.fitting(points, shared=True))

    def _or_marginal(self, linkage: Any) -> Any:
        """Classes that no record fits are linked to the file as a whole."""
        from scipy.sparse import csr_array

        stranded = np.flatnonzero(np.diff(linkage.indptr) == 0)
        whole = np.full(len(stranded), self.confidential.marginal_group)
        return linkage + csr_array((np.ones(len(stranded)), (stranded, whole)), shape=linkage.shape)

    def _tree(self, known: Sequence[str]) -> RecordTree:
        width = int(self.confidential.channel.shape[0])
        return RecordTree.of([self.keys[name] for name in known], self.confidential.groups, width)

    def _points(self, classes: Classes) -> NDArray[np.float64]:
        """Classes × known keys: the positions of their values on the keys' lines."""
        points = np.empty((len(classes), len(classes.known)))
        for column, name in enumerate(classes.known):
            levels = classes.people.decode(name, np.arange(len(classes.people.levels(name))))
            points[:, column] = self.keys[name].line.place(levels)[classes.key_codes[:, column]]
        return points

    @cached_property
    def weights(self) -> MatchWeights:
        """Probable matching's m and u of every key, estimated from all people × all released records."""
        keys = list(self.keys)
        at_least = np.empty(2 ** len(keys), dtype=np.int64)
        for mask in range(len(at_least)):
            classes, agreeing = self._agreeing(self.people, _chosen(keys, mask))
            at_least[mask] = classes.sizes @ np.rint(agreeing.sum(axis=1)).astype(np.int64)
        larger = max(len(self.people), len(self.confidential.codes))
        return estimate(pattern_counts(at_least), matches=1.0 / larger)

    @cached_property
    def _own_agreements(self) -> dict[tuple[str, ...], Any]:
        return {}

    def _agreeing(self, people: Microdata, known: Sequence[str]) -> tuple[Classes, Any]:
        """The classes of these keys, and for each how many records of each group agree with it on all of them."""
        ordered = tuple(name for name in self.keys if name in known)
        classes = people.classes(ordered)
        if people is self.people and ordered in self._own_agreements:
            return classes, self._own_agreements[ordered]
        found = self._tree(ordered).fitting(self._points(classes), shared=False)
        if people is self.people:
            self._own_agreements[ordered] = found
        return classes, found

    def _weighed(self, classes: Classes) -> NDArray[np.float64]:
        """Classes × groups: Σ_T coefficient_T · (records that agree on T), without listing pairs."""
        from scipy.sparse import csr_array, vstack

        known, names = classes.known, list(self.keys)
        coefficients = self.weights.coefficients([names.index(name) for name in known])
        tables, rows, offset = [], np.empty((len(classes), len(coefficients)), dtype=np.int64), 0
        for mask in range(len(coefficients)):
            chosen = _chosen(known, mask)
            coarser, agreeing = self._agreeing(classes.people, chosen)
            columns = [classes.key_codes[:, known.index(name)] for name in coarser.known]
            rows[:, mask] = offset + class_of_records(coarser.key_codes, columns, len(classes))
            tables.append(agreeing)
            offset += len(coarser)
        stacked = csr_array(vstack(tables, format="csr"))
        weights = np.empty((len(classes), stacked.shape[1]))
        piece = max(1, CELLS_AT_A_TIME // max(stacked.shape[1], len(coefficients)))
        for at in range(0, len(classes), piece):
            part = rows[at : at + piece]
            pointers = np.arange(len(part) + 1) * len(coefficients)
            picked = csr_array(
                (np.tile(coefficients, len(part)), part.ravel(), pointers), shape=(len(part), offset)
            )
            weights[at : at + piece] = (picked @ stacked).toarray()
        return weights


def _chosen(names: Sequence[str], mask: int) -> list[str]:
    return [name for bit, name in enumerate(names) if mask >> bit & 1]
