"""Query restriction: only sums over an even number of records in a secret order are answered."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import ClassVar

import numpy as np
from numpy.typing import NDArray

from equivoc.attributes.numbers import nearest_places
from equivoc.channels.channel import Bayes, Channel, Computed
from equivoc.channels.likelihood import Cells
from equivoc.data.classes import Classes
from equivoc.data.microdata import Microdata, check_people
from equivoc.errors import InputError
from equivoc.intruder.posteriors import Posteriors
from equivoc.intruder.prior import Evidence
from equivoc.intruder.strengths import Choice, InapplicableError, choose
from equivoc.notation.declared import choice, number
from equivoc.notation.ranges import Range
from equivoc.releases.plain_reading import bell_rows
from equivoc.releases.release import GroupedRelease
from equivoc.renamed import renamed_field
from equivoc.systems.grids import candidate_span
from equivoc.systems.range_sums import (
    AnsweredBlocks,
    answered_blocks,
    bounds_from_answers,
    range_sum_answers,
)
from equivoc.systems.system import ContradictionError
from equivoc.techniques.technique import Randomness, Technique, check_numbers, generator

_BOUNDS_ONLY = " She uses only the least and the greatest value that fit all answers."


@renamed_field("intruder", "belief")
@dataclass(frozen=True)
class QueryRestriction(Technique):
    """Answer range sums of ``size`` records only, over records in an order drawn once.

    ``belief="uniform"`` (the paper's) takes each record's values of D between the least (L) and greatest (U) that fit
    all answers as equally likely; ``belief="bayes"`` has the exact posterior under independent uniform priors. None:
    the assessment decides; `AnsweredQueries` has both.

    >>> import pandas as pd
    >>> people = Microdata(pd.DataFrame({"pay": [10, 20, 20, 10, 30, 30]}), confidential="pay")
    >>> release = QueryRestriction(size=2).release(people, 0)
    >>> bool((release.bounds[:, 0] <= people.values[people.codes]).all())
    True
    """

    renamed: ClassVar = {"intruder": "belief"}
    name: ClassVar[str] = "query-restriction"
    needs: ClassVar = "numbers"
    size: int = number(
        "records that a query sums, an even number; more is safer",
        at_least=2,
        multiple_of=2,
        whole=True,
        says="a query sums an even number of records, at least 2",
        tries=Range(2, 64, whole=True, step=2, unit="records"),
    )
    belief: str | None = choice(
        "the technique's own intruder; None: the assessment decides", "uniform", "bayes", default=None
    )

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
        uniform = np.full(len(values), 1 / len(values))
        group, exact_group = np.empty((2, n), dtype=np.int64)
        spans, span_of = np.unique(candidate_span(values, in_order), axis=0, return_inverse=True)
        group[order] = span_of.reshape(-1)  # NumPy 2.0.0 returns it as a column
        channel: Channel = Bayes(Cells(spans[:, 0], spans[:, 1], len(values)), uniform)
        exact = None
        try:
            blocks = answered_blocks(answers, size=self.size, records=n, values=values)
        except InputError:  # values that are not on an even grid, or on too fine a one
            if self.belief == "bayes":
                raise
        else:
            exact_group[order] = blocks.row
            exact = ExactPosterior(blocks, prior=uniform)
        bounds = np.empty((n, 2))
        bounds[order] = in_order
        if exact is not None and self.belief == "bayes":
            group, channel, exact = exact_group, exact, None
        return AnsweredQueries(
            people,
            group,
            channel,
            order,
            bounds,
            answers,
            self.size,
            informed_group=None if exact is None else exact_group,
            informed=exact,
            fixed=self.belief is not None,
            mechanism=self.mechanism(people) + ("" if exact is not None or self.belief else _BOUNDS_ONLY),
        )

    def mechanism(self, people: Microdata) -> str:
        used = {
            None: "",
            "uniform": " She takes the values between the least and the greatest that fit all answers as equally "
            "likely.",
            "bayes": " She takes all databases that fit the answers as equally likely.",
        }[self.belief]
        return (
            f"She knows the sum of {people.confidential} over every {self.size} neighbouring records of an order that "
            f"was drawn once, and the position of every person in it.{used}"
        )


@dataclass(frozen=True, eq=False)
class ExactPosterior(Computed):
    """The exact posterior of each kind of block under a prior, or a uniform one if it rules the answers out."""

    answered: AnsweredBlocks

    @property
    def shape(self) -> tuple[int, int]:
        return len(self.answered.kinds) + 1, len(self.answered.grid.positions)

    def table(self, prior: NDArray[np.float64]) -> NDArray[np.float64]:
        try:
            return self.answered.probabilities(prior)
        except ContradictionError:
            return np.vstack([self.answered.probabilities()[:-1], prior])


@dataclass(frozen=True, eq=False)
class AnsweredQueries(GroupedRelease):
    """The answers, and the bounds that follow from them for each record."""

    order: NDArray[np.int64] = field(repr=False)
    """Record numbers (from 0) in the order in which the queries run over them."""
    bounds: NDArray[np.float64] = field(repr=False)
    """n × 2: the least and the greatest value that fit all answers, in the original's row order."""
    answers: NDArray[np.float64] = field(repr=False)
    """The independent answers: query i sums the records (i−1)·size/2 … (i+1)·size/2 of the order."""
    size: int
    """How many records each answer sums."""
    informed_group: NDArray[np.int64] | None = field(default=None, repr=False)
    """For each record its row of ``informed``; None where there is none."""
    informed: Channel | None = field(default=None, repr=False)
    """The exact posterior; None if ``channel`` is already exact, or if the values' grid is too fine."""

    @cached_property
    def evidence(self) -> Evidence:
        bounds = replace(super().evidence, learnable=False)
        if self.informed is None or self.informed_group is None:
            return bounds
        return replace(bounds, symbols=self.informed_group, channel=self.informed)

    def unreadable(self, intruder: str) -> str:
        return "the release is a set of answers, not a table of records" if intruder == "file" else ""

    def plainly(self, classes: Classes, prior: NDArray[np.float64], intruder: str) -> Choice:
        """The middle of each person's bounds, or a bell curve round it as wide as anything between them."""
        if intruder == "file":
            raise InapplicableError(self.unreadable(intruder))
        from scipy.sparse import csr_array

        spans, of = np.unique(self.bounds, axis=0, return_inverse=True)
        at = self.people.attribute.geometry.positions
        middle = spans.mean(axis=1)
        rows = np.arange(len(spans) + 1)
        face = csr_array((np.ones(len(spans)), nearest_places(middle, at), rows), shape=(len(spans), len(at)))
        bell = bell_rows(face, middle, (spans[:, 1] - spans[:, 0]) / np.sqrt(12.0), at, prior)
        channels = {"exactly": face} if bell is None else {"exactly": face, "bell": bell[:-1]}
        counts = self.people.classes(classes.known, values=of.reshape(-1), span=len(spans)).counts
        attribute = self.people.attribute
        return choose(
            tuple(channels), lambda name: Posteriors(classes, attribute, counts, channels[name]), prior, {}
        )

    def notes(self, known: Sequence[str] | None = None) -> list[str]:
        if self.informed is not None or isinstance(self.channel, ExactPosterior):
            return []
        return [
            f"The values of {self.people.confidential} lie on too fine a grid, or on none, for the exact posterior of "
            "the answers: the prior decides between the least and the greatest value that fit them. The real risk is "
            "higher; round the values (round_to) for the exact figure."
        ]
