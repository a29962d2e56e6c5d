"""SQL fuzzing: 20,000 mutated statements; each is refused in one sentence or answered as a plain reading does.

Prints how many were refused and answered, every fault, and the slowest statement; exits 1 if there is a fault.
"""

import argparse
import sys
from pathlib import Path
from time import perf_counter

sys.path.insert(0, str(Path(__file__).parents[1]))

from tests.queries.statements.agreement import refused_or_right
from tests.queries.statements.mutations import all_mutated
from tests.queries.statements.workforce import workforce


def main() -> int:
    arguments = argparse.ArgumentParser(description=__doc__)
    arguments.add_argument("--count", type=int, default=20_000)
    arguments.add_argument("--seed", type=int, default=1)
    chosen = arguments.parse_args()
    work = workforce()
    answered, faults, slowest = 0, 0, (0.0, "")
    start = perf_counter()
    for text in all_mutated(chosen.count, chosen.seed):
        began = perf_counter()
        try:
            answered += refused_or_right(work, text)
        except Exception as fault:
            faults += 1
            print(f"FAULT {type(fault).__name__}: {str(fault)[:300]}\n  {text[:500]!r}")
        slowest = max(slowest, (perf_counter() - began, text[:80]))
    print(f"{chosen.count:,} statements in {perf_counter() - start:.0f} s: {answered:,} answered, ", end="")
    print(f"{chosen.count - answered - faults:,} refused, {faults} faults")
    print(f"slowest {slowest[0]:.2f} s: {slowest[1]!r}")
    return 1 if faults else 0


if __name__ == "__main__":
    sys.exit(main())
