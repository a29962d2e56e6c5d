"""Generalisation: key values are replaced by ranges or groups of values."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from hashlib import sha256
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from equivoc.attributes.hierarchy import Ladder
from equivoc.attributes.level_text import STAR, written_range
from equivoc.checks import is_whole
from equivoc.data.hierarchies import Hierarchies, hierarchies_beside
from equivoc.data.microdata import Microdata, check_people
from equivoc.errors import InputError
from equivoc.intruder.prior import ReleasedColumn, unchanged
from equivoc.linkage.coded_file import check_room, equally_likely, groups_and_star
from equivoc.notation.declared import file, number, text
from equivoc.notation.ranges import Range
from equivoc.notation.words import split_words, unquoted
from equivoc.releases.linked_release import LinkedRelease
from equivoc.techniques.inside.full_domain import Lattice, Recoding
from equivoc.techniques.technique import Randomness, Technique, knows_shares
from equivoc.text import exact

# Checks for techniques that reach k-anonymity: of the file, and its values.


def check_enough(technique: str, k: int, people: Microdata) -> None:
    """InputError if the file has fewer than k records."""
    if k > len(people):
        raise InputError(f"{technique}: k is {k}, but there are only {len(people)} records.")


def check_no_star(technique: str, people: Microdata, key: str) -> None:
    """InputError if the key itself has the value ``*``, which means any value."""
    if STAR in people.levels(key):
        raise InputError(
            f"{technique}: key {key!r} has the value {STAR!r}, which is to stand for any value; rename it."
        )


# Mondrian: split the people, key by key at the median, while every part keeps at least k of them.
#
# Strict multidimensional partitioning of LeFevre, DeWitt and Ramakrishnan, *Mondrian Multidimensional
# K-Anonymity* (ICDE 2006). A part is cut at the key whose levels in it span the largest share of all the
# key's levels (of equal keys, the first), between the two neighbouring levels where the cut comes nearest to
# halving the part (of equal cuts, the lower). If a side would be smaller than k, the next widest key is
# tried. A part that no key can cut is released, each key as the range of levels that occur in it. Levels are
# in sort order, null last.
#
# It works on the distinct combinations of levels and their counts, so equal records stay together and the
# order of records has no effect. A cut visits every combination of its part: O(combinations · keys · depth).


def mondrian_columns(people: Microdata, k: int) -> dict[str, ReleasedColumn]:
    """Every key as released, in ranges that at least k people share in all keys together.

    >>> import pandas as pd
    >>> frame = pd.DataFrame({"age": [20, 21, 35, 37], "pay": [1, 2, 3, 4]})
    >>> people = Microdata(frame, confidential="pay", keys=["age"])
    >>> mondrian_columns(people, 2)["age"].column.to_pylist()
    ['[20,21]', '[20,21]', '[35,37]', '[35,37]']
    """
    from equivoc.techniques.inside import mondrian_kernels

    classes = people.classes(people.keys)
    levels = np.array([len(people.levels(key)) for key in people.keys], dtype=np.int64)
    rows = np.array(classes.key_codes, dtype=np.int32, order="C")
    part_of = np.empty(len(rows), dtype=np.int64)
    lows, highs = np.empty((2, min(len(rows), len(people) // k), len(levels)), dtype=np.int64)
    parts = mondrian_kernels.mondrian(rows, classes.sizes.copy(), levels, k, part_of, lows, highs)
    part_of_record = part_of[classes.of_record]
    return {
        key: _part_column(people, key, lows[:parts, at], highs[:parts, at], part_of_record)
        for at, key in enumerate(people.keys)
    }


def _part_column(
    people: Microdata, key: str, low: NDArray[np.int64], high: NDArray[np.int64], part_of: NDArray[np.int64]
) -> ReleasedColumn:
    """The key of each record, shown as the range of its part."""
    import pyarrow as pa

    if np.array_equal(low, high):
        return unchanged(people, key)
    levels = people.levels(key)
    ranges, symbol = np.unique(low * len(levels) + high, return_inverse=True)
    check_room(key, symbols=len(ranges), levels=len(levels))
    from_level, to_level = (ends[:, None] for ends in np.divmod(ranges, len(levels)))
    place = np.arange(len(levels))
    labels = [written_range(levels, *divmod(each, len(levels))) for each in ranges.tolist()]
    table = equally_likely((place >= from_level) & (place <= to_level))
    return ReleasedColumn(symbol[part_of], pa.array(labels, pa.large_string()), table, likelihood=table)


def _steps(given: Any) -> tuple[tuple[str, int], ...]:
    """Levels from a mapping or from words such as ``age:1+zip:2``, by the keys' names."""
    if isinstance(given, str):
        pairs = [split_words(item, ":") for item in split_words(given, "+")]
        steps_of = {unquoted(key): ":".join(step).strip() for key, *step in pairs}
        given = {key: int(step) if step.isdecimal() else step for key, step in steps_of.items()}
    try:
        steps = dict(given)
    except (TypeError, ValueError):
        raise InputError(
            f"generalisation: levels is {given!r}; give a level per key, as in age:1+zip:2."
        ) from None
    for key, step in steps.items():
        if not is_whole(step) or step < 0:
            raise InputError(
                f"generalisation: the level of {key!r} is {step!r}; it must be a whole number of 0 or more, "
                "as in levels=age:1."
            )
    return tuple(sorted((key, int(step)) for key, step in steps.items()))


