"""The compiled walk over every wanted (subset of keys, class) pair; `key_linkage` prepares and explains it.

Arrays with a row per key are passed whole, with the row's number: slicing costs a reference count per call,
as much as the work on such short lists.
"""

from typing import Any

import numpy as np
import numpy.typing as npt
from numba import njit

Ints = npt.NDArray[np.signedinteger[Any] | np.unsignedinteger[Any]]
Floats = npt.NDArray[np.float64]

# A weight below this share of the largest possible one counts as impossible. Factors never exceed 1, so every
# dropped weight stays below it, and a class with a total above TRUSTED loses nothing within double precision.
# A class below TRUSTED is recomputed by the caller with logarithms.
NEGLIGIBLE = 1e-290
TRUSTED = 1e-250

# What a node does next, besides the number of the value to branch on.
ENTER = -2
DONE_WITHOUT = -1


@njit(cache=True, nogil=True)
def project(lists: Ints, weights: Floats, source: int, length: int, groups: Ints, k: int) -> int:
    """Drop key k: neighbours of a list that agree on all remaining keys are merged, and their weights added.

    No branches, because they would be unpredictable: each entry is written to the same place as the last one,
    unless it starts a new group. The source may be the target.
    """
    kept = -1
    last = -1
    sum_so_far = 0.0
    for i in range(length):
        record = lists[source, i]
        opens = groups[k + 1, record] != last
        last = groups[k + 1, record]
        kept += opens
        sum_so_far = weights[source, i] + (0.0 if opens else sum_so_far)
        lists[k + 1, kept] = record
        weights[k + 1, kept] = sum_so_far
    return kept + 1


@njit(cache=True, nogil=True)
def restrict(
    lists: Ints,
    weights: Floats,
    length: int,
    released: Ints,
    likelihoods: Floats,
    begin: int,
    groups: Ints,
    k: int,
) -> int:
    """Apply known key k: multiply weights by the released values' likelihoods, drop impossible records, merge."""
    kept = 0
    for i in range(length):
        record = lists[k, i]
        weight = weights[k, i] * likelihoods[begin + released[k, record]]
        lists[k + 1, kept] = record
        weights[k + 1, kept] = weight
        kept += weight > NEGLIGIBLE
    return project(lists, weights, k + 1, kept, groups, k)


@njit(cache=True, nogil=True)
def pick(
    lists: Ints, weights: Floats, picked: Ints, first: int, past: int, copies: Floats, groups: Ints
) -> int:
    """Apply known key 0 if it is released unchanged: the records with the value were found beforehand."""
    for i in range(first, past):
        lists[1, i - first] = picked[i]
        weights[1, i - first] = copies[picked[i]]
    return project(lists, weights, 1, past - first, groups, 0)


@njit(cache=True, nogil=True)
def partition(
    members: Ints, home: int, first: int, past: int, known: Ints, k: int, count: Ints, seen: Ints, start: Ints
) -> int:
    """Sort the classes `members[home, first:past]` by key k into `members[k + 1]`; how many values there are.

    `start[k]` receives where each value begins. `count` is all zero on entry and on return, so that the cost
    is that of the members, not of the domain.
    """
    values = 0
    for i in range(first, past):
        value = known[k, members[home, i]]
        if count[value] == 0:
            seen[values] = value
            values += 1
        count[value] += 1
    at = 0
    for i in range(values):
        start[k, i] = at
        at += count[seen[i]]
        count[seen[i]] = start[k, i]
    start[k, values] = at
    for i in range(first, past):
        value = known[k, members[home, i]]
        members[k + 1, count[value]] = members[home, i]
        count[value] += 1
    for i in range(values):
        count[seen[i]] = 0
    return values


@njit(cache=True, nogil=True)
def enlarged(array: Any, filled: int, room: int) -> Any:
    """A longer copy of the array."""
    longer = np.empty(room, array.dtype)
    longer[:filled] = array[:filled]
    return longer


