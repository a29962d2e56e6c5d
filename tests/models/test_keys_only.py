"""People without a confidential column: measures of the keys as with one, all others refused."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pandas as pd
import pytest

import equivoc as eq
from tests.commands import run_command

FRAME = pd.DataFrame(
    {"age": [20, 21, 20, 21, 30] * 3, "sex": list("FMFMF") * 3, "w": [3.0] * 15, "pay": range(15)}
)
KEYS = ["age", "sex"]
BARE = eq.Microdata(FRAME, keys=KEYS, weights="w")
WHOLE = eq.Microdata(FRAME, confidential="pay", keys=KEYS, weights="w")
OF_KEYS: dict[str, Callable[[eq.Microdata], Any]] = {
    "k": lambda people: [eq.models.k_anonymity(people), eq.models.k_anonymity(people, known=["sex"])],
    "prosecutor": eq.models.prosecutor_risk,
    "journalist": eq.models.journalist_risk,
    "marketer": eq.models.marketer_risk,
    "individual": lambda people: eq.models.individual_risk(people).highest,
    "uniques": lambda people: str(eq.models.population_uniques(people)),
    "suda": lambda people: eq.models.suda(people).smallest_msu.tolist(),
    "presence": lambda people: eq.models.delta_presence(people, population=people),
    "table": lambda people: eq.tabulate(people, ["age"]).frame["value"].tolist(),
}
NEEDS: dict[str, Callable[[eq.Microdata], Any]] = {
    "l": eq.models.l_diversity,
    "t": eq.models.t_closeness,
    "alpha": eq.models.alpha_k_anonymity,
    "beta": eq.models.beta_likeness,
    "delta": eq.models.delta_disclosure,
    "assess": lambda people: eq.assess(people, eq.Unprotected()),
    "compare": lambda people: eq.compare(people, [eq.Sampling(0.5)]),
    "choose": lambda people: eq.choose(people, eq.Sampling, require=["h0 >= 1"]),
    "protect": lambda people: eq.protect(people, eq.Suppression(2), "never.csv"),
    "audit": lambda people: eq.audit(people, "SELECT COUNT(*) FROM people"),
    "release": lambda people: eq.Suppression(2).release(people),
    "budget": eq.budget,
    "together": lambda people: people.together,
    "values": lambda people: people.values,
}


@pytest.mark.parametrize("name", OF_KEYS)
def test_measures_of_the_keys_are_the_same(name: str) -> None:
    assert OF_KEYS[name](BARE) == OF_KEYS[name](WHOLE)


@pytest.mark.parametrize("name", NEEDS)
def test_what_needs_a_confidential_attribute_says_so(name: str) -> None:
    with pytest.raises(
        eq.InputError, match="have no confidential attribute, so only their keys can be measured"
    ):
        NEEDS[name](BARE)


@pytest.mark.parametrize("source", ["csv", "parquet"])
def test_the_command_needs_no_confidential_column(source: str, tmp_path: Path) -> None:
    file = tmp_path / f"people.{source}"
    FRAME.to_csv(file, index=False) if source == "csv" else FRAME.to_parquet(file)
    done = run_command(tmp_path, ["measures", file.name, "--keys", "age,sex", "--weights", "w", "--json"])
    assert done.returncode == 0, done.stderr
    told = {row["measure"]: row["value"] for row in json.loads(done.stdout)["measures"]}
    whole = eq.measures(WHOLE).set_index("measure")["value"]
    assert {
        "k-anonymity",
        "prosecutor risk, highest",
        "individual risk, highest",
        "SUDA, special uniques",
    } <= set(told)
    assert told == pytest.approx({name: whole[name] for name in told})
    for extra in (["--technique", "sampling:fraction=0.5"], ["--round-to", "10"]):
        done = run_command(tmp_path, ["measures", file.name, "--keys", "age,sex", *extra])
        assert (done.returncode, done.stdout) == (2, "")


def test_at_least_one_role() -> None:
    with pytest.raises(eq.InputError, match="no column has a role"):
        eq.Microdata(FRAME)
    with pytest.raises(eq.InputError, match="round_to and domain are about a confidential column"):
        eq.Microdata(FRAME, keys=KEYS, round_to=10)
    assert eq.Microdata(FRAME, keys=KEYS, sample=4).drawn_from == 15
    assert repr(BARE) == "<Microdata: 15 records, confidential none, keys age, sex>"