@dataclass(frozen=True)
class Generalisation(Technique):
    """Replace key values by ranges or groups; the confidential value is unchanged; nothing is random.

    - ``k``: by Mondrian, ranges of levels such that at least k records agree in all keys.
    - ``k`` and ``hierarchies``: each key at one step of its hierarchy; of all combinations of steps that leave at
      least k records in every class, the one with the least loss. Up to the share ``suppress`` of the records may
      be suppressed in all keys.
    - ``levels``, with ``hierarchies``: exactly these steps (0: unchanged), with any resulting k.

    ``hierarchies`` maps a key to the width of its intervals (10, or nested widths ``(5, 10)``) or to a CSV file of
    rows ``value;group;larger group``, or is a folder with one such file per key. ``*`` is always on top; a key
    without a hierarchy is unchanged, or ``*``.

    >>> import pandas as pd
    >>> frame = pd.DataFrame({"age": [23, 28, 31, 36], "sex": list("FMFF"), "pay": [10, 20, 30, 40]})
    >>> people = Microdata(frame, confidential="pay", keys=["age", "sex"])
    >>> Generalisation(k=2, hierarchies={"age": 10}).release(people).table
           age sex  pay
    0  [20,30)   *   10
    1  [20,30)   *   20
    2  [30,40)   *   30
    3  [30,40)   *   40
    """

    name: ClassVar[str] = "generalisation"
    k: int | None = number(
        "records that agree in all released keys; more is safer",
        at_least=1,
        whole=True,
        default=None,
        tries=Range(2, 100, monotone=False, whole=True, unit="records"),
    )
    hierarchies: Any = file(
        "how each key can be generalised: files, folders or widths of intervals, by key; None: merged ranges of values",
        beside=hierarchies_beside,
        read=Hierarchies.of,
    )
    levels: Any = text(
        "the level of each key in its hierarchy, instead of k: ``age:1+zip:2``; higher is safer",
        default=None,
        read=_steps,
        has_separators=True,
    )
    suppress: float = number(
        "share of the records that may be starred",
        at_least=0,
        below=1,
        default=0.0,
        tries=Range(0, 0.2, stronger="less", monotone=False),
    )

    def __post_init__(self) -> None:
        if (self.k is None) == (self.levels is None):
            raise InputError("generalisation needs either k or levels, as in generalisation:k=5.")
        super().__post_init__()
        if self.suppress and (self.k is None or self.hierarchies is None):
            raise InputError("generalisation: suppress needs k and hierarchies.")

    @property
    def content(self) -> str | None:
        """A hash of the hierarchies, by which a study detects changes of their files."""
        return None if self.hierarchies is None else sha256(repr(self.hierarchies).encode()).hexdigest()

    @property
    def random(self) -> bool:
        return False

    @property
    def whole_records(self) -> bool:
        return True

    def release(self, people: Microdata, rng: Randomness = None) -> GeneralisedRecords:
        """Recode the keys; ``rng`` is not used."""
        check_people("people", people)
        for key in people.keys:
            check_no_star(self.name, people, key)
        if self.k is not None:
            check_enough(self.name, self.k, people)
            if self.hierarchies is None:
                columns = mondrian_columns(people, self.k)
                confidential = unchanged(people, people.confidential)
                return GeneralisedRecords(people, columns, confidential, mechanism=self.mechanism(people))
        ladders = (self.hierarchies or Hierarchies(())).ladders(people)
        lattice = Lattice(people.classes(people.keys), ladders)
        if self.k is None:
            chosen = lattice.recoding(self._given_steps(people, ladders), k=1)
        else:
            chosen = lattice.best(k=self.k, suppress=self.suppress)
        return replace(_recoded(people, lattice, chosen), mechanism=self.mechanism(people))

    def mechanism(self, people: Microdata) -> str:
        if self.k is None:
            how = "each key at a given level of its hierarchy"
        else:
            how = f"such that at least {self.k} records agree in all keys"
            how = (
                f"ranges of neighbouring values (Mondrian), {how}"
                if self.hierarchies is None
                else (f"each key at one level of its hierarchy, {how}")
            )
        starred = (
            f", and that up to {exact(100 * self.suppress)} % of the records have all keys starred"
            if self.suppress
            else ""
        )
        return (
            f"She knows which values each released range or group holds ({how}){starred}."
            f"{knows_shares(people, people.keys)}"
        )

    def _given_steps(self, people: Microdata, ladders: list[Ladder]) -> list[int]:
        given = dict(self.levels)
        for key in given:
            if key not in people.keys:
                raise InputError(
                    f"generalisation: levels names {key!r}, which is not a key; "
                    f"there are {', '.join(people.keys) or 'none'}."
                )
        for key, ladder in zip(people.keys, ladders, strict=True):
            if given.get(key, 0) > ladder.top:
                raise InputError(
                    f"generalisation: level {given[key]} of key {key!r} does not exist; its highest is {ladder.top}."
                )
        return [given.get(key, 0) for key in people.keys]


