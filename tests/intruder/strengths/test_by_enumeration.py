"""The informed intruder against an enumeration of all originals of a few people."""

from __future__ import annotations

from itertools import product

import numpy as np
import pyarrow as pa
import pytest
from scipy import stats

import equivoc as eq
from tests.intruder.strengths.originals import apart, independent, released_alike, swapped

PRIOR = [0.5, 0.3, 0.2]
OF_TWO = [0.7, 0.3]
SUBSETS = [[], ["age"], ["sex"], ["age", "sex"]]


@pytest.fixture(scope="module")
def people():
    table = {"age": [20, 21, 21, 22], "sex": ["F", "M", "F", "F"], "pay": [10, 20, 20, 10]}
    return eq.Microdata(pa.table(table), confidential="pay", keys=["age", "sex"])


def stays(share):
    """PRAM: a level stays with this probability, and becomes each other one equally likely."""
    others = {"age": 2, "sex": 1, "pay": 1}
    return lambda name, true, shown: share if true == shown else (1 - share) / others[name]


def moved(levels, steps):
    """Binomial noise on ranks, clipped at the ends."""

    def chance(name, true, shown):
        of, most = levels[name], steps[name]
        at = of.index(true)
        ends = [min(max(at + k - most // 2, 0), len(of) - 1) for k in range(most + 1)]
        weights = stats.binom.pmf(np.arange(most + 1), most, 0.5)
        return sum(w for end, w in zip(ends, weights, strict=True) if of[end] == shown)

    return chance


LEVELS = {"age": [20, 21, 22], "sex": ["F", "M"], "pay": [10, 20]}


def geometric(epsilon):
    """Ranks move by k with probability ∝ α^|k|, and stop at the ends."""
    alpha = np.exp(-epsilon)

    def chance(name, true, shown):
        if name != "pay":
            return float(true == shown)
        moves = np.arange(-60, 61)
        ends = np.clip(LEVELS["pay"].index(true) + moves, 0, 1)
        return float((alpha ** np.abs(moves))[ends == LEVELS["pay"].index(shown)].sum())

    return chance


def rounded_at_random(base):
    def chance(name, true, shown):
        if name == "sex":
            return float(true == shown)
        return max(0.0, 1 - abs(true - shown) / base)

    return chance


def cut(high):
    return lambda name, true, shown: float((min(true, high) if name == "pay" else true) == shown)


def halves(name, true, shown):
    """Ages in intervals of two, from 20 on."""
    return float((true // 2 == int(shown[1:3]) // 2) if name == "age" else true == shown)


ONE_BY_ONE = [
    (eq.PRAM(keep=0.6, on="all"), stays(0.6)),
    (eq.PRAM(keep=0.1, on="all"), stays(0.1)),
    (eq.NoiseAddition(percent=100), moved(LEVELS, {"age": 2, "sex": 2, "pay": 2})),
    (eq.NoiseAddition(percent=200), moved(LEVELS, {"age": 4, "sex": 2, "pay": 2})),
    (eq.GeometricNoise(epsilon=3), geometric(3)),
    (eq.Rounding(base=7, method="random", on=("age", "pay")), rounded_at_random(7)),
    (eq.TopBottomCoding(high=10), cut(10)),
    (eq.Generalisation(levels="age:1", hierarchies={"age": 2}), halves),
]


@pytest.mark.parametrize(("technique", "chance"), ONE_BY_ONE, ids=lambda t: getattr(t, "notation", ""))
def test_values_changed_one_by_one(people, technique, chance):
    for seed in range(2):
        release = technique.release(people, seed)
        originals = independent(people, release.table.to_pydict(), chance)
        assert len(originals) > 1
        for known in SUBSETS:
            assert apart(release, originals, known, OF_TWO, "informed").max() < 1e-9


def test_the_size_of_the_class_and_the_shares_of_the_keys_are_used(people):
    """The published algorithm uses neither: it is off where the informed intruder is not."""
    release = eq.PRAM(keep=0.6, on="all").release(people, 0)
    originals = independent(people, release.table.to_pydict(), stays(0.6))
    assert apart(release, originals, ["age"], OF_TWO, "paper").max() > 0.05


@pytest.mark.parametrize("known", SUBSETS, ids="+".join)
def test_a_sample(people, known):
    """What was not drawn can be anything."""
    release = eq.Sampling(fraction=0.5).release(people, 3)
    true = list(zip(*people_columns(people), strict=True))
    free = [r for r in range(len(people)) if r not in release.drawn]
    originals = []
    for values in product(people.values.tolist(), repeat=len(free)):
        pay = {**{r: true[r][-1] for r in release.drawn}, **dict(zip(free, values, strict=True))}
        originals.append(([(*true[r][:-1], pay[r]) for r in range(len(people))], 1.0))
    assert apart(release, originals, known, OF_TWO, "informed").max() < 1e-9


def people_columns(people):
    for key in people.keys:
        yield [people.levels(key)[code] for code in people.key_codes(key)]
    yield [people.values[code] for code in people.codes]


@pytest.mark.parametrize("known", [[], ["age"], ["sex"]], ids="+".join)
def test_answered_queries(known):
    ages, pays = [20, 21, 21, 22, 20, 22], [10, 20, 30, 10, 10, 20]
    table = {"age": ages, "sex": list("FMFFMM"), "pay": pays}
    people = eq.Microdata(pa.table(table), confidential="pay", keys=["age", "sex"], domain=[10, 20, 30])
    release = eq.QueryRestriction(size=4).release(people, 1)
    keys = list(zip(ages, table["sex"], strict=True))
    originals = []
    for values in product([10, 20, 30], repeat=6):
        blocks = np.array(values)[release.order].reshape(-1, 2).sum(axis=1)
        if np.array_equal(blocks[:-1] + blocks[1:], release.answers):
            originals.append(([(*key, v) for key, v in zip(keys, values, strict=True)], 1.0))
    assert 1 < len(originals) < 3**6
    assert apart(release, originals, known, PRIOR, "informed").max() < 1e-9


SIX = {"age": [20, 21, 21, 22, 20, 20], "sex": list("FMFFMF"), "pay": [10, 20, 30, 10, 10, 20]}


@pytest.fixture(scope="module")
def six():
    return eq.Microdata(pa.table(SIX), confidential="pay", keys=["age", "sex"])


@pytest.mark.parametrize("known", SUBSETS, ids="+".join)
def test_swapped_values(six, known):
    """The file shows the marginal: with that as her prior she is exact."""
    release = eq.Swapping(rate=0.6).release(six, 2)
    originals = swapped(six, release.table.to_pydict(), on=["pay"], taking_part=4)
    shares = (np.bincount(six.codes) / 6).tolist()
    assert apart(release, originals, known, shares, "informed").max() < 1e-9


def test_swapped_keys_are_off_by_little(six):
    """She takes records as exchanged independently of each other. Total variation distances, of six people."""
    shares = (np.bincount(six.codes) / 6).tolist()
    found = []
    for seed in range(6):
        release = eq.Swapping(rate=0.6, on="keys").release(six, seed)
        originals = swapped(six, release.table.to_pydict(), on=["age", "sex"], taking_part=4)
        for known in SUBSETS[1:]:
            found.extend(apart(release, originals, known, shares, "informed"))
    assert np.mean(found) < 0.03
    assert np.max(found) < 0.1


def files(count):
    """Files of six people, drawn from the model."""
    rng = np.random.default_rng(7)
    for _ in range(count):
        table = {
            "age": rng.choice([20, 21, 22], size=6, p=[0.5, 0.3, 0.2]),
            "sex": rng.choice(["F", "M"], size=6),
            "pay": rng.choice([10, 20, 30], size=6, p=PRIOR),
        }
        yield eq.Microdata(pa.table(table), confidential="pay", keys=["age", "sex"], domain=[10, 20, 30])


SEARCHED = [
    (eq.Suppression(k=2), 1e-6, 0.02),
    (eq.Generalisation(k=2), 1e-6, 0.02),
    (eq.Microaggregation(size=2), 0.01, 0.15),
    (eq.Microaggregation(size=3), 0.01, 0.15),
    (eq.Microaggregation(size=3, method="fast"), 0.01, 0.15),
    (eq.Microaggregation(size=2, on="age"), 1e-6, 0.02),
]


@pytest.mark.parametrize(("technique", "least", "most"), SEARCHED, ids=lambda t: getattr(t, "notation", ""))
def test_how_a_search_chose_is_not_used(technique, least, most):
    """Against someone who runs the technique on every original: mean total variation distance, of six people."""
    found = []
    for people in files(10):
        release = technique.release(people)
        originals = released_alike(technique, release, people)
        for known in SUBSETS:
            found.extend(apart(release, originals, known, PRIOR, "informed"))
    assert least < np.mean(found) < most
