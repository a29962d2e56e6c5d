"""Recorded answers from comments, files and lists; those that cannot be meant are refused."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pandas as pd
import pytest

from equivoc.data.microdata import Microdata
from equivoc.errors import InputError
from equivoc.sql.asking import PeopleTable, ask
from equivoc.sql.parsing import parse
from equivoc.sql.schema import schema_of

FRAME = pd.DataFrame(
    {
        "age": [37, 37, 40, 41],
        "sex": ["F", "M", "F", None],
        "town": ["a, b", "x=y", "it's", "a, b"],
        "salary": [77, 80, 50, 107],
    }
)
PEOPLE = Microdata(FRAME, confidential="salary", keys=["age", "sex", "town"])
TABLE = PeopleTable.of(PEOPLE, schema_of(PEOPLE))
SUM = "SELECT SUM(salary) FROM people"


def answers(text: str | list[str], given: Any = None) -> list[float | None]:
    return [question.answer for question in ask(TABLE, parse(text, schema=TABLE.schema), given).questions]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        (f"{SUM}", [314]),
        (f"{SUM} -- answer: 57", [57]),
        (f"{SUM}; -- Answer: 57\n{SUM}", [57, 314]),
        (f"{SUM};\n-- answer: 57\n{SUM};", [57, 314]),
        (f"{SUM}; -- a remark\n-- another\n-- answer: -5.7e1\n\n{SUM} -- answer: 3", [-57, 3]),
        (f"SELECT SUM(salary) -- answer: 57\nFROM people; {SUM}", [57, 314]),
        (f"{SUM} /* answer: 57 */; {SUM}", [57, 314]),
        (f"{SUM} /* -- answer: 57 */", [314]),
        (f"{SUM} -- the answer: 57", [314]),
        (f"{SUM} WHERE town = '-- answer: 5'; -- answer: NULL", [None]),
        (f"{SUM} WHERE town <> '; -- answer: 5'", [314]),
        ("SELECT SUM(salary), COUNT(*), MAX(salary) FROM people -- answer: 57, 4, 50", [57, 4, 50]),
        (f"{SUM} GROUP BY sex -- answer: M=200, F=157,NULL = 3", [157, 200, 3]),
        (f"{SUM} GROUP BY town -- answer: 'x=y'=1, 'it''s'=2, 'a, b'=3", [3, 2, 1]),
        (f"{SUM} GROUP BY age -- answer: 37=1, 40.0=2, 041=3", [1, 2, 3]),
        (f"{SUM} GROUP BY age, sex -- answer: 37/F=1, 37/M=2, 40/F=3, 41/NULL=4", [1, 2, 3, 4]),
        ("SELECT COUNT(*), SUM(salary) FROM people GROUP BY sex -- answer: F=2 5, M=1 6, NULL=1 7", [2, 5, 1, 6, 1, 7]),
    ],
)  # fmt: skip
def test_comments(text: str, expected: list[float | None]) -> None:
    assert answers(text) == expected


@pytest.mark.parametrize(
    ("text", "said"),
    [
        (f"-- answer: 5\n{SUM}", "statement 1, line 1, character 1: an answer stands before the first statement"),
        (f"{SUM} -- answer: 5\n; -- answer: 6", "line 2, character 3: the statement has a second answer"),
        (f"{SUM};\n{SUM} -- answer: five", "statement 2, line 2, character 32: the answer comment: the answer 'five'"),
        (f"{SUM} -- answer:", "the answer '' is not a number"),
        (f"{SUM} -- answer: nan", "is not a number"),
        (f"{SUM} -- answer: 5, 6", "there are 2 answers, but the statement asks for 1"),
        (f"{SUM} -- answer: NULL", "recorded as NULL, but the data has 4 such people, for whom the answer cannot be"),
        (f"{SUM} WHERE age = 1 -- answer: 5", "0 such people, for whom the answer is NULL"),
        ("SELECT COUNT(*) FROM people -- answer: 5", "the data has 4 such people"),
        ("SELECT VAR_SAMP(salary) FROM people WHERE age = 41 -- answer: 5", "1 such people"),
        (f"{SUM} GROUP BY sex -- answer: 5", "must give each group and its answer"),
        (f"{SUM} GROUP BY sex -- answer: F=1, M=2", "the group NULL has no answer"),
        (f"{SUM} GROUP BY sex -- answer: F=1, M=2, NULL=3, X=4", "there is no group X"),
        (f"{SUM} GROUP BY sex -- answer: F=1, M=2, NULL=3, F=4", "has the group F twice"),
        (f"{SUM} GROUP BY age -- answer: old=1", "'age', which holds whole numbers"),
        (f"{SUM} GROUP BY age, sex -- answer: 37=1", "must name each group by age / sex"),
        (f"{SUM} GROUP BY sex -- answer: 'F=1", "a quote that is never closed"),
        (f"{SUM} GROUP BY sex -- answer: F=1 2, M=2 3, NULL=3", "2 answers of the group F"),
    ],
)  # fmt: skip
def test_wrong_comments(text: str, said: str) -> None:
    with pytest.raises(InputError) as refused:
        answers(text)
    assert said in str(refused.value)


TWO = ["SELECT SUM(salary), COUNT(*) FROM people WHERE age = 37", f"{SUM} GROUP BY sex"]


@pytest.mark.parametrize(
    "csv",
    [
        "statement,sex,answer,sum,count\n1,,,57,2\n2,F,1,,\n2,M,2,,\n2,,3,,\n",
        "statement,sex,Sum,COUNT\n2,,3,\n2,M,2,\n1,,57,2\n2,F,1,\n",
    ],
)
def test_a_csv_file(tmp_path: Path, csv: str) -> None:
    path = tmp_path / "answers.csv"
    path.write_text(csv, encoding="utf-8")
    assert answers(TWO, path) == [57, 2, 1, 2, 3]
    assert answers(TWO, str(path)) == [57, 2, 1, 2, 3]


@pytest.mark.parametrize(
    "rows",
    [
        [
            {"statement": 1, "sum": 57, "count": 2},
            *({"statement": 2, "sex": sex, "answer": n} for sex, n in (("F", 1), ("M", 2), (None, 3))),
        ],
        [[57, 2], None],
    ],
)
def test_a_json_file(tmp_path: Path, rows: list[Any]) -> None:
    path = tmp_path / "answers.json"
    path.write_text(json.dumps(rows), encoding="utf-8")
    assert answers(TWO, path)[:2] == [57, 2]


def test_a_list() -> None:
    assert answers(TWO, [[57, 2], {"F": 1, "M": 2, None: 3}]) == [57, 2, 1, 2, 3]
    assert answers(TWO, [None, {"F": [1], "M": 2.5, None: "3"}]) == [157, 2, 1, 2.5, 3]
    assert answers(
        [f"{SUM} GROUP BY age, sex"], [{(37, "F"): 1, (37, "M"): 2, (40, "F"): 3, (41, None): 4}]
    ) == [
        1,
        2,
        3,
        4,
    ]


@pytest.mark.parametrize(
    ("given", "said"),
    [
        ([1], "1 entries for 2 statements"),
        (["x", None], "answers, statement 1: the answer 'x' is not a number"),
        ([[57, True], None], "give a number"),
        ([57, None], "there are 1 answers, but the statement asks for 2"),
        ([None, 5], "give a mapping from group to answer"),
        ([None, {("F", 1): 5}], "name each group by sex"),
        ([None, {5: 1}], "5 does not suit the key 'sex'"),
        (5, "answers must be a path or a list"),
        ("missing.csv", "the answers file missing.csv cannot be read"),
    ],
)
def test_wrong_lists(given: Any, said: str) -> None:
    with pytest.raises(InputError) as refused:
        answers(TWO, given)
    assert said in str(refused.value)


@pytest.mark.parametrize(
    ("csv", "said"),
    [
        ("statement,answer\n3,5\n", "row 1: statement is '3'; it must be a number from 1 to 2"),
        ("statement,answer\nx,5\n", "statement is 'x'"),
        ("answer\n5\n", "has no column 'statement' in its first line"),
        ("", "has no column 'statement' in its first line"),
        ("statement,answer\n,5\n", "statement is ''"),
        ("statement,answre\n1,5\n", "the column 'answre': did you mean 'answer'?"),
        ("statement,answer\n1,5\n", "there is no column for SUM: name it sum"),
        ("statement,answer\n2,5\n", "the column 'sex' of GROUP BY is missing"),
        ("statement,sum,count\n1,5,2\n1,5,2\n", "row 2: statement 1 has its answer twice"),
        ("statement,sum,count\n1,5,2,7\n", "more cells than column names"),
        ("statement,sex,answer\n2,F,five\n", "the answer 'five' is not a number"),
    ],
)
def test_wrong_files(tmp_path: Path, csv: str, said: str) -> None:
    path = tmp_path / "answers.csv"
    path.write_text(csv, encoding="utf-8")
    with pytest.raises(InputError) as refused:
        answers(TWO, path)
    assert said in str(refused.value)


def test_an_answer_in_two_places() -> None:
    with pytest.raises(InputError, match="has an answer in answers too"):
        answers([f"{SUM} -- answer: 5"], [5])
