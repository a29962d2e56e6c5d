"""Population uniques from a sample: populations drawn from each model, small cases written out, other optimisers."""

from __future__ import annotations

from collections import Counter
from itertools import combinations, product
from math import comb, exp, factorial, lgamma, log
from typing import Any

import numpy as np
import pyarrow as pa
import pytest
from scipy.optimize import minimize

import equivoc as eq
from equivoc.data.microdata import Microdata
from equivoc.models import population_uniques
from equivoc.models.of_file import superpopulation as log_linear
from equivoc.models.of_file.population import uniqueness_measures
from equivoc.models.of_file.superpopulation import SizeCounts, negative_binomial, pitman, zayatz
from equivoc.models.of_file.superpopulation import slide_negative_binomial as snb
from tests.models import populations
from tests.models.tables import households, microdata

DRAWS = 8
POPULATIONS = {
    "pitman": lambda rng: populations.pitman(12_000, 0.5, 100, rng),
    "negative-binomial": lambda rng: populations.poisson_gamma(6_000, 0.5, 3, rng),
    "snb": lambda rng: populations.slide(4_000, 0.5, 0.15, rng),
}
ERRORS = {"pitman": 0.07, "negative-binomial": 0.12, "snb": 0.14}
"""The relative error allowed for the mean of eight draws: about three standard errors of it."""


@pytest.fixture(scope="module")
def drawn() -> dict[str, list[tuple[int, Microdata]]]:
    """Of each model, populations and samples of a quarter of them."""
    found: dict[str, list[tuple[int, Microdata]]] = {}
    for model, draw in POPULATIONS.items():
        rng = np.random.default_rng(11)
        everyone = [draw(rng) for _ in range(DRAWS)]
        found[model] = [(populations.uniques(of), populations.sampled(of, 0.25, rng)) for of in everyone]
    return found


def relative_error(pairs: list[tuple[int, Microdata]], model: str, fraction: float) -> float:
    """Of the share of the population that is unique, on average."""
    found = [
        population_uniques(sample, fraction=fraction, model=model).share / (true / (4 * len(sample)))
        for true, sample in pairs
    ]
    return float(np.mean(found)) - 1


@pytest.mark.parametrize("model", POPULATIONS)
def test_drawn_from_the_model_the_estimate_is_the_truth(drawn: Any, model: str) -> None:
    assert abs(relative_error(drawn[model], model, 0.25)) < ERRORS[model]


@pytest.mark.parametrize("model", POPULATIONS)
@pytest.mark.parametrize("wrong", [0.15, 0.4])
def test_a_wrong_sampling_fraction_is_rejected(drawn: Any, model: str, wrong: float) -> None:
    assert abs(relative_error(drawn[model], model, wrong)) > 2 * ERRORS[model]


@pytest.mark.parametrize(
    ("model", "of"), [("negative-binomial", "pitman"), ("snb", "pitman"), ("pitman", "negative-binomial")]
)
def test_another_model_is_rejected(drawn: Any, model: str, of: str) -> None:
    assert abs(relative_error(drawn[of], model, 0.25)) > 2 * ERRORS[model]


def test_who_remains_unique(drawn: Any) -> None:
    """`remaining` against the sample uniques that are alone in the population, drawn anew."""
    rng, errors = np.random.default_rng(5), []
    for _ in range(6):
        of = populations.pitman(6_000, 0.6, 50, rng)
        chosen = rng.choice(len(of), 1_500, replace=False)
        times, everyone = Counter(of[chosen].tolist()), Counter(of.tolist())
        true = sum(everyone[c] == 1 for c, n in times.items() if n == 1)
        table = pa.table({"class": of[chosen], "pay": np.zeros(1_500)})
        found = population_uniques(
            Microdata(table, confidential="pay", keys=["class"]), fraction=0.25, model="pitman"
        )
        assert found.sample_uniques == sum(n == 1 for n in times.values())
        errors.append(found.remaining / true - 1)
    assert abs(np.mean(errors)) < 0.08


def partitions(n: int, most: int | None = None) -> list[list[int]]:
    """All ways to write n as a sum, largest first."""
    if n == 0:
        return [[]]
    top = n if most is None else min(n, most)
    return [[part, *rest] for part in range(top, 0, -1) for rest in partitions(n - part, part)]


