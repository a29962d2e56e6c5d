"""The learned intruder: EM against plain loops, nothing learnt from the record itself, lower surprise at true
values."""

import numpy as np
import pytest

from equivoc.errors import InputError
from equivoc.learning import learned
from equivoc.learning.chain import ClassChain, HeldOutFile, ModelSettings
from equivoc.learning.learned import learn

VALUES = 8


def masked(keep, values=VALUES):
    return np.full((values, values), (1 - keep) / (values - 1)) + np.eye(values) * (
        keep - (1 - keep) / (values - 1)
    )


def people(records, *, dependent, seed=0):
    """Keys, true values that follow the first two keys (or none), and released symbols: the value kept in 60 %."""
    rng = np.random.default_rng(seed)
    keys = rng.integers(0, [4, 3, 5], size=(records, 3))
    centre = (
        (keys[:, 0] * 2 + (keys[:, 1] == 2)) % VALUES if dependent else rng.integers(VALUES, size=records)
    )
    true = (centre + rng.choice(VALUES, p=[0.6, 0.2, 0.1, 0.1, 0, 0, 0, 0], size=records)) % VALUES
    symbols = np.where(rng.random(records) < 0.6, true, (true + rng.integers(1, VALUES, records)) % VALUES)
    return keys, true, symbols


def surprise(found, true):
    return float(-np.log2(found.posteriors[found.row_of, true]).mean())


def plain_em(keys, symbols, weights, likelihood, prior, strengths, steps):
    """The chain's EM on records in their given order of keys, in plain loops; each record's prior."""
    records, levels = len(keys), keys.shape[1] + 1
    priors = [prior] * records
    for _ in range(steps):
        believed = [likelihood[symbols[r]] * priors[r] for r in range(records)]
        believed = [weights[r] * b / b.sum() for r, b in enumerate(believed)]
        new = []
        for r in range(records):
            own = prior
            for level in range(levels):
                alike = [s for s in range(records) if (keys[s, :level] == keys[r, :level]).all()]
                counts = sum(believed[s] for s in alike)
                own = (counts + strengths[level] * own) / (counts.sum() + strengths[level])
            new.append(own)
        priors = new
    return np.array(priors)


@pytest.mark.parametrize("steps", [0, 1, 3])
def test_the_chain_is_what_plain_loops_compute(steps):
    rng = np.random.default_rng(1)
    keys, symbols = rng.integers(0, 3, (25, 2)), rng.integers(0, 4, 25)
    weights = rng.integers(0, 2, 25).astype(bool)
    likelihood, prior = rng.uniform(0.1, 1, (4, 5)), rng.dirichlet(np.ones(5))
    chain = ClassChain.of(keys, symbols, likelihood, prior, order=[1, 0])
    fits = chain.fits(chain.counts(weights), [2.0, 3.0, 0.5])
    for _ in range(steps):
        next(fits)
    found = next(fits)
    expected = plain_em(keys[:, [1, 0]], symbols, weights, likelihood, prior, [2.0, 3.0, 0.5], steps)
    np.testing.assert_allclose(found[chain.class_of_cells[chain.cell_of]], expected, atol=1e-12)
    evidence = (likelihood[symbols] * expected).sum(axis=1)
    np.testing.assert_allclose(chain.evidence(found)[chain.cell_of], evidence, atol=1e-12)


def test_a_record_is_not_learnt_from_itself():
    keys, _, symbols = people(300, dependent=True)
    fold = np.arange(300) % 5
    other = symbols.copy()
    other[7] = (symbols[7] + 3) % VALUES
    settings = ModelSettings("chain", (0, 1), (8.0, 4.0, 2.0), steps=3)
    priors = []
    for shown in (symbols, other):
        file = HeldOutFile(keys, shown, fold, masked(0.6), np.full(VALUES, 1 / VALUES), 0)
        found = learned._by_chain(file, settings, (settings,))
        prior = found.posteriors[found.row_of[7]] / masked(0.6)[shown[7]]
        priors.append(prior / prior.sum())
    np.testing.assert_allclose(priors[0], priors[1], rtol=1e-12)


def test_what_can_be_learnt_is_learnt():
    keys, true, symbols = people(4000, dependent=True)
    prior = np.bincount(true, minlength=VALUES) / len(true)
    found = learn(keys, symbols, masked(0.6), prior, models=("chain",))
    assert set(found.settings.order[:2]) == {0, 1}
    alone = masked(0.6)[symbols] * prior
    alone /= alone.sum(axis=1, keepdims=True)
    informed = float(-np.log2(alone[np.arange(len(true)), true]).mean())
    assert surprise(found, true) < informed - 0.35
    law = (
        masked(0.6)[symbols]
        * np.roll(np.array([0.6, 0.2, 0.1, 0.1, 0, 0, 0, 0]), 0)[
            (np.arange(VALUES) - ((keys[:, 0] * 2 + (keys[:, 1] == 2)) % VALUES)[:, None]) % VALUES
        ]
    )
    law /= law.sum(axis=1, keepdims=True)
    best = float(-np.log2(law[np.arange(len(true)), true]).mean())  # knowing how values depend on keys
    assert best < surprise(found, true) < best + 0.1


def test_where_nothing_can_be_learnt_nothing_gets_worse():
    keys, true, symbols = people(3000, dependent=False)
    prior = np.bincount(true, minlength=VALUES) / len(true)
    found = learn(keys, symbols, masked(0.6), prior, models=("chain",))
    alone = masked(0.6)[symbols] * prior
    alone /= alone.sum(axis=1, keepdims=True)
    assert surprise(found, true) < float(-np.log2(alone[np.arange(len(true)), true]).mean()) + 0.01


