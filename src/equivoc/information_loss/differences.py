"""How far the released table's distributions, averages and associations lie from the original's."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import combinations

import numpy as np
from numpy.typing import NDArray

from equivoc.information_loss.loss import Loss
from equivoc.information_loss.shown_table import ShownColumn, ShownTable, numeric_names
from equivoc.number_format import figure, probability

Floats = NDArray[np.float64]
BINS = 10
QUARTILES = (0.25, 0.5, 0.75)


def distribution_losses(original: ShownTable, released: ShownTable) -> Iterator[Loss]:
    """Per attribute: Wasserstein distance / standard deviation of numbers, total variation distance of categories."""
    from scipy.stats import wasserstein_distance

    for name, column in original.columns.items():
        own, there = column.weighted(original.weights), released[name].weighted(released.weights)
        if column.numeric:
            sd = spread(column, original.weights)
            found = float(wasserstein_distance(own[0], there[0], own[1], there[1])) / sd
            yield Loss(
                "distribution",
                name,
                found,
                f"values of {name} must move by {figure(found)} of its standard deviation on average to make the two "
                "distributions equal",
            )
            continue
        found = _total_variation(*own, *there)
        yield Loss(
            "distribution",
            name,
            found,
            f"a share of {probability(found)} of the records would need another {name} to make the two distributions "
            "equal",
        )


def average_losses(original: ShownTable, released: ShownTable) -> Iterator[Loss]:
    """Per number attribute: the largest difference of mean and quartiles, in standard deviations."""
    for name in numeric_names(original):
        column, there = original[name], released[name]
        own, shown = (_averages(*c.weighted(t.weights)) for c, t in ((column, original), (there, released)))
        found = float(np.abs(own - shown).max()) / spread(column, original.weights)
        yield Loss(
            "averages",
            name,
            found,
            f"the mean or a quartile of {name} is off by {figure(found)} of its standard deviation",
        )


def association_losses(original: ShownTable, released: ShownTable) -> Iterator[Loss]:
    """The mean absolute difference of correlations, and the mean total variation distance of two-way tables."""
    names = numeric_names(original)
    if len(names) > 1:
        own, there = (_correlations(table, names) for table in (original, released))
        found = float(np.abs(own - there)[np.triu_indices(len(names), 1)].mean())
        yield Loss(
            "correlations",
            "",
            found,
            f"correlations of two number columns are off by {figure(found)} on average",
        )
    edges = {name: _edges(column, original.weights) for name, column in original.columns.items()}
    own_bins, shown_bins = (
        {name: table[name].binned(edges[name]) for name in original.columns} for table in (original, released)
    )
    distances = []
    for one, other in combinations(original.columns, 2):
        pair = [
            (bins[one] * table.weights[:, None]).T @ bins[other] / table.weights.sum()
            for bins, table in ((own_bins, original), (shown_bins, released))
        ]
        distances.append(0.5 * float(np.abs(pair[0] - pair[1]).sum()))
    if distances:
        found = float(np.mean(distances))
        yield Loss(
            "two_way_tables",
            "",
            found,
            f"a share of {probability(found)} of the records would need another cell to make the tables of two columns "
            f"equal, on average over the pairs (numbers in {BINS} classes)",
        )


def spread(column: ShownColumn, weights: Floats) -> float:
    """The standard deviation of the original; 1 if all its values are equal."""
    at, share = column.weighted(weights)
    mean = np.average(at, weights=share)
    found = float(np.sqrt(np.average((at - mean) ** 2, weights=share)))
    return found if found > 0 else 1.0


def _total_variation(at: Floats, share: Floats, other_at: Floats, other_share: Floats) -> float:
    places, of = np.unique(np.concatenate([at, other_at]), return_inverse=True)
    own = np.bincount(of[: len(at)], share / share.sum(), minlength=len(places))
    there = np.bincount(of[len(at) :], other_share / other_share.sum(), minlength=len(places))
    return 0.5 * float(np.abs(own - there).sum())


def _averages(at: Floats, share: Floats) -> Floats:
    """The mean and the quartiles of weighted numbers."""
    order = np.argsort(at, kind="stable")
    reached = np.cumsum(share[order]) / share.sum()
    quartiles = at[order][np.minimum(np.searchsorted(reached, np.array(QUARTILES) - 1e-12), len(at) - 1)]
    return np.array([np.average(at, weights=share), *quartiles])


def _correlations(table: ShownTable, names: list[str] | tuple[str, ...]) -> Floats:
    """Correlations of the records' numbers, weighted; 0 with a column whose numbers are all equal."""
    numbers = np.stack([table[name].means for name in names])
    share = table.weights / table.weights.sum()
    centred = numbers - (numbers @ share)[:, None]
    covariance = (centred * share) @ centred.T
    sd = np.sqrt(np.diag(covariance))
    both = np.outer(sd, sd)
    return np.asarray(np.divide(covariance, both, out=np.zeros_like(covariance), where=both > 0))


def _edges(column: ShownColumn, weights: Floats) -> Floats:
    """Inner edges: between all categories, or between classes of about equal numbers of records."""
    at, share = column.weighted(weights)
    places = np.unique(at)
    if not column.numeric or len(places) <= BINS:
        return np.asarray((places[1:] + places[:-1]) / 2)
    order = np.argsort(at, kind="stable")
    reached = np.cumsum(share[order]) / share.sum()
    cuts = at[order][np.searchsorted(reached, np.arange(1, BINS) / BINS)]
    return np.unique(cuts)
