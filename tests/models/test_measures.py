"""The frame of all measures: its values are those of each measure, measures that do not apply have no row, sentences
contain the numbers."""

from __future__ import annotations

from typing import Any

import duckdb
import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest

import equivoc as eq
from equivoc.data.microdata import Microdata
from equivoc.models.of_release import release_measures
from tests.models.released import KEYS, Record, given, microdata

MODELS = eq.models
OF_A_FILE = {
    "k-anonymity",
    "l-diversity, distinct",
    "l-diversity, entropy",
    "l-diversity, recursive (c = 3)",
    "(α,k)-anonymity, α",
    "t-closeness, ordered",
    "t-closeness, equal",
    "β-likeness, basic",
    "β-likeness, enhanced",
    "δ-disclosure privacy",
    "δ-disclosure privacy, values that occur",
    "prosecutor risk, highest",
    "prosecutor risk, average",
    "SUDA, special uniques",
}
OF_AN_INTRUDER = {
    "H0",
    "A",
    "Oganian–Domingo-Ferrer",
    "Trottini–Fienberg, variance",
    "Trottini–Fienberg, entropy",
    "min-entropy, average",
    "min-entropy, lowest",
    "Bayes vulnerability",
    "conditional min-entropy",
    "min-entropy leakage",
}
KNOWN_CHANNEL = {"maximal leakage"}
OF_THE_ORIGINAL = {
    "H0, original",
    "A, original",
    "k-anonymity, original",
    "l-diversity, distinct, original",
    "t-closeness, ordered, original",
    "prosecutor risk, average, original",
}
OF_BOTH = {
    "Skinner–Elliot θ",
    "Truta, minimal",
    "Truta, maximal",
    "Truta, weighted",
    "Spruill, squared distance",
    "Spruill, absolute distance",
}
OF_A_PART = {"journalist risk, highest", "marketer risk", "δ-presence, δ_max", "Skinner–Elliot θ, estimated"}


POPULATION = {
    "dankar": "Dankar's rule",
    "pitman": "Pitman",
    "negative-binomial": "negative binomial",
    "snb": "SNB",
    "log-linear": "log-linear",
}


def values(frame: Any) -> dict[str, float]:
    columns = frame.to_pydict()
    assert len(set(columns["measure"])) == len(columns["measure"])
    return dict(zip(columns["measure"], columns["value"], strict=True))


def of_a_file(people: Microdata, known: list[str]) -> dict[str, float]:
    """The measures of a file, called one by one."""
    prosecutor = MODELS.prosecutor_risk(people, known=known)
    few = MODELS.suda(people, known=known, max_size=min(2, len(known))) if known else None
    found = {
        "k-anonymity": MODELS.k_anonymity(people, known=known),
        "l-diversity, distinct": MODELS.l_diversity(people, known=known),
        "l-diversity, entropy": MODELS.l_diversity(people, known=known, kind="entropy"),
        "l-diversity, recursive (c = 3)": MODELS.l_diversity(people, known=known, kind="recursive", c=3),
        "(α,k)-anonymity, α": MODELS.alpha_k_anonymity(people, known=known).alpha,
        "t-closeness, ordered": MODELS.t_closeness(people, known=known),
        "t-closeness, equal": MODELS.t_closeness(people, known=known, distance="equal"),
        "β-likeness, basic": MODELS.beta_likeness(people, known=known),
        "β-likeness, enhanced": MODELS.beta_likeness(people, known=known, kind="enhanced"),
        "δ-disclosure privacy": MODELS.delta_disclosure(people, known=known),
        "δ-disclosure privacy, values that occur": MODELS.delta_disclosure(people, known=known, absent=False),
        "prosecutor risk, highest": prosecutor.highest,
        "prosecutor risk, average": prosecutor.average,
    }
    if few is not None:
        found["SUDA, special uniques"] = np.mean(few.score > 0)
    return found