def test_values_released_as_they_are_stay_as_they_are():
    keys, true, _ = people(400, dependent=True)
    found = learn(keys, true, np.eye(VALUES), np.full(VALUES, 1 / VALUES), models=("chain",))
    np.testing.assert_allclose(found.posteriors[found.row_of, true], 1.0)


def test_same_seed_same_answer_and_the_large_file_is_chosen_on_a_part(monkeypatch):
    monkeypatch.setattr(learned, "CHOOSE_ON", 500)
    keys, true, symbols = people(2000, dependent=True)
    prior = np.full(VALUES, 1 / VALUES)
    first, second = (learn(keys, symbols, masked(0.6), prior, seed=3, models=("chain",)) for _ in range(2))
    assert first.settings == second.settings
    np.testing.assert_array_equal(first.posteriors, second.posteriors)
    assert surprise(first, true) < 1.5


def test_people_of_whom_nothing_is_released_get_a_prior_and_teach_nothing():
    keys, true, symbols = people(2000, dependent=True)
    table = np.vstack([masked(0.6), np.full(VALUES, 0.5)])
    prior = np.full(VALUES, 1 / VALUES)
    alone = learn(keys[:1000], symbols[:1000], masked(0.6), prior, models=("chain",))
    shown = np.append(symbols[:1000], np.full(1000, VALUES))
    fold = np.append(alone_fold := np.arange(1000) % 5, np.arange(1000) % 5)
    found = [
        learned._by_chain(HeldOutFile(keys[:n], shown[:n], f, table, prior, 0), alone.settings, ())
        for n, f in ((1000, alone_fold), (2000, fold))
    ]
    with_blanks = found[1].posteriors[found[1].row_of]
    np.testing.assert_allclose(with_blanks[:1000], found[0].posteriors[found[0].row_of], rtol=1e-9)
    unseen = -np.log2(with_blanks[np.arange(1000, 2000), true[1000:]]).mean()
    assert unseen < np.log2(VALUES) - 0.8  # about people without a record she knows only what their keys tell


def test_averaging_over_a_class_is_a_weighted_mean():
    keys, _, symbols = people(200, dependent=True)
    found = learn(keys, symbols, masked(0.6), np.full(VALUES, 1 / VALUES), models=("chain",))
    link = np.random.default_rng(0).uniform(size=(3, 200)) ** 4
    expected = link / link.sum(axis=1, keepdims=True) @ found.posteriors[found.row_of]
    np.testing.assert_allclose(found.averaged(link), expected, atol=1e-12)


def test_values_improve_the_linkage():
    """With changed keys, weighting the linkage by the values (without the record itself) lowers the surprise."""
    keys, true, _ = people(1500, dependent=True)
    rng = np.random.default_rng(11)
    sizes = np.array([4, 3, 5])
    change = rng.random(keys.shape) < 0.3
    released = np.where(change, (keys + rng.integers(1, sizes, keys.shape)) % sizes, keys)
    link = np.ones((60, 1500))
    targets = np.stack(np.meshgrid(range(4), range(3), range(5), indexing="ij"), axis=-1).reshape(-1, 3)
    for key, size in enumerate(sizes):
        table = np.full((size, size), 0.3 / (size - 1)) + np.eye(size) * (0.7 - 0.3 / (size - 1))
        link *= table[targets[:, key]][:, released[:, key]]
    prior = np.bincount(true, minlength=VALUES) / 1500
    found = learn(released, true, np.eye(VALUES), prior, targets=targets, models=("chain",))
    which = (keys[:, 0] * 3 + keys[:, 1]) * 5 + keys[:, 2]

    def left(linkage):
        return -np.log2(0.99 * found.averaged(linkage)[which, true] + 0.01 * prior[true]).mean()

    assert left(found.reweighted(link)) < left(link) - 0.05
    fold, target, record = found.fold[17], 23, 17
    without = ClassChain.of(
        np.concatenate([released, targets]),
        np.append(true, np.zeros(60, int)),
        np.eye(VALUES),
        prior,
        order=found.settings.order,
    )
    learnt_from = np.append(found.fold != fold, np.zeros(60, bool))
    fits = without.fits(without.counts(learnt_from), found.settings.strengths)
    for _ in range(found.settings.steps):
        next(fits)
    priors = next(fits)[without.class_of_cells[without.cell_of]]
    ratio = priors[1500 + target, true[record]] / priors[record, true[record]]
    weighted = found.reweighted(link).toarray()
    assert weighted[target, record] == pytest.approx(link[target, record] * ratio)


def test_a_forest_learns_too():
    keys, true, symbols = people(600, dependent=True)
    prior = np.bincount(true, minlength=VALUES) / len(true)
    found = learn(keys, symbols, masked(0.6), prior, models=("forest",))
    alone = masked(0.6)[symbols] * prior
    alone /= alone.sum(axis=1, keepdims=True)
    assert found.settings.model == "forest"
    assert surprise(found, true) < float(-np.log2(alone[np.arange(len(true)), true]).mean()) - 0.25


def test_what_does_not_fit_is_refused(monkeypatch):
    with pytest.raises(InputError, match="records × keys"):
        learn([[0], [1]], [0], np.eye(2), [0.5, 0.5])
    with pytest.raises(InputError, match="targets need 1 columns"):
        learn([[0], [1]], [0, 1], np.eye(2), [0.5, 0.5], targets=[[0, 1]])
    monkeypatch.setattr(learned, "MOST_CELLS", 10)
    with pytest.raises(InputError, match="more than 10 cells"):
        learn([[0], [1], [2], [3]], [0, 1, 2, 2], np.eye(3), [0.5, 0.3, 0.2])
