"""Three fixed ways to link released records to people: exact, nearest and probable matching."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from equivoc.data.counting.class_of_records import class_of_records
from equivoc.intruder.files.match_weights import MatchWeights, estimate, pattern_counts
from equivoc.intruder.files.record_tree import RecordTree

if TYPE_CHECKING:
    from equivoc.data.classes import Classes
    from equivoc.data.microdata import Microdata
    from equivoc.intruder.files.released_confidential import ReleasedConfidential
    from equivoc.intruder.files.released_symbols import Symbols

MOST_KEYS = 12
"""Probable matching counts agreement on every subset of the keys: 4,096 of them."""
CELLS_AT_A_TIME = 2**22
Floats = NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class FixedMatching:
    """Linkages by a rule that does not depend on how the file was made.

    With v the target's known values and s_a(r) the levels of key a that record r may have, the weight of a record is
    ``Π_a 1/|s_a(r)|`` (1 for a key of which no level is possible), times

    - exact: ``Π_a [v_a ∈ s_a(r)]``; if no record fits, the distribution of the whole file;
    - nearest: 1 for the records at the least distance ``Σ_a δ_a²``, 0 for others (`record_tree` has δ);
    - probable: ``Π_a (v_a ∈ s_a(r) ? m_a/u_a : (1 − m_a)/(1 − u_a))`` (`match_weights` has m and u).
    """

    people: Microdata = field(repr=False)
    keys: Mapping[str, Symbols] = field(repr=False)
    """Every key of the people, as released."""
    confidential: ReleasedConfidential = field(repr=False)

    def linkage(self, classes: Classes, matching: str) -> Any:
        """Classes × groups of confidential values."""
        if matching == "probable":
            return self._weighed(classes)
        if matching == "nearest":
            return self._tree(classes.known, self._shares(classes.known)).nearest(self._points(classes))
        return self.or_last(self.fitting(classes))

    def fitting(self, classes: Classes) -> Any:
        """Classes × groups, CSR: the records that fit; the row of a class that none fits is empty."""
        return self._tree(classes.known, self._shares(classes.known)).fitting(self._points(classes))

    def or_last(self, linkage: Any) -> Any:
        """Classes that no record fits are linked to the last group, the distribution of the whole file."""
        from scipy.sparse import csr_array

        if isinstance(linkage, np.ndarray):
            found = linkage.copy()
            found[~linkage.any(axis=1), self.confidential.marginal_group] = 1.0
            return found
        stranded = np.flatnonzero(np.diff(linkage.indptr) == 0)
        whole = np.full(len(stranded), self.confidential.marginal_group)
        return linkage + csr_array((np.ones(len(stranded)), (stranded, whole)), shape=linkage.shape)

    def _tree(self, known: Sequence[str], weights: Floats | None = None) -> RecordTree:
        width = int(self.confidential.channel.shape[0])
        return RecordTree.of([self.keys[name] for name in known], self.confidential.groups, width, weights)

    def _shares(self, known: Sequence[str]) -> Floats:
        """Π 1/|s_a(r)| of each record: one with ten possible ages counts a tenth for each."""
        found = np.ones(len(self.confidential.codes))
        for name in known:
            found /= np.maximum(self.keys[name].sizes, 1)[self.keys[name].codes]
        return found

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

    def _agreeing(
        self, people: Microdata, known: Sequence[str], shares: Floats | None = None
    ) -> tuple[Classes, Any]:
        """The classes of these keys, and for each how many records of each group agree with it on all of them.

        ``shares`` says how much each record counts; None: 1.
        """
        ordered = tuple(name for name in self.keys if name in known)
        classes = people.classes(ordered)
        kept = people is self.people and shares is None
        if kept and ordered in self._own_agreements:
            return classes, self._own_agreements[ordered]
        found = self._tree(ordered, shares).fitting(self._points(classes))
        if kept:
            self._own_agreements[ordered] = found
        return classes, found

    def _weighed(self, classes: Classes) -> NDArray[np.float64]:
        """Classes × groups: Σ_T coefficient_T · (shares of records that agree on T), without listing pairs."""
        from scipy.sparse import csr_array, vstack

        known, names = classes.known, list(self.keys)
        shares = self._shares(known)
        weighted = None if (shares == 1).all() else shares
        coefficients = self.weights.coefficients([names.index(name) for name in known])
        tables, rows, offset = [], np.empty((len(classes), len(coefficients)), dtype=np.int64), 0
        for mask in range(len(coefficients)):
            chosen = _chosen(known, mask)
            coarser, agreeing = self._agreeing(classes.people, chosen, weighted)
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
