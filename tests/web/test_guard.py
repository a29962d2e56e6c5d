"""Who is refused: no cookie, a used token, another Host or page, paths that climb, bodies that are too large."""

from __future__ import annotations

import fcntl
import os
import re
import socket
import stat
import subprocess
import sys
import termios
from pathlib import Path
from urllib.parse import urlsplit

import httpx
import pytest

from tests.web.page_server import PageServer, exchanged, opened, people_csv

API = ("/api/state", "/api/catalogue", "/api/live/classes", "/api/calls", "/page/main.js")


def bare(server: PageServer, **headers: str) -> httpx.Client:
    return httpx.Client(base_url=server.url, headers=headers, timeout=60, trust_env=False)


def raw(server: PageServer, request: str) -> str:
    """The first line of the answer to a request as it is written here."""
    found = urlsplit(server.url)
    with socket.create_connection((str(found.hostname), int(found.port or 0)), timeout=30) as line:
        line.sendall(request.replace("\n", "\r\n").encode())
        return line.makefile("rb").readline().decode()


@pytest.mark.parametrize("path", API)
def test_without_the_cookie_nothing_is_told(page_server: PageServer, path: str) -> None:
    with bare(page_server) as client:
        answer = client.get(path)
        assert (answer.status_code, list(answer.json())) == (401, ["error"])
    name, secret = page_server.cookie.split("=", 1)
    token = page_server.address.split("=")[1]
    for headers in (
        {"Cookie": page_server.cookie[:-1]},
        {"Cookie": f"other={secret}"},
        {"Cookie": f"{name}={token}"},
        {"Authorization": f"Bearer {secret}"},
        {"Authorization": f"Bearer {token}"},
    ):
        with bare(page_server, **headers) as client:
            assert client.get(path).status_code == 401


def test_the_address_gives_a_cookie_that_scripts_cannot_read(page_server: PageServer) -> None:
    with bare(page_server) as client:
        plain = client.get("/")
        assert plain.status_code == 401
        assert "equivoc serve" in plain.text
        assert client.get("/?token=wrong").status_code == 401
        assert not client.cookies
        answer = client.get(address := page_server.address)
        assert (answer.status_code, answer.headers["location"]) == (303, "/")
        assert address.split("=")[1] not in answer.headers["set-cookie"]
        cookie = answer.headers["set-cookie"].lower()
        assert "httponly" in cookie
        assert "samesite=strict" in cookie
        assert f"-{urlsplit(page_server.url).port}=" in cookie
        page = client.get("/")
        assert page.status_code == 200
        assert client.get("/api/state").status_code == 200
        assert client.patch("/api/state", json={}).status_code == 403


def test_a_token_works_once(page_server: PageServer) -> None:
    """Who finds the address in a history gets a page that says what to do; who has the cookie is let in."""
    address = page_server.address
    assert exchanged(address) == page_server.cookie
    for _ in range(2):
        answer = httpx.get(address, trust_env=False)
        assert answer.status_code == 401
        assert "set-cookie" not in answer.headers
        assert "works once" in answer.text
        assert "Enter" in answer.text
    with page_server.client() as client:
        again = client.get(address)
        assert (again.status_code, again.headers["location"]) == (303, "/")
        assert "set-cookie" not in again.headers


def test_only_the_page_gets_an_address_for_another_browser(page_server: PageServer) -> None:
    with bare(page_server, **{"X-Equivoc": "1"}) as client:
        assert client.post("/api/entrance").status_code == 401
    with bare(page_server, Cookie=page_server.cookie) as client:
        assert client.post("/api/entrance").status_code == 403
        assert client.get("/api/entrance").status_code == 405
    first, *others = [page_server.address for _ in range(17)]
    assert exchanged(first) is None  # at most 16 wait
    assert all(exchanged(each) for each in others)


def test_enter_in_the_terminal_prints_a_new_address(tmp_path: Path) -> None:
    ours, theirs = os.openpty()
    words = [sys.executable, "-m", "equivoc", "serve", "--no-browser", "--folder", str(tmp_path / "page")]
    with subprocess.Popen(
        words, stdin=theirs, stdout=subprocess.PIPE, text=True, start_new_session=True, preexec_fn=_in_front
    ) as process:
        try:
            assert process.stdout is not None

            def printed() -> str:
                assert process.stdout is not None
                line = next(line for line in process.stdout if "http://" in line)
                return "http://" + line.split("http://")[1].strip()

            first = printed()
            os.write(ours, b"\n")
            second = printed()
            assert first != second
            assert exchanged(first) == exchanged(second) is not None
            assert exchanged(second) is None
        finally:
            process.terminate()
            assert process.wait(60) == 0
            os.close(ours)
            os.close(theirs)


