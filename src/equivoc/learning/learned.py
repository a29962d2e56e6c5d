"""The learned intruder: the posterior of each released record, with a prior for its keys learnt from the other records.

She knows P(released symbol | value) and the prior. From the release she learns how values depend on keys, by a
`ClassChain`, or a forest. Records are split into five folds. For each fold a model is
fitted by EM to the other four; models never share posteriors of a record (otherwise the likelihood rises while the true
values become less likely). A record's posterior is ``L_r(d)·π(d)`` with the prior of the model fitted without it. The
order of the keys (some may be left out), the strengths of shrinkage, the number of steps, and chain or forest are those
with the largest mean of ``log2 Σ_d L_r(d)·π_{x_r}(d)`` over records outside the model, on a random 50,000 of them in a
larger file.

More than 64 values are learnt in groups (`ValueGroups`).

Cost: the choice takes about keys² × folds × steps passes over 50,000 records at most, the fit folds × steps over all.
1,000,000 records × 4 keys × 25 values, PRAM on the values: 5 to 7 s, 0.5 GB (a chain). 2,500 records × 6 keys × 46
values: 1 to 2 s for a chain and a forest.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from itertools import islice
from typing import Any

import numpy as np
import numpy.typing as npt

from equivoc.errors import InputError
from equivoc.learning.chain import (
    FOLDS,
    HeldOutFile,
    ModelSettings,
    believed_values,
    best_chain,
    lengthened,
    score_of,
    score_of_prior,
)
from equivoc.learning.forest import best_forest
from equivoc.linkage.key_linkage import group

# Many values in groups of neighbours, so that learning how they depend on keys costs no more than for 64
# values.
#
# A model learns the probabilities of the groups. Inside a group the values keep the proportions of the given
# prior: ``P(symbol | group) = Σ_d P(symbol | d)·prior(d) / prior(group)``, and given group and symbol the
# value d has the probability ``P(symbol | d)·prior(d) / Σ``. Groups have about the same prior probability; up
# to 64 values each is its own group.

Floats = npt.NDArray[np.float64]
Ints = npt.NDArray[np.int64]
MOST_GROUPS = 64
ROWS_AT_A_TIME = 1024


@dataclass(frozen=True, eq=False)
class ValueGroups:
    """P(symbol | group of values), and P(value | its group, symbol)."""

    likelihood: Floats = field(repr=False)
    """Symbols × groups."""
    prior: Floats = field(repr=False)
    group_of: Ints = field(repr=False)
    """The group of each value."""
    within: Floats = field(repr=False)
    """Symbols × values: P(value | its group, symbol); empty if each value is its own group."""

    @classmethod
    def of(cls, likelihood: Floats, prior: Floats) -> ValueGroups:
        """``likelihood``: symbols × values; ``prior`` sums to 1."""
        values = len(prior)
        if values <= MOST_GROUPS:
            return cls(likelihood, prior, np.arange(values), np.empty((len(likelihood), 0)))
        place = ((np.cumsum(prior) - prior / 2) * MOST_GROUPS).astype(np.int64)
        opens = np.diff(place, prepend=-1) > 0
        group_of, first = np.cumsum(opens) - 1, np.flatnonzero(opens)
        total = np.add.reduceat(prior, first)
        alone = np.where(total[group_of] > 0, prior, 1.0)  # a group without prior probability: equal shares
        share = alone / np.add.reduceat(alone, first)[group_of]
        joint = likelihood * share
        grouped = np.add.reduceat(joint, first, axis=1)
        whole = grouped[:, group_of]
        within = np.divide(joint, whole, out=np.tile(share, (len(joint), 1)), where=whole > 0)
        flat = (likelihood == likelihood[:, :1]).all(axis=1)  # uninformative symbols, without rounding errors
        grouped[flat] = likelihood[flat, :1]
        return cls(grouped, total, group_of, within)

    def refined(self, posteriors: Floats, symbols: Ints) -> Floats:
        """Posteriors of groups, rows × groups, as posteriors of values; ``symbols`` has the symbol of each row."""
        if len(self.prior) == len(self.group_of):
            return posteriors
        found = self.within[symbols]
        for row in range(0, len(found), ROWS_AT_A_TIME):
            part = slice(row, row + ROWS_AT_A_TIME)
            found[part] *= posteriors[part][:, self.group_of]
        return found


CHOOSE_ON = 50_000
FOREST_UP_TO = 50_000
"""The most records for a forest."""
MOST_CELLS = 2**26
"""The most distinct records × values; a few tables of doubles of this size are in memory."""


@dataclass(frozen=True, eq=False)
class Learned:
    """A posterior for each released record, by a model fitted without it."""

    posteriors: Floats = field(repr=False)
    """Rows × values; equal records share a row."""
    evidence: Floats = field(repr=False)
    """For each row, P(released symbol | its keys), up to the likelihood's factor."""
    row_of: Ints = field(repr=False)
    """The row of each record."""
    settings: ModelSettings
    candidates: tuple[ModelSettings, ...]
    """The best of each model, the chosen one included."""
    symbols: Ints = field(repr=False)
    fold: Ints = field(repr=False)
    """Of each record."""
    target_evidence: Floats = field(repr=False)
    """Folds × targets × symbols: P(symbol | the target's keys) by the model without the fold."""

    def reweighted(self, linkage: Any) -> Any:
        """A linkage targets × records (CSR or dense) for changed keys, reweighted by the released values.

        If record r is the target's, its symbol follows her keys v, else its own released keys y_r: the weight is
        ``link(v, r) · P(c′_r | v) / P(c′_r | y_r)``. Both are by the model fitted without r; with P(c′_r | v) by a
        model that includes r, the surprise increased (six keys under PRAM: 2.137 bits, against 2.100 by the linkage
        alone and 2.074 by this). The linkage may be conditioned on the class size before or after: the results were
        equal.
        """
        from scipy.sparse import csr_array

        link = csr_array(linkage, dtype=np.float64, copy=True)
        target = np.repeat(np.arange(link.shape[0]), np.diff(link.indptr))
        own = self.evidence[self.row_of[link.indices]]
        hers = self.target_evidence[self.fold[link.indices], target, self.symbols[link.indices]]
        link.data *= np.divide(hers, own, out=np.ones_like(own), where=own > 0)
        return link

    def averaged(self, linkage: Any) -> Floats:
        """Posteriors of classes: the records' posteriors, weighted by a linkage classes × records (CSR or dense)."""
        from scipy.sparse import csr_array

        records = len(self.row_of)
        rows = csr_array(
            (np.ones(records), self.row_of, np.arange(records + 1)), shape=(records, len(self.posteriors))
        )
        link = csr_array(csr_array(linkage, dtype=np.float64) @ rows)
        return np.asarray((link @ self.posteriors) / np.asarray(link.sum(axis=1)).reshape(-1, 1))


