"""Exact incomes: thousands of distinct values, against dense tables written out, and within bounded memory."""

from __future__ import annotations

import subprocess
import sys
from fractions import Fraction
from math import comb

import numpy as np
import pandas as pd
import pytest

import equivoc as eq
from equivoc.channels import channel as channels
from equivoc.channels.rank_noise import BinomialSteps
from equivoc.models.of_release.guessing import posterior_figures

VALUES = 3_000
CHECKED = (0, 3, 17)


@pytest.fixture(scope="module")
def people() -> eq.Microdata:
    rng = np.random.default_rng(8)
    incomes = np.sort(rng.choice(np.round(rng.lognormal(10, 0.7, 20_000), 2), VALUES, replace=False))
    incomes = np.unique(np.concatenate([incomes, np.arange(1, VALUES) / 3]))[:VALUES]
    pay = rng.permutation(np.concatenate([incomes, rng.choice(incomes, 600)]))
    frame = pd.DataFrame(
        {"sex": rng.integers(0, 2, len(pay)), "job": rng.integers(0, 20, len(pay)), "pay": pay}
    )
    return eq.Microdata(frame, confidential="pay", keys=["sex", "job"])


def entropy(p: np.ndarray) -> float:
    assert p.sum() == pytest.approx(1, abs=1e-9)
    p = p[p > 0]
    return float(-(p * np.log2(p)).sum())


def members(people: eq.Microdata, of: int) -> np.ndarray:
    """The records of one class, all keys known."""
    return np.flatnonzero(people.classes(people.keys).of_record == of)


def agree(release, people: eq.Microdata, told) -> None:
    """H0 of some classes against the average of ``told(record)``, a dense posterior, over the class's records."""
    found = release.posteriors(intruder="paper").shannon()
    for of in CHECKED:
        expected = np.mean([told(record) for record in members(people, of)], axis=0)
        assert found[of] == pytest.approx(entropy(expected), abs=1e-9)


def test_sampling(people: eq.Microdata) -> None:
    for prior in ("uniform", "marginal"):
        release = eq.Sampling(fraction=0.3, prior=prior).release(people, 1)
        sampled = np.isin(np.arange(len(people)), release.drawn)
        expected = np.full(VALUES, 1 / VALUES)
        if prior == "marginal":
            expected = np.bincount(people.codes[sampled], minlength=VALUES) / sampled.sum()
        agree(
            release,
            people,
            lambda r, e=expected, s=sampled: np.eye(1, VALUES, people.codes[r])[0] if s[r] else e,
        )


def test_geometric_noise(people: eq.Microdata) -> None:
    release = eq.GeometricNoise(epsilon=40).release(people, 1)

    def told(record: int) -> np.ndarray:
        away = np.abs(np.arange(VALUES) - release.confidential.codes[record])
        weights = np.exp(-40 / (VALUES - 1) * away)
        return weights / weights.sum()

    agree(release, people, told)


@pytest.mark.parametrize("rate", [0.3, 1.0])
def test_swapping(people: eq.Microdata, rate: float) -> None:
    release = eq.Swapping(rate=rate).release(people, 1)
    counts = np.bincount(people.codes, minlength=VALUES)

    def told(record: int) -> np.ndarray:
        same = np.eye(1, VALUES, release.confidential.codes[record])[0]
        return (1 - rate) * same + rate * (counts - same) / (len(people) - 1)

    agree(release, people, told)


@pytest.mark.parametrize("size", [2, 8])
def test_query_restriction(people: eq.Microdata, size: int) -> None:
    release = eq.QueryRestriction(size=size).release(people, 1)

    def told(record: int) -> np.ndarray:
        low, high = release.bounds[record]
        slack = 1e-9 * people.values[-1]
        inside = (people.values >= low - slack) & (people.values <= high + slack)
        return inside / inside.sum()

    agree(release, people, told)


