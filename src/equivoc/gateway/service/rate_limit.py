"""How often each analyst may ask: a token bucket for each name."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass, field


@dataclass
class RateLimit:
    """Allows ``per_minute`` requests per minute and name on average, and so many at once after a pause.

    >>> now = 0.0
    >>> limit = RateLimit(2, clock=lambda: now)
    >>> [limit.wait("ann") for _ in range(3)], limit.wait("bob")
    ([0.0, 0.0, 30.0], 0.0)
    >>> now = 30.0
    >>> limit.wait("ann"), limit.wait("ann")
    (0.0, 30.0)
    """

    per_minute: int
    clock: Callable[[], float] = time.monotonic
    _left: dict[str, tuple[float, float]] = field(default_factory=dict, repr=False)
    """For each name: requests left, and when that was computed."""

    def wait(self, name: str) -> float:
        """0 if the request is allowed (and counted); otherwise the seconds until the next one is."""
        now, full = self.clock(), float(self.per_minute)
        left, before = self._left.get(name, (full, now))
        left = min(full, left + (now - before) * self.per_minute / 60)
        if left >= 1:
            self._left[name] = (left - 1, now)
            return 0.0
        self._left[name] = (left, now)
        return (1 - left) * 60 / self.per_minute
