"""Spark on a standalone cluster of this machine: the measure on top of its own group-by, and two workers against one.

    .venv/bin/python benchmarks/spark.py                     # 20 million rows; needs make setup-spark and Java 17
    .venv/bin/python benchmarks/spark.py --rows 1000000      # to test the script
    .venv/bin/python benchmarks/spark.py --only workers

Each worker is a process with one core and one executor. The people are ACS-like, in 16 Parquet files: 5 keys, 25
salaries. Times are the least of --repeats runs after a first one, which starts Python on the executors and loads the
kernels. All runs of one comparison alternate, so that another program on the machine slows down both.
"""

from __future__ import annotations

import argparse
import os
import sys
import tempfile
import time
import warnings
from collections.abc import Callable
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).parents[1]))

KEYS = ["Age", "Sex", "Education", "Industry", "Occupation"]
FILES = 16
GROUP_BAR, WORKERS_BAR = 1.5, 1.6
MEMORY = "3g"


def write_people(folder: Path, rows: int) -> None:
    import pyarrow.parquet as pq

    from equivoc.datasets import write_acs_like

    part = -(-rows // FILES)
    for number in range(FILES):
        write_acs_like(folder / f"{number:02}.parquet", min(part, rows - part * number), seed=number)
        assert pq.read_metadata(folder / f"{number:02}.parquet").num_columns == 7


def session(cluster: Any) -> Any:
    settings = {
        "spark.executor.memory": "2g",
        "spark.executor.extraJavaOptions": "",
        "spark.driver.extraJavaOptions": "",
        "spark.sql.shuffle.partitions": "16",
    }
    return cluster.session(**settings)


def seconds(work: Callable[[], Any]) -> float:
    begin = time.perf_counter()
    work()
    return time.perf_counter() - begin


def run(frame: Any) -> None:
    """Compute all of it, and keep nothing."""
    frame.write.format("noop").mode("overwrite").save()


def works(spark: Any, folder: Path, rows: int) -> tuple[Callable[[], Any], Callable[[], Any], Any]:
    """Spark's group-by; the same with the measure of every class; the people."""
    import equivoc as eq
    from equivoc.engines.measuring import ClassQuestion
    from equivoc.engines.spark.class_measures import measured_classes
    from equivoc.engines.spark.table import SparkTable

    table = SparkTable(spark.read.parquet(str(folder)))
    people = eq.Microdata(table, confidential="Salary", keys=KEYS)
    levels, places = people.source_values
    question = ClassQuestion(
        keys=tuple(KEYS),
        levels=tuple(people.decode(name, range(len(people.levels(name)))) for name in KEYS),
        confidential="Salary",
        values=levels,
        places=places,
        geometry=people.attribute.geometry,
        eps=(0.0, 20.0),
        tolerance=None,
        rows=rows,
        combinations=len(people.classes(None).cells),
        cells=False,
    )
    return (
        lambda: run(table.frame.groupBy(*KEYS, "Salary").count()),
        lambda: run(measured_classes(table, question)),
        people,
    )


def compare_with_group_by(folder: Path, rows: int, repeats: int) -> None:
    from tests.spark_cluster import running_cluster, stop_session

    with running_cluster(memory=MEMORY) as cluster:
        spark = session(cluster)
        try:
            grouping, measuring, people = works(spark, folder, rows)
            cells = people.classes(None).counts
            print(f"{cells.shape[0]:,} classes, {cells.nnz:,} combinations of class and salary", flush=True)
            grouping(), measuring()
            times = [(seconds(grouping), seconds(measuring)) for _ in range(repeats)]
        finally:
            stop_session(spark)
    own, ours = (min(each) for each in zip(*times, strict=True))
    verdict = "met" if ours / own <= GROUP_BAR else "missed"
    print(f"group-by, 2 workers: {own:.2f} s; with the measure of every class: {ours:.2f} s")
    print(f"ratio {ours / own:.2f} (bar: at most {GROUP_BAR}): {verdict}", flush=True)


def compare_workers(folder: Path, rows: int, repeats: int) -> None:
    from tests.spark_cluster import running_cluster, stop_session

    best: dict[int, float] = {}
    for workers in (1, 2):
        with running_cluster(workers=workers, memory=MEMORY) as cluster:
            spark = session(cluster)
            try:
                _, measuring, _ = works(spark, folder, rows)
                measuring()
                best[workers] = min(seconds(measuring) for _ in range(repeats))
            finally:
                stop_session(spark)
        print(f"the measure of every class, {workers} worker(s): {best[workers]:.2f} s", flush=True)
    ratio = best[1] / best[2]
    verdict = "met" if ratio >= WORKERS_BAR else "missed"
    print(f"ratio {ratio:.2f} (bar: at least {WORKERS_BAR}): {verdict}")


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--rows", type=int, default=20_000_000)
    parser.add_argument("--repeats", type=int, default=3)
    parser.add_argument("--only", choices=["group-by", "workers"])
    options = parser.parse_args()
    warnings.filterwarnings("ignore", message="PySpark does not yet fully support pandas")
    from tests.spark_cluster import missing

    reason = missing()
    if reason is not None:
        sys.exit(reason)
    load = os.getloadavg()[0]
    print(f"{options.rows:,} rows, {os.cpu_count()} cores, load before: {load:.1f}", flush=True)
    with tempfile.TemporaryDirectory(prefix="equivoc-spark-") as made:
        folder = Path(made)
        write_people(folder, options.rows)
        if options.only != "workers":
            compare_with_group_by(folder, options.rows, options.repeats)
        if options.only != "group-by":
            compare_workers(folder, options.rows, options.repeats)


if __name__ == "__main__":
    main()
