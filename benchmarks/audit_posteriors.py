"""Posteriors of everyone from overlapping range sums of one key: time, methods, stated errors, and draws of databases.

    .venv/bin/python benchmarks/audit_posteriors.py             # 1,000 ranges over 10,000 people, 250 values
    .venv/bin/python benchmarks/audit_posteriors.py --quick     # small, to test the script

Bar: posteriors of everyone within 120 seconds. Three shapes of ranges: random ends, short ranges, ends on class edges.
"""

from __future__ import annotations

import argparse
import time
from collections import Counter

import numpy as np
from scipy.sparse import csr_array

from equivoc.systems.grids import EvenGrid
from equivoc.systems.posteriors.posteriors import atom_posteriors
from equivoc.systems.system import AnswerSystem, atoms

BAR = 120.0


def ranges(shape: str, people: int, queries: int, rng: np.random.Generator) -> list[np.ndarray]:
    """Query sets: record numbers in key order."""
    found = []
    for _ in range(queries):
        if shape == "random ends":
            first, last = np.sort(rng.choice(people + 1, 2, replace=False))
        elif shape == "short ranges":
            first = int(rng.integers(0, people - 40))
            last = first + int(rng.integers(3, 40))
        else:
            edges = np.linspace(0, people, 41).astype(int)
            first, last = edges[np.sort(rng.choice(41, 2, replace=False))]
        found.append(np.arange(first, last))
    return found


def answer(sets: list[np.ndarray], values: np.ndarray, size: int) -> AnswerSystem:
    """The system of truthful sums."""
    parted = atoms(sets, len(values))
    rows: dict[tuple[int, ...], int] = {}
    for number, inside in enumerate(parted.in_set):
        rows.setdefault(tuple(inside.tolist()), number)
    columns = np.concatenate([np.array(row) for row in rows])
    start = np.concatenate([[0], np.cumsum([len(row) for row in rows])])
    matrix = csr_array(
        (np.ones(len(columns), dtype=np.int64), columns, start), shape=(len(rows), len(parted))
    )
    numbers = np.array(list(rows.values()))
    totals = np.array([values[sets[number]].sum() for number in numbers])
    return AnswerSystem(EvenGrid(1.0, 1.0, np.arange(size)), parted, matrix, totals, numbers)


def main() -> None:
    """Run every shape and print one block for each."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--quick", action="store_true")
    quick = parser.parse_args().quick
    people, queries, size = (500, 50, 20) if quick else (10_000, 1_000, 250)
    for shape in ("random ends", "short ranges", "class edges"):
        rng = np.random.default_rng(1)
        values = np.minimum(rng.lognormal(np.log(size / 5), 0.6, people).astype(np.int64), size - 1)
        system = answer(ranges(shape, people, queries, rng), values, size)
        prior = np.full(size, 1 / size)
        begin, cpu = time.perf_counter(), time.process_time()
        found = atom_posteriors(system, prior=prior)
        seconds, cpu = time.perf_counter() - begin, time.process_time() - cpu
        weights = system.atoms.sizes
        each = Counter(dict.fromkeys(set(found.method), 0))
        for method, count in zip(found.method, weights.tolist(), strict=True):
            each[method] += count
        narrowed = weights[(found.probabilities == 0).any(axis=1)].sum()
        logs = np.where(found.probabilities > 0, np.log2(np.maximum(found.probabilities, 1e-300)), 0)
        entropy = -(found.probabilities * logs).sum(axis=1)
        known, promised = weights[entropy <= 0].sum(), weights[found.promised].sum()
        verdict = "met" if seconds <= BAR else "MISSED"
        print(f"{shape}: {queries} ranges, {people} people, {size} values, {len(system.atoms)} atoms")
        print(
            f"  posteriors of everyone   {seconds:7.1f} s (processor {cpu:.1f} s)   bar {BAR:.0f} s   {verdict}"
        )
        print(
            "  people by method         "
            + ", ".join(f"{m} {n / people:.1%}" for m, n in sorted(each.items()))
        )
        print(f"  some value ruled out     {narrowed / people:.1%}; known exactly {known / people:.2%}")
        print(
            f"  H0 in bits               mean {weights @ entropy / people:.3f}, least {abs(entropy.min()):.3f}"
        )
        print(
            f"  largest standard error   {np.nanmax(found.error):.4f}; a promise for {promised / people:.1%}"
        )
        for note in found.notes:
            print(f"  note: {note}")


if __name__ == "__main__":
    main()