def learn(
    keys: npt.ArrayLike,
    symbols: npt.ArrayLike,
    likelihood: Any,
    prior: npt.ArrayLike,
    *,
    targets: npt.ArrayLike | None = None,
    seed: int = 0,
    models: Sequence[str] = ("chain", "forest"),
) -> Learned:
    """The posterior of every released record; ``targets``, combinations of key codes, are for `Learned.reweighted`.

    ``keys``: records × released key codes (any symbols: levels, ranges, stars); ``symbols``: the released confidential
    symbol of each record; ``likelihood``: symbols × values, P(symbol | value) up to a factor per symbol, dense or
    sparse; ``prior``: over the values. People with known keys but no released record are given as
    records with a symbol whose likelihoods are all equal: they get a prior, and nothing is learnt from them. The
    forest is left out for more than 50,000 records. `InputError` if the tables would be too large.
    """
    from scipy.sparse import issparse

    table = np.asarray(likelihood.toarray() if issparse(likelihood) else likelihood, dtype=np.float64)
    believed = np.asarray(prior, dtype=np.float64)
    codes, shown = np.asarray(keys, dtype=np.int64), np.asarray(symbols, dtype=np.int64)
    if codes.ndim != 2 or len(codes) != len(shown) or not len(shown) or believed.shape != table.shape[1:]:
        raise InputError(
            "Learning needs records × keys, a symbol per record, symbols × values and a prior per value."
        )
    records, last = len(shown), len(table)
    # Sorted, so that neither folds nor forests depend on the order of the rows.
    order = np.lexsort([shown, *codes.T])
    codes, shown, place = codes[order], shown[order], np.argsort(order)
    fold = np.random.default_rng(seed).permutation(records) % FOLDS
    wanted = (
        np.empty((0, codes.shape[1]), dtype=np.int64)
        if targets is None
        else np.asarray(targets, dtype=np.int64)
    )
    if wanted.shape[1:] != codes.shape[1:]:
        raise InputError(
            f"The targets need {codes.shape[1]} columns, one per key; their shape is {wanted.shape}."
        )
    if len(wanted):  # each is in every fold, with an uninformative symbol: every model gives it a prior
        codes = np.concatenate([codes, *[wanted] * FOLDS])
        fold = np.append(fold, np.repeat(np.arange(FOLDS), len(wanted)))
        shown = np.append(shown, np.full(FOLDS * len(wanted), last))
        table = np.vstack([table, np.ones(table.shape[1])])
    _check_size(codes, shown, fold, len(believed))
    groups = ValueGroups.of(table, believed / believed.sum())
    found = _learnt(HeldOutFile(codes, shown, fold, groups.likelihood, groups.prior, seed), models)
    rows = found.row_of[records:].reshape(FOLDS, len(wanted))
    symbol_of_row = np.empty(len(found.posteriors), dtype=np.int64)
    symbol_of_row[found.row_of] = shown
    return replace(
        found,
        posteriors=groups.refined(found.posteriors, symbol_of_row),
        row_of=found.row_of[:records][place],
        symbols=shown[:records][place],
        fold=fold[:records][place],
        target_evidence=np.einsum("ftd,sd->fts", found.posteriors[rows], groups.likelihood[:last]),
    )


