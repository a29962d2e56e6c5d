"""The compiled walk over every wanted (subset of keys, class) pair; `noise_linkage` prepares it and explains it."""

import numpy as np
from numba import njit

# A weight below this share of the largest possible one counts as impossible. Factors never exceed 1, so all that is
# dropped on the way to a class stays below it too, and a class with a total above TRUSTED has lost nothing that
# a double could show. A class below TRUSTED is left to the caller, who has logarithms.
NEGLIGIBLE = 1e-290
TRUSTED = 1e-250


@njit(cache=True, nogil=True)  # type: ignore[misc]
def project(source, source_weight, length, group, target, target_weight):
    """Forget a key: neighbours of a list that agree on all that is left become one, with their joint weight."""
    kept = -1
    last = -1
    for i in range(length):
        record = source[i]
        if group[record] == last:
            target_weight[kept] += source_weight[i]
        else:
            kept += 1
            last = group[record]
            target[kept] = record
            target_weight[kept] = source_weight[i]
    return kept + 1


@njit(cache=True, nogil=True)  # type: ignore[misc]
def restrict(source, source_weight, length, released, likelihood, group, target, target_weight):
    """Learn a key: weigh each record by how likely its released value is, drop the impossible, then project."""
    kept = -1
    last = -1
    for i in range(length):
        record = source[i]
        weight = source_weight[i] * likelihood[released[record]]
        if weight > NEGLIGIBLE:
            if group[record] == last:
                target_weight[kept] += weight
            else:
                kept += 1
                last = group[record]
                target[kept] = record
                target_weight[kept] = weight
    return kept + 1


@njit(cache=True, nogil=True)  # type: ignore[misc]
def partition(members, first, past, values, count, seen, grouped, start):
    """Sort the classes `members[first:past]` into runs of equal value; `start` receives where each run begins.

    `count` is all zero on entry and on return, so that the cost is that of the members, not of the domain.
    """
    runs = 0
    for i in range(first, past):
        value = values[members[i]]
        if count[value] == 0:
            seen[runs] = value
            runs += 1
        count[value] += 1
    at = 0
    for run in range(runs):
        start[run] = at
        at += count[seen[run]]
        count[seen[run]] = start[run]
    start[runs] = at
    for i in range(first, past):
        value = values[members[i]]
        grouped[count[value]] = members[i]
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
    lists = np.empty((keys + 1, records), np.int32)
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
            target = out[row[leaf[node[k]], grouped[home[k], first[k]]]]
            total = 0.0
            for i in range(length[k]):
                total += weights[k, i]
            if total > TRUSTED:
                for i in range(length[k]):
                    target[confidential[lists[k, i]]] = weights[k, i] / total
            k -= 1
            continue
        if branch[k] == -2:
            branch[k] = -1
            runs[k] = 0
            if include[node[k]] >= 0:
                runs[k] = partition(
                    grouped[home[k]], first[k], past[k], known[k], count, seen, grouped[k + 1], start[k]
                )
            if exclude[node[k]] >= 0:
                length[k + 1] = project(
                    lists[k], weights[k], length[k], group[k + 1], lists[k + 1], weights[k + 1]
                )
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
        length[k + 1] = restrict(
            lists[k], weights[k], length[k], released[k], likelihoods[begin : begin + width[k]],
            group[k + 1], lists[k + 1], weights[k + 1],
        )  # fmt: skip
        node[k + 1] = include[node[k]]
        k += 1
        branch[k] = -2
