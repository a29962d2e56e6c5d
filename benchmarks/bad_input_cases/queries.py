"""Wrong logs of queries, recorded answers, policies, stores and tokens for ``audit`` and ``gateway``."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator
from pathlib import Path

from .case import ACCEPTED, EITHER, OPTIONS, PEOPLE, ZERO, Case, Content, fifo, folder, link_to

LOG = "SELECT SUM(pay) FROM people WHERE age > 30;\nSELECT MAX(pay) FROM people WHERE sex = 'F';\n"
POLICY = "least_people = 3\nleast_h0 = 1.0\n"
AUDIT = ("people.csv", *OPTIONS, "--queries", "log.sql")
GATEWAY = ("serve", "people.csv", *OPTIONS, "--policy", "policy.toml", "--port", "0")

STATEMENTS = {
    "select-all": "SELECT * FROM people",
    "no-aggregate": "SELECT pay FROM people",
    "key-aggregate": "SELECT SUM(age) FROM people",
    "unknown-column": "SELECT SUM(pay) FROM people WHERE agee > 3",
    "unknown-aggregate": "SELECT MODE(pay) FROM people",
    "confidential-condition": "SELECT SUM(age) FROM people WHERE pay > 30",
    "confidential-in-where": "SELECT COUNT(*) FROM people WHERE pay > 30",
    "confidential-group": "SELECT COUNT(*) FROM people GROUP BY pay",
    "subquery": "SELECT SUM(pay) FROM (SELECT * FROM people)",
    "subquery-in-where": "SELECT SUM(pay) FROM people WHERE age IN (SELECT age FROM people)",
    "cte": "WITH t AS (SELECT * FROM people) SELECT SUM(pay) FROM t",
    "join": "SELECT SUM(pay) FROM people, people AS other",
    "union": "SELECT SUM(pay) FROM people UNION SELECT 1",
    "having": "SELECT SUM(pay) FROM people GROUP BY sex HAVING COUNT(*) > 1",
    "distinct": "SELECT SUM(DISTINCT pay) FROM people",
    "filter": "SELECT SUM(pay) FILTER (WHERE age > 3) FROM people",
    "window": "SELECT SUM(pay) OVER () FROM people",
    "cast": "SELECT SUM(CAST(pay AS INT)) FROM people",
    "arithmetic": "SELECT SUM(pay + 1) FROM people",
    "function": "SELECT SUM(pay) FROM people WHERE ABS(age) > 3",
    "file": "SELECT SUM(pay) FROM read_csv('people.csv')",
    "file-as-table": "SELECT SUM(pay) FROM 'people.csv'",
    "sample": "SELECT SUM(pay) FROM people TABLESAMPLE 10 PERCENT",
    "limit": "SELECT SUM(pay) FROM people LIMIT 1",
    "drop": "DROP TABLE people",
    "copy": "COPY people TO 'out.csv'",
    "attach": "ATTACH 'x.db'",
    "pragma": "PRAGMA database_list",
    "parameter": "SELECT SUM(pay) FROM people WHERE age > ?",
    "null-comparison": "SELECT SUM(pay) FROM people WHERE age = NULL",
    "text-for-a-number": "SELECT SUM(pay) FROM people WHERE age > 'old'",
    "number-for-a-text": "SELECT SUM(pay) FROM people WHERE sex = 1",
    "like-on-a-number": "SELECT SUM(pay) FROM people WHERE age LIKE '3%'",
    "huge-number": f"SELECT SUM(pay) FROM people WHERE age > {'9' * 400}",
    "infinite-number": "SELECT SUM(pay) FROM people WHERE age > 1e999",
    "open-quote": "SELECT SUM(pay) FROM people WHERE sex = 'F",
    "open-comment": "SELECT SUM(pay) FROM people /* WHERE",
    "open-bracket": "SELECT SUM(pay FROM people",
    "half-a-condition": "SELECT SUM(pay) FROM people WHERE age >",
    "unknown-table": "SELECT SUM(pay) FROM persons JOIN people",
    "deep": f"SELECT SUM(pay) FROM people WHERE {'(' * 3_000}age > 3{')' * 3_000}",
    "many-nots": f"SELECT SUM(pay) FROM people WHERE {'NOT ' * 3_000}age > 3",
    "two-megabytes": f"SELECT SUM(pay) FROM people WHERE age IN ({', '.join(['3'] * 700_000)})",
    "null-byte": "SELECT SUM(pay) FROM people\0",
    "words": "how much does everyone earn?",
}  # fmt: skip
ANSWERS = {
    "text": "many",
    "nan": "nan",
    "infinite": "inf",
    "5000-digits": "9" * 5_000,
    "out-of-reach": "1000000",
    "below-0": "-5",
    "between-steps": "333.337",
    "two": "5 6",
    "empty": "",
}
RECORDED: dict[str, bytes] = {
    "empty": b"",
    "no-answer-column": b"statement,value\n1,300\n",
    "statement-0": b"statement,answer\n0,300\n",
    "statement-99": b"statement,answer\n99,300\n",
    "statement-half": b"statement,answer\n1.5,300\n",
    "statement-text": b"statement,answer\none,300\n",
    "statement-twice": b"statement,answer\n1,300\n1,310\n",
    "answer-text": b"statement,answer\n1,many\n",
    "answer-nan": b"statement,answer\n1,nan\n",
    "ragged": b"statement,answer\n1,300,4,5\n",
    "bytes": bytes(range(256)),
    "null-bytes": b"\0" * 100,
    "html": b"<html><body>404</body></html>",
}
RECORDED_JSON: dict[str, bytes] = {
    "empty": b"",
    "open": b"{",
    "number": b"3",
    "null": b"null",
    "list-of-text": b'["many"]',
    "unknown-statement": b'{"99": 3}',
    "answer-list": b'{"1": [3]}',
    "deep": b"[" * 100_000,
    "nan": b'{"1": NaN}',
    "5000-digits": b'{"1": ' + b"9" * 5_000 + b"}",
    "latin-1": b'{"\xe4": 3}',
}
POLICIES = {
    "unknown-limit": "least_peple = 3",
    "unknown-key-edges": "[edges]\nzip = [1, 2]",
    "edges-descending": "[edges]\nage = [40, 30]",
    "edges-text": '[edges]\nage = ["a", "b"]',
    "edges-nan": "[edges]\nage = [nan]",
    "edges-nested": "[edges]\nage = [[1]]",
    "edges-number": "edges = 3",
    "edges-of-the-confidential": "[edges]\npay = [10, 20]",
    "not-toml": "least_people: 3",
    "twice": "least_people = 3\nleast_people = 4",
    "deep": "a = " + "[" * 100_000,
    "draws-and-share": "draws = 10\nshare = 0.01",
    "more-people-than-there-are": "least_people = 13",
    "more-bits-than-there-are": "least_h0 = 9",
}
LIMITS = (
    "least_people",
    "least_h0",
    "simulatable",
    "share",
    "draws",
    "scope",
    "work",
    "questions_per_minute",
)
VALUES = {
    "text": '"x"',
    "list": "[1]",
    "nan": "nan",
    "infinite": "inf",
    "minus-one": "-1",
    "date": "2020-01-02",
}
FILES: dict[str, Content] = {
    "folder": folder,
    "fifo": fifo,
    "zero-device": ZERO,
    "link-to-itself": link_to("log.sql"),
    "empty": b"",
    "blank": b" \n\n",
    "comments-only": b"-- nothing\n",
    "semicolons": b";;;",
    "utf-16": LOG.encode("utf-16"),
    "latin-1": b"SELECT SUM(pay) FROM people WHERE sex = '\xe4'",
    "bytes": bytes(range(256)),
    "parquet": b"PAR1" + bytes(100),
}


def _database(path: Path) -> None:
    """An SQLite file of another program."""
    connection = sqlite3.connect(path)
    connection.execute("CREATE TABLE log (a)")
    connection.commit()
    connection.close()


STORES: dict[str, Content] = {
    "folder": folder,
    "fifo": fifo,
    "text": b"hello\n" * 500,
    "of-another-program": _database,
    "cut-off": b"SQLite format 3\0" + bytes(50),
    "link-to-itself": link_to("gateway.sqlite"),
}


def cases() -> Iterator[Case]:
    """All of them."""
    yield from _audits()
    yield from _gateways()


def _audits() -> Iterator[Case]:
    def case(kind: str, what: str, log: Content, *more: str, **others: Content) -> Case:
        files = {"log.sql": log, **{name.replace("_", "."): content for name, content in others.items()}}
        return Case("audit", kind, what, (*AUDIT, *more), files=files)

    yield Case("audit", "base", "valid", AUDIT, files={"log.sql": LOG.encode()}, expected=ACCEPTED)
    for what, content in FILES.items():
        yield case("logs", what, content)
    yield Case("audit", "logs", "missing", AUDIT)
    for what, text in STATEMENTS.items():
        yield case("statements", what, text.encode())
    for what, answer in ANSWERS.items():
        yield case(
            "answers", what, f"SELECT SUM(pay) FROM people WHERE age > 30; -- answer: {answer}\n".encode()
        )
    one, two = "SELECT SUM(pay) FROM people WHERE age > 30", "SELECT COUNT(*) FROM people WHERE age > 30"
    yield case("answers", "contradicting", f"{one}; -- answer: 300\n{one}; -- answer: 310\n".encode())
    yield case("answers", "wrong-count", f"{two}; -- answer: 3\n".encode())
    for what, content in RECORDED.items():
        yield case("recorded", f"csv-{what}", LOG.encode(), "--answers", "a.csv", a_csv=content)
    for what, content in RECORDED_JSON.items():
        yield case("recorded", f"json-{what}", LOG.encode(), "--answers", "a.json", a_json=content)
    for what, words in {
        "answers-missing": ("--answers", "none.csv"),
        "answers-folder": ("--answers", "."),
        "known-unknown": ("--known", "zip"),
        "known-confidential": ("--known", "pay"),
        "prior-unknown": ("--prior", "normal"),
        "eps-below-0": ("--eps", "-1"),
        "eps-nan": ("--eps", "nan"),
        "work-0": ("--work", "0"),
        "work-below-0": ("--work", "-5"),
        "work-nan": ("--work", "nan"),
        "work-text": ("--work", "long"),
        "seed-below-0": ("--seed", "-1"),
        "seed-half": ("--seed", "0.5"),
        "require-unknown": ("--require", "h9 >= 1"),
        "require-contradicting": ("--require", "h0 >= 2", "--require", "h0 <= 1"),
        "domain-lacks-a-value": ("--domain", "10:30:10"),
        "domain-million-millions": ("--domain", "0:1e12:1"),
        "round-to-0": ("--round-to", "0"),
        "round-to-pi": ("--round-to", "3.14159265358979"),
        "out-over-the-people": ("--out", "people.csv"),
        "out-over-the-log": ("--out", "log.sql"),
        "out-in-nothing": ("--out", "none/page.html"),
        "keys-unknown": ("--keys", "age,zip"),
        "keys-twice": ("--keys", "age,age"),
        "keys-confidential": ("--keys", "age,pay"),
    }.items():
        expected = EITHER if what in ("round-to-pi", "known-confidential") else "refused"
        files = {"log.sql": LOG.encode()}
        yield Case("audit", "options", what, (*AUDIT, *words), files=files, expected=expected)
    labels = {"people.csv": PEOPLE.replace(",10,", ",ten,").encode(), "log.sql": LOG.encode()}
    yield Case("audit", "options", "confidential-of-words", AUDIT, files=labels)
    nothing = ("people.csv", *OPTIONS)
    yield Case("audit", "options", "no-queries", nothing)


def _gateways() -> Iterator[Case]:
    def case(kind: str, what: str, *more: str, **files: Content) -> Case:
        given: dict[str, Content] = {"policy.toml": POLICY.encode()}
        given |= {name.replace("_", "."): content for name, content in files.items()}
        return Case("gateway", kind, what, (*GATEWAY, *more), files=given)

    yield Case("gateway", "base", "token", ("token", "add", "ann"), expected=ACCEPTED)
    for what, text in POLICIES.items():
        yield case("policies", what, policy_toml=text.encode())
    for limit in LIMITS:
        for what, value in VALUES.items():
            yield case("policies", f"{limit}-{what}", policy_toml=f"{limit} = {value}\n".encode())
    for what, content in FILES.items():
        if what not in ("empty", "blank", "comments-only", "link-to-itself"):
            yield case("policies", f"file-{what}", policy_toml=content)
    for what, content in STORES.items():
        yield case("stores", what, gateway_sqlite=content)
        log = ("log", "--store", "gateway.sqlite")
        yield Case("gateway", "stores", f"log-of-{what}", log, files={"gateway.sqlite": content})
    for what, words in {
        "store-in-nothing": ("--store", "none/gateway.sqlite"),
        "store-over-the-people": ("--store", "people.csv"),
        "store-over-the-policy": ("--store", "policy.toml"),
        "host-of-another": ("--host", "0.0.0.0"),
        "host-no-address": ("--host", "999.1.1.1"),
        "host-empty": ("--host", ""),
        "port-below-0": ("--port", "-1"),
        "port-too-large": ("--port", "65536"),
        "port-text": ("--port", "http"),
        "allow-host-empty": ("--allow-host", ""),
        "allow-host-address": ("--allow-host", "https://gateway.example.org/x"),
        "keys-unknown": ("--keys", "age,zip"),
        "domain-lacks-a-value": ("--domain", "10:30:10"),
        "round-to-0": ("--round-to", "0"),
        "policy-missing": ("--policy", "none.toml"),
    }.items():
        yield case("options", what, *words)
    for what, words in {
        "no-name": ("token", "add"),
        "empty-name": ("token", "add", ""),
        "blank-name": ("token", "add", "  "),
        "long-name": ("token", "add", "x" * 300),
        "control-name": ("token", "add", "a\nb"),
        "remove-nobody": ("token", "remove", "ann"),
        "store-in-nothing": ("token", "add", "ann", "--store", "none/gateway.sqlite"),
        "store-folder": ("token", "add", "ann", "--store", "."),
        "log-of-nothing": ("log", "--store", "none.sqlite"),
    }.items():
        yield Case("gateway", "tokens", what, words)
