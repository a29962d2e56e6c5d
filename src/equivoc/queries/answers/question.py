"""One aggregate over some of the people: what was asked, of whom, and the answer."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Literal, get_args

import numpy as np
from numpy.typing import NDArray

Aggregate = Literal[
    "count", "sum", "avg", "min", "max", "median", "var_pop", "var_samp", "stddev_pop", "stddev_samp"
]
AGGREGATES: tuple[Aggregate, ...] = get_args(Aggregate)


@dataclass(frozen=True, eq=False)
class Question:
    """An aggregate of the confidential attribute over a query set. One statement with GROUP BY asks several.

    >>> Question("sum", np.array([0, 2]), 157.0, statement=0, text="SUM(salary) WHERE sex = 'F'").people
    2
    """

    aggregate: Aggregate
    members: NDArray[np.int64] = field(repr=False)
    """The record numbers of the query set, ascending, from 0."""
    answer: float | None
    """The answer in the attribute's unit; None: SQL's NULL (nobody is in the query set), or not answered yet."""
    statement: int
    """The position of its statement in the log, from 0."""
    text: str
    """The question as SQL, rewritten from what was parsed; for GROUP BY with the group's values as conditions."""

    @property
    def people(self) -> int:
        """How many people are in the query set."""
        return len(self.members)
