"""The compiled walk over every wanted (subset of keys, class) pair; `noise_linkage` prepares and explains it.

All arrays that are indexed by key are handed on whole, with the key: cutting out a row costs a reference count per
call, which on short lists is as much as the work itself.
"""

import numpy as np
from numba import njit

# A weight below this share of the largest possible one counts as impossible. Factors never exceed 1, so all that is
# dropped on the way to a class stays below it too, and a class with a total above TRUSTED has lost nothing that
# a double could show. A class below TRUSTED is left to the caller, who has logarithms.
NEGLIGIBLE = 1e-290
TRUSTED = 1e-250


@njit(cache=True, nogil=True)  # type: ignore[misc]
def project(lists, weights, source, length, group, k):
    """Forget key k: neighbours of a list that agree on all that is left become one, with their joint weight.

    No branches: whether two neighbours agree is a coin toss to the processor's predictor. Each entry is written
    where the last one was unless it opens a group. The source may be the target.
    """
    kept = -1
    last = -1
    sum_so_far = 0.0
    for i in range(length):
        record = lists[source, i]
        opens = group[k + 1, record] != last
        last = group[k + 1, record]
        kept += opens
        sum_so_far = weights[source, i] + (0.0 if opens else sum_so_far)
        lists[k + 1, kept] = record
        weights[k + 1, kept] = sum_so_far
    return kept + 1


@njit(cache=True, nogil=True)  # type: ignore[misc]
def restrict(lists, weights, length, released, likelihoods, begin, group, k):
    """Learn key k: weigh each record by how likely its released value is, drop the impossible, then project."""
    kept = 0
    for i in range(length):
        record = lists[k, i]
        weight = weights[k, i] * likelihoods[begin + released[k, record]]
        lists[k + 1, kept] = record
        weights[k + 1, kept] = weight
        kept += weight > NEGLIGIBLE
    return project(lists, weights, k + 1, kept, group, k)


@njit(cache=True, nogil=True)  # type: ignore[misc]
def partition(grouped, home, first, past, known, k, count, seen, start):
    """Sort the classes `grouped[home, first:past]` into runs of equal value; `start` receives where each begins.

    `count` is all zero on entry and on return, so that the cost is that of the members, not of the domain.
    """
    if past - first == 1:
        grouped[k + 1, 0] = grouped[home, first]
        start[k, 0] = 0
        start[k, 1] = 1
        return 1
    runs = 0
    for i in range(first, past):
        value = known[k, grouped[home, i]]
        if count[value] == 0:
            seen[runs] = value
            runs += 1
        count[value] += 1
    at = 0
    for run in range(runs):
        start[k, run] = at
        at += count[seen[run]]
        count[seen[run]] = start[k, run]
    start[k, runs] = at
    for i in range(first, past):
        value = known[k, grouped[home, i]]
        grouped[k + 1, count[value]] = grouped[home, i]
        count[value] += 1
    for run in range(runs):
        count[seen[run]] = 0
    return runs


@njit(cache=True, nogil=True)  # type: ignore[misc]
def walk(
    known, released, group, confidential, copies, likelihoods, likelihood_start, width, include, exclude, leaf, row, out
):
    """Fill `out[row[subset, class]]` with the normalised weights of every wanted subset and each of its classes.

    Depth first over the keys: at key k a node has its list of compatible released records and the classes that share
    the values chosen so far. It goes on without the key (one branch) and with it (one branch per value).
    A row that cannot be trusted in doubles is left all zero.
    """
    keys, classes = known.shape
    records = released.shape[1]
    lists = np.empty((keys + 1, records), np.uint32)
    weights = np.empty((keys + 1, records))
    length = np.zeros(keys + 1, np.int64)
    node = np.zeros(keys + 1, np.int64)
    # Classes of a node: grouped[home, first:past]. A node at key k writes its own sorting of them to grouped[k + 1].
    grouped = np.empty((keys + 1, classes), np.int32)
    home = np.zeros(keys + 1, np.int64)
    first = np.zeros(keys + 1, np.int64)
    past = np.zeros(keys + 1, np.int64)
    start = np.empty((keys + 1, classes + 1), np.int32)
    runs = np.zeros(keys + 1, np.int64)
    branch = np.zeros(keys + 1, np.int64)
    most = 1
    for key in range(keys):
        for i in range(classes):
            most = max(most, known[key, i] + 1)
    count = np.zeros(most, np.int32)
    seen = np.empty(classes, np.int32)

    for i in range(records):
        lists[0, i] = i
        weights[0, i] = copies[i]
    length[0] = records
    for i in range(classes):
        grouped[0, i] = i
    past[0] = classes
    branch[0] = -2
    k = 0
    while k >= 0:
        if k == keys:
            target = row[leaf[node[k]], grouped[home[k], first[k]]]
            total = 0.0
            for i in range(length[k]):
                total += weights[k, i]
            if total > TRUSTED:
                for i in range(length[k]):
                    out[target, confidential[lists[k, i]]] = weights[k, i] / total
            k -= 1
            continue
        if branch[k] == -2:
            branch[k] = -1
            runs[k] = 0
            if include[node[k]] >= 0:
                runs[k] = partition(grouped, home[k], first[k], past[k], known, k, count, seen, start)
            if exclude[node[k]] >= 0:
                length[k + 1] = project(lists, weights, k, length[k], group, k)
                node[k + 1] = exclude[node[k]]
                home[k + 1], first[k + 1], past[k + 1] = home[k], first[k], past[k]
                k += 1
                branch[k] = -2
                continue
        branch[k] += 1
        run = branch[k]
        if run == runs[k]:
            k -= 1
            continue
        first[k + 1], past[k + 1] = start[k, run], start[k, run + 1]
        home[k + 1] = k + 1
        value = known[k, grouped[k + 1, first[k + 1]]]
        begin = likelihood_start[k] + value * width[k]
        length[k + 1] = restrict(lists, weights, length[k], released, likelihoods, begin, group, k)
        node[k + 1] = include[node[k]]
        k += 1
        branch[k] = -2
