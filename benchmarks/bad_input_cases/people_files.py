"""Files of people that cannot be read, for every argument that is a file of people."""

from __future__ import annotations

import gzip
import io
import socket
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from tempfile import TemporaryDirectory

from .case import (
    EITHER,
    HEADER,
    OPTIONS,
    PEOPLE,
    PEOPLE_COMMANDS,
    REFUSED,
    ZERO,
    Case,
    Content,
    column,
    fifo,
    folder,
    link_to,
    people_words,
    unreadable,
)
from .plans import PLAN

TEXT = PEOPLE.encode()
LINES = PEOPLE.splitlines()
LONG = "9" * 5_000
ZIPPED = gzip.compress(TEXT, mtime=0)


def _with_line(number: int, line: str) -> bytes:
    return "\n".join([*LINES[:number], line, *LINES[number + 1 :], ""]).encode()


def _with_header(header: str) -> bytes:
    return PEOPLE.replace(HEADER, header, 1).encode()


def _socket(path: Path) -> None:
    with TemporaryDirectory() as near, socket.socket(socket.AF_UNIX) as listening:
        listening.bind(f"{near}/s")  # a socket's name may have 107 bytes at most
        Path(near, "s").rename(path)


def _zeros(path: Path) -> None:
    path.write_bytes(gzip.compress(bytes(200_000_000), 1, mtime=0))


BROKEN: dict[str, tuple[str, Content]] = {
    "empty": ("x.csv", b""),
    "one-newline": ("x.csv", b"\n"),
    "only-newlines": ("x.csv", b"\n" * 50),
    "only-a-mark": ("x.csv", b"\xef\xbb\xbf"),
    "header-only": ("x.csv", HEADER.encode() + b"\n"),
    "header-without-newline": ("x.csv", HEADER.encode()),
    "header-and-empty-lines": ("x.csv", HEADER.encode() + b"\n\n\n"),
    "short-row": ("x.csv", _with_line(5, "30,F")),
    "short-last-row": ("x.csv", TEXT + b"30,F"),
    "long-row": ("x.csv", _with_line(5, "30,F,cook,10,1,7,8")),
    "open-quote": ("x.csv", _with_line(5, '30,"F,cook,10,1')),
    "open-quote-in-the-header": ("x.csv", _with_header('age,sex,"job,pay,w')),
    "nul-in-a-number": ("x.csv", column("pay", ["1\x000"]).encode()),
    "only-nuls": ("x.csv", b"\0" * 5_000),
    "huge-number": ("x.csv", column("pay", ["9" * 5_000_000]).encode()),
    "one-endless-line": ("x.csv", b"x" * 20_000_000),
    "name-twice": ("x.csv", _with_header("age,sex,pay,pay,w")),
    "key-twice": ("x.csv", _with_header("age,sex,age,pay,w")),
    "no-such-column": ("x.csv", _with_header("age,sex,job,salary,w")),
    "control-character-in-names": ("x.csv", _with_header("age,sex,a\x1b[31mb,pa\x07y,w")),
    "newline-in-names": ("x.csv", _with_header('age,sex,job,"pa\ny",w')),
    "markup-in-names": ("x.csv", _with_header("age,sex,[/bold]job,<b>pay</b>,w")),
    "no-names": ("x.csv", b",,,,\n" + b"\n".join(line.encode() for line in LINES[1:])),
    "numbers-as-names": ("x.csv", "\n".join(LINES[1:]).encode()),
    "separated-by-spaces": ("x.csv", TEXT.replace(b",", b" ")),
    "a-picture": ("x.csv", b"\x89PNG\r\n\x1a\n" + bytes(range(256)) * 20),
    "a-page": ("x.csv", b"<!doctype html>\n<html><body>Not found</body></html>\n"),
    "folder": ("x.csv", folder),
    "socket": ("x.csv", _socket),
    "link-to-nothing": ("x.csv", link_to("nothing.csv")),
    "link-to-itself": ("x.csv", link_to("x.csv")),
    "unreadable": ("x.csv", unreadable),
    "spreadsheet": ("x.xlsx", b"PK\x03\x04" + bytes(100)),
    "workbook-with-a-password": (
        "x.xlsx",
        bytes.fromhex("d0cf11e0a1b11ae1") + "EncryptedPackage".encode("utf-16-le"),
    ),
    "text-called-sav": ("x.sav", TEXT),
    "half-a-sav": ("x.sav", b"$FL2" + bytes(300)),
    "half-a-dta": ("x.dta", b"<stata_dta><header><release>118</release>" + bytes(100)),
    "half-an-rds": ("x.rds", b"X\n\0\0\0\2" + bytes(40)),
    "half-an-arrow-file": ("x.feather", b"ARROW1" + bytes(100)),
    "json": ("x.json", b"[]"),
    "zst": ("x.csv.zst", b"\x28\xb5\x2f\xfd" + bytes(50)),
    "text-called-gz": ("x.csv.gz", TEXT),
    "truncated-gz": ("x.csv.gz", ZIPPED[:-20]),
    "gz-without-its-end": ("x.csv.gz", ZIPPED[:-4]),
    "gz-with-a-wrong-checksum": ("x.csv.gz", ZIPPED[:-8] + b"\1\2\3\4" + ZIPPED[-4:]),
    "garbled-gz": ("x.csv.gz", ZIPPED[:30] + b"\xff\x00\xff" + ZIPPED[33:]),
    "gz-of-nothing": ("x.csv.gz", gzip.compress(b"", mtime=0)),
    "gz-of-200-million-zeros": ("x.csv.gz", _zeros),
    "text-called-parquet": ("x.parquet", TEXT),
    "parquet-magic-only": ("x.parquet", b"PAR1"),
    "parquet-of-zeros": ("x.parquet", b"PAR1" + bytes(500) + b"PAR1"),
    "parquet-with-a-huge-footer": ("x.parquet", b"PAR1" + bytes(50) + b"\xff\xff\xff\x7fPAR1"),
    "empty-parquet": ("x.parquet", b""),
}
"""What is wrong with the file, whoever reads it."""

