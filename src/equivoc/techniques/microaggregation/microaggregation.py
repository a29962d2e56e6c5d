"""Microaggregation: records in small groups, each value replaced by its group's mean."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import ClassVar

import numpy as np
from numpy.typing import NDArray

from equivoc.arguments import is_whole
from equivoc.data.microdata import Microdata, check_people
from equivoc.errors import InputError
from equivoc.intruder.channel.channel import Computed
from equivoc.intruder.linked_release import LinkedRelease
from equivoc.intruder.released_column import ReleasedColumn, unchanged
from equivoc.queries.even_grids import EvenGrid, even_grid
from equivoc.techniques.microaggregation.groups import fast_groups, mdav_groups, optimal_groups
from equivoc.techniques.microaggregation.near_the_mean import near_the_mean
from equivoc.techniques.microaggregation.order_intruder import (
    GroupsInOrder,
    check_order_in_reach,
    in_reach,
)
from equivoc.techniques.microaggregation.sum_intruder import GroupSums, check_sums
from equivoc.techniques.setting import Setting
from equivoc.techniques.technique import (
    Randomness,
    Technique,
    check_numbers,
    checked_columns,
    columns_of,
    in_words,
    knows_shares,
)

_NO_OVERLAP = " She knows that no two groups overlap."


@dataclass(frozen=True)
class Microaggregation(Technique):
    """Put similar records into groups of ``size`` to 2·size − 1, and publish each group's mean.

    ``on`` says which columns are averaged, in the same groups: "confidential", "keys", "all", or columns by name; they
    must be numbers. ``method`` is "optimal" (one column; the least sum of squares), "mdav" (any number of columns,
    scaled to variance 1), or "fast" (as mdav, for large files); None is the first of these that applies.

    The intruder knows which records form a group, so its size g and its sum s. If ``intruder`` is given, all originals
    that fit what she knows are equally likely a priori.

    - ``intruder="sum"`` uses only these: ``P(v | g, s) ∝ N_(g−1)(s − v)``, ``N_l(t)`` the number of ways in which l
      values of the column add up to t. She does not use that members are similar, so the figures understate the risk,
      for one column by a large amount.
    - ``intruder="order"`` also knows that groups do not overlap, which they never do for one column and "optimal": in
      the order of the means, nobody is above a member of the next group. She does not use that the groups are optimal.
    - None: the assessment decides. The release has "sum" as ``confidential.channel``, and "order", where it applies
      and takes seconds, as ``confidential.informed``. Both take a prior.

    >>> import pandas as pd
    >>> people = Microdata(pd.DataFrame({"pay": [10, 30, 10, 40, 30]}), confidential="pay")
    >>> release = Microaggregation(size=2).release(people)
    >>> release.table["pay"].round(2).tolist()
    [10.0, 33.33, 10.0, 33.33, 33.33]
    >>> release.posteriors([]).probabilities.round(3)  # no three of 10, 30, 40 but 30, 30, 40 add up to 100
    array([[0.4, 0.4, 0.2]])
    >>> people = Microdata(pd.DataFrame({"pay": [10, 10, 20, 20, 20, 20, 30, 30]}), confidential="pay")
    >>> for intruder in ("sum", "order"):  # two groups have a mean of 20
    ...     release = Microaggregation(size=2, intruder=intruder).release(people)
    ...     print(release.confidential.channel.dense()[1].round(3))
    [0.333 0.333 0.333]
    [0. 1. 0.]
    """

    name: ClassVar[str] = "microaggregation"
    needs: ClassVar = "numbers"
    settings: ClassVar = (
        Setting(
            "size",
            2,
            100,
            stronger="more",
            monotone=False,
            meaning="fewest records in a group",
            whole=True,
            unit="records",
        ),
    )
    choices: ClassVar = {"method": ("optimal", "mdav", "fast"), "intruder": ("sum", "order")}
    size: int
    """The fewest records in a group: 1 (which changes nothing) or more. More is safer."""
    on: str | tuple[str, ...] = "confidential"
    """"confidential", "keys", "all", or columns by name."""
    method: str | None = None
    """How records are grouped; None: "optimal" for one column, else "mdav"."""
    intruder: str | None = None
    """The intruder, "sum" or "order"; None: the assessment decides."""

    def __post_init__(self) -> None:
        if not is_whole(self.size) or self.size < 1:
            raise InputError(
                f"microaggregation: size is {self.size}; a group has a whole number of records, at least 1."
            )
        self.check_choices()
        object.__setattr__(self, "on", checked_columns("microaggregation", self.on))
        if self.intruder == "order" and self.method in ("mdav", "fast"):
            raise InputError(
                f"microaggregation: intruder order is for method optimal, where no groups overlap, not {self.method}."
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
        if len(names) > 1 and (self.method == "optimal" or self.intruder == "order"):
            given, other = ("method optimal", "mdav") if self.method else ("intruder order", "sum")
            raise InputError(
                f"microaggregation: {given} is for one column, not {len(names)} ({', '.join(names)}); use {other}."
            )
        columns = {name: unchanged(people, name) for name in (*people.keys, people.confidential)}
        grids = {name: _grid(people, name, columns[name]) for name in names}
        group = np.arange(len(people))
        if self.size > 1:
            positions = np.column_stack([grid.positions[columns[name].codes] for name, grid in grids.items()])
            # Ties go to the first record; records are sorted first, so that the order of rows has no effect.
            order = np.lexsort([column.codes for column in columns.values()])
            group[order] = self._groups(positions[order])
            for i, name in enumerate(names):
                columns[name] = self._averaged(
                    grids[name],
                    positions[:, i],
                    group,
                    name=name,
                    key=name != people.confidential,
                    ordered=len(names) == 1 and self.method in (None, "optimal"),
                )
        confidential = columns.pop(people.confidential)
        told = self.mechanism(people)
        if confidential.informed is not None:
            told += _NO_OVERLAP
        return AveragedFile(
            people, columns, confidential, group, fixed=self.intruder is not None, mechanism=told
        )

    def mechanism(self, people: Microdata) -> str:
        columns = columns_of(self.name, people, self.on)
        used = " All originals that fit are equally likely." if self.intruder else ""
        keys = knows_shares(people, columns)
        if keys and not self.intruder:
            keys = f"{keys[:-1]}, and how far values lie from their group's mean on average."
        return (
            f"She knows which records form a group, of {self.size} or more, and the sum of each group's "
            f"{in_words(columns)}.{_NO_OVERLAP if self.intruder == 'order' else ''}{used}{keys}"
        )

    def _groups(self, positions: NDArray[np.int64]) -> NDArray[np.int64]:
        method = self.method or ("optimal" if positions.shape[1] == 1 else "mdav")
        if method == "optimal":
            return optimal_groups(positions[:, 0], self.size)
        return (mdav_groups if method == "mdav" else fast_groups)(positions, self.size)

    def _averaged(
        self,
        grid: EvenGrid,
        positions: NDArray[np.int64],
        group: NDArray[np.int64],
        *,
        name: str,
        key: bool,
        ordered: bool,
    ) -> ReleasedColumn:
        """A column of means. Groups of equal size and sum have the same posterior, so they share one symbol."""
        import pyarrow as pa

        size = np.bincount(group)
        total = np.bincount(group, positions).astype(np.int64)
        kinds, kind_of_group, groups = np.unique(
            np.column_stack([total, size]), axis=0, return_inverse=True, return_counts=True
        )
        sums, sizes = kinds.T
        codes = kind_of_group.reshape(-1)[group]  # NumPy 2.0.0 returns it as a column
        means = pa.array(grid.origin + grid.step * (sums / sizes))
        prior = np.full(len(grid.positions), 1.0 / len(grid.positions))
        in_order = GroupsInOrder(grid, sizes, sums, groups, prior=prior)
        if self.intruder == "order":
            check_order_in_reach(grid, sizes, sums, groups, name=name)
            channel: Computed = in_order
        else:
            check_sums(grid, sizes, name=name)
            channel = GroupSums(grid, sizes, sums, prior=prior)
        if key:
            near = near_the_mean(grid, positions, sums / sizes, sizes * groups)
            return ReleasedColumn(codes, means, channel.dense(), likelihood=near)
        stronger = self.intruder is None and ordered and in_reach(grid, sizes, sums, groups)
        return ReleasedColumn(codes, means, channel, informed=in_order if stronger else None)


@dataclass(frozen=True, eq=False)
class AveragedFile(LinkedRelease):
    """The file with means of small groups, with an intruder who knows each group's sum, and perhaps their order."""

    group: NDArray[np.int64] = field(repr=False)
    """The number of each record's group."""


def _grid(people: Microdata, name: str, column: ReleasedColumn) -> EvenGrid:
    """The even grid of a column's levels; InputError if they are not numbers, or not on an even grid."""
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
    try:
        return even_grid(pc.cast(levels, pa.float64(), safe=False).to_numpy())
    except InputError:
        advice = "round_to or domain" if name == people.confidential else "round it"
        raise InputError(
            f"microaggregation: the values of {name!r} are not on an even grid, which the sums of groups need: "
            f"put them on one ({advice})."
        ) from None
