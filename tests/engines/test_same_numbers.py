"""The same people from every home of data as from a pandas frame: equal codes and counts, and equal figures."""

from __future__ import annotations

import datetime
import math
from collections.abc import Callable
from pathlib import Path
from typing import Any

import duckdb
import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import equivoc as eq
from equivoc.data import counted_records, records
from tests.postgresql_server import PostgresqlServer

KEYS = ["job", "age", "height", "born"]
ROLES: dict[str, Any] = {"confidential": "pay", "keys": KEYS}
TECHNIQUES = [
    eq.Unprotected(),
    eq.Sampling(fraction=0.3),
    eq.QueryRestriction(size=4),
    eq.NoiseAddition(percent=30),
    eq.Rounding(base=20),
    eq.Rounding(base=20, method="random"),
    eq.TopBottomCoding(low=20, high=50),
    eq.PRAM(keep=0.7),
    eq.PRAM(keep=0.6, on="all"),
    eq.GeometricNoise(epsilon=2),
    eq.NoisyTable(epsilon=1),
    eq.Swapping(rate=0.4),
    eq.Microaggregation(size=4),
    eq.Suppression(k=3),
    eq.Generalisation(k=3),
]


def _people(seed: int, *, rows: int = 120) -> pd.DataFrame:
    """Text, integers, floats and dates as keys, each with nulls; floats also with not-a-number and −0.0."""
    rng = np.random.default_rng(seed)

    def drawn(values: list[Any]) -> list[Any]:
        return [values[i] for i in rng.integers(len(values), size=rows)]

    days = [datetime.date(1969, 12, 31), datetime.date(2000, 2, 29), None]
    return pd.DataFrame(
        {
            "job": drawn(["é", "e", "Z", "", "it's", None]),
            "age": pd.array(drawn([30, 31, -2, None]), dtype="Int64"),
            "height": pd.array(drawn([1.5, 0.0, -0.0, 2.25, float("nan")]), dtype="float64"),
            "born": drawn(days),
            "pay": drawn([10.0, 20.5, 30.25, 40.0, 60.0]),
            "weight": drawn([1.0, 2.5]),
        }
    )


def _in_canonical_order(frame: pd.DataFrame) -> pd.DataFrame:
    """The frame sorted by the levels of the keys in their order, then by the confidential value, then by weight."""
    people = eq.Microdata(frame, **ROLES)
    order = np.lexsort([frame["weight"], people.codes, *(people.key_codes(key) for key in reversed(KEYS))])
    return frame.iloc[order].reset_index(drop=True)


def _arrow(frame: pd.DataFrame) -> pa.Table:
    kinds = {"job": pa.string(), "age": pa.int32(), "height": pa.float64(), "born": pa.date32()}
    columns = {name: pa.array(frame[name], kinds.get(name), from_pandas=name != "height") for name in frame}
    return pa.table(columns)


def _parquet(frame: pd.DataFrame, folder: Path, _: pytest.FixtureRequest) -> Path:
    pq.write_table(_arrow(frame), folder / "people.parquet", row_group_size=50)
    return folder / "people.parquet"


def _parquet_folder(frame: pd.DataFrame, folder: Path, _: pytest.FixtureRequest) -> Path:
    (folder / "people").mkdir(exist_ok=True)
    table = _arrow(frame)
    for number, start in enumerate(range(0, len(table), 47)):
        pq.write_table(table.slice(start, 47), folder / "people" / f"{number}.parquet")
    return folder / "people"


def _postgresql(frame: pd.DataFrame, _: Path, request: pytest.FixtureRequest) -> str:
    server: PostgresqlServer = request.getfixturevalue("postgresql_server")
    request.getfixturevalue("monkeypatch").setenv("PGPASSFILE", str(server.password_file))

    def quoted(value: Any) -> str:
        if isinstance(value, float) and math.isnan(value):
            return "'NaN'"
        return "NULL" if value is None else "'" + str(value).replace("'", "''") + "'"

    # The server has another order of rows.
    shuffled = _arrow(frame).to_pylist()
    np.random.default_rng(5).shuffle(shuffled)  # type: ignore[arg-type]
    values = ", ".join(f"({', '.join(map(quoted, row.values()))})" for row in shuffled)
    server.run(f"""
        DROP TABLE IF EXISTS same_people;
        CREATE TABLE same_people (job text, age integer, height double precision, born date, pay numeric, weight real);
        INSERT INTO same_people VALUES {values};
        GRANT SELECT ON same_people TO reader;
    """)
    return server.address("same_people")


