"""The intruders of the real world: what each part costs beside the assessment without it, in the same process.

.venv/bin/python benchmarks/real_world.py                # all parts
.venv/bin/python benchmarks/real_world.py participation  # one of them
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from time import perf_counter

import numpy as np
import pandas as pd

import equivoc as eq

REPEATS = 3


def seconds(what: Callable[[], object], repeats: int = REPEATS) -> float:
    """The least time of some runs."""
    found = []
    for _ in range(repeats):
        begin = perf_counter()
        what()
        found.append(perf_counter() - begin)
    return min(found)


def incomes(people: int, values: int, keys: int) -> pd.DataFrame:
    """People with ``keys`` keys of 2 to 60 levels and lognormal incomes of some ``values`` levels."""
    rng = np.random.default_rng(0)
    columns = {
        f"k{number}": rng.integers(0, levels, people)
        for number, levels in enumerate((60, 2, 16, 8, 12, 30)[:keys])
    }
    pay = np.exp(rng.normal(0, 0.5, people) + 0.01 * columns["k0"])
    pay = np.clip(np.round(pay / np.quantile(pay, 0.99) * values), 1, values)
    return pd.DataFrame({**columns, "pay": pay, "weight": rng.uniform(20, 60, people)})


def participation() -> Iterator[str]:
    """Weights, and so the three figures, beside the same people without weights; both are read anew each time."""
    for many, values, repeats in ((10_000, 300, 2), (1_000_000, 25, 2)):
        frame = incomes(many, values, 4)
        keys = [name for name in frame if name.startswith("k")]
        for technique in (eq.Unprotected(), eq.PRAM(keep=0.5)) if many < 100_000 else (eq.Unprotected(),):

            def summary(
                weights: str | None,
                frame: pd.DataFrame = frame,
                keys: list[str] = keys,
                technique: eq.Technique = technique,
            ) -> object:
                people = eq.Microdata(frame, confidential="pay", keys=keys, weights=weights)
                return eq.assess(people, technique, intruder="informed").summary

            without = seconds(lambda: summary(None), repeats)
            default = seconds(lambda: summary("weight"), repeats)
            yield (
                f"participation, {many:,} people × 4 keys × some {values} values, {technique.notation}: without "
                f"weights {without:.2f} s, with the three figures {default:.2f} s ({default / without:.2f} ×)"
            )


PARTS = {"participation": participation}


if __name__ == "__main__":
    for name in sys.argv[1:] or PARTS:
        for line in PARTS[name]():
            print(line, flush=True)
