"""Text files as people have them: every variant gives the same people as the plain file, cell by cell.

They are written by Python's csv and by hand, as R, Excel in German, SAS and statistical offices write them.
"""

from __future__ import annotations

import csv
import datetime as dt
import gzip
import io
import json
import zipfile
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pytest

import equivoc as eq
from tests.commands import run_command

NAMES = ("age", "city", "pay", "rate", "w")
KEYS = ["age", "city"]
Row = tuple[int | None, str, float, float | None, float]
ROWS: list[Row] = [
    (
        37 + at % 7,
        ("Köln", "Paris", "São Paulo")[at % 3],
        1234.5 + 1000 * at,
        None if at % 4 == 1 else 0.25 + at,
        1.5,
    )
    for at in range(12)
]
"""Keys with letters beyond ASCII; amounts from a thousand on; a rate that is missing for some."""


def cells(
    *, decimal: str = ".", thousands: str = "", missing: str = "", quoted: bool = False, trailing: str = ""
) -> list[list[str]]:
    def number(value: float | None) -> str:
        if value is None:
            return missing
        whole, _, part = f"{value:.2f}".partition(".")
        groups = []
        while len(whole) > 3:
            groups.insert(0, whole[-3:])
            whole = whole[:-3]
        return (
            thousands.join([whole, *groups]) + decimal + part
            if thousands
            else f"{value:.2f}".replace(".", decimal)
        )

    return [[str(age), city, number(pay), number(rate), number(w)] for age, city, pay, rate, w in ROWS]


def text(
    rows: Sequence[Sequence[str]],
    *,
    separator: str = ",",
    header: Sequence[str] | None = NAMES,
    quoting: Any = csv.QUOTE_MINIMAL,
    end: str = "\n",
) -> str:
    file = io.StringIO(newline="")
    writer = csv.writer(file, delimiter=separator, quoting=quoting, lineterminator=end)
    if header is not None:
        writer.writerow(header)
    writer.writerows(rows)
    return file.getvalue()


