"""One thing is wrong, and verify says which."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

import equivoc as eq
from equivoc.protection.certificate import digest_of


@pytest.fixture
def done(people, tmp_path: Path) -> eq.Protected:
    """Swapping, with the seed withheld."""
    return eq.protect(
        people, eq.Swapping(rate=0.3), tmp_path / "p.csv", seed=7, require=["gain <= 3", "true_hit(20) <= 1"]
    )


def wrong(found: eq.Verification) -> list[str]:
    return [check.about for check in found.checks if check.holds is False]


def edited(done: eq.Protected, place: list, value, *, digest: bool) -> Path:
    """The certificate with one fact changed, and its digest if the forger thinks of it."""
    facts = json.loads(done.certificate_path.read_text())
    part = facts
    for name in place[:-1]:
        part = part[name]
    assert part[place[-1]] != value
    part[place[-1]] = value
    if digest:
        facts["digest"] = digest_of(facts)
    done.certificate_path.write_text(json.dumps(facts))
    return done.certificate_path


def test_a_changed_cell(done, source: Path) -> None:
    lines = done.path.read_text().splitlines()
    row = lines[5].split(",")
    row[-1] = "20" if row[-1] != "20" else "30"
    lines[5] = ",".join(row)
    done.path.write_text("\n".join(lines) + "\n")
    found = eq.verify(done.certificate_path, source, done.path, seed=7)
    assert {"file", "release"} <= set(wrong(found))
    assert "certificate" not in wrong(found)
    assert "p.csv was changed: it does not have the certificate's SHA-256." in found.problems
    assert any("1 of 60 rows differ" in problem for problem in found.problems)


def test_a_cell_that_the_technique_cannot_write(done, source: Path) -> None:
    text = done.path.read_text()
    done.path.write_text(text.replace("\n20,", "\n99,", 1))
    found = eq.verify(done.certificate_path, source, done.path)
    assert wrong(found) == ["file", "figures of the file"]
    assert any("swapping:rate=0.3 never shows the age '99'" in problem for problem in found.problems)


def test_other_line_ends_change_the_hash_only(done, source: Path) -> None:
    done.path.write_bytes(done.path.read_bytes().replace(b"\n", b"\r\n"))
    assert wrong(eq.verify(done.certificate_path, source, done.path, seed=7)) == ["file"]


def test_a_changed_figure(done, source: Path) -> None:
    was = done.certificate["figures"]["pay"]["file"]["h0"]
    found = eq.verify(edited(done, ["figures", "pay", "file", "h0"], 3.2, digest=False), source, done.path)
    assert wrong(found) == ["certificate", "figures of the file"]
    assert f"h0 of pay: the certificate says 3.2, but it is {was:.4g}." in found.problems


def test_a_changed_figure_with_a_new_digest(done, source: Path) -> None:
    path = edited(done, ["figures", "pay", "file", "h0"], 3.2, digest=True)
    found = eq.verify(path, source, done.path)
    assert wrong(found) == ["figures of the file"]
    assert "h0 of pay: the certificate says 3.2" in found.problems[0]


def test_a_changed_figure_of_the_release_needs_the_seed(done, source: Path) -> None:
    path = edited(done, ["figures", "pay", "release", "gain"], 0.001, digest=True)
    assert wrong(eq.verify(path, source, done.path)) == []
    found = eq.verify(path, source, done.path, seed=7)
    assert wrong(found) == ["figures of the release"]
    assert "gain of pay: the certificate says 0.001" in found.problems[0]


def test_another_seed(done, source: Path) -> None:
    found = eq.verify(done.certificate_path, source, done.path, seed=8)
    assert wrong(found) == ["release", "figures of the release"]
    assert "The file is not what swapping:rate=0.3 with this seed makes of these people" in found.problems[0]


def test_another_seed_than_the_certificates(people, source: Path, tmp_path: Path) -> None:
    done = eq.protect(people, eq.Swapping(rate=0.3), tmp_path / "p.csv", show_seed=True)
    assert eq.verify(done.certificate_path, source, done.path).holds
    assert eq.verify(done.certificate_path, source, done.path, seed=int(done.certificate["seed"])).holds
    assert "seed" in wrong(eq.verify(done.certificate_path, source, done.path, seed=8))


def test_fewer_people(done, source: Path) -> None:
    source.write_text("\n".join(source.read_text().splitlines()[:-1]) + "\n")
    found = eq.verify(done.certificate_path, source, done.path)
    assert "people" in wrong(found)
    assert (
        "These are other people: there are 59 people, but the certificate is about 60 people."
        in found.problems
    )


def test_as_many_other_people(done, source: Path) -> None:
    """Every pay is another one: only the figures can tell."""
    head, *rows = source.read_text().splitlines()
    cells = [row.split(",") for row in rows]
    pays = [row[3] for row in cells]
    for row, pay in zip(cells, pays[7:] + pays[:7], strict=True):
        row[3] = pay
    source.write_text("\n".join([head, *map(",".join, cells)]) + "\n")
    found = eq.verify(done.certificate_path, source, done.path)
    assert wrong(found)[0] == "figures of the file"
    assert "so these are probably other people." in found.problems[0]


@pytest.mark.parametrize("digest", [True, False])
def test_a_changed_verdict(digest: bool, people, source: Path, tmp_path: Path) -> None:
    done = eq.protect(
        people, eq.Unprotected(), tmp_path / "p.csv", require=["h0@worst >= 3"], write_anyway=True
    )
    assert eq.verify(done.certificate_path, source, done.path).holds
    edited(done, ["requirements", 0, "meets"], True, digest=digest)
    path = edited(done, ["meets"], True, digest=digest)
    found = eq.verify(path, source, done.path)
    assert wrong(found) == ([] if digest else ["certificate"]) + ["requirements"]
    assert any("h0@worst >= 3 for pay: the certificate says it is met" in said for said in found.problems)


def test_a_milder_requirement_is_seen_by_the_digest(done, source: Path) -> None:
    path = edited(done, ["requirements", 0, "requirement"], "gain <= 4", digest=False)
    assert "certificate" in wrong(eq.verify(path, source, done.path))


def test_another_technique(done, source: Path) -> None:
    path = edited(done, ["technique", "notation"], "swapping:rate=0.5", digest=True)
    assert "release" in wrong(eq.verify(path, source, done.path, seed=7))


def test_deterministic_techniques_are_made_again_without_a_seed(people, source: Path, tmp_path: Path) -> None:
    done = eq.protect(people, eq.Rounding(base=20), tmp_path / "p.parquet")
    assert eq.verify(done.certificate_path, source, done.path).holds
    other = eq.protect(people, eq.Rounding(base=30), tmp_path / "q.parquet")
    found = eq.verify(done.certificate_path, source, other.path)
    assert {"file", "figures of the file", "release"} <= set(wrong(found))


def test_people_in_memory(done, people, source: Path) -> None:
    assert eq.verify(done.certificate_path, people, done.path, seed=7).holds
    others = eq.read(source, confidential="hours", keys=["age", "sex"])
    with pytest.raises(eq.InputError, match="the certificate others"):
        eq.verify(done.certificate_path, others, done.path)