def chance(sizes: list[int], alpha: float, theta: float) -> float:
    """Pitman's sampling formula for the sizes in any order, written out as products."""
    n = sum(sizes)
    ways = factorial(n)
    for size, times in Counter(sizes).items():
        ways //= factorial(size) ** times * factorial(times)
    found = float(ways)
    for i in range(1, len(sizes)):
        found *= theta + i * alpha
    for i in range(1, n):
        found /= theta + i
    for size in sizes:
        for i in range(1, size):
            found *= i - alpha
    return found


@pytest.mark.parametrize(("alpha", "theta"), [(0.3, 1.0), (0.7, 5.0), (0.5, -0.2)])
def test_pitmans_expected_uniques_by_enumeration(alpha: float, theta: float) -> None:
    """N · Γ(θ+1)/Γ(θ+α) · Γ(θ+α+N−1)/Γ(θ+N) is the mean number of ones over all partitions of N."""
    everyone = partitions(9)
    assert sum(chance(sizes, alpha, theta) for sizes in everyone) == pytest.approx(1)
    expected = sum(chance(sizes, alpha, theta) * sizes.count(1) for sizes in everyone)
    logs = lgamma(theta + 1) - lgamma(theta + alpha) + lgamma(theta + alpha + 8) - lgamma(theta + 9)
    assert 9 * exp(logs) == pytest.approx(expected)


SIZES = np.array([1] * 40 + [2] * 14 + [3] * 6 + [4] * 5 + [7, 7, 9, 15, 30])


def test_pitmans_likelihood_is_maximal() -> None:
    """Against a simplex search over the products of `chance`, and the formula at what it finds."""
    found = pitman(SizeCounts.of(SIZES, 0.1))

    def unlikely(at: np.ndarray) -> float:
        alpha = 1 / (1 + exp(-at[0]))
        theta = exp(at[1]) - alpha
        n, k = int(SIZES.sum()), len(SIZES)
        likely = sum(log(theta + i * alpha) for i in range(1, k)) - sum(log(theta + i) for i in range(1, n))
        return -likely - sum(log(i - alpha) for size in SIZES.tolist() for i in range(1, size))

    best = minimize(unlikely, [0.0, 2.0], method="Nelder-Mead", options={"xatol": 1e-9, "fatol": 1e-12}).x
    alpha = 1 / (1 + exp(-best[0]))
    assert found.parameters["alpha"] == pytest.approx(alpha, abs=1e-4)
    assert found.parameters["theta"] == pytest.approx(exp(best[1]) - alpha, rel=1e-3)


def test_the_negative_binomials_likelihood_is_maximal() -> None:
    """Against a simplex search over truncated probabilities; expected uniques as cells × P(F = 1)."""
    fraction = 0.2
    found = negative_binomial(SizeCounts.of(SIZES, fraction))

    def logs(j: int, alpha: float, b: float) -> float:
        return lgamma(alpha + j) - lgamma(alpha) - lgamma(j + 1) + j * log(b / (1 + b)) - alpha * log(1 + b)

    def unlikely(at: np.ndarray) -> float:
        alpha, b = exp(at[0]), exp(at[1])
        seen = log(1 - (1 + b) ** -alpha)
        return -sum(logs(j, alpha, b) - seen for j in SIZES.tolist())

    best = minimize(unlikely, [-1.0, 1.0], method="Nelder-Mead", options={"xatol": 1e-8, "fatol": 1e-11})
    ours = np.log([found.parameters["alpha"], found.parameters["b"]])
    assert unlikely(ours) == pytest.approx(best.fun, abs=1e-4)
    alpha, b = np.exp(ours)
    cells = len(SIZES) / (1 - (1 + b) ** -alpha)
    assert found.uniques == pytest.approx(cells * exp(logs(1, alpha, b / fraction)), rel=1e-3)


