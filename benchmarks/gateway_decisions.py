"""The gateway's decisions: how long they take, how many random ranges it refuses, and how far attacks come.

    .venv/bin/python benchmarks/gateway_decisions.py                  # all of it, some fifteen minutes
    .venv/bin/python benchmarks/gateway_decisions.py --quick          # small sizes, to test the script
    .venv/bin/python benchmarks/gateway_decisions.py --only reconstruction --subsets 500   # fewer than 5,000
    .venv/bin/python benchmarks/gateway_decisions.py --only rank      # rank, pool, edges, reconstruction or kills

Prints each figure with its bar, if it has one; exits 1 if a bar is missed.
"""

from __future__ import annotations

import argparse
import json
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from equivoc.data.microdata import Microdata
from equivoc.gateway.answered import Answered, KeyOrders, Shared
from equivoc.gateway.gateway import Gateway
from equivoc.gateway.policy import Policy
from equivoc.gateway.rank_rule import KnownSums, secret_prime
from equivoc.systems.grids import even_grid
from equivoc.systems.system import Question

ROOT = Path(__file__).parents[1]
WORK = Policy().work
SUBSETS = 5_000
missed: list[str] = []


def show(what: str, seconds: float, bar: float | None = None) -> None:
    fits = bar is None or seconds <= bar
    if not fits:
        missed.append(what)
    limit = "" if bar is None else f"   bar {1000 * bar:,.0f} ms   {'met' if fits else 'MISSED'}"
    print(f"{what:<66} {1000 * seconds:>10,.2f} ms{limit}", flush=True)


def ranges(people: int, rng: np.random.Generator) -> Iterator[np.ndarray]:
    while True:
        low, high = np.sort(rng.integers(0, people, 2))
        if 3 <= high - low + 1 <= people - 3:
            yield np.arange(low, high + 1)


def subsets(people: int, rng: np.random.Generator) -> Iterator[np.ndarray]:
    while True:
        yield np.flatnonzero(rng.random(people) < 0.5)


def rank(quick: bool) -> None:
    """Judging one more sum, and taking it as answered, after many."""
    people, answered = (1_000, 100) if quick else (10_000, 1_000)
    for name, sets in (("ranges of one key", ranges), ("random subsets", subsets)):
        known = KnownSums(people=people, least_people=3, prime=secret_prime(1))
        asked = sets(people, np.random.default_rng(0))
        while known.rank < answered:
            trial = known.trial([next(asked)], seed=0, work=WORK)
            if trial.verdict == "safe":
                known.answer(trial)
        spans = []
        for _ in range(20):
            members = next(asked)
            start = time.perf_counter()
            trial = known.trial([members], seed=0, work=WORK)
            spans.append(time.perf_counter() - start)
        show(
            f"rank rule, {people:,} people, {answered:,} {name}, {known.atoms:,} atoms",
            np.median(spans),
            0.05,
        )
        start = time.perf_counter()
        known.answer(trial)
        show("   taking it as answered", time.perf_counter() - start)


def pool(quick: bool) -> None:
    """The decision by drawn databases after many answered ranges; the rank rule included."""
    people, answered = (500, 50) if quick else (10_000, 1_000)
    for values, bar in ((20, 2.0), (250, None)):
        rng = np.random.default_rng(0)
        frame = pd.DataFrame({"age": np.arange(people), "pay": rng.integers(0, values, people)})
        data = Microdata(frame, confidential="pay", keys=["age"], domain=range(values))
        grid = even_grid(data.values)
        truth = grid.positions[data.codes]
        known = Answered(Shared(Policy(), secret_prime(1), grid, truth, KeyOrders(data)))
        asked = ranges(people, rng)

        def question(members: np.ndarray, truth: np.ndarray = truth) -> Question:
            return Question("sum", members, float(truth[members].sum()), statement=0, text="")

        while known.statements < answered:
            members = next(asked)
            trial = known.known_sums.trial([members], seed=0, work=WORK)
            if trial.verdict == "safe":
                known.take([question(members)], trial)
        for aggregate in ("sum", "max"):
            members = next(asked)
            each = Question(aggregate, members, None, statement=0, text="")  # type: ignore[arg-type]
            spans = []
            for _ in range(3):
                start = time.perf_counter()
                judged = known.known_sums.trial([members], seed=0, work=WORK) if aggregate == "sum" else None
                found = known.disclosing([each], judged)
                spans.append(time.perf_counter() - start)
            show(
                f"pool, {people:,} people, {answered:,} ranges, {values} values, {aggregate}",
                np.median(spans),
                bar,
            )
            print(f"   {found} of {Policy().draws} databases would disclose someone")
        members = next(asked)
        start = time.perf_counter()
        known.take([question(members)])
        show("   leading and mixing the pool after an answer", time.perf_counter() - start)


