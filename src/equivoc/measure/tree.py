"""The measure on categories under a hierarchy: H at every height of the tree, for one posterior or for many.

The distance of two categories is the height of their lowest common ancestor (a category itself has height 0). The
groups of one height are the coarsest allowed partition, and every other one refines it: H(ε) is the entropy of the
ancestors at height ⌊ε⌋, V(ε) the heaviest one's mass, the area Σ H(h) over the heights below the top.
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import TYPE_CHECKING, Any, NamedTuple, overload

import numpy as np
from numpy.typing import ArrayLike, NDArray

from equivoc.errors import InputError
from equivoc.measure.distribution import Floats, one_tolerance, read_grid_and_rows, tolerances

if TYPE_CHECKING:
    from scipy.sparse import csr_array

Ints = NDArray[np.int64]


class Group(NamedTuple):
    """The leaves under one ancestor, by number, and their joint probability."""

    leaves: tuple[int, ...]
    probability: float


@dataclass(frozen=True, eq=False)
class TreeCurves:
    """H, V, H0, A and ε_max of many posteriors over the leaves of one tree; one entry per row.

    ε is in levels of the tree, entropies in bits, areas in bits × levels. Smaller is riskier, except for the hit rate.
    """

    ancestors: Ints
    """Heights × leaves: the number of each leaf's group at that height."""
    _masses: tuple[csr_array, ...] = field(repr=False)
    """For each height rows × groups: the probability of each group."""

    def __len__(self) -> int:
        return int(self._masses[0].shape[0])

    def rows(self, of: Ints) -> TreeCurves:
        """The measure on these rows, by number; a row may come several times."""
        from scipy.sparse import csr_array

        return replace(self, _masses=tuple(csr_array(masses[of]) for masses in self._masses))

    @property
    def epsilons(self) -> Floats:
        """The heights, from 0 to the top."""
        return np.arange(len(self.ancestors), dtype=np.float64)

    @property
    def break_points(self) -> Floats:
        """The same as ``epsilons``."""
        return self.epsilons

    @cached_property
    def entropies(self) -> Floats:
        """Rows × heights: H in bits."""
        return np.column_stack([_entropies(masses) for masses in self._masses])

    @property
    def h0(self) -> Floats:
        """H(0) of every row, in bits: the Shannon entropy of the categories."""
        return self.entropies[:, 0].copy()

    @property
    def area(self) -> Floats:
        """A of every row, in bits × levels."""
        area: Floats = self.entropies[:, :-1].sum(axis=1)
        return area

    @property
    def area_bounds(self) -> Floats:
        """Rows × 2: lower and upper bound of the area; equal, because it is exact."""
        return np.column_stack((self.area, self.area))

    @property
    def estimated(self) -> NDArray[np.bool_]:
        """All False: every area is exact."""
        return np.zeros(len(self), np.bool_)

    @cached_property
    def eps_max(self) -> Floats:
        """The least height at which each row has one group only."""
        several = np.column_stack([np.diff(masses.indptr) > 1 for masses in self._masses])
        heights: Floats = several.sum(axis=1).astype(np.float64)
        return heights

    def at(self, eps: float) -> Floats:
        """H(ε) of every row, in bits."""
        return self.entropies[:, self._height(eps)].copy()

    def hit(self, eps: float) -> Floats:
        """V(ε) of every row: the mass of the heaviest group at height ⌊ε⌋. Larger is riskier."""
        return self.best_groups(eps)[0]

    def best_groups(self, eps: float) -> tuple[Floats, Ints]:
        """V(ε) of every row, and the number of the heaviest group at height ⌊ε⌋ (of several, the lowest)."""
        masses = self._masses[self._height(eps)]
        most = np.maximum.reduceat(masses.data, masses.indptr[:-1])
        rows = np.repeat(np.arange(len(self)), np.diff(masses.indptr))
        heaviest = np.flatnonzero(masses.data > most[rows] - 1e-12)
        _, first = np.unique(rows[heaviest], return_index=True)
        return np.minimum(most, 1.0), masses.indices[heaviest[first]].astype(np.int64)

    def right_guesses(self, eps: float, truths: Floats, bounds: Ints) -> Floats:
        """For each row and each of its true leaves, the chance that the best guess is its ancestor at height ⌊ε⌋.

        Row r has the true leaves ``truths[bounds[r]:bounds[r + 1]]``, by number. Several equally heavy ancestors (to
        a relative 1e-12) are equally likely, so each counts for its share. Larger is riskier.

        >>> many = tree_curves([[0, 1, 2], [0, 0, 0]], [[0.4, 0.4, 0.2]])
        >>> many.right_guesses(0, np.array([0, 1, 2]), np.array([0, 3])).tolist()
        [0.5, 0.5, 0.0]
        """
        height = self._height(eps)
        masses = self._masses[height]
        most = np.maximum.reduceat(masses.data, masses.indptr[:-1])
        row_of = np.repeat(np.arange(len(self)), np.diff(masses.indptr))
        heaviest = masses.data >= most[row_of] * (1.0 - 1e-12)
        tied = np.bincount(row_of[heaviest], minlength=len(self))
        wide = masses.shape[1]
        among = row_of[heaviest] * wide + masses.indices[heaviest]
        row = np.repeat(np.arange(len(self)), np.diff(bounds))
        leaves = np.asarray(truths, dtype=np.int64)
        known = leaves >= 0  # a leaf outside this tree is never guessed
        asked = row * wide + self.ancestors[height][np.where(known, leaves, 0)]
        return np.where(known & np.isin(asked, among), 1.0 / tied[row], 0.0)

    def surprises(self, eps: float, truths: Floats, bounds: Ints) -> Floats:
        """For each row and each of its true leaves, −log2 of the mass of its ancestor at height ⌊ε⌋, in bits.

        >>> tree_curves([[0, 1, 2], [0, 0, 1], [0, 0, 0]], [[0.25, 0.25, 0.5]]).surprises(
        ...     1, np.array([0, 2]), np.array([0, 2])
        ... ).tolist()
        [1.0, 1.0]
        """
        height = self._height(eps)
        row = np.repeat(np.arange(len(self)), np.diff(bounds))
        leaves = np.asarray(truths, dtype=np.int64)
        given = self._masses[height][row, self.ancestors[height][np.maximum(leaves, 0)]]
        mass = np.where(leaves >= 0, np.minimum(np.asarray(given).reshape(-1), 1.0), 0.0)
        with np.errstate(divide="ignore"):
            return np.asarray(-np.log2(mass) + 0.0)

    def check_estimates(self, rows: int = 3, *, seed: int = 0) -> float:
        """0.0: every area is exact."""
        return 0.0

    def _height(self, eps: float) -> int:
        return int(min(one_tolerance("eps", eps), len(self.ancestors) - 1))


