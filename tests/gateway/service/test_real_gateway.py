"""The service in front of the real gateway: hostile SQL, many clients, people in PostgreSQL."""

from __future__ import annotations

import random
import re
import time
from collections.abc import Iterator
from functools import partial
from pathlib import Path

import pandas as pd
import pytest

import equivoc as eq
from equivoc.gateway.service.access import Tokens
from equivoc.gateway.service.log import LogReader
from tests.gateway.service.running import Running, running
from tests.gateway.service.service_process import (
    KEYS,
    Client,
    ServiceProcess,
    clients_at_work,
    some_question,
    write_people,
)
from tests.postgresql_server import PASSWORDS, PostgresqlServer

POLICY = {"least_people": 3, "questions_per_minute": 100_000}


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    found = tmp_path_factory.mktemp("real")
    write_people(found / "people.parquet", 300, values=20)
    return found


@pytest.fixture(scope="module")
def service(folder: Path) -> Iterator[Running]:
    people = eq.read(folder / "people.parquet", confidential="salary", keys=KEYS)
    store = folder / "gateway.sqlite"
    with (
        eq.Gateway(people, policy=POLICY, store=store) as gate,
        running(gate, folder, log=LogReader(store)) as found,
    ):
        yield found


def test_answers_are_those_of_the_data(service: Running, folder: Path) -> None:
    frame = pd.read_parquet(folder / "people.parquet")
    with service.client("ann") as ann:
        young = ann.post("/ask", json={"sql": "SELECT SUM(salary) FROM people WHERE age < 40"}).json()
        assert young["value"] == frame[frame.age < 40].salary.sum()
        grouped = ann.post("/ask", json={"sql": "SELECT COUNT(*) FROM people GROUP BY region"}).json()
        counts = {row["region"]: row["COUNT(*)"] for row in grouped["value"]}
        assert counts == frame.region.value_counts().to_dict()
        single = ann.post("/ask", json={"sql": "SELECT SUM(salary) FROM people WHERE age < 0"}).json()
        assert (single["answered"], single["value"]) == (False, None)


HOSTILE = [
    "SELECT salary FROM people",
    "SELECT * FROM people",
    "SELECT SUM(salary) FROM people; DROP TABLE people",
    "SELECT SUM(salary) FROM people; SELECT SUM(salary) FROM people WHERE age = 30",
    "SELECT SUM(salary) FROM people /* */; --",
    "SELECT SUM(salary) FROM (SELECT salary FROM people LIMIT 1)",
    "WITH one AS (SELECT * FROM people LIMIT 1) SELECT SUM(salary) FROM one",
    "SELECT SUM(salary) FROM people WHERE age = (SELECT MIN(age) FROM people)",
    "SELECT SUM(salary) FROM people UNION ALL SELECT salary FROM people",
    "SELECT SUM(salary) FROM people AS p, people AS q",
    "SELECT SUM(salary) FROM people JOIN people AS q ON true",
    "SELECT SUM(salary) FROM read_parquet('people.parquet')",
    "SELECT SUM(salary) FROM 'people.parquet'",
    "SELECT SUM(salary) FROM read_csv('/etc/passwd')",
    "SELECT COUNT(*) FROM duckdb_settings()",
    "SELECT SUM(salary) FROM main.people",
    "SELECT SUM(salary) FROM information_schema.tables",
    "SELECT SUM(CASE WHEN age = 30 THEN salary END) FROM people",
    "SELECT SUM(salary) FILTER (WHERE age = 30) FROM people",
    "SELECT SUM(salary) OVER (PARTITION BY age) FROM people",
    "SELECT SUM(CAST(salary AS VARCHAR)) FROM people",
    "SELECT STRING_AGG(salary, ',') FROM people",
    "SELECT LIST(salary) FROM people",
    "SELECT getenv('PGPASSWORD') FROM people",
    "SELECT SUM(salary) FROM people WHERE salary > 10",
    "SELECT SUM(salary) FROM people WHERE age > salary",
    "SELECT SUM(salary) FROM people HAVING SUM(salary) > 100",
    "SELECT SUM(salary) FROM people LIMIT 1",
    "SELECT SUM(salary) FROM people TABLESAMPLE 1 ROWS",
    "SELECT SUM(salary) FROM people GROUP BY salary",
    "COPY people TO '/tmp/people.csv'",
    "ATTACH 'x.db'",
    "INSTALL httpfs",
    "PRAGMA database_list",
    "SET enable_external_access = true",
    "CREATE TABLE t AS SELECT * FROM people",
    "EXPLAIN SELECT SUM(salary) FROM people",
    "SELECT SUM(salary) FROM people WHERE region = 'x'' OR 1=1",
    "SELECT SUM(salary) FROM people WHERE 1 = 1 OR",
    "",
    ";",
    "\x00",
    "SELECT SUM(salary) FROM people WHERE " + "(" * 5000,
]


