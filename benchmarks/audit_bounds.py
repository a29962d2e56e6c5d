"""Bounds of 10,000 people from 1,000 overlapping range sums, values 1 … 250: one key, three keys, four keys.

A question sums over everyone whose keys lie in a random range of each key. Prints the time from the answered questions
to the bounds of every person (and the processor's own time, for a busy machine), the share of people whose bounds are
narrower than the domain, and the share whose bounds are proven exact, for several shapes of values; exits 1 if a bar
is missed.
    --quick  small sizes, to test the script; the times mean nothing
    --shape  one shape of values only
"""

import argparse
import sys
from collections import Counter
from time import perf_counter, process_time

import numpy as np
from numpy.typing import NDArray

from equivoc.systems.bounds.bounds import person_bounds
from equivoc.systems.constraints import answer_system
from equivoc.systems.system import Question

VALUES = np.arange(1, 251)
LEVELS = {
    "one key, 100 levels": (100,),
    "one key, 10,000 levels": (10_000,),
    "three keys, 20 levels each": (20, 20, 20),
    "four keys, 8 levels each": (8, 8, 8, 8),
}
BARS = {1: 5.0, 3: 10.0, 4: 90.0}


def values_of(shape: str, people: int, rng: np.random.Generator) -> NDArray[np.int64]:
    drawn = {
        "uniform": lambda: rng.uniform(1, 251, people),
        "lognormal": lambda: np.exp(rng.normal(3.5, 0.8, people)),
        "heaped": lambda: 10 * rng.integers(1, 26, people),
        "mostly least": lambda: np.where(rng.random(people) < 0.9, 1, rng.uniform(1, 251, people)),
        "ascending": lambda: np.sort(rng.uniform(1, 251, people)),
    }[shape]()
    return np.clip(np.floor(drawn), 1, 250).astype(np.int64)


def keys_of(levels: tuple[int, ...], people: int, rng: np.random.Generator) -> NDArray[np.int64]:
    return np.column_stack(
        [
            np.sort(rng.integers(0, count, people)) if k == 0 else rng.integers(0, count, people)
            for k, count in enumerate(levels)
        ]
    )


def range_questions(
    keys: NDArray[np.int64],
    levels: tuple[int, ...],
    confidential: NDArray[np.int64],
    count: int,
    rng: np.random.Generator,
) -> list[Question]:
    asked: list[Question] = []
    while len(asked) < count:
        inside = np.ones(len(keys), dtype=bool)
        for k, size in enumerate(levels):
            first, last = np.sort(rng.integers(0, size, 2))
            inside &= (keys[:, k] >= first) & (keys[:, k] <= last)
        members = np.flatnonzero(inside)
        if len(members):
            total = float(confidential[members].sum())
            asked.append(Question("sum", members, total, statement=len(asked), text="SUM(value)"))
    return asked


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--quick", action="store_true")
    parser.add_argument("--shape", choices=["uniform", "lognormal", "heaped", "mostly least", "ascending"])
    parser.add_argument("--only", default="", help="only the keys that contain this")
    options = parser.parse_args()
    people, count = (500, 60) if options.quick else (10_000, 1_000)
    shapes = (
        [options.shape] if options.shape else ["uniform", "lognormal", "heaped", "mostly least", "ascending"]
    )
    missed = 0
    print(f"bounds of {people:,} people from {count:,} range sums, values 1 … 250")
    for name, levels in LEVELS.items():
        if options.only not in name:
            continue
        for shape in shapes:
            rng = np.random.default_rng(1)
            confidential = values_of(shape, people, rng)
            keys = keys_of(levels, people, rng)
            asked = range_questions(keys, levels, confidential, count, rng)
            start, processor = perf_counter(), process_time()
            system = answer_system(asked, values=VALUES, people=people, truth=confidential)
            read = perf_counter() - start
            _, first = np.unique(system.atoms.of_person, return_index=True)
            orders = [keys[first, k] for k in range(len(levels))]
            found = person_bounds(system, orders=orders)
            seconds, processor = perf_counter() - start, process_time() - processor
            of = system.atoms.of_person
            step = confidential - 1
            assert np.all((found.low[of] <= step) & (step <= found.high[of]))
            narrowed = np.mean((found.low[of] > 0) | (found.high[of] < system.grid.steps))
            fixed = np.mean(found.low[of] == found.high[of])
            methods = Counter(found.method[atom] for atom in of)
            bar = BARS[len(levels)]
            missed += seconds > bar
            print(
                f"  {name:27} {shape:13} {seconds:7.2f} s of {bar:.0f} "
                f"(processor {processor:.1f}, reading {read:.2f}): "
                f"{'met' if seconds <= bar else 'MISSED'}; atoms {len(system.atoms):6,}; narrowed {narrowed:6.1%}, "
                f"fixed {fixed:6.1%}, exact {found.exact[of].mean():6.1%}; "
                + ", ".join(f"{method} {number:,}" for method, number in methods.most_common()),
                flush=True,
            )
    return 1 if missed and not options.quick else 0


if __name__ == "__main__":
    sys.exit(main())