DEVICES: dict[str, tuple[str, Content]] = {
    "fifo": ("x.csv", fifo),
    "fifo-called-parquet": ("x.parquet", fifo),
    "endless-device": ("x.csv", ZERO),
    "link-to-an-endless-device": ("x.csv", link_to("/dev/zero")),
    "link-to-an-empty-device": ("x.csv", link_to("/dev/null")),
    "link-to-a-random-device": ("x.csv", link_to("/dev/urandom")),
}
"""Tried as a user would, in processes of their own."""

BAD_NUMBERS = {
    "text": "ten",
    "hexadecimal": "0x1F",
    "underscore": "1_000",
    "percent": "10%",
    "currency": "$10",
    "infinite": "inf",
    "minus-infinite": "-Infinity",
    "nan": "nan",
    "beyond-double": "1e400",
    "5000-digits": LONG,
    "date": "2020-01-02",
    "two-points": "1.2.3",
    "markup": "[/red]",
    "escape": "\x1b[2J",
}
BAD_VALUES = {name: column("pay", [text]) for name, text in BAD_NUMBERS.items()} | {
    "text-in-the-last-row": column("pay", [*["10"] * 23, "ten"]),
    "one-missing": column("pay", [""]),
    "all-missing": column("pay", [""] * 24),
}
"""What is wrong with the confidential column."""
DOUBTFUL = {
    "all-text": column("pay", ["ten"] * 24).encode(),  # categories
    "2-to-53-plus-1": column("pay", [2**53 + 1]).encode(),
    "10-to-30": column("pay", [10**30]).encode(),
    "mixed-line-endings": "\r\n".join(LINES[:8]).encode() + b"\n" + "\n".join(LINES[8:]).encode() + b"\r",
    "carriage-returns": "\r".join(LINES).encode(),
    "huge-text": column("sex", ["x" * 1_000_000]).encode(),
    "stray-quote": column("sex", ['F"x']).encode(),
    "empty-name": _with_header("age,sex,,pay,w"),
    "names-by-case": _with_header("age,sex,Age,pay,w"),
    "boolean": column("pay", ["true"] * 24).encode(),
    "nul-in-text": column("sex", ["F\0"]).encode(),
    "escape-in-text": column("sex", ["\x1b[2J"]).encode(),
    "one-person": "\n".join(LINES[:2]).encode(),
    "one-value": column("pay", [10] * 24).encode(),
}
"""Files that may be read; if they are not, it is said in a sentence."""


