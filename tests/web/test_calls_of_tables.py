"""The offered calls of a table give the table that the page shows: every option of its form is in both texts."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import httpx
import numpy as np
import pandas as pd
import pytest

import equivoc as eq
from tests.web.page_server import opened, result_of
from tests.web.test_calls import run_command, run_python

SECTORS = "level0,level1\nsteel,industry\npaper,industry\nbanks,services\ntrade,services\n"


def firms_csv() -> str:
    """Firms with weights of 1 to 5, one without a turnover, and a legal form in words; the same every time."""
    rng = np.random.default_rng(3)
    rows = 80
    frame = pd.DataFrame(
        {
            "region: no. 1": rng.choice(["north", "south", "east"], rows),
            "branch": rng.choice(["steel", "paper", "banks", "trade"], rows),
            "age": rng.integers(0, 40, rows),
            "weight": rng.integers(1, 6, rows),
            "form": rng.choice(["ltd", "plc", "other"], rows),
            "turnover": np.ceil(rng.lognormal(4, 1, rows)),
        }
    )
    frame.loc[0, "turnover"] = np.nan
    return frame.to_csv(index=False)


ROLES: dict[str, Any] = {
    "confidential": "turnover",
    "kind": {"kind": "number", "round_to": None, "unit": "K"},
    "keys": ["region: no. 1", "branch", "age"],
    "drop_missing": True,
}
BY = ["region: no. 1", "branch"]
WEIGHTED = {**ROLES, "weights": "weight"}
ROUNDED = {**WEIGHTED, "kind": {"kind": "number", "round_to": 25, "unit": ""}}
WORDS = {"confidential": "form", "kind": {"kind": "categories"}, "keys": ["branch"], "weights": "weight"}
TABLES: dict[str, tuple[dict[str, Any], dict[str, Any]]] = {
    "weights": (WEIGHTED, {"by": BY, "value": "turnover", "rule": "p:10", "method": "none"}),
    "weights-suppressed": (WEIGHTED, {"by": BY, "value": "turnover", "rule": "p:10", "method": "suppress"}),
    "weights-rounded": (WEIGHTED, {"by": BY, "value": "turnover", "rule": "p:10", "method": "round:7.5"}),
    "weighted-counts": (WEIGHTED, {"by": ["branch"], "rule": "threshold:3", "method": "none"}),
    "weighted-counts-rounded": (WEIGHTED, {"by": BY, "rule": "threshold:3", "method": "round:5"}),
    "weighted-redesign": (
        WEIGHTED,
        {"by": [*BY, "age"], "value": "turnover", "rule": "p:60", "method": "redesign"},
    ),
    "rounded-values": (ROUNDED, {"by": BY, "value": "turnover", "rule": "p:10", "method": "suppress"}),
    "two-rules": (
        ROLES,
        {"by": BY, "value": "turnover", "rules": ["p:10", "threshold:4"], "method": "suppress"},
    ),
    "many-of-a-cell": (
        ROLES,
        {"by": BY, "value": "turnover", "rule": "dominance:n=7,k=95", "method": "suppress"},
    ),
    "requirements": (
        ROLES,
        {"by": BY, "value": "turnover", "rule": "p:10", "method": "suppress", "require": ["h0 >= 0.1"]},
    ),
    "a-key-as-value": (WEIGHTED, {"by": BY, "value": "age", "rule": "p:10", "method": "suppress"}),
    "words": (WORDS, {"by": ["branch", "form"], "rule": "threshold:3", "method": "none"}),
}


@pytest.mark.parametrize("name", TABLES)
def test_both_texts_give_the_table_on_the_page(
    http: httpx.Client, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, name: str
) -> None:
    roles, asked = TABLES[name]
    opened(http, firms_csv(), roles)
    (tmp_path / "people.csv").write_text(firms_csv(), encoding="utf-8")
    (tmp_path / "sectors.csv").write_text(SECTORS, encoding="utf-8")
    if asked["method"] == "redesign":
        for path, more in (
            ("/api/hierarchies/intervals", {"json": {"column": "age", "widths": [10, 20]}}),
            (
                "/api/hierarchies",
                {"params": {"name": "sectors.csv", "column": "branch"}, "content": SECTORS.encode()},
            ),
        ):
            sent = http.post(path, **more)  # type: ignore[arg-type]
            assert sent.status_code == 200, sent.text
    shown = result_of(http, kind="table", **asked)
    offered = http.post("/api/calls", json={"what": "table", **asked}).json()
    names = run_python(offered["python"], tmp_path, monkeypatch)
    expected = {tuple(cell["categories"]): cell["value"] for cell in shown["cells"]}
    made = names["release"].table if "release" in names else names["table"].frame
    assert values_of(made) == pytest.approx(expected, nan_ok=True)
    if "result" in names:
        assert names["result"].disclosed == shown["counts"]["certain"]
        assert len(names["result"].requirements) == len(asked.get("require", []))
    run_command(offered["command"], "--json", "--record-values", "--out", "made")
    file = pd.read_csv(tmp_path / "made" / ("table.csv" if asked["method"] == "none" else "released.csv"))
    assert values_of(file) == pytest.approx(expected, nan_ok=True)
    if asked["method"] != "none":
        printed = run_command(offered["command"], "--json")
        assert printed["counts"] == shown["counts"]
        assert printed["unit"] == shown["unit"]
        assert printed["requirements"] == shown["requirements"]


def values_of(frame: pd.DataFrame) -> dict[tuple[Any, ...], float | None]:
    """The value of each cell of a released table, None for one that is withheld, by its categories."""
    keys = [column for column in frame.columns if column not in ("value", "people", "largest", "second")]
    return {
        tuple(None if each != each else each for each in row[keys]): (
            None if row["value"] != row["value"] else row["value"]
        )
        for _, row in frame.iterrows()
    }


def test_weights_are_in_the_figures() -> None:
    """The file of these tests can tell a weighted total from another one."""
    import io

    frame = pd.read_csv(io.StringIO(firms_csv())).dropna()
    assert frame["weight"].nunique() > 1
    people = eq.Microdata(frame, confidential="turnover", keys=["branch"], weights="weight")
    table = eq.tabulate(people, ["branch"], "turnover")
    assert table.values[0] == (frame["turnover"] * frame["weight"]).sum() > 2 * frame["turnover"].sum()
