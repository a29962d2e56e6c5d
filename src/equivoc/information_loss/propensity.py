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

from equivoc.information_loss.classing import classing
from equivoc.information_loss.model_records import model_records
from equivoc.information_loss.shown_table import ShownTable

Floats = NDArray[np.float64]
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
