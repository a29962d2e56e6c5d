"""A real Spark cluster for tests: a master and two workers as processes of their own, in a private folder."""

from __future__ import annotations

import os
import re
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import pytest

LOOPBACK = "127.0.0.1"
SOON = 60.0
"""Seconds that a process may take to start."""
# A small heap, one collector thread and only the quick compiler: they start faster and leave the cores to the tests.
JAVA = "-XX:+UseSerialGC -XX:TieredStopAtLevel=1"


@dataclass
class SparkCluster:
    """A running cluster, by default with two workers of one core each."""

    home: Path
    folder: Path
    port: int = 0
    connect_port: int = 0
    """Where a session of the cluster also serves Spark Connect."""
    processes: dict[str, subprocess.Popen[bytes]] = field(default_factory=dict)

    @property
    def url(self) -> str:
        """The master's address."""
        return f"spark://{LOOPBACK}:{self.port}"

    def start(self, *, workers: int = 2, memory: str = "1g", pinned: bool = False) -> None:
        self.port, self.connect_port = _free_port(), _free_port()
        self._launch("master", "master.Master", "--port", str(self.port), "--webui-port", "0")
        self._wait("master", r"I have been elected leader")
        self.add_workers(
            *(f"worker {number}" for number in range(1, workers + 1)), memory=memory, pinned=pinned
        )

    def add_workers(self, *names: str, memory: str = "1g", pinned: bool = False) -> None:
        """Start them at the same time, and wait for all; ``pinned``, each of them has a core of the machine to itself.

        Spark gives a worker of one core one task at a time, but its JVM, the task's Python and the collector are
        threads and processes of their own.
        """
        cores = sorted(os.sched_getaffinity(0)) if pinned else []
        for at, name in enumerate(names):
            self._launch(name, "worker.Worker", "-c", "1", "-m", memory, "--webui-port", "0", self.url)
            if cores:  # what it starts inherits this
                os.sched_setaffinity(self.processes[name].pid, {cores[at % len(cores)]})
        for name in names:
            self._wait(name, r"Successfully registered with master")

    def kill(self, name: str) -> None:
        """End a worker with its executors, or the master, without notice."""
        process = self.processes.pop(name)
        # Executors are in their worker's process group.
        os.killpg(process.pid, signal.SIGKILL)
        process.wait()

    def stop(self) -> None:
        for name in list(self.processes):
            self.kill(name)

    def log(self, name: str) -> str:
        file = self.folder / f"{name}.log"
        return file.read_text(errors="replace") if file.exists() else ""

    def session(self, **settings: str) -> Any:
        """A session of this cluster; PySpark allows one at a time in a process."""
        from pyspark.sql import SparkSession

        # The context takes the executors' Python from here.
        os.environ.setdefault("PYSPARK_PYTHON", sys.executable)
        builder = SparkSession.builder.master(self.url).appName("tests")
        for name, value in {**driver_settings(self.folder), **settings}.items():
            builder = builder.config(name, value)
        session = builder.getOrCreate()
        session.sparkContext.setLogLevel("OFF")
        return session

    def _launch(self, name: str, program: str, *words: str) -> None:
        own = self.folder / name
        own.mkdir()
        environment = {
            **os.environ,
            "SPARK_HOME": str(self.home),
            "SPARK_LOCAL_IP": LOOPBACK,
            "SPARK_LOCAL_DIRS": str(own),
            "SPARK_WORKER_DIR": str(own),
            "SPARK_DAEMON_MEMORY": "256m",
            "SPARK_DAEMON_JAVA_OPTS": JAVA,
            "PYSPARK_PYTHON": sys.executable,
        }
        with (self.folder / f"{name}.log").open("wb") as log:
            self.processes[name] = subprocess.Popen(
                [
                    self.home / "bin" / "spark-class",
                    f"org.apache.spark.deploy.{program}",
                    "--host",
                    LOOPBACK,
                    *words,
                ],
                cwd=own,
                env=environment,
                stdin=subprocess.DEVNULL,
                stdout=log,
                stderr=subprocess.STDOUT,
                start_new_session=True,
            )

    def _wait(self, name: str, said: str) -> None:
        """Wait until the process has logged what it says when it is ready."""
        until = time.monotonic() + SOON
        while not re.search(said, self.log(name)):
            assert self.processes[name].poll() is None, f"{name} ended:\n{self.log(name)}"
            assert time.monotonic() < until, f"{name} did not start:\n{self.log(name)}"
            time.sleep(0.05)