def _check_size(codes: Ints, shown: Ints, fold: Ints, values: int) -> None:
    """`InputError` if a table of distinct records × values is too large."""
    if len(shown) * values <= MOST_CELLS:
        return
    columns = np.column_stack([codes, shown, fold])
    alike = len(group(columns, tuple(range(columns.shape[1])), columns.max(axis=0) + 1).first)
    if alike * values > MOST_CELLS:
        raise InputError(
            f"Learning needs a table of {alike:,} distinct records × {values:,} values, more than {MOST_CELLS:,} "
            "cells; round the values, or coarsen the keys."
        )


def _learnt(file: HeldOutFile, models: Sequence[str]) -> Learned:
    """Settings chosen, and the posteriors of all records by them."""
    shown = file.symbols
    chosen_on = file
    informative_records = np.flatnonzero(file.informative)
    if len(informative_records) > CHOOSE_ON:
        sample = np.random.default_rng(file.seed + 1).choice(informative_records, CHOOSE_ON, replace=False)
        chosen_on = file.part(np.sort(sample))
    candidates = [score_of_prior(chosen_on)]
    if "chain" in models:
        best, order = best_chain(chosen_on)
        candidates.append(best if chosen_on is file else lengthened(file, best, order))
    fit_for_forest = file.keys.shape[1] > 0 and FOLDS * 2 < len(informative_records) <= FOREST_UP_TO
    if "forest" in models and fit_for_forest:
        settings, learnt = best_forest(file)
        candidates.append(settings)
        if settings is max(candidates, key=score_of):
            joint = file.likelihood[shown] * learnt
            posteriors = believed_values(joint, file.prior)
            return _of_file(file, posteriors, joint.sum(axis=1), np.arange(len(shown)), settings, candidates)
    return _by_chain(file, max(candidates, key=score_of), candidates)


def _by_chain(file: HeldOutFile, best: ModelSettings, candidates: Sequence[ModelSettings]) -> Learned:
    """The posteriors by a chain (after 0 steps: the given prior), each fold's by the model fitted without it."""
    chain = file.chain(best.order)
    rows, first = np.unique(chain.cell_of * FOLDS + file.fold, return_inverse=True)
    posteriors, evidence = np.empty((len(rows), len(file.prior))), np.empty(len(rows))
    for f in range(FOLDS):
        fits = islice(chain.fits(chain.counts(file.fold != f), best.strengths), best.steps, None)
        prior = next(fits)
        of_fold = np.flatnonzero(rows % FOLDS == f)
        evidence[of_fold] = chain.evidence(prior)[rows[of_fold] // FOLDS]
        posteriors[of_fold] = chain.beliefs(prior, rows[of_fold] // FOLDS)
    return _of_file(file, posteriors, evidence, first.ravel(), best, candidates)


def _of_file(
    file: HeldOutFile,
    posteriors: Floats,
    evidence: Floats,
    row_of: Ints,
    best: ModelSettings,
    candidates: Sequence[ModelSettings],
) -> Learned:
    """The result for all records of the file, including those that represent targets."""
    nobody = np.empty((FOLDS, 0, len(file.likelihood)))
    return Learned(posteriors, evidence, row_of, best, tuple(candidates), file.symbols, file.fold, nobody)