def _in_front() -> None:
    """In the new process: standard input is the terminal of its session."""
    fcntl.ioctl(0, termios.TIOCSCTTY, 0)


def test_the_page_may_load_nothing_from_elsewhere(page_server: PageServer) -> None:
    with page_server.client() as client:
        page = client.get("/")
        policy = page.headers["content-security-policy"]
        assert policy.startswith("default-src 'none'; script-src 'self';")
        assert "unsafe" not in policy
        for path in ("/", "/api/state", "/page/main.js"):
            headers = client.get(path).headers
            assert headers["cache-control"] == "no-store"
            assert headers["x-content-type-options"] == "nosniff"
            assert headers["x-frame-options"] == "DENY"
        assert "default-src 'none'" in client.get("/api/state").headers["content-security-policy"]


@pytest.mark.parametrize("host", ["evil.example", "127.0.0.1.evil.example", "localhost@evil.example", ""])
def test_another_host_is_refused(page_server: PageServer, host: str) -> None:
    line = raw(
        page_server,
        f"GET /?{page_server.address.split('?')[1]} HTTP/1.1\nHost: {host}\nConnection: close\n\n",
    )
    assert " 400 " in line


def test_our_own_names_are_served(page_server: PageServer) -> None:
    port = urlsplit(page_server.url).port
    for host in (f"localhost:{port}", f"127.0.0.1:{port}"):
        line = raw(
            page_server,
            f"GET /?{page_server.address.split('?')[1]} HTTP/1.1\nHost: {host}\nConnection: close\n\n",
        )
        assert " 303 " in line


@pytest.mark.parametrize(
    "headers",
    [
        {"Origin": "http://evil.example"},
        {"Origin": "null"},
        {"Origin": "http://127.0.0.1:1"},
        {"Origin": "https://127.0.0.1"},
        {"Sec-Fetch-Site": "cross-site"},
        {"Sec-Fetch-Site": "same-site"},
    ],
)
def test_another_page_is_refused(page_server: PageServer, headers: dict[str, str]) -> None:
    with page_server.client(**headers) as client:
        assert client.get("/api/state").status_code == 403
        assert client.patch("/api/state", json={}).status_code == 403


def test_our_own_page_is_served(page_server: PageServer) -> None:
    with page_server.client(Origin=page_server.url, **{"Sec-Fetch-Site": "same-origin"}) as client:
        assert client.get("/api/state").status_code == 200
        assert client.patch("/api/state", json={}).status_code == 200


def test_a_form_of_another_page_cannot_send_our_header(page_server: PageServer) -> None:
    with bare(page_server, Cookie=page_server.cookie) as client:
        for method, path in (
            ("POST", "/api/upload?name=a.csv"),
            ("DELETE", "/api/file"),
            ("PUT", "/api/roles"),
        ):
            assert client.request(method, path).status_code == 403


@pytest.mark.parametrize(
    "path",
    [
        "/page/../app.py",
        "/page/%2e%2e/app.py",
        "/page/..%2fapp.py",
        "/page//etc/passwd",
        "/page/main.py",
        "/docs",
    ],
)
def test_paths_that_climb_lead_nowhere(page_server: PageServer, path: str) -> None:
    head = f"GET {path} HTTP/1.1\nHost: {page_server.url[7:]}\nCookie: {page_server.cookie}\nConnection: close\n\n"
    assert " 404 " in raw(page_server, head)


def test_downloads_are_those_of_the_job_alone(http: httpx.Client) -> None:
    opened(http)
    name = http.post("/api/jobs", json={"kind": "audit", "statements": "SELECT"}).json()["id"]
    for file in ("..%2f..%2f..%2fstate.json", "result.json", "%2e%2e/result.json", "state.json"):
        answer = http.get(f"/api/jobs/{name}/files/{file}")
        assert (answer.status_code, list(answer.json())) == (404, ["error"])
    assert http.get("/api/jobs/..%2f..%2fstate/result").status_code == 404


def test_a_body_that_is_too_large_is_refused(http: httpx.Client) -> None:
    large = b'"' + b"x" * (1 << 20) + b'"'
    assert http.put("/api/roles", content=large).status_code == 413
    assert http.post("/api/live/assess", content=large).status_code == 413
    assert http.post("/api/jobs", content=b'"' + b"x" * (4 << 20) + b'"').status_code == 413


