"""How a file is read, through the page's process: the same people in many shapes, and what is said about them."""

from __future__ import annotations

import gzip
import io
import json
import zipfile
from collections.abc import Callable
from typing import Any

import httpx
import pandas as pd
import pytest

import equivoc as eq

INCOMES = [1234.5, 2500.25, 999.75, 12000.0, 3100.5, 40.25, 1800.0]
ROLES: dict[str, Any] = {
    "confidential": "income",
    "kind": {"kind": "number", "round_to": None, "unit": "EUR"},
    "keys": ["age", "town"],
    "drop_missing": True,
}
TECHNIQUE = "swapping:rate=0.5"


def people() -> pd.DataFrame:
    """Sixty people; the income of some is missing."""
    return pd.DataFrame(
        {
            "age": [30 + at % 4 for at in range(60)],
            "town": ["Köln" if at * 7 % 3 else "Zürich" for at in range(60)],
            "income": [None if at % 11 == 5 else INCOMES[at * at % 7] for at in range(60)],
        }
    )


def text(separator: str, number: Callable[[float], str], missing: str = "", *, header: bool = True) -> str:
    """The people written by hand."""
    lines = [separator.join(("age", "town", "income"))] if header else []
    for age, town, income in people().itertuples(index=False):
        lines.append(separator.join((str(age), town, missing if pd.isna(income) else number(income))))
    return "\n".join(lines) + "\n"


def comma(value: float) -> str:
    return f"{value:.2f}".replace(".", ",")


def german(value: float) -> str:
    return f"{value:,.2f}".replace(",", " ").replace(".", ",").replace(" ", ".")


def zipped(content: bytes) -> bytes:
    held = io.BytesIO()
    with zipfile.ZipFile(held, "w", zipfile.ZIP_DEFLATED) as file:
        file.writestr("people.csv", content)
    return held.getvalue()


def written(write: Callable[[io.BytesIO], Any]) -> bytes:
    held = io.BytesIO()
    write(held)
    return held.getvalue()


VARIANTS: dict[str, tuple[Callable[[], bytes], dict[str, Any]]] = {
    "plain": (lambda: text(",", str).encode(), {}),
    "semicolons-latin": (lambda: text(";", comma).replace("\n", "\r\n").encode("latin-1"), {}),
    "tabs-utf-16": (lambda: text("\t", comma, "NA").encode("utf-16"), {}),
    "bars-mark": (lambda: text("|", str, "NULL").encode("utf-8-sig"), {}),
    "thousands": (lambda: text(";", german, "-").encode(), {}),
    "codes": (lambda: text(",", str, "-8").encode(), {"missing": {"income": ["-8"]}}),
    "no-header": (lambda: text(";", comma, header=False).encode(), {"header": False}),
    "gzip": (lambda: gzip.compress(text(";", comma, ".").encode()), {}),
    "zip": (lambda: zipped(text(",", str, "N/A").encode("utf-16-le")), {"encoding": "utf-16-le"}),
    "parquet": (lambda: written(lambda held: people().to_parquet(held)), {}),
    "excel": (lambda: written(lambda held: people().to_excel(held, index=False)), {}),
    "stata": (lambda: written(lambda held: people().to_stata(held, write_index=False, version=118)), {}),
    "arrow": (lambda: written(lambda held: people().to_feather(held)), {}),
}


def opened(http: httpx.Client, content: bytes, reading: dict[str, Any], name: str = "people.csv") -> Any:
    params = {"name": name, "reading": json.dumps(reading)}
    return http.post("/api/upload", params=params, content=content)


def roles_for(state: dict[str, Any]) -> dict[str, Any]:
    """The roles by the places of the columns, which have other names without a header."""
    age, town, income = (column["name"] for column in state["columns"])
    return {**ROLES, "confidential": income, "keys": [age, town]}


def cells(http: httpx.Client, roles: dict[str, Any]) -> dict[Any, list[tuple[float, float]]]:
    """The incomes of each combination of keys, with the share of its people, as the page shows them."""
    age, town = roles["keys"]
    found = {}
    for key in people()[["age", "town"]].drop_duplicates().itertuples(index=False):
        asked = {"known": [age, town], "eps": 0.0, "class": {age: key[0], town: key[1]}}
        shown = http.post("/api/live/explore", json=asked).json()["class"]
        found[tuple(key)] = list(zip(shown["values"], shown["probabilities"], strict=True))
    return found


