"""Parts of the answers that have nothing to do with each other, made as small as simple deductions allow.

Sums are counted in steps above people · floor of their atom, so that every atom's sum begins at 0.
"""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from equivoc.systems.integer_solutions import integer_solutions
from equivoc.systems.posteriors.sum_tables import CAP, FLOOR, AtomDomain
from equivoc.systems.runs import linked, overlaps
from equivoc.systems.system import AnswerSystem, ContradictionError, KnownMoment

Pairs = tuple[NDArray[np.int64], NDArray[np.int64], NDArray[np.int64]]
_MOST_ROUNDS = 50
_MOST_NESTED_PAIRS = 20_000
_MOST_MATRIX_ENTRIES = 3e7


@dataclass(frozen=True, eq=False)
class Component:
    """Atoms that known sums, extremes or moments link, and what is known about their sums."""

    atoms: NDArray[np.int64]
    """Their numbers in the system; every other number below is a place in this array."""
    rows: tuple[NDArray[np.int64], ...] = field(repr=False)
    """The atoms of each known sum."""
    totals: tuple[int, ...]
    asked: tuple[NDArray[np.int64], ...] = field(repr=False)
    """The same equations as they were asked: each answered query set, without atoms whose sum is known."""
    low: NDArray[np.int64] = field(repr=False)
    high: NDArray[np.int64] = field(repr=False)
    """Each atom's sum lies between these."""
    extremes: tuple[tuple[tuple[int, int], ...], ...]
    """For each MIN or MAX, the (atom, flag) of which at least one must be raised."""
    moments: tuple[KnownMoment, ...]
    """With the system's own numbers of atoms."""
    nested: bool
    """The answered sums that these atoms are in are disjoint or nested."""


@dataclass(frozen=True, eq=False)
class Parts:
    """All components of a system, and the values that a person of each atom may have."""

    domains: tuple[AtomDomain, ...]
    components: tuple[Component, ...]
    free: NDArray[np.int64]
    """Atoms that no answer says anything about."""


def parts(
    system: AnswerSystem,
    prior: NDArray[np.float64],
    bounds: tuple[NDArray[np.int64], NDArray[np.int64]] | None = None,
    *,
    moments: bool = True,
) -> Parts:
    """Split the answers into components; ContradictionError if simple deductions find a contradiction."""
    domains, extremes = _domains(system, prior)
    sizes = system.atoms.sizes
    floors = np.array([domain.floor for domain in domains], dtype=np.int64)
    low = np.zeros(len(sizes), dtype=np.int64)
    high = np.array([domain.steps for domain in domains], dtype=np.int64) * sizes
    if bounds is not None:
        low = np.maximum(low, np.asarray(bounds[0], dtype=np.int64) - floors * sizes)
        high = np.minimum(high, np.asarray(bounds[1], dtype=np.int64) - floors * sizes)
    matrix = system.matrix.tocsr()
    rows = [
        matrix.indices[matrix.indptr[r] : matrix.indptr[r + 1]].astype(np.int64)
        for r in range(matrix.shape[0])
    ]
    totals = [int(t - floors[row] @ sizes[row]) for t, row in zip(system.totals, rows, strict=True)]
    kept = system.moments if moments else ()
    used = np.zeros(len(sizes), dtype=bool)
    for members in [*rows, *(e.atoms for e in system.extremes), *(k.atoms for k in kept)]:
        used[members] = True
    pairs = overlaps(rows, len(sizes))
    crossing = _crossing(rows, pairs, len(sizes))
    asked = rows
    rows, totals = _without_nested(rows, totals, pairs)
    rows, totals = _deduce(rows, totals, low, high)
    found = _split(used, rows, totals, asked, low, high, extremes, kept, crossing)
    return Parts(domains, found, np.flatnonzero(~used))


