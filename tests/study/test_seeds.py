"""A cell is a function of its key: order, other cells, workers and store change nothing."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pandas as pd
import pytest

import equivoc as eq
from equivoc.parallel import cores, on_one_core

TECHNIQUES = [
    eq.Sampling(fraction=0.2),
    eq.Sampling(fraction=0.5),
    eq.QueryRestriction(size=4),
    eq.NoiseAddition(percent=30),
]


def run(people: eq.Microdata, techniques: list = TECHNIQUES, **options: object) -> pd.DataFrame:
    asked = {"replicates": 3, "seed": 1, **{k: v for k, v in options.items() if k in ("replicates", "seed")}}
    how = {k: v for k, v in options.items() if k not in asked}
    return eq.Study(people, techniques=techniques, **asked).run(progress=False, **how).results


def as_bytes(results: pd.DataFrame) -> bytes:
    return results.to_csv(index=False).encode()


@pytest.fixture(scope="module")
def alone(people: eq.Microdata) -> pd.DataFrame:
    return run(people)


def test_workers_and_store_give_equal_bytes(
    people: eq.Microdata, alone: pd.DataFrame, tmp_path: Path
) -> None:
    assert as_bytes(run(people, workers=4, store=tmp_path / "four")) == as_bytes(alone)
    assert as_bytes(run(people, store=tmp_path / "one")) == as_bytes(alone)
    assert as_bytes(eq.load_study(tmp_path / "four").results) == as_bytes(alone)
    assert as_bytes(eq.Study.load(tmp_path / "one").results) == as_bytes(alone)


def test_order_and_other_techniques_change_nothing(people: eq.Microdata, alone: pd.DataFrame) -> None:
    key = ["technique", "parameters", "known_size", "replicate"]
    turned = run(people, TECHNIQUES[::-1])
    assert turned["technique"].iloc[0] == "noise-addition"  # the study's order
    assert as_bytes(turned.sort_values(key)) == as_bytes(alone.sort_values(key))
    more = run(people, [eq.Sampling(fraction=0.9), *TECHNIQUES], replicates=4)
    same = more[(more["parameters"] != "fraction=0.9") & (more["replicate"] < 3)]
    assert as_bytes(same) == as_bytes(alone)


def test_the_seed_and_the_replicate_matter(people: eq.Microdata, alone: pd.DataFrame) -> None:
    other = run(people, seed=2)
    for technique in ("sampling", "query-restriction", "noise-addition"):
        of = alone["technique"] == technique
        assert not np.isclose(alone.loc[of, "h0_record"], other.loc[of, "h0_record"]).all()
        assert alone.loc[of & (alone["known_size"] == 1), "h0"].nunique() > 2


def test_the_same_parameter_written_otherwise_is_the_same_cell(people: eq.Microdata) -> None:
    whole, decimal = (run(people, [eq.NoiseAddition(percent=p)], replicates=1) for p in (30, 30.0))
    assert as_bytes(whole) == as_bytes(decimal)
    assert decimal["parameters"].unique().tolist() == ["percent=30"]


def test_a_cell_keeps_to_one_core() -> None:
    before = cores()
    with on_one_core():
        assert cores() == 1
    assert cores() == before


def test_a_worker_that_dies_is_said_in_a_sentence(people: eq.Microdata) -> None:
    with pytest.raises(eq.InputError, match="worker process ended"):
        eq.Study(people, techniques=[Deadly()], replicates=2).run(workers=2, progress=False)


def test_a_technique_that_cannot_be_used_on_the_data_is_named(people: eq.Microdata) -> None:
    study = eq.Study(people, techniques=[eq.QueryRestriction(size=300)], replicates=2)
    with pytest.raises(
        eq.InputError, match=r"query-restriction:size=300, replicate [01]: .*only 200 records"
    ):
        study.run(workers=2, progress=False)


def test_too_little_memory_is_said_in_a_sentence(people: eq.Microdata) -> None:
    study = eq.Study(people, techniques=[Greedy()], replicates=1)
    with pytest.raises(eq.InputError, match="greedy, replicate 0: there is too little memory for 10 values"):
        study.run(progress=False)


class Greedy(eq.Unprotected):
    """A technique that runs out of memory."""

    name = "greedy"

    def release(self, people: eq.Microdata, rng: object = None) -> object:
        raise MemoryError


class Deadly(eq.Unprotected):
    """A technique that ends its process, as the system does when memory runs out."""

    random = True

    name = "deadly"

    def release(self, people: eq.Microdata, rng: object = None) -> object:
        import os

        os._exit(9)
