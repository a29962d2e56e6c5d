"""Query restriction: only sums over an even number of records in a secret order are answered."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from equivoc.arguments import check_choice, is_whole
from equivoc.data.microdata import Microdata, check_people
from equivoc.errors import InputError
from equivoc.intruder.channel.channel import Bayes
from equivoc.intruder.channel.likelihood import Cells
from equivoc.intruder.release import GroupedRelease
from equivoc.queries.candidates import candidate_span
from equivoc.queries.exact_posterior import block_posteriors
from equivoc.queries.range_sums import bounds_from_answers, range_sum_answers
from equivoc.techniques.technique import Randomness, Technique, check_numbers, generator


@dataclass(frozen=True)
class QueryRestriction(Technique):
    """Answer range sums of ``size`` records only, over records in an order drawn once.

    ``intruder="uniform"`` (the paper's) takes each record's values of D between the least (L) and greatest (U) that fit
    all answers as equally likely; ``intruder="bayes"`` has the exact posterior under independent uniform priors.

    >>> import pandas as pd
    >>> people = Microdata(pd.DataFrame({"pay": [10, 20, 20, 10, 30, 30]}), confidential="pay")
    >>> release = QueryRestriction(size=2).release(people, 0)
    >>> bool((release.bounds[:, 0] <= people.values[people.codes]).all())
    True
    """

    name: ClassVar[str] = "query-restriction"
    size: int
    """How many records a query sums: even, at least 2. More is safer."""
    intruder: str = "uniform"

    def __post_init__(self) -> None:
        if not is_whole(self.size) or self.size < 2 or self.size % 2:
            raise InputError(
                f"query-restriction: size is {self.size}; a query sums an even number of records, at least 2."
            )
        check_choice("query-restriction: intruder", self.intruder, ("uniform", "bayes"))

    def release(self, people: Microdata, rng: Randomness = None) -> AnsweredQueries:
        """Draw the order and answer every query."""
        check_people("people", people)
        check_numbers(self.name, people, "which have no sum")
        n = len(people)
        if self.size > n:
            raise InputError(f"query-restriction: size is {self.size} but there are only {n} records.")
        values = people.values
        order = generator(rng).permutation(n)
        answers = range_sum_answers(values[people.codes[order]], size=self.size)
        in_order = bounds_from_answers(
            answers, size=self.size, records=n, low=float(values[0]), high=float(values[-1])
        )
        group = np.empty(n, dtype=np.int64)
        channel: Any
        if self.intruder == "bayes":
            exact = block_posteriors(answers, size=self.size, records=n, values=values)
            group[order] = exact.block
            channel = exact.probabilities
        else:
            spans, span_of = np.unique(candidate_span(values, in_order), axis=0, return_inverse=True)
            group[order] = span_of.reshape(-1)  # NumPy 2.0.0 returns it as a column
            cells = Cells(spans[:, 0], spans[:, 1], len(values))
            channel = Bayes(cells, np.full(len(values), 1 / len(values)))
        bounds = np.empty((n, 2))
        bounds[order] = in_order
        return AnsweredQueries(people, group, channel, order, bounds, answers)


@dataclass(frozen=True, eq=False)
class AnsweredQueries(GroupedRelease):
    """The answers, and the bounds that follow from them for each record."""

    order: NDArray[np.int64] = field(repr=False)
    """Record numbers (from 0) in the order in which the queries run over them."""
    bounds: NDArray[np.float64] = field(repr=False)
    """n × 2: the least and the greatest value that fit all answers, in the original's row order."""
    answers: NDArray[np.float64] = field(repr=False)
    """The independent answers: query i sums the records (i−1)·size/2 … (i+1)·size/2 of the order."""
