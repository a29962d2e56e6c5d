"""Microaggregation: records in small groups, each value replaced by its group's mean."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from equivoc.attributes.attribute import number_labels
from equivoc.data.microdata import Microdata, check_people
from equivoc.errors import InputError
from equivoc.intruder.prior import ReleasedColumn, unchanged
from equivoc.notation.declared import choice, columns, number
from equivoc.notation.ranges import Range
from equivoc.notation.words import Columns
from equivoc.releases.linked_release import LinkedRelease
from equivoc.renamed import renamed_field
from equivoc.techniques.inside.group_intruders import NearTheMean
from equivoc.techniques.inside.local_intruder import (
    among_sums,
    group_distances,
    in_order,
    near_means,
    rounding,
)
from equivoc.techniques.inside.near_sums import GroupMeans, Levels
from equivoc.techniques.technique import (
    ON,
    Randomness,
    Technique,
    check_numbers,
    columns_of,
    in_words,
    knows_shares,
)

# Forms the groups to average: k to 2k − 1 records with a small loss, by one of three methods.


def optimal_groups(values: NDArray[Any], size: int) -> NDArray[np.int64]:
    """The group of each record with the least sum of squares for one attribute, in O(n · size).

    Hansen and Mukherjee, "A polynomial algorithm for optimal univariate microaggregation" (2003). Of equal values,
    those of earlier records go into the lower group.

    >>> optimal_groups(np.array([9, 1, 2, 8, 1, 7, 2]), 3)
    array([1, 0, 0, 1, 0, 1, 0])
    """
    from equivoc.techniques.inside.group_kernels import shortest_path

    order = np.argsort(values, kind="stable")
    sizes = shortest_path(values[order].astype(np.float64), size)
    group = np.empty(len(values), dtype=np.int64)
    group[order] = np.repeat(np.arange(len(sizes)), sizes)
    return group


def mdav_groups(positions: NDArray[Any], size: int) -> NDArray[np.int64]:
    """The group of each record by MDAV-generic, every attribute scaled to variance 1, in O(n² / size).

    ``positions`` is records × attributes. Domingo-Ferrer and Torra, "Ordinal, continuous and heterogeneous k-anonymity
    through microaggregation" (2005). Of records equally far, the earlier one is taken.

    >>> mdav_groups(np.array([[0, 0], [9, 9], [0, 1], [9, 8]]), 2)
    array([0, 1, 0, 1])
    """
    from equivoc.techniques.inside.group_kernels import mdav

    columns, weights = _standardised(positions)
    return np.asarray(mdav(columns, weights, size))


def fast_groups(positions: NDArray[Any], size: int) -> NDArray[np.int64]:
    """Groups nearly as good as MDAV's in about n · log n steps: a fixed centroid, and neighbours from a k-d tree.

    The record farthest from the centroid that is in no group yet, and its size − 1 nearest, form the next group; when
    fewer than 2·size are left, they form the last. The centroid of the records left hardly moves, so the loss is within
    a few percent of MDAV's, above or below. Laszlo and Mukherjee, "Minimum spanning tree partitioning algorithm for
    microaggregation" (2005), call it centroid-based fixed-size.

    >>> fast_groups(np.array([[0, 0], [9, 9], [0, 1], [9, 8]]), 2)
    array([0, 1, 0, 1])
    """
    from equivoc.techniques.inside.group_kernels import groups_from_outside

    columns, weights = _standardised(positions)
    apart = weights @ (columns - columns.mean(axis=1, keepdims=True)) ** 2
    outermost_first = np.argsort(-apart, kind="stable")
    points = np.ascontiguousarray((columns * np.sqrt(weights)[:, None]).T)
    return np.asarray(groups_from_outside(points, outermost_first, size))


def without_overlap(values: NDArray[Any], group: NDArray[np.int64]) -> NDArray[np.int64]:
    """The groups of one attribute by MDAV or the fast method, with what rounding of distances spoilt put right.

    One attribute's farthest record is at an end, and its nearest ones follow it, so groups are runs of neighbouring
    values. With a huge outlier, distances to different values may round to the same number; then the runs of these
    sizes, in the order of the means, take their place.

    >>> without_overlap(np.array([1, 2, 3, 4]), np.array([0, 0, 1, 1])).tolist()
    [0, 0, 1, 1]
    >>> without_overlap(np.array([1, 2, 3, 4]), np.array([1, 0, 1, 0])).tolist()
    [1, 1, 0, 0]
    """
    size = np.bincount(group)
    means = np.bincount(group, values.astype(np.float64)) / size
    up = np.argsort(means, kind="stable")
    least, greatest = np.full(len(size), np.inf), np.full(len(size), -np.inf)
    np.minimum.at(least, group, values)
    np.maximum.at(greatest, group, values)
    if (greatest[up][:-1] <= least[up][1:]).all():
        return group
    runs = np.empty_like(group)
    runs[np.argsort(values, kind="stable")] = np.repeat(up, size[up])
    return runs


def _standardised(positions: NDArray[Any]) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Attributes × records as floats, and each attribute's weight: 1 by its variance, 0 for a constant."""
    columns = np.array(positions.T, dtype=np.float64, order="C")  # a copy: MDAV moves its records about
    variance = columns.var(axis=1)
    return columns, np.divide(1.0, variance, out=np.zeros_like(variance), where=variance > 0)


