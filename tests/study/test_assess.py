"""assess(): every figure against a plain computation, and the rules about baselines and contributions."""

from __future__ import annotations

import math
from itertools import permutations

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import equivoc as eq
from equivoc.attributes.attribute import round_tolerance
from equivoc.requirements.outcome import spread

PEOPLE = pd.DataFrame(
    {
        "age": [30, 30, 30, 41, 41, 52, 52, 52, 52],
        "sex": list("FFMMMFFMM"),
        "region": list("abababaab"),
        "pay": [10, 20, 20, 30, 30, 50, 10, 70, 90],
    }
)


def people(frame: pd.DataFrame = PEOPLE) -> eq.Microdata:
    return eq.Microdata(frame, confidential="pay", keys=["age", "sex", "region"])


def by_class(frame: pd.DataFrame, known: list[str]) -> list[tuple[tuple, list[int]]]:
    groups: dict[tuple, list[int]] = {}
    for row in frame.itertuples():
        groups.setdefault(tuple(getattr(row, k) for k in known), []).append(row.pay)
    return sorted(groups.items())


def distribution(pays: list[int]) -> tuple[list[int], list[float]]:
    values = sorted(set(pays))
    return values, [pays.count(v) / len(pays) for v in values]


def best_share(pays: list[int], eps: float) -> float:
    return max(sum(low <= v <= low + eps for v in pays) for low in pays) / len(pays)


@pytest.mark.parametrize("known", [[], ["sex"], ["age", "sex"], ["region", "age"]])
def test_the_figures_of_every_class_of_a_published_file(known: list[str]) -> None:
    result = eq.assess(people(), eq.Unprotected(), known=known, eps=[0, 20])
    classes = by_class(PEOPLE, known)
    assert len(result.classes) == len(classes)
    for (key, pays), row in zip(classes, result.classes.to_dict("records"), strict=True):
        curve = eq.curve(*distribution(pays))
        assert tuple(row[k] for k in known) == key
        assert row["size"] == len(pays)
        assert row["h0"] == pytest.approx(curve.h0, abs=1e-12)
        assert row["area"] == pytest.approx(curve.area, rel=1e-12, abs=1e-12)
        assert row["mean_entropy"] == pytest.approx(curve.area / 80, rel=1e-12, abs=1e-12)
        assert row["eps_max"] == max(pays) - min(pays)
        assert row["hit_0"] == pytest.approx(best_share(pays, 0))
        assert row["hit_20"] == pytest.approx(best_share(pays, 20))


def test_averages_over_classes_and_over_people() -> None:
    summary = eq.assess(people(), eq.Unprotected(), known=["age"]).summary
    entropies = [eq.curve(*distribution(pays)).h0 for _, pays in by_class(PEOPLE, ["age"])]
    sizes = [len(pays) for _, pays in by_class(PEOPLE, ["age"])]
    assert summary["per_class"]["h0"]["mean"] == pytest.approx(np.mean(entropies))
    assert summary["per_record"]["h0"]["mean"] == pytest.approx(np.average(entropies, weights=sizes))
    assert summary["per_class"]["h0"]["min"] == pytest.approx(min(entropies))
    everyone = np.repeat(entropies, sizes)
    assert summary["per_record"]["h0"]["q25"] == pytest.approx(np.sort(everyone)[math.ceil(0.25 * 9) - 1])
    assert (summary["records"], summary["classes"]) == (9, 3)


def test_the_baselines_stand_beside() -> None:
    result = eq.assess(
        people(), eq.Sampling(fraction=0.4), known=["age"], seed=3, eps=[20], intruder="informed"
    )
    summary = result.summary
    everyone = eq.curve(*distribution(PEOPLE["pay"].tolist()))
    assert summary["prior"]["h0"] == pytest.approx(everyone.h0)
    assert summary["prior"]["area"] == pytest.approx(everyone.area)
    assert summary["prior"]["hit"][20.0] == pytest.approx(best_share(PEOPLE["pay"].tolist(), 20))
    published = eq.assess(people(), eq.Unprotected(), known=["age"]).summary["per_record"]
    assert summary["unprotected"]["h0"] == pytest.approx(published["h0"]["mean"])
    assert summary["unprotected"]["area"] == pytest.approx(published["area"]["mean"])
    for name in ("h0", "area"):
        assert (
            summary["unprotected"][name]
            < summary["per_record"][name]["mean"]
            <= summary["prior"][name] + 1e-12
        )


