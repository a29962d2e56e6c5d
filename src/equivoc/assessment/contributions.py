"""The contribution of each key: its share of the bits that an intruder gains."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from itertools import combinations
from math import comb

import numpy as np

from equivoc.intruder.posteriors import Posteriors


def contributions(h: Mapping[frozenset[str], float], known: tuple[str, ...]) -> dict[str, float]:
    """Shapley values, in bits: the reduction of H0 by each key, averaged over all orders of learning the keys.

    With h(S) the mean H0 of a random person when the keys S are known, key a of the k keys contributes

        Σ over S without a of [h(S) − h(S ∪ {a})] / (k · C(k − 1, |S|)).

    They sum to h(∅) − h(known): the total reduction of H0 by the known keys. More is riskier.

    >>> contributions({frozenset(): 3.0, frozenset({"age"}): 1.0}, ("age",))
    {'age': 2.0}
    """
    k = len(known)
    return {
        key: sum(
            (bits - h[others | {key}]) / (k * comb(k - 1, len(others)))
            for others, bits in h.items()
            if key not in others
        )
        for key in known
    }


def mean_entropies(
    believed: Callable[[tuple[str, ...]], Posteriors], known: tuple[str, ...]
) -> dict[frozenset[str], float]:
    """h(S), in bits, for every subset S of the known keys; ``believed`` gives the posteriors of someone who knows S."""
    h = {}
    for size in range(len(known) + 1):
        for subset in combinations(known, size):
            found = believed(subset)
            h[frozenset(subset)] = float(np.average(found.shannon(), weights=found.sizes))
    return h
