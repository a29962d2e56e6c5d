"""The file on the page: types, bars and guesses; hostile values; roles and their mistakes; hierarchies; two tabs."""

from __future__ import annotations

import io
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import httpx
import pandas as pd
import pytest

from equivoc.data.suggested_roles.suggest import suggestions
from equivoc.datasets.shipped import path
from equivoc.web.preview import SAMPLED, guesses, preview
from tests.web.page_server import ROLES, PageServer, opened, people_csv


def upload(http: httpx.Client, content: bytes, name: str = "people.csv") -> httpx.Response:
    return http.post("/api/upload", params={"name": name}, content=content)


def test_the_columns_of_the_shipped_people(http: httpx.Client) -> None:
    file = path("cps_hourly_workers")
    state = upload(http, file.read_bytes()).json()
    frame = pd.read_csv(file, keep_default_na=False)
    assert (state["file"]["rows"], state["file"]["bytes"]) == (2500, file.stat().st_size)
    assert "_path" not in state["file"]
    for column in state["columns"]:
        values = frame[column["name"]]
        assert column["distinct"] == values.nunique()
        assert column["type"] == ("number" if pd.api.types.is_numeric_dtype(values) else "text")
        assert sum(bar["count"] for bar in column["bars"]) == 2500
        assert len(column["bars"]) <= 12
        assert column["guess"]["reason"].endswith(".")
    roles = state["roles"]
    assert roles["confidential"] == "wage_per_hour"
    assert {"age", "sex", "education"} <= set(roles["keys"])


def test_parquet_is_recognised_by_its_content(http: httpx.Client) -> None:
    held = io.BytesIO()
    pd.DataFrame(
        {"age": [1, 2, None, 2], "pay": [10.5, 20, 30, 40], "ok": [True, False, True, True]}
    ).to_parquet(held)
    state = upload(http, held.getvalue(), name="data.bin").json()
    assert [(each["name"], each["type"], each["nulls"]) for each in state["columns"]] == [
        ("age", "number", 1),
        ("pay", "number", 0),
        ("ok", "bool", 0),
    ]


@pytest.mark.parametrize("content", [b"", b"a,b\n1\n", b"\x00\x01\x02", b"a,b\n", b"PAR1xxxx"])
def test_what_is_no_table_is_refused_in_a_sentence(
    page_server: PageServer, http: httpx.Client, content: bytes
) -> None:
    answer = upload(http, content, name="my file.csv")
    assert answer.status_code == 400
    assert "my file.csv" in answer.json()["error"]
    assert str(page_server.folder) not in answer.text
    assert http.get("/api/state").json()["file"] is None
    assert list((page_server.folder / "data").iterdir()) == []


def test_the_file_before_stays_open_if_the_next_cannot_be_read(
    page_server: PageServer, http: httpx.Client
) -> None:
    upload(http, people_csv().encode())
    assert http.put("/api/roles", json=ROLES).status_code == 200
    before = http.get("/api/state").json()
    assert upload(http, b"a,b\n1\n", name="broken.csv").status_code == 400
    after = http.get("/api/state").json()
    assert {**after, "revision": 0} == {**before, "revision": 0}
    assert len(list((page_server.folder / "data").iterdir())) == 1
    assert upload(http, people_csv(30).encode(), name="next.csv").json()["file"]["rows"] == 30
    assert len(list((page_server.folder / "data").iterdir())) == 1


def test_types_of_columns(tmp_path: Path) -> None:
    lines = ["zip,day,flag,mixed,half,empty"]
    lines += [
        f"0{n % 10}139,2024-01-{1 + n % 28:02},{'true' if n % 2 else 'false'},{'x' if n == 7 else n},{n / 2},"
        for n in range(50)
    ]
    file = tmp_path / "x.csv"
    file.write_text("\n".join(lines) + "\n", encoding="utf-8")
    found = {column.name: column for column in preview(file).columns}
    assert [found[name].type for name in ("zip", "day", "flag", "mixed", "half", "empty")] == [
        "text", "date", "bool", "text", "number", "text"]  # fmt: skip
    assert found["empty"].nulls == 50
    assert (found["half"].whole, found["zip"].distinct) == (False, 10)


