"""How often an attack succeeds against people in the data and against people who are not, with 95 % intervals."""

from __future__ import annotations

from dataclasses import dataclass
from math import sqrt

Interval = tuple[float, float]
NORMAL_95 = 1.959963984540054
"""The 97.5 % quantile of the standard normal distribution."""


def wilson(successes: float, attempts: int) -> Interval:
    """Wilson's 95 % interval of a success rate; (0, 1) without attempts.

    (p + z²/2n ± z·√(p(1−p)/n + z²/4n²)) / (1 + z²/n), z = 1.96. Source: E. B. Wilson, Probable inference, the law of
    succession, and statistical inference, JASA 22 (1927), 209–212.

    >>> [round(end, 4) for end in wilson(15, 50)], [round(end, 4) for end in wilson(0, 10)]
    ([0.191, 0.4375], [0.0, 0.2775])
    """
    if attempts == 0:
        return 0.0, 1.0
    p, z2 = successes / attempts, NORMAL_95**2
    middle = p + z2 / (2 * attempts)
    half = NORMAL_95 * sqrt(p * (1 - p) / attempts + z2 / (4 * attempts**2))
    low, high = ((middle + side * half) / (1 + z2 / attempts) for side in (-1, 1))
    return (0.0 if successes == 0 else max(low, 0.0)), (1.0 if successes == attempts else min(high, 1.0))


@dataclass(frozen=True)
class Rate:
    """A share of successful attempts."""

    successes: float
    attempts: int

    @property
    def share(self) -> float:
        """0 without attempts."""
        return self.successes / self.attempts if self.attempts else 0.0

    @property
    def interval(self) -> Interval:
        """Wilson's 95 % interval."""
        return wilson(self.successes, self.attempts)


def excess(one: Rate, other: Rate) -> tuple[float, Interval]:
    """The difference of two independent rates, and its 95 % interval.

    With (l, u) the rates' own intervals, d − √((p−l)² + (u'−p')²) … d + √((u−p)² + (p'−l')²). Source: R. G. Newcombe,
    Interval estimation for the difference between independent proportions, Statistics in Medicine 17 (1998), 873–890,
    method 10.

    >>> d, (low, high) = excess(Rate(56, 70), Rate(48, 80))
    >>> round(d, 4), round(low, 4), round(high, 4)
    (0.2, 0.0524, 0.3339)
    """
    p, q, (low, high), (below, above) = one.share, other.share, one.interval, other.interval
    down, up = sqrt((p - low) ** 2 + (above - q) ** 2), sqrt((high - p) ** 2 + (q - below) ** 2)
    return p - q, (p - q - down, p - q + up)
