"""A small, if possible a smallest, set of items that suffices for something, found by testing sets.

Sufficiency must be monotone: every set that contains a sufficient one is sufficient. First a sufficient set is made
irreducible by leaving out parts of it; then hitting sets give a lower bound of the size, which rises until a set of
that size suffices or the work limit is reached. (An insufficient set that cannot be enlarged lacks some items; every
sufficient set has at least one of those.)
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field
from itertools import combinations
from math import comb

Test = Callable[[frozenset[int]], bool | None]
"""True: the set suffices. False: it does not. None: unknown, and treated as if it did not."""
Cost = Callable[[frozenset[int]], float]
"""The work of testing a set."""


@dataclass(frozen=True)
class SufficientSet:
    """A set of items that suffices."""

    items: tuple[int, ...]
    """Ascending."""
    irreducible: bool
    """True if it is proved that no item can be left out."""
    smallest: bool
    """True if it is proved that no smaller set suffices."""


class _OutOfWorkError(Exception):
    """The work limit is reached."""


@dataclass(eq=False)
class _Tests:
    """Remembers the tests and adds up their cost; it stops before ``work`` is exceeded."""

    suffices: Test
    cost: Cost
    work: float
    proved: bool = True
    """False once a test had no answer."""
    _known: dict[frozenset[int], bool] = field(default_factory=dict)

    def __call__(self, items: Iterable[int]) -> bool:
        asked = frozenset(items)
        if asked not in self._known:
            self.work -= self.cost(asked)
            if self.work < 0:
                raise _OutOfWorkError
            answer = self.suffices(asked)
            self.proved &= answer is not None
            self._known[asked] = bool(answer)
        return self._known[asked]


def smallest_sufficient_set(
    items: Sequence[int], suffices: Test, *, work: float, cost: Cost = lambda _: 1.0
) -> SufficientSet | None:
    """A set of ``items`` that suffices, the likeliest items first; None if no set was found within the ``work``.

    ``cost`` is the work of testing a set.

    >>> smallest_sufficient_set(range(6), lambda s: {1, 4} <= s or {0, 2, 3} <= s, work=100)
    SufficientSet(items=(1, 4), irreducible=True, smallest=True)
    """
    test = _Tests(suffices, cost, work)
    found: list[int] | None = None
    try:
        found = _prefix(items, test)
        if found is None:
            return None
        found = irreducible(found, test)
    except _OutOfWorkError:
        return (
            None if found is None else SufficientSet(tuple(sorted(found)), irreducible=False, smallest=False)
        )
    proved = test.proved
    try:
        least = _smallest(items, found, test)
    except _OutOfWorkError:
        return SufficientSet(tuple(sorted(found)), irreducible=proved, smallest=False)
    return SufficientSet(tuple(sorted(least)), irreducible=test.proved, smallest=test.proved)


def irreducible(items: Sequence[int], suffices: Callable[[list[int]], bool]) -> list[int]:
    """A part of ``items``, which suffice, from which nothing can be left out: late items are left out first.

    Leaves out every part without which the rest suffices, halves first, then halves of halves (Junker's QuickXplain):
    about ``k · log2(n / k)`` tests for k of n items. Each item of the result was tried alone with a set that contains
    the result, so none can be left out. ``suffices`` may be asked the same twice.

    >>> irreducible(range(100), lambda some: {7, 40, 41} <= set(some))
    [7, 40, 41]
    """
    kept: list[int] = []
    # The far items are tried first: the near ones are the likelier reason.
    waiting = [list(items)]
    while waiting:
        part = waiting.pop()
        if not part:
            continue
        rest = [*kept, *(item for other in waiting for item in other)]
        if suffices(rest):
            continue
        if len(part) == 1:
            kept += part
            continue
        half = len(part) // 2
        waiting += [part[:half], part[half:]]
    return sorted(kept)


def smallest(
    items: Sequence[int], suffices: Callable[[list[int]], bool], *, most: int
) -> tuple[list[int], bool]:
    """An irreducible part of ``items``, which suffice, and whether it is proven that none is smaller.

    The proof tests every smaller set; it is tried if these are at most ``most`` sets in all.

    >>> smallest(range(9), lambda some: {2, 5} <= set(some) or {0, 1, 3} <= set(some), most=100)
    ([2, 5], True)
    """
    test = _Tests(lambda some: suffices(sorted(some)), cost=lambda _: 0.0, work=0.0)
    small = irreducible(items, test)
    if sum(comb(len(items), size) for size in range(1, len(small))) > most:
        return small, False
    for size in range(1, len(small)):
        for some in combinations(items, size):
            if test(some):
                return list(some), True
    return small, True


def _prefix(items: Sequence[int], test: _Tests) -> list[int] | None:
    """The shortest of the beginnings of 0, 1, 2, 4, 8, … items that suffices; None if all items do not."""
    size = 0
    while not test(items[:size]):
        if size >= len(items):
            return None
        size = min(max(2 * size, 1), len(items))
    return list(items[:size])


def _smallest(items: Sequence[int], found: list[int], test: _Tests) -> list[int]:
    """A smallest sufficient set, given an irreducible one."""
    lacking: list[frozenset[int]] = []
    while True:
        # At most the size of the set that is already there, which then needs no test.
        candidate = _hitting_set(lacking, below=len(found))
        if candidate is None:
            return found
        if test(candidate):
            return sorted(candidate)
        lacking.append(frozenset(items) - _largest_insufficient(candidate, items, test))


def _largest_insufficient(start: frozenset[int], items: Sequence[int], test: _Tests) -> frozenset[int]:
    """Add all items that leave the set insufficient, in growing and shrinking runs."""
    grown, rest, run = set(start), [item for item in items if item not in start], 1
    while rest:
        part = rest[-run:]
        if not test([*grown, *part]):
            grown.update(part)
            del rest[-run:]
            run = 2 * run
        elif run == 1:
            del rest[-1:]
        else:
            run = max(run // 2, 1)
        run = max(min(run, len(rest)), 1)
    return frozenset(grown)


def _hitting_set(sets: list[frozenset[int]], *, below: int) -> frozenset[int] | None:
    """A smallest set that has an item of each of the sets; None if it would have ``below`` items or more."""
    for size in range(below):
        found = _hitting_of_size(sets, size)
        if found is not None:
            return found
    return None


def _hitting_of_size(sets: list[frozenset[int]], size: int) -> frozenset[int] | None:
    if not sets:
        return frozenset()
    if size == 0:
        return None
    shortest = min(range(len(sets)), key=lambda at: len(sets[at]))
    for item in sorted(sets[shortest]):
        inner = _hitting_of_size([each for each in sets if item not in each], size - 1)
        if inner is not None:
            return inner | {item}
    return None
