"""Can a model tell released records from original ones? The pMSE ratio.

A logistic regression predicts whether a record of the stacked tables is a released one, from the classes of each column
and from the pairs (key, confidential attribute). With c the share of released records, N the number of all and p̂ the
predictions, ``pMSE = mean (p̂ − c)²``. If the release were drawn afresh from the original file's distribution, its
expectation would be ``(k − 1)·c·(1 − c)² / N`` with k parameters. Divided by it, the figure is about 1 for such a
redraw and 0 for the original itself.

Source: J. Snoke, G. M. Raab, B. Nowok, C. Dibben and A. Slavković, *General and specific utility measures for
synthetic data* (JRSS A 181, 2018).
"""

from __future__ import annotations

import warnings
from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from equivoc.information_loss.differences import classing, deviation
from equivoc.information_loss.shown_table import ShownTable

# The records on which models of a table are trained: those of a file, or as many as a table counts in each
# cell.

MOST_RECORDS = 200_000
"""Of a larger file, so many records are drawn from a seed; of a table, with probabilities by its counts."""


def model_records(table: ShownTable, seed: int) -> NDArray[np.int64]:
    """Rows of the table: every record of a file once; every cell as often as it counts, negative counts as 0."""
    random = np.random.default_rng(seed)
    if table.of_records:
        if len(table) <= MOST_RECORDS:
            return np.arange(len(table))
        return np.sort(random.choice(len(table), size=MOST_RECORDS, replace=False))
    counts = np.maximum(table.weights, 0.0)
    total = counts.sum()
    if total <= MOST_RECORDS:
        return np.repeat(np.arange(len(counts)), counts.astype(np.int64))
    return np.sort(random.choice(len(counts), size=MOST_RECORDS, p=counts / total))


# The loss of a model trained on the release and tested on people held out, beside one trained on the
# original.
#
# A random forest predicts the confidential attribute from the keys. A seeded share of the people is held out,
# and neither model sees their records. Where it is not known which released records are theirs (a file from
# another tool), both models see the records of all people, so that neither has an advantage.

Floats = NDArray[np.float64]
HELD_OUT = 0.3
FEWEST_PEOPLE = 20
TREES = 20
LEAF = 5
MOST_DRAWN = 10_000
"""Records that a tree is grown from, at most."""
MOST_CATEGORIES = 20
"""Categories that a model distinguishes; all others are one."""


def prediction_loss(
    original: ShownTable, released: ShownTable, *, confidential: str, seed: int
) -> float | None:
    """How much worse the release's model is: root mean square error in standard deviations, or share of wrong classes.

    0 if it is no worse. None if there are no keys, or too few people or released records.
    """
    if len(original.columns) < 2 or len(original) < FEWEST_PEOPLE:
        return None
    held_out = held_out_people(len(original), seed)
    test = np.flatnonzero(held_out)
    trained = []
    for table in (original, released):
        records = model_records(table, seed)
        if released.origins is not None and table.origins is not None:
            records = records[~held_out[table.origins[records]]]
        if len(records) < LEAF:
            return None
        trained.append(_error(table, records, original, test, confidential, seed))
    return max(0.0, trained[1] - trained[0])


def held_out_people(people: int, seed: int) -> NDArray[np.bool_]:
    """Which people are held out: a fixed share, drawn from the seed."""
    chosen = np.random.default_rng(seed).permutation(people)[: round(HELD_OUT * people)]
    held = np.zeros(people, dtype=np.bool_)
    held[chosen] = True
    return held


def _error(
    table: ShownTable,
    records: NDArray[np.int64],
    original: ShownTable,
    test: NDArray[np.int64],
    confidential: str,
    seed: int,
) -> float:
    from sklearn.ensemble import RandomForestClassifier, RandomForestRegressor

    keys = [key for key in original.columns if key != confidential]
    features = np.column_stack([_ranks(original, key, table[key].points[records]) for key in keys])
    known = np.column_stack([_ranks(original, key, original[key].points[test]) for key in keys])
    target, true = table[confidential].points[records], original[confidential].points[test]
    # In a fixed order, so that the order of the released records does not matter.
    order = np.lexsort((target, *features.T))
    features, target = features[order], target[order]
    options = {
        "n_estimators": TREES,
        "min_samples_leaf": LEAF,
        "max_samples": min(len(order), MOST_DRAWN),
        "random_state": seed % 2**32,
        "n_jobs": 1,
    }
    if original[confidential].numeric:
        unit = deviation(original, confidential)
        forest = RandomForestRegressor(**options).fit(features, target / unit)
        return float(np.sqrt(np.mean((forest.predict(known) - true / unit) ** 2)))
    classes = classing(original, confidential, most=MOST_CATEGORIES)
    forest = RandomForestClassifier(**options).fit(features, classes.of(target))
    return float(np.mean(forest.predict(known) != classes.of(true)))


