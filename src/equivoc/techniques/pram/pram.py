"""PRAM, post-randomisation: each value is replaced at random by a published matrix of probabilities."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from equivoc.arguments import is_number
from equivoc.data.microdata import Microdata, check_people
from equivoc.errors import InputError
from equivoc.intruder.channel.channel import Bayes
from equivoc.intruder.channel.inversion import DENSE_CELLS, channel
from equivoc.intruder.channel.likelihood import Table
from equivoc.intruder.linked_release import LinkedRelease
from equivoc.intruder.released_column import ReleasedColumn, unchanged
from equivoc.number_format import exact
from equivoc.techniques.pram.pram_matrix import by_column, in_words, matrices, matrix_beside
from equivoc.techniques.setting import Setting
from equivoc.techniques.technique import (
    Columns,
    Randomness,
    Technique,
    checked_columns,
    columns_of,
    generator,
    knows_shares,
    written,
)
from equivoc.techniques.technique import in_words as names_in_words

Floats = NDArray[np.float64]


@dataclass(frozen=True)
class PRAM(Technique):
    """Replace each value by one drawn from its row of a known matrix (Gouweleeuw and others, 1998).

    ``keep``: a value stays with this probability, else any other level of its column is equally likely. ``matrix``:
    P(released level | true level), one row and one column per level, in the order of the column's levels (a null, if
    there is one, last): an array for all columns of ``on``, a mapping from columns to arrays, or the path of a CSV file
    of numbers.

    The intruder knows the matrix: P(true level | released) ∝ P(released | true level) · prior, that of a key's levels
    being their shares in the file. (The paper's intruder takes all levels as equally likely a priori.) Each record
    and column is treated on its own.

    >>> import pandas as pd
    >>> people = Microdata(pd.DataFrame({"sex": list("FM"), "pay": [10, 20]}), confidential="pay", keys=["sex"])
    >>> PRAM(keep=1).release(people, 0).posteriors(["sex"]).probabilities.tolist()
    [[1.0, 0.0], [0.0, 1.0]]
    >>> PRAM([[0.9, 0.1], [0.2, 0.8]], on="sex").notation
    'pram:matrix=0.9 0.1;0.2 0.8,on=sex'
    """

    name: ClassVar[str] = "pram"
    settings: ClassVar = (
        Setting(
            "keep", 0.05, 0.95, stronger="less", monotone=False, meaning="probability that a value stays"
        ),
    )
    files: ClassVar = {"matrix": matrix_beside}
    matrix: Any = None
    """Kept as tuples of numbers; the rows of each matrix sum to 1."""
    keep: float | None = None
    """From 0 to 1; 1 / levels is pure noise, the safest choice."""
    on: Columns = "keys"
    """"confidential", "keys", "all", or columns by name. A mapping of matrices names its columns itself."""

    def __post_init__(self) -> None:
        if (self.matrix is None) == (self.keep is None):
            raise InputError("pram: give either matrix or keep, and not both.")
        if self.keep is not None and not (is_number(self.keep) and 0 <= self.keep <= 1):
            raise InputError(f"pram: keep is {self.keep!r}; it must be a probability from 0 to 1.")
        object.__setattr__(self, "on", checked_columns("pram", self.on))
        if self.matrix is not None:
            object.__setattr__(self, "matrix", matrices(self.matrix))
            named = by_column(self.matrix)
            if named is not None and self.on != "keys":
                raise InputError(
                    f"pram: matrix names the columns {', '.join(named)}, so on must be left out; it is {self.on!r}."
                )

    @property
    def notation(self) -> str:
        on = written(self.on)
        how = f"keep={written(self.keep)}" if self.matrix is None else f"matrix={in_words(self.matrix)}"
        return f"pram:{how}" + ("" if on == "keys" else f",on={on}")

    def release(self, people: Microdata, rng: Randomness = None) -> RandomisedFile:
        """Draw each value of each column, one column after the other."""
        check_people("people", people)
        random = generator(rng)
        named = None if self.matrix is None else by_column(self.matrix)
        columns = columns_of("pram", people, self.on if named is None else tuple(named))
        changed = {}
        for name in columns:
            before = unchanged(people, name)
            transition = self._transition(name, before, named)
            codes = _drawn(before.codes, transition, random)
            if name == people.confidential:
                told = Bayes(Table(transition), np.full(len(transition), 1 / len(transition)))
                changed[name] = ReleasedColumn(codes, before.labels, told)
            else:
                changed[name] = ReleasedColumn(
                    codes, before.labels, channel(transition), likelihood=transition.T
                )
        return replace(RandomisedFile.changing(people, changed), mechanism=self.mechanism(people))

    def mechanism(self, people: Microdata) -> str:
        named = None if self.matrix is None else by_column(self.matrix)
        columns = columns_of("pram", people, self.on if named is None else tuple(named))
        if self.keep is None:
            how = f"She knows the probabilities with which values of {names_in_words(columns)} were replaced by others"
        else:
            how = (
                f"She knows that each value of {names_in_words(columns)} stayed with probability {exact(self.keep)}, "
                "and was otherwise replaced by any other with equal probability"
            )
        return f"{how}, independently for each record and column.{knows_shares(people, columns)}"

    def _transition(self, name: str, column: ReleasedColumn, named: dict[str, Any] | None) -> Floats:
        levels = len(column.labels)
        if levels**2 > DENSE_CELLS:
            raise InputError(
                f"pram: {name!r} has {levels:,} levels, too many for a matrix; "
                "round it, or leave it out of on."
            )
        if self.keep is not None:
            if levels == 1:
                return np.ones((1, 1))
            matrix = np.full((levels, levels), (1 - self.keep) / (levels - 1))
            np.fill_diagonal(matrix, self.keep)
            return matrix
        found = np.array(self.matrix if named is None else named[name])
        if len(found) != levels:
            raise InputError(
                f"pram: the matrix is {len(found)} × {len(found)} but {name!r} has {levels} levels; "
                "give a row and a column for each."
            )
        return found


def _drawn(
    codes: NDArray[np.integer[Any]], transition: Floats, random: np.random.Generator
) -> NDArray[np.int64]:
    """For each record a symbol from the row of its level."""
    upto = np.cumsum(transition, axis=1)
    upto /= upto[:, -1:]  # exactly 1 at the last symbol that can be drawn
    chance = random.random(len(codes))
    drawn = np.empty(len(codes), dtype=np.int64)
    order = np.argsort(codes, kind="stable")
    ends = np.cumsum(np.bincount(codes, minlength=len(transition)))
    for level, members in enumerate(np.split(order, ends[:-1])):
        drawn[members] = np.searchsorted(upto[level], chance[members], side="right")
    return drawn


@dataclass(frozen=True, eq=False)
class RandomisedFile(LinkedRelease):
    """The file with values replaced at random, with an intruder who knows the matrix of probabilities."""