def test_a_prior_can_be_given() -> None:
    public = [0.5, 0.1, 0.1, 0.1, 0.1, 0.1]
    summary = eq.assess(people(), eq.Unprotected(), known=[], prior=public).summary
    assert summary["prior"]["h0"] == pytest.approx(eq.curve(range(6), public).h0)
    with pytest.raises(eq.InputError, match="prior has 2 entries"):
        eq.assess(people(), eq.Unprotected(), known=[], prior=[0.5, 0.5])


def chances(values, p, eps: float, truth: float) -> float:
    """Over all windows that no other holds: of the heaviest, the share whose middle is within eps/2 of the truth."""
    held = [v for v, q in zip(values, p, strict=True) if q > 0]
    fit = [(a, b) for a in held for b in held if 0 <= b - a <= eps]
    fit = [(a, b) for a, b in fit if not any((c, d) != (a, b) and c <= a and b <= d for c, d in fit)]
    mass = {w: sum(q for v, q in zip(values, p, strict=True) if w[0] <= v <= w[1]) for w in fit}
    best = [w for w in fit if mass[w] > max(mass.values()) - 1e-12]
    return sum(abs((a + b) / 2 - truth) <= eps / 2 for a, b in best) / len(best)


def test_the_true_hit_counts_people_whom_the_best_guess_comes_close_to_and_shares_ties() -> None:
    result = eq.assess(people(), eq.Sampling(fraction=0.5), known=["sex"], seed=1, eps=[0, 25])
    records, posteriors = result.records, result.posteriors
    for eps in (0, 25):
        hits = [
            chances(posteriors.values, posteriors.probabilities[c], eps, pay)
            for c, pay in zip(records["class"], PEOPLE["pay"], strict=True)
        ]
        assert records[f"true_hit_{eps}"].tolist() == pytest.approx(hits)
        assert result.summary["per_record"]["true_hit"][float(eps)] == pytest.approx(np.mean(hits))
        assert eps or any(0 < hit < 1 for hit in hits)


@pytest.mark.parametrize("eps", [0, 20, 45])
def test_the_true_hit_does_not_depend_on_which_end_of_the_axis_is_crowded(eps: float) -> None:
    """Four of five people have the lowest income; a uniform posterior is right for one in five, also if mirrored."""
    pay = np.array([10] * 16 + [20, 30, 40, 50])
    told = []
    for values in (pay, 60 - pay):
        frame = pd.DataFrame({"pay": values})
        mirrored = eq.Microdata(frame, confidential="pay")
        result = eq.assess(
            mirrored, eq.Rounding(1000), known=[], eps=[eps], prior="uniform", intruder="informed"
        )
        assert np.ptp(result.posteriors.probabilities) == 0
        told.append(result.means["true_hit"][float(eps)])
    assert told[0] == pytest.approx(told[1], rel=1e-12)
    if eps == 0:
        assert told[0] == pytest.approx(0.2, rel=1e-12)


def test_tolerances_that_differ_in_the_seventh_digit_have_columns_of_their_own() -> None:
    result = eq.assess(people(), eq.Unprotected(), known=[], eps=[1_000_000, 1_000_001, 0.5])
    for frame, stems in ((result.classes, ["hit"]), (result.records, ["hit", "true_hit"])):
        for stem in stems:
            assert {f"{stem}_{e}" for e in ("1000000", "1000001", "0.5")} <= set(frame.columns)


def test_records_come_in_the_files_order_and_hold_no_value_of_their_own() -> None:
    shuffled = PEOPLE.sample(frac=1, random_state=5).reset_index(drop=True)
    records = eq.assess(people(shuffled), eq.Unprotected(), known=["age", "sex"]).records
    expected = {key: eq.curve(*distribution(pays)).h0 for key, pays in by_class(PEOPLE, ["age", "sex"])}
    assert records["h0"].tolist() == pytest.approx([expected[r.age, r.sex] for r in shuffled.itertuples()])
    assert "pay" not in records.columns


