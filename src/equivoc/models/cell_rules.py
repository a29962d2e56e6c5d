"""The rules by which a cell of a table of totals is sensitive: dominance, p % and pq.

All look at the contributions x_1 ≥ x_2 ≥ … ≥ 0 of one cell's respondents, T their total. They protect the largest
respondent from the second largest, who knows her own contribution. Source: A. Hundepool et al., Handbook on
Statistical Disclosure Control, the chapter on magnitude tables.

`dominance`, `p_percent` and `pq_rule` judge one cell; the other functions judge arrays of cells and say how much
protection a sensitive cell needs.
"""

from __future__ import annotations

from math import fsum, inf

import numpy as np
from numpy.typing import ArrayLike, NDArray

from equivoc.checks import checked_number, is_whole
from equivoc.errors import InputError

Floats = NDArray[np.float64]
Booleans = NDArray[np.bool_]


def dominance(contributions: ArrayLike, *, n: int = 1, k: float = 60) -> bool:
    """Is the cell sensitive: do its ``n`` largest contributions exceed ``k`` % of the total?

    x_1 + … + x_n > k/100 · T. A larger n and a smaller k are stricter.

    >>> dominance([50_000, 49_000, 1_000], n=1, k=90), dominance([50_000, 49_000, 1_000], n=2, k=90)
    (False, True)
    """
    n, k = checked_dominance(n, k)
    total, top = _one_cell(contributions)
    return bool(dominated_cells(total, top, n=min(n, top.shape[1]), k=k)[0])


def p_percent(contributions: ArrayLike, *, p: float) -> bool:
    """Is the cell sensitive: does the total give the largest contribution away to within ``p`` %?

    T − x_1 − x_2 < p/100 · x_1: the second largest respondent, who subtracts her own contribution from the total, comes
    closer than that to the largest. A larger p is stricter.

    >>> p_percent([52_000, 50_000, 8_000], p=10), p_percent([50_000, 49_000, 1_000], p=10)
    (False, True)
    """
    return pq_rule(contributions, p=p, q=100)


def pq_rule(contributions: ArrayLike, *, p: float, q: float) -> bool:
    """Is the cell sensitive for someone who knew the others' contributions to within ``q`` % before?

    q/100 · (T − x_1 − x_2) < p/100 · x_1: with the total she knows the largest to within ``p`` %. q = 100 is the p %
    rule; a smaller q and a larger p are stricter.

    >>> pq_rule([52_000, 50_000, 8_000], p=10, q=50), pq_rule([52_000, 50_000, 8_000], p=10, q=80)
    (True, False)
    """
    p, q = checked_p(p), checked_q(q)
    total, top = _one_cell(contributions)
    return bool(estimable_cells(total, top, p=p, q=q)[0])


def dominated_cells(
    total: Floats, top: Floats, *, n: int, k: float, protected: Floats | None = None
) -> Booleans:
    """Cells whose ``n`` largest contributions exceed ``k`` % of the total.

    ``top`` is cells × t with t ≥ n, each row descending. ``protected`` is the largest contribution that the rule
    protects, if it is not the largest of all (its respondent agreed to be published): it counts with the n − 1 largest
    others.

    >>> dominated_cells(np.array([100.0, 100.0]), np.array([[61.0, 20.0], [40.0, 30.0]]), n=1, k=60).tolist()
    [True, False]
    """
    return np.asarray(100 * _coalition(top, n, protected) > k * total)


def dominance_protection(
    total: Floats, top: Floats, *, n: int, k: float, protected: Floats | None = None
) -> Floats:
    """100/k · (x_1 + … + x_n) − T, at least 0: how far above T an intruder's upper bound of the total must lie."""
    return np.maximum(100 / k * _coalition(top, n, protected) - total, 0.0)


def estimable_cells(
    total: Floats, top: Floats, *, p: float, q: float = 100, protected: Floats | None = None
) -> Booleans:
    """Cells whose largest contribution the next largest respondent can estimate to within ``p`` %.

    ``top`` is cells × t with t ≥ 2, each row descending. ``protected`` as in `dominated_cells`: the intruder is then
    the largest respondent of all.

    >>> estimable_cells(np.array([110.0, 100.0]), np.array([[52.0, 50.0], [50.0, 49.0]]), p=10).tolist()
    [False, True]
    """
    target, rest = _target_and_rest(total, top, protected)
    return np.asarray(q * rest < p * target)


def estimation_protection(
    total: Floats, top: Floats, *, p: float, q: float = 100, protected: Floats | None = None
) -> Floats:
    """p/q · x_1 − (T − x_1 − x_2), at least 0: how far above T an intruder's upper bound of the total must lie."""
    target, rest = _target_and_rest(total, top, protected)
    return np.maximum(p / q * target - rest, 0.0)


def checked_dominance(n: object, k: object) -> tuple[int, float]:
    """The parameters of (n, k)-dominance; InputError if one is out of range."""
    if not is_whole(n) or n < 1:
        raise InputError(f"n is {n!r}; give a whole number of respondents, at least 1.")
    return int(n), checked_number("k", k, "a percentage between 0 and 100", lambda k: 0 < k < 100)


def checked_p(p: object) -> float:
    """The p of the p % and pq rules; InputError if it is out of range."""
    return checked_number("p", p, "a percentage above 0", lambda p: 0 < p < inf)


def checked_q(q: object) -> float:
    """The q of the pq rule; InputError if it is out of range."""
    return checked_number("q", q, "a percentage above 0 and at most 100", lambda q: 0 < q <= 100)


def _coalition(top: Floats, n: int, protected: Floats | None) -> Floats:
    """The protected contribution and the n − 1 largest others."""
    last = top[:, n - 1] if protected is None else np.minimum(top[:, n - 1], protected)
    return np.asarray(top[:, : n - 1].sum(axis=1) + last)


def _target_and_rest(total: Floats, top: Floats, protected: Floats | None) -> tuple[Floats, Floats]:
    """The protected contribution, and all but it and the largest other one."""
    target = top[:, 0] if protected is None else protected
    # If the target equals x_1, then x_2 is the largest other one, also if x_1 and x_2 are equal.
    other = np.where(target == top[:, 0], top[:, 1], top[:, 0])
    return target, np.maximum(total - target - other, 0.0)


def _one_cell(contributions: ArrayLike) -> tuple[Floats, Floats]:
    """One cell's total and its contributions, largest first; a zero is added to a single one."""
    try:
        values = np.asarray(contributions, dtype=np.float64)
    except (TypeError, ValueError):
        raise InputError(
            "contributions must be a list of numbers, one for each respondent of the cell."
        ) from None
    if values.ndim != 1 or values.size == 0:
        raise InputError(
            f"contributions has shape {values.shape}; give the values of one cell's respondents."
        )
    wrong = np.flatnonzero(~(np.isfinite(values) & (values >= 0)))
    if wrong.size:
        raise InputError(
            f"contribution {wrong[0]} (counting from 0) is {values[wrong[0]]:g}; "
            "these rules are for finite numbers, at least 0."
        )
    ordered = np.sort(values)[::-1]
    padded = np.pad(ordered, (0, max(2 - ordered.size, 0)))
    return np.array([fsum(ordered)]), padded[np.newaxis, :]