def _spark(frame: pd.DataFrame, _: Path, request: pytest.FixtureRequest) -> Any:
    session = request.getfixturevalue("spark")
    # Several partitions, in another order.
    return session.createDataFrame(_arrow(frame.sample(frac=1, random_state=5))).repartition(3)


HOMES: dict[str, Callable[[pd.DataFrame, Path, pytest.FixtureRequest], Any]] = {
    "polars": lambda frame, folder, request: pl.from_arrow(_arrow(frame)),
    "duckdb": lambda frame, folder, request: duckdb.from_arrow(_arrow(frame)),
    "parquet": _parquet,
    "parquet folder": _parquet_folder,
    "postgresql": _postgresql,
    "spark": _spark,
}
"""How to put a frame, in canonical order, into each home: what `eq.Microdata` then reads. Nothing else differs."""


MARKS: dict[str, Any] = {
    "spark": [
        pytest.mark.xdist_group("spark"),
        pytest.mark.filterwarnings("ignore:PySpark does not yet fully support pandas:FutureWarning"),
    ]
}


@pytest.fixture(params=[pytest.param(name, marks=MARKS.get(name, ())) for name in HOMES])
def home(request: pytest.FixtureRequest, tmp_path: Path) -> Callable[..., tuple[eq.Microdata, eq.Microdata]]:
    """The same people twice, for a seed: from a pandas frame, and from another home."""

    def both(people: int, **given: Any) -> tuple[eq.Microdata, eq.Microdata]:
        asked = (request.param, people, str(given))
        if asked not in READ:
            frame = _in_canonical_order(_people(people))
            source = HOMES[request.param](frame, tmp_path, request)
            roles = {**ROLES, **given}
            READ[asked] = eq.Microdata(frame, **roles), eq.Microdata(source, **roles)
        return READ[asked]

    return both


each_engine = pytest.mark.parametrize(
    "home",
    [pytest.param(name, marks=MARKS.get(name, ())) for name in HOMES if name != "parquet folder"],
    indirect=True,
)
"""For slower tests: a folder is read by the same engine as a file."""
READ: dict[tuple[str, int, str], tuple[eq.Microdata, eq.Microdata]] = {}
"""What has been read, so that each home is asked once for the tests of all techniques."""


@pytest.mark.parametrize("seed", [1, 2])
def test_levels_codes_and_counts(home: Any, seed: int) -> None:
    held, people = home(seed)
    assert len(people) == len(held)
    assert people.values.tolist() == held.values.tolist()
    for key in KEYS:
        assert people.levels(key) == held.levels(key)
        assert people.key_codes(key).tolist() == held.key_codes(key).tolist()
    assert people.codes.tolist() == held.codes.tolist()
    subsets = list(people.lattice())
    assert len(subsets) == 2 ** len(KEYS)
    for ours in subsets:
        other = held.classes(ours.known)
        assert other.sizes.tolist() == ours.sizes.tolist()
        assert (other.counts != ours.counts).nnz == 0
        assert np.array_equal(other.key_codes, ours.key_codes)