@dataclass(frozen=True, eq=False)
class TreeCurve:
    """H of one posterior over the leaves of a tree. ε in levels, entropies in bits, area in bits × levels."""

    _many: TreeCurves = field(repr=False)
    exact = True

    @property
    def epsilons(self) -> Floats:
        """The heights, from 0 to the top."""
        return self._many.epsilons

    @property
    def break_points(self) -> Floats:
        """The same as ``epsilons``."""
        return self.epsilons

    @property
    def entropies(self) -> Floats:
        """H at each height, in bits."""
        only: Floats = self._many.entropies[0]
        return only

    @property
    def h0(self) -> float:
        """H(0), the Shannon entropy of the posterior, in bits."""
        return float(self._many.h0[0])

    @property
    def area(self) -> float:
        """Σ H(h) over the heights below the top."""
        return float(self._many.area[0])

    @property
    def area_bounds(self) -> tuple[float, float]:
        """Lower and upper bound of the area; equal, because it is exact."""
        return self.area, self.area

    @property
    def eps_max(self) -> float:
        """The least height with H = 0."""
        return float(self._many.eps_max[0])

    @overload
    def __call__(self, eps: float) -> float: ...
    @overload
    def __call__(self, eps: ArrayLike) -> Floats: ...
    def __call__(self, eps: Any) -> Any:
        """H(ε) in bits at one tolerance or at each of several."""
        found = np.array([self._many.at(float(e))[0] for e in tolerances("eps", eps)])
        return float(found[0]) if np.ndim(eps) == 0 else found

    @overload
    def hit(self, eps: float) -> float: ...
    @overload
    def hit(self, eps: ArrayLike) -> Floats: ...
    def hit(self, eps: Any) -> Any:
        """V(ε): the mass of the heaviest group at height ⌊ε⌋."""
        found = np.array([self._many.hit(float(e))[0] for e in tolerances("eps", eps)])
        return float(found[0]) if np.ndim(eps) == 0 else found

    def windows(self, eps: float) -> list[Group]:
        """The groups of positive probability at height ⌊ε⌋."""
        height = self._many._height(eps)
        masses, groups = self._many._masses[height], self._many.ancestors[height]
        pairs = zip(masses.indices.tolist(), masses.data.tolist(), strict=True)
        return [Group(tuple(np.flatnonzero(groups == g).tolist()), mass) for g, mass in sorted(pairs)]


