"""The real service in a process of its own, clients that ask it, and what they were told."""

from __future__ import annotations

import os
import random
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import httpx
import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

KEYS = ("age", "region")
FIRST_AGE, LAST_AGE = 20, 69
REGIONS = ("north", "south", "east", "west")


def write_people(path: Path, size: int, *, values: int = 250, seed: int = 1) -> None:
    """People with two keys and a salary from 1 to ``values``."""
    rng = np.random.default_rng(seed)
    table = {
        "age": rng.integers(FIRST_AGE, LAST_AGE + 1, size),
        "region": rng.choice(REGIONS, size),
        "salary": rng.integers(1, values + 1, size),
    }
    pq.write_table(pa.table(table), path)


def some_question(rng: random.Random, *, step: int = 1) -> str:
    """A sum or an average over ages from one multiple of ``step`` to another, in a region or in all."""
    ages = range(FIRST_AGE, LAST_AGE + 2, step)
    low, high = sorted(rng.sample(ages, 2))
    where = f"age >= {low} AND age < {high}"
    if rng.random() < 0.5:
        where += f" AND region = '{rng.choice(REGIONS)}'"
    return f"SELECT {rng.choice(('SUM', 'AVG'))}(salary) FROM people WHERE {where}"


@dataclass
class Told:
    """What a client asked and was told: the response's JSON, and the seconds it took."""

    question: str
    reply: dict[str, Any]
    seconds: float


@dataclass
class Client:
    """Asks one question after the other until it is stopped, or until the service is gone."""

    url: str
    token: str
    question: Callable[[], str]
    told: list[Told] = field(default_factory=list)
    problems: list[str] = field(default_factory=list)
    stopped: threading.Event = field(default_factory=threading.Event)

    def run(self) -> None:
        headers = {"Authorization": f"Bearer {self.token}"}
        with httpx.Client(base_url=self.url, headers=headers, timeout=60, trust_env=False) as http:
            while not self.stopped.is_set():
                sql, begin = self.question(), time.perf_counter()
                try:
                    answer = http.post("/ask", json={"sql": sql})
                except httpx.TimeoutException:
                    self.problems.append("timeout")
                    return
                except httpx.TransportError:  # killed
                    return
                if answer.status_code == 200:
                    self.told.append(Told(sql, answer.json(), time.perf_counter() - begin))
                else:
                    self.problems.append(f"{answer.status_code}: {answer.text}")
                    return


@contextmanager
def clients_at_work(clients: list[Client]) -> Iterator[None]:
    threads = [threading.Thread(target=client.run) for client in clients]
    for thread in threads:
        thread.start()
    try:
        yield
    finally:
        for client in clients:
            client.stopped.set()
        for thread in threads:
            thread.join()


@dataclass
class ServiceProcess:
    """The command, running."""

    process: subprocess.Popen[str]
    url: str

    @staticmethod
    def start(
        folder: Path, *, source: str = "people.parquet", keys: Sequence[str] = KEYS, **environment: str
    ) -> ServiceProcess:
        """``equivoc gateway`` on people.parquet, policy.toml and gateway.sqlite in the folder, on a free port."""
        words = [source, "--confidential", "salary", "--keys", ",".join(keys), "--policy", "policy.toml"]
        process = subprocess.Popen(
            [sys.executable, "-W", "error", "-m", "equivoc", "gateway", *words, "--port", "0"],
            cwd=folder,
            env={**os.environ, **environment},
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
        )
        assert process.stdout is not None
        for line in process.stdout:
            if "listens on http://" in line:
                return ServiceProcess(process, line.split("listens on ")[1].split(";")[0])
        raise RuntimeError(process.communicate()[1])

    def kill(self) -> None:
        """SIGKILL: nothing can be put in order."""
        self.process.kill()
        self.process.communicate()

    def stop(self) -> int:
        """SIGTERM; the exit code. What it wrote on standard error, if anything, is an error here."""
        self.process.terminate()
        _, said = self.process.communicate(timeout=60)
        assert said == "", said
        return self.process.returncode