def test_snb_by_convolution() -> None:
    """The sample's size distribution is that of a binomial draw from 1 + a negative binomial; uniques K · P(F = 1)."""
    fraction = 0.3
    found = snb(SizeCounts.of(SIZES, fraction))
    r, p = found.parameters["r"], found.parameters["p"]

    def sizes(r: float, p: float) -> np.ndarray:
        grid = np.arange(1, 900)
        chances = np.exp(
            [lgamma(g - 1 + r) - lgamma(r) - lgamma(g) + r * log(p) + (g - 1) * log(1 - p) for g in grid]
        )
        drawn = [
            sum(
                chances[g - 1] * comb(g, j) * fraction**j * (1 - fraction) ** (g - j)
                for g in range(max(j, 1), 900)
            )
            for j in range(31)
        ]
        return np.array(drawn)

    ours = sizes(r, p)
    seen = 1 - ours[0]
    assert found.uniques == pytest.approx(len(SIZES) / seen * p**r, rel=1e-6)
    assert fraction * (1 + r * (1 - p) / p) / seen == pytest.approx(SIZES.mean(), rel=1e-6)
    likely = sum(log(ours[j] / seen) for j in SIZES.tolist())
    for other in (0.7 * r, 1.4 * r):  # less likely, with the p that gives the same mean
        low, high = 1e-6, 1 - 1e-9
        for _ in range(60):
            middle = (low + high) / 2
            missed = (1 - fraction) * (middle / (middle + fraction * (1 - middle))) ** other
            mean = fraction * (1 + other * (1 - middle) / middle) / (1 - missed)
            low, high = (middle, high) if mean > SIZES.mean() else (low, middle)
        there = sizes(other, low)
        assert sum(log(there[j] / (1 - there[0])) for j in SIZES.tolist()) < likely


def test_zayatz_by_counting() -> None:
    """Classes of 1, 1, 2 and 4 of 8 records out of 16: P(one drawn) by all draws of half of the population."""
    draws = comb(16, 8)
    h = {j: j * comb(16 - j, 7) / draws for j in (1, 2, 4)}
    stays = 2 * h[1] / (2 * h[1] + h[2] + h[4])
    found = zayatz(SizeCounts.of(np.array([1, 1, 2, 4]), 0.5))
    assert found.parameters["stays_unique"] == pytest.approx(stays)
    assert found.uniques == pytest.approx(2 * stays / 0.5)


def keyed(levels: tuple[int, ...], chances: np.ndarray, n: int, rng: np.random.Generator) -> np.ndarray:
    """People over the cells of a table with these chances; one column per key."""
    cells = rng.choice(chances.size, n, p=chances.ravel() / chances.sum())
    return np.column_stack(np.unravel_index(cells, levels))


def table(codes: np.ndarray) -> Microdata:
    columns = {f"k{a}": codes[:, a] for a in range(codes.shape[1])}
    keys = list(columns)
    return Microdata(pa.table({**columns, "pay": np.zeros(len(codes))}), confidential="pay", keys=keys)


@pytest.mark.parametrize("interactions", [1, 2])
def test_populations_of_a_log_linear_model(interactions: int) -> None:
    """Skewed keys, without or with interactions of two: the share of uniques within 6 %, a wrong fraction far off.

    Main effects alone overstate it where there are interactions.
    """
    rng = np.random.default_rng(3)
    levels = (12, 10, 8, 6)
    log_chances = np.zeros(levels)
    for a, n in enumerate(levels):
        log_chances += rng.normal(0, 1, n).reshape([-1 if b == a else 1 for b in range(4)])
    if interactions == 2:
        for a, b in combinations(range(4), 2):
            log_chances += rng.normal(0, 0.6, [levels[c] if c in (a, b) else 1 for c in range(4)])
    errors: dict[tuple[int, float], list[float]] = {}
    for _ in range(4):
        everyone = keyed(levels, np.exp(log_chances), 40_000, rng)
        true = np.count_nonzero(np.unique(everyone, axis=0, return_counts=True)[1] == 1) / 40_000
        sample = table(everyone[rng.choice(40_000, 8_000, replace=False)])
        for model, fraction in ((1, 0.2), (2, 0.2), (interactions, 0.1), (interactions, 0.4)):
            found = population_uniques(sample, fraction=fraction, model="log-linear", interactions=model)
            errors.setdefault((model, fraction), []).append(found.share / true - 1)
    mean = {case: float(np.mean(found)) for case, found in errors.items()}
    assert abs(mean[interactions, 0.2]) < 0.06
    assert mean[interactions, 0.1] < -0.2
    assert mean[interactions, 0.4] > 0.2
    if interactions == 2:
        assert mean[1, 0.2] > 0.12


