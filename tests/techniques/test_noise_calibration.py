"""Does 30 % mean 30 %? From a file to the posteriors of all its people, many times over.

The linkage takes every released key combination to be as likely as any other, which is so for uniform keys
whose noise wraps. There the stated probabilities must come true, and those of an intruder who believes in
another percentage must not.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pyarrow as pa
import pytest
from scipy import stats

from equivoc.data.microdata import Microdata
from equivoc.techniques.noise_addition import NoiseAddition

FILES, PEOPLE, KEY_LEVELS = 300, 60, 10
DOMAIN = range(10, 90, 10)
KEYS = ["a", "b", "c"]


def p_value(percent, believed):
    """How likely beliefs so far from the truth are by chance; the people of one file count as one cluster."""
    rng = np.random.default_rng(5)
    bands = np.arange(0, 1.01, 0.1)
    apart = np.zeros((FILES, len(bands)))
    used = np.zeros(len(bands))
    for file in range(FILES):
        columns = {key: rng.integers(KEY_LEVELS, size=PEOPLE) for key in KEYS}
        columns["pay"] = rng.choice(DOMAIN, size=PEOPLE)
        people = Microdata(pa.table(columns), confidential="pay", keys=KEYS, domain=DOMAIN)
        release = NoiseAddition(percent=percent, edge="wrap").release(people, rng)
        if believed != percent:
            other = NoiseAddition(percent=believed, edge="wrap").release(people, 0)
            release = replace(release, noises=other.noises, own=other.own)
        post = release.posteriors(KEYS)
        stated = post.probabilities[post.classes.of_record]
        right = people.codes[:, None] == np.arange(len(DOMAIN))
        band = np.searchsorted(bands, stated, side="right") - 1
        apart[file] = np.bincount(band.ravel(), (right - stated).ravel(), minlength=len(bands))
        used += np.bincount(band.ravel(), minlength=len(bands))
    enough = used >= 200
    assert enough.sum() >= 4
    sums, spreads = apart[:, enough].sum(axis=0), np.sqrt((apart[:, enough] ** 2).sum(axis=0))
    z = sums / np.maximum(spreads, 1e-9)  # what is stated for certain, and is, has no spread
    return stats.chi2.sf((z**2).sum(), enough.sum())


# At 14 % the keys move by one rank and pay by none, at 25 % both by one, at 50 % both by two.
@pytest.mark.parametrize("percent", [14, 25, 50])
def test_stated_probabilities_come_true(percent):
    assert p_value(percent, percent) > 0.001


@pytest.mark.parametrize(("percent", "believed"), [(14, 25), (25, 14), (25, 50)])
def test_a_wrong_percentage_is_found_out(percent, believed):
    assert p_value(percent, believed) < 1e-6
