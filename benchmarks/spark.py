"""Spark on a standalone cluster of this machine: the measure on top of its own group-by, and two workers against one.

    .venv/bin/python benchmarks/spark.py                     # 20 million rows; needs make setup-spark, Java 17
    .venv/bin/python benchmarks/spark.py --rows 1000000      # to test the script

Each worker has one core of the machine, to which it is pinned with its JVM and its Python: otherwise a worker of one
task would use parts of a second core, and two workers would look slower than they are. The driver and the master are
not pinned; on a machine of two cores they take their time from the workers. So use a machine on which nothing else
runs: a pinned worker cannot avoid another program. The people are ACS-like, in 16 Parquet files: 5 keys, 25 salaries.
Times are the least of --repeats runs after a first one, which starts Python on the executors and loads the kernels.
Group-by and measure run in turn. If all but a share s of the work is spread evenly, two workers are 2 / (1 + s) times
as fast: this s is printed. At 20 million rows all of it takes less than ten minutes on two free cores.
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


def question_of(folder: Path, rows: int) -> Any:
    """All classes of five keys. DuckDB counts the files: the question is the same, and Spark's time is not spent."""
    import equivoc as eq
    from equivoc.engines.engine import ClassQuestion

    people = eq.read(folder, confidential="Salary", keys=KEYS)
    levels, places = people.source_values
    cells = people.classes(None).counts
    print(f"{cells.shape[0]:,} classes, {cells.nnz:,} combinations of class and salary", flush=True)
    return ClassQuestion(
        keys=tuple(KEYS),
        levels=tuple(people.decode(name, range(len(people.levels(name)))) for name in KEYS),
        confidential="Salary",
        values=levels,
        places=places,
        geometry=people.attribute.geometry,
        eps=(0.0, 20.0),
        tolerance=None,
        rows=rows,
        combinations=cells.nnz,
        cells=False,
    )


def times(folder: Path, question: Any, *, workers: int, repeats: int) -> tuple[float, float]:
    """Seconds of Spark's group-by, and of the same with the measure of every class."""
    from equivoc.engines.spark import SparkTable
    from equivoc.engines.spark_measures import measured_classes
    from tests.spark_cluster import running_cluster, stop_session

    with running_cluster(workers=workers, memory=MEMORY, pinned=True) as cluster:
        spark = session(cluster)
        try:
            table = SparkTable(spark.read.parquet(str(folder)))

            def grouping() -> None:
                run(table.frame.groupBy(*KEYS, "Salary").count())

            def measuring() -> None:
                run(measured_classes(table, question))

            grouping(), measuring()
            found = [(seconds(grouping), seconds(measuring)) for _ in range(repeats)]
        finally:
            stop_session(spark)
    own, ours = (min(each) for each in zip(*found, strict=True))
    print(
        f"{workers} worker(s): group-by {own:.2f} s, with the measure of every class {ours:.2f} s", flush=True
    )
    return own, ours


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--rows", type=int, default=20_000_000)
    parser.add_argument("--repeats", type=int, default=2)
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
        question = question_of(folder, options.rows)
        own, both = times(folder, question, workers=2, repeats=options.repeats)
        own_alone, alone = times(folder, question, workers=1, repeats=options.repeats)
    verdict = "met" if both / own <= GROUP_BAR else "missed"
    print(f"measure against group-by, 2 workers: {both / own:.2f} × (bar: at most {GROUP_BAR}): {verdict}")
    for what, one, two in (("group-by", own_alone, own), ("measure", alone, both)):
        print(
            f"{what}, 2 workers against 1: {one / two:.2f} ×; not spread: {2 * two / one - 1:.0%} of the work"
        )
    verdict = "met" if alone / both >= WORKERS_BAR else "missed"
    print(f"the measure's ratio {alone / both:.2f} (bar: at least {WORKERS_BAR}): {verdict}")
    print(f"load after: {os.getloadavg()[0]:.1f}")


if __name__ == "__main__":
    main()