def tree_curve(ancestors: ArrayLike, probabilities: ArrayLike) -> TreeCurve:
    """H at every height of a tree, of a posterior over its leaves.

    ``ancestors`` has one row per height and one column per leaf: the number of the group that the leaf is in. Row 0
    has each leaf on its own, the last row has all in one group, and each row joins whole groups of the one before.

    >>> c = tree_curve([[0, 1, 2, 3], [0, 0, 1, 1], [0, 0, 0, 0]], [.5, .25, .125, .125])
    >>> c.entropies.tolist(), c.area, c.eps_max, c.hit(1)
    ([1.75, 0.8112781244591328, 0.0], 2.561278124459133, 2.0, 0.75)
    """
    return TreeCurve(tree_curves(ancestors, np.atleast_2d(np.asarray(probabilities))))


def tree_curves(ancestors: ArrayLike, matrix: Any, *, counts: bool = False) -> TreeCurves:
    """``tree_curve`` of every row of ``matrix``: a table or a scipy sparse array with one column per leaf.

    With ``counts=True`` the rows are whole counts, which are divided by their sum.

    >>> tree_curves([[0, 1, 2], [0, 0, 0]], [[1, 1, 0], [2, 1, 1]], counts=True).area.tolist()
    [1.0, 1.5]
    """
    from scipy.sparse import csr_array

    tree = _checked_tree(ancestors)
    leaves = tree.shape[1]
    _, rows = read_grid_and_rows(np.arange(leaves), matrix, counts=counts)
    shares = rows.weights / np.repeat(rows.totals, np.diff(rows.bounds))
    if rows.dense:
        table = csr_array(shares.reshape(len(rows), leaves))
    else:
        table = csr_array((shares, rows.positions, rows.bounds), shape=(len(rows), leaves))
        table.eliminate_zeros()
    columns, ones = np.arange(leaves + 1), np.ones(leaves)
    masses = [csr_array(table @ csr_array((ones, groups, columns))) for groups in tree]
    for of_height in masses:
        of_height.sort_indices()
    return TreeCurves(tree, tuple(masses))


def _entropies(masses: csr_array) -> Floats:
    """The entropy of each row in bits; 0 for a row with one group, even if rounding made it less than 1."""
    terms = -masses.data * np.log2(masses.data)
    entropies = np.maximum(np.add.reduceat(terms, masses.indptr[:-1]), 0.0)
    entropies[np.diff(masses.indptr) == 1] = 0.0
    return entropies


def _checked_tree(given: ArrayLike) -> Ints:
    """Group numbers from 0, or InputError if these are not the levels of one tree."""
    try:
        tree = np.asarray(given)
    except ValueError:
        raise InputError("ancestors is ragged; every height needs one group number per leaf.") from None
    if tree.ndim != 2 or tree.size == 0 or tree.dtype.kind not in "iu":
        raise InputError(
            f"ancestors has shape {tree.shape} and type {tree.dtype}; give whole group numbers, heights × leaves."
        )
    if tree.min() < 0:
        raise InputError(f"ancestors holds the group number {tree.min()}; group numbers must be 0 or more.")
    if len(np.unique(tree[0])) != tree.shape[1]:
        raise InputError(
            "ancestors puts several leaves into one group at height 0; give each its own group there."
        )
    if len(np.unique(tree[-1])) != 1:
        raise InputError(
            "ancestors has several groups at the top; add a height with one group of all leaves."
        )
    for height in range(1, len(tree)):
        pairs = np.unique(tree[height - 1 : height + 1], axis=1)
        split = pairs[0, 1:] == pairs[0, :-1]
        if split.any():
            group = int(pairs[0, 1:][split][0])
            raise InputError(
                f"ancestors splits group {group} of height {height - 1} at height {height}; groups can only be joined."
            )
    return tree.astype(np.int64)