def test_contributions_are_shapley_values_and_sum_to_the_whole_loss() -> None:
    known = ["age", "sex", "region"]
    result = eq.assess(people(), eq.Unprotected(), known=known)

    def entropy(keys: list[str]) -> float:
        return sum(len(p) * eq.curve(*distribution(p)).h0 for _, p in by_class(PEOPLE, keys)) / len(PEOPLE)

    slow = dict.fromkeys(known, 0.0)
    for order in permutations(known):
        for i, key in enumerate(order):
            slow[key] += (entropy(list(order[:i])) - entropy(list(order[: i + 1]))) / 6
    assert result.contributions == pytest.approx(slow)
    assert sum(result.contributions.values()) == pytest.approx(entropy([]) - entropy(known))
    (drawn,) = result.plot_contributions().to_dict()["datasets"].values()
    assert {row["key"]: row["bits"] for row in drawn} == pytest.approx(slow)


def test_the_riskiest_classes_have_the_least_area() -> None:
    result = eq.assess(people(), eq.Unprotected(), known=["age"])
    areas = result.classes["area"].to_numpy()
    assert areas[result.riskiest(3)].tolist() == sorted(areas.tolist())


def test_a_release_made_before_is_assessed_as_it_is() -> None:
    table = people()
    release = eq.Sampling(fraction=0.5).release(table, 11)
    again = eq.assess(table, eq.Sampling(fraction=0.5), known=["sex"], seed=11)
    assert eq.assess(table, release, known=["sex"]).classes.equals(again.classes)
    with pytest.raises(eq.InputError, match="made from other people"):
        eq.assess(people(), release, known=["sex"])
    with pytest.raises(eq.InputError, match="give a technique"):
        eq.assess(table, "sampling", known=["sex"])


def test_columns_of_the_caller_keep_their_names() -> None:
    frame = pd.DataFrame({"size": [1, 1, 2], "pay": [1, 2, 3]})
    odd = eq.Microdata(frame, confidential="pay", keys=["size"])
    classes = eq.assess(odd, eq.Unprotected(), known=["size"]).classes
    assert classes["size"].tolist() == [1, 2]
    assert classes["size_"].tolist() == [2, 1]


def test_one_value_in_the_domain_leaves_nothing_to_find_out() -> None:
    frame = pd.DataFrame({"sex": ["F", "M"], "pay": [5, 5]})
    summary = eq.assess(
        eq.Microdata(frame, confidential="pay", keys=["sex"]), eq.Unprotected(), known=["sex"]
    ).summary
    assert summary["per_record"]["h0"]["mean"] == 0
    assert summary["per_record"]["mean_entropy"]["mean"] == 0
    assert summary["prior"]["h0"] == 0


@given(
    st.lists(st.tuples(st.floats(0, 10), st.integers(1, 5)), min_size=1, max_size=12),
    st.sampled_from([0.05, 0.25, 0.5, 0.75, 0.95]),
)
@settings(max_examples=60)
def test_weighted_spread_is_the_spread_of_repeated_figures(
    pairs: list[tuple[float, int]], share: float
) -> None:
    figures = np.array([f for f, _ in pairs])
    weights = np.array([w for _, w in pairs])
    repeated = np.sort(np.repeat(figures, weights))
    told = spread(figures, weights)
    name = {0.05: "q05", 0.25: "q25", 0.5: "median", 0.75: "q75", 0.95: "q95"}[share]
    assert told["mean"] == pytest.approx(repeated.mean())
    assert (told["min"], told["max"]) == (repeated[0], repeated[-1])
    at_most = np.searchsorted(repeated, told[name], side="right") / len(repeated)
    below = np.searchsorted(repeated, told[name], side="left") / len(repeated)
    assert below - 1e-12 <= share <= at_most + 1e-12