def test_large_files_are_sampled_but_counted(tmp_path: Path) -> None:
    rows = SAMPLED + 50_000
    file = tmp_path / "large.csv"
    gaps = [None if number % 3 == 0 else number for number in range(rows)]
    pd.DataFrame({"code": [number % 7 for number in range(rows)], "gap": gaps}).to_csv(file, index=False)
    found = preview(file)
    code, gap = found.columns
    assert (found.rows, found.sampled, code.distinct) == (rows, True, 7)
    assert gap.nulls == -(-rows // 3)
    assert abs(gap.distinct / (rows * 2 / 3) - 1) < 0.1  # an estimate


def test_guesses_have_reasons(tmp_path: Path) -> None:
    rows = 200
    columns: dict[str, list[Any]] = {
        "person_id": list(range(rows)),
        "remark": [f"text {number}" for number in range(rows)],
        "region": [number % 5 for number in range(rows)],
        "wgt": [1.5 + number % 3 for number in range(rows)],
        "constant": ["x"] * rows,
        "salary": [1000 + 10 * (number % 90) for number in range(rows)],
        "measure": [number % 150 for number in range(rows)],
    }
    file = tmp_path / "x.csv"
    pd.DataFrame(columns).to_csv(file, index=False)
    found = preview(file)
    roles = {
        column.name: guess.role
        for column, guess in zip(found.columns, guesses(found.columns, suggestions(file)), strict=True)
    }
    assert roles == {
        "person_id": "leave_out",
        "remark": "leave_out",
        "region": "key",
        "wgt": "weights",
        "constant": "leave_out",
        "salary": "confidential",
        "measure": "leave_out",
    }
    pd.DataFrame({name: values for name, values in columns.items() if name != "salary"}).to_csv(
        file, index=False
    )
    found = preview(file)
    told = dict(
        zip([each.name for each in found.columns], guesses(found.columns, suggestions(file)), strict=True)
    )
    assert told["measure"].role == "confidential"
    assert "No name says what is confidential" in told["measure"].reason
    assert (told["person_id"].suggested, told["remark"].suggested) == ("identifier", "identifier")


def test_a_file_with_many_keys_and_weights(tmp_path: Path) -> None:
    """One confidential column, one weight and at most eight keys; what is left out has its own role in words."""
    rows = 60
    columns = {
        name: [number % (2 + place) for number in range(rows)]
        for place, name in enumerate(
            ("language", "sex", "age", "region", "education", "marital_status", "race", "disability", "occupation",
             "citizenship", "industry")
        )
    }  # fmt: skip
    columns |= {"salary": list(range(rows)), "income_tax": list(range(rows))}
    columns |= {f"wgt{number}": [1 + row % 7 for row in range(rows)] for number in range(1, 9)}
    columns |= {"wgt": [1 + row % 5 for row in range(rows)], "dweight": [1 + row % 3 for row in range(rows)]}
    file = tmp_path / "x.csv"
    pd.DataFrame(columns).to_csv(file, index=False)
    told = dict(zip(columns, guesses(preview(file).columns, suggestions(file)), strict=True))
    roles = {
        role: [name for name, guess in told.items() if guess.role == role] for role in ("key", "weights")
    }
    assert roles["weights"] == ["wgt"]
    assert roles["key"] == [
        "sex",
        "age",
        "region",
        "education",
        "marital_status",
        "race",
        "disability",
        "occupation",
    ]
    assert [name for name, guess in told.items() if guess.role == "confidential"] == ["salary"]
    assert told["wgt3"].suggested == "replicate weights"
    assert told["industry"].reason.endswith("add it if she knows it.")


def test_hostile_names_and_values_come_back_as_they_are(http: httpx.Client) -> None:
    names = ["<script>alert(1)</script>", "=cmd|' /C calc'!A0", "x" * 10_000, "pay"]
    frame = pd.DataFrame(
        {
            names[0]: ["<img src=x onerror=alert(1)>", "</script>", "a&b"] * 20,
            names[1]: ["=1+1", "@SUM(A1)", "-2+3"] * 20,
            names[2]: ["y" * 10_000, "z", '"quoted"\nline'] * 20,
            "pay": [10, 20, 30] * 20,
        }
    )
    state = opened(
        http,
        frame.to_csv(index=False),
        {"confidential": "pay", "kind": {"kind": "number"}, "keys": names[:3]},
    )
    assert [column["name"] for column in state["columns"]] == names
    assert max(len(bar["label"]) for column in state["columns"] for bar in column["bars"]) <= 200
    assert state["people"]["records"] == 60
    answer = http.post("/api/live/assess", json={"technique": "unprotected", "known": names[:3], "eps": 0})
    assert answer.headers["content-type"] == "application/json"
    assert answer.json()["facts"]["known"] == names[:3]
    chosen = http.post(
        "/api/live/explore", json={"known": [names[0]], "eps": 0, "class": {names[0]: "</script>"}}
    )
    assert chosen.json()["class"]["size"] == 20


@pytest.mark.parametrize(
    ("wrong", "word"),
    [
        ({"confidential": "height"}, "confidential"),
        ({"keys": ["age", "height"]}, "height"),
        ({"keys": ["age", "pay"]}, "pay"),
        ({"keys": "age"}, "keys"),
        ({"weights": "age"}, "weights"),
        ({"kind": {"kind": "letters"}}, "kind"),
        ({"kind": {"kind": "number", "round_to": 0}}, "above 0"),
        ({"kind": {"kind": "ordered"}}, "lowest first"),
        ({"kind": {"kind": "tree", "hierarchy": "none.csv"}}, "hierarchy"),
    ],
)
def test_mistakes_in_roles(http: httpx.Client, wrong: dict[str, Any], word: str) -> None:
    opened(http)
    answer = http.put("/api/roles", json={**ROLES, **wrong})
    assert answer.status_code == 400
    assert word in answer.json()["error"]


def test_the_library_names_the_file_as_its_owner_does(page_server: PageServer, http: httpx.Client) -> None:
    content = people_csv().replace("F,20", "F,", 1)
    assert upload(http, content.encode(), name="wages 2024.csv").status_code == 200
    answer = http.put("/api/roles", json=ROLES)
    assert answer.status_code == 400
    assert str(page_server.folder) not in answer.text
    people = http.get("/api/state").json()["people"]
    assert people["error"] == answer.json()["error"]
    again = http.put("/api/roles", json={**ROLES, "drop_missing": True}).json()["people"]
    assert (again["records"], again["dropped"]) == (59, 1)


def test_hierarchies_make_techniques_and_attributes(page_server: PageServer, http: httpx.Client) -> None:
    opened(http)
    state = http.post("/api/hierarchies/intervals", json={"column": "age", "widths": [2, 4]}).json()
    assert [(each["name"], each["column"], each["levels"]) for each in state["hierarchies"]] == [
        ("2/4", "age", 4)
    ]
    wrong = http.post("/api/hierarchies/intervals", json={"column": "age", "widths": [2, 3]})
    assert (wrong.status_code, "nest" in wrong.json()["error"]) == (400, True)
    told = http.post(
        "/api/live/assess", json={"technique": "generalisation:k=5,hierarchies=age:2/4", "eps": 20}
    )
    assert told.status_code == 200, told.text
    tree = "pay;band;any\n" + "\n".join(f"{10 * n};{'low' if n < 4 else 'high'};any" for n in range(1, 8))
    sent = http.post(
        "/api/hierarchies", params={"name": "../pay.csv", "column": "pay"}, content=tree.encode()
    )
    assert sent.status_code == 200, sent.text
    assert sent.json()["hierarchies"][-1]["name"] == "pay.csv"
    given = http.put("/api/roles", json={**ROLES, "kind": {"kind": "tree", "hierarchy": "pay.csv"}})
    assert given.status_code == 200, given.text
    assert (given.json()["people"]["kind"], given.json()["people"]["eps_max"]) == ("tree", 3.0)
    explored = http.post("/api/live/explore", json={"known": [], "eps": 1, "class": {}}).json()["class"]
    assert [len(window["values"]) for window in explored["windows"]] == [
        3,
        1,
    ]  # squares modulo 7: 1, 2, 3 and 5
    broken = http.post("/api/hierarchies", params={"name": "b.csv", "column": "pay"}, content=b"1;a\n1;b\n")
    assert (broken.status_code, "b.csv" in broken.json()["error"]) == (400, True)
    assert http.delete("/api/hierarchies/pay.csv").status_code == 200
    assert len(list((page_server.folder / "hierarchies").iterdir())) == 0


def test_two_tabs_share_one_state(page_server: PageServer, http: httpx.Client) -> None:
    opened(http)
    with page_server.client() as other:
        first = other.get("/api/state").json()
        http.patch("/api/state", json={"view": {"technique": "swapping:rate=0.5", "eps": 30}})
        second = other.get("/api/state", params={"seen": first["mark"]}).json()
        assert second["revision"] > first["revision"]
        unchanged = other.get("/api/state", params={"seen": second["mark"]})
        assert (unchanged.status_code, unchanged.content) == (204, b"")
        view = second["view"]
        assert (view["technique"], view["eps"], view["tab"]) == ("swapping:rate=0.5", 30, "data")
    for wrong in ({"jobs": []}, {"view": {"colour": 1}}, {"view": {"tab": "nowhere"}}, {"settings": "x"}, []):
        assert http.patch("/api/state", json=wrong).status_code == 400


def test_the_catalogue_is_that_of_the_techniques(http: httpx.Client) -> None:
    from equivoc.techniques.notation import TECHNIQUES, technique_of

    opened(http)
    told = http.get("/api/catalogue").json()
    by_name = {each["name"]: each for each in told["techniques"]}
    assert set(by_name) == set(TECHNIQUES) - {"released-file"}
    for name, each in by_name.items():
        assert each["summary"].endswith(".")
        given = {}
        for parameter in each["parameters"]:
            assert parameter["meaning"], (name, parameter["name"])
            if parameter["kind"] == "number":
                assert len(parameter["values"]) <= 101
                assert parameter["values"] == sorted(parameter["values"])
                assert parameter["start"] in parameter["values"]
            if parameter["required"]:
                given[parameter["name"]] = parameter["default"]
        if name not in ("pram", "generalisation", "top-bottom-coding"):  # these need one of two parameters
            notation = technique_of(name, given).notation
            answer = http.post("/api/live/assess", json={"technique": notation, "known": ["age"], "eps": 20})
            assert answer.status_code == (200 if each["applies"] else 400), answer.text
    http.put("/api/roles", json={**ROLES, "kind": {"kind": "categories"}})
    told = http.get("/api/catalogue").json()
    refused = {each["name"] for each in told["techniques"] if not each["applies"]}
    numbers = {"rounding", "top-bottom-coding", "microaggregation", "query-restriction"}
    assert refused == numbers | {"noise-addition", "geometric-noise", "date-shift"}
    for name in refused - {"top-bottom-coding"}:
        parameter = next(each for each in by_name[name]["parameters"] if each["required"])
        notation = f"{name}:{parameter['name']}={parameter['default']}"
        assert http.post("/api/live/assess", json={"technique": notation}).status_code == 400


def test_an_upload_is_not_held_in_memory(page_server: PageServer, http: httpx.Client) -> None:
    """100 MiB here; benchmarks/page.py sends 1 GiB."""
    opened(http)
    before = most = page_server.memory(children=False)
    block = b"12345,67890,3,4.5,abcdefgh\n" * 40_000

    def pieces() -> Iterator[bytes]:
        nonlocal most
        yield b"a,b,c,d,e\n"
        for _ in range(100 * 2**20 // len(block)):
            most = max(most, page_server.memory(children=False))
            yield block

    told = http.post("/api/upload", params={"name": "large.csv"}, content=pieces())
    assert told.status_code == 200, told.text
    assert told.json()["file"]["bytes"] > 99 * 2**20
    assert max(most, page_server.memory(children=False)) - before < 40


def test_columns_that_are_no_numbers_are_asked_about_and_people_left_out_are_said(http: httpx.Client) -> None:
    rows = "\n".join(
        f"{20 + at % 9},{'NA' if at % 5 == 2 else 60000 + at},{at if at % 3 else ''}" for at in range(60)
    )
    assert upload(http, f"age,income,debt\n{rows}\n".encode(), name="mine.csv").status_code == 200
    state = http.get("/api/state").json()
    of = {column["name"]: column for column in state["columns"]}
    assert (
        "the confidential column 'income' is missing ('NA') in 12 rows (lines 4, 9, "
        in of["income"]["problem"]
    )
    assert (state["roles"]["confidential"], state["roles"]["kind"]["kind"]) == ("income", "number")
    answer = http.put(
        "/api/roles", json={"confidential": "income", "kind": {"kind": "number"}, "keys": ["age"]}
    )
    assert answer.status_code == 400
    assert of["income"]["problem"] in answer.json()["error"]
    declared = {**ROLES["kind"], "kind": "categories", "round_to": None}
    asked = {**ROLES, "confidential": "income", "keys": ["age"], "kind": declared}
    people = http.put("/api/roles", json=asked).json()["people"]
    assert "income holds 'NA' for 12 people" in people["remarks"][0]
    asked = {**ROLES, "confidential": "debt", "keys": ["age"], "drop_missing": True}
    people = http.put("/api/roles", json=asked).json()["people"]
    said = "20 of 60 people were left out because debt is missing; every figure is about the 40 others."
    assert people["remarks"] == [said]
    facts = http.post("/api/live/assess", json={"technique": "unprotected"}).json()["facts"]
    assert facts["notes"][0] == said


def test_a_file_without_a_header_is_refused(http: httpx.Client) -> None:
    answer = upload(http, b"37,M,77\n41,F,80\n37,M,61\n", name="mine.csv")
    assert answer.status_code == 400
    assert "mine.csv seems to have no header" in answer.json()["error"]
