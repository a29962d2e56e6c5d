"""The measure on more posteriors than fit in memory at once: one block of rows after another."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from equivoc.errors import InputError
from equivoc.measure.area.estimated import largest_error
from equivoc.measure.curves import curves
from equivoc.measure.input.arguments import Floats, tolerances
from equivoc.measure.input.distribution import Distribution

KEPT = 8
"""Rows that are kept to check estimates."""


@dataclass(frozen=True, eq=False)
class BlockFigures:
    """H0, A, ε_max and hit rates of many posteriors, in the order of the blocks; one entry per row.

    Entropies are in bits, areas in bits times the values' unit. Smaller is riskier, except for hit rates.
    """

    h0: Floats
    area: Floats
    """Exact up to 256 values; beyond, certified to a tolerance or estimated."""
    eps_max: Floats
    estimated: NDArray[np.bool_]
    """Is the area an estimate?"""
    _windows: dict[float, tuple[Floats, Floats, Floats]] = field(repr=False)
    _sample: list[tuple[Distribution, float]] = field(repr=False)

    def __len__(self) -> int:
        return len(self.h0)

    def hit(self, eps: float) -> Floats:
        """V(ε) of every row, for one of the tolerances that were asked for beforehand. Larger is riskier."""
        return self.best_windows(eps)[0]

    def best_windows(self, eps: float) -> tuple[Floats, Floats, Floats]:
        """V(ε) of every row, and the lowest and highest value that the heaviest window covers."""
        if eps not in self._windows:
            known = ", ".join(f"{e:g}" for e in self._windows) or "none"
            raise InputError(f"eps is {eps}; the blocks were measured with eps {known}. Ask for it there.")
        return self._windows[eps]

    def check_estimates(self, rows: int = 3) -> float:
        """The largest relative error that the estimated areas of a few rows may have, by certified areas.

        At most KEPT rows can be checked: those were drawn at random when the blocks went by.
        """
        return largest_error(self._sample[:rows])


def measure_blocks(
    values: ArrayLike,
    blocks: Iterable[Any],
    *,
    eps: ArrayLike = (),
    counts: bool = False,
    tolerance: float | None = None,
    seed: int = 0,
) -> BlockFigures:
    """What ``curves`` says of every row of every block, where all blocks together would not fit in memory.

    Each of ``blocks`` is a matrix as ``curves`` takes it: a table or a scipy sparse array with one column per value. A
    block is asked for when the one before it is done, and let go afterwards; so a generator can make them as they are
    needed. Hit rates are computed for each of ``eps``. ``counts`` and ``tolerance`` are those of ``curves``.
    ``seed`` says which rows ``check_estimates`` will look at.

    >>> found = measure_blocks([77, 80, 107], ([[.5, p, .5 - p]] for p in (.5, 0)), eps=[5])
    >>> found.area.tolist(), found.hit(5).tolist()
    ([3.0, 30.0], [1.0, 0.5])
    """
    asked = tolerances("eps", eps).tolist() if np.size(eps) else []
    figures: list[tuple[NDArray[Any], ...]] = []
    rng = np.random.default_rng(seed)
    sample: list[
        tuple[float, tuple[Distribution, float]]
    ] = []  # each with a random number; the smallest stay
    for block in blocks:
        many = curves(values, block, counts=counts, tolerance=tolerance)
        windows = [column for e in asked for column in many.best_windows(e)]
        figures.append((many.h0, many.area, many.eps_max, many.estimated, *windows))
        sample += zip(
            np.sort(rng.random(int(many.estimated.sum()))).tolist(),
            many.sample_of_estimates(KEPT, rng),
            strict=False,
        )
        sample = sorted(sample, key=lambda numbered: numbered[0])[:KEPT]
    if not figures:
        raise InputError("blocks is empty; give at least one block of rows.")
    h0, area, eps_max, estimated, *rest = (np.concatenate(column) for column in zip(*figures, strict=True))
    found = {e: (rest[3 * k], rest[3 * k + 1], rest[3 * k + 2]) for k, e in enumerate(asked)}
    return BlockFigures(h0, area, eps_max, estimated, found, [one for _, one in sample])
