"""Facts in the types that JSON has."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any

import numpy as np


def plain(fact: Any) -> Any:
    """The fact with str keys, lists, and numbers that JSON can hold: what is not finite becomes None.

    >>> plain({1.5: (float("nan"), np.float64(2), np.int64(3), None)})
    {'1.5': [None, 2.0, 3, None]}
    """
    if fact is None or isinstance(fact, (str, bool)):
        return fact
    if isinstance(fact, Mapping):
        return {str(key): plain(value) for key, value in fact.items()}
    if isinstance(fact, np.ndarray):
        return plain(fact.tolist())
    if isinstance(fact, np.generic):
        return plain(fact.item())
    if isinstance(fact, (list, tuple)):
        return [plain(item) for item in fact]
    if isinstance(fact, int):
        return int(fact)
    if isinstance(fact, float):
        return float(fact) + 0.0 if math.isfinite(fact) else None
    return str(fact)
