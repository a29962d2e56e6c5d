"""People in a Spark cluster: the same figures as from a frame, and a sentence where something is wrong or goes away."""

from __future__ import annotations

import json
import os
import pickle
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import equivoc as eq
from equivoc.assessment import class_figures
from equivoc.cli.app import app
from equivoc.engines.spark import session
from equivoc.errors import InputError
from tests.spark_cluster import SparkCluster

pytestmark = [
    pytest.mark.xdist_group("spark"),
    # PySpark 4 warns about pandas 3.
    pytest.mark.filterwarnings("ignore:PySpark does not yet fully support pandas:FutureWarning"),
]

KEYS = ["age", "Sex", "a`b {c}", "height"]
ROLES: dict[str, Any] = {"confidential": "pay", "keys": KEYS, "round_to": 10, "drop_missing": True}


def _people(rows: int = 1500) -> pd.DataFrame:
    """Nulls in text and numbers, not-a-number, a name that needs quotes, values that rounding merges."""
    rng = np.random.default_rng(11)
    return pd.DataFrame(
        {
            "age": rng.integers(20, 26, rows),
            "Sex": rng.choice(np.array(["F", "M", None], dtype=object), rows),
            "a`b {c}": rng.choice(["x", "y"], rows),
            "height": np.where(rng.random(rows) < 0.2, np.nan, rng.integers(-1, 2, rows) / 2),
            "pay": np.where(rng.random(rows) < 0.05, np.nan, rng.integers(1, 60, rows) * 3.0),
        }
    )