_NO_OVERLAP = " She knows that no two groups overlap."
_NEAR = " She knows how far values of {} lie from their group's mean on average."
LARGEST = 1e100
"""Squares of larger values, and sums of squares, could overflow."""


@renamed_field("intruder", "belief")
@dataclass(frozen=True)
class Microaggregation(Technique):
    """Put similar records into groups of ``size`` to 2·size − 1, and publish each group's mean.

    ``on`` says which columns are averaged, in the same groups: "confidential", "keys", "all", or columns by name; they
    must be numbers. ``method`` is "optimal" (one column; the least sum of squares), "mdav" (any number of columns,
    scaled to variance 1), or "fast" (as mdav, for large files); None is the first of these that applies.

    The intruder knows which records form a group, so its size g and its sum s. If ``belief`` is given, all originals
    that fit what she knows are equally likely a priori.

    - ``belief="sum"`` uses only these: ``P(v | g, s) ∝ N_(g−1)(s − v)``, ``N_l(t)`` the number of ways in which l
      values of the column add up to t. She does not use that members are similar, so the figures understate the risk,
      for one column by a large amount.
    - ``belief="order"``, for one column, also knows that groups do not overlap: whatever the method, in the order of
      the means nobody is above a member of the next group. She does not use how the groups were chosen.
    - None: the assessment decides. The release has "sum" as ``confidential.channel``, and as ``confidential.informed``
      "order" for one column, and for several the sum with members expected near their group's mean. All take a prior.

    Any numbers can be averaged. Where sums cannot be counted in steps of an even grid, or not in reasonable time,
    posteriors are computed on a grid of bounded size, when they are first asked for; `notes` says so.

    >>> import pandas as pd
    >>> people = Microdata(pd.DataFrame({"pay": [10, 30, 10, 40, 30]}), confidential="pay")
    >>> release = Microaggregation(size=2).release(people)
    >>> release.table["pay"].round(2).tolist()
    [10.0, 33.33, 10.0, 33.33, 33.33]
    >>> release.posteriors([]).probabilities.round(3)  # no three of 10, 30, 40 but 30, 30, 40 add up to 100
    array([[0.4, 0.4, 0.2]])
    >>> people = Microdata(pd.DataFrame({"pay": [10, 10, 20, 20, 20, 20, 30, 30]}), confidential="pay")
    >>> for belief in ("sum", "order"):  # two groups have a mean of 20
    ...     release = Microaggregation(size=2, belief=belief).release(people)
    ...     print(release.confidential.channel.dense()[1].round(3))
    [0.333 0.333 0.333]
    [0. 1. 0.]
    """

    renamed: ClassVar = {"intruder": "belief"}
    name: ClassVar[str] = "microaggregation"
    needs: ClassVar = "numbers"
    size: int = number(
        "fewest records in a group: 1 (which changes nothing) or more; more is safer",
        at_least=1,
        whole=True,
        says="a group has a whole number of records, at least 1",
        tries=Range(2, 100, monotone=False, whole=True, unit="records"),
    )
    on: Columns = columns(ON, default="confidential")
    method: str | None = choice(
        'how records are grouped; None: "optimal" for one column, else "mdav"',
        "optimal",
        "mdav",
        "fast",
        default=None,
    )
    belief: str | None = choice(
        "the technique's own intruder; None: the assessment decides", "sum", "order", default=None
    )

    @property
    def random(self) -> bool:
        return False

    def release(self, people: Microdata, rng: Randomness = None) -> AveragedFile:
        """Form the groups and average; nothing is random."""
        check_people("people", people)
        names = columns_of(self.name, people, self.on)
        if people.confidential in names:
            check_numbers(self.name, people, "which have no mean")
        if self.size > len(people):
            raise InputError(
                f"microaggregation: size is {self.size} but there are only {len(people)} records."
            )
        if len(names) > 1 and (self.method == "optimal" or self.belief == "order"):
            given, other = ("method optimal", "mdav") if self.method == "optimal" else ("belief order", "sum")
            raise InputError(
                f"microaggregation: {given} is for one column, not {len(names)} ({', '.join(names)}); use {other}."
            )
        columns = {name: unchanged(people, name) for name in (*people.keys, people.confidential)}
        levels = {name: _levels(name, columns[name]) for name in names if name != people.confidential}
        if people.confidential in names:
            own = replace(columns[people.confidential], labels=number_labels(people.attribute))
            levels[people.confidential] = _levels(people.confidential, own)
        group = np.arange(len(people))
        rough: dict[str, str] = {}
        if self.size > 1:
            places = np.column_stack([levels[name].places[columns[name].codes] for name in names])
            # Ties go to the first record; records are sorted first, so that the order of rows has no effect.
            order = np.lexsort([column.codes for column in columns.values()])
            group[order] = self._groups(places[order])
            group_means = {name: GroupMeans.of(levels[name], columns[name].codes, group) for name in names}
            distances = group_distances(list(group_means.values()), int(group.max()) + 1)
            for name in names:
                columns[name] = self._averaged(
                    group_means[name],
                    columns[name].codes,
                    group,
                    distances,
                    key=name != people.confidential,
                    columns=len(names),
                )
                rough |= _remark(name, columns[name])
        confidential = columns.pop(people.confidential)
        if people.attribute.dates is not None and self.size > 1 and people.confidential in names:
            means = confidential.labels.to_numpy().astype(np.float64)
            confidential = replace(confidential, labels=people.attribute.written(means))
        return AveragedFile(
            people,
            columns,
            confidential,
            group,
            rough,
            fixed=self.belief is not None,
            mechanism=self.mechanism(people),
        )

    def mechanism(self, people: Microdata) -> str:
        columns = columns_of(self.name, people, self.on)
        used = " All originals that fit are equally likely." if self.belief else ""
        keys = knows_shares(people, columns)
        if keys and not self.belief:
            keys = f"{keys[:-1]}, and how far values lie from their group's mean on average."
        own = ""
        if self.belief == "order" or (
            self.belief is None and self.size > 1 and set(columns) == {people.confidential}
        ):
            own = _NO_OVERLAP
        elif self.belief is None and self.size > 1 and people.confidential in columns:
            own = _NEAR.format(people.confidential)
        return (
            f"She knows which records form a group, of {self.size} or more, and the sum of each group's "
            f"{in_words(columns)}.{own}{used}{keys}"
        )

    def _groups(self, places: NDArray[Any]) -> NDArray[np.int64]:
        method = self.method or ("optimal" if places.shape[1] == 1 else "mdav")
        if method == "optimal":
            return optimal_groups(places[:, 0], self.size)
        group = (mdav_groups if method == "mdav" else fast_groups)(places, self.size)
        return without_overlap(places[:, 0], group) if places.shape[1] == 1 else group

    def _averaged(
        self,
        released: GroupMeans,
        levels: NDArray[np.integer[Any]],
        group: NDArray[np.int64],
        distances: NDArray[np.float64],
        *,
        key: bool,
        columns: int,
    ) -> ReleasedColumn:
        """A column of means. Groups of equal size and sum have the same posterior, so they share one symbol."""
        import pyarrow as pa

        codes, means = released.kind[group], pa.array(released.means)
        patient = self.belief is not None
        channel = in_order(released) if self.belief == "order" else among_sums(released, patient=patient)
        if key:
            counts = np.bincount(levels, minlength=len(released.levels.values))
            return ReleasedColumn(codes, means, channel, likelihood=NearTheMean(released, counts))
        informed = None
        if not patient:
            informed = in_order(released) if columns == 1 else near_means(released, distances, columns)
        return ReleasedColumn(codes, means, channel, informed=informed)


