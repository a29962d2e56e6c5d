"""The stronger intruders: what the informed, register and learned ones cost, in seconds and memory.

    .venv/bin/python benchmarks/intruders.py [--only assessments,informed,register,learned]

Assessments: of the shipped 2,500 people with six keys known, each technique: the informed intruder beside the
paper's, the strongest, and truth figures beside an assessment without them. Informed: her linkage beside the paper's
(`key_linkage`) for the shipped 2,500 people, six keys and three, for each way of changing keys; the bar is the
paper's time plus 0.3 s. Register: 10,000 people, six keys, all changed. Learned: a forest for 2,500 records × 6 keys
× 46 values, a chain for 1,000,000 × 4 × 25. Times are the best of two, after a call that compiles; memory is the
largest of the whole process so far.
"""

from __future__ import annotations

import argparse
import resource
import time
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np

import equivoc as eq
from equivoc.channels.rank_noise import amplitude, draw, transition
from equivoc.datasets import people as shipped
from equivoc.learning.learned import learn
from equivoc.linkage.coded_file import CodedFile, Unchanged
from equivoc.linkage.informed_linkage import informed_linkage
from equivoc.linkage.key_linkage import linkage
from equivoc.linkage.register import register_linkage

SECONDS_MORE = 0.3
TECHNIQUES = {
    "noise 20 %": eq.NoiseAddition(percent=20),
    "Mondrian 5": eq.Generalisation(k=5),
    "suppression 5": eq.Suppression(k=5),
    "PRAM 0.8 of all keys": eq.PRAM(keep=0.8),
}


def timed(work: Callable[[], Any], repeats: int = 2) -> tuple[float, float, Any]:
    """Seconds on the clock, seconds of the processor, the result; of the fastest repeat."""
    taken = []
    for _ in range(repeats):
        begin, begin_of_work = time.perf_counter(), time.process_time()
        result = work()
        taken.append((time.perf_counter() - begin, time.process_time() - begin_of_work))
    return *min(taken), result


def gigabytes() -> float:
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 2**20


def coded(people: Any, release: Any) -> tuple[np.ndarray, CodedFile, CodedFile]:
    """The true keys, and the released file with the paper's evidence and with the informed intruder's."""
    true = np.stack([people.key_codes(name) for name in people.keys], axis=1).astype(np.int64)
    columns = [release.keys[name] for name in people.keys]
    codes = np.stack([np.asarray(column.codes, dtype=np.int64) for column in columns], axis=1)
    paper: list[Any] = []
    informed: list[Any] = []
    for key, column in enumerate(columns):
        if column.channel is None:
            paper.append(Unchanged(len(column.labels)))
            informed.append(paper[-1])
            continue
        joint = column.channel.T * np.bincount(true[:, key], minlength=column.channel.shape[1])[:, None]
        total = joint.sum(axis=0)
        paper.append(column.channel.T)
        informed.append(np.divide(joint, total, out=np.zeros_like(joint), where=total > 0))
    symbols = np.asarray(release.confidential.codes, dtype=np.int64)
    width = len(release.confidential.labels)
    return true, CodedFile(codes, paper, symbols, width), CodedFile(codes, informed, symbols, width)


def informed() -> Iterator[str]:
    people = shipped("cps_hourly_workers")
    three = [people.keys.index(name) for name in ("age", "sex", "education")]
    for name, technique in TECHNIQUES.items():
        true, paper, own = coded(people, technique.release(people, 0))
        for known in (list(range(len(people.keys))), three):
            classes, sizes = np.unique(true[:, known], axis=0, return_counts=True)
            informed_linkage(classes[:1], sizes[:1], own, known=known)
            clock, work, _ = timed(lambda c=classes, p=paper, k=known: linkage(c, p, known=k))
            ours, own_work, _ = timed(
                lambda c=classes, s=sizes, o=own, k=known: informed_linkage(c, s, o, known=k)
            )
            yield (
                f"| informed, {name}, {len(known)} keys, {len(classes):,} classes | {ours:.3f} s (processor "
                f"{own_work:.3f}) | paper {clock:.3f} s (processor {work:.3f}) | {ours / clock:.1f} × | "
                f"≤ paper + {SECONDS_MORE} s | {'yes' if ours <= clock + SECONDS_MORE else 'no'} |"
            )


def register() -> Iterator[str]:
    rng = np.random.default_rng(0)
    levels = [60, 2, 16, 7, 50, 20]
    true = np.stack([np.minimum(rng.geometric(min(2.5 / n, 0.6), 10_000) - 1, n - 1) for n in levels], axis=1)
    kept = [np.full((n, n), 0.2 / (n - 1)) + np.eye(n) * (0.8 - 0.2 / (n - 1)) for n in levels]
    noisy = [transition(n, amplitude(20, n), edge="clip") for n in levels]
    by_noise = [draw(true[:, k], n, amplitude(20, n), edge="clip", rng=rng) for k, n in enumerate(levels)]
    by_pram = [
        np.where(rng.random(10_000) < 0.8, true[:, k], (true[:, k] + rng.integers(1, n, 10_000)) % n)
        for k, n in enumerate(levels)
    ]
    classes, sizes = np.unique(true, axis=0, return_counts=True)
    values = rng.integers(0, 46, 10_000)
    for name, keys, tables in (("PRAM 0.8", by_pram, kept), ("noise 20 %", by_noise, noisy)):
        released = CodedFile(np.stack(keys, axis=1), tables, values, 46)
        clock, work, found = timed(
            lambda r=released: register_linkage(classes, sizes, r, known=range(6)), repeats=1
        )
        met = clock <= 30 and gigabytes() <= 2
        yield (
            f"| register, 10,000 people, six keys, {name}, {len(found.errors)} steps | {clock:.1f} s (processor "
            f"{work:.1f}), {gigabytes():.2f} GiB | | | ≤ 30 s; ≤ 2 GiB | {'yes' if met else 'no'} |"
        )