@cache
def parquet_files() -> dict[str, bytes]:
    """Parquet files that are damaged, or whose confidential column has no numbers."""
    import pyarrow as pa
    import pyarrow.parquet as pq

    def written(**columns: pa.Array) -> bytes:
        rows = len(next(iter(columns.values())))
        table = {
            "age": pa.array([20, 30] * rows)[:rows],
            "sex": pa.array(["F", "M"] * rows)[:rows],
            **columns,
        }
        out = io.BytesIO()
        pq.write_table(pa.table(table), out)
        return out.getvalue()

    good = written(pay=pa.array([10, 20, 30, 40]))
    middle = len(good) // 2
    nested = pa.array([[1], [2], [3], [4]])
    records = pa.array([{"a": 1}, {"a": 2}, {"a": 3}, {"a": 4}])
    twice = io.BytesIO()
    numbers = pa.array([1, 2])
    pq.write_table(pa.Table.from_arrays([numbers] * 4, names=["age", "sex", "pay", "pay"]), twice)
    return {
        "truncated": good[:middle],
        "garbled": good[:middle] + b"\xff" * 40 + good[middle + 40 :],
        "garbled-end": good[:-60] + b"\xff" * 50 + good[-10:],
        "without-its-end": good[:-1],
        "without-its-start": good[40:],
        "list-as-number": written(pay=nested),
        "record-as-number": written(pay=records),
        "list-as-key": written(pay=pa.array([1, 2, 3, 4]), age=nested),
        "record-as-key": written(pay=pa.array([1, 2, 3, 4]), age=records),
        "bytes-as-number": written(pay=pa.array([b"\xff", b"1", b"2", b"3"])),
        "text-as-number": written(pay=pa.array(["ten", "20", "30", "40"])),
        "all-null": written(pay=pa.nulls(4)),
        "null-numbers": written(pay=pa.array([None] * 4, pa.float64())),
        "infinite": written(pay=pa.array([1.0, float("inf"), 2.0, 3.0])),
        "nan": written(pay=pa.array([1.0, float("nan"), 2.0, 3.0])),
        "dates": written(pay=pa.array([1, 2, 3, 4], pa.timestamp("us"))),
        "no-rows": written(pay=pa.array([], pa.int64())),
        "no-columns": _without_columns(),
        "name-twice": twice.getvalue(),
    }


def _without_columns() -> bytes:
    import pyarrow as pa
    import pyarrow.parquet as pq

    out = io.BytesIO()
    pq.write_table(pa.table({}), out)
    return out.getvalue()


def files() -> Iterator[tuple[str, str, Content, bool, bool, str]]:
    """For each file: a description, its name, its content, whether it is a device, whether its values are wrong, and
    the expected result."""
    for what, (name, content) in BROKEN.items():
        yield what, name, content, False, False, REFUSED
    for what, (name, content) in DEVICES.items():
        yield what, name, content, True, False, REFUSED
    for what, text in BAD_VALUES.items():
        yield f"number-{what}", "x.csv", text.encode(), False, True, REFUSED
    for what, content in DOUBTFUL.items():
        yield f"perhaps-{what}", "x.csv", content, False, True, EITHER
    for what, content in parquet_files().items():
        expected = EITHER if what == "dates" else REFUSED  # dates are categories
        yield f"parquet-{what}", "x.parquet", content, False, True, expected


STRANGE_PATHS = {
    "missing": "missing.csv",
    "missing-parquet": "missing.parquet",
    "missing-folder": "no/such/folder/people.csv",
    "below-a-file": "people.csv/people.csv",
    "no-path": "",
    "a-space": " ",
    "here": ".",
    "above": "..",
    "root": "/",
    "long-name": "x" * 300 + ".csv",
    "long-path": "x/" * 3_000 + "people.csv",
    "newline": "peo\nple.csv",
    "escape": "peo\x1b[31mple.csv",
    "not-utf-8": "peopl\udce9.csv",
    "markup": "[/bold]people.csv",
    "wildcard": "*.csv",
    "address": "https://localhost:1/people.csv",
    "bucket": "s3://bucket/people.csv",
    "list": "people.csv,people.csv",
    "quote": "people'.csv",
}