@pytest.mark.parametrize("variant", VARIANTS)
def test_the_same_people_in_every_shape(http: httpx.Client, variant: str) -> None:
    content, reading = VARIANTS[variant]
    answer = opened(http, content(), reading)
    assert answer.status_code == 200, answer.text
    roles = roles_for(answer.json())
    state = http.put("/api/roles", json=roles).json()
    frame = people().dropna()
    assert (state["people"]["records"], state["people"]["dropped"]) == (len(frame), 60 - len(frame))
    assert state["reading"]["asked"] == reading
    assert state["people"]["reading"]["given"] == list(reading)
    shares = frame.groupby(["age", "town"])["income"].value_counts(normalize=True)
    found = cells(http, roles)
    assert set(found) == set(shares.droplevel("income").index)
    for key, values in found.items():
        wanted = shares[key].sort_index()
        assert [value for value, _ in values] == wanted.index.tolist()
        assert [share for _, share in values] == pytest.approx(wanted.tolist())


def test_figures_and_calls_of_a_file_with_a_reading(http: httpx.Client) -> None:
    state = opened(http, VARIANTS["semicolons-latin"][0](), {"decimal": ",", "missing": ["NA"]}).json()
    assert state["reading"]["reading"]["sentence"].startswith("read as: semicolons, decimal comma, Latin-1")
    http.put("/api/roles", json=ROLES)
    asked = {"technique": TECHNIQUE, "known": ["age", "town"], "eps": 0.0, "seed": 3}
    shown = http.post("/api/live/explore", json=asked).json()["mean"]
    held = eq.Microdata(people(), confidential="income", keys=["age", "town"], drop_missing=True)
    reference = eq.assess(held, eq.Swapping(rate=0.5), eps=[0, 100], seed=3, intruder="informed")
    assert shown["h"] == pytest.approx(reference.summary["per_record"]["h0"]["mean"], abs=1e-12)
    assert shown["surprise"] == pytest.approx(reference.summary["truth"]["surprise"][0.0], abs=1e-12)
    calls = http.get("/api/calls", params={"what": "compare"}).json()
    assert "decimal=','" in calls["python"].replace('"', "'")
    assert "--decimal ," in calls["command"] or "--decimal=," in calls["command"]
    assert 'decimal = ","' in calls["plan"]
    assert 'missing = ["NA"]' in calls["plan"]


def test_two_readings_are_a_question(http: httpx.Client) -> None:
    lines = ["age,town,income", *(f"{30 + at % 4},x{at % 2},{1 + at % 5}.{100 + at % 7}" for at in range(60))]
    state = opened(http, "\n".join(lines).encode(), {}).json()
    options = [each["option"] for each in state["reading"]["answers"]]
    assert options == [{"decimal": "."}, {"thousands": "."}]
    assert state["reading"]["reading"]["decimal"] is None
    refused = http.put("/api/roles", json=ROLES)
    assert refused.status_code == 400
    state = http.get("/api/state").json()
    assert [each["option"] for each in state["people"]["answers"]] == options
    for option, least in zip(options, (1.1, 1100.0), strict=True):
        state = http.put("/api/reading", json=option).json()
        assert (state["reading"]["asked"], state["reading"]["answers"]) == (option, [])
        assert state["people"]["low"] == pytest.approx(least)


@pytest.mark.parametrize(
    "reading",
    [{"layout": "/etc/passwd"}, {"decimal": ";"}, {"speed": 1}, {"missing": {"a": 3}}, [], {"encoding": "x"}],
)
def test_a_reading_that_is_wrong_changes_nothing(http: httpx.Client, reading: Any) -> None:
    assert http.put("/api/reading", json={}).status_code == 400  # there is no file
    before = opened(http, VARIANTS["plain"][0](), {}).json()
    answer = http.put("/api/reading", json=reading)
    assert answer.status_code == 400
    assert answer.json()["error"].count("\n") == 0
    assert http.get("/api/state").json() == before


def test_another_reading_of_the_same_file(http: httpx.Client) -> None:
    content = VARIANTS["no-header"][0]()
    refused = opened(http, content.replace(b"K\xc3\xb6ln", b"7").replace(b"Z\xc3\xbcrich", b"8"), {})
    assert refused.status_code == 400
    assert "header" in refused.json()["error"]
    opened(http, VARIANTS["codes"][0](), {})
    state = http.put("/api/roles", json=ROLES).json()
    assert (state["people"]["dropped"], state["people"]["low"]) == (0, -8)
    http.patch("/api/state", json={"view": {"known": ["age"], "tab": "explore"}})
    state = http.put("/api/reading", json={"missing": ["-8"]}).json()
    assert (state["people"]["dropped"], state["people"]["low"]) == (5, 999.75)
    assert state["roles"]["kind"]["unit"] == "EUR"
    assert state["view"]["tab"] == "explore"
    column = next(each for each in state["columns"] if each["name"] == "income")
    assert (column["nulls"], column["type"]) == (5, "number")