def test_an_upload_that_is_too_large_leaves_nothing(tmp_path: Path) -> None:
    server = PageServer.start(tmp_path / "page", "--most-upload", "1KiB")
    try:
        with server.client() as client:
            told = client.post("/api/upload?name=a.csv", content=b"x" * 2048)
            assert (told.status_code, "--most-upload" in told.json()["error"]) == (413, True)

            def pieces() -> object:  # without a length in advance
                for _ in range(8):
                    yield b"a,b\n" * 100

            assert client.post("/api/upload?name=a.csv", content=pieces()).status_code == 413  # type: ignore[arg-type]
            assert list((tmp_path / "page" / "data").iterdir()) == []
            assert client.get("/api/state").json()["file"] is None
    finally:
        assert server.stop() == (0, "")


def test_half_an_upload_is_removed(page_server: PageServer, http: httpx.Client) -> None:
    found = urlsplit(page_server.url)
    with socket.create_connection((str(found.hostname), int(found.port or 0)), timeout=30) as line:
        head = (
            f"POST /api/upload?name=a.csv HTTP/1.1\r\nHost: {page_server.url[7:]}\r\nX-Equivoc: 1\r\n"
            f"Cookie: {page_server.cookie}\r\nContent-Length: 1000\r\n\r\n"
        )
        line.sendall(head.encode() + b"a,b\n1,2\n")
    opened(http)  # the next upload works
    (only,) = (page_server.folder / "data").iterdir()
    assert re.fullmatch(r"[0-9a-f]{16}\.csv", only.name)


def test_the_folder_is_private(page_server: PageServer, http: httpx.Client) -> None:
    opened(http)
    for path in (page_server.folder, *page_server.folder.rglob("*")):
        mode = stat.S_IMODE(path.stat().st_mode)
        assert mode & 0o077 == 0, (path, oct(mode))


def test_the_name_of_an_upload_is_no_path(page_server: PageServer, http: httpx.Client) -> None:
    content = people_csv().encode()
    for name in ("../../evil.csv", "/etc/evil.csv", "..\\evil.csv"):
        answer = http.post("/api/upload", params={"name": name}, content=content)
        assert answer.json()["file"]["name"] == "evil.csv"
    (only,) = (page_server.folder / "data").iterdir()
    assert re.fullmatch(r"[0-9a-f]{16}\.csv", only.name)
    for name in ("", "a\nb.csv", "x" * 300):
        assert http.post("/api/upload", params={"name": name}, content=content).status_code == 400


def test_nothing_of_the_page_is_told_about_an_unknown_path(page_server: PageServer) -> None:
    with page_server.client() as client:
        for path in ("/openapi.json", "/redoc", "/api", "/api/nothing"):
            assert client.get(path).status_code == 404
        assert client.post("/api/state", json={}).status_code == 405


@pytest.mark.parametrize(
    ("method", "path"),
    [
        ("PATCH", "/api/state"),
        ("POST", "/api/upload?name=a.csv"),
        ("DELETE", "/api/file"),
        ("PUT", "/api/roles"),
        ("POST", "/api/hierarchies?name=a.csv&column=a"),
        ("POST", "/api/live/assess"),
        ("POST", "/api/jobs"),
        ("DELETE", "/api/jobs/0"),
        ("POST", "/api/calls"),
    ],
)
def test_without_the_cookie_or_from_elsewhere_nothing_is_done(
    page_server: PageServer, method: str, path: str
) -> None:
    with bare(page_server, **{"X-Equivoc": "1"}) as client:
        assert client.request(method, path, json={}).status_code == 401
        token = f"{path}{'&' if '?' in path else '?'}{page_server.address.split('?')[1]}"
        assert client.request(method, token, json={}).status_code == 401  # only the first address takes it
    with page_server.client(Origin="http://evil.example") as client:
        assert client.request(method, path, json={}).status_code == 403
    with page_server.client(Host="evil.example") as client:
        assert client.request(method, path, json={}).status_code == 400


def test_a_hierarchy_s_name_is_no_path(page_server: PageServer, http: httpx.Client) -> None:
    opened(http)
    content = b"30;a\n31;a\n32;b\n33;b\n"
    for name in ("../../evil.csv", "..\\evil.csv"):
        assert http.post(
            "/api/hierarchies", params={"name": name, "column": "age"}, content=content
        ).is_success
    assert len(list((page_server.folder / "hierarchies").iterdir())) == 1  # the second has replaced the first
    assert not list(page_server.folder.parent.rglob("*evil*"))
    for name in ("..%2fstate.json", "..%2f..%2fstate.json"):
        assert http.delete(f"/api/hierarchies/{name}").status_code in (400, 404)
    assert (page_server.folder / "state.json").exists()
