"""A PostgreSQL server that stops a statement, ends the connection or dies: one sentence, no figures, no secrets."""

from __future__ import annotations

import os
import signal
import threading
import time
from collections.abc import Callable, Iterator

import pytest

import equivoc as eq
from tests.postgresql_server import PASSWORDS, PostgresqlServer

READING = "FROM pg_stat_activity WHERE usename = 'reader' AND query LIKE '%slow_people%'"


@pytest.fixture
def slow(postgresql_server: PostgresqlServer, monkeypatch: pytest.MonkeyPatch) -> Iterator[PostgresqlServer]:
    """A server with a view of people that takes half a minute to read."""
    monkeypatch.setenv("PGPASSFILE", str(postgresql_server.password_file))
    postgresql_server.run("""
        CREATE OR REPLACE VIEW slow_people AS SELECT g % 7 AS age,
            CASE WHEN pg_sleep(0.03) IS NULL THEN 0 ELSE g % 3 END AS salary FROM generate_series(1, 1000) AS g;
        GRANT SELECT ON slow_people TO reader;
    """)
    yield postgresql_server
    postgresql_server.run("ALTER ROLE reader RESET statement_timeout")


def _end_by(server: PostgresqlServer) -> None:
    server.run(f"SELECT pg_terminate_backend(pid) {READING}")


def _kill(server: PostgresqlServer) -> None:
    """The server's process dies; the server then ends all connections and starts again."""
    os.kill(int(server.run(f"SELECT pid {READING} LIMIT 1")), signal.SIGKILL)
    for _ in range(100):
        time.sleep(0.1)
        try:
            server.run("SELECT 1")
        except AssertionError:  # still starting
            continue
        return


@pytest.mark.parametrize(
    ("fault", "told"),
    [
        (_end_by, "terminating connection due to administrator command"),
        (_kill, "server closed the connection"),
    ],
)
def test_a_server_that_goes_away(
    slow: PostgresqlServer, fault: Callable[[PostgresqlServer], None], told: str
) -> None:
    def when_reading() -> None:
        while slow.run(f"SELECT count(*) {READING}").strip() == "0":
            time.sleep(0.05)
        fault(slow)

    other = threading.Thread(target=when_reading)
    other.start()
    try:
        with pytest.raises(eq.InputError, match=told) as caught:
            eq.read(slow.address("slow_people"), confidential="salary", keys=["age"])
    finally:
        other.join()
    _check_words(str(caught.value))


def test_a_statement_that_takes_too_long(slow: PostgresqlServer) -> None:
    slow.run("ALTER ROLE reader SET statement_timeout = '200ms'")
    with pytest.raises(
        eq.InputError, match=r"stopped after the server's statement_timeout: .*ALTER ROLE"
    ) as caught:
        eq.read(slow.address("slow_people"), confidential="salary", keys=["age"])
    _check_words(str(caught.value))


def _check_words(sentence: str) -> None:
    assert "\n" not in sentence
    assert "table 'slow_people'" in sentence
    assert not any(word in sentence for word in PASSWORDS.values())
