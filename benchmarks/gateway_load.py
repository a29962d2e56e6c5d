"""The gateway's service under load: 10,000 people, 1,000 answers given before, 8 clients for a minute.

    .venv/bin/python benchmarks/gateway_load.py [--seconds 60] [--answered 1000] [--extremes 0.1] [--values 20]
    .venv/bin/python benchmarks/gateway_load.py --kills 30     # SIGKILL at 30 random moments instead

Prints the time of a request, as a client sees it while seven others ask too: median and 99th percentile. Exits 1 if a
request timed out or failed, if a reply is not in the log or differs from it, or if the log has a line that nobody was
told. With ``--kills``: exits 1 if, after a kill, a reply is not in the log, or if a gateway that was never interrupted
decides one of the logged questions differently.
"""

from __future__ import annotations

import argparse
import platform
import random
import sys
import tempfile
import time
from functools import partial
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))
from equivoc.gateway.service.access import Tokens
from equivoc.gateway.service.log import LogReader
from tests.gateway.service import killed
from tests.gateway.service.service_process import (
    Client,
    ServiceProcess,
    Told,
    clients_at_work,
    write_people,
)

PEOPLE, CLIENTS, DAYS = 10_000, 8, 20_000
POLICY = "least_people = 3\nquestions_per_minute = 1000000\n"


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--seconds", type=float, default=60)
    parser.add_argument("--answered", type=int, default=1_000, help="answers given before the load")
    parser.add_argument("--values", type=int, default=250, help="salaries are 1 to this")
    parser.add_argument(
        "--extremes", type=float, default=0.0, help="the share of MIN and MAX among the questions"
    )
    parser.add_argument(
        "--boxes", type=float, default=0.0, help="the share of questions with a condition on a second key"
    )
    parser.add_argument("--kills", type=int, default=0)
    given = parser.parse_args()
    print(f"Python {platform.python_version()}, {platform.machine()}, {platform.system()}")
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        (folder / "policy.toml").write_text(POLICY)
        if given.kills:
            kill(folder, given.kills)
        else:
            load(folder, given)


def load(folder: Path, given: argparse.Namespace) -> None:
    rng = np.random.default_rng(1)
    people = {
        "day": rng.integers(0, DAYS, PEOPLE),
        "sex": rng.choice(["F", "M"], PEOPLE),
        "salary": rng.integers(1, given.values + 1, PEOPLE),
    }
    pq.write_table(pa.table(people), folder / "people.parquet")
    tokens = Tokens.beside(folder / "gateway.sqlite")
    given_tokens = [tokens.add(f"analyst-{n}") for n in range(CLIENTS)]
    service = ServiceProcess.start(folder, keys=("day", "sex"))
    begin = time.perf_counter()
    first = Client(service.url, given_tokens[0], partial(range_question, random.Random(1), 0.0, given.boxes))
    with clients_at_work([first]):
        while sum(told.reply["answered"] for told in first.told) < given.answered and not first.problems:
            time.sleep(0.01)
    answered = sum(told.reply["answered"] for told in first.told)
    print(
        f"{PEOPLE:,} people, {given.values} values; before: {len(first.told):,} questions by one client, "
        f"{answered:,} answered, {time.perf_counter() - begin:.0f} s"
    )
    clients = [
        Client(
            service.url, token, partial(range_question, random.Random(100 + n), given.extremes, given.boxes)
        )
        for n, token in enumerate(given_tokens)
    ]
    with clients_at_work(clients):
        time.sleep(given.seconds)
    code = service.stop()
    told = [each for client in clients for each in client.told]
    begin = time.perf_counter()
    again = ServiceProcess.start(folder, keys=("day", "sex"))
    restart = time.perf_counter() - begin
    again.stop()
    print(f"{CLIENTS} clients for {given.seconds:.0f} s:")
    table(told)
    problems = [problem for client in [first, *clients] for problem in client.problems]
    lost = lines_lost(folder, [*first.told, *told])
    print(f"timeouts and errors: {len(problems)} {problems[:3] or ''}")
    print(f"log lines lost, changed or told to nobody: {lost}")
    print(f"restart on the store: {restart:.1f} s; exit code of the stop: {code}")
    raise SystemExit(1 if problems or lost or code else 0)


def range_question(rng: random.Random, extremes: float, boxes: float) -> str:
    low, high = sorted(rng.sample(range(DAYS + 1), 2))
    aggregate = rng.choice(("MIN", "MAX")) if rng.random() < extremes else "SUM"
    where = f"day >= {low} AND day < {high}" + (
        f" AND sex = '{rng.choice('FM')}'" if rng.random() < boxes else ""
    )
    return f"SELECT {aggregate}(salary) FROM people WHERE {where}"


def table(told: list[Told]) -> None:
    print(f"{'questions':10} {'number':>7} {'answered':>9} {'median':>9} {'99 %':>9} {'slowest':>9}")
    for name, chosen in (
        ("sums", [each for each in told if "SUM" in each.question]),
        ("extremes", [each for each in told if "SUM" not in each.question]),
        ("all", told),
    ):
        if not chosen:
            continue
        seconds = np.array([each.seconds for each in chosen])
        share = np.mean([each.reply["answered"] for each in chosen])
        median, late = np.quantile(seconds, (0.5, 0.99))
        print(
            f"{name:10} {len(chosen):7,} {share:9.1%} {1e3 * median:6.0f} ms {1e3 * late:6.0f} ms "
            f"{1e3 * seconds.max():6.0f} ms"
        )


def lines_lost(folder: Path, told: list[Told]) -> int:
    """Replies that are not in the log as they were given, and lines of the log without a reply."""
    entries = {entry.number: entry for entry in LogReader(folder / "gateway.sqlite").every()}
    wrong = 0
    for each in told:
        entry = entries.pop(each.reply["number"], None)
        same = entry is not None and entry.value == each.reply["value"]
        wrong += not (same and entry is not None and (entry.decision != "refused") == each.reply["answered"])
    return wrong + len(entries)


def kill(folder: Path, kills: int) -> None:
    write_people(folder / "people.parquet", 300, values=20)
    tokens = killed.prepare(folder)
    rng = random.Random(7)
    told: list[Told] = []
    for number in range(1, kills + 1):
        told += killed.run_until_ended(folder, tokens, rng, replies=80)
        entries = killed.check_nothing_lost(folder, told, kills=number)
        print(f"kill {number:3}: {len(told):5,} replies, {len(entries):5,} log lines", flush=True)
    killed.check_same_decisions(folder, entries)
    print(f"{kills} kills: no reply lost, the log without gaps, the same decisions without interruption")


if __name__ == "__main__":
    main()
