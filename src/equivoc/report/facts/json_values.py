"""Converts facts to the types of JSON."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any

import numpy as np


def json_values(fact: Any) -> Any:
    """The value with str keys, lists, and finite numbers; numbers that are not finite become None.

    >>> json_values({1.5: (float("nan"), np.float64(2), np.int64(3), None)})
    {'1.5': [None, 2.0, 3, None]}
    """
    if fact is None or isinstance(fact, (str, bool)):
        return fact
    if isinstance(fact, Mapping):
        return {str(key): json_values(value) for key, value in fact.items()}
    if isinstance(fact, np.ndarray):
        return json_values(fact.tolist())
    if isinstance(fact, np.generic):
        return json_values(fact.item())
    if isinstance(fact, (list, tuple)):
        return [json_values(item) for item in fact]
    if isinstance(fact, int):
        return int(fact)
    if isinstance(fact, float):
        return float(fact) + 0.0 if math.isfinite(fact) else None
    return str(fact)
