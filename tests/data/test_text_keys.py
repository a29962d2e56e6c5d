"""Keys of a CSV file: no two texts become one value."""

from __future__ import annotations

import datetime as dt
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from equivoc.data.microdata import Microdata
from equivoc.data.read import read


def people_of(folder: Path, texts: list[str]) -> Microdata:
    path = folder / "people.csv"
    lines = [f'"{text}",{n}' for n, text in enumerate(texts)]
    path.write_text("\n".join(["key,salary", *lines]) + "\n", encoding="utf-8")
    return read(path, confidential="salary", keys=["key"])


@pytest.mark.parametrize(
    ("texts", "levels"),
    [
        (["02139", "2139"], ["02139", "2139"]),
        (["1e3", "1000"], ["1000", "1e3"]),
        (["+5", "5"], ["+5", "5"]),
        (["1.0", "1"], ["1", "1.0"]),
        (["-0", "0"], ["-0", "0"]),
        ([" 5", "5"], [" 5", "5"]),
        (["0x1F", "31"], ["0x1F", "31"]),
        (["TRUE", "true"], ["TRUE", "true"]),
        (["2020-01-01 10:00", "2020-01-01T10:00"], ["2020-01-01 10:00", "2020-01-01T10:00"]),
        (["0000-01-01"], ["0000-01-01"]),
        (["10.50", "2.25"], ["2.25", "10.50"]),
        pytest.param(["1" * 5000, "2"], ["2", "1" * 5000], id="5000 digits"),
    ],
)
def test_text_that_would_change_as_a_number_stays_text(
    texts: list[str], levels: list[str], tmp_path: Path
) -> None:
    people = people_of(tmp_path, texts)
    assert list(people.levels("key")) == levels
    assert [people.levels("key")[code] for code in people.key_codes("key")] == texts


@pytest.mark.parametrize(
    ("texts", "levels"),
    [
        (["10", "9", "-3"], [-3, 9, 10]),
        (["1.0", "2.5"], [1.0, 2.5]),
        (["1", "2.5"], [1.0, 2.5]),
        (["1e-05", "0.5"], [1e-05, 0.5]),
        (["FALSE", "TRUE"], [False, True]),
        (["True", "False"], [False, True]),
        (["2020-02-01", "2020-01-31"], [dt.date(2020, 1, 31), dt.date(2020, 2, 1)]),
        (["2020-01-01 10:30"], [dt.datetime(2020, 1, 1, 10, 30)]),
        (["2020-01-01T10:30:05"], [dt.datetime(2020, 1, 1, 10, 30, 5)]),
        (["2020-01-01 10:30:05.250"], [dt.datetime(2020, 1, 1, 10, 30, 5, 250_000)]),
    ],
)
def test_text_that_can_be_written_back_has_a_type(
    texts: list[str], levels: list[Any], tmp_path: Path
) -> None:
    assert list(people_of(tmp_path, texts).levels("key")) == levels


@settings(max_examples=60, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(
    texts=st.lists(
        st.from_regex(r"[ +-]?[0-9]{1,3}(\.[0-9]{1,2})?(e[0-9])?|[tT]rue|x", fullmatch=True), min_size=1
    )
)
def test_as_many_levels_as_different_texts(texts: list[str], tmp_path: Path) -> None:
    people = people_of(tmp_path, texts)
    assert len(people.levels("key")) == len(set(texts))