def cases() -> Iterator[Case]:
    for command in PEOPLE_COMMANDS:
        yield Case(command, "base", "people", people_words(), expected="accepted")
    yield Case(
        "study", "base", "plan", ("plan.toml", "--out", "out"), {"plan.toml": PLAN}, expected="accepted"
    )
    for command in PEOPLE_COMMANDS:
        for what, name, content, real, _, expected in files():
            words = (name, *OPTIONS)
            yield Case(command, "files", what, words, {name: content}, real=real, expected=expected)
        for what, path in STRANGE_PATHS.items():
            yield Case(command, "paths", what, (path, *OPTIONS))
    for option in ("--release", "--control"):
        place = option.strip("-")
        for what, name, content, real, values, expected in files():
            # A released file may hold anything that a person could read: symbols, ranges, nothing.
            kind = EITHER if values and option == "--release" else expected
            words = people_words("people.csv", option, name)
            yield Case(
                "assess", place, what, words, {name: content}, real=real and what == "fifo", expected=kind
            )
        for what, path in STRANGE_PATHS.items():
            yield Case("assess", place, f"path-{what}", people_words("people.csv", option, path))
    for what, name, content, real, _, expected in files():
        plan = PLAN.replace(b'"people.csv"', f'"{name}"'.encode())
        made = {"plan.toml": plan, name: content}
        yield Case("study", "files", what, ("plan.toml", "--out", "out"), made, real=real, expected=expected)
    yield from _of_the_census()
    yield from _without_roles()


OTHER_COLUMNS = {
    "open-quote-in-the-header", "nul-in-a-number", "no-such-column", "control-character-in-names", "newline-in-names",
    "markup-in-names", "separated-by-spaces", "a-page",
}  # fmt: skip
"""Files that are wrong for who names their columns or needs numbers in one of them, and tables all the same."""


def _without_roles() -> Iterator[Case]:
    """``equivoc roles``: every column is looked at, and none is named."""
    yield Case("roles", "base", "people", ("people.csv",), expected="accepted")
    yield Case("roles", "base", "json", ("people.csv", "--json"), expected="accepted")
    for what, name, content, real, values, expected in files():
        kind = EITHER if values or what in OTHER_COLUMNS else expected
        yield Case(
            "roles", "files", what, (name,), {name: content}, real=real and what == "fifo", expected=kind
        )
    for what, path in STRANGE_PATHS.items():
        yield Case("roles", "paths", what, (path,))
    yield Case("roles", "options", "no-file", ())
    yield Case("roles", "options", "two-files", ("people.csv", "people.csv"))
    yield Case("roles", "options", "unknown", ("people.csv", "--keys", "age"))


PERSON = "AGEP,SEX,SCHL,INDP,OCCP,JWMNP,WAGP\n"
CENSUS = PERSON + "".join(
    f"{30 + i},{1 + i % 2},{9 + i % 5},7690,4200,{5 + i},{20000 + 10000 * (i % 9)}\n" for i in range(40)
)


def _of_the_census() -> Iterator[Case]:
    words = ("--pums", "x", "--records", "40", "--replicates", "1", "--progress", "none")
    yield Case("reproduce", "base", "people", ("--pums", "c.csv", *words[2:]), {"c.csv": CENSUS.encode()},
               expected="accepted")  # fmt: skip
    for what, name, content, real, values, _ in files():
        if not values:
            named = ("--pums", name, *words[2:])
            yield Case("reproduce", "files", what, named, {name: content}, real=real and what == "fifo")
    for what, path in STRANGE_PATHS.items():
        yield Case("reproduce", "paths", what, ("--pums", path, *words[2:]))
    own = {
        "header-only": PERSON,
        "a-column-lacks": CENSUS.replace("WAGP", "WAGES", 1),
        "a-column-twice": CENSUS.replace("AGEP", "SEX", 1),
        "no-one-works": CENSUS.replace("0000\n", "0\n").replace("00\n", "\n"),
        "text": CENSUS.replace("7690", "x"),
        "too-few": "".join(CENSUS.splitlines(keepends=True)[:4]),
    }
    for what, text in own.items():
        named = ("--pums", "c.csv", *words[2:])
        yield Case("reproduce", "census", what, named, {"c.csv": text.encode()})
    for what, content in _zips().items():
        named = ("--pums", "c.zip", *words[2:])
        yield Case("reproduce", "census", what, named, {"c.zip": content})


def _zips() -> dict[str, bytes]:
    from zipfile import ZIP_DEFLATED, ZipFile

    def packed(name: str, content: str) -> bytes:
        out = io.BytesIO()
        with ZipFile(out, "w", ZIP_DEFLATED) as archive:
            archive.writestr(name, content)
        return out.getvalue()

    good = packed("ss06pil.csv", CENSUS)
    return {
        "zip-without-csv": packed("readme.txt", "x"),
        "zip-of-an-empty-csv": packed("ss06pil.csv", ""),
        "truncated-zip": good[:-30],
        "garbled-zip": good[:60] + b"\xff" * 30 + good[90:],
        "empty-zip": b"PK\5\6" + bytes(18),
        "text-called-zip": CENSUS.encode(),
    }