def _domains(
    system: AnswerSystem, prior: NDArray[np.float64]
) -> tuple[tuple[AtomDomain, ...], list[tuple[tuple[int, int], ...]]]:
    """Each atom's values, and for each extreme the (atom, flag) that can attain it."""
    positions = system.grid.positions
    count = len(system.atoms)
    floor = np.full(count, positions[0])
    cap = np.full(count, positions[-1])
    for known in system.extremes:
        if known.kind == "max":
            cap[known.atoms] = np.minimum(cap[known.atoms], known.position)
        else:
            floor[known.atoms] = np.maximum(floor[known.atoms], known.position)
    flags = np.zeros(count, dtype=np.int64)
    possible = set(positions[prior > 0].tolist())
    wanted = []
    for known in system.extremes:
        end, flag = (cap, CAP) if known.kind == "max" else (floor, FLOOR)
        attaining = (
            known.atoms[end[known.atoms] == known.position] if known.position in possible else known.atoms[:0]
        )
        attaining = attaining[floor[attaining] <= cap[attaining]]
        if not len(attaining):
            raise ContradictionError(
                f"The {known.kind.upper()} of question {known.question} cannot be right: nobody can have that value."
            )
        flags[attaining] |= flag
        wanted.append(tuple((int(atom), flag) for atom in attaining))
    cache: dict[tuple[int, int, int], AtomDomain] = {}
    result = []
    for key in zip(floor.tolist(), cap.tolist(), flags.tolist(), strict=True):
        if key not in cache:
            cache[key] = _domain(positions, prior, *key)
        result.append(cache[key])
    return tuple(result), wanted


def _domain(
    positions: NDArray[np.int64], prior: NDArray[np.float64], floor: int, cap: int, flags: int
) -> AtomDomain:
    columns = np.flatnonzero((positions >= floor) & (positions <= cap) & (prior > 0))
    if not len(columns):
        raise ContradictionError("Two MIN and MAX answers contradict each other: no value is between them.")
    least = int(positions[columns[0]])
    return AtomDomain(tuple((positions[columns] - least).tolist()), least, tuple(columns.tolist()), flags)


def _crossing(rows: list[NDArray[np.int64]], pairs: Pairs, atoms: int) -> NDArray[np.bool_]:
    """Per atom: it is in a known sum that partly overlaps another one."""
    found = np.zeros(atoms, dtype=bool)
    one, other, shared = pairs
    sizes = np.array([len(row) for row in rows], dtype=np.int64)
    partial = (shared < sizes[one]) & (shared < sizes[other])
    for row in np.unique(one[partial]):
        found[rows[row]] = True
    return found


def _without_nested(
    rows: list[NDArray[np.int64]], totals: list[int], pairs: Pairs
) -> tuple[list[NDArray[np.int64]], list[int]]:
    """Subtract from each sum the sums of sets inside it, largest first, so that few atoms remain in each."""
    one, other, shared = pairs
    sizes = np.array([len(row) for row in rows], dtype=np.int64)
    inside = (shared == sizes[one]) & (shared < sizes[other])
    if inside.sum() > _MOST_NESTED_PAIRS:
        return rows, totals
    holds: dict[int, list[int]] = {}
    for small, big in zip(one[inside].tolist(), other[inside].tolist(), strict=True):
        holds.setdefault(big, []).append(small)
    whole = [frozenset(row.tolist()) for row in rows]
    sets, left = [set(members) for members in whole], list(totals)
    for big, smaller in holds.items():
        for small in sorted(smaller, key=lambda r: (-len(whole[r]), r)):
            if whole[small] <= sets[big]:
                sets[big] -= whole[small]
                left[big] -= totals[small]
    return [np.array(sorted(s), dtype=np.int64) for s in sets], left


def _deduce(
    rows: list[NDArray[np.int64]],
    totals: list[int],
    low: NDArray[np.int64],
    high: NDArray[np.int64],
) -> tuple[list[NDArray[np.int64]], list[int]]:
    """Narrow ``low`` and ``high`` in place, take atoms with a known sum out of the rows, until nothing changes."""
    for _ in range(_MOST_ROUNDS):
        before = (low.sum(), high.sum(), len(rows))
        for row, total in zip(rows, totals, strict=True):
            least, most = low[row].sum(), high[row].sum()
            before_low = low[row]
            low[row] = np.maximum(before_low, total - most + high[row])
            high[row] = np.minimum(high[row], total - least + before_low)
        if (low > high).any():
            raise ContradictionError()
        rows, totals = _take_out(rows, totals, low, high)
        if before == (low.sum(), high.sum(), len(rows)):
            break
    if _fix_by_elimination(rows, totals, low, high):
        return _deduce(*_take_out(rows, totals, low, high), low, high)
    return rows, totals


def _take_out(
    rows: list[NDArray[np.int64]],
    totals: list[int],
    low: NDArray[np.int64],
    high: NDArray[np.int64],
) -> tuple[list[NDArray[np.int64]], list[int]]:
    kept: dict[tuple[int, ...], int] = {}
    for row, total in zip(rows, totals, strict=True):
        known = low[row] == high[row]
        rest, left = row[~known], int(total - low[row[known]].sum())
        key = tuple(rest.tolist())
        if kept.setdefault(key, left) != left or (not len(rest) and left):
            raise ContradictionError()
    kept.pop((), None)
    return [np.array(key, dtype=np.int64) for key in kept], list(kept.values())