def test_figures_of_records_in_pieces(home: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    """They are those of all records at once, and are computed without reading a whole column."""
    monkeypatch.setattr(counted_records, "RECORDS_AT_ONCE", 50)
    monkeypatch.setattr(records, "RECORDS_AT_ONCE", 50)
    held, people = home(7)
    expected = eq.assess(held, eq.Unprotected(), known=KEYS[:3]).records
    result = eq.assess(people, eq.Unprotected(), known=KEYS[:3])
    assert result.summary  # of people who are not counted by an engine, this needs the codes
    monkeypatch.setattr(eq.Microdata, "codes", None)
    monkeypatch.setattr(eq.Microdata, "key_codes", None)
    pieces = [pd.DataFrame(each) for each in result.record_pieces()]
    assert len(pieces) > 1 or people.source is not None  # DuckDB makes its own pieces
    pd.testing.assert_frame_equal(pd.concat(pieces, ignore_index=True), expected, rtol=1e-12, atol=1e-12)


def test_tables_of_cells(home: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    """They are those of the records, and an engine's counts are enough to make, protect and assess them."""
    held, people = home(3)
    asked: list[dict[str, Any]] = [
        {"by": ["job", "age"], "value": "pay"},
        {"by": ["job", "age"], "value": "pay", "largest": 2},
        {"by": ["born"]},
        {"by": ["job", "pay"]},
        {"by": ["pay"], "value": "pay"},
    ]
    expected = [eq.tabulate(held, **each) for each in asked]

    def suppressed_h0(table: eq.CellTable) -> float:
        release = eq.CellSuppression(rule=eq.Threshold(3)).release(table)
        return eq.assess(table, release, require=["h0 >= 0"]).requirements[0].value

    h0 = suppressed_h0(expected[0])
    assert expected[0].people.max() > expected[0].top.shape[1]  # some contributions are not kept
    if people.engine is not None:
        monkeypatch.setattr(eq.Microdata, "codes", None)
        monkeypatch.setattr(eq.Microdata, "key_codes", None)
    for each, table in zip(asked, expected, strict=True):
        found = eq.tabulate(people, **each)
        for name in ("values", "people", "top", "contributions", "waived"):
            assert getattr(found, name).tolist() == getattr(table, name).tolist()
    assert suppressed_h0(eq.tabulate(people, **asked[0])) == h0


def test_samples(home: Any) -> None:
    """A sample is the same from every home: records of the canonical order, each with the same chance."""
    held, people = home(4, sample=40, seed=9)
    drawn = np.sort(np.random.default_rng(9).choice(120, 40, replace=False, shuffle=False))
    everyone = _in_canonical_order(_people(4))
    alone = eq.Microdata(everyone.iloc[drawn], **ROLES)
    for sampled in (held, people):
        assert (len(sampled), sampled.drawn_from) == (40, 120)
        assert sampled.values.tolist() == alone.values.tolist()
        assert sampled.codes.tolist() == alone.codes.tolist()
        for key in KEYS:
            assert sampled.levels(key) == alone.levels(key)
            assert sampled.key_codes(key).tolist() == alone.key_codes(key).tolist()
    assert home(4, sample=120)[1].drawn_from is None


def test_weights_and_several_confidential_attributes(home: Any) -> None:
    """They are read together with the keys, in the canonical order."""
    held, people = home(5, weights="weight")
    assert people.weights.tolist() == held.weights.tolist()
    assert people.classes(["job"]).weights.tolist() == held.classes(["job"]).weights.tolist()
    held, people = home(5, confidential=["pay", "weight"])
    for name in ("pay", "weight"):
        assert people.of(name).codes.tolist() == held.of(name).codes.tolist()


@pytest.mark.parametrize("technique", TECHNIQUES, ids=lambda technique: technique.notation)
def test_what_needs_records(technique: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    """A technique that needs only counts reads no record; any other does."""
    people = eq.Microdata(_people(6), **ROLES)
    read: list[str] = []
    monkeypatch.setattr(eq.Microdata, "codes", property(lambda self: read.append("codes") or _codes(self)))
    key_codes = eq.Microdata.key_codes
    monkeypatch.setattr(
        eq.Microdata, "key_codes", lambda self, name: read.append(name) or key_codes(self, name)
    )
    people.classes(KEYS)
    read.clear()
    assert eq.assess(people, technique, known=KEYS[:2]).summary
    assert bool(read) == technique.needs_records


def _codes(people: eq.Microdata) -> Any:
    return people._place_of_level["pay"][people._records.codes("pay")]


@each_engine
@pytest.mark.parametrize("technique", TECHNIQUES, ids=lambda technique: technique.notation)
def test_figures_of_every_technique(home: Any, technique: Any) -> None:
    held, people = home(3)
    if technique.notation not in EXPECTED:
        EXPECTED[technique.notation] = _figures(held, technique)
    _same(_figures(people, technique), EXPECTED[technique.notation])


EXPECTED: dict[str, dict[str, Any]] = {}
"""The figures of the pandas frame, by technique."""


@pytest.fixture
def released() -> pd.DataFrame:
    """A file made elsewhere of the same people: other incomes, generalised ages, jobs that are withheld."""
    frame = _people(3)
    rng = np.random.default_rng(8)
    incomes = frame["pay"].where(rng.random(len(frame)) < 0.7, 30.25)
    jobs = frame["job"].where(rng.random(len(frame)) < 0.8, "*")
    return frame.assign(pay=incomes, job=jobs).drop(columns="weight").sample(frac=0.9, random_state=2)


@each_engine
@pytest.mark.parametrize("matching", ["exact", None])
def test_figures_of_a_released_file(home: Any, released: pd.DataFrame, matching: str | None) -> None:
    held, people = home(3)
    technique = eq.ReleasedFile(released, matching=matching)
    expected = _figures(held, technique)
    assert 0 < expected["truth"]["trust"] < 1
    _same(_figures(people, technique), expected)


FROM_COUNTS = [
    eq.Unprotected(), eq.Sampling(fraction=0.3), eq.PRAM(keep=0.7), eq.Rounding(base=20),
    eq.TopBottomCoding(low=20, high=50), eq.GeometricNoise(epsilon=2), eq.Swapping(rate=0.4), eq.NoisyTable(epsilon=1),
]  # fmt: skip


@each_engine
@pytest.mark.parametrize("work", ["measures", "study", "compare"])
def test_measures_studies_and_comparisons(home: Any, released: pd.DataFrame, work: str) -> None:
    def frames(people: eq.Microdata) -> list[Any]:
        if work == "measures":
            techniques = [
                eq.Unprotected(),
                eq.Sampling(fraction=0.3),
                eq.ReleasedFile(released, matching="exact"),
            ]
            return [eq.measures(people, each.release(people, 1), known=KEYS[:2]) for each in techniques]
        if work == "study":
            study = eq.Study(people, techniques=FROM_COUNTS, known_sizes=[0, 3], replicates=1, seed=4)
            return [study.run(progress=False).frame.drop(columns="seconds")]
        return [
            eq.compare(people, FROM_COUNTS, known=KEYS[:2], require=["true_hit(10) <= 0.9"], seed=4).frame
        ]

    held, people = home(3)
    if work not in EXPECTED_FRAMES:
        EXPECTED_FRAMES[work] = frames(held)
    for found, expected in zip(frames(people), EXPECTED_FRAMES[work], strict=True):
        _same_frame(found, expected)


EXPECTED_FRAMES: dict[str, list[pd.DataFrame]] = {}
"""What the pandas frame gives, by work."""


def _same_frame(found: Any, expected: Any) -> None:
    """Frames come in the people's kind."""
    if not isinstance(found, pd.DataFrame):
        found = found.to_pandas() if isinstance(found, pl.DataFrame) else found.df()
    assert len(expected)
    pd.testing.assert_frame_equal(found, expected, rtol=1e-12, atol=1e-12, check_dtype=False)


def _figures(people: eq.Microdata, technique: Any) -> dict[str, Any]:
    result = eq.assess(people, technique, known=KEYS[:3], seed=1)
    return {**result.summary, "measures": {each.measure: each.value for each in result.measures}}


def _same(found: Any, expected: Any, at: str = "summary") -> None:
    if isinstance(expected, dict):
        assert list(map(str, found)) == list(map(str, expected)), at
        for name in expected:
            _same(found[name], expected[name], f"{at}[{name!r}]")
    elif isinstance(expected, float):
        assert found == pytest.approx(expected, rel=1e-12, abs=1e-12, nan_ok=True), at
    else:
        assert found == expected, at