def packed(content: bytes, inside: str = "people.csv") -> bytes:
    file = io.BytesIO()
    with zipfile.ZipFile(file, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("__MACOSX/._people.csv", b"x")
        archive.writestr(inside, content)
    return file.getvalue()


def row_names(body: str, *, unnamed: bool) -> str:
    """As R's write.csv (with a name "" for them) and write.table (without) number the rows."""
    first, *lines = body.splitlines()
    numbered = [f'"{at}",{line}' for at, line in enumerate(lines, start=1)]
    return "\n".join([first if unnamed else f'"",{first}', *numbered]) + "\n"


PLAIN = text(cells()).encode()
GERMAN = text(cells(decimal=","), separator=";")
VARIANTS: dict[str, bytes | tuple[bytes, dict[str, Any]]] = {
    "mark": b"\xef\xbb\xbf" + PLAIN,
    "crlf": text(cells(), end="\r\n").encode(),
    "semicolons": text(cells(), separator=";").encode(),
    "tabs": text(cells(), separator="\t").encode(),
    "bars": text(cells(), separator="|").encode(),
    "quoted": text(cells(), quoting=csv.QUOTE_ALL).encode(),
    "quoted words": text(cells(), quoting=csv.QUOTE_NONNUMERIC).encode(),
    "latin-1": PLAIN.decode().encode("latin-1"),
    "windows-1252": text(cells(), header=(*NAMES[:4], "w")).replace("Paris", "Paris–€").encode("cp1252"),
    "utf-16": PLAIN.decode().encode("utf-16"),
    "utf-16 little, no mark": PLAIN.decode().encode("utf-16-le"),
    "utf-16 big, no mark": PLAIN.decode().encode("utf-16-be"),
    "utf-16 big with mark": b"\xfe\xff" + PLAIN.decode().encode("utf-16-be"),
    "utf-32": PLAIN.decode().encode("utf-32"),
    "Excel in German": b"\xef\xbb\xbf" + text(cells(decimal=","), separator=";", end="\r\n").encode(),
    "Excel in German, Latin-1": text(cells(decimal=","), separator=";", end="\r\n").encode("latin-1"),
    "Excel's Unicode text": text(cells(decimal=","), separator="\t", end="\r\n").encode("utf-16"),
    "Excel's first line": b"sep=;\r\n" + text(cells(decimal=","), separator=";", end="\r\n").encode(),
    "dots between thousands": text(cells(decimal=",", thousands="."), separator=";").encode(),
    "commas between thousands": text(cells(thousands=","), separator=";").encode(),
    "commas between thousands, quoted": text(cells(thousands=",")).encode(),
    "Swiss": text(cells(thousands="'"), separator=";").encode(),
    "Swiss, curly": text(cells(thousands="\u2019"), separator=";").encode(),
    "French": text(cells(decimal=",", thousands="\u202f"), separator=";").encode(),
    "French, Latin-1": text(cells(decimal=",", thousands="\u00a0"), separator=";").encode("latin-1"),
    "blanks between thousands": text(cells(thousands=" ")).encode(),
    "decimal comma, quoted": text(cells(decimal=",")).encode(),
    "decimal comma, tabs": text(cells(decimal=","), separator="\t").encode(),
    "R's write.csv": row_names(
        text(cells(missing="NA"), quoting=csv.QUOTE_NONNUMERIC), unnamed=False
    ).encode(),
    "R's write.table": row_names(
        text(cells(missing="NA"), quoting=csv.QUOTE_NONNUMERIC), unnamed=True
    ).encode(),
    "R's write.csv2": text(cells(decimal=",", missing="NA"), separator=";").encode(),
    "NULL": text(cells(missing="NULL")).encode(),
    "N/A": text(cells(missing="N/A")).encode(),
    "#N/A": text(cells(missing="#N/A")).encode(),
    "SAS": text(cells(missing=".")).encode(),
    "minus": text(cells(missing="-")).encode(),
    "nan": text(cells(missing="NaN")).encode(),
    "NA, dots": text(cells(decimal=",", thousands=".", missing="NA"), separator=";").encode(),
    "blanks": text(cells(missing="  ")).encode(),
    "a code": (text(cells(missing="-8")).encode(), {"missing": {"rate": ["-8"]}}),
    "a code everywhere": (text(cells(missing="-99")).encode(), {"missing": "-99"}),
    "no header": (text(cells(), header=None).encode(), {"header": False}),
    "no header, German": (
        text(cells(decimal=",", missing="NA"), separator=";", header=None).encode("latin-1"),
        {"header": False},
    ),
    "caret": (text(cells(), separator="^").encode(), {"separator": "^"}),
    "blank as a separator": (text(cells(), separator=" ").encode(), {"separator": "space"}),
    "Mac Roman": (PLAIN.decode().encode("mac-roman"), {"encoding": "mac-roman"}),
    "code page 850": (PLAIN.decode().encode("cp850"), {"encoding": "cp850"}),
    "gzip": gzip.compress(PLAIN),
    "gzip of Latin-1": gzip.compress(GERMAN.encode("latin-1")),
    "zstd": pa.compress(PLAIN, codec="zstd", asbytes=True),
    "zip": packed(PLAIN),
    "zip of UTF-16": packed(GERMAN.encode("utf-16"), "a folder/people.txt"),
    "all given": (
        text(cells(decimal=",", thousands=".", missing="NA"), separator=";").encode("latin-1"),
        {
            "separator": ";",
            "decimal": ",",
            "thousands": ".",
            "encoding": "latin-1",
            "header": True,
            "missing": "NA",
        },
    ),
}


def people_of(path: Path, **options: Any) -> eq.Microdata:
    """Read with the confidential columns pay and rate, and weights, whatever the columns are called."""
    names = NAMES if options.get("header") is not False else [f"column_{at}" for at in range(1, 6)]
    age, city, pay, rate, w = names
    return eq.read(path, confidential=[pay, rate], keys=[age, city], weights=w, drop_missing=True, **options)


def every_cell(people: eq.Microdata) -> list[tuple[Any, ...]]:
    return list(people.frame.itertuples(index=False, name=None))


@pytest.fixture(scope="module")
def plain(tmp_path_factory: pytest.TempPathFactory) -> list[tuple[Any, ...]]:
    file = tmp_path_factory.mktemp("plain") / "people.csv"
    file.write_bytes(PLAIN)
    people = people_of(file)
    assert people.reading.plain
    assert [row[2] for row in every_cell(people)] == [row[2] for row in ROWS if row[3] is not None]
    return every_cell(people)


@pytest.mark.parametrize("name", VARIANTS)
def test_the_same_people(name: str, plain: list[tuple[Any, ...]], tmp_path: Path) -> None:
    variant = VARIANTS[name]
    content, options = variant if isinstance(variant, tuple) else (variant, {})
    file = tmp_path / ("people.csv.gz" if content[:2] == b"\x1f\x8b" else "people.csv")
    file.write_bytes(content)
    people = people_of(file, **options)
    expected = plain if name != "windows-1252" else [tuple(_curly(each) for each in row) for row in plain]
    assert every_cell(people) == expected
    assert people.dropped == sum(rate is None for *_, rate, _ in ROWS)
    assert np.allclose(people.weights, 1.5)
    assert set(people.reading.given) == set(options)
    assert json.loads(json.dumps(people.reading.json))["sentence"] == people.reading.sentence
    assert people.reading.plain == (name in ("mark", "crlf", "quoted", "quoted words", "gzip", "zstd", "zip"))
    assert [path.name for path in tmp_path.iterdir()] == [file.name]


def _curly(value: Any) -> Any:
    return "Paris–€" if value == "Paris" else value


COMMANDS = {
    "Excel in German, Latin-1": [],
    "Excel's Unicode text": [],
    "dots between thousands": [],
    "Swiss, curly": [],
    "R's write.csv2": [],
    "R's write.table": [],
    "a code": ["--missing", "rate=-8"],
    "caret": ["--separator", "^"],
    "code page 850": ["--encoding", "cp850"],
    "no header": ["--no-header"],
}


@pytest.mark.parametrize("name", COMMANDS)
def test_the_command_reads_the_same(name: str, tmp_path: Path) -> None:
    variant = VARIANTS[name]
    (tmp_path / "plain.csv").write_bytes(PLAIN)
    (tmp_path / "other.csv").write_bytes(variant[0] if isinstance(variant, tuple) else variant)
    found = []
    for file, options in (("plain.csv", []), ("other.csv", COMMANDS[name])):
        unnamed = "--no-header" in options
        age, city, _, rate, _ = [f"column_{at}" for at in range(1, 6)] if unnamed else NAMES
        words = [
            "assess",
            file,
            "--confidential",
            rate,
            "--keys",
            f"{age},{city}",
            "--drop-missing",
            "--json",
        ]
        done = run_command(tmp_path, [*words, *options])
        assert (done.returncode, done.stderr) == (0, "")
        found.append(json.loads(done.stdout)["summary"])
    for name_of_figure in ("h0", "area"):
        assert found[0].get(name_of_figure) == found[1].get(name_of_figure)


def refusal(tmp_path: Path, content: bytes | str, **options: Any) -> str:
    file = tmp_path / "people.csv"
    file.write_bytes(content.encode() if isinstance(content, str) else content)
    given = {"confidential": "pay", "keys": ["age"], **options}
    with pytest.raises(eq.InputError) as told:
        eq.read(file, **given)
    assert "\n" not in str(told.value)
    return str(told.value)


REST = "".join(f"{at},{at}\n" for at in range(3))


@pytest.mark.parametrize(
    ("content", "options", "says"),
    [
        ("age;pay\n1;1.234\n2;500\n", {}, "on line 2 of people.csv, the column 'pay' holds '1.234', which is 1.234"),
        ("age;pay\n1;1.234\n2;500\n", {}, "1234 with thousands='.'"),
        ("age;pay\n1;1,234\n2;500\n", {}, "1.234 with decimal=',' and 1234 with thousands=','"),
        ("age;pay\n1;1.5\n2;2,5\n", {}, "'2,5', which is not a number in this notation"),
        ("age;pay;w\n1;1,5;2.5\n2;2,5;3.5\n", {"weights": "w"}, "has a decimal comma, but 'w' has a decimal point"),
        ("age;pay\n1;1.5\n2;2.5\n", {"decimal": ","}, "'1.5', which is not a number with decimal=','"),
        ("age,pay\n1,low\n2,5\n3,6\n", {}, "on line 2 of people.csv, the confidential column 'pay' holds 'low'"),
        ("age,pay\n1,NA\n2,5\n3,6\n", {}, "'pay' is missing ('NA') in 1 row (line 2 of the file)"),
        ("age,pay\nyears,EUR\n2,5\n3,6\n", {}, "two header rows: line 2 (years, EUR)"),
        ("1,2\n3,4\n5,6\n", {}, "the confidential column 'pay' is not a column"),
        ("37,M\n41,F\n37,M\n", {}, "or say header=False"),
        (b"age,pay,x\n1,5,\xc3\xa9\n2,6,\xe9\n", {}, "two encodings (line 2 is UTF-8, line 3 is not)"),
        ("age,pay\n" + REST, {"encoding": "klingon"}, "encoding is 'klingon', which is not known"),
        (b"age,pay,x\n1,5,\xe9\n", {"encoding": "utf-8"}, "is not UTF-8 text (line 2, byte 5, is 0xe9)"),
        ("age,pay\n" + REST, {"separator": ",,"}, "separator is ',,'; it must be one character, or tab"),
        ("age,pay\n" + REST, {"decimal": ".", "thousands": "."}, "give two different marks"),
        ("age,pay\n" + REST, {"missing": 3}, "missing is 3; it must be a list of words"),
        ("a;b,c\n1;2,3\n4;5,6\n", {"confidential": "a", "keys": []}, "two separators, commas or semicolons"),
        (packed(b"age,pay\n" + b"\0" * (80 << 20)), {}, "unpacks to more than"),
        (packed(b"age,pay\n1,2\n")[:60], {}, "damaged"),
    ],
)  # fmt: skip
def test_what_is_refused(content: bytes | str, options: dict[str, Any], says: str, tmp_path: Path) -> None:
    assert says in refusal(tmp_path, content, **options)


def test_a_zip_with_two_files_or_a_password(tmp_path: Path) -> None:
    two = io.BytesIO()
    with zipfile.ZipFile(two, "w") as archive:
        archive.writestr("a.csv", "age,pay\n1,2\n")
        archive.writestr("b.csv", "age,pay\n1,2\n")
    assert "a zip with 2 files (a.csv, b.csv)" in refusal(tmp_path, two.getvalue())
    locked = bytearray(packed(PLAIN))
    for mark, flags in ((b"PK\x03\x04", 6), (b"PK\x01\x02", 8)):
        at = locked.rindex(mark)
        locked[at + flags] |= 1
    assert "locked with a password" in refusal(tmp_path, bytes(locked))


def test_a_decimal_comma_in_3_of_20_000_rows(tmp_path: Path) -> None:
    rows = [f"{at % 90},{at}.5" for at in range(20_000)]
    rows[777] = '5,"77,5"'
    assert "on line 779 of people.csv, the confidential column 'pay' holds '77,5'" in refusal(
        tmp_path, "age,pay\n" + "\n".join(rows) + "\n"
    )


@pytest.mark.parametrize(
    ("columns", "decides"),
    [
        ({"pay": ["1.234", "500"], "age": ["1,5", "2"]}, [500.0, 1234.0]),  # a key
        ({"pay": ["1.234", "500"], "age": ["1", "2"], "rate": ["0,5", "7"]}, [500.0, 1234.0]),  # no role
        ({"pay": ["1.234", "500"], "age": ["1", "2"], "rate": ["0.5", "7"]}, [1.234, 500.0]),
        ({"pay": ["1.234", "5000"], "age": ["1", "2"]}, [1.234, 5000.0]),  # 5000 has no mark
        ({"pay": ["0.234", "500"], "age": ["1", "2"]}, [0.234, 500.0]),
        ({"pay": ["1.234.567", "500"], "age": ["1", "2"]}, [500.0, 1234567.0]),
    ],
)
def test_what_decides_between_two_readings(
    columns: dict[str, list[str]], decides: list[float], tmp_path: Path
) -> None:
    file = tmp_path / "people.csv"
    file.write_text(text(list(zip(*columns.values(), strict=True)), separator=";", header=list(columns)))
    assert eq.read(file, confidential="pay", keys=["age"]).values.tolist() == decides


@pytest.mark.parametrize("options", [{"decimal": "."}, {"thousands": "none"}])
def test_the_caller_decides_for_a_point(options: dict[str, str], tmp_path: Path) -> None:
    file = tmp_path / "people.csv"
    file.write_text("age;pay\n1;1.234\n2;500\n")
    assert eq.read(file, confidential="pay", keys=["age"], **options).values.tolist() == [1.234, 500.0]
    assert eq.read(file, confidential="pay", thousands=".").values.tolist() == [500.0, 1234.0]


def test_words_in_keys(tmp_path: Path) -> None:
    file = tmp_path / "people.csv"
    file.write_text("age,sex,pay\nNA,NA,1\n30,F,2\n31,M,3\n")
    people = eq.read(file, confidential="pay", keys=["age", "sex"])
    assert (people.levels("age"), people.levels("sex")) == ((30, 31, None), ("F", "M", "NA"))
    assert people.reading.missing == {"age": {"NA": 1}}
    named = eq.read(file, confidential="pay", keys=["age", "sex"], missing=["NA"])
    assert named.levels("sex") == ("F", "M", None)
    declared = eq.read(file, confidential=eq.Categories("age"), keys=["sex"])
    assert declared.values.tolist() == ["30", "31", "NA"]  # nothing is guessed about what was declared


def test_codes_for_missing_values_in_frames_and_parquet(tmp_path: Path) -> None:
    import pandas as pd

    frame = pd.DataFrame({"age": [1, -8, 3], "pay": [5.0, -8.0, 7.0]})
    frame.to_parquet(tmp_path / "people.parquet")
    for source in (frame, tmp_path / "people.parquet"):
        people = eq.Microdata(source, confidential="pay", keys=["age"], missing=[-8], drop_missing=True)
        assert (people.values.tolist(), people.dropped) == ([5.0, 7.0], 1)
        people = eq.Microdata(source, confidential="pay", keys=["age"], missing={"age": ["-8"]})
        assert (people.levels("age"), people.values.tolist()) == ((1, 3, None), [-8.0, 5.0, 7.0])
    with pytest.raises(eq.InputError, match="separator is for files"):
        eq.Microdata(frame, confidential="pay", separator=";")
    with pytest.raises(eq.InputError, match="decimal is not for a Parquet file"):
        eq.read(tmp_path / "people.parquet", confidential="pay", decimal=",")


def test_dates_as_the_file_writes_them(tmp_path: Path) -> None:
    file = tmp_path / "people.csv"
    file.write_text("born;pay\n31.12.1980;1\n01.02.1990;2\nNA;3\n")
    people = eq.read(file, confidential="pay", keys=["born"], dates="%d.%m.%Y")
    assert people.levels("born") == (dt.date(1980, 12, 31), dt.date(1990, 2, 1), None)
    assert people.reading.missing == {"born": {"NA": 1}}
    file.write_text("born;pay\n31.12.1980;1\n12/31/1990;2\n")
    with pytest.raises(
        eq.InputError, match=r"on line 3 of people\.csv, the column 'born' holds '12/31/1990'"
    ):
        eq.read(file, confidential="pay", keys=["born"], dates="%d.%m.%Y")
    with pytest.raises(eq.InputError, match="dates is '%q'"):
        eq.read(file, confidential="pay", keys=["born"], dates="%q")


def test_a_fixed_width_file_gives_the_same_people(plain: list[tuple[Any, ...]], tmp_path: Path) -> None:
    """As statistical offices write it: no header, places of columns in a file of their own, Latin-1."""
    widths = (3, 12, 12, 8, 6)
    lines = [
        "".join(each.rjust(w) for each, w in zip(row, widths, strict=True)) for row in cells(decimal=",")
    ]
    (tmp_path / "people.dat").write_bytes(("\n".join(lines) + "\n").encode("latin-1"))
    starts = [1 + sum(widths[:at]) for at in range(5)]
    fields = "".join(f"{name},{start},{w}\n" for name, start, w in zip(NAMES, starts, widths, strict=True))
    (tmp_path / "layout.csv").write_text("name,start,width\n" + fields)
    people = people_of(tmp_path / "people.dat", layout=str(tmp_path / "layout.csv"))
    assert every_cell(people) == plain
    assert people.reading.sentence == "read as: a fixed-width file, decimal comma, Latin-1"
    with pytest.raises(eq.InputError, match="name the file that describes its columns"):
        people_of(tmp_path / "people.dat", format="fixed")


def test_a_group_is_no_key(tmp_path: Path) -> None:
    file = tmp_path / "people.csv"
    file.write_text("home,age,pay\nh1,1,5\n,2,6\nh1,3,7\nh2,4,8\n,5,9\n")
    people = eq.read(file, confidential="pay", keys=["age"], group="home")
    assert people.group is not None
    codes = people.group.tolist()
    assert codes[0] == codes[2]
    assert len(set(codes)) == 4  # who has none is alone
    assert people.keys == ("age",)
    assert people.names == ("age", "pay", "home")
    with pytest.raises(eq.InputError, match="'age' has another role"):
        eq.read(file, confidential="pay", keys=["age"], group="age")


def test_a_control_group_and_a_certificate_use_the_same_reading(tmp_path: Path) -> None:
    file = tmp_path / "people.csv"
    file.write_text("age^pay\n" + "".join(f"{at % 3}^{at},5\n" for at in range(9)))
    people = eq.read(file, confidential="pay", keys=["age"], separator="^", decimal=",")
    assert people.alike(file).values.tolist() == people.values.tolist()
    done = eq.protect(people, eq.Sampling(fraction=0.5), tmp_path / "out.csv", seed=1)
    assert done.certificate["people"]["reading"]["asked"] == {"separator": "^", "decimal": ","}
    assert eq.verify(done.certificate_path, file, tmp_path / "out.csv").holds


def test_a_task_says_how_its_file_is_read() -> None:
    people = {
        "source": "people.csv",
        "confidential": "pay",
        "keys": ["age"],
        "group": "home",
        "decimal": ",",
        "header": False,
        "missing": {"pay": ["NA", "-8"]},
    }
    task = eq.requests.read({"verb": "assess", "people": people, "technique": "unprotected"})
    assert "decimal=',', header=False, missing={'pay': ['NA', '-8']}" in task.python
    assert "--decimal , --no-header --missing pay=NA,-8" in task.command
    assert 'missing = { "pay" = ["NA", "-8"] }' in task.toml
    for again in (eq.requests.read(task.toml), eq.requests.read(task.json)):
        assert again == task