def learned() -> Iterator[str]:
    people = shipped("cps_hourly_workers")
    keys = np.stack([people.key_codes(name) for name in people.keys], axis=1).astype(np.int64)
    prior = np.bincount(people.codes, minlength=len(people.values)) / len(people)
    size = len(prior)
    likelihood = np.full((size, size), 0.5 / (size - 1)) + np.eye(size) * (0.5 - 0.5 / (size - 1))
    symbols = np.asarray(eq.PRAM(keep=0.5, on="confidential").release(people, 0).confidential.codes)
    clock, work, found = timed(lambda: learn(keys, symbols, likelihood, prior))
    yield (
        f"| learned, {len(keys):,} records × 6 keys × {size} values: {found.settings.model} | {clock:.1f} s (processor "
        f"{work:.1f}) | | | ≤ 4 s | {'yes' if clock <= 4 else 'no'} |"
    )
    rng = np.random.default_rng(0)
    million = rng.integers(0, [60, 2, 16, 25], size=(1_000_000, 4))
    centre = (million[:, 0] // 4 + 3 * million[:, 1] + million[:, 2] // 4) % 25
    true = np.clip(np.rint(rng.normal(centre, 3.0)), 0, 24).astype(np.int64)
    shown = np.where(rng.random(len(true)) < 0.5, true, (true + rng.integers(1, 25, len(true))) % 25)
    likelihood = np.full((25, 25), 0.5 / 24) + np.eye(25) * (0.5 - 0.5 / 24)
    prior = np.bincount(true, minlength=25) / len(true)
    clock, work, found = timed(lambda: learn(million, shown, likelihood, prior), repeats=1)
    met = clock <= 20 and gigabytes() <= 2
    yield (
        f"| learned, 1,000,000 records × 4 keys × 25 values: {found.settings.model} | {clock:.1f} s (processor "
        f"{work:.1f}), {gigabytes():.2f} GiB | | | ≤ 20 s; ≤ 2 GiB | {'yes' if met else 'no'} |"
    )


ALL_TECHNIQUES = [
    eq.Sampling(fraction=0.1),
    eq.QueryRestriction(size=8),
    eq.NoiseAddition(percent=20),
    eq.PRAM(keep=0.5, on="confidential"),
    eq.PRAM(keep=0.8),
    eq.Swapping(rate=0.3),
    eq.Microaggregation(size=3),
    eq.GeometricNoise(epsilon=1),
    eq.Rounding(base=500),
    eq.TopBottomCoding(high=3000),
    eq.Generalisation(k=5),
    eq.Suppression(k=5),
]


def assessments() -> Iterator[str]:
    people = shipped("cps_hourly_workers")
    for technique in ALL_TECHNIQUES:
        release = technique.release(people, 0)

        def assessed(intruder: str, of: Any = release) -> Any:
            result = eq.assess(people, of, intruder=intruder)
            return result, result.figures

        for intruder in ("paper", "informed"):
            assessed(intruder)  # compiles
        paper, _, _ = timed(lambda: assessed("paper"), repeats=3)
        informed, _, _ = timed(lambda: assessed("informed"), repeats=3)
        assessed("strongest")
        strongest, work, (result, _) = timed(lambda: assessed("strongest"), repeats=1)
        whole, _, _ = timed(lambda: assessed("informed")[0].summary, repeats=3)
        truth = min(truth_seconds(assessed("informed")[0]) for _ in range(3))
        yield (
            f"| {technique.notation}: informed beside paper | {informed:.3f} s | {paper:.3f} s | "
            f"{informed / paper:.1f} × | ≤ 2 × | {'yes' if informed <= 2 * paper else 'no'} |"
        )
        yield (
            f"| {technique.notation}: strongest ({result.intruder} of {len(result.choice.tried)}) | {strongest:.1f} s "
            f"(processor {work:.1f}) | | | ≤ 10 s | {'yes' if strongest <= 10 else 'no'} |"
        )
        yield (
            f"| {technique.notation}: with truth figures beside without | {whole:.3f} s | {whole - truth:.3f} s | "
            f"{whole / (whole - truth):.2f} × | ≤ 1.3 × | {'yes' if whole <= 1.3 * (whole - truth) else 'no'} |"
        )


def truth_seconds(result: Any) -> float:
    """Of an assessment whose figures are computed, how long the comparison with the truth takes."""
    begin = time.perf_counter()
    assert result.truth
    return time.perf_counter() - begin


PARTS = {"assessments": assessments, "informed": informed, "register": register, "learned": learned}


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--only", default=",".join(PARTS), help="parts to run, separated by commas")
    for part in parser.parse_args().only.split(","):
        for line in PARTS[part]():
            print(line, flush=True)


if __name__ == "__main__":
    main()
