"""Which keys the intruders of a study know: every subset of some sizes, or subsets by name."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from operator import index
from typing import Any

import numpy as np
from numpy.typing import NDArray

from equivoc.data.classes import Classes
from equivoc.errors import InputError, did_you_mean
from equivoc.intruder.posteriors import Posteriors
from equivoc.releases.release import Release

MOST_CELLS = 1_000_000
"""The most techniques × replicates of one study."""


@dataclass(frozen=True)
class Knowledge:
    """All subsets of the keys of these ``sizes``, or only the given ``subsets``.

    >>> Knowledge.of(("age", "sex"), known_sizes=None, subsets=None).sizes
    (0, 1, 2)
    >>> Knowledge.of(("age", "sex"), known_sizes=None, subsets=[["sex"], []]).sizes
    (0, 1)
    """

    sizes: tuple[int, ...]
    """The numbers of known keys that occur, ascending."""
    subsets: tuple[tuple[str, ...], ...] | None

    @classmethod
    def of(
        cls, keys: tuple[str, ...], *, known_sizes: Iterable[int] | None, subsets: Iterable[Any] | None
    ) -> Knowledge:
        """The checked request; without ``known_sizes`` and ``subsets``: 0 … all keys."""
        if known_sizes is not None and subsets is not None:
            raise InputError("known_sizes and subsets are both given; give one of them.")
        if subsets is not None:
            chosen = _checked_subsets(keys, subsets)
            return cls(tuple(sorted({len(subset) for subset in chosen})), chosen)
        return cls(_checked_sizes(keys, known_sizes), None)

    def believed(
        self, release: Release, *, prior: NDArray[np.float64], intruder: str
    ) -> Iterator[tuple[Posteriors, tuple[Posteriors, ...]]]:
        """The posteriors of this intruder with each subset of the keys known, each subset once; and those that
        were tried beside it."""
        if self.subsets is None and (intruder != "strongest" or release.fixed):
            for first, last in _runs(self.sizes):
                swept = release.sweep(min_size=first, max_size=last, prior=prior, intruder=intruder)
                yield from ((found, ()) for found in swept)
            return
        for classes in self._classes(release):
            choice = release.choice(classes, prior, intruder)
            yield choice.used.posteriors, tuple(each for _, each in choice.others)

    def _classes(self, release: Release) -> Iterator[Classes]:
        """The people's classes by each subset of the keys."""
        if self.subsets is not None:
            for subset in self.subsets:
                yield release.people.classes(subset)
            return
        for first, last in _runs(self.sizes):
            yield from release.people.lattice(min_size=first, max_size=last)

    def facts(self) -> dict[str, Any]:
        """As plain data, for a fingerprint."""
        if self.subsets is None:
            return {"known_sizes": list(self.sizes)}
        return {"subsets": [list(subset) for subset in self.subsets]}


def _checked_sizes(keys: tuple[str, ...], sizes: Iterable[int] | None) -> tuple[int, ...]:
    if sizes is None:
        return tuple(range(len(keys) + 1))
    if isinstance(sizes, (str, bytes)) or not isinstance(sizes, Iterable):
        raise InputError(f"known_sizes is {sizes!r}; give a list of whole numbers, such as [0, 1, 2].")
    chosen = []
    for size in sizes:
        if isinstance(size, bool) or not hasattr(size, "__index__"):
            raise InputError(f"known_sizes contains {size!r}; give whole numbers, such as [0, 1, 2].")
        if not 0 <= index(size) <= len(keys):
            shown = size if abs(index(size)) < 1 << 63 else "a number that is too large"
            raise InputError(
                f"known_sizes contains {shown}; with {len(keys)} keys, sizes are 0 to {len(keys)}."
            )
        chosen.append(index(size))
    if not chosen:
        raise InputError("known_sizes is empty; give at least one number of known keys.")
    if len(set(chosen)) < len(chosen):
        raise InputError(f"known_sizes names a size twice: {chosen}.")
    return tuple(sorted(chosen))


def _checked_subsets(keys: tuple[str, ...], subsets: Iterable[Any]) -> tuple[tuple[str, ...], ...]:
    if isinstance(subsets, (str, bytes)) or not isinstance(subsets, Iterable):
        given = subsets if subsets in keys else "age"
        raise InputError(f"subsets is {subsets!r}; give a list of lists of keys, such as [[], ['{given}']].")
    chosen: list[tuple[str, ...]] = []
    for subset in subsets:
        if isinstance(subset, str) or not hasattr(subset, "__iter__"):
            raise InputError(
                f"subsets contains {subset!r}; each must be a list of keys, such as [{subset!r}]."
            )
        wrong = [key for key in subset if key not in keys]
        if wrong:
            raise InputError(
                f"subsets contains {wrong[0]!r}, which is not a key{did_you_mean(wrong[0], keys)}"
            )
        ordered = tuple(key for key in keys if key in subset)
        if len(ordered) < len(list(subset)) or ordered in chosen:
            raise InputError(f"subsets contains {list(subset)}, which repeats a key or a subset.")
        chosen.append(ordered)
    if not chosen:
        raise InputError(
            "subsets is empty; give at least one, such as [[]] for an intruder who knows nothing."
        )
    return tuple(sorted(chosen, key=lambda subset: (len(subset), [keys.index(key) for key in subset])))


def _runs(sizes: tuple[int, ...]) -> Iterator[tuple[int, int]]:
    """First and last of each run of consecutive sizes: one sweep covers a run.

    >>> list(_runs((0, 1, 2, 5)))
    [(0, 2), (5, 5)]
    """
    first = last = sizes[0]
    for size in sizes[1:]:
        if size > last + 1:
            yield first, last
            first = size
        last = size
    yield first, last


def too_many_cells(techniques: int, replicates: int) -> str:
    """The message for a study with too many releases."""
    return (
        f"{techniques:,} techniques × {replicates:,} replicates are too many; give fewer techniques or replicates: "
        f"at most {MOST_CELLS:,} releases are computed."
    )
