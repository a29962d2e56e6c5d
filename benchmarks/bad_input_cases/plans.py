"""Wrong plans, and folders with a wrong store."""

from __future__ import annotations

import sqlite3
import subprocess
import sys
from collections.abc import Callable, Iterator
from functools import cache
from pathlib import Path
from tempfile import TemporaryDirectory

from .case import EITHER, PEOPLE, ZERO, Case, Content, fifo, folder, link_to

PLAN = b"""[data]
path = "people.csv"
confidential = "pay"
keys = ["age", "sex"]

[[technique]]
name = "sampling"
fraction = 0.5

[study]
known_sizes = [0, 1]
replicates = 1
seed = 0
"""
TEXT = PLAN.decode()
WORDS = ("plan.toml", "--out", "out", "--workers", "1", "--progress", "none")
VALUES = {
    "boolean": "true",
    "text": '"x"',
    "empty-text": '""',
    "empty-list": "[]",
    "nested-list": "[[[1]]]",
    "table": "{ a = 1 }",
    "date": "2020-01-02",
    "time": "07:32:00",
    "nan": "nan",
    "infinite": "inf",
    "minus-one": "-1",
    "half": "0.5",
    "zero": "0",
    "5000-digits": "9" * 5_000,
    "10-to-30": str(10**30),
    "list-of-mixed": '[1, "a", true, nan]',
}
GOOD_VALUES = {
    ("round_to", "half"), ("keys", "empty-list"), ("subsets", "empty-list"), ("known_sizes", "empty-list"),
    ("seed", "zero"), ("seed", "10-to-30"), ("weights", "empty-text"), ("round_to", "10-to-30"),
    ("name", "text"), ("drop_missing", "boolean"),
}  # fmt: skip
"""Values that a key may have, or of which it is not ours to say."""
KEYS = {
    "data": ("path", "confidential", "keys", "round_to", "domain", "drop_missing"),
    "study": ("known_sizes", "subsets", "replicates", "seed"),
}


def _with(table: str, key: str, value: str) -> str:
    """The plan with one key changed, or added to its table."""
    lines = [line for line in TEXT.splitlines() if not line.startswith(f"{key} =")]
    if key == "subsets":
        lines = [line for line in lines if not line.startswith("known_sizes")]
    header = "[[technique]]" if table == "technique" else f"[{table}]"
    at = lines.index(header) + 1
    return "\n".join([*lines[:at], f"{key} = {value}", *lines[at:], ""])


