"""Tokens: shown once, hashed at rest, in a private file."""

from __future__ import annotations

import hashlib
import stat
from pathlib import Path

import pytest

from equivoc.errors import InputError
from equivoc.gateway.service.access import Tokens


def test_only_the_hash_is_kept(tmp_path: Path) -> None:
    tokens = Tokens.beside(tmp_path / "gateway.sqlite")
    given = {name: tokens.add(name, owner=name == "olga") for name in ("ann", "bob", "olga")}
    assert len(set(given.values())) == 3
    kept = tokens.path.read_bytes()
    for name, token in given.items():
        assert len(token) > 43
        assert token.encode() not in kept
        assert token.removeprefix("equivoc_").encode() not in kept
        assert hashlib.sha256(token.encode()).digest() in kept
        found = tokens.holder(token)
        assert found is not None
        assert (found.name, found.owner) == (name, name == "olga")
        assert tokens.holder(token[:-1]) is None
        assert tokens.holder(name) is None
    assert stat.S_IMODE(tokens.path.stat().st_mode) == 0o600
    assert [holder.name for holder in tokens.holders()] == ["ann", "bob", "olga"]


def test_a_name_has_one_token(tmp_path: Path) -> None:
    tokens = Tokens(tmp_path / "tokens")
    first = tokens.add("ann")
    with pytest.raises(InputError, match="'ann' has a token already"):
        tokens.add("ann")
    tokens.remove("ann")
    assert tokens.holder(first) is None
    assert tokens.add("ann") != first
    with pytest.raises(InputError, match="nobody named 'anne' has a token: did you mean 'ann'"):
        tokens.remove("anne")


@pytest.mark.parametrize(
    "name", ["", " ", "a b", "<b>", "a/b", "-a", ".a", "a\n", "ä", "x" * 65, "a\0", "'; --"]
)
def test_names_that_are_not_allowed(tmp_path: Path, name: str) -> None:
    tokens = Tokens(tmp_path / "tokens")
    with pytest.raises(InputError, match="is not allowed: give 1 to 64 letters"):
        tokens.add(name)
    assert not tokens.path.exists()


def test_no_file_and_a_wrong_file(tmp_path: Path) -> None:
    tokens = Tokens(tmp_path / "tokens")
    assert tokens.holders() == []
    assert tokens.holder("x") is None
    with pytest.raises(InputError, match="there are no tokens in"):
        tokens.remove("ann")
    assert not tokens.path.exists()
    tokens.path.write_text("this is no database, but it is long enough to be read as one" * 20)
    with pytest.raises(InputError, match="cannot be used: file is not a database"):
        tokens.add("ann")
    with pytest.raises(InputError, match="it is a folder"):
        Tokens(tmp_path)._create()
    with pytest.raises(InputError, match="cannot be written: No such file"):
        Tokens(tmp_path / "nowhere" / "tokens").add("ann")
