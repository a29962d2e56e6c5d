"""The rules by which a cell of a table of totals is sensitive: dominance, p % and pq.

All look at the contributions x_1 ≥ x_2 ≥ … ≥ 0 of one cell's respondents, T their total. They protect the largest
respondent from the second largest, who knows her own contribution. Source: A. Hundepool et al., Handbook on
Statistical Disclosure Control, the chapter on magnitude tables.
"""

from __future__ import annotations

from math import fsum, inf

import numpy as np
from numpy.typing import ArrayLike

from equivoc.arguments import checked_number, is_whole
from equivoc.errors import InputError


def dominance(contributions: ArrayLike, *, n: int = 1, k: float = 60) -> bool:
    """Is the cell sensitive: do its ``n`` largest contributions exceed ``k`` % of the total?

    x_1 + … + x_n > k/100 · T. A larger n and a smaller k are stricter.

    >>> dominance([50_000, 49_000, 1_000], n=1, k=90), dominance([50_000, 49_000, 1_000], n=2, k=90)
    (False, True)
    """
    if not is_whole(n) or n < 1:
        raise InputError(f"n is {n!r}; give a whole number of respondents, at least 1.")
    share = checked_number("k", k, "a percentage between 0 and 100", lambda k: 0 < k < 100)
    values = _largest_first(contributions)
    return 100 * fsum(values[:n]) > share * fsum(values)


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
    after = checked_number("p", p, "a percentage above 0", lambda p: 0 < p < inf)
    before = checked_number("q", q, "a percentage above 0 and at most 100", lambda q: 0 < q <= 100)
    values = _largest_first(contributions)
    return before * fsum(values[2:]) < after * values[0]


def _largest_first(contributions: ArrayLike) -> list[float]:
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
    found: list[float] = np.sort(values)[::-1].tolist()
    return found
