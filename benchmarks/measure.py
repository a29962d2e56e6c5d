"""How fast the measure is: ratios from one run, each beside its bar.

Repeat with (some minutes; use a quiet machine):

    python benchmarks/measure.py

    python benchmarks/measure.py --only sort,rows     # parts: sort plain growth jumps area rows
    python benchmarks/measure.py --quick              # small sizes, to see that the script works; ratios mean nothing

Times are the best of several repeats after a warm-up, on two cores. "×" above a bar of "≤" is slower than allowed,
below a bar of "≥" not fast enough. What is scaled up from a part says so in its line.
"""

from __future__ import annotations

import argparse
import contextlib
import math
import os
import platform
import statistics
import subprocess
import sys
import time
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

import numba
import numpy as np
from numba import njit

import equivoc as eq
from equivoc.measure.overtaking import overtaking_table
from equivoc.measure.prefix_kernels import least_costs
from equivoc.measure.turn_kernels import DOUBLES, INTEGERS
from equivoc.measure.window_kernels import reach, window_starts

SHARES_OF_RANGE = (1e-4, 1e-3, 1e-2, 1e-1)
THREADS = 2


@dataclass(frozen=True)
class Line:
    """One comparison: what was measured, against what, their ratio, and the bar it has to keep."""

    work: str
    measured: str
    against: str
    ratio: float
    bar: float
    at_most: bool

    @property
    def met(self) -> bool:
        return self.ratio <= self.bar if self.at_most else self.ratio >= self.bar

    def cells(self) -> list[str]:
        bar = f"{'≤' if self.at_most else '≥'} {self.bar:,g} ×"
        return [
            self.work,
            self.measured,
            self.against,
            f"{self.ratio:,.3g} ×" if self.ratio < 1000 else f"{self.ratio:,.0f} ×",
            bar,
            "yes" if self.met else "NO",
        ]


@dataclass(frozen=True)
class Sizes:
    """How large each part is."""

    sort: int = 1_000_000
    plain: int = 100_000
    plain_slice: int = 2_000
    growth: tuple[int, int] = (10_000, 1_000_000)
    jumps: int = 1_000
    jumps_sample: int = 300
    area: int = 100_000
    rows: int = 1_000_000
    rows_plain: int = 100_000


QUICK = Sizes(
    sort=20_000,
    plain=5_000,
    plain_slice=500,
    growth=(2_000, 20_000),
    jumps=300,
    jumps_sample=50,
    area=5_000,
    rows=20_000,
    rows_plain=5_000,
)


def seconds(work: Callable[[], object]) -> float:
    begin = time.perf_counter()
    work()
    return time.perf_counter() - begin


def best(work: Callable[[], object], repeats: int = 5) -> float:
    """The least time of several repeats, after one call that is not counted."""
    work()
    return min(seconds(work) for _ in range(repeats))


def best_in_turns(works: Sequence[Callable[[], object]], rounds: int = 7) -> list[float]:
    """The least time of each, after one call that is not counted. They take turns, twice in a row each, so that what
    else goes on in the machine meets all of them."""
    for work in works:
        work()
    return [
        min(times)
        for times in zip(*([min(seconds(w), seconds(w)) for w in works] for _ in range(rounds)), strict=True)
    ]


def shown(t: float) -> str:
    for unit, size in (("s", 1.0), ("ms", 1e-3), ("µs", 1e-6)):
        if t >= size:
            return f"{t / size:,.3g} {unit}" if t < 1000 else f"{t:,.0f} s"
    return f"{t * 1e9:,.3g} ns"


def posterior(n: int, seed: int = 0) -> tuple[np.ndarray, np.ndarray]:
    """n distinct random values in random order, with random probabilities."""
    rng = np.random.default_rng(seed)
    values = rng.random(n)
    while len(np.unique(values)) < n:
        values = rng.random(n)
    p = rng.random(n)
    return values, p / p.sum()