@pytest.mark.parametrize("sql", HOSTILE, ids=lambda sql: sql[:40])
def test_hostile_sql_gets_no_answer(service: Running, sql: str) -> None:
    with service.client("bob") as bob:
        answer = bob.post("/ask", json={"sql": sql})
        assert answer.status_code == 422, answer.text
        assert list(answer.json()) == ["error"]
        assert len(answer.json()["error"]) <= 503
        assert "Traceback" not in answer.text
        last = bob.get("/history").json()["entries"][0]
    assert (last["decision"], last["value"]) == ("invalid", None)


def test_the_log_page_holds_what_was_sent_as_text(service: Running) -> None:
    sent = "SELECT '<script>alert(1)</script>' FROM people"
    with service.client("bob") as bob, service.client("olga") as olga:
        assert bob.post("/ask", json={"sql": sent}).status_code == 422
        page = olga.get("/log").text
    assert "<script" not in page
    assert "&lt;script&gt;alert(1)" in page


def test_eight_clients(service: Running, folder: Path) -> None:
    names = ["ann", "bob"] * 4
    clients = [
        Client(service.url, service.tokens[name], partial(some_question, random.Random(seed)))
        for seed, name in enumerate(names)
    ]
    with clients_at_work(clients):
        while sum(len(client.told) for client in clients) < 80:
            assert not any(client.problems for client in clients), [c.problems for c in clients]
            time.sleep(0.02)
    entries = {entry.number: entry for entry in LogReader(folder / "gateway.sqlite").every()}
    assert sorted(entries) == list(range(1, len(entries) + 1))
    told = [(names[at], each) for at, client in enumerate(clients) for each in client.told]
    assert len({each.reply["number"] for _, each in told}) == len(told)
    for name, each in told:
        entry = entries[each.reply["number"]]
        assert (entry.analyst, entry.value) == (name, each.reply["value"])
        assert (entry.decision != "refused") == each.reply["answered"]


def test_people_in_postgresql(
    postgresql_server: PostgresqlServer, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The service gets its password from libpq's file only, and prints it nowhere."""
    frame = pd.DataFrame(
        {"age": [20 + n % 50 for n in range(200)], "salary": [1 + 7 * n % 20 for n in range(200)]}
    )
    frame["region"] = ["north" if age % 2 else "south" for age in frame.age]
    values = ", ".join(
        f"({age}, '{region}', {salary})" for age, salary, region in frame.itertuples(index=False)
    )
    postgresql_server.run(f"""
        CREATE TABLE workers (age integer, region text, salary numeric(10, 2), name text);
        INSERT INTO workers SELECT *, 'secret' FROM (VALUES {values}) AS v;
        GRANT SELECT (age, region, salary) ON workers TO reader;
    """)
    (tmp_path / "policy.toml").write_text("least_people = 3\n")
    token = Tokens.beside(tmp_path / "gateway.sqlite").add("ann")
    monkeypatch.setenv("PGPASSFILE", str(postgresql_server.password_file))
    totals = []
    for region in ("north", "south"):  # the second one after a restart: the same people in the same order
        service = ServiceProcess.start(tmp_path, source=postgresql_server.address("workers"))
        with Running(service.url, {"ann": token}).client("ann") as ann:
            sql = f"SELECT SUM(salary) FROM people WHERE region = '{region}'"
            totals.append(ann.post("/ask", json={"sql": sql}).json()["value"])
        assert service.stop() == 0
        # The content is the same, its order on the disk is another one.
        postgresql_server.run("UPDATE workers SET name = 'other' WHERE age % 3 = 0")
    assert totals == [frame[frame.region == region].salary.sum() for region in ("north", "south")]
    for file in tmp_path.iterdir():
        assert not any(re.search(re.escape(word).encode(), file.read_bytes()) for word in PASSWORDS.values())
