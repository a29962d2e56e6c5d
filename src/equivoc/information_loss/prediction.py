"""The loss of a model trained on the release and tested on people held out, beside one trained on the original.

A random forest predicts the confidential attribute from the keys. A seeded share of the people is held out, and neither
model sees their records. Where it is not known which released records are theirs (a file from another tool), both
models see the records of all people, so that neither has an advantage.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from equivoc.information_loss.classing import classing
from equivoc.information_loss.differences import deviation
from equivoc.information_loss.model_records import model_records
from equivoc.information_loss.shown_table import ShownTable

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