def edges(quick: bool) -> None:
    """Random ranges over 1,000 people: the share that the rank rule refuses, free or on 40 class edges."""
    people, count = (200, 200) if quick else (1_000, 1_000)
    for name, cuts in (
        ("free", np.arange(people + 1)),
        ("on 40 edges", np.linspace(0, people, 42).astype(int)),
    ):
        rng = np.random.default_rng(2)
        known = KnownSums(people=people, least_people=3, prime=secret_prime(1))
        refused = []
        for _ in range(count):
            low, high = np.sort(rng.choice(cuts, 2, replace=False))
            trial = known.trial([np.arange(low, high)], seed=0, work=WORK) if high - low >= 3 else None
            refused.append(trial is None or trial.verdict != "safe")
            if not refused[-1] and trial is not None:
                known.answer(trial)
        late = np.mean(refused[-count // 10 :])
        print(
            f"ranges {name}: {np.mean(refused):.0%} of {count:,} refused, {late:.0%} of the last tenth",
            flush=True,
        )


def reconstruction(quick: bool, subsets: int = SUBSETS) -> None:
    """Least squares from random subset sums, with and without the gateway."""
    people, count = (40, 100) if quick else (100, subsets)
    rng = np.random.default_rng(3)
    pay = rng.integers(0, 20, people)
    frame = pd.DataFrame({"id": np.arange(people), "pay": pay})
    data = Microdata(frame, confidential="pay", keys=["id"], domain=range(20))
    asked = [rng.random(people) < 0.5 for _ in range(count)]

    def told(rows: list[np.ndarray], name: str) -> None:
        matrix = np.array(rows, dtype=float).reshape(len(rows), people)
        answers = matrix @ pay - matrix.sum(axis=1) * 9.5
        guess = (
            np.clip(np.linalg.lstsq(matrix, answers, rcond=None)[0] + 9.5, 0, 19)
            if rows
            else np.full(people, 9.5)
        )
        exact, error = np.mean(np.rint(guess) == pay), np.abs(guess - pay).mean()
        print(
            f"{name}: {len(rows):,} answers; {exact:.0%} of values found exactly, mean error {error:.2f}",
            flush=True,
        )

    told(asked, "without the gateway")
    told([], "nothing but the domain")
    rows = []
    with tempfile.TemporaryDirectory() as folder, Gateway(data, store=Path(folder) / "store") as gate:
        start = time.perf_counter()
        for number, subset in enumerate(asked):
            if number and number % 1_000 == 0:
                print(f"   {number:,} asked, {len(rows):,} answered", flush=True)
            listed = ", ".join(map(str, np.flatnonzero(subset)))
            if gate.ask(f"SELECT SUM(pay) FROM people WHERE id IN ({listed})", analyst="a").answered:
                rows.append(subset)
        show(f"   mean of {count:,} questions with the gateway", (time.perf_counter() - start) / count)
    told(rows, "with the gateway")


def kills(quick: bool) -> None:
    """Kill a process that asks without end; everything that it was told must be in the log."""
    times, checked = (3 if quick else 30), 0
    rng = np.random.default_rng(4)
    for number in range(times):
        with tempfile.TemporaryDirectory() as folder:
            store = Path(folder) / "store"
            command = [sys.executable, "-m", "tests.gateway.asking_process", str(store), str(number)]
            with subprocess.Popen(command, stdout=subprocess.PIPE, text=True, cwd=ROOT) as process:
                assert process.stdout is not None
                process.stdout.readline()
                lines = [process.stdout.readline() for _ in range(2)]  # its kernels are loaded now
                time.sleep(float(rng.uniform(0, 1)))
                process.kill()
                lines += process.stdout.read().splitlines(keepends=True)
            given: list[list[Any]] = [json.loads(line) for line in lines if line.endswith("\n")]
            from tests.gateway.asking_process import POLICY, people_of_process

            with Gateway(people_of_process(), store=store, policy=POLICY) as gate:
                log = {
                    e.number: [e.number, e.decision in ("answered", "repeated"), e.value, e.reason]
                    for e in gate.history()
                }
            whole = list(log) == list(range(1, len(log) + 1))
            if not whole or any(log.get(reply[0]) != reply for reply in given):
                missed.append(f"kill {number}")
            checked += len(given)
    print(
        f"{times} kills: {checked:,} replies given, {'none' if not missed else 'SOME'} missing in the log",
        flush=True,
    )


def main() -> int:
    parts = {each.__name__: each for each in (rank, pool, edges, reconstruction, kills)}
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--quick", action="store_true")
    parser.add_argument("--only", choices=parts)
    parser.add_argument("--subsets", type=int, default=SUBSETS, help="questions of the reconstruction")
    chosen = parser.parse_args()
    sys.path.insert(0, str(ROOT))
    for name, part in parts.items():
        if chosen.only in (None, name):
            print(f"— {part.__doc__}")
            if part is reconstruction:
                reconstruction(chosen.quick, chosen.subsets)
            else:
                part(chosen.quick)
    for what in missed:
        print(f"missed: {what}")
    return 1 if missed else 0


if __name__ == "__main__":
    sys.exit(main())
