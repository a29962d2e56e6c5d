"""A Spark cluster that goes away. This module is the last that uses the cluster of the tests: afterwards it is gone."""

from __future__ import annotations

import threading
from pathlib import Path
from typing import Any

import pandas as pd
import pytest

import equivoc as eq
from equivoc.errors import InputError
from tests.spark_cluster import SparkCluster

pytestmark = pytest.mark.xdist_group("spark")


def test_master_and_driver_that_go_away(spark: Any, spark_cluster: SparkCluster, tmp_path: Path) -> None:
    """A right answer or a sentence."""
    pd.DataFrame({"age": [20, 30, 30], "pay": [1.0, 2.0, 3.0]}).to_parquet(tmp_path / "people.parquet")
    frame = spark.read.parquet(str(tmp_path))
    spark_cluster.kill("master")
    people = eq.Microdata(frame, confidential="pay", keys=["age"])  # the executors go on without a master
    assert len(people) == 3
    for name in list(spark_cluster.processes):
        spark_cluster.kill(name)
    driver = spark.sparkContext._gateway.proc
    # Without executors the job waits; then the driver's process ends as well.
    timer = threading.Timer(2, driver.kill)
    timer.start()
    try:
        with pytest.raises(InputError, match="the connection to Spark was lost"):
            eq.Microdata(frame, confidential="pay", keys=["age"])
    finally:
        timer.cancel()
        driver.kill()
        driver.wait()
    # What was counted is still here.
    assert eq.assess(people, eq.Unprotected()).summary["records"] == len(people)
