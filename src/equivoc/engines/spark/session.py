"""Sessions: an existing one is used as it is and never stopped; one that we start is stopped when the process ends."""

from __future__ import annotations

import atexit
import os
import re
import sys
from contextlib import suppress
from typing import Any

from equivoc.engines.spark.failures import asking_spark
from equivoc.errors import InputError

EXAMPLES = "local[*], spark://host:7077, sc://host:15002, yarn or k8s://https://host:6443"
_MASTER = re.compile(r"local(\[[^\]\s]+\])?$|yarn$|(spark|sc|k8s)://\S+$")


def check_pyspark() -> None:
    """InputError unless PySpark is installed."""
    try:
        import pyspark.sql  # noqa: F401
    except ImportError:
        raise InputError("Spark needs more packages: pip install 'equivoc[spark]'") from None


def session(master: str | None) -> Any:
    """The active session; else a new one for ``master`` (None: as spark-submit or spark-defaults.conf says)."""
    if master is not None and not _MASTER.match(master):
        raise InputError(f"{master!r} is not the address of a Spark master: give {EXAMPLES}")
    check_pyspark()
    from pyspark.sql import SparkSession

    with asking_spark("the active session"):
        active = SparkSession.getActiveSession()
    if active is not None:
        return active
    if master is None and "SPARK_REMOTE" not in os.environ and "SPARK_ENV_LOADED" not in os.environ:
        raise InputError(f"there is no Spark session: give the master's address, such as {EXAMPLES}")
    # The executors' Python; PySpark would take python3, which may be another than ours.
    os.environ.setdefault("PYSPARK_PYTHON", sys.executable)
    with asking_spark("Spark" if master is None else master):
        builder = SparkSession.builder.appName("equivoc")
        if master is not None and master.startswith("sc://"):
            builder = builder.remote(master)
        elif master is not None:
            builder = builder.master(master).config("spark.ui.showConsoleProgress", "false")
        started = builder.getOrCreate()
    atexit.register(_stop, started)
    return started


def _stop(started: Any) -> None:
    with suppress(Exception):  # the cluster may be gone
        started.stop()