def of_an_intruder(posteriors: Any) -> dict[str, float]:
    """Averages over people, class by class repeated as often as it has members."""
    curves, sizes = posteriors.curves(), posteriors.sizes
    everyone = np.sort(np.repeat(MODELS.oganian_domingo_ferrer(posteriors), sizes))
    guesses = MODELS.min_entropy(posteriors)
    return {
        "min-entropy, average": np.repeat(guesses, sizes).mean(),
        "min-entropy, lowest": guesses.min(),
        "Bayes vulnerability": MODELS.bayes_vulnerability(posteriors),
        "conditional min-entropy": MODELS.conditional_min_entropy(posteriors),
        "min-entropy leakage": MODELS.min_entropy_leakage(posteriors),
        "H0": np.repeat(curves.h0, sizes).mean(),
        "A": np.repeat(curves.area, sizes).mean(),
        "Oganian–Domingo-Ferrer": everyone[(len(everyone) - 1) // 2],
        "Trottini–Fienberg, variance": np.repeat(MODELS.trottini_fienberg(posteriors), sizes).mean(),
        "Trottini–Fienberg, entropy": np.repeat(
            MODELS.trottini_fienberg(posteriors, uncertainty="entropy"), sizes
        ).mean(),
    }


@pytest.mark.parametrize("known", [["age", "sex"], ["sex"], []])
def test_the_unprotected_file(people: Microdata, known: list[str]) -> None:
    found = values(eq.measures(people, known=known))
    expected = of_an_intruder(eq.Unprotected().release(people).posteriors(known)) | of_a_file(people, known)
    expected["maximal leakage"] = np.log2(len(people.values))
    assert found == pytest.approx(expected)
    of_a_file_here = OF_A_FILE if known else OF_A_FILE - {"SUDA, special uniques"}
    assert found.keys() == OF_AN_INTRUDER | KNOWN_CHANNEL | of_a_file_here


@pytest.mark.parametrize("technique", [eq.Sampling(0.4), eq.NoiseAddition(50)], ids=lambda t: t.name)
def test_a_release_with_a_table(people: Microdata, technique: Any) -> None:
    release = technique.release(people, 3)
    found = values(eq.measures(people, release))
    released = Microdata(release.table, confidential="pay", keys=list(KEYS), domain=people.values)
    expected = of_an_intruder(release.posteriors(KEYS)) | of_a_file(released, list(KEYS))
    published = of_an_intruder(
        eq.Unprotected().release(people).posteriors(KEYS, intruder="paper")
    ) | of_a_file(people, list(KEYS))
    expected |= {name: published[name.removesuffix(", original")] for name in OF_THE_ORIGINAL}
    theta = MODELS.skinner_elliot(people, release)
    shares = MODELS.truta(people, release)
    expected |= {
        "maximal leakage": MODELS.maximal_leakage(release),
        "Skinner–Elliot θ": theta.theta,
        "Truta, minimal": shares.minimal,
        "Truta, maximal": shares.maximal,
        "Truta, weighted": shares.weighted,
        "Spruill, squared distance": MODELS.spruill(people, release),
        "Spruill, absolute distance": MODELS.spruill(people, release, distance="absolute"),
    }
    if technique.name == "sampling":
        expected |= {
            "Skinner–Elliot θ, estimated": theta.estimate,
            "journalist risk, highest": MODELS.journalist_risk(released, population=people).highest,
            "marketer risk": MODELS.marketer_risk(released, population=people).share,
            "δ-presence, δ_max": MODELS.delta_presence(released, population=people).high,
        }
        estimated = {name: {"model": name} for name in ("pitman", "snb", "negative-binomial", "dankar")}
        estimated["log-linear"] = {"model": "log-linear", "interactions": 1}
        for name, row in POPULATION.items():
            found_share = MODELS.population_uniques(released, fraction=0.4, **estimated[name]).share
            expected[f"population uniques, {row}"] = found_share
    assert found == pytest.approx(expected)


def test_where_no_table_is_released_only_the_intruder_is_measured(people: Microdata) -> None:
    release = eq.QueryRestriction(size=4).release(people, 1)
    assert values(eq.measures(people, release)).keys() == OF_AN_INTRUDER | OF_THE_ORIGINAL


def test_a_table_of_cells_is_no_table_of_records(people: Microdata) -> None:
    release = eq.NoisyTable(epsilon=1).release(people, 1)
    assert len(release.table) > len(people)
    assert values(eq.measures(people, release)).keys() == OF_AN_INTRUDER | OF_THE_ORIGINAL
    with pytest.raises(eq.InputError, match="the release has no table of records"):
        MODELS.truta(people, release)


def released_as(records: list[Record], made_from: list[int] | None, **change: Any) -> tuple[Microdata, Any]:
    people = microdata(records)
    return people, given(people, [record | change for record in records], made_from)


def test_released_values_that_are_no_numbers_leave_k(records: list[Record]) -> None:
    people, release = released_as(records, list(range(40)), pay="10-20")
    found = values(eq.measures(people, release))
    left_out = OF_A_FILE - {"k-anonymity"}
    everything = OF_AN_INTRUDER | KNOWN_CHANNEL | OF_THE_ORIGINAL | OF_A_FILE | OF_BOTH
    assert found.keys() == everything - left_out
    assert found["k-anonymity"] == eq.models.k_anonymity(people)


def test_fewer_rows_that_are_not_a_part_of_the_original(people: Microdata, records: list[Record]) -> None:
    """The release has an age that is not in the original, so the original cannot be its population."""
    kept = [i for i, record in enumerate(records) if record["age"] is not None]
    rows = [records[i] for i in kept]
    attacks = OF_A_PART - {"Skinner–Elliot θ, estimated"}
    assert values(eq.measures(people, given(people, rows, kept))).keys() >= attacks
    rows[0] = rows[0] | {"age": 99}
    assert not values(eq.measures(people, given(people, rows, kept))).keys() & attacks


def test_rows_of_unknown_origin(records: list[Record]) -> None:
    people, release = released_as(records, None)
    found = values(eq.measures(people, release))
    assert OF_BOTH - found.keys() == {"Spruill, squared distance", "Spruill, absolute distance"}


def test_a_key_that_was_not_released(people: Microdata, records: list[Record]) -> None:
    rows = [{"sex": r["sex"], "pay": r["pay"]} for r in records]
    release = given(people, rows, list(range(40)))
    assert values(eq.measures(people, release)).keys() == OF_AN_INTRUDER | KNOWN_CHANNEL | OF_THE_ORIGINAL
    assert values(eq.measures(people, release, known=["sex"])).keys() >= OF_A_FILE | (
        OF_BOTH - {"Skinner–Elliot θ"}
    )


def test_spruill_is_left_out_of_large_releases(people: Microdata, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(release_measures, "MOST_LINKED", 39)
    found = values(eq.measures(people, eq.Unprotected().release(people)))
    assert not any(name.startswith("Spruill") for name in found)
    assert found["Skinner–Elliot θ"] == 1.0


def test_survey_weights_bring_their_own(records: list[Record]) -> None:
    table = pa.Table.from_pylist([r | {"w": 5 + i % 3} for i, r in enumerate(records)])
    people = Microdata(table, confidential="pay", keys=list(KEYS), weights="w")
    found = values(eq.measures(people))
    individual = MODELS.individual_risk(people)
    assert found["individual risk, highest"] == individual.highest
    assert found["global risk"] == individual.share
    assert found["journalist risk, highest"] == MODELS.journalist_risk(people).highest
    assert found["marketer risk"] == MODELS.marketer_risk(people).share
    light = Microdata(
        table.set_column(3, "w", [[0.5] * 40]), confidential="pay", keys=list(KEYS), weights="w"
    )
    assert values(eq.measures(light)).keys() == OF_AN_INTRUDER | KNOWN_CHANNEL | OF_A_FILE


KINDS = {
    "pandas": (lambda t: t.to_pandas(), pd.DataFrame),
    "polars": (pl.DataFrame, pl.DataFrame),
    "pyarrow": (lambda t: t, pa.Table),
    "duckdb": (duckdb.from_arrow, duckdb.DuckDBPyRelation),
}


@pytest.mark.parametrize("kind", KINDS)
def test_a_frame_of_the_kind_that_went_in(kind: str, records: list[Record]) -> None:
    make, expected = KINDS[kind]
    people = Microdata(make(pa.Table.from_pylist(records)), confidential="pay", keys=list(KEYS))
    release = eq.Sampling(0.5).release(people, 1)
    found = eq.measures(people, release)
    assert isinstance(found, expected)
    if kind == "duckdb":
        found = found.to_arrow_table()
    if not isinstance(found, pa.Table):
        found = pa.Table.from_pandas(found) if kind == "pandas" else found.to_arrow()
    assert found.column_names[:3] == ["measure", "value", "meaning"]
    same = microdata(records)
    assert values(found) == values(eq.measures(same, eq.Sampling(0.5).release(same, 1)))


def test_every_meaning_is_one_sentence_with_the_safe_direction(people: Microdata) -> None:
    for release in (None, eq.Sampling(0.4).release(people, 1), eq.NoiseAddition(50).release(people, 1)):
        for known in (list(KEYS), ["age"], []):
            columns = eq.measures(people, release, known=known).to_pydict()
            for measure, meaning in zip(columns["measure"], columns["meaning"], strict=True):
                assert meaning.endswith(("; more is safer.", "; less is safer.")), measure
                assert ". " not in meaning, meaning
                assert meaning[0] == meaning[0].upper()
                assert any(c.isdigit() for c in meaning) or "nobody" in meaning, meaning


def test_sentences_hold_the_numbers_of_this_file() -> None:
    frame = pd.DataFrame({"age": [30, 30, 41, 41, 52], "pay": [10, 20, 30, 30, 50]})
    people = Microdata(frame, confidential="pay", keys=["age"])
    told = eq.measures(people, eq.Unprotected().release(people)).set_index("measure")["meaning"]
    assert told["k-anonymity"] == "Someone looks like nobody else on age; 1 record is alone; more is safer."
    assert "0.4 bits of uncertainty about the exact pay of a random person (at most 2)" in told["H0"]
    assert "certain of 3 of 5 records (60.0%)" in told["H0"]
    assert "3 of 5 records (60.0%) are in a class with one value only" in told["l-diversity, distinct"]
    assert "with probability 0.6" in told["prosecutor risk, average"]
    assert "In both files 1 of 5 records (20.0%) are unique" in told["Truta, minimal"]
    assert "A single key makes 1 of 5 records (20.0%) unique" in told["SUDA, special uniques"]


def test_the_order_of_rows_changes_nothing(records: list[Record], people: Microdata) -> None:
    rows = eq.NoiseAddition(50).release(people, 2).table.to_pylist()
    order = np.random.default_rng(6).permutation(40).tolist()
    other = microdata([records[i] for i in order])
    one = values(eq.measures(people, given(people, rows, list(range(40)))))
    two = values(eq.measures(other, given(other, [rows[i] for i in order], list(range(40)))))
    assert one == pytest.approx(two)


def test_bad_input(people: Microdata) -> None:
    with pytest.raises(eq.InputError, match="'agee' is not a key"):
        eq.measures(people, known=["agee"])
    with pytest.raises(eq.InputError, match="other people"):
        eq.measures(microdata([{"age": 1, "sex": "F", "pay": 1}]), eq.Unprotected().release(people))
    with pytest.raises(eq.InputError, match="release is a Sampling; make one"):
        eq.measures(people, eq.Sampling(0.5))  # type: ignore[arg-type]
    with pytest.raises(eq.InputError, match="people is a list"):
        eq.measures([1, 2])  # type: ignore[arg-type]
