"""Linkage of a released file with its original: 10⁵ × 10⁵ records, 6 keys, by each kind of matching.

Run `python benchmarks/released_file.py`. Each line is measured in its own process, to measure its peak memory. A full
table of pairs would have 10¹⁰ distances: 75 GiB. `--records` sets another size.
"""

import argparse
import json
import resource
import subprocess
import sys
from time import perf_counter

import numpy as np
import pandas as pd

import equivoc as eq

RECORDS = 100_000
SIZES = {"age": 69, "sex": 2, "education": 16, "industry": 18, "occupation": 25, "travel": 177}
WORDS = ("sex", "education", "industry", "occupation")
VALUES = 100
MOST_GIB = 2.0


def make_people(records: int, rng: np.random.Generator) -> pd.DataFrame:
    """Keys and the confidential value, correlated through a common factor and uneven, as in a census."""
    common = rng.normal(size=records)
    columns = {}
    for name, size in {**SIZES, "pay": VALUES}.items():
        level = 1 / (1 + np.exp(-1.2 * (0.4 * common + rng.normal(size=records))))
        columns[name] = (level ** (3 if size > 100 else 1) * size).astype(np.int64)
    frame = pd.DataFrame(columns)
    for name in WORDS:
        frame[name] = np.array([f"{name} {i:02d}" for i in range(SIZES[name])])[frame[name]]
    return frame


def mask(frame: pd.DataFrame, rng: np.random.Generator, *, generalised: bool) -> pd.DataFrame:
    """Noise on numbers, a tenth of two categories swapped; generalised: ages in ranges, a fifth of jobs suppressed."""
    masked = frame.copy()
    masked["age"] = np.clip(frame["age"] + rng.integers(-3, 4, len(frame)), 0, SIZES["age"] - 1)
    masked["travel"] = np.clip(frame["travel"] + rng.integers(-5, 6, len(frame)), 0, SIZES["travel"] - 1)
    for name in ("occupation", "industry"):
        moved = rng.random(len(frame)) < 0.1
        masked.loc[moved, name] = rng.permutation(frame[name].to_numpy())[moved]
    if generalised:
        masked["age"] = np.array([f"[{a // 5 * 5},{a // 5 * 5 + 5})" for a in range(SIZES["age"])])[
            masked["age"]
        ]
        masked.loc[rng.random(len(frame)) < 0.2, "occupation"] = "*"
    return masked.sample(frac=1, random_state=1)


def measure(records: int, matching: str, generalised: bool) -> dict[str, float]:
    """Seconds from the released frame to the linkage of all classes of all keys, and the peak memory of the process."""
    rng = np.random.default_rng(0)
    frame = make_people(records, rng)
    released = mask(frame, rng, generalised=generalised)
    people = eq.Microdata(frame, confidential="pay", keys=list(SIZES))
    technique = eq.ReleasedFile(released, matching=matching)
    small = eq.Microdata(frame.head(50), confidential="pay", keys=list(SIZES), domain=range(VALUES))
    eq.ReleasedFile(frame.head(50), matching=matching).release(small).posteriors(
        ["age"], intruder="paper"
    )  # loads the kernels
    begin = perf_counter()
    release = technique.release(people)
    read = perf_counter()
    post = release.posteriors(list(SIZES), intruder="paper")
    done = perf_counter()
    return {
        "read": read - begin,
        "seconds": done - read,
        "classes": len(post),
        "gib": resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 2**20,
    }


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--records", type=int, default=RECORDS)
    parser.add_argument("--one", nargs=2, help="measure one matching, plain or generalised, in this process")
    asked = parser.parse_args()
    if asked.one:
        matching, kind = asked.one
        print(json.dumps(measure(asked.records, matching, kind == "generalised")))
        return
    print(f"{asked.records:,} × {asked.records:,} records, {len(SIZES)} keys, {VALUES} values")
    for kind in ("plain", "generalised"):
        for matching in ("exact", "nearest", "probable"):
            words = [sys.executable, __file__, "--records", str(asked.records), "--one", matching, kind]
            told = json.loads(subprocess.run(words, check=True, capture_output=True, text=True).stdout)
            met = "met" if told["gib"] <= MOST_GIB else "MISSED"
            print(
                f"  {matching:8} {kind:11} {told['seconds']:6.1f} s (reading {told['read']:.1f} s), "
                f"{told['classes']:,} classes, {told['gib']:.2f} GiB; the bar is {MOST_GIB:g} GiB: {met}"
            )


if __name__ == "__main__":
    main()
