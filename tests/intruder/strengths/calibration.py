"""Files drawn from the informed intruder's own model, and how far her surprise is from what she expects of it.

Keys and values are drawn independently of each other, values by a prior that she knows. If her posteriors are right,
her mean surprise −log2 p(true value) is her mean entropy H0, over many files.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import pyarrow as pa

from equivoc.data.microdata import Microdata
from equivoc.releases.linked_release import LinkedRelease
from equivoc.releases.release import GroupedRelease, Release
from equivoc.techniques.technique import Technique

VALUES = np.arange(10, 70, 10)
PRIOR = np.array([0.3, 0.25, 0.2, 0.1, 0.1, 0.05])
AGES = np.array([0.3, 0.25, 0.2, 0.15, 0.1])
JOBS = np.array([0.5, 0.3, 0.2])
IMPOSSIBLE = 1e-9
"""What she rules out surprises her by 30 bits, if it is true."""


def drawn(rng: np.random.Generator, people: int) -> Microdata:
    table = {
        "age": rng.choice(len(AGES), size=people, p=AGES) + 20,
        "job": rng.choice(len(JOBS), size=people, p=JOBS) + 1,
        "pay": rng.choice(VALUES, size=people, p=PRIOR),
    }
    return Microdata(pa.table(table), confidential="pay", keys=["age", "job"], domain=VALUES)


@dataclass(frozen=True)
class Excess:
    """Bits by which the mean surprise exceeds the mean H0, and its standard error over the files."""

    bits: float
    error: float

    @property
    def errors(self) -> float:
        """How many standard errors it is from 0; 0 where both are the same in every file."""
        return 0.0 if abs(self.bits) < 1e-9 else self.bits / self.error


def excess(
    technique: Technique,
    believed: Technique | None = None,
    *,
    known: Sequence[str] = ("age", "job"),
    files: int = 40,
    people: int = 60,
    seed: int = 4,
) -> Excess:
    """Over ``files`` files; with ``believed``, she takes the release for one of that technique."""
    rng = np.random.default_rng(seed)
    found = []
    for _ in range(files):
        original = drawn(rng, people)
        release = technique.release(original, rng)
        if believed is not None:
            release = mistaken(release, believed.release(original, rng))
        post = release.posteriors(known, prior=PRIOR, intruder="informed")
        truth = post.of_values(post.classes.of_record, original.codes)
        surprise = -np.log2(np.maximum(truth, IMPOSSIBLE))
        found.append(surprise.mean() - post.shannon()[post.classes.of_record].mean())
    return Excess(float(np.mean(found)), float(np.std(found, ddof=1) / np.sqrt(files)))


def mistaken(release: Any, other: Any) -> Release:
    """The release, read with the evidence and the channel of another one."""
    if isinstance(release, LinkedRelease):
        keys = {
            name: replace(column, likelihood=other.keys[name].likelihood)
            for name, column in release.keys.items()
        }
        told = other.confidential
        return replace(
            release,
            keys=keys,
            confidential=replace(release.confidential, channel=told.channel, informed=told.informed),
        )
    if isinstance(release, GroupedRelease):
        return replace(release, channel=other.channel)
    return replace(release, epsilon=other.epsilon)
