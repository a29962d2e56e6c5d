"""A test of calibration: of values to which an intruder gives 30 %, about 30 % must be true, over many small files."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np
import pyarrow as pa
from scipy import stats

from equivoc.data.microdata import Microdata
from equivoc.releases.linked_release import LinkedRelease
from equivoc.techniques.technique import Technique

KEYS = ["a", "b", "c"]


def p_value(
    technique: Technique,
    believed: Technique | None = None,
    *,
    files: int = 300,
    people: int = 60,
    key_levels: int = 10,
    domain: Sequence[float] = range(10, 90, 10),
    known: Sequence[str] = KEYS,
) -> float:
    """The p-value of the difference between stated probabilities and true shares, if the posteriors are right.

    Keys and confidential values are drawn uniformly and independently. With ``believed``, the intruder treats the
    release of ``technique`` as one of that other technique: her posteriors are wrong then, and the p-value must be
    tiny. Probabilities are grouped in bands of 0.1; the people of one file count as one cluster.
    """
    rng = np.random.default_rng(5)
    bands = np.arange(0, 1.01, 0.1)
    apart = np.zeros((files, len(bands)))
    used = np.zeros(len(bands))
    for file in range(files):
        columns = {key: rng.integers(key_levels, size=people) for key in KEYS}
        columns["pay"] = rng.choice(domain, size=people)
        original = Microdata(pa.table(columns), confidential="pay", keys=KEYS, domain=domain)
        release = technique.release(original, rng)
        if believed is not None:
            release = _mistaken(release, believed.release(original, 0))
        post = release.posteriors(known, intruder="paper")
        stated = post.probabilities[post.classes.of_record]
        right = original.codes[:, None] == np.arange(len(domain))
        band = np.searchsorted(bands, stated, side="right") - 1
        apart[file] = np.bincount(band.ravel(), (right - stated).ravel(), minlength=len(bands))
        used += np.bincount(band.ravel(), minlength=len(bands))
    enough = used >= 200
    assert enough.sum() >= 3
    sums, spreads = apart[:, enough].sum(axis=0), np.sqrt((apart[:, enough] ** 2).sum(axis=0))
    z = sums / np.maximum(spreads, 1e-9)  # what is stated for certain, and is, has no spread
    return float(stats.chi2.sf((z**2).sum(), enough.sum()))


def _mistaken(release, other):
    """The release, read with the evidence and the channel of another one."""
    if not isinstance(release, LinkedRelease):
        return replace(release, channel=other.channel)
    keys = {name: replace(c, channel=other.keys[name].channel) for name, c in release.keys.items()}
    confidential = replace(release.confidential, channel=other.confidential.channel)
    return replace(release, keys=keys, confidential=confidential)