def test_iterative_fitting_against_newtons_method() -> None:
    """Poisson regression on all cells of 3 × 2 × 4 with dummies for main effects and pairs, by Newton's steps."""
    levels = (3, 2, 4)
    rng = np.random.default_rng(8)
    people = table(keyed(levels, rng.gamma(2, 1, levels), 400, rng))
    cells = list(product(*map(range, levels)))
    columns: list[list[float]] = [[1.0] * len(cells)]
    for chosen in [(0,), (1,), (2,), (0, 1), (0, 2), (1, 2)]:
        for dummy in product(*(range(1, levels[a]) for a in chosen)):
            columns.append([float(all(c[a] == d for a, d in zip(chosen, dummy, strict=True))) for c in cells])
    design = np.array(columns).T
    classes = people.classes(None)
    counts = np.zeros(levels)
    counts[tuple(classes.key_codes.T)] = classes.sizes
    beta = np.linalg.lstsq(design, np.log(counts.ravel() + 0.5), rcond=None)[0]
    for _ in range(50):
        mu = np.exp(design @ beta)
        beta += np.linalg.solve(design.T @ (design * mu[:, None]), design.T @ (counts.ravel() - mu))
    fitted = np.exp(design @ beta).reshape(levels)[tuple(classes.key_codes.T)]
    assert log_linear.two_way(classes) == pytest.approx(fitted, rel=1e-4)


def test_main_effects_and_the_chance_to_stay_unique() -> None:
    """2 × 2: a, a, a, b × x, x, y, y: μ = n · share · share; P(F = 1 | f = 1) = exp(−μ·(1−π)/π)."""
    people = microdata([("a", "x", 0), ("a", "x", 0), ("a", "y", 0), ("b", "y", 0)])
    found = population_uniques(people, fraction=0.25, model="log-linear", interactions=1)
    tau = exp(-4 * (3 / 4) * (2 / 4) * 3) + exp(-4 * (1 / 4) * (2 / 4) * 3)
    assert found.remaining == pytest.approx(tau)
    assert found.uniques == pytest.approx(4 * tau)


def test_dankars_rule() -> None:
    rows = [(c, 0) for c, size in enumerate(SIZES.tolist()) for _ in range(size)]
    people = microdata(rows)
    assert population_uniques(people, fraction=0.1) == population_uniques(
        people, fraction=0.1, model="pitman"
    )
    for fraction in (0.11, 0.3, 0.8):
        both = [population_uniques(people, fraction=fraction, model=m) for m in ("snb", "zayatz")]
        assert population_uniques(people, fraction=fraction) == min(both, key=lambda f: f.uniques)


def test_the_whole_population_and_everyone_alone() -> None:
    rows = [(c, 0) for c in [1, 1, 2, 3, 3, 4]]
    lone = [(c, 0) for c in range(6)]
    for model in ("dankar", "pitman", "negative-binomial", "snb", "zayatz", "log-linear"):
        found = population_uniques(microdata(rows), fraction=1, model=model)
        assert (found.uniques, found.population, found.remaining) == (2, 6, 2)
        found = population_uniques(microdata(lone), fraction=0.1, model=model)
        assert (found.share, found.remaining) == (1, 6)


def test_no_sample_uniques_leave_few() -> None:
    rows = [(c, 0) for c in [1, 1, 2, 2, 3, 3, 3]]
    for model in ("pitman", "negative-binomial", "snb", "zayatz", "log-linear"):
        found = population_uniques(microdata(rows), fraction=0.2, model=model)
        assert found.remaining == 0
        assert 0 <= found.uniques < found.population


def test_weights_give_the_fraction() -> None:
    people = households()
    total = float(people.weights.sum())
    found = population_uniques(people)
    assert found.fraction == pytest.approx(10 / total)
    assert found == population_uniques(people, fraction=10 / total)