def binomial(moves: int) -> np.ndarray:
    """C(M, j) / 2^M, each rounded correctly."""
    return np.array([float(Fraction(comb(moves, j), 2**moves)) for j in range(moves + 1)])


@pytest.mark.parametrize("edge", ["clip", "wrap", "extend"])
def test_noise(people: eq.Microdata, edge: str) -> None:
    """Keys that nobody knows; the values' noise moves a rank by at most 45."""
    release = eq.NoiseAddition(percent=3, edge=edge).release(people, 1)
    chances, half = binomial(90), 45
    ranks = np.arange(VALUES)
    posterior = np.zeros(VALUES)
    for shown in release.confidential.codes.tolist():
        # An uneven grid does not grow: edge="extend" clips.
        far = shown - ranks
        if edge == "wrap":
            far = (far + VALUES // 2) % VALUES - VALUES // 2
        inside = np.abs(far) <= half
        weights = np.where(inside, chances[np.clip(far + half, 0, 90)], 0.0)
        if edge != "wrap" and shown in (0, VALUES - 1):
            beyond = np.cumsum(chances[::-1])[::-1]
            away = np.abs(far)
            weights = np.where(away <= half, beyond[np.clip(half + away, 0, 90)], 0.0)
        posterior += weights / weights.sum() / len(people)
    assert release.posteriors([], intruder="paper").shannon()[0] == pytest.approx(
        entropy(posterior), abs=1e-9
    )


@pytest.mark.parametrize("edge", ["clip", "wrap", "extend"])
@pytest.mark.parametrize(("values", "moves"), [(2, 4), (5, 2), (6, 20), (7, 20), (40, 12), (30, 200)])
def test_noise_as_an_operator_is_its_table(values: int, moves: int, edge) -> None:
    """Entries by their definition: a loop over true ranks and moves."""
    extra = moves if edge == "extend" else 0
    table = np.zeros((values + extra, values))
    for true in range(values):
        for j, chance in enumerate(binomial(moves)):
            at = true + j - moves // 2
            at = {"clip": min(max(at, 0), values - 1), "wrap": at % values, "extend": at + moves // 2}[edge]
            table[at, true] += chance
    operator = BinomialSteps(values, moves, edge)
    assert operator.shape == table.shape
    np.testing.assert_allclose(operator.dense(), table, rtol=1e-11, atol=1e-17)
    prior = np.random.default_rng(1).random(values)
    np.testing.assert_allclose(operator.forward(prior), table @ prior, rtol=1e-11, atol=1e-17)


@pytest.mark.parametrize("edge", ["clip", "extend"])
def test_the_interval_intruder(people: eq.Microdata, edge) -> None:
    release = eq.NoiseAddition(percent=3, edge=edge, belief="interval").release(people, 1)
    ranks = np.arange(VALUES)

    def told(record: int) -> np.ndarray:
        near = np.abs(ranks - release.group[record]) <= 45
        return near / near.sum()

    agree(release, people, told)


def test_blocks_give_what_all_rows_at_once_give(people: eq.Microdata, monkeypatch) -> None:
    release = eq.Sampling(fraction=0.3).release(people, 1)
    whole = eq.assess(people, release, eps=[0, 500], intruder="informed")
    assert len(list(whole.posteriors.blocks())) == 1
    monkeypatch.setattr(channels, "BLOCK_BYTES", 8 * 3 * VALUES * 7)
    parts = eq.assess(people, release, eps=[0, 500], intruder="informed")
    assert len(list(parts.posteriors.blocks())) > 3
    for name in ("h0", "area", "eps_max", "estimated"):
        assert np.array_equal(getattr(whole.figures, name), getattr(parts.figures, name))
    for e in (0, 500):
        assert np.array_equal(whole.figures.hit[e], parts.figures.hit[e])
        assert np.array_equal(whole.figures.right[e], parts.figures.right[e])
    assert np.array_equal(whole.posteriors.shannon(), parts.posteriors.shannon())
    rows, columns = np.array([5, 0, 5, 39]), np.array([0, 7, 2_999, 1])
    assert np.array_equal(
        parts.posteriors.of_values(rows, columns), whole.posteriors.probabilities[rows, columns]
    )
    found, table = posterior_figures(parts.posteriors), whole.posteriors.probabilities
    mean = table @ people.values
    spread = [row @ (people.values - centre) ** 2 for row, centre in zip(table, mean, strict=True)]
    np.testing.assert_allclose(found.variance, spread, rtol=1e-9)
    assert np.array_equal(found.largest, table.max(axis=1))


def test_classes_linked_alike_share_a_row() -> None:
    frame = pd.DataFrame({"number": np.arange(400), "pay": np.arange(400) % 300})
    people = eq.Microdata(frame, confidential="pay", keys=["number"])
    release = eq.Sampling(fraction=0.1).release(people, 0)
    blocks = list(release.posteriors(intruder="paper").blocks())
    assert sum(len(block.classes) for block in blocks) == 400
    different = len(np.unique(release.group))
    assert sum(block.probabilities.shape[0] for block in blocks) == different < 45


def test_a_tolerance_certifies(people: eq.Microdata) -> None:
    release = eq.Sampling(fraction=0.3).release(people, 1)
    few = np.array(CHECKED)
    bounds = release.posteriors(intruder="paper").curves_of(few, tolerance=0.01).area_bounds
    estimated = eq.assess(people, release, prior="uniform", intruder="paper").figures
    assert estimated.estimated[few].all()
    assert (bounds[:, 1] <= bounds[:, 0] * 1.0101).all()
    assert (estimated.area[few] >= bounds[:, 0] * 0.98).all()
    assert (estimated.area[few] <= bounds[:, 1] * 1.02).all()


ASSESS = """
import resource, sys
from pathlib import Path
import numpy as np, pandas as pd, equivoc as eq
from equivoc.techniques.notation import technique_from
rng = np.random.default_rng(0)
domain = np.unique(np.round(rng.lognormal(10, 0.7, 80_000), 4))[:60_000]
frame = pd.DataFrame({"job": rng.integers(0, 4, 5_000), "pay": rng.choice(domain, 5_000)})
people = eq.Microdata(frame, confidential="pay", keys=["job"], domain=domain)
assert len(people.values) == 60_000
for notation in sys.argv[1:]:
    release = technique_from(notation).release(people, 0)
    print(notation, release.posteriors(intruder="paper").shannon().mean())
status = Path("/proc/self/status")
if status.exists():  # the other figure counts the process that started this one, too
    peak = next(int(line.split()[1]) for line in status.read_text().splitlines() if line.startswith("VmHWM"))
else:
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
print(peak / 2**20)
"""


def test_sixty_thousand_values_need_little_memory() -> None:
    """A table of all pairs of values would take 26.8 GiB."""
    pytest.importorskip("resource")  # not on Windows
    techniques = [
        "sampling:fraction=0.1",
        "noise-addition:percent=20",
        "query-restriction:size=8",
        "geometric-noise:epsilon=1",
        "swapping:rate=0.3",
        "swapping:rate=0.3,window=5",
        "rounding:base=1000",
    ]
    # The first run compiles what is not compiled yet, which itself may take a gigabyte.
    for _ in range(2):
        done = subprocess.run(
            [sys.executable, "-c", ASSESS, *techniques], capture_output=True, text=True, check=False
        )
        assert done.returncode == 0, done.stderr
    *told, peak = done.stdout.splitlines()
    assert [line.split()[0] for line in told] == techniques
    assert all(0 < float(line.split()[1]) <= np.log2(60_000) + 1e-9 for line in told)
    in_gib = 2**10 if sys.platform == "darwin" else 1
    assert float(peak) / in_gib < 1
