"""What protect writes, verify confirms: every technique that makes a file, as CSV and as Parquet."""

from __future__ import annotations

import hashlib
import json
from pathlib import Path

import pytest

import equivoc as eq
from equivoc.techniques.notation import TECHNIQUES, technique_from

NOTATIONS = [
    "unprotected",
    "sampling:fraction=0.3",
    "noise-addition:percent=40",
    "noise-addition:percent=40,belief=interval",
    "rounding:base=20",
    "rounding:base=20,method=random",
    "top-bottom-coding:high=40",
    "date-shift:days=20",
    "pram:keep=0.8,on=all",
    "geometric-noise:epsilon=3",
    "noisy-table:epsilon=1",
    "generalisation:k=5",
    "suppression:k=3",
    "swapping:rate=0.3,on=all",
    "swapping:rate=0.3,window=20",
    "microaggregation:size=3",
]
NO_FILE = {"query-restriction", "released-file"}


def test_every_technique_is_here() -> None:
    assert {notation.partition(":")[0] for notation in NOTATIONS} == TECHNIQUES.keys() - NO_FILE


@pytest.mark.parametrize("name", ["protected.csv", "protected.parquet"])
@pytest.mark.parametrize("notation", NOTATIONS)
def test_protect_then_verify(notation: str, name: str, people, source: Path, tmp_path: Path) -> None:
    technique = technique_from(notation)
    seed = None if technique.private_noise else 7
    done = eq.protect(people, technique, tmp_path / name, seed=seed, require=["gain <= 4", "hit(20) <= 1"])
    assert done.written
    assert done.certificate_path == tmp_path / "protected.certificate.json"
    written = json.loads(done.certificate_path.read_text())
    assert written == done.certificate
    assert written["file"]["sha256"] == hashlib.sha256((tmp_path / name).read_bytes()).hexdigest()
    found = eq.verify(done.certificate_path, source, done.path, seed=seed)
    assert found.holds, found.problems
    unchecked = [check.about for check in found.checks if check.holds is None]
    assert unchecked == (["release"] if technique.private_noise else [])
    without = eq.verify(done.certificate_path, source, done.path)
    assert without.holds
    again = [check.about for check in without.checks if check.holds is None]
    assert again == (["release"] if technique.random else [])


@pytest.mark.parametrize("notation", NOTATIONS)
def test_the_figures_are_those_of_assess(notation: str, people, tmp_path: Path) -> None:
    """The release is the one that assess makes from the same seed."""
    technique = technique_from(notation)
    if technique.private_noise:
        return
    done = eq.protect(people, technique, tmp_path / "p.csv", seed=3, known=["age"], intruder="informed")
    expected = eq.assess(people, technique, seed=3, known=["age"], intruder="informed")
    figures = done.certificate["figures"]["pay"]["release"]
    assert figures["h0"] == pytest.approx(expected.summary["per_record"]["h0"]["mean"], rel=1e-5)
    assert figures["gain"] == pytest.approx(expected.summary["truth"]["gain"], rel=1e-5, abs=1e-9)
    assert figures["certain_right"] == expected.summary["truth"]["certain_right"]


@pytest.mark.parametrize("notation", ["sampling:fraction=0.3", "noisy-table:epsilon=1", "pram:keep=0.8"])
def test_the_file_alone_gives_the_figures_of_the_release(notation: str, people, tmp_path: Path) -> None:
    """Which record a row comes from does not matter to an intruder who knows keys only."""
    done = eq.protect(people, technique_from(notation), tmp_path / "p.csv", intruder="informed")
    figures = done.certificate["figures"]["pay"]
    assert figures["file"] == figures["release"]


@pytest.mark.parametrize("notation", ["query-restriction:size=8", "released-file:table=people.csv"])
def test_techniques_that_make_no_file(notation: str, people, tmp_path: Path) -> None:
    with pytest.raises(eq.InputError, match=r"makes (no file|none)"):
        eq.protect(people, technique_from(notation), tmp_path / "p.csv")
    assert not (tmp_path / "p.csv").exists()


def test_the_unprotected_file_comes_with_a_warning(people, tmp_path: Path) -> None:
    done = eq.protect(people, eq.Unprotected(), tmp_path / "p.csv")
    assert "The file is not protected: it has the true values of every record." in done.warnings


def test_a_file_of_a_tree_and_a_hierarchy_that_was_changed(source: Path, tmp_path: Path) -> None:
    tree = tmp_path / "town.csv"
    tree.write_text("a;north\nb;north\nc;south\n")
    people = eq.read(source, confidential=eq.Tree("town", tree), keys=["age", "sex"])
    done = eq.protect(people, eq.Swapping(rate=0.3), tmp_path / "p.csv")
    assert str(tmp_path) not in done.certificate_path.read_text()
    assert eq.verify(done.certificate_path, source, done.path).holds
    moved = tree.rename(tmp_path / "elsewhere.csv")
    with pytest.raises(eq.InputError, match=r"town\.csv, is not beside the people"):
        eq.verify(done.certificate_path, source, done.path)
    assert eq.verify(done.certificate_path, source, done.path, hierarchy={"town": moved}).holds
    tree.write_text("a;north\nb;south\nc;south\n")
    with pytest.raises(eq.InputError, match="is not the one that the file was protected with"):
        eq.verify(done.certificate_path, source, done.path)


@pytest.mark.parametrize(
    "kind",
    [
        eq.Number("pay", round_to=20, unit="K"),
        eq.Number("pay", domain=[10, 20, 30, 40, 60, 75.5]),
        eq.Ordered("town", levels=["c", "a", "b"]),
        eq.Categories("hours"),
    ],
)
def test_kinds_are_read_from_the_certificate(kind, source: Path, tmp_path: Path) -> None:
    people = eq.read(source, confidential=kind, keys=["age"])
    done = eq.protect(people, eq.PRAM(keep=0.7), tmp_path / "p.parquet", seed=1)
    assert eq.verify(done.certificate_path, source, done.path, seed=1).holds