def _plans() -> Iterator[tuple[str, str | bytes]]:
    for table, keys in KEYS.items():
        for key in keys:
            for what, value in VALUES.items():
                yield f"{key}-{what}", _with(table, key, value)
    for key in ("name", "fraction"):
        for what, value in VALUES.items():
            if (key, what) != ("fraction", "half"):
                yield f"technique-{key}-{what}", _with("technique", key, value)
    for key in ("path", "confidential", "keys"):
        yield f"{key}-lacks", "\n".join(line for line in TEXT.splitlines() if not line.startswith(f"{key} ="))
    domains = {
        "one-key": "{ low = 1 }",
        "another-key": "{ low = 1, high = 60, step = 10, more = 1 }",
        "million": "{ low = 0, high = 1000000, step = 1 }",
        "10-to-18": "{ low = 0, high = 1e18, step = 1 }",
        "tiny-step": "{ low = 0, high = 60, step = 1e-9 }",
        "step-0": "{ low = 0, high = 60, step = 0 }",
        "step-below-0": "{ low = 0, high = 60, step = -1 }",
        "upside-down": "{ low = 60, high = 10, step = 10 }",
        "nan": "{ low = nan, high = 60, step = 10 }",
        "infinite": "{ low = 0, high = inf, step = 10 }",
        "text": '{ low = "a", high = 60, step = 10 }',
        "boolean": "{ low = false, high = 60, step = 10 }",
        "lacks-a-value": "[10, 20]",
        "texts": '["10", "20"]',
        "with-nan": "[10, 20, 30, 40, 50, 60, nan]",
        "with-infinite": "[10, 20, 30, 40, 50, 60, inf]",
        "huge-integers": "[10, 20, 30, 40, 50, 60, " + "9" * 400 + "]",
    }
    for what, value in domains.items():
        yield f"domain-given-as-{what}", _with("data", "domain", value)
    more = {
        "keys-twice": _with("data", "keys", '["age", "age"]'),
        "keys-unknown": _with("data", "keys", '["age", "zip"]'),
        "keys-with-the-confidential": _with("data", "keys", '["age", "pay"]'),
        "keys-with-numbers": _with("data", "keys", '["age", 1]'),
        "confidential-unknown": _with("data", "confidential", '"salary"'),
        "confidential-also-key": _with("data", "confidential", '"age"'),
        "path-missing": _with("data", "path", '"missing.csv"'),
        "path-with-a-newline": _with("data", "path", '"a\\nb.csv"'),
        "path-of-a-folder": _with("data", "path", '".."'),
        "path-of-the-plan": _with("data", "path", '"plan.toml"'),
        "path-with-nul": _with("data", "path", '"a\\u0000b.csv"'),
        "round-to-0": _with("data", "round_to", "0"),
        "sizes-too-large": _with("study", "known_sizes", "[0, 3]"),
        "sizes-below-0": _with("study", "known_sizes", "[-1]"),
        "sizes-fraction": _with("study", "known_sizes", "[0.5]"),
        "sizes-twice": _with("study", "known_sizes", "[1, 1]"),
        "sizes-and-subsets": TEXT.replace("seed = 0", 'seed = 0\nsubsets = [["age"]]'),
        "subsets-unknown": _with("study", "subsets", '[["zip"]]'),
        "subsets-flat": _with("study", "subsets", '["age", "sex"]'),
        "subsets-twice": _with("study", "subsets", '[["age"], ["age"]]'),
        "subsets-key-twice": _with("study", "subsets", '[["age", "age"]]'),
        "replicates-10-to-7": _with("study", "replicates", "10000000"),
        "replicates-10-to-12": _with("study", "replicates", "1000000000000"),
        "seed-below-0": _with("study", "seed", "-1"),
        "unknown-table": TEXT + "\n[more]\na = 1\n",
        "unknown-table-of-tables": TEXT + "\n[[techniques]]\nname = 'sampling'\n",
        "unknown-key-at-the-top": "seed = 1\n" + TEXT,
        "unknown-data-key": _with("data", "path2", "1"),
        "unknown-study-key": _with("study", "replicate", "1"),
        "unknown-technique": _with("technique", "name", '"samplin"'),
        "unknown-parameter": _with("technique", "part", "0.5"),
        "no-technique": TEXT.replace('[[technique]]\nname = "sampling"\nfraction = 0.5\n', ""),
        "empty-technique-list": TEXT.replace('[[technique]]\nname = "sampling"\nfraction = 0.5\n', "")
        .replace("[data]", "technique = []\n[data]"),
        "technique-as-a-table": TEXT.replace("[[technique]]", "[technique]"),
        "technique-as-text": TEXT.replace('[[technique]]\nname = "sampling"\nfraction = 0.5\n', "")
        .replace("[data]", 'technique = "sampling"\n[data]'),
        "technique-without-a-name": TEXT.replace('name = "sampling"\n', ""),
        "technique-without-a-parameter": TEXT.replace("fraction = 0.5\n", ""),
        "technique-twice": TEXT + '\n[[technique]]\nname = "sampling"\nfraction = 0.5\n',
        "technique-empty": TEXT + "\n[[technique]]\n",
        "fraction-out-of-range-in-a-list": _with("technique", "fraction", "[0.5, 1.5]"),
        "fraction-twice-in-a-list": _with("technique", "fraction", "[0.5, 0.5]"),
        "a-grid-of-10-to-12": TEXT + '\n[[technique]]\nname = "microaggregation"\n'
        + "\n".join(f"{key} = {list(range(1, 1001))}" for key in ("size", "on", "method", "intruder")),
        "data-as-a-list": TEXT.replace("[data]", "[[data]]"),
        "study-as-a-list": TEXT.replace("[study]", "[[study]]"),
        "data-as-text": TEXT.replace("[data]", 'data = "people.csv"\n[more]'),
        "no-data": TEXT[TEXT.index("[[technique]]") :],
        "empty": "",
        "only-a-comment": "# nothing\n",
        "not-toml": "this is no plan\n",
        "table-twice": TEXT + "\n[data]\npath = 'x'\n",
        "key-twice": TEXT + "seed = 1\n",
        "open-text": TEXT.replace('"people.csv"', '"people.csv'),
        "open-list": TEXT.replace('"sex"]', '"sex"'),
        "deep-list": "a = " + "[" * 5_000 + "]" * 5_000,
        "deep-open-list": "a = " + "[" * 100_000,
        "deep-table": "[" + "a." * 5_000 + "a]\n",
        "deep-inline-table": "a = " + "{ a = " * 5_000 + "1" + "}" * 5_000,
        "deep-keys": ".".join("a" for _ in range(5_000)) + " = 1\n",
        "json": '{"data": {"path": "people.csv"}}',
        "yaml": "data:\n  path: people.csv\n",
        "the-people": PEOPLE,
        "nul": TEXT.replace("people", "peo\0ple"),
        "escape": TEXT.replace("[data]", "[\x1b[31mdata]"),
        "escape-in-a-quoted-table": TEXT + '\n["\\u001b[31m"]\na = 1\n',
        "newline-in-a-quoted-table": TEXT + '\n["a\\nb"]\na = 1\n',
        "markup-in-a-quoted-table": TEXT + '\n["[/bold]"]\na = 1\n',
        "released-file-missing": TEXT + '\n[[technique]]\nname = "released-file"\ntable = "missing.csv"\n',
        "released-file-number": TEXT + '\n[[technique]]\nname = "released-file"\ntable = 3\n',
        "released-file-path-with-nul": TEXT + '\n[[technique]]\nname = "released-file"\ntable = "\\u0000"\n',
    }  # fmt: skip
    yield from more.items()
    yield "utf-16", TEXT.encode("utf-16")
    yield "latin-1", TEXT.replace("sampling", "é").encode("latin-1")
    yield "picture", b"\x89PNG\r\n\x1a\n" + bytes(range(256))