@pytest.mark.parametrize(
    ("wrong", "said"),
    [
        ({"known": ["nope"]}, "'nope' is not a key"),
        ({"known": "age"}, "known must be a list of keys, such as ['age']"),
        ({"known": 5}, "known is 5; give a list of keys, [] for none, or None for all"),
        ({"known": ["age", "age"]}, "a key is named twice"),
        ({"known": [3]}, "3 is not a key"),
        ({"prior": [0.5, 0.5]}, "prior has 2 entries; give one probability for each of the"),
        ({"prior": "everyone"}, "prior is 'everyone'; give one probability for each of the"),
        ({"prior": 1.0}, "prior is 1.0; give one probability for each of the"),
        ({"prior": [[0.5, 0.5]]}, "prior has 2 dimensions"),
        ({"prior": "flat", "eps": [-1]}, "eps[0] is -1"),
        ({"eps": "a"}, "eps"),
    ],
)
def test_mistakes_are_told_when_assess_is_called(wrong, said: str) -> None:
    for call in (eq.assess, lambda people, _, **more: eq.budget(people, **more)):
        if call is not eq.assess and "prior" in wrong:
            continue
        with pytest.raises(eq.InputError) as raised:
            call(people(), eq.Unprotected(), **wrong)
        assert said in str(raised.value)
        assert "matrix" not in str(raised.value)


def test_a_prior_must_be_probabilities() -> None:
    mine = people()
    n = len(mine.values)
    for prior, said in (
        (np.full(n, 0.5), "prior sums to"),
        (np.eye(1, n)[0] * 2 - 1 / n, "probabilities must be 0 or more"),
        ([float("nan")] * n, "prior[0] is nan"),
        (["x"] * n, "prior[0] is 'x', not a number"),
    ):
        with pytest.raises(eq.InputError) as raised:
            eq.assess(mine, eq.Unprotected(), prior=prior)
        assert said in str(raised.value)


def test_every_key_is_known_unless_said_otherwise() -> None:
    mine = people()
    assert eq.assess(mine, eq.Unprotected()).known == mine.keys
    assert eq.assess(mine, eq.Unprotected(), known=[]).known == ()
    release = eq.Unprotected().release(mine)
    for arguments in ((), (None,), (list(mine.keys),)):
        assert release.posteriors(*arguments, intruder="paper").known == mine.keys
    assert release.posteriors([], intruder="paper").known == ()
    assert eq.budget(mine, budgets=[1]).known == mine.keys


def test_a_frame_is_not_people() -> None:
    said = "people is a DataFrame; convert it with eq.Microdata"
    for call in (
        lambda: eq.assess(PEOPLE, eq.Unprotected()),
        lambda: eq.budget(PEOPLE),
        lambda: eq.measures(PEOPLE),
        lambda: eq.models.k_anonymity(PEOPLE),
    ):
        with pytest.raises(eq.InputError, match=said):
            call()


@pytest.mark.parametrize(
    ("width", "expected"),
    [
        (0, 0),
        (1, 0.1),
        (9.9, 0.5),
        (10, 1),
        (19.99, 1),
        (20, 2),
        (50, 5),
        (4600.0000001, 200),
        (0.3, 0.02),
        (1e-7, 1e-8),
    ],
)
def test_the_default_tolerance_is_a_round_number_of_at_most_a_tenth(width: float, expected: float) -> None:
    assert round_tolerance(width) == expected
    assert round_tolerance(width * (1 - 1e-13)) == expected


@given(st.floats(1e-300, 1e300))
def test_the_default_tolerance_is_between_a_twenty_fifth_and_a_tenth(width: float) -> None:
    found = round_tolerance(width)
    assert width / 25 * (1 - 1e-8) <= found <= width / 10 * (1 + 1e-8)
    assert f"{found:.0e}"[0] in "125"
    assert float(f"{found:.0e}") == found


def test_the_default_tolerances_of_an_assessment_and_a_budget() -> None:
    frame = pd.DataFrame({"pay": [0, 10, 20, 46.00000001]})
    mine = eq.Microdata(frame, confidential="pay")
    assert eq.assess(mine, eq.Unprotected()).eps == (0, 2)
    assert eq.budget(mine, budgets=[1]).eps == 2
