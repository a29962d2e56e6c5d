"""Files that cannot be read: the reason in plain words, and the line as an editor counts it."""

from __future__ import annotations

import gzip
import os
import socket
from pathlib import Path

import pytest

from equivoc.data.read import read
from equivoc.errors import InputError


def refusal(path: Path, **options: object) -> str:
    with pytest.raises(InputError) as caught:
        read(path, **{"confidential": "salary", "keys": ["age"], **options})  # type: ignore[arg-type]
    message = str(caught.value)
    assert "\n" not in message
    return message


@pytest.mark.parametrize(
    ("content", "says"),
    [
        (b"age,salary\n1,2\n3,4,5\n", "line 3 has 3 fields, but the header has 2"),
        (b'age,salary\n"two\nlines",2\n\n3\n', "line 5 has 1 field, but the header has 2"),
        (b'age,salary\n1,2\n3,"4\n5,6\n', "a quote in the record that begins on line 3 is not closed"),
        (b'age,salary\n1,2\n3,"4"x\n', "record that begins on line 3 is followed by more text"),
        (b'age,salary\n1,"2" \n3,4,5\n', "line 3 has 3 fields"),
        (b'"age,salary\n1,2\n', "a quote in its header is not closed"),
        (b"age,salary\n1,2\r\n3,4\r\n", "mixed (line 1 ends with LF, line 2 with CRLF)"),
        (
            b"age,salary\n1,2\n3,\x814\n",
            "not UTF-8 text (line 3, byte 3, is 0x81), and not Windows-1252 either",
        ),
        (b"age,salary\n1,2\n3,\xe9\0\n", "not UTF-8 text (line 3, byte 3, is 0xe9)"),
        (b"age\xff,salary,\xc3\xa9\n1,2,\xc3\xa9\n", "in two encodings (line 2 is UTF-8, line 1 is not)"),
        (b"age,salary\n1,2\nx\0y,4\n", "column 'age' holds a NUL byte on line 3"),
        (b"age,salary\n1," + b"2" * 3_000_000 + b"\n", "line 2 has more than 131,072 characters"),
        (
            b'age,salary\n1,"' + b"3,4\n" * 50_000,
            "line 2 has more than 131,072 characters: is a quote not closed",
        ),
        (b"\nage,salary\n1,2\n", "is empty, or its first line is"),
    ],
)
def test_the_reason_and_the_line(content: bytes, says: str, tmp_path: Path) -> None:
    path = tmp_path / "people.csv"
    path.write_bytes(content)
    assert says in refusal(path)
    packed = tmp_path / "people.csv.gz"
    packed.write_bytes(gzip.compress(content))
    assert says in refusal(packed)


def test_lines_are_counted_over_fields_of_several_lines_and_blank_lines(tmp_path: Path) -> None:
    path = tmp_path / "people.csv"
    path.write_text('age,salary\n"one\n\ntwo",1\n\n7,x\n')
    assert "on line 6 of people.csv, the confidential column 'salary' holds 'x'" in refusal(path)
    path.write_text("salary\n1\n\n3\n")
    assert "null in 1 row (line 3 of the file)" in refusal(path, keys=[])


def test_places_are_those_of_the_file_when_rows_are_dropped(tmp_path: Path) -> None:
    import pandas as pd

    path = tmp_path / "people.csv"
    path.write_text("age,salary\n1,\n2,\n3,4\n5,\n6,7\n")
    assert "on line 6 of people.csv," in refusal(path, drop_missing=True, domain=[4])
    frame = pd.read_csv(path)
    frame.to_parquet(tmp_path / "people.parquet")
    for source in (frame, tmp_path / "people.parquet"):
        assert "in row 4 (counting from 0)" in refusal(source, drop_missing=True, domain=[4])  # type: ignore[arg-type]


@pytest.mark.parametrize("damage", ["checksum", "length", "cut", "middle", "rubbish"])
def test_a_damaged_gzip_file(damage: str, tmp_path: Path) -> None:
    lines = "\n".join(f"{n % 90},{n * n % 1000}" for n in range(5000))
    whole = gzip.compress(f"age,salary\n{lines}\n".encode())
    half = len(whole) // 2
    broken = {
        "checksum": whole[:-8] + bytes([whole[-8] ^ 1]) + whole[-7:],
        "length": whole[:-1] + bytes([whole[-1] ^ 1]),
        "cut": whole[:half],
        "middle": whole[:half] + bytes(reversed(whole[half : half + 64])) + whole[half + 64 :],
        "rubbish": whole + b"more",
    }
    path = tmp_path / "people.csv.gz"
    path.write_bytes(whole)
    assert len(read(path, confidential="salary", keys=["age"])) == 5000
    path.write_bytes(broken[damage])
    assert "people.csv.gz cannot be read: it is damaged or truncated" in refusal(path)


def test_a_gzip_file_under_another_name(tmp_path: Path) -> None:
    for name in ("people.csv", "people.CSV.GZ"):
        (tmp_path / name).write_bytes(gzip.compress(b"age,salary\n1,2\n"))
        assert len(read(tmp_path / name, confidential="salary", keys=["age"])) == 1


def test_only_ordinary_files_are_read(tmp_path: Path) -> None:
    pipe = tmp_path / "pipe.csv"
    os.mkfifo(pipe)
    assert "pipe.csv cannot be read: it is a pipe, not an ordinary file" in refusal(pipe)
    endless = tmp_path / "endless.csv"
    endless.symlink_to("/dev/zero")
    assert "it is a device" in refusal(endless)
    with socket.socket(socket.AF_UNIX) as listening:
        listening.bind(str(tmp_path / "s"))
        assert "it is a socket" in refusal(tmp_path / "s")
    loop = tmp_path / "loop.csv"
    loop.symlink_to(loop)
    assert "cannot be read" in refusal(loop)
    assert "is a folder" in refusal(tmp_path)
    assert "there is no file" in refusal(tmp_path / "no\0body.csv")
    assert "cannot be read" in refusal(tmp_path / ("x" * 300 + ".csv"))


def test_names_of_columns(tmp_path: Path) -> None:
    path = tmp_path / "people.csv"
    strange = ["[/]", "[red]", "\x1b[31m", "AGE", "age", "", "year=2020", ""]
    path.write_text("\ufeff" + ",".join([*strange, "salary"]) + "\n1,2,3,4,5,6,7,8,9\n", encoding="utf-8")
    keys = [name for name in strange if name]
    people = read(path, confidential="salary", keys=keys)
    assert [people.levels(name) for name in keys] == [(1,), (2,), (3,), (4,), (5,), (7,)]
    message = refusal(path, keys=["zzzz"])
    assert "\x1b" not in message
    assert "AGE, age, '', year=2020" in message


def test_a_number_of_5000_digits(tmp_path: Path) -> None:
    path = tmp_path / "people.csv"
    path.write_text(f"age,salary\n{'7' * 5000},1\n2,3\n")
    assert read(path, confidential="salary", keys=["age"]).classes(["age"]).sizes.tolist() == [1, 1]
    message = refusal(path, confidential="age", keys=["salary"])
    assert "which is too large" in message
    assert len(message) < 300
    assert "a weight must be a finite number" in refusal(path, keys=[], weights="age")
