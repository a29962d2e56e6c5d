"""A CSV file without a header would lose its first record: it is refused."""

from __future__ import annotations

from pathlib import Path

import pytest

import equivoc as eq
from tests.commands import run_command

WITHOUT = [
    "37,M,77\n41,F,80\n37,M,61\n",
    "37;1.5\n41;2.5\n",
    "M,cook\nF,judge\nM,cook\n",
    "1980-01-31,F\n1981-02-28,M\n",
    "NA,M,77\n41,F,80\n",
    '"37","77"\n"41","80"\n',
]
WITH = [
    "age,sex,pay\n37,M,77\n41,F,80\n",
    "id,2019,2020\na,1,2\nb,3,4\n",
    "sex,job\nM,cook\nF,judge\n",
    "sex,job\nM,job\nF,judge\n1,x\n",
    "2020,name\nx,y\n",
    "age\n37\n",
    "age,,\n37,1,2\n41,3,4\n",
]


@pytest.mark.parametrize("text", WITHOUT)
def test_a_first_line_that_is_a_record_is_refused(text: str, tmp_path: Path) -> None:
    file = tmp_path / "people.csv"
    file.write_text(text)
    done = run_command(tmp_path, ["assess", "people.csv", "--confidential", "pay", "--keys", "age"])
    assert done.returncode == 2
    assert "people.csv seems to have no header: its first line (" in done.stderr
    assert "write a first line with the columns' names" in done.stderr
    assert done.stderr.count("\n") == 1


@pytest.mark.parametrize("text", [WITH[0], WITH[1], WITH[2], WITH[4], WITH[5], WITH[6]])
def test_a_header_is_a_header(text: str, tmp_path: Path) -> None:
    file = tmp_path / "people.csv"
    file.write_text(text)
    first = text.splitlines()[0].split(",")[0]
    assert len(eq.read(file, confidential=eq.Categories(first))) == text.count("\n") - 1


def test_a_name_that_is_also_a_value_is_refused_unless_another_is_a_name(tmp_path: Path) -> None:
    file = tmp_path / "people.csv"
    file.write_text(WITH[3])
    with pytest.raises(eq.InputError, match="seems to have no header"):
        eq.read(file, confidential="sex")
    file.write_text("sex,job,age\nM,job,1\nF,judge,2\n")
    assert len(eq.read(file, confidential="sex")) == 2