@dataclass(frozen=True, eq=False)
class GeneralisedRecords(LinkedRelease):
    """The file with its keys in ranges or groups, with an intruder who knows the values of each."""


@dataclass(frozen=True, eq=False)
class RecodedRecords(GeneralisedRecords):
    """The file with each key at one level of its hierarchy, with an intruder who knows the hierarchies."""

    levels: Mapping[str, int]
    """The step of each key."""
    loss: float
    """What the recoding loses on average per value of a key: 0, nothing, to 1, everything."""
    suppressed: NDArray[np.bool_] = field(repr=False)
    """Which records have all their keys starred."""


def _recoded(people: Microdata, lattice: Lattice, chosen: Recoding) -> RecodedRecords:
    suppressed = chosen.suppressed[lattice.classes.of_record]
    columns = {
        key: _column(people, key, ladder, step, suppressed)
        for key, ladder, step in zip(people.keys, lattice.ladders, chosen.steps, strict=True)
    }
    return RecodedRecords(
        people,
        columns,
        unchanged(people, people.confidential),
        dict(zip(people.keys, chosen.steps, strict=True)),
        chosen.loss,
        suppressed,
    )


def _column(
    people: Microdata, key: str, ladder: Ladder, step: int, suppressed: NDArray[np.bool_]
) -> ReleasedColumn:
    """The key at a step of its ladder; suppressed records show ``*``, which stands for all levels."""
    import pyarrow as pa

    if step == 0 and not suppressed.any():
        return unchanged(people, key)
    group_of, labels = ladder.groups[step], ladder.labels[step]
    check_room(key, symbols=len(labels) + 1, levels=len(group_of))
    symbols = group_of[people.key_codes(key)]
    members = np.arange(len(labels))[:, None] == group_of
    table = likelihood = equally_likely(members)
    if suppressed.any() and step < ladder.top:
        symbols = np.where(suppressed, len(labels), symbols)
        labels = (*labels, STAR)
        table = np.vstack([table, np.full(len(group_of), 1.0 / len(group_of))])
        likelihood = groups_and_star(group_of, people.key_codes(key), suppressed)
    return ReleasedColumn(symbols, pa.array(labels, pa.large_string()), table, likelihood=likelihood)