def _ranks(original: ShownTable, name: str, points: Floats) -> Floats:
    """Ranks among the original's places: trees need no more, and they compute in single precision."""
    places = np.unique(original[name].at)
    below, above = np.searchsorted(places, points), np.searchsorted(places, points, side="right")
    return np.asarray((below + above) / 2)


Ints = NDArray[np.int64]
CLASSES = 10
"""Of each column, at most."""
PAIR_CLASSES = 4
"""Of each of the two columns of a pair, at most."""
WEAK_PENALTY = 1e4
"""scikit-learn's C: just enough for predictions where a class occurs in one table only."""
SMALLEST = 1e-10
"""A smaller pMSE is the error of the solver."""


def pmse_ratio(original: ShownTable, released: ShownTable, *, confidential: str, seed: int) -> float | None:
    """The pMSE divided by that of a redraw; None if there is nothing to tell: no records, or equal ones only."""
    tables = (original, released)
    records = [model_records(table, seed) for table in tables]
    if not len(records[1]):
        return None
    features = _features(tables, records, confidential)
    is_released = np.repeat([False, True], [len(each) for each in records])
    parameters = _rank(features)
    if not parameters:
        return None
    share = float(is_released.mean())
    found = float(np.mean((_predictions(features, is_released) - share) ** 2))
    return found / redraw_pmse(parameters, share, len(is_released)) if found > SMALLEST else 0.0


def redraw_pmse(parameters: int, share: float, records: int) -> float:
    """The expected pMSE if the release were drawn afresh from the original's distribution.

    ``parameters`` without the intercept; ``share`` of the released among all ``records``.

    >>> redraw_pmse(4, 0.5, 200)
    0.0025
    """
    return parameters * share * (1 - share) ** 2 / records


def _predictions(features: Any, is_released: NDArray[np.bool_]) -> Floats:
    """The probability of each record to be a released one."""
    from scipy.linalg import LinAlgWarning
    from sklearn.exceptions import ConvergenceWarning
    from sklearn.linear_model import LogisticRegression

    model = LogisticRegression(C=WEAK_PENALTY, solver="newton-cholesky", max_iter=100, tol=1e-6)
    with warnings.catch_warnings():
        # Where the solver cannot improve any more, for example with equal tables, it says so and tries another one.
        warnings.simplefilter("ignore", ConvergenceWarning)
        warnings.simplefilter("ignore", LinAlgWarning)
        model.fit(features, is_released)
    return np.asarray(model.predict_proba(features)[:, 1], dtype=np.float64)


def _features(tables: tuple[ShownTable, ShownTable], records: Sequence[Ints], confidential: str) -> Any:
    """Rows of both tables × the probabilities of all classes but one of each column, and of pairs of classes; CSR."""
    from scipy.sparse import csr_array, hstack

    names = list(tables[0].columns)
    found = [_class_shares(tables, records, name, CLASSES) for name in names]
    own = _class_shares(tables, records, confidential, PAIR_CLASSES).tocsc()
    for name in names:
        if name != confidential:
            theirs = _class_shares(tables, records, name, PAIR_CLASSES)
            found += [theirs.multiply(own[:, [place]]) for place in range(own.shape[1])]
    return csr_array(hstack(found, format="csr"))


def _class_shares(
    tables: tuple[ShownTable, ShownTable], records: Sequence[Ints], name: str, most: int
) -> Any:
    """The probabilities of all classes of a column but the first, CSR."""
    from scipy.sparse import csr_array, vstack

    classes = classing(tables[0], name, most=most)
    return vstack(
        [
            csr_array(classes.by_symbol(table[name])[:, 1:])[table[name].codes[each]]
            for table, each in zip(tables, records, strict=True)
        ],
        format="csr",
    )


def _rank(features: Any) -> int:
    """The number of parameters besides the intercept that the records can determine."""
    mean = np.asarray(features.mean(axis=0))
    covariance = (features.T @ features).toarray() / features.shape[0] - np.outer(mean, mean)
    return int(np.linalg.matrix_rank(covariance, tol=1e-10, hermitian=True))