DOUBTFUL = ("drop_missing-boolean", "sizes-twice", "path-of-the-plan")


def cases() -> Iterator[Case]:
    doubtful = {f"{key}-{what}" for key, what in GOOD_VALUES} | set(DOUBTFUL)
    for what, text in _plans():
        content = text if isinstance(text, bytes) else text.encode()
        expected = EITHER if what in doubtful else "refused"
        yield Case("study", "plans", what, WORDS, {"plan.toml": content}, expected=expected)
    strange: dict[str, Content] = {
        "folder": folder, "fifo": fifo, "endless": ZERO, "link-to-endless": link_to("/dev/zero"),
        "link-to-nothing": link_to("nothing"), "link-to-itself": link_to("plan.toml"),
    }  # fmt: skip
    for what, content in strange.items():
        yield Case("study", "plans", f"is-{what}", WORDS, {"plan.toml": content}, real=True)
    for what, path in {"missing": "no.toml", "none": "", "newline": "a\nb.toml", "long": "x" * 300}.items():
        yield Case("study", "plans", f"plan-path-{what}", (path, *WORDS[1:]))
    # The plan names its data as seen from where it lies, not from where the command runs.
    beside = {"plans/plan.toml": PLAN}
    yield Case("study", "plans", "data-elsewhere", ("plans/plan.toml", *WORDS[1:]), beside)
    yield from _stores()


