"""The noise intruder is calibrated: of values to which she gives 30 %, about 30 % are true, over many small files.

The linkage formula assumes that all released key combinations are equally likely a priori, which is true for
uniform keys whose noise wraps; the confidential value may have any prior and any edge. There the posterior
must be calibrated.
"""

from dataclasses import dataclass

import numpy as np
import pytest
from scipy import stats

from equivoc.channels.channel import channel
from equivoc.channels.rank_noise import draw, released_size, transition
from equivoc.linkage.coded_file import CodedFile
from equivoc.linkage.key_linkage import linkage

KEY_SIZES = (12, 9)
KEY_MOST, VALUE_MOST = 4, 2
PRIOR = np.array([0.3, 0.05, 0.05, 0.25, 0.1, 0.25])
PEOPLE, FILES, AT_ONCE = 12, 6000, 300


@dataclass(frozen=True)
class Beliefs:
    """Of each simulated file: what the intruder believes about person 0, and that person's true rank."""

    posteriors: np.ndarray
    truths: np.ndarray

    def bands(self):
        """Per band of stated probability: mean stated, share right, and how far apart in standard errors.

        The candidates of one target exclude each other, so the true variance is below the one used here.
        """
        right = self.truths[:, np.newaxis] == np.arange(len(PRIOR))
        for low in np.arange(0.05, 0.85, 0.1):
            band = (self.posteriors >= low) & (self.posteriors < low + 0.1)
            stated, hits = self.posteriors[band], right[band]
            if band.sum() >= 200:
                apart = (hits.sum() - stated.sum()) / np.sqrt((stated * (1 - stated)).sum())
                yield stated.mean(), hits.mean(), apart

    def p_value(self):
        apart = np.array([band[2] for band in self.bands()])
        return stats.chi2.sf((apart**2).sum(), len(apart))


def simulate(edge, *, believed_keys=KEY_MOST, believed_value=VALUE_MOST):
    """Files with noise of one amplitude, and an intruder who may assume other amplitudes.

    Several files go through one call, kept apart by one more key without noise: the number of the file.
    """
    rng = np.random.default_rng(11)
    size = len(PRIOR)
    file = np.repeat(np.arange(AT_ONCE), PEOPLE)
    transitions = [transition(AT_ONCE, 0, edge="clip")]
    transitions += [transition(domain, believed_keys, edge="wrap") for domain in KEY_SIZES]
    truth = channel(transition(size, believed_value, edge=edge), prior=PRIOR)
    posteriors, truths = [], []
    for _ in range(FILES // AT_ONCE):
        original = [rng.integers(domain, size=len(file)) for domain in KEY_SIZES]
        values = rng.choice(size, size=len(file), p=PRIOR)
        released = [
            draw(codes, domain, KEY_MOST, edge="wrap", rng=rng)
            for codes, domain in zip(original, KEY_SIZES, strict=True)
        ]
        ranks = draw(values, size, VALUE_MOST, edge=edge, rng=rng)
        ranks_size = released_size(size, VALUE_MOST, edge=edge)
        noisy = CodedFile(np.stack([file, *released], axis=1), transitions, ranks, ranks_size)
        targets = np.stack([file, *original], axis=1)[::PEOPLE]
        posteriors.append(linkage(targets, noisy, known=(0, 1, 2)) @ truth)
        truths.append(values[::PEOPLE])
    return Beliefs(np.concatenate(posteriors), np.concatenate(truths))


@pytest.mark.parametrize("edge", ["clip", "wrap", "extend"])
def test_stated_probabilities_come_true(edge):
    beliefs = simulate(edge)
    np.testing.assert_allclose(beliefs.posteriors.sum(axis=1), 1, rtol=1e-12)
    stated, right, _ = np.array(list(beliefs.bands())).T
    assert stated[0] < 0.12
    assert stated[-1] > 0.65
    assert abs(right - stated).max() < 0.05
    assert beliefs.p_value() > 0.01


@pytest.mark.parametrize("wrong", [{"believed_keys": 8}, {"believed_value": 4}])
def test_an_intruder_with_the_wrong_scale_is_found_out(wrong):
    assert simulate("wrap", **wrong).p_value() < 1e-5