def ascending(values: np.ndarray, p: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    order = np.argsort(values)
    return values[order], p[order]


# --- sort: entropy_at against np.sort -----------------------------------------------------------------------------


def against_sort(sizes: Sizes) -> Iterator[Line]:
    shuffled = posterior(sizes.sort)
    reach = float(np.ptp(shuffled[0]))
    inputs = {"ascending": ascending(*shuffled), "shuffled": shuffled}
    works: list[Callable[[], object]] = [lambda: np.sort(shuffled[0])]
    works += [
        partial(eq.entropy_at, *given, share * reach)
        for given in inputs.values()
        for share in SHARES_OF_RANGE
    ]
    sort, *ours = best_in_turns(works)
    for place, name in enumerate(inputs):
        times = ours[place * len(SHARES_OF_RANGE) :][: len(SHARES_OF_RANGE)]
        work = f"entropy_at, {sizes.sort:,} values, {name}"
        versus = f"np.sort, shuffled: {shown(sort)}"
        middle, worst = statistics.median(times), max(times)
        yield Line(f"{work}: median over 4 ε", shown(middle), versus, middle / sort, 5, True)
        yield Line(f"{work}: worst of 4 ε", shown(worst), versus, worst / sort, 8, True)


# --- plain: entropy_at against the plain recurrence ---------------------------------------------------------------


@njit(nogil=True)
def phi(q):
    return -q * math.log(q) if q > 0.0 else 0.0


@njit(nogil=True)
def plain_recurrence(cum, first, cost, begin, end):
    """D(i) for begin ≤ i < end, by trying every start; ``cost`` holds D before ``begin``."""
    for i in range(begin, end):
        least = np.inf
        for j in range(first[i], i):
            least = min(least, cost[j] + phi(cum[i] - cum[j]))
        cost[i] = least


def against_plain(sizes: Sizes) -> Iterator[Line]:
    n = sizes.plain
    x, p = ascending(*posterior(n))
    eps = 0.1 * float(np.ptp(x))
    ours = best(lambda: eq.entropy_at(x, p, eps))
    cum = np.concatenate(([0.0], np.cumsum(p)))
    first = window_starts(x, eps)
    # D where an optimal partition may have a boundary: enough for the plain recurrence to begin in the middle.
    limit = reach(x[0], x[-1], eps)
    doubles, integers = np.empty((DOUBLES, n + 2)), np.empty((INTEGERS, n + 2), np.int32)
    starts, ends, _, _, _, start_cost, end_cost, _, _ = least_costs(
        cum, x, x, limit, overtaking_table(), n, True, doubles, integers
    )
    cost = np.full(n + 1, np.inf)
    cost[starts] = start_cost[: len(starts)]
    cost[ends] = np.minimum(cost[ends], end_cost[: len(ends)])
    true = cost[n]
    begin = n + 1 - sizes.plain_slice
    part = best(lambda: plain_recurrence(cum, first, cost, begin, n + 1), 3)
    if not np.isclose(cost[n], true, rtol=0, atol=1e-11):
        raise SystemExit("The plain recurrence and entropy_at disagree.")
    pairs = np.arange(n + 1) - first
    plain = part * float(pairs.sum()) / float(pairs[begin:].sum())
    yield Line(
        f"entropy_at, {n:,} values, ε = 0.1 of the range, against the plain recurrence",
        shown(ours),
        f"{shown(plain)} (the last {sizes.plain_slice:,} boundaries, {shown(part)}, scaled by pairs)",
        plain / ours,
        1000,
        False,
    )


# --- growth: time per value ---------------------------------------------------------------------------------------


def growth(sizes: Sizes) -> Iterator[Line]:
    small, large = sizes.growth
    for name in ("ascending", "shuffled"):
        ratios = []
        for share in SHARES_OF_RANGE:
            per_value = []
            for n, repeats in ((small, 101), (large, 7)):
                x, p = posterior(n)
                if name == "ascending":
                    x, p = ascending(x, p)
                eps = share * float(np.ptp(x))
                eq.entropy_at(x, p, eps)
                times = [seconds(lambda x=x, p=p, eps=eps: eq.entropy_at(x, p, eps)) for _ in range(repeats)]
                per_value.append(statistics.median(times) / n)
            ratios.append((per_value[1] / per_value[0], per_value))
        ratio, (before, after) = max(ratios)
        yield Line(
            f"entropy_at, {name}: time per value from n = {small:,} to {large:,}, worst of 4 ε",
            f"{after * 1e9:.3g} ns per value",
            f"{before * 1e9:.3g} ns per value",
            ratio,
            2,
            True,
        )


# --- jumps: the exact curve against every break point -------------------------------------------------------------


def every_jump(sizes: Sizes) -> Iterator[Line]:
    n = sizes.jumps
    x, p = posterior(n)
    ours = best(lambda: eq.curve(x, p), 3)
    rising = np.sort(x)
    differences = np.sort((rising[None, :] - rising[:, None])[np.triu_indices(n, 1)])
    chosen = differences[np.linspace(0, len(differences) - 1, sizes.jumps_sample).astype(int)].tolist()
    part = best(lambda: [eq.entropy_at(x, p, e) for e in chosen], 3)
    everything = part / len(chosen) * len(differences)
    yield Line(
        f"curve, exact, {n:,} random values, against entropy_at at all {len(differences):,} break points",
        f"{shown(ours)}, {len(eq.curve(x, p).epsilons) - 1:,} jumps",
        f"{shown(everything)} ({len(chosen)} of them, evenly spread, {shown(part)}, scaled)",
        everything / ours,
        8,
        False,
    )


# --- area: the certified area, time and memory --------------------------------------------------------------------


def certified_area(sizes: Sizes) -> Iterator[Line]:
    n = sizes.area
    x, p = posterior(n)
    eps = 0.01 * float(np.ptp(x))
    for name, given in (("shuffled", (x, p)), ("ascending", ascending(x, p))):
        one, ours = best_in_turns(
            [partial(eq.entropy_at, *given, eps), partial(eq.curve, *given, tolerance=1e-3)], rounds=5
        )
        yield Line(
            f"curve(tolerance=1e-3), {n:,} {name} values, against one entropy_at at ε = 1 % of the range",
            shown(ours),
            shown(one),
            ours / one,
            300,
            True,
        )
    peaks = [_peak_in_a_fresh_process(n, call=call) for call in (True, False)]
    taken, held = peaks[0] - peaks[1], x.nbytes + p.nbytes
    yield Line(
        f"curve(tolerance=1e-3), {n:,} values: peak memory against the input",
        f"{taken / 1e6:.3g} MB more than the same process without the call",
        f"{held / 1e6:.3g} MB of values and probabilities",
        taken / held,
        50,
        True,
    )


def _peak_in_a_fresh_process(n: int, *, call: bool) -> float:
    command = [sys.executable, __file__, "--peak", str(n), *(["--call"] if call else [])]
    return float(subprocess.run(command, check=True, capture_output=True, text=True).stdout)


def report_peak(n: int, *, call: bool) -> None:
    """Print this process's peak resident memory in bytes, with or without the call that is asked about."""
    x, p = posterior(n)
    warm = posterior(2_000, seed=1)
    eq.curve(*warm, tolerance=1e-3)  # loads the kernels and starts what is started once
    _forget_peak()
    if call:
        eq.curve(x, p, tolerance=1e-3)
    print(_peak())


def _forget_peak() -> None:
    with contextlib.suppress(OSError):  # else what the warm-up took stays in, for both processes alike
        Path("/proc/self/clear_refs").write_text("5")


def _peak() -> float:
    # Linux hands a parent's getrusage peak on to its children, so ask for this process's own where we can.
    status = Path("/proc/self/status")
    if status.exists():
        found = [line.split()[1] for line in status.read_text().splitlines() if line.startswith("VmHWM")]
        if found:
            return float(found[0]) * 1024
    import resource

    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    return float(peak) * (1 if sys.platform == "darwin" else 1024)


# --- rows: many posteriors ----------------------------------------------------------------------------------------


@njit(nogil=True)
def plain_rows(rows, starts, steps, h0, area, entropies):
    """Row by row: φ of all intervals once, then the plain recurrence for every ε but the last, where H is 0."""
    n = rows.shape[1]
    cum, cost = np.zeros(n + 1), np.zeros(n + 1)
    terms = np.zeros((n + 1, n + 1))
    per_nat = 1.0 / np.log(2.0)
    for r in range(len(rows)):
        total = 0.0
        for i in range(n):
            total += rows[r, i]
        for i in range(n):
            cum[i + 1] = cum[i] + rows[r, i] / total
        for i in range(1, n + 1):
            for j in range(i):
                terms[i, j] = phi(cum[i] - cum[j]) * per_nat
        area[r] = 0.0
        for e in range(len(starts)):
            for i in range(1, n + 1):
                least = np.inf
                for j in range(starts[e, i - 1], i):
                    least = min(least, cost[j] + terms[i, j])
                cost[i] = least
            entropies[r, e] = cost[n]
            area[r] += cost[n] * steps[e]
        h0[r] = entropies[r, 0]


def _plain_in_threads(rows: np.ndarray, starts: np.ndarray, steps: np.ndarray) -> np.ndarray:
    h0, area = np.empty(len(rows)), np.empty(len(rows))
    entropies = np.empty((len(rows), len(starts)))
    half = -(-len(rows) // THREADS)
    parts = [slice(begin, begin + half) for begin in range(0, len(rows), half)]
    with ThreadPoolExecutor(THREADS) as pool:
        for done in [
            pool.submit(plain_rows, rows[t], starts, steps, h0[t], area[t], entropies[t]) for t in parts
        ]:
            done.result()
    return area


def many_rows(sizes: Sizes) -> Iterator[Line]:
    n = 25
    grid = np.arange(1, n + 1) * 10.0
    rng = np.random.default_rng(0)
    counts = rng.integers(1, 200, (sizes.rows, n))
    floats = rng.random((sizes.rows, n))
    floats /= floats.sum(axis=1, keepdims=True)
    starts = np.stack([window_starts(grid, e)[1:] for e in grid[:-1] - grid[0]])
    steps = np.diff(grid)
    some = {"probabilities": floats[: sizes.rows_plain], "counts": counts[: sizes.rows_plain].astype(float)}
    whole: dict[str, tuple[Any, bool, float]] = {
        "probabilities": (floats, False, 1.7),
        "counts": (counts, True, 2.5),
    }

    def figures(matrix: Any, is_counts: bool) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        many = eq.curves(grid, matrix, counts=is_counts)
        return many.h0, many.area, many.eps_max

    for name, (matrix, is_counts, bar) in whole.items():
        part = some[name]
        plain_area = _plain_in_threads(part, starts, steps)
        if not np.allclose(figures(matrix[: len(part)], is_counts)[1], plain_area, rtol=1e-9):
            raise SystemExit("The plain loop and curves disagree.")
        plain = best(lambda part=part: _plain_in_threads(part, starts, steps), 3) / len(part)
        versus = f"{plain * 1e9:,.0f} ns per row ({len(part):,} rows, scaled)"
        ours = best(lambda m=matrix, c=is_counts: figures(m, c), 3) / len(matrix)
        work = f"curves, {sizes.rows:,} rows × {n}, all {n} ε, 2 threads, {name}"
        yield Line(f"{work}: H0, A, ε_max", f"{ours * 1e9:,.0f} ns per row", versus, plain / ours, bar, False)
        table = best(lambda m=matrix, c=is_counts: eq.curves(grid, m, counts=c).entropies, 3) / len(matrix)
        measured = f"{table * 1e9:,.0f} ns per row"
        yield Line(f"{work}: the table of H(ε)", measured, versus, plain / table, bar, False)


# --- the run ------------------------------------------------------------------------------------------------------

PARTS: dict[str, Callable[[Sizes], Iterator[Line]]] = {
    "sort": against_sort,
    "plain": against_plain,
    "growth": growth,
    "jumps": every_jump,
    "area": certified_area,
    "rows": many_rows,
}


def machine() -> str:
    model = platform.processor() or platform.machine()
    info = Path("/proc/cpuinfo")
    if info.exists():
        names = [
            l.split(":", 1)[1].strip() for l in info.read_text().splitlines() if l.startswith("model name")
        ]
        model = names[0] if names else model
    return (
        f"{model}, {_use_two_cores()} cores used; {platform.system()}, Python {platform.python_version()}, "
        f"NumPy {np.__version__}, Numba {numba.__version__}, equivoc {eq.__version__}"
    )


def _use_two_cores() -> int:
    """Keep this process and its children to two cores, where the system lets us; how many there are to use."""
    if not hasattr(os, "sched_setaffinity"):
        return os.cpu_count() or 1
    os.sched_setaffinity(0, sorted(os.sched_getaffinity(0))[:THREADS])
    return len(os.sched_getaffinity(0))


def print_table(lines: list[Line], *, judged: bool) -> None:
    head = ["work", "measured", "against", "ratio", "bar", "met"]
    if not judged:
        head.remove("met")
    rows = [head, *(line.cells()[: len(head)] for line in lines)]
    widths = [max(len(row[c]) for row in rows) for c in range(len(head))]
    for number, row in enumerate(rows):
        print("| " + " | ".join(cell.ljust(w) for cell, w in zip(row, widths, strict=True)) + " |")
        if number == 0:
            print("|" + "|".join("-" * (w + 2) for w in widths) + "|")


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--quick", action="store_true", help="small sizes; the ratios mean nothing")
    parser.add_argument("--only", default=",".join(PARTS), help="parts to run, separated by commas")
    parser.add_argument("--peak", type=int, help=argparse.SUPPRESS)
    parser.add_argument("--call", action="store_true", help=argparse.SUPPRESS)
    asked = parser.parse_args()
    if asked.peak:
        report_peak(asked.peak, call=asked.call)
        return
    unknown = set(asked.only.split(",")) - set(PARTS)
    if unknown:
        parser.error(f"no part called {', '.join(sorted(unknown))}; there are {', '.join(PARTS)}")
    print(machine())
    if asked.quick:
        print("Quick: small sizes, to see that the script works. The ratios mean nothing.")
    lines: list[Line] = []
    for part in asked.only.split(","):
        print(f"… {part}", file=sys.stderr, flush=True)
        lines += PARTS[part](QUICK if asked.quick else Sizes())
    print()
    print_table(lines, judged=not asked.quick)


if __name__ == "__main__":
    main()
