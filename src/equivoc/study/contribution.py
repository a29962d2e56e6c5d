"""Which attribute gives people away: each key's share of the bits that an intruder gains."""

from __future__ import annotations

from itertools import combinations
from math import comb
from typing import TYPE_CHECKING

import numpy as np

from equivoc.drawing import drawable
from equivoc.intruder.release import Release

if TYPE_CHECKING:
    import altair


def contributions(release: Release, known: tuple[str, ...]) -> dict[str, float]:
    """Shapley values, in bits: the average over all orders of learning the keys of what each one takes away.

    With h(S) the mean H0 of a random person when the keys S are known, key a of the k keys contributes

        Σ over S without a of [h(S) − h(S ∪ {a})] / (k · C(k − 1, |S|)).

    They sum to h(∅) − h(known): all the bits that knowing the keys takes away. More is riskier.
    """
    h = {}
    for size in range(len(known) + 1):
        for subset in combinations(known, size):
            found = release.posteriors(list(subset))
            h[frozenset(subset)] = float(np.average(found.shannon(), weights=found.sizes))
    k = len(known)
    return {
        key: sum(
            (bits - h[others | {key}]) / (k * comb(k - 1, len(others)))
            for others, bits in h.items()
            if key not in others
        )
        for key in known
    }


def contribution_chart(bits: dict[str, float]) -> altair.Chart:
    """The contributions as bars, the largest on top."""
    import altair as alt

    rows = [{"key": drawable(key), "bits": value} for key, value in bits.items()]
    chart: alt.Chart = (
        alt.Chart({"values": rows})
        .mark_bar(color="#0072B2")
        .encode(
            x=alt.X(
                "bits:Q",
                title="bits that knowing the key takes from the intruder's uncertainty (more is riskier)",
            ),
            y=alt.Y("key:N", title=None, sort="-x"),
            tooltip=["key:N", alt.Tooltip("bits:Q", format=".3f")],
        )
        .properties(width=460)
    )
    return chart
