"""The seed is nowhere unless asked for; differentially private noise has none and comes from OpenDP."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest

import equivoc as eq
from equivoc.protection import protect as protect_module
from equivoc.techniques import geometric_noise as geometric_mechanism
from tests.decide.protection.conftest import cells

DRAWN = 918273645546372819


@pytest.mark.parametrize("given", [None, DRAWN])
def test_a_withheld_seed_is_nowhere(given, people, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(protect_module, "drawn_seed", lambda: DRAWN)
    done = eq.protect(people, eq.NoiseAddition(percent=40), tmp_path / "p.csv", seed=given)
    outputs = [done.path.read_text(), done.certificate_path.read_text(), repr(done), str(done.certificate)]
    for text in outputs:
        assert str(DRAWN) not in text
        assert f"{DRAWN:x}" not in text
    assert done.certificate["seed"] is None
    assert done.certificate["randomness"] == "a seed, withheld"


def test_the_seed_on_request(people, tmp_path: Path) -> None:
    done = eq.protect(people, eq.NoiseAddition(percent=40), tmp_path / "p.csv", show_seed=True)
    assert json.loads(done.certificate_path.read_text())["seed"] == done.certificate["seed"]
    again = eq.protect(
        people, eq.NoiseAddition(percent=40), tmp_path / "q.csv", seed=int(done.certificate["seed"])
    )
    assert again.path.read_bytes() == done.path.read_bytes()
    assert any("can undo the random changes" in warning for warning in done.warnings)


def test_drawn_seeds_differ_and_are_long(people, tmp_path: Path) -> None:
    seeds = {
        int(eq.protect(people, eq.Swapping(rate=0.5), tmp_path / "p.csv", show_seed=True).certificate["seed"])
        for _ in range(3)
    }
    assert len(seeds) == 3
    assert max(seeds) > 2**100


def test_a_seed_that_is_easy_to_guess_is_warned_of(people, tmp_path: Path) -> None:
    done = eq.protect(people, eq.Swapping(rate=0.5), tmp_path / "p.csv", seed=7)
    assert any("easy to guess" in warning for warning in done.warnings)


@pytest.mark.parametrize("technique", [eq.GeometricNoise(epsilon=1), eq.NoisyTable(epsilon=1)])
def test_private_noise_comes_from_opendp(
    technique, people, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    asked = []
    trusted = geometric_mechanism._trusted
    monkeypatch.setattr(
        geometric_mechanism, "_trusted", lambda *given: asked.append("OpenDP") or trusted(*given)
    )
    one = eq.protect(people, technique, tmp_path / "one.csv")
    assert asked == ["OpenDP"]
    monkeypatch.setattr(
        geometric_mechanism, "_trusted", lambda numbers, scale: np.zeros_like(numbers)
    )  # what is written is what OpenDP gave, nothing added
    zero = eq.protect(people, technique, tmp_path / "zero.csv")
    column = "count" if isinstance(technique, eq.NoisyTable) else "pay"
    assert {row[column] for row in cells(zero.path)} <= {"0", "10"}
    monkeypatch.setattr(geometric_mechanism, "_trusted", trusted)
    two = eq.protect(people, technique, tmp_path / "two.csv")
    assert sorted(map(str, cells(one.path))) != sorted(map(str, cells(two.path)))
    assert one.certificate["randomness"] == "the operating system, through OpenDP"


@pytest.mark.parametrize("technique", [eq.GeometricNoise(epsilon=1), eq.NoisyTable(epsilon=1)])
def test_private_noise_has_no_seed(technique, people, source: Path, tmp_path: Path) -> None:
    with pytest.raises(eq.InputError, match="noise that can be repeated is not private"):
        eq.protect(people, technique, tmp_path / "p.csv", seed=7)
    done = eq.protect(people, technique, tmp_path / "p.csv", show_seed=True)
    assert done.certificate["seed"] is None
    assert any("the privacy budget covers the file, not the certificate" in said for said in done.warnings)
    with pytest.raises(eq.InputError, match="has no seed"):
        eq.verify(done.certificate_path, source, done.path, seed=7)


@pytest.mark.parametrize("seed", [-1, 2**128, 1.5, True, "7"])
def test_what_is_no_seed(seed, people, tmp_path: Path) -> None:
    with pytest.raises(eq.InputError, match="whole number from 0"):
        eq.protect(people, eq.Swapping(rate=0.5), tmp_path / "p.csv", seed=seed)


def test_several_attributes_are_changed_independently(source: Path, tmp_path: Path) -> None:
    """With the same noise in both, one true value would give away the other."""
    twice = tmp_path / "twice.csv"
    rows = cells(source) * 5
    twice.write_text(
        "age,one,two\n" + "".join(f"{row['age']},{row['hours']},{row['hours']}\n" for row in rows)
    )
    for technique in (
        eq.NoiseAddition(percent=200),
        eq.PRAM(keep=0.3, on="confidential"),
        eq.Rounding(base=15, method="random"),
    ):
        people = eq.read(twice, confidential=["one", "two"], keys=["age"])
        done = eq.protect(people, technique, tmp_path / "p.csv", seed=5)
        written = cells(done.path)
        same = np.mean([row["one"] == row["two"] for row in written])
        assert same < 0.9, technique  # the same random numbers would make it 1
        assert set(done.certificate["figures"]) == {"one", "two"}
        assert eq.verify(done.certificate_path, twice, done.path, seed=5).holds


def test_whole_records_stay_together(source: Path, tmp_path: Path) -> None:
    twice = tmp_path / "twice.csv"
    twice.write_text(
        "age,one,two\n" + "".join(f"{row['age']},{row['hours']},{row['hours']}\n" for row in cells(source))
    )
    people = eq.read(twice, confidential=["one", "two"], keys=["age"])
    for technique in (eq.Sampling(0.4), eq.Swapping(rate=0.9), eq.Generalisation(k=5)):
        done = eq.protect(people, technique, tmp_path / "p.csv")
        assert all(row["one"] == row["two"] for row in cells(done.path))
        assert eq.verify(done.certificate_path, twice, done.path).holds


def test_one_attribute_for_a_noisy_table(source: Path, tmp_path: Path) -> None:
    people = eq.read(source, confidential=["pay", "hours"], keys=["age"])
    with pytest.raises(eq.InputError, match="makes a file for one confidential attribute"):
        eq.protect(people, eq.NoisyTable(epsilon=1), tmp_path / "p.csv")
