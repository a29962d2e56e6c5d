"""The noise intruder at the paper's size: all 64 subsets of 6 keys, against the pairwise product in NumPy.

Run `python benchmarks/noise_intruder.py`. Seconds depend on the machine; the ratio is taken within one run.
"""

from collections.abc import Callable, Iterator
from functools import partial
from itertools import combinations
from time import perf_counter

import numpy as np
import numpy.typing as npt

from equivoc.channels.rank_noise import amplitude, draw, released_size, transition
from equivoc.linkage.coded_file import CodedFile
from equivoc.linkage.key_linkage import sweep

RECORDS = 2_500
KEY_SIZES = (69, 2, 16, 18, 25, 177)
VALUES = 25
BAR = 20
BAR_PERCENT = 20


def make_original(rng: np.random.Generator) -> npt.NDArray[np.int64]:
    """Keys and the confidential value, correlated through a common factor and uneven, as in a census."""
    common = rng.normal(size=RECORDS)
    columns = []
    for size in (*KEY_SIZES, VALUES):
        level = 1 / (1 + np.exp(-1.2 * (0.4 * common + rng.normal(size=RECORDS))))
        columns.append((level ** (3 if size > 100 else 1) * size).astype(np.int64))
    return np.stack(columns, axis=1)


def make_noisy(original: npt.NDArray[np.int64], percent: float, rng: np.random.Generator) -> CodedFile:
    amplitudes = [amplitude(percent, size) for size in (*KEY_SIZES, VALUES)]
    columns = [
        draw(original[:, key], size, most, edge="clip", rng=rng)
        for key, (size, most) in enumerate(zip((*KEY_SIZES, VALUES), amplitudes, strict=True))
    ]
    transitions = [
        transition(size, most, edge="clip") for size, most in zip(KEY_SIZES, amplitudes[:-1], strict=True)
    ]
    confidential_size = released_size(VALUES, amplitudes[-1], edge="clip")
    return CodedFile(np.stack(columns[:-1], axis=1), transitions, columns[-1], confidential_size)


def pairwise(keys: npt.NDArray[np.int64], noisy: CodedFile) -> Iterator[npt.NDArray[np.float64]]:
    """For every subset, the classes × records matrix of products, then its sums per confidential rank."""
    one_hot = np.eye(noisy.confidential_size)[noisy.confidential]
    likelihoods = [noise[:, codes] for noise, codes in zip(noisy.evidence, noisy.keys.T, strict=True)]
    for size in range(keys.shape[1] + 1):
        for known in combinations(range(keys.shape[1]), size):
            classes = np.unique(keys[:, known], axis=0) if known else np.empty((1, 0), dtype=np.int64)
            product = np.ones((len(classes), len(keys)))
            for column, key in enumerate(known):
                product *= likelihoods[key][classes[:, column]]
            weights = product @ one_hot
            yield weights / weights.sum(axis=1, keepdims=True)


def run_sweep(keys: npt.NDArray[np.int64], noisy: CodedFile) -> int:
    return sum(len(found.classes) for found in sweep(keys, noisy))


def best_of(runs: int, work: Callable[[], object]) -> float:
    seconds = []
    for _ in range(runs):
        begin = perf_counter()
        work()
        seconds.append(perf_counter() - begin)
    return min(seconds)


def main() -> None:
    rng = np.random.default_rng(0)
    original = make_original(rng)
    keys = original[:, :-1]
    files = {percent: make_noisy(original, percent, rng) for percent in (5, 20, 60, 100)}
    classes = run_sweep(keys, files[5])  # Also loads or compiles the kernel.
    subsets = 2 ** len(KEY_SIZES)
    print(f"{RECORDS:,} records, all {subsets} subsets of {len(KEY_SIZES)} keys, {classes:,} classes")
    seconds = {}
    for percent, noisy in files.items():
        seconds[percent] = best_of(5, partial(run_sweep, keys, noisy))
        print(f"  sweep at {percent:3} % noise: {seconds[percent]:.3f} s")
    noisy = files[BAR_PERCENT]
    worst = max(
        np.abs(found.weights - full).max()
        for found, full in zip(sweep(keys, noisy), pairwise(keys, noisy), strict=True)
    )
    full_seconds = best_of(2, lambda: sum(1 for _ in pairwise(keys, noisy)))
    ratio = full_seconds / seconds[BAR_PERCENT]
    print(f"  full pairwise product at {BAR_PERCENT} %: {full_seconds:.2f} s; largest difference {worst:.1e}")
    print(f"  {ratio:.0f} times faster; the bar is {BAR}: {'met' if ratio >= BAR else 'MISSED'}")


if __name__ == "__main__":
    main()