def _arrow(frame: pd.DataFrame) -> pa.Table:
    columns = {name: pa.array(frame[name], from_pandas=name in ("Sex", "pay")) for name in frame}
    return pa.table(columns)


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Five Parquet files of people, in another order than the frame."""
    made = tmp_path_factory.mktemp("people")
    shuffled = _arrow(_people().sample(frac=1, random_state=1))
    for number in range(5):
        pq.write_table(shuffled.slice(300 * number, 300), made / f"part-{number}.parquet", row_group_size=100)
    return made


@pytest.fixture
def on_executors(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(class_figures, "ELSEWHERE_FROM", 0)


@pytest.fixture(autouse=True)
def _nothing_left(spark: Any) -> Iterator[None]:
    """No view stays behind, and no setting changes."""
    before = dict(spark.sparkContext.getConf().getAll()), spark.conf.getAll
    yield
    assert spark.catalog.listTables() == []
    assert (dict(spark.sparkContext.getConf().getAll()), spark.conf.getAll) == before


def figures(printed: str) -> Any:
    """The facts that a command printed, without how the file was read: a file and a cluster differ in that."""
    facts = json.loads(printed)
    facts["data"].pop("reading")
    return facts


def same(found: Any, expected: Any) -> None:
    assert json.dumps(found, default=str).count(":") == json.dumps(expected, default=str).count(":")
    if isinstance(expected, dict):
        for name in expected:
            same(found[name], expected[name])
    elif isinstance(expected, float):
        assert found == pytest.approx(expected, rel=1e-12, abs=1e-12)
    else:
        assert found == expected


def from_spark(folder: Path) -> eq.Microdata:
    return eq.read(folder, engine="spark", **ROLES)


@pytest.mark.parametrize("known", [[], ["height", "Sex"], None], ids=["nothing", "some", "all"])
def test_executors_measure_as_we_do(folder: Path, on_executors: None, known: Any) -> None:
    result = eq.assess(from_spark(folder), eq.Unprotected(), known=known, eps=[0, 30])
    assert result.figures.surprises.keys() == {0.0, 30.0}  # only executors give them with the figures
    frame = eq.Microdata(_people(), **ROLES)
    expected = eq.assess(frame, eq.Unprotected(), known=known, eps=[0, 30])
    same(result.summary, expected.summary)
    for name in ("h0", "area", "eps_max", "hit_30"):
        assert result.classes[name].to_numpy() == pytest.approx(expected.classes[name].to_numpy(), rel=1e-12)
    assert result.figures.right[30.0] == pytest.approx(expected.figures.right[30.0], rel=1e-12)
    assert result.truth.bits[30.0] == pytest.approx(expected.truth.bits[30.0], rel=1e-12)


def test_executors_measure_categories_and_many_values(spark: Any, on_executors: None) -> None:
    rng = np.random.default_rng(5)
    frame = pd.DataFrame(
        {
            "key": rng.integers(0, 3, 1200),
            "disease": rng.choice(["flu", "cold", "gout"], 1200),
            "income": rng.lognormal(10, 0.5, 1200).round(2),  # more than 256 values: the area is estimated
        }
    )
    shared = spark.createDataFrame(frame)
    for confidential in ("disease", "income"):
        result = eq.assess(eq.Microdata(shared, confidential=confidential, keys=["key"]), eq.Unprotected())
        expected = eq.assess(eq.Microdata(frame, confidential=confidential, keys=["key"]), eq.Unprotected())
        assert result.figures.surprises
        assert result.classes["h0"].to_numpy() == pytest.approx(expected.classes["h0"].to_numpy(), rel=1e-12)
        assert result.classes["area"].to_numpy() == pytest.approx(
            expected.classes["area"].to_numpy(), rel=1e-12
        )
        same(result.summary["truth"], expected.summary["truth"])


def test_measures_study_and_compare(folder: Path) -> None:
    """Random techniques draw from people in canonical order; a study sends them to processes without Spark."""
    people = from_spark(folder)
    held = eq.Microdata(people.frame, **ROLES)
    found, same = eq.measures(people), eq.measures(held)
    left_out = found["measure"] == "people left out"  # the frame has only those who are not
    assert left_out.sum() == 1
    pd.testing.assert_frame_equal(found[~left_out].reset_index(drop=True), same, rtol=1e-12)
    techniques = [eq.Sampling(0.3), eq.PRAM(keep=0.8)]
    study, expected = (
        eq.Study(each, techniques=techniques, subsets=[["age"], ["age", "Sex"]], replicates=2).run()
        for each in (pickle.loads(pickle.dumps(people)), held)
    )
    for name in ("h0", "area"):
        assert study.results[name].to_numpy() == pytest.approx(expected.results[name].to_numpy(), rel=1e-12)
    compared, other = (eq.compare(each, techniques, known=["age"]).frame for each in (people, held))
    pd.testing.assert_frame_equal(compared, other, rtol=1e-12)


def test_records_written_by_the_executors(spark: Any, folder: Path, tmp_path: Path) -> None:
    """Each person gets the figures of their class and value, whatever the order and the rounding."""
    frame = _people().assign(person=range(1500))
    shared = spark.createDataFrame(_arrow(frame)).repartition(3)
    for technique in (eq.Unprotected(), eq.Rounding(base=50)):
        result = eq.assess(eq.Microdata(shared, **ROLES), technique, known=["height", "Sex"], eps=[0, 30])
        out = tmp_path / technique.name
        result.write_records(out, beside=["person"])
        written = pq.read_table(out).to_pandas().sort_values("person").reset_index(drop=True)
        held = eq.assess(eq.Microdata(frame, **ROLES), technique, known=["height", "Sex"], eps=[0, 30])
        assert written.pop("person").tolist() == frame.index[frame["pay"].notna()].tolist()
        pd.testing.assert_frame_equal(written, held.records, rtol=1e-12, check_dtype=False)
    with pytest.raises(InputError, match="already exists"):
        result.write_records(out)
    with pytest.raises(InputError, match="there is no column 'persons'"):
        result.write_records(tmp_path / "new", beside=["persons"])
    with pytest.raises(InputError, match="for people in a Spark cluster"):
        held.write_records(tmp_path / "new")
    assert not (tmp_path / "new").exists()


def test_text_is_compared_by_code_point(spark: Any) -> None:
    frame = spark.sql(
        "SELECT collate(k, 'UTF8_LCASE') AS key, p AS pay FROM VALUES ('a', 1), ('A', 2) AS t(k, p)"
    )
    assert eq.Microdata(frame, confidential="pay", keys=["key"]).levels("key") == ("A", "a")


def test_table_of_the_catalog_by_its_name(spark: Any, folder: Path) -> None:
    spark.read.parquet(str(folder)).createOrReplaceTempView("staff")
    try:
        assert len(eq.read("staff", engine="spark", **ROLES)) == int(_people()["pay"].notna().sum())
        with pytest.raises(InputError, match="stuff"):
            eq.read("stuff", engine="spark", **ROLES)
    finally:
        spark.catalog.dropTempView("staff")


def test_command(folder: Path, spark_cluster: SparkCluster, capsys: pytest.CaptureFixture[str]) -> None:
    """The figures of a file, of the cluster, and of the cluster behind Spark Connect, by a process without Java."""
    options = [
        "--confidential",
        "pay",
        "--keys",
        ",".join(KEYS),
        "--round-to",
        "10",
        "--drop-missing",
        "--json",
    ]
    file = folder.parent / "one.parquet"
    pq.write_table(_arrow(_people()), file)
    app(["assess", str(file), *options], standalone_mode=False)
    expected = figures(capsys.readouterr().out)
    records = ["--records-to", str(folder.parent / "records"), "--beside", KEYS[0]]
    app(
        ["assess", str(folder), *options, "--engine", "spark", "--master", spark_cluster.url, *records],
        standalone_mode=False,
    )
    same(figures(capsys.readouterr().out), expected)
    written = pq.read_table(folder.parent / "records")
    assert (written.num_rows, written.column_names[0]) == (expected["data"]["records"], KEYS[0])
    assert float(np.mean(written["h0"])) == pytest.approx(expected["summary"]["per_record"]["h0"]["mean"])
    connect = f"sc://127.0.0.1:{spark_cluster.connect_port}"
    words = [sys.executable, "-m", "equivoc", "assess", str(folder), *options]
    done = subprocess.run(
        [*words, "--engine", "spark", "--master", connect],
        env={**os.environ, "JAVA_HOME": "/nowhere", "PATH": "/nowhere"},
        capture_output=True,
        text=True,
        check=False,
    )
    assert (done.returncode, done.stderr) == (0, "")
    same(figures(done.stdout), expected)


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"engine": "spark", "master": "localhost:7077"}, "not the address of a Spark master"),
        ({"engine": "sparc"}, "give 'duckdb' or 'spark'"),
        ({"master": "local[1]"}, "engine='spark'"),
        ({"engine": "spark", "confidential": "salary"}, "column 'salary' is not a column"),
    ],
)
def test_wrong_arguments(folder: Path, spark: Any, arguments: dict[str, Any], message: str) -> None:
    with pytest.raises(InputError, match=message):
        eq.read(folder, **ROLES | arguments)


def test_values_without_an_order_are_refused(spark: Any) -> None:
    frame = spark.sql("SELECT 1 AS pay, map('a', 1) AS key")
    with pytest.raises(InputError, match="column 'key' holds map<string,int> values"):
        eq.Microdata(frame, confidential="pay", keys=["key"])


def test_worker_killed_in_the_middle_of_a_job(spark: Any, spark_cluster: SparkCluster) -> None:
    """Spark repeats the lost tasks; each row is counted once."""
    from pyspark.sql import functions

    started = threading.Event()
    marker = spark_cluster.folder / "started"

    def slowly(batches: Any) -> Iterator[Any]:
        for batch in batches:
            marker.touch()
            time.sleep(0.3)
            yield batch

    rows = 40_000
    numbers = spark.range(0, rows, 1, 8).mapInArrow(slowly, "id bigint")
    frame = numbers.select((functions.col("id") % 7).alias("key"), (functions.col("id") % 11).alias("pay"))

    def kill() -> None:
        while not marker.exists():
            time.sleep(0.02)
        spark_cluster.kill("worker 2")
        started.set()

    killer = threading.Thread(target=kill)
    killer.start()
    try:
        people = eq.Microdata(frame, confidential="pay", keys=["key"])
    finally:
        killer.join()
        spark_cluster.add_workers("worker 3")
    assert started.is_set()
    expected = np.zeros((7, 11), int)
    np.add.at(expected, (np.arange(rows) % 7, np.arange(rows) % 11), 1)
    assert people.classes(["key"]).counts.toarray().tolist() == expected.tolist()


def test_corrupt_row_group_in_the_middle(spark: Any, folder: Path, tmp_path: Path) -> None:
    files = sorted(folder.iterdir())
    for file in files:
        (tmp_path / file.name).write_bytes(file.read_bytes())
    broken = tmp_path / files[2].name
    data = bytearray(broken.read_bytes())
    at = pq.ParquetFile(broken).metadata.row_group(1).column(4).data_page_offset
    data[at : at + 60] = b"\xff" * 60
    broken.write_bytes(data)
    with pytest.raises(InputError, match="cannot be read by Spark") as caught:
        from_spark(tmp_path)
    assert "\n" not in str(caught.value)
    spark.conf.set("spark.sql.files.ignoreCorruptFiles", "true")
    try:
        with pytest.raises(InputError, match="people could be missing without notice"):
            eq.Microdata(spark.read.parquet(str(folder)), **ROLES)
    finally:
        spark.conf.unset("spark.sql.files.ignoreCorruptFiles")
    assert sorted(tmp_path.iterdir()) == [tmp_path / file.name for file in files]


def test_damage_that_only_a_checksum_shows(spark: Any, tmp_path: Path) -> None:
    table = pa.table({"age": np.arange(9000) % 97, "pay": np.arange(9000) % 7})
    path = tmp_path / "people.parquet"
    pq.write_table(table, path, compression="none", write_page_checksum=True)
    damaged = bytearray(path.read_bytes())
    damaged[pq.ParquetFile(path).metadata.row_group(0).column(0).data_page_offset + 2000] ^= 1
    path.write_bytes(damaged)
    with pytest.raises(InputError, match=r"reading file .*people\.parquet"):
        eq.read(tmp_path, engine="spark", confidential="pay", keys=["age"])


def test_files_whose_types_differ(spark: Any, folder: Path, tmp_path: Path) -> None:
    for number, kind in enumerate((pa.int32(), pa.int32(), pa.string())):
        table = pa.table({"age": pa.array([20, 30]).cast(kind), "pay": [1.5, 2.5]})
        pq.write_table(table, tmp_path / f"{number}.parquet")
    with pytest.raises(InputError, match="different types in the column 'age': INT and STRING"):
        eq.read(tmp_path, engine="spark", confidential="pay", keys=["age"])


def test_data_that_change_after_counting(spark: Any, tmp_path: Path, on_executors: None) -> None:
    """The executors read the files again: what they find must be what was counted."""
    frame = pd.DataFrame({"key": [1, 1, 2], "pay": [10, 20, 30]})
    frame.to_parquet(tmp_path / "a.parquet")
    people = eq.read(tmp_path, engine="spark", confidential="pay", keys=["key"])
    frame.assign(pay=[10, 20, 20]).to_parquet(tmp_path / "a.parquet")
    with pytest.raises(InputError, match="changed since they were counted"):
        eq.assess(people, eq.Unprotected()).summary  # noqa: B018


def test_sessions_are_not_stopped(spark: Any, folder: Path) -> None:
    assert session("local[1]") is spark
    from_spark(folder)
    assert spark.range(3).count() == 3
