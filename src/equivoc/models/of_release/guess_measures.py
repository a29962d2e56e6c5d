"""The measures of the intruder's best guess, each with a sentence about its value."""

from __future__ import annotations

from math import log2

import numpy as np
from numpy.typing import NDArray

from equivoc.intruder.posteriors import Posteriors
from equivoc.intruder.release import Release
from equivoc.models.measure import Measure
from equivoc.models.of_release.best_guess import bits_of, mean_largest, prior_vulnerability
from equivoc.models.of_release.channel_leakage import release_leakage
from equivoc.models.phrases import part
from equivoc.number_format import bits, figure


def guess_measures(
    posteriors: Posteriors, largest: NDArray[np.float64], release: Release | None
) -> list[Measure]:
    """Min-entropies, Bayes vulnerability and leakages; ``largest`` are the classes' largest probabilities."""
    sizes, unit = posteriors.sizes, posteriors.classes.people.confidential
    each = bits_of(largest)
    average, lowest = float(np.average(each, weights=sizes)), float(each.min())
    worst = part(int(sizes[each <= lowest + 1e-9].sum()), len(posteriors.classes.people))
    right = mean_largest(largest, posteriors)
    in_bits = float(bits_of(np.array([right]))[0])
    before = prior_vulnerability(posteriors, "marginal")
    leaked = log2(right / before)
    rows = [
        Measure(
            "min-entropy, average",
            average,
            f"Of a random person, {bits(average)} protect the exact {unit} against the intruder's best guess; "
            "more is safer.",
        ),
        Measure(
            "min-entropy, lowest",
            lowest,
            f"In the worst class her best guess of {unit} has chance {figure(2.0**-lowest)}, {bits(lowest)}: "
            f"{worst}; more is safer.",
        ),
        Measure(
            "Bayes vulnerability",
            right,
            f"With one guess she expects to be right about the exact {unit} of a random person with probability "
            f"{figure(right)}; less is safer.",
        ),
        Measure(
            "conditional min-entropy",
            in_bits,
            f"The Bayes vulnerability in bits, −log2 of it: {bits(in_bits)} protect a random person's {unit}; "
            "more is safer.",
        ),
        Measure(
            "min-entropy leakage",
            leaked,
            f"The most frequent {unit} is right with probability {figure(before)}; release and keys multiply that by "
            f"{figure(right / before)}, {bits(leaked)}, in her belief; less is safer.",
        ),
    ]
    most = log2(len(posteriors.values)) if release is None else release_leakage(release, posteriors)
    if most is not None:
        rows.append(
            Measure(
                "maximal leakage",
                most,
                f"For any prior, the released {unit} of a record multiplies the chance of her first "
                f"guess by at most {figure(2.0**most)}, {bits(most)}; less is safer.",
            )
        )
    return rows
