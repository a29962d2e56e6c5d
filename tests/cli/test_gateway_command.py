"""``equivoc gateway``: start and stop, tokens, the log, and mistakes in one sentence."""

from __future__ import annotations

import json
import re
import signal
import socket
import sys
from pathlib import Path

import httpx
import pytest

import equivoc as eq
from equivoc.cli.main import main
from equivoc.gateway.service.access import Tokens
from tests.gateway.service.service_process import KEYS, ServiceProcess, write_people

SERVE = ["people.parquet", "--confidential", "salary", "--keys", "age,region", "--policy", "policy.toml"]


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """With people and a policy; the commands run in it."""
    monkeypatch.chdir(tmp_path)
    write_people(tmp_path / "people.parquet", 100, values=20)
    (tmp_path / "policy.toml").write_text("least_people = 3\n")
    return tmp_path


def run(monkeypatch: pytest.MonkeyPatch, *words: str) -> int:
    monkeypatch.setattr(sys, "argv", ["equivoc", "gateway", *words])
    with pytest.raises(SystemExit) as ended:
        main()
    return int(ended.value.code or 0)


def test_serve_ask_log_stop(
    folder: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    assert run(monkeypatch, "token", "add", "ann") == 0
    token = capsys.readouterr().out.strip()
    service = ServiceProcess.start(folder)
    sql = "SELECT SUM(salary) FROM people WHERE age < 50"
    answer = httpx.post(
        f"{service.url}/ask", json={"sql": sql}, headers={"Authorization": f"Bearer {token}"}, trust_env=False
    )
    assert answer.json()["answered"]

    assert run(monkeypatch, "log", "--json") == 0  # while it runs
    (entry,) = json.loads(capsys.readouterr().out)
    assert (entry["number"], entry["analyst"], entry["decision"]) == (1, "ann", "answered")
    assert entry["value"] == answer.json()["value"]
    assert run(monkeypatch, "log", "--analyst", "bob") == 0
    assert capsys.readouterr().out == "The log has no entries.\n"
    assert run(monkeypatch, "log") == 0
    assert str(int(entry["value"])) in capsys.readouterr().out

    assert run(monkeypatch, *SERVE, "--port", "0") == 2  # a second gateway on the same store
    assert "another gateway uses the store" in capsys.readouterr().err
    port = service.url.rsplit(":", 1)[1]
    assert run(monkeypatch, *SERVE, "--store", "other.sqlite", "--port", port) == 2
    assert re.search(r"cannot listen on 127.0.0.1, port \d+: Address already in use", capsys.readouterr().err)
    assert not Path("other.sqlite").exists()

    service.process.send_signal(signal.SIGINT)
    assert service.stop() == 0


def test_tokens(folder: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    assert run(monkeypatch, "token", "list") == 0
    assert capsys.readouterr().out == "Nobody has a token yet.\n"
    assert run(monkeypatch, "token", "add", "ann", "--store", "a.sqlite") == 0
    first = capsys.readouterr().out.strip()
    assert run(monkeypatch, "token", "add", "olga", "--owner", "--store", "a.sqlite") == 0
    second = capsys.readouterr().out.strip()
    tokens = Tokens(folder / "a.tokens.sqlite")
    found = [tokens.holder(token) for token in (first, second)]
    assert [(each.name, each.owner) for each in found if each] == [("ann", False), ("olga", True)]
    assert run(monkeypatch, "token", "list", "--store", "a.sqlite", "--json") == 0
    listed = capsys.readouterr().out
    assert [(each["name"], each["owner"]) for each in json.loads(listed)] == [("ann", False), ("olga", True)]
    assert run(monkeypatch, "token", "list", "--store", "a.sqlite") == 0
    listed += capsys.readouterr().out
    assert first not in listed
    assert second not in listed
    assert run(monkeypatch, "token", "remove", "ann", "--store", "a.sqlite") == 0
    assert tokens.holder(first) is None
    assert tokens.holder(second) is not None


@pytest.mark.parametrize(
    ("words", "told"),
    [
        (["token", "add", "a b"], "the name 'a b' is not allowed"),
        (["token", "remove", "ann"], "there are no tokens in gateway.tokens.sqlite"),
        (["token", "ad", "ann"], "No such command 'ad'"),
        (["token", "list", "--store", "/"], "store is '/'; give the name of a file"),
        (["log"], "there is no file gateway.sqlite"),
        (["log", "--store", "policy.toml"], "the log in policy.toml cannot be read: file is not a database"),
        (["nobody.parquet", *SERVE[1:]], "there is no file nobody.parquet"),
        (SERVE[:5], "Missing option '--policy'"),
        ([*SERVE[:5], "--policy", "no.toml"], "there is no policy file no.toml"),
        ([*SERVE, "--host", "0.0.0.0"], "--host 0.0.0.0 can be reached from other machines, and the service does not"),
        ([*SERVE, "--host", "nowhere.invalid", "--i-know"], "--host nowhere.invalid is no address of this machine"),
        ([*SERVE, "--port", "70000"], "Invalid value for '--port'"),
        ([*SERVE, "--confidential", "salary,age"], "--confidential names several columns: a gateway protects one"),
        ([*SERVE, "--confidential", "salery"], "did you mean 'salary'"),
        ([*SERVE, "--keys", "age,"], "--keys age,: the name at position 1 is empty"),
        ([*SERVE, "--keys", "ages"], "did you mean 'age'"),
        ([*SERVE, "--domain", "1:2"], "--domain 1:2: give low:high:step"),
        ([*SERVE, "--store", "nowhere/gateway.sqlite"], "nowhere is not a folder"),
        (["postgresql://a:hunter2@h/d?table=t", *SERVE[1:]], "contains a password"),
        (["postgresql:///d?table=t&host=/nowhere", *SERVE[1:]], "table 't' of postgresql:///d?host=/nowhere cannot be"),
    ],
)  # fmt: skip
def test_mistakes(
    folder: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
    words: list[str],
    told: str,
) -> None:
    serving = words[0] not in ("token", "log") and "--port" not in words
    assert run(monkeypatch, *words, *(["--port", "0"] if serving else [])) == 2
    printed = capsys.readouterr()
    assert printed.out == ""
    assert told in printed.err
    assert printed.err.count("\n") == 1
    assert "hunter2" not in printed.err
    assert {file.name for file in folder.iterdir()} == {"people.parquet", "policy.toml"}


def test_the_option_for_a_looser_policy_is_named(
    folder: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    people = eq.read("people.parquet", confidential="salary", keys=KEYS)
    eq.Gateway(people, policy={"least_people": 5}, store="gateway.sqlite").close()
    assert run(monkeypatch, *SERVE, "--port", "0") == 2
    assert "least_people falls from 5 to 3" in (printed := capsys.readouterr().err)
    assert "--accept-looser-policy" in printed


def test_other_machines_need_a_second_word(
    folder: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """What it means is printed before anything is served."""
    from equivoc.serving import serving

    served: list[object] = []
    monkeypatch.setattr(serving, "serve", lambda app, listening: served.append(app))
    assert run(monkeypatch, *SERVE, "--host", "0.0.0.0", "--port", "0", "--i-know") == 0
    printed = capsys.readouterr().out
    assert "Nothing is encrypted" in printed
    assert "Nobody may ask yet: equivoc gateway token add NAME" in printed
    assert len(served) == 1


def test_without_the_extra(
    folder: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setitem(sys.modules, "uvicorn", None)
    assert run(monkeypatch, *SERVE) == 2
    assert capsys.readouterr().err == (
        "equivoc: the service needs more packages: pip install 'equivoc[web]'.\n"
    )


def test_a_file_named_like_a_command(
    folder: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    (folder / "log").write_bytes((folder / "people.parquet").read_bytes())
    assert run(monkeypatch, "serve", "log", *SERVE[1:5], "--policy", "no.toml", "--port", "0") == 2
    assert "there is no policy file no.toml" in capsys.readouterr().err
    with socket.socket() as free:  # nothing is left listening
        free.bind(("127.0.0.1", 0))