@dataclass(frozen=True, eq=False)
class AveragedFile(LinkedRelease):
    """The file with means of small groups, with an intruder who knows each group's sum, and perhaps their order."""

    group: NDArray[np.int64] = field(repr=False)
    """The number of each record's group."""
    rough: Mapping[str, str] = field(default_factory=dict, repr=False)
    """Of each column whose sums cannot be counted exactly, how they are counted, in a sentence."""

    def notes(self, known: Sequence[str] | None = None) -> list[str]:
        used = (*self.people.known_keys(known), self.people.confidential)
        return [*super().notes(known), *(text for name, text in self.rough.items() if name in used)]


def _levels(name: str, column: ReleasedColumn) -> Levels:
    """The levels of a column as numbers; InputError if they have no mean."""
    import pyarrow as pa
    import pyarrow.compute as pc

    levels, kind = column.labels, column.labels.type
    if levels.null_count:
        raise InputError(
            f"microaggregation: {name!r} has missing values, which have no mean; leave it out of on."
        )
    if not (pa.types.is_integer(kind) or pa.types.is_floating(kind) or pa.types.is_decimal(kind)):
        raise InputError(
            f"microaggregation: {name!r} holds {kind} values, which have no mean; leave it out of on."
        )
    values = np.asarray(pc.cast(levels, pa.float64(), safe=False).to_numpy(), dtype=np.float64)
    largest = np.abs(values).max()
    if not largest < LARGEST:
        raise InputError(
            f"microaggregation: {name!r} holds {largest:g}; squares of such values cannot be computed: "
            "use a larger unit, or leave the value out."
        )
    return Levels.of(values)


def _remark(name: str, column: ReleasedColumn) -> dict[str, str]:
    channel = column.channel if column.informed is None else column.informed
    text = rounding(channel, name)
    return {} if text is None else {name: text}