def driver_settings(folder: Path) -> dict[str, str]:
    """The settings of a small driver on loopback that writes into ``folder`` only."""
    return {
        "spark.driver.bindAddress": LOOPBACK,
        "spark.driver.host": LOOPBACK,
        "spark.driver.memory": "1g",
        "spark.driver.extraJavaOptions": f"{JAVA} -Dderby.system.home={folder}",
        "spark.executor.memory": "512m",
        "spark.executor.extraJavaOptions": JAVA,
        "spark.local.dir": str(folder / "driver"),
        "spark.sql.warehouse.dir": str(folder / "warehouse"),
        "spark.sql.shuffle.partitions": "4",
        "spark.ui.enabled": "false",
        "spark.ui.showConsoleProgress": "false",
    }


@contextmanager
def running_cluster(*, workers: int = 2, memory: str = "1g", pinned: bool = False) -> Iterator[SparkCluster]:
    """A cluster that is stopped, and whose folder is removed, whatever happens."""
    home = spark_home()
    assert home is not None
    cluster = SparkCluster(home, Path(tempfile.mkdtemp(prefix="equivoc-spark-")))
    try:
        cluster.start(workers=workers, memory=memory, pinned=pinned)
        yield cluster
    finally:
        cluster.stop()
        shutil.rmtree(cluster.folder, ignore_errors=True)


def spark_home() -> Path | None:
    """Where PySpark is installed; it brings Spark's own programs."""
    found = find_spec("pyspark")
    return None if found is None or found.origin is None else Path(found.origin).parent


def missing() -> str | None:
    """Why there can be no cluster here, if so."""
    if spark_home() is None:
        return "PySpark is not installed: make setup-spark"
    if shutil.which("java") is None and "JAVA_HOME" not in os.environ:
        return "Spark needs Java 17, and there is no java here"
    return None


def _free_port() -> int:
    with socket.socket() as found:
        found.bind((LOOPBACK, 0))
        port: int = found.getsockname()[1]
        return port


@pytest.fixture(scope="session")
def spark_cluster() -> Iterator[SparkCluster]:
    """One cluster for all tests; under pytest-xdist, the mark xdist_group("spark") keeps them in one process."""
    reason = missing()
    if reason is not None:
        pytest.skip(reason)
    with running_cluster() as cluster:
        yield cluster


@pytest.fixture(scope="session")
def spark(spark_cluster: SparkCluster) -> Iterator[Any]:
    """One session on the cluster; its driver also serves Spark Connect."""
    connect = {
        "spark.plugins": "org.apache.spark.sql.connect.SparkConnectPlugin",
        "spark.connect.grpc.binding.address": LOOPBACK,
        "spark.connect.grpc.binding.port": str(spark_cluster.connect_port),
    }
    session = spark_cluster.session(**connect)
    session.catalog.listTables()  # Spark adds settings of its own at the first use
    try:
        yield session
    finally:
        stop_session(session)


def stop_session(session: Any) -> None:
    """Stop the session, and the JVM that PySpark started for it."""
    from pyspark import SparkContext

    with suppress(Exception):  # a test may have ended the JVM
        session.stop()
    gateway = SparkContext._gateway
    if gateway is not None:
        with suppress(Exception):
            gateway.shutdown()
        process = getattr(gateway, "proc", None)
        if process is not None:
            process.stdin.close()
            process.wait(timeout=30)
        SparkContext._gateway = SparkContext._jvm = None