@cache
def finished_store() -> bytes:
    """The store of the valid plan after a complete run."""
    with TemporaryDirectory() as made:
        Path(made, "people.csv").write_text(PEOPLE)
        Path(made, "plan.toml").write_bytes(PLAN)
        command = [sys.executable, "-m", "equivoc", "study", *WORDS]
        subprocess.run(command, cwd=made, check=True, stdout=subprocess.DEVNULL)
        with sqlite3.connect(Path(made, "out", "study.sqlite")) as store:
            store.execute("PRAGMA wal_checkpoint(TRUNCATE)")
        store.close()
        return Path(made, "out", "study.sqlite").read_bytes()


def _changed(*statements: str) -> Callable[[Path], None]:
    def make(path: Path) -> None:
        path.write_bytes(finished_store())
        with sqlite3.connect(path) as store:
            for statement in statements:
                store.execute(statement)
        store.close()

    return make


def _raw(change: Callable[[bytes], bytes]) -> Callable[[Path], None]:
    return lambda path: path.write_bytes(change(finished_store())) and None


def _stores() -> Iterator[Case]:
    stores: dict[str, Content] = {
        "not-sqlite": b"this is no store" * 100,
        "zeros": bytes(4096),
        "header-only": b"SQLite format 3\0" + bytes(84),
        "folder": folder,
        "fifo": fifo,
        "link-to-endless": link_to("/dev/zero"),
        "truncated": _raw(lambda b: b[: len(b) // 2]),
        "garbled": _raw(lambda b: b[:100] + b"\xff" * 3_000 + b[3_100:]),
        "another-file-of-sqlite": _changed("DROP TABLE study", "DROP TABLE results", "DROP TABLE seconds",
                                           "CREATE TABLE other (a)"),
        "no-study-row": _changed("DELETE FROM study"),
        "no-results-table": _changed("DROP TABLE results"),
        "a-column-lacks": _changed("ALTER TABLE results DROP COLUMN area"),
        "another-format": _changed("UPDATE study SET format = 'equivoc study 999'"),
        "damaged-json": _changed("UPDATE study SET facts = '{'"),
        "json-number": _changed("UPDATE study SET facts = '7'"),
        "json-list": _changed("UPDATE study SET facts = '[]'"),
        "json-without-data": _changed("UPDATE study SET facts = '{}'"),
        "json-of-nulls": _changed("""UPDATE study SET facts = '{"equivoc": null, "data": null}'"""),
        "facts-of-bytes": _changed("UPDATE study SET facts = x'ff00'"),
        "deep-json": _changed("UPDATE study SET facts = '" + "[" * 100_000 + "'"),
        "text-for-a-number": _changed("UPDATE results SET h0 = 'x'"),
        "bytes-for-a-number": _changed("UPDATE results SET area = x'00'"),
        "null-figures": _changed("UPDATE results SET h0_record = NULL"),
        "infinite-figures": _changed("UPDATE results SET area_record = 9e999"),
        "text-for-seconds": _changed("UPDATE seconds SET seconds = 'x'"),
        "null-seconds": _changed("UPDATE seconds SET seconds = NULL"),
        "text-for-size": _changed("UPDATE results SET known_size = 'x' WHERE known_size = 0"),
        "size-too-large": _changed("UPDATE results SET known_size = 9 WHERE known_size = 0"),
        "a-size-lacks": _changed("DELETE FROM results WHERE known_size = 0"),
    }  # fmt: skip
    for what, content in stores.items():
        made = {"plan.toml": PLAN, "out/study.sqlite": content}
        yield Case("study", "stores", what, WORDS, made, real=what in ("fifo", "link-to-endless"))
    others = {
        "seed": TEXT.replace("seed = 0", "seed = 1"),
        "sizes": TEXT.replace("[0, 1]", "[0, 2]"),
        "keys": TEXT.replace('["age", "sex"]', '["sex", "age"]'),
        "domain": _with("data", "domain", "{ low = 0, high = 60, step = 10 }"),
    }
    for what, text in others.items():
        made = {"plan.toml": text.encode(), "out/study.sqlite": _changed()}
        yield Case("study", "stores", f"another-{what}", WORDS, made)
    made = {"plan.toml": PLAN, "out/study.sqlite": _changed()}
    yield Case("study", "base", "store", WORDS, made, expected="accepted")
