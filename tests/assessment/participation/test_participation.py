"""Participation against plain enumeration: sizes of the population, who of a class is the target, records left out."""

from __future__ import annotations

import json
from math import log2
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
from scipy.optimize import minimize_scalar
from scipy.stats import nbinom

import equivoc as eq
from equivoc.errors import InputError
from equivoc.models.of_file.identification import chance_of_link
from equivoc.render.assessment import core_facts
from tests.assessment.participation.by_hand import (
    Chain,
    belief_about,
    every_class,
    expected_link,
    tiny_people,
)
from tests.commands import run_command

SHARED = Path(__file__).resolve().parents[4] / "shared" / "data"
"""Survey files beside a checkout, which may not be shipped; tests that need them are skipped where they are not."""
KEYS = ["sex", "town"]


def people_of(frame: pd.DataFrame, keys: list[str] = KEYS, **how: Any) -> eq.Microdata:
    return eq.Microdata(frame, confidential="pay", keys=keys, weights="w", **how)


@pytest.fixture(scope="module")
def tiny() -> eq.Microdata:
    return people_of(tiny_people())


@pytest.fixture(scope="module")
def drawn() -> eq.Microdata:
    """Some 400 people of the shipped file, with weights from 1.5 to 6."""
    people = eq.datasets.people("cps_hourly_workers")
    frame = pd.DataFrame(people.frame).sample(400, random_state=3).reset_index(drop=True)
    frame["pay"] = (frame["wage_per_hour"] // 200) * 200
    frame["w"] = np.random.default_rng(1).uniform(1.5, 6, len(frame))
    return people_of(frame[["age", "sex", "education", "pay", "w"]], ["age", "sex", "education"])


@pytest.mark.parametrize(
    ("records", "population"), [(1, 30.0), (2, 25.0), (5, 400.0), (3, 3.5), (40, 41.0), (4, 4.0)]
)
def test_the_chance_of_a_link_is_the_sum_over_all_sizes_of_the_population(
    records: int, population: float
) -> None:
    found = chance_of_link(np.array([records]), np.array([population]))[0]
    assert found == pytest.approx(expected_link(records, population), abs=1e-9)


def test_nobody_is_linked_to_no_record() -> None:
    assert chance_of_link(np.array([0, 1]), np.array([0.0, 1.0])).tolist() == [0.0, 1.0]


def test_beliefs_are_those_of_every_person_in_turn_as_the_target(tiny: eq.Microdata) -> None:
    frame = tiny_people()
    result = eq.assess(tiny, eq.Unprotected(), participation="unknown")
    chain = Chain(frame, KEYS, [1, 2, 3])
    assert result.participation is not None
    assert result.participation["learnt"] == {"order": chain.order, "strength": chain.strength}
    for number, (sex, town) in enumerate(every_class(frame)):
        alike = frame[(frame["sex"] == sex) & (frame["town"] == town)]
        others = chain.distribution({"sex": sex, "town": town})
        by_hand = belief_about(alike["pay"].tolist(), alike["w"].sum(), others)
        assert result.posteriors.probabilities[number] == pytest.approx(list(by_hand.values()), abs=1e-9)


def test_the_three_figures_by_hand(tiny: eq.Microdata) -> None:
    frame = tiny_people()
    found = eq.assess(tiny, eq.Unprotected()).summary["participation"]
    chain = Chain(frame, KEYS, [1, 2, 3])
    known, inside, chances = [], [], []
    prior = frame["pay"].value_counts(normalize=True)
    beliefs: list[tuple[float, float, float]] = []
    for number, (sex, town, pay, weight) in enumerate(frame.itertuples(index=False)):
        alike = frame[(frame["sex"] == sex) & (frame["town"] == town)]
        who = {"sex": sex, "town": town}
        known.append(-log2((alike["pay"] == pay).mean()))
        belief = belief_about(alike["pay"].tolist(), alike["w"].sum(), chain.distribution(who))
        inside.append(-log2(belief[pay]))
        others = alike.drop(index=number)
        without = chain.distribution(who, without=number)
        if len(others):
            without = belief_about(others["pay"].tolist(), others["w"].sum(), without)
        beliefs += [(belief[pay], prior[pay], 1.0), (without[pay], prior[pay], weight - 1)]
        chances.append(len(alike) * expected_link(len(alike), alike["w"].sum()))
    said, expected, people = np.array(beliefs).T

    def with_trust(trust: float) -> float:
        bits = -np.log2(trust * said + (1 - trust) * expected)
        return float((people * bits).sum() / people.sum())

    everyone = minimize_scalar(with_trust, bounds=(0, 1), method="bounded", options={"xatol": 1e-12}).fun
    figures = {each["name"]: each for each in found["figures"]}
    assert list(figures) == ["known", "unknown", "population"]
    assert figures["known"]["surprise"] == pytest.approx(np.mean(known), abs=1e-9)
    assert figures["unknown"]["surprise"] == pytest.approx(np.mean(inside), abs=1e-8)
    assert figures["population"]["surprise"] == pytest.approx(everyone, abs=1e-8)
    assert figures["unknown"]["chance"] == pytest.approx(np.mean(chances), abs=1e-8)
    assert figures["known"]["certain_right"] == 6
    assert figures["unknown"]["certain_right"] == 0
    assert found["population"] == frame["w"].sum()


def test_the_chance_of_a_link_is_the_individual_risk(drawn: eq.Microdata) -> None:
    for known in (["sex"], ["age", "sex", "education"]):
        found = eq.assess(drawn, eq.Unprotected(), known=known).participation
        risk = eq.models.individual_risk(drawn, known=known)
        assert found is not None
        assert found["individual_risk"]["expected"] == pytest.approx(risk.expected, rel=1e-12)
        assert found["individual_risk"]["highest"] == pytest.approx(risk.highest, rel=1e-12)


TECHNIQUES = [
    eq.Unprotected(),
    eq.Sampling(fraction=0.5),
    eq.PRAM(keep=0.5),
    eq.Swapping(rate=0.3),
    eq.NoiseAddition(percent=20),
    eq.NoiseAddition(percent=200),
    eq.Suppression(k=5),
    eq.Rounding(base=1000),
    eq.QueryRestriction(size=4),
]


@pytest.mark.parametrize("technique", TECHNIQUES, ids=lambda each: each.notation)
def test_unknown_participation_beats_known_by_a_tie_at_most(
    drawn: eq.Microdata, technique: eq.Technique
) -> None:
    result = eq.assess(drawn, technique, intruder="informed")
    known, unknown, _ = result.summary["participation"]["figures"]
    assert known["surprise"] == result.truth.overall.surprise
    assert unknown["surprise"] > known["surprise"] - 0.015
    asked = eq.assess(drawn, technique, intruder="informed", participation="unknown")
    truth = asked.summary["truth"]
    assert truth["surprise"][0.0] == pytest.approx(unknown["surprise"], abs=1e-9)
    assert (truth["certain_right"], truth["below_half_bit"]) == (
        unknown["certain_right"],
        pytest.approx(unknown["below_half_bit"]),
    )
    again = asked.summary["participation"]["figures"]
    assert [each["surprise"] for each in again] == pytest.approx(
        [each["surprise"] for each in result.summary["participation"]["figures"]], abs=1e-9
    )


def test_a_share_of_one_is_known_participation(drawn: eq.Microdata) -> None:
    plain = eq.assess(drawn, eq.PRAM(keep=0.5), known=["age"], intruder="informed")
    for share in (1, 1.0, "known", "1"):
        found = eq.assess(drawn, eq.PRAM(keep=0.5), known=["age"], participation=share, intruder="informed")
        assert found.summary == plain.summary
    near = eq.assess(drawn, eq.PRAM(keep=0.5), known=["age"], participation=1 - 1e-9, intruder="informed")
    assert near.truth.overall.surprise == pytest.approx(plain.truth.overall.surprise, abs=1e-6)


def test_a_share_is_everybodys_chance(drawn: eq.Microdata) -> None:
    known = eq.assess(drawn, eq.Unprotected()).posteriors.probabilities
    rows = [
        eq.assess(drawn, eq.Unprotected(), participation=share).posteriors.probabilities
        for share in (0.2, 0.6)
    ]
    shares = (rows[0] - 0.2 * known) / 0.8
    assert rows[1] == pytest.approx(0.6 * known + 0.4 * shares, abs=1e-12)
    assert shares.sum(axis=1) == pytest.approx(np.ones(len(shares)))


def test_a_register_counts_the_population() -> None:
    frame = tiny_people()
    everyone = pd.concat([frame] + [frame[frame["sex"] == "M"]] * 3)
    register = eq.Microdata(everyone, confidential="pay", keys=KEYS)
    bare = eq.Microdata(frame, confidential="pay", keys=KEYS)
    found = eq.assess(bare, eq.Unprotected(), participation="unknown", population=register)
    known = eq.assess(bare, eq.Unprotected())
    classes = found.posteriors.classes
    women = np.array([key == "F" for key in classes.keys["sex"]])
    assert found.posteriors.probabilities[women] == pytest.approx(
        known.posteriors.probabilities[women]
    )  # all of them are in the file
    assert found.participation is not None
    assert [each["chance"] for each in found.participation["figures"]] == pytest.approx(
        [1.0, (6 + 6 / 4) / 12, 12 / 30]
    )
    assert "1 person in the file is unique there" in found.participation["warning"]


def test_requirements_judge_known_participation_unless_another_is_named(tiny: eq.Microdata) -> None:
    figures = eq.assess(tiny, eq.Unprotected()).summary["participation"]["figures"]
    between = (figures[0]["surprise"] + figures[1]["surprise"]) / 2
    rules = [f"surprise >= {between}"]
    assert not eq.assess(tiny, eq.Unprotected(), require=rules).meets
    assert not eq.assess(tiny, eq.Unprotected(), require=rules, participation="known").meets
    assert eq.assess(tiny, eq.Unprotected(), require=rules, participation="unknown").meets
    for participation, meets in ((None, False), ("unknown", True)):
        done = eq.compare(tiny, [eq.Unprotected()], require=rules, participation=participation)
        assert bool(done.frame["meets"][0]) is meets
    figures = eq.assess(tiny, eq.Rounding(base=1)).summary["participation"]["figures"]
    rules = [f"surprise >= {(figures[0]['surprise'] + figures[1]['surprise']) / 2}"]
    for participation, mildest in ((None, False), ("unknown", True)):
        best = eq.choose(
            tiny, eq.Rounding, "base", low=1, high=4, step=1, require=rules, participation=participation
        )
        assert (best.value == 1) is mildest


def test_weights_below_one_count_as_one() -> None:
    frame = tiny_people()
    low = frame.assign(w=frame["w"].where(frame["w"] > 1.2, 0.4))
    found = eq.assess(people_of(low), eq.Unprotected()).participation
    one = eq.assess(people_of(low.assign(w=low["w"].clip(lower=1))), eq.Unprotected()).participation
    assert found is not None
    assert one is not None
    assert found["figures"] == one["figures"]
    assert found["remarks"] == [
        "1 survey weight below 1 counts as 1: a record stands for at least the person it is about."
    ]
    assert one["remarks"] == []


def test_normalised_weights_ask_for_the_size_of_the_population() -> None:
    frame = tiny_people()
    people = people_of(frame.assign(w=frame["w"] / frame["w"].mean()))
    found = eq.assess(people, eq.Unprotected()).participation
    assert found is not None
    assert [each["name"] for each in found["figures"]] == ["known"]
    assert "give its size with population=" in found["why_not"]
    with pytest.raises(InputError, match="give its size with population="):
        eq.assess(people, eq.Unprotected(), participation="unknown")
    size = float(frame["w"].sum())
    scaled = eq.assess(people, eq.Unprotected(), population=size).participation
    plain = eq.assess(people_of(frame), eq.Unprotected()).participation
    assert scaled is not None
    assert plain is not None
    for one, other in zip(scaled["figures"], plain["figures"], strict=True):
        assert one["surprise"] == pytest.approx(other["surprise"], abs=1e-12)


@pytest.mark.parametrize(
    ("weights", "given", "sentence"),
    [
        (True, {"participation": 1.5}, "participation is 1.5; give"),
        (True, {"participation": 0}, "participation is 0; give"),
        (True, {"participation": True}, "participation is True; give"),
        (True, {"participation": "perhaps"}, "participation is 'perhaps'; give"),
        (True, {"participation": float("nan")}, "participation is nan; give"),
        (True, {"population": 3}, "population is 3, fewer than the 12 records"),
        (True, {"population": "many"}, "population is 'many'; give the number of people"),
        (True, {"population": float("inf")}, "population is inf; give the number of people"),
        (False, {"participation": "unknown"}, "the people have no survey weights"),
        (False, {"population": 100}, "population is a number, but the people have no survey weights"),
        (False, {"participation": "unknown", "population": 100}, "have no survey weights"),
    ],
)
def test_mistakes_are_one_sentence(weights: bool, given: dict[str, Any], sentence: str) -> None:
    frame = tiny_people()
    people = people_of(frame) if weights else eq.Microdata(frame, confidential="pay", keys=KEYS)
    with pytest.raises(InputError) as raised:
        eq.assess(people, eq.Unprotected(), **given)
    assert sentence in str(raised.value)
    assert "\n" not in str(raised.value)


def test_a_weight_of_zero_or_none_is_refused() -> None:
    frame = tiny_people()
    frame.loc[4, "w"] = 0.0
    people = people_of(frame)
    found = eq.assess(people, eq.Unprotected()).participation
    assert found is not None
    assert "record 5 has the survey weight 0" in found["why_not"]
    with pytest.raises(InputError, match="record 5 has the survey weight 0"):
        eq.assess(people, eq.Unprotected(), participation="unknown")
    frame.loc[4, "w"] = np.nan
    with pytest.raises(InputError, match="holds nothing"):
        people_of(frame)


def test_a_control_group_needs_known_participation(tiny: eq.Microdata) -> None:
    with pytest.raises(InputError, match="with known participation"):
        eq.assess(tiny, eq.Unprotected(), participation="unknown", control=tiny_people())


def test_several_attributes_have_their_own_figures() -> None:
    frame = tiny_people().assign(ill=list("yynnyynnynyn"))
    people = eq.Microdata(frame, confidential=["pay", "ill"], keys=KEYS, weights="w")
    known = eq.assess(people, eq.Unprotected())
    unknown = eq.assess(people, eq.Unprotected(), participation="unknown")
    for name in ("pay", "ill"):
        rows = known.attributes[name].participation["figures"]
        assert unknown.attributes[name].truth.overall.surprise == pytest.approx(rows[1]["surprise"], abs=1e-9)
    assert unknown.together["surprise"] > known.together["surprise"]
    assert unknown.together["h0"] > known.together["h0"]


def test_terminal_report_and_facts_show_all_three(tmp_path: Path, tiny: eq.Microdata) -> None:
    result = eq.assess(tiny, eq.Unprotected())
    facts = core_facts(result)["participation"]
    assert [each["name"] for each in facts["figures"]] == ["known", "unknown", "population"]
    result.report(tmp_path / "report.html")
    page = (tmp_path / "report.html").read_text()
    tiny_people().to_csv(tmp_path / "people.csv", index=False)
    words = "assess people.csv --confidential pay --keys sex,town --weights w"
    printed = " ".join(run_command(tmp_path, words.split()).stdout.split())
    for text in ("participation known", "people in the file, participation unknown", facts["warning"]):
        assert text in page
        assert text in printed
    assert facts["sentence"] in printed
    asked = run_command(tmp_path, [*words.split(), "--participation", "unknown"]).stdout
    assert "She does not know whether her target took part" in " ".join(asked.split())
    wrong = run_command(tmp_path, [*words.split(), "--participation", "perhaps"])
    assert (wrong.returncode, wrong.stdout) == (2, "")
    assert "participation is 'perhaps'" in wrong.stderr


def test_a_comparison_is_planned_with_participation(tmp_path: Path) -> None:
    tiny_people().to_csv(tmp_path / "people.csv", index=False)
    plan = """
        data = { path = "people.csv", confidential = "pay", keys = ["sex", "town"], weights = "w" }
        technique = [{ name = "unprotected" }]
        compare = { participation = "unknown" }
    """
    (tmp_path / "plan.toml").write_text(plan.replace("        ", ""))
    done = run_command(tmp_path, ["compare", "plan.toml", "--json"])
    again = run_command(tmp_path, ["compare", "plan.toml", "--participation", "known", "--json"])
    rows = [json.loads(each.stdout) for each in (done, again)]
    surprise = [row["techniques"][0]["risks"]["surprise"]["mean"] for row in rows]
    known, unknown, _ = eq.assess(people_of(tiny_people()), eq.Unprotected()).participation["figures"]
    assert surprise == pytest.approx([unknown["surprise"], known["surprise"]], abs=1e-12)


# The figure of the population, from a sample and its weights, against the truth about everybody.


def truth_about_everybody(
    everyone: pd.DataFrame, file: pd.DataFrame, keys: list[str], learnt: Any, values: int
) -> float:
    """T of the population for an intruder with this file: everybody's class is looked up in the file, in plain pandas.

    The order of the keys and the strength are the intruder's own, learnt from the file.
    """
    weight = file["w"] / file["w"].mean()
    found = pd.Series(1 / values, index=everyone.index)
    for length in range(len(keys) + 1):
        used = learnt["order"][:length]
        strength = learnt["strength"] if length else 0.5
        sums = weight.groupby([file[key] for key in [*used, "pay"]]).sum()
        sizes = weight.groupby([file[key] for key in used]).sum() if used else float(weight.sum())
        here = pd.MultiIndex.from_frame(everyone[[*used, "pay"]]) if used else everyone["pay"]
        count = pd.Series(sums.reindex(here).fillna(0).to_numpy(), index=everyone.index)
        if used:
            group = pd.MultiIndex.from_frame(everyone[used]) if len(used) > 1 else everyone[used[0]]
            size = pd.Series(sizes.reindex(group).fillna(0).to_numpy(), index=everyone.index)
        else:
            size = sizes
        found = (count + strength * found) / (size + strength)
    group = everyone.merge(
        file.groupby(keys).agg(f=("w", "size"), total=("w", "sum")).reset_index(), on=keys, how="left"
    ).fillna(0)
    own = everyone.merge(
        file.groupby([*keys, "pay"]).size().rename("same").reset_index(), on=[*keys, "pay"], how="left"
    ).fillna(0)
    pairs = {(int(f), round(total, 9)) for f, total in zip(group["f"], group["total"], strict=True) if f}
    links = {pair: expected_link(*pair) for pair in pairs}
    link = np.array(
        [
            links[int(f), round(total, 9)] if f else 0.0
            for f, total in zip(group["f"], group["total"], strict=True)
        ]
    )
    chance = link * group["f"].to_numpy()
    belief = link * own["same"].to_numpy() + (1 - chance) * found.to_numpy()
    return float(-np.log2(belief).mean())


@pytest.mark.parametrize("fraction", [0.2, 0.5])
def test_the_populations_figure_is_the_truth_about_everybody(fraction: float) -> None:
    everyone = eq.datasets.acs_like(8000, seed=5).rename(columns={"Salary": "pay"})
    keys, values = ["Age", "Sex", "Education"], sorted(everyone["pay"].unique())
    apart, gaps = [], []
    for seed in (0, 1):
        file = everyone.sample(frac=fraction, random_state=seed).assign(w=1 / fraction)
        people = people_of(file[[*keys, "pay", "w"]], keys, domain=values)
        found = eq.assess(people, eq.Unprotected()).participation
        assert found is not None
        inside, estimate = (each["surprise"] for each in found["figures"][1:])
        truth = truth_about_everybody(everyone, file, keys, found["learnt"], len(values))
        apart.append(estimate - truth)
        gaps.append(estimate - inside)
    assert abs(np.mean(apart)) < 0.06
    wrong = people_of(file[[*keys, "pay", "w"]].assign(w=1.02), keys, domain=values)
    found = eq.assess(wrong, eq.Unprotected()).participation
    assert found is not None
    assert (
        found["figures"][2]["surprise"] < truth - 0.2
    )  # with weights that are too small it is another figure
    assert min(gaps) > 0.1  # what the file says about its own people is not about the population


REFERENCE = {
    3: ((1.850, 434), (2.542, 0), 2.773),
    6: ((0.029, 5145), (2.045, 0), 2.726),
}
"""By the number of known keys: known, people in the file, population; bits, and people certain and right."""


@pytest.fixture(scope="module")
def idaho() -> pd.DataFrame:
    path = SHARED / "acs2006_idaho_workers.csv"
    if not path.exists():
        pytest.skip("the shared survey file is not here")
    frame = pd.read_csv(path)
    pay = np.floor(frame["WAGP"] / 10_000 + 0.5) * 10_000
    frame = frame.assign(pay=pay.clip(upper=250_000), w=frame["PWGTP"].astype(float))
    return frame[frame["pay"] > 0].reset_index(drop=True)


IDAHO_KEYS = ["AGEP", "SEX", "SCHL16", "IND18", "OCC25", "JWMNP"]


@pytest.mark.parametrize("many", [3, 6])
def test_reference_figures(idaho: pd.DataFrame, many: int) -> None:
    people = people_of(idaho[[*IDAHO_KEYS, "pay", "w"]], IDAHO_KEYS)
    found = eq.assess(people, eq.Unprotected(), known=IDAHO_KEYS[:many]).participation
    assert found is not None
    (known, right), (inside, inside_right), everyone = REFERENCE[many]
    figures = found["figures"]
    assert [each["surprise"] for each in figures] == pytest.approx([known, inside, everyone], abs=0.05)
    assert [each["certain_right"] for each in figures] == [right, inside_right, 0]
    assert round(found["population"]) == 550_235
    assert figures[2]["prior_surprise"] == pytest.approx(2.927, abs=0.001)


@pytest.mark.parametrize(("fraction", "estimate", "true"), [(0.2, 2.769, 2.735), (0.5, 2.457, 2.452)])
def test_a_survey_taken_as_the_population(
    idaho: pd.DataFrame, fraction: float, estimate: float, true: float
) -> None:
    keys, domain = IDAHO_KEYS[:3], sorted(idaho["pay"].unique())
    drawn = np.random.default_rng(0).choice(len(idaho), round(fraction * len(idaho)), replace=False)
    file = idaho.iloc[drawn].assign(w=1 / fraction)
    found = eq.assess(people_of(file, keys, domain=domain), eq.Unprotected()).participation
    assert found is not None
    truth = truth_about_everybody(idaho, file, keys, found["learnt"], len(domain))
    assert found["figures"][2]["surprise"] == pytest.approx(truth, abs=0.06)
    assert found["figures"][2]["surprise"] == pytest.approx(estimate, abs=0.05)
    assert truth == pytest.approx(true, abs=0.05)


def test_a_register_undoes_unknown_participation_for_the_unique(idaho: pd.DataFrame) -> None:
    """A fifth of the file, all keys, and a register of all of it: nothing protects the people in it."""
    file = idaho.sample(frac=0.2, random_state=0).reset_index(drop=True)
    register = eq.Microdata(idaho, confidential="pay", keys=IDAHO_KEYS)
    people = eq.Microdata(file, confidential="pay", keys=IDAHO_KEYS)
    result = eq.assess(people, eq.Unprotected(), participation="unknown", population=register)
    assert result.truth.overall.surprise == pytest.approx(0.031, abs=0.05)


def test_the_negative_binomial_is_a_distribution() -> None:
    """The oracle itself: it sums to 1, so that the sum over F above leaves nothing out."""
    assert nbinom.pmf(np.arange(6000), 2, 0.08).sum() == pytest.approx(1.0, abs=1e-12)
