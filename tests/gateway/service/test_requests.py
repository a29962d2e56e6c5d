"""Requests over HTTP: who is served, what is refused, and in which words."""

from __future__ import annotations

import base64
import hashlib
import json
import logging
import re
import socket
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from urllib.parse import urlsplit

import httpx
import pytest

from equivoc.gateway.history import Entry
from equivoc.gateway.policy import Policy
from equivoc.gateway.service.access import Tokens
from equivoc.gateway.service.app import BODY_LIMIT
from tests.gateway.service.running import Running, SaidGate, running


@pytest.fixture(scope="module")
def used_gate() -> SaidGate:
    return SaidGate(Policy(questions_per_minute=10_000))


@pytest.fixture(scope="module")
def service(used_gate: SaidGate, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Running]:
    """One for all tests: starting and stopping takes longer than they do."""
    with running(used_gate, tmp_path_factory.mktemp("s"), allowed_hosts=["gateway.example.org"]) as found:
        yield found


@pytest.fixture
def gate(used_gate: SaidGate) -> SaidGate:
    used_gate.entries.clear()
    return used_gate


def test_an_answer_and_a_refusal(service: Running, gate: SaidGate) -> None:
    with service.client("ann") as ann:
        answered = ann.post("/ask", json={"sql": "SELECT SUM(salary) FROM people"})
        assert answered.status_code == 200
        assert answered.json() == {"answered": True, "value": 57.0, "reason": "answered", "number": 1}
        assert ann.post("/ask", json={"sql": "refuse"}).json() == {
            "answered": False,
            "value": None,
            "reason": "fewer than 3 people",
            "number": 2,
        }
        # JSON has no NaN.
        assert ann.post("/ask", json={"sql": "groups"}).json()["value"] == [{"sex": "F", "value": None}]


def test_each_analyst_sees_the_own_history_only(service: Running, gate: SaidGate) -> None:
    with service.client("ann") as ann, service.client("bob") as bob:
        ann.post("/ask", json={"sql": "of ann"})
        bob.post("/ask", json={"sql": "of bob"})
        ann.post("/ask", json={"sql": "of ann, again"})
        asked = [entry["question"] for entry in ann.get("/history").json()["entries"]]
        assert asked == ["of ann, again", "of ann"]
        assert [entry["question"] for entry in bob.get("/history").json()["entries"]] == ["of bob"]
        earlier = ann.get("/history", params={"before": 3, "analyst": "bob"}).json()["entries"]
        assert [entry["number"] for entry in earlier] == [1]


def test_the_policy_is_no_secret(service: Running, gate: SaidGate) -> None:
    with service.client("ann") as ann:
        assert ann.get("/policy").json() == json.loads(gate.policy.text())


@pytest.mark.parametrize("path", ["/ask", "/history", "/policy", "/log"])
@pytest.mark.parametrize(
    "authorization",
    [None, "", "Bearer", "Bearer wrong", "Basic !!", "Basic d3Jvbmc6d3Jvbmc=", "{ann}", "Bearer {ann}x"],
)  # fmt: skip
def test_without_a_token(service: Running, gate: SaidGate, path: str, authorization: str | None) -> None:
    headers = {} if authorization is None else {"Authorization": authorization.format(**service.tokens)}
    with service.client(**headers) as client:
        answer = client.request("POST" if path == "/ask" else "GET", path, json={"sql": "x"})
    assert answer.status_code == 401
    assert answer.headers["www-authenticate"].split()[0] == ("Basic" if path == "/log" else "Bearer")
    assert answer.json()["error"].endswith("token.")
    assert gate.entries == []


def test_two_authorizations_are_none(service: Running) -> None:
    twice = [("Authorization", f"Bearer {service.tokens[name]}") for name in ("ann", "bob")]
    assert httpx.get(f"{service.url}/history", headers=twice, trust_env=False).status_code == 401


def test_roles_are_kept_apart(service: Running, gate: SaidGate) -> None:
    with service.client("ann") as ann, service.client("olga") as olga:
        assert ann.get("/log").status_code == 403
        assert olga.post("/ask", json={"sql": "x"}).status_code == 403
        assert olga.get("/history").status_code == 403
        assert olga.get("/log").status_code == 200
    assert gate.entries == []


