"""Many values in groups of neighbours, so that learning how they depend on keys costs no more than for 64 values.

A model learns the probabilities of the groups. Inside a group the values keep the proportions of the given prior:
``P(symbol | group) = Σ_d P(symbol | d)·prior(d) / prior(group)``, and given group and symbol the value d has the
probability ``P(symbol | d)·prior(d) / Σ``. Groups have about the same prior probability; up to 64
values each is its own group.
"""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np
import numpy.typing as npt

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