@njit(cache=True, nogil=True)
def walk(
    known: Ints,
    released: Ints,
    groups: Ints,
    confidential: Ints,
    copies: Floats,
    likelihoods: Floats,
    begins: Ints,
    widths: Ints,
    picked: Ints,
    picks: Ints,
    include: Ints,
    exclude: Ints,
    subset: Ints,
    rows: Ints,
    begin_of: Ints,
    length_of: Ints,
    table: Floats,
) -> tuple[Ints, Floats]:
    """The confidential ranks that are possible for each class, and their weights, normalised; row after row.

    Row `rows[subset, class]` of the result is `length_of` entries from `begin_of` on; a row with weights too
    small for double precision has length 0 and is recomputed with logarithms. If `table` has rows, the weights go there
    instead, at their rows and ranks, and the result is empty. `picked[picks[v]:picks[v + 1]]` are the records whose
    first key is v, where that key is released unchanged; else `picks` is empty.

    At key k a node has the list of records still possible, and the classes that share the values chosen so
    far. It goes on without the key (where `exclude` leads), then with it (`include`), once per value of those
    classes.
    """
    keys, classes = known.shape
    records = released.shape[1]
    lists = np.empty((keys + 1, records), np.uint32)
    weights = np.empty((keys + 1, records))
    length = np.zeros(keys + 1, np.int64)
    # A node's classes are members[home, first:past]; at key k it writes its own sorting of them to members[k
    # + 1].
    members = np.empty((keys + 1, classes), np.uint32)
    home = np.zeros(keys + 1, np.int64)
    first = np.zeros(keys + 1, np.int64)
    past = np.zeros(keys + 1, np.int64)
    start = np.empty((keys + 1, classes + 1), np.int64)
    values = np.zeros(keys + 1, np.int64)
    count = np.zeros(known.max() + 1 if known.size else 1, np.int64)
    seen = np.empty(classes, np.int64)
    node = np.zeros(keys + 1, np.int64)
    step = np.full(keys + 1, ENTER)

    lists[0] = np.arange(records)
    weights[0] = copies
    length[0] = records
    members[0] = np.arange(classes)
    past[0] = classes
    ranks = np.empty(1024, np.int32)
    shares = np.empty(1024)
    filled = 0
    k = 0
    while k >= 0:
        if k == keys:
            row = rows[subset[node[k]], members[home[k], first[k]]]
            total = 0.0
            for i in range(length[k]):
                total += weights[k, i]
            if total > TRUSTED and len(table) > 0:
                length_of[row] = length[k]
                for i in range(length[k]):
                    table[row, confidential[lists[k, i]]] = weights[k, i] / total
            elif total > TRUSTED:
                if filled + length[k] > len(ranks):
                    room = 2 * (filled + length[k])
                    ranks = enlarged(ranks, filled, room)
                    shares = enlarged(shares, filled, room)
                begin_of[row] = filled
                length_of[row] = length[k]
                for i in range(length[k]):
                    ranks[filled + i] = confidential[lists[k, i]]
                    shares[filled + i] = weights[k, i] / total
                filled += length[k]
            k -= 1
        elif step[k] == ENTER:
            step[k] = DONE_WITHOUT
            values[k] = 0
            if include[node[k]] >= 0:
                values[k] = partition(members, home[k], first[k], past[k], known, k, count, seen, start)
            if exclude[node[k]] >= 0:
                length[k + 1] = project(lists, weights, k, length[k], groups, k)
                home[k + 1], first[k + 1], past[k + 1] = home[k], first[k], past[k]
                node[k + 1] = exclude[node[k]]
                k += 1
                step[k] = ENTER
        else:
            step[k] += 1
            if step[k] == values[k]:
                k -= 1
                continue
            first[k + 1], past[k + 1] = start[k, step[k]], start[k, step[k] + 1]
            home[k + 1] = k + 1
            value = known[k, members[k + 1, first[k + 1]]]
            if k == 0 and len(picks) > 0:
                length[1] = pick(lists, weights, picked, picks[value], picks[value + 1], copies, groups)
            else:
                begin = begins[k] + value * widths[k]
                length[k + 1] = restrict(lists, weights, length[k], released, likelihoods, begin, groups, k)
            node[k + 1] = include[node[k]]
            k += 1
            step[k] = ENTER
    return ranks[:filled], shares[:filled]