def _fix_by_elimination(
    rows: list[NDArray[np.int64]],
    totals: list[int],
    low: NDArray[np.int64],
    high: NDArray[np.int64],
) -> bool:
    """Find atoms whose sum the equations determine. True if there are any."""
    changed = False
    for members, own in _linked_groups(rows, len(low)):
        if len(own) * len(members) > _MOST_MATRIX_ENTRIES:
            continue
        place = {atom: i for i, atom in enumerate(members)}
        dense = np.zeros((len(own), len(members)), dtype=np.int64)
        for r, row in enumerate(own):
            dense[r, [place[atom] for atom in rows[row].tolist()]] = 1
        try:
            solved = integer_solutions(dense, np.array([totals[row] for row in own], dtype=np.int64))
        except OverflowError:
            continue
        if solved is None:
            raise ContradictionError()
        for i in np.flatnonzero(
            np.bincount(solved.moves.indices[solved.moves.data != 0], minlength=len(members)) == 0
        ):
            value, atom = int(solved.point[i]), members[i]
            if not low[atom] <= value <= high[atom]:
                raise ContradictionError()
            low[atom] = high[atom] = value
            changed = True
    return changed


def _linked_groups(rows: list[NDArray[np.int64]], atoms: int) -> list[tuple[list[int], list[int]]]:
    """Groups of (atoms, rows) that rows link."""
    if not rows:
        return []
    label = linked(rows, atoms)
    groups: dict[int, tuple[list[int], list[int]]] = {}
    for r, row in enumerate(rows):
        groups.setdefault(int(label[row[0]]), ([], []))[1].append(r)
    for atom in np.unique(np.concatenate(rows)).tolist():
        groups[int(label[atom])][0].append(atom)
    return list(groups.values())


def _split(
    used: NDArray[np.bool_],
    rows: list[NDArray[np.int64]],
    totals: list[int],
    asked: list[NDArray[np.int64]],
    low: NDArray[np.int64],
    high: NDArray[np.int64],
    extremes: list[tuple[tuple[int, int], ...]],
    moments: tuple[KnownMoment, ...],
    crossing: NDArray[np.bool_],
) -> tuple[Component, ...]:
    links = [*rows, *(np.array(sorted({a for a, _ in e})) for e in extremes), *(k.atoms for k in moments)]
    label = linked(links, len(used))
    members: dict[int, list[int]] = {}
    for atom in np.flatnonzero(used).tolist():
        members.setdefault(int(label[atom]), []).append(atom)
    own_rows: dict[int, list[int]] = {}
    for r, row in enumerate(rows):
        own_rows.setdefault(int(label[row[0]]), []).append(r)
    own_extremes: dict[int, list[tuple[tuple[int, int], ...]]] = {}
    for extreme in dict.fromkeys(extremes):
        own_extremes.setdefault(int(label[extreme[0][0]]), []).append(extreme)
    own_moments: dict[int, list[KnownMoment]] = {}
    for known in moments:
        own_moments.setdefault(int(label[known.atoms[0]]), []).append(known)
    own_asked: dict[int, set[tuple[int, ...]]] = {}
    for one in asked:
        unknown = one[low[one] < high[one]]
        for name in np.unique(label[unknown]).tolist():
            # Its part in another component is a sum of that component's own rows.
            own_asked.setdefault(name, set()).add(tuple(unknown[label[unknown] == name].tolist()))
    place = np.zeros(len(used), dtype=np.int64)
    found = []
    for name, atoms in members.items():
        place[atoms] = np.arange(len(atoms))
        found.append(
            Component(
                atoms=np.array(atoms, dtype=np.int64),
                rows=tuple(place[rows[r]] for r in own_rows.get(name, [])),
                totals=tuple(totals[r] for r in own_rows.get(name, [])),
                asked=tuple(place[list(one)] for one in sorted(own_asked.get(name, set()))),
                low=low[atoms],
                high=high[atoms],
                extremes=tuple(
                    tuple((int(place[a]), flag) for a, flag in e) for e in own_extremes.get(name, [])
                ),
                moments=tuple(own_moments.get(name, [])),
                nested=not crossing[atoms].any(),
            )
        )
    return tuple(found)
