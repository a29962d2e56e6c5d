"""Malformed inputs for every command: each must give an error of one sentence and exit code 2, and write nothing.

For each input: one line on standard error that begins with "equivoc: ", exit code 2, no traceback, nothing printed, the
working folder unchanged (names, kinds, modes, sizes, times, hashes), at most 2 GiB and 30 seconds. Inputs with the
expectation "either" may also be accepted. A few valid ones (kind "base") must be accepted: this shows that the others
are rejected because of their fault. Exits 1 if a case fails.

    python benchmarks/bad_input.py                     # all
    python benchmarks/bad_input.py --list              # their names
    python benchmarks/bad_input.py --only study/plans  # those whose name begins with this, or matches: "*/files/fifo"
    python benchmarks/bad_input.py --sample 80         # an even sample of 80, without those that need their own process
"""

from __future__ import annotations

import argparse
import sys
import time
from collections import Counter
from collections.abc import Sequence
from fnmatch import fnmatchcase

from bad_input_cases import all_cases
from bad_input_cases.case import Case
from bad_input_cases.running import Outcome, run_all


def main() -> int:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--only", help="the cases whose name begins with this, or matches it as a pattern")
    parser.add_argument("--list", action="store_true", help="print the names of the cases and exit")
    parser.add_argument(
        "--sample",
        type=int,
        help="run only this many cases, an even sample of those that need no process of their own",
    )
    parser.add_argument("--at-once", type=int, default=2, help="cases that run at the same time")
    parser.add_argument("--show", action="store_true", help="print the message of each case")
    given = parser.parse_args()
    cases = _chosen(all_cases(), given.only, given.sample)
    if given.list:
        for case in cases:
            print(f"{case.name}  ({case.expected}{', process of its own' * case.real})")
        return 0
    if not cases:
        print("no case has such a name; --list prints all of them.", file=sys.stderr)
        return 1
    start = time.perf_counter()
    outcomes = []
    for outcome in run_all(cases, at_once=given.at_once):
        outcomes.append(outcome)
        if given.show:
            print(f"{outcome.case.name} [{outcome.seconds:.1f} s]: {outcome.said!r}", flush=True)
        for kind, seen in outcome.faults:
            print(f"FAILED {outcome.case.name}: {kind}: {seen}", flush=True)
    _print(outcomes, time.perf_counter() - start)
    return any(outcome.faults for outcome in outcomes)


def _chosen(cases: list[Case], only: str | None, sample: int | None) -> list[Case]:
    if only is not None:
        cases = [case for case in cases if case.name.startswith(only) or fnmatchcase(case.name, only)]
    if sample is not None:
        quick = [case for case in cases if case.expected == "refused" and not case.real]
        cases = [quick[i * len(quick) // sample] for i in range(min(sample, len(quick)))]
    return cases


def _print(outcomes: Sequence[Outcome], seconds: float) -> None:
    failed = [outcome for outcome in outcomes if outcome.faults]
    kinds = sorted({kind for outcome in failed for kind, _ in outcome.faults})
    print(f"\n{'command':<12}{'cases':>8}{'malformed':>11}{'skipped':>9}{'failed':>8}   kinds of failure")
    for command in sorted({outcome.case.command for outcome in outcomes}):
        of_it = [outcome for outcome in outcomes if outcome.case.command == command]
        counts = Counter(kind for outcome in of_it for kind in {kind for kind, _ in outcome.faults})
        print(
            _row(
                command or "(none)",
                of_it,
                ", ".join(f"{kind} {counts[kind]}" for kind in kinds if counts[kind]),
            )
        )
    print(_row("all", outcomes, ""))
    own = sum(outcome.case.real for outcome in outcomes)
    slowest = max(outcomes, key=lambda outcome: outcome.seconds)
    print(
        f"\n{len(outcomes):,} cases, {own} of them in processes of their own, in {seconds:.0f} s; "
        f"the slowest took {slowest.seconds:.1f} s ({slowest.case.name})."
    )


def _row(name: str, outcomes: Sequence[Outcome], kinds: str) -> str:
    malformed = sum(outcome.case.expected == "refused" for outcome in outcomes)
    skipped = sum(outcome.skipped for outcome in outcomes)
    failed = sum(bool(outcome.faults) for outcome in outcomes)
    return f"{name:<12}{len(outcomes):>8,}{malformed:>11,}{skipped:>9}{failed:>8}   {kinds}".rstrip()


if __name__ == "__main__":
    sys.exit(main())