@pytest.mark.parametrize(
    "host", ["evil.example.org", "localhost.evil.org", "[::1]evil", "localhost:x", "", "a@localhost"]
)  # fmt: skip
def test_another_host_is_refused(service: Running, gate: SaidGate, host: str) -> None:
    with service.client("ann", Host=host) as ann:
        answer = ann.post("/ask", json={"sql": "x"})
    assert answer.status_code == 400
    assert "--allow-host" in answer.json()["error"] or not host
    assert gate.entries == []


@pytest.mark.parametrize(
    "host", ["localhost", "LOCALHOST:1", "[::1]:8642", "gateway.example.org", "127.0.0.1"]
)
def test_our_hosts(service: Running, host: str) -> None:
    with service.client("ann", Host=host) as ann:
        assert ann.post("/ask", json={"sql": "x"}).status_code == 200


def test_a_request_without_host(service: Running) -> None:
    there = urlsplit(service.url)
    with socket.create_connection((there.hostname, there.port)) as raw:
        raw.sendall(b"GET /policy HTTP/1.0\r\n\r\n")
        assert raw.recv(1000).startswith(b"HTTP/1.1 400")


def test_large_bodies_are_refused(service: Running, gate: SaidGate) -> None:
    def pieces() -> Iterator[bytes]:  # without a length
        for _ in range(5):
            yield b" " * (BODY_LIMIT // 4)

    with service.client("ann") as ann:
        fitting = json.dumps({"sql": "x" * (BODY_LIMIT - 11)}).encode()
        assert len(fitting) == BODY_LIMIT
        assert ann.post("/ask", content=fitting).status_code == 200
        for body in (fitting + b" ", pieces()):
            answer = ann.post("/ask", content=body)
            assert (answer.status_code, answer.json()) == (
                413,
                {"error": "a request has at most 65,536 bytes."},
            )
    assert len(gate.entries) == 1


@pytest.mark.parametrize(
    "body",
    [
        b"",
        b"{",
        b"\xff",
        b"[]",
        b'"SELECT 1"',
        b"{}",
        b'{"sql": 1}',
        b'{"sql": null}',
        b'{"sql": "x", "analyst": "bob"}',
        b'{"sql": "\\ud800"}',
        b"[" * 20_000,
        b'{"sql": ' + b"9" * 5000 + b"}",
    ],
)
def test_malformed_bodies(service: Running, gate: SaidGate, body: bytes) -> None:
    with service.client("ann") as ann:
        answer = ann.post("/ask", content=body)
    assert answer.status_code == 400
    assert list(answer.json()) == ["error"]
    assert gate.entries == []


def test_bad_sql_is_told_in_a_sentence(service: Running) -> None:
    with service.client("ann") as ann:
        answer = ann.post("/ask", json={"sql": "bad"})
    assert (answer.status_code, answer.json()) == (422, {"error": "SELECT is expected at character 1"})


def test_a_bug_tells_nothing(service: Running, caplog: pytest.LogCaptureFixture) -> None:
    """Neither the client nor the log sees the message of an exception, which may hold a value."""
    with caplog.at_level(logging.DEBUG), service.client("ann") as ann:
        answer = ann.post("/ask", json={"sql": "bug"})
        assert answer.status_code == 500
        assert answer.json() == {"error": "the gateway has failed on this request; nothing was answered."}
        assert ann.post("/ask", json={"sql": "x"}).status_code == 200
    assert "RuntimeError in ask" in caplog.text
    assert "107000" not in caplog.text + answer.text
    assert "Ann" not in caplog.text + answer.text


@pytest.mark.parametrize(
    "path", ["/", "/docs", "/redoc", "/openapi.json", "/ask/", "/log/../policy2", "/static/x"]
)
def test_there_is_nothing_else(service: Running, path: str) -> None:
    with service.client("ann") as ann:
        answer = ann.get(path)
        assert answer.status_code == 404
        assert "swagger" not in answer.text.lower()
        assert ann.get("/ask").status_code == 405
        assert ann.options("/ask", headers={"Origin": "https://evil.example.org"}).status_code == 405


def test_headers(service: Running) -> None:
    with service.client("ann", Origin="https://evil.example.org") as ann:
        for answer in (ann.get("/policy"), ann.get("/nothing"), ann.post("/ask", json={"sql": "x"})):
            assert answer.headers["content-security-policy"].startswith("default-src 'none'")
            assert answer.headers["x-content-type-options"] == "nosniff"
            assert answer.headers["cache-control"] == "no-store"
            assert not [name for name in answer.headers if name.startswith("access-control")]
            assert "server" not in answer.headers


def test_the_rate_limit(tmp_path: Path) -> None:
    now = [0.0]
    gate = SaidGate(Policy(questions_per_minute=3))
    with (
        running(gate, tmp_path, clock=lambda: now[0]) as service,
        service.client("ann") as ann,
        service.client("bob") as bob,
    ):
        codes = [ann.post("/ask", json={"sql": sql}).status_code for sql in ("x", "bad", "refuse")]
        assert codes == [200, 422, 200]
        late = ann.post("/ask", json={"sql": "x"})
        assert (late.status_code, late.headers["retry-after"]) == (429, "20")
        assert late.json() == {"error": "at most 3 requests per minute: wait 20 s."}
        assert bob.post("/ask", json={"sql": "x"}).status_code == 200
        now[0] = 19.9
        assert ann.post("/ask", json={"sql": "x"}).headers["retry-after"] == "1"
        now[0] = 20.0
        assert ann.post("/ask", json={"sql": "x"}).status_code == 200
        assert ann.post("/ask", json={"sql": "x"}).status_code == 429
    assert [entry.analyst for entry in gate.entries] == ["ann", "ann", "bob", "ann"]


def test_eight_clients_at_once_are_decided_one_after_the_other(service: Running, gate: SaidGate) -> None:
    def asks(client: int) -> list[int]:
        with service.client("ann" if client % 2 else "bob") as analyst:
            return [analyst.post("/ask", json={"sql": f"{client}"}).json()["number"] for _ in range(10)]

    with ThreadPoolExecutor(8) as pool:
        numbers = sorted(number for found in pool.map(asks, range(8)) for number in found)
    assert numbers == list(range(1, 81))
    assert gate.most_inside == 1


HOSTILE = [
    "<script>alert(1)</script>",
    '"><img src=x onerror=alert(1)>',
    "</td></table></style><style>*{background:url(http://evil.example.org)}",
    "{{ 7 * 7 }}{% raw %}",
    "a\x00b\x1b[31m\u202ec",
    "<!--",
]


def test_the_log_shows_text_as_text(service: Running, gate: SaidGate) -> None:
    gate.entries += [
        Entry(n, "2030-01-01", text, text, text, text, text) for n, text in enumerate(HOSTILE, start=1)
    ]
    with service.client("olga") as olga:
        page = olga.get("/log")
    assert page.headers["content-type"] == "text/html; charset=utf-8"
    policy = page.headers["content-security-policy"]
    assert re.fullmatch(
        r"default-src 'none'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'; "
        r"style-src 'sha256-[\w+/=]+'",
        policy,
    )
    style = re.findall(r"<style>(.*?)</style>", page.text, flags=re.DOTALL)[0]
    allowed = base64.b64encode(hashlib.sha256(style.encode()).digest()).decode()
    assert f"'sha256-{allowed}'" in policy
    assert "<script" not in page.text
    assert "<img" not in page.text
    assert "<!--" not in page.text
    assert page.text.count("<style") == page.text.count("</table>") == 1
    assert "&lt;script&gt;alert(1)&lt;/script&gt;" in page.text
    assert "{{ 7 * 7 }}" in page.text
    assert not re.search(r"[\x00\x1b\u202e]", page.text)
    assert not re.search(r"(src|href)=[\"']?(https?:)?//", page.text)


def test_the_log_in_pages(service: Running, gate: SaidGate) -> None:
    gate.entries += [
        Entry(n, "2030-01-01", "ann", f"question {n};", "answered", "", 1.0) for n in range(1, 251)
    ]
    seen, path = [], "/log"
    with httpx.Client(
        base_url=service.url, auth=("anything", service.tokens["olga"]), trust_env=False
    ) as owner:
        while path:
            text = owner.get(path).text
            assert "250 entries" in text
            found = [int(number) for number in re.findall(r"question (\d+);", text)]
            assert len(found) in (100, 50)
            seen += found
            older = re.search(r'href="(/log\?before=\d+)">Older', text)
            path = older[1] if older else ""
        assert owner.get("/log?before=1").text.count("There are no entries here") == 1
        for wrong in ("x", "-1", "1e3", "", "9" * 30, "١"):
            assert owner.get("/log", params={"before": wrong}).status_code == 400
    assert seen == list(range(250, 0, -1))


def test_a_removed_token_ends_at_once(tmp_path: Path) -> None:
    with running(SaidGate(), tmp_path) as service, service.client("ann") as ann:
        assert ann.get("/policy").status_code == 200
        Tokens(tmp_path / "tokens.sqlite").remove("ann")
        assert ann.get("/policy").status_code == 401
