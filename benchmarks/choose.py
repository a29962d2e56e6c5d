"""choose over noise of 1 to 100 %: how many assessments it takes, and seconds.

    .venv/bin/python benchmarks/choose.py [--limit 0.66]

The shipped people, three keys known, the strongest intruder. Bar: at most 10 assessments. Prints the same for other
techniques with their usual ranges, as a comparison.
"""

from __future__ import annotations

import argparse
import time

import equivoc as eq

BAR = 10
KNOWN = ["age", "sex", "education"]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--limit", type=float, default=0.66, help="the largest share of right guesses")
    require = [f"true_hit(500) <= {parser.parse_args().limit}"]
    people = eq.datasets.people("cps_hourly_workers")
    eq.assess(people, eq.Sampling(0.1), known=["sex"], require=require).meets  # noqa: B018 - loads the kernels
    print(f"{'technique':20} {'chosen':>12} {'assessments':>12} {'seconds':>8}")
    counted = {}
    for technique in (
        eq.NoiseAddition,
        eq.Sampling,
        eq.Swapping,
        eq.GeometricNoise,
        eq.TopBottomCoding,
        eq.Rounding,
    ):
        begin = time.perf_counter()
        best = eq.choose(people, technique, require=require, known=KNOWN)
        seconds = time.perf_counter() - begin
        counted[technique.name] = best.assessments
        print(f"{technique.name:20} {best.value!s:>12} {best.assessments:12} {seconds:8.1f}")
    found = counted["noise-addition"]
    print(
        f"noise addition, 1 to 100 %: {found} assessments, bar {BAR}: {'met' if found <= BAR else 'NOT MET'}"
    )


if __name__ == "__main__":
    main()
