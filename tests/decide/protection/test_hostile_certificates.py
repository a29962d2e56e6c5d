"""A certificate is a file from somebody else: whatever it holds, the answer is a sentence."""

from __future__ import annotations

import json
import os
import random
from pathlib import Path
from typing import Any

import pytest

import equivoc as eq
from equivoc.protection.certificate import FIELDS, digest_of


@pytest.fixture
def done(people, tmp_path: Path) -> eq.Protected:
    return eq.protect(people, eq.Rounding(base=20), tmp_path / "p.csv", require=["gain <= 3"])


@pytest.mark.parametrize(
    "text",
    [
        b"",
        b"{",
        b"[]",
        b"null",
        b"3",
        b"\xff\xfe\x00",
        b"{}",
        b'{"format": "equivoc certificate"}',
        b'{"format": "equivoc certificate", "version": true}',
        b'{"format": "equivoc certificate", "version": 2}',
        b'{"format": "equivoc certificate", "version": 1}',
        b'{"format": "equivoc certificate", "version": 1, "version": 1}',
        b"[" * 100_000,
        b'{"a":' * 100_000,
        b'{"format": NaN}',
        b'{"format": ' + b"9" * 10_000 + b"}",
        b"not JSON at all",
    ],
)
def test_what_is_no_certificate(text: bytes, done, source: Path) -> None:
    done.certificate_path.write_bytes(text)
    with pytest.raises(eq.InputError, match="certificate"):
        eq.verify(done.certificate_path, source, done.path)


def test_files_that_are_missing_or_never_end(done, source: Path, tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "pipe")
    for arguments in (
        (tmp_path / "none.json", source, done.path),
        (done.certificate_path, tmp_path / "none.csv", done.path),
        (done.certificate_path, source, tmp_path / "none.csv"),
        (tmp_path / "pipe", source, done.path),
        (done.certificate_path, source, tmp_path / "pipe"),
        (tmp_path, source, done.path),
    ):
        with pytest.raises(eq.InputError):
            eq.verify(*arguments)
    with (tmp_path / "large.json").open("wb") as file:
        file.truncate(1 << 30)
    with pytest.raises(eq.InputError, match="too large"):
        eq.verify(tmp_path / "large.json", source, done.path)


@pytest.mark.parametrize("path", [path for path in FIELDS if path != "people.reading"])  # not in older ones
def test_every_field_is_needed(path: str, done, source: Path) -> None:
    facts = json.loads(done.certificate_path.read_text())
    *parents, last = path.split(".")
    part = facts
    for name in parents:
        part = part[name]
    del part[last]
    done.certificate_path.write_text(json.dumps(facts))
    with pytest.raises(eq.InputError, match=f"{path} is missing or not what it should be"):
        eq.verify(done.certificate_path, source, done.path)


def places(facts: Any, here: tuple = ()) -> list[tuple]:
    """The paths of all values, the containers included."""
    inner = facts.items() if isinstance(facts, dict) else enumerate(facts) if isinstance(facts, list) else ()
    return [here, *(path for name, part in inner for path in places(part, (*here, name)))]


STRANGE = [
    None, True, -1, 0, 1.5, 1e308, 10**30, "", "x", "\0", "../../etc/passwd", [], {}, [[]], [None], {"a": {}},
    "sampling:fraction=2", "released-file:table=/dev/zero", "query-restriction:size=8", "h0 >= 1", "h0 ==",
    {"low": 0, "high": 1e12, "step": 1e-3}, {"low": 1, "high": 0, "step": 0}, ["age", "age"], ["pay"], [1e400],
]  # fmt: skip


@pytest.mark.parametrize("digest", [False, True])
def test_any_value_in_any_place(digest: bool, done, source: Path) -> None:
    """A hundred certificates with a strange value somewhere: verified, or refused by an InputError."""
    original = done.certificate_path.read_text()
    draw = random.Random(4)
    every = places(json.loads(original))[1:]
    for _ in range(100):
        facts = json.loads(original)
        *parents, last = draw.choice(every)
        part = facts
        for name in parents:
            part = part[name]
        part[last] = draw.choice(STRANGE)
        if digest:
            try:
                facts["digest"] = digest_of(facts)
            except ValueError:
                continue
        done.certificate_path.write_text(json.dumps(facts))
        try:
            found = eq.verify(done.certificate_path, source, done.path)
        except eq.InputError:
            continue
        changed = facts != json.loads(original)
        assert digest or found.holds is not changed, (parents, last, part[last])


@pytest.mark.parametrize(
    "text", ["", "age,sex,pay\n", "x\n1\n", "age,sex,pay\n1,2\n", "\0\0\0", "age,sex,pay\n20,F,ten\n"]
)
def test_a_protected_file_that_is_none(text: str, done, source: Path) -> None:
    done.path.write_text(text)
    found = eq.verify(done.certificate_path, source, done.path)
    assert not found.holds
    assert {"file", "figures of the file", "release"} <= {c.about for c in found.checks if c.holds is False}