def test_in_the_frame() -> None:
    rng = np.random.default_rng(2)
    codes = keyed((6, 5, 4), rng.gamma(1, 1, (6, 5, 4)), 600, rng)
    people = table(codes)
    found = eq.measures(people, fraction=0.05).to_pandas().set_index("measure")
    models = {"Dankar's rule": "dankar", "Pitman": "pitman", "SNB": "snb"}
    models |= {"negative binomial": "negative-binomial", "log-linear": "log-linear"}
    for name, model in models.items():
        one = population_uniques(people, fraction=0.05, model=model)
        assert found.loc[f"population uniques, {name}", "value"] == pytest.approx(one.share)
    told = found.loc["population uniques, log-linear", "meaning"]
    assert "two-way interactions" in told
    assert "of the population's 12,000 people are unique on k0, k1 and k2" in told
    release = eq.Sampling(0.3).release(people, 1)
    sample = Microdata(release.table, confidential="pay", keys=["k0", "k1", "k2"])
    found = eq.measures(people, release).to_pandas().set_index("measure")
    one = population_uniques(sample, fraction=0.3)
    assert found.loc["population uniques, Dankar's rule", "value"] == pytest.approx(one.share)
    true = np.count_nonzero(people.classes(None).sizes == 1)
    assert f"(the original has {true:,})" in found.loc["population uniques, Dankar's rule", "meaning"]
    assert not [name for name in eq.measures(people).to_pydict()["measure"] if "population" in name]


def test_a_large_table_is_fitted_by_main_effects(monkeypatch: pytest.MonkeyPatch) -> None:
    from equivoc.models.of_file import population as population_measures

    rng = np.random.default_rng(2)
    classes = table(keyed((6, 5, 4), rng.gamma(1, 1, (6, 5, 4)), 100, rng)).classes(None)
    monkeypatch.setattr(population_measures, "MOST_WORK", 359)
    assert "main effects" in uniqueness_measures(classes, 0.1)[-1].meaning
    monkeypatch.setattr(population_measures, "MOST_WORK", 360)
    assert "two-way interactions" in uniqueness_measures(classes, 0.1)[-1].meaning


@pytest.mark.parametrize(
    ("arguments", "sentence"),
    [
        ({}, "the sampling fraction is not known; give fraction=0.01"),
        ({"fraction": 0}, "fraction is 0; it must be a share of the population, above 0 and at most 1"),
        ({"fraction": 1.5}, "fraction is 1.5"),
        ({"fraction": float("nan")}, "fraction is nan"),
        ({"fraction": "half"}, "fraction is 'half'"),
        ({"fraction": 0.1, "model": "poisson"}, "model is 'poisson'; it must be one of dankar, pitman"),
        ({"fraction": 0.1, "interactions": 3}, r"interactions is 3; it must be 1 \(main effects\) or 2"),
        ({"fraction": 0.1, "known": ["z"]}, "'z' is not a key"),
    ],
)
def test_bad_input(arguments: dict[str, Any], sentence: str) -> None:
    with pytest.raises(eq.InputError, match=sentence):
        population_uniques(microdata([(1, 5), (2, 6)]), **arguments)


def test_light_weights_and_too_many_cells(monkeypatch: pytest.MonkeyPatch) -> None:
    with pytest.raises(eq.InputError, match="the survey weights sum to 1, fewer than the 2 records"):
        population_uniques(microdata([(0, 1), (1, 1)], weights=[0.5, 0.5]))
    people = microdata([(0, 1, 2, 5), (1, 1, 2, 5), (1, 1, 2, 5)])
    monkeypatch.setattr(log_linear, "MOST_CELLS", 1)
    with pytest.raises(eq.InputError, match="the keys have 2 combinations of levels, more than the 1"):
        population_uniques(people, fraction=0.1, model="log-linear")


def test_a_fraction_beside_a_release_is_refused(people: Microdata) -> None:
    with pytest.raises(eq.InputError, match="fraction is for a file that is a sample itself"):
        eq.measures(people, eq.Sampling(0.5).release(people, 1), fraction=0.1)
