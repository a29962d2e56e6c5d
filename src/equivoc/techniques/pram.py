"""PRAM, post-randomisation: each value is replaced at random by a published matrix of probabilities."""

from __future__ import annotations

import os
from collections.abc import Mapping
from dataclasses import dataclass, replace
from hashlib import sha256
from pathlib import Path
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from equivoc.channels.channel import DENSE_CELLS, Bayes, channel
from equivoc.channels.likelihood import Table
from equivoc.data.microdata import Microdata, check_people
from equivoc.errors import InputError
from equivoc.files import check_readable
from equivoc.intruder.prior import ReleasedColumn, unchanged
from equivoc.notation.declared import columns, file, number
from equivoc.notation.ranges import Range
from equivoc.notation.words import Columns, quoted, split_words, unquoted, written
from equivoc.releases.linked_release import LinkedRelease
from equivoc.techniques.inside.exact_ends import exact_ends
from equivoc.techniques.technique import ON, Randomness, Technique, columns_of, generator, knows_shares
from equivoc.techniques.technique import in_words as names_in_words
from equivoc.text import exact

# The PRAM matrix: reads it from an array, a mapping, a file or text, checks it, and writes it as text.

Rows = tuple[tuple[float, ...], ...]
Matrices = Rows | tuple[tuple[str, Rows], ...]
"""One matrix for every column; or a name and a matrix for each column."""
MOST_WRITTEN = 100
"""The most entries of a matrix that are written out; a larger one is written as its size and a digest."""


def matrices(given: Any) -> Matrices:
    """What the caller gave, as tuples: hashable, comparable, and the same in every process.

    >>> matrices("0.9 0.1;0.2 0.8") == matrices([[0.9, 0.1], [0.2, 0.8]])
    True
    >>> matrices({"sex": [[1]]})
    (('sex', ((1.0,),)),)
    """
    if isinstance(given, Mapping):
        return tuple((str(name), _rows(rows, f"the matrix of {name!r}")) for name, rows in given.items())
    if isinstance(given, tuple) and given and isinstance(given[0], tuple) and isinstance(given[0][0], str):
        return matrices(dict(given))
    if isinstance(given, str) and ":" in given and ";" in given:
        named = (split_words(part, ":") for part in split_words(given, "|"))
        return matrices({unquoted(name): ":".join(rows) for name, *rows in named})
    return _rows(given, "the matrix")


def by_column(found: Matrices) -> dict[str, Rows] | None:
    """The columns that have a matrix of their own; None where one matrix is for all."""
    return dict(found) if found and isinstance(found[0][0], str) else None


def in_words(found: Matrices) -> str:
    """The matrix as text in a notation: ``;`` between rows, ``:`` after a column's name, ``|`` between columns."""
    named = by_column(found)
    if named is not None:
        return "|".join(f"{quoted(name)}:{in_words(rows)}" for name, rows in named.items())
    text = ";".join(" ".join(repr(entry) for entry in row) for row in found)
    if len(found) ** 2 > MOST_WRITTEN:
        return f"{len(found)}x{len(found)}-{sha256(text.encode()).hexdigest()[:16]}"
    return text + ";" if len(found) == 1 else text


def matrix_beside(given: Any, folder: Path) -> Any:
    """The same matrix; the path of a file is resolved from ``folder``."""
    if isinstance(given, Mapping):
        return {name: matrix_beside(rows, folder) for name, rows in given.items()}
    return str(folder / given) if isinstance(given, str) and ";" not in given else given


def _rows(given: Any, what: str) -> Rows:
    """A square table of probabilities whose rows sum to 1."""
    read = _read(given)
    try:
        table = np.array(read, dtype=np.float64)
    except (TypeError, ValueError):
        raise InputError(
            f"pram: {what} holds something that is not a number, or its rows differ in length."
        ) from None
    if table.ndim != 2 or table.shape[0] != table.shape[1] or not table.size:
        raise InputError(
            f"pram: {what} has the shape {' × '.join(map(str, table.shape))}; "
            "give one row and one column for each level."
        )
    wrong = np.argwhere(~(np.isfinite(table) & (table >= 0)))
    if len(wrong):
        row, column = wrong[0]
        raise InputError(
            f"pram: {what} has {table[row, column]} in row {row + 1}, column {column + 1}; "
            "give probabilities of 0 or more."
        )
    sums = table.sum(axis=1)
    apart = np.flatnonzero(np.abs(sums - 1) > 1e-9)
    if apart.size:
        raise InputError(
            f"pram: row {apart[0] + 1} of {what} sums to {sums[apart[0]]:.12g}; each row must sum to 1."
        )
    return tuple(tuple(row) for row in table.tolist())


def _read(given: Any) -> Any:
    if isinstance(given, str) and ";" in given:
        return [row.split() for row in given.strip(";").split(";")]
    if not isinstance(given, (str, os.PathLike)):
        return given
    try:
        check_readable(Path(given))
        text = Path(given).read_text(encoding="utf-8-sig")
    except InputError as refused:
        raise InputError(f"pram: the matrix cannot be used: {refused}.") from None
    except (OSError, ValueError) as problem:  # not text, or an invalid file name
        why = getattr(problem, "strerror", None) or "it is not a text file"
        raise InputError(
            f"pram: the matrix {os.fspath(given)!r} cannot be read: {why}; give a CSV file of numbers, "
            "one line for each level."
        ) from None
    return [line.split(",") for line in text.splitlines() if line.strip()]


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
    matrix: Any = file(
        "P(released level | true level), kept as tuples of numbers; each row sums to 1",
        beside=matrix_beside,
        read=matrices,
    )
    keep: float | None = number(
        "probability that a value stays; 1 / levels is pure noise, the safest choice",
        at_least=0,
        at_most=1,
        wanted="a probability from 0 to 1",
        default=None,
        tries=Range(0.05, 0.95, stronger="less", monotone=False),
    )
    on: Columns = columns(f"{ON}; a mapping of matrices names its columns itself", default="keys")

    def __post_init__(self) -> None:
        if (self.matrix is None) == (self.keep is None):
            raise InputError("pram: give either matrix or keep, and not both.")
        super().__post_init__()
        named = None if self.matrix is None else by_column(self.matrix)
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
                bayes = Bayes(Table(transition), np.full(len(transition), 1 / len(transition)))
                changed[name] = ReleasedColumn(codes, before.labels, bayes)
            else:
                changed[name] = ReleasedColumn(
                    codes, before.labels, channel(transition), likelihood=transition.T
                )
        ends = exact_ends(
            people,
            columns,
            "values are replaced by others of the domain, so the file shows it exactly; top-code first",
        )
        return replace(
            RandomisedFile.changing(people, changed), mechanism=self.mechanism(people), exactly=ends
        )

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
