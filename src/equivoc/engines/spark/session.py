"""Sessions: an existing one is used as it is and never stopped; one that we start is stopped when the process ends."""

from __future__ import annotations

import atexit
import os
import re
import socket
import sys
from contextlib import suppress
from typing import Any
from urllib.parse import urlsplit

from equivoc.engines.spark.failures import asking_spark
from equivoc.errors import InputError

EXAMPLES = "local[*], spark://host:7077, sc://host:15002, yarn or k8s://https://host:6443"
_PORTS = {"spark": 7077, "sc": 15002}
"""The usual ports of a standalone master and of Spark Connect."""
_PATIENCE = 10.0
"""Seconds for a master to accept a connection."""
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
        raise InputError(f"{shown(master)!r} is not the address of a Spark master: give {EXAMPLES}")
    check_pyspark()
    from pyspark.sql import SparkSession

    with asking_spark("the active session"):
        active = SparkSession.getActiveSession()
    if active is not None:
        return active
    if master is None and "SPARK_REMOTE" not in os.environ and "SPARK_ENV_LOADED" not in os.environ:
        raise InputError(f"there is no Spark session: give the master's address, such as {EXAMPLES}")
    if master is not None:
        check_answers(master)
    # The executors' Python; PySpark would take python3, which may be another than ours.
    os.environ.setdefault("PYSPARK_PYTHON", sys.executable)
    with asking_spark("Spark" if master is None else shown(master)):
        builder = SparkSession.builder.appName("equivoc")
        if master is not None and master.startswith("sc://"):
            builder = builder.remote(master)
        elif master is not None:
            builder = builder.master(master).config("spark.ui.showConsoleProgress", "false")
            # An error ends in one sentence, without the stack traces that Spark logs.
            builder = builder.config("spark.log.level", "OFF")
        started = builder.getOrCreate()
    atexit.register(_stop, started)
    return started


def shown(master: str) -> str:
    """The address for messages, without the parameters of Spark Connect: one of them may be a token.

    >>> shown("sc://host:15002/;token=secret;use_ssl=true")
    'sc://host:15002'
    """
    return master.partition("/;")[0]


def check_answers(master: str) -> None:
    """InputError if nothing listens at the address; Spark itself would try again for minutes."""
    scheme, _, hosts = shown(master).partition("://")
    if scheme not in _PORTS:
        return
    for host in hosts.split(","):  # a standalone cluster may have several masters
        try:
            parts = urlsplit(f"//{host}")
            place = (parts.hostname or "", parts.port or _PORTS[scheme])
        except ValueError:
            raise InputError(
                f"{shown(master)!r} is not the address of a Spark master: give {EXAMPLES}"
            ) from None
        with suppress(OSError, UnicodeError):
            socket.create_connection(place, timeout=_PATIENCE).close()
            return
    raise InputError(
        f"nothing answers at {shown(master)}: check the address, and that this machine can reach the Spark master."
    )


def _stop(started: Any) -> None:
    with suppress(Exception):  # the cluster may be gone
        started.stop()
