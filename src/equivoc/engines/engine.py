"""What an engine is: a table that is read and counted where it lies.

`Engine` is all that `equivoc.data` knows of DuckDB, PostgreSQL or Spark. `SqlEngine` implements it for an engine that
runs SQL: such an engine gives the table's name and runs one statement at a time.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal, Protocol, runtime_checkable

import numpy as np
from numpy.typing import NDArray

if TYPE_CHECKING:
    import pyarrow as pa
    from sqlglot import exp

    from equivoc.attributes.attribute import Line, Nested

ColumnKind = Literal["integer", "floating", "other"]
"""How a column's values can be coded: integers by their distance from the least, all others by a list of values."""


@dataclass(frozen=True)
class Extent:
    """The range of an integer column."""

    low: int | None
    """The least value; None if all are null."""
    high: int | None
    filled: int
    """How many rows are not null."""
    kind: Any
    """The column's Arrow type."""


class Engine(Protocol):
    """A table of people in a file, a database or a cluster. Every column's values are those that a frame would hold."""

    @property
    def label(self) -> str:
        """The table's name in messages and reports, without credentials."""

    @property
    def ordered(self) -> bool:
        """True if the rows have an order of their own, in which `rows` gives them every time.

        If False, records have the canonical order: sorted by the keys' levels in the caller's order of keys, then by
        the confidential level. Their codes are then expanded from counts, so that no record leaves the engine.
        """

    @property
    def names(self) -> tuple[str, ...]:
        """The columns that may be read, in the table's order."""

    def kind(self, name: str) -> ColumnKind: ...

    def value(self, name: str) -> exp.Expression:
        """The column as an expression for `rows` and `counts`; null and not-a-number stay as they are."""

    def extents(self, names: Sequence[str]) -> tuple[int, dict[str, Extent]]:
        """How many rows there are, and the range of each of the integer columns ``names``."""

    def distinct(self, name: str) -> pa.Array:
        """The column's different values in any order, null among them."""

    def rows(
        self, columns: Mapping[str, exp.Expression], *, present: Sequence[exp.Expression] = ()
    ) -> Iterator[pa.RecordBatch]:
        """The expressions under these names, for every row in which none of ``present`` is null, piece by piece."""

    def counts(
        self,
        columns: Mapping[str, exp.Expression],
        *,
        present: Sequence[exp.Expression] = (),
        among: int | None = None,
    ) -> Iterator[pa.RecordBatch]:
        """Each combination of the expressions that occurs, and last ``n``: how many rows have it.

        Rows in which one of ``present`` is null are left out. ``among`` counts no more than so many rows.
        """


class SqlEngine(ABC):
    """An engine that runs SQL statements: they are built by `equivoc.engines.statements`."""

    @property
    @abstractmethod
    def source(self) -> exp.Expression:
        """The table, as it stands after FROM."""

    @abstractmethod
    def stream(self, statement: exp.Expression) -> Iterator[pa.RecordBatch]:
        """The statement's answer, piece by piece; at least one piece, which may be empty."""

    @abstractmethod
    def value(self, name: str) -> exp.Expression: ...

    def extents(self, names: Sequence[str]) -> tuple[int, dict[str, Extent]]:
        from equivoc.engines import statements

        answer = self.answer(statements.extent(self.source, [self.value(name) for name in names]))
        rows, *bounds = (column[0].as_py() for column in answer.columns)
        return rows, {
            name: Extent(
                bounds[3 * at], bounds[3 * at + 1], bounds[3 * at + 2], answer.schema.field(1 + 3 * at).type
            )
            for at, name in enumerate(names)
        }

    def distinct(self, name: str) -> pa.Array:
        from equivoc.engines import statements

        return self.answer(statements.distinct(self.source, self.value(name))).column(0).combine_chunks()

    def rows(
        self, columns: Mapping[str, exp.Expression], *, present: Sequence[exp.Expression] = ()
    ) -> Iterator[pa.RecordBatch]:
        from equivoc.engines import statements

        return self.stream(statements.rows(self.source, columns, present=present))

    def counts(
        self,
        columns: Mapping[str, exp.Expression],
        *,
        present: Sequence[exp.Expression] = (),
        among: int | None = None,
    ) -> Iterator[pa.RecordBatch]:
        from equivoc.engines import statements

        coded = statements.rows(self.source, columns, present=present)
        return self.stream(statements.count(coded if among is None else coded.limit(among), list(columns)))

    def answer(self, statement: exp.Expression) -> pa.Table:
        """The statement's whole answer."""
        import pyarrow as pa

        return pa.Table.from_batches(list(self.stream(statement)))


def empty_batch(schema: pa.Schema) -> pa.RecordBatch:
    """No rows of these columns."""
    import pyarrow as pa

    return pa.record_batch([pa.nulls(0, field.type) for field in schema], schema=schema)


# Engines that also measure: each class's histogram stays in the engine, and only the class's figures come
# back.


@dataclass(frozen=True, eq=False)
class ClassQuestion:
    """Which classes to measure, and how: everything that a process elsewhere needs to know."""

    keys: tuple[str, ...]
    levels: tuple[Any, ...]
    """Each key's values, as Arrow arrays; a class's number is made of the positions of its values among them."""
    confidential: str
    values: Any
    """The confidential column's values, as an Arrow array."""
    places: NDArray[np.int32]
    """The place of each of them in the attribute's domain."""
    geometry: Line | Nested
    eps: tuple[float, ...]
    """The tolerances of hit rates."""
    tolerance: float | None
    rows: int
    """How many people were counted."""
    combinations: int
    """How many combinations of all these values occur: as many rows as the engine's counts have."""
    drop_missing: bool = False
    """Leave out rows without a confidential value."""
    cells: bool = True
    """Also give figures for each value of each class."""

    @property
    def radices(self) -> tuple[int, ...]:
        return tuple(len(levels) for levels in self.levels)

    @property
    def numbered(self) -> bool:
        """True if the classes' numbers fit 63 bits."""
        size = len(self.places)
        for radix in self.radices:
            size *= max(1, radix)
        return size < 2**63

    def columns(self) -> Sequence[tuple[str, str]]:
        """The answer's columns and their types in SQL, one row per class.

        ``right`` and ``surprise`` hold an entry per value of the class, in the domain's order: the chance that the best
        guess is right, and the surprise in bits if the class's own distribution is believed.
        """
        found = [("class", "bigint"), ("size", "bigint"), ("h0", "double"), ("area", "double")]
        found += [("eps_max", "double"), ("estimated", "boolean"), ("error", "double"), ("check", "bigint")]
        found += [(f"hit{at}", "double") for at in range(len(self.eps))]
        if self.cells:
            for name in ("right", "surprise"):
                found += [(f"{name}{at}", "array<double>") for at in range(len(self.eps))]
        return found


@runtime_checkable
class MeasuringEngine(Protocol):
    """An engine that runs the measure where the data is."""

    def class_figures(self, question: ClassQuestion) -> pa.Table | None:
        """The figures of every class, in any order; the columns are `ClassQuestion.columns`. None: not possible now."""

    def write_records(
        self, figures: pa.Table, *, on: Sequence[str], beside: Sequence[str], folder: str
    ) -> int:
        """Write the columns ``beside`` and the figures of every record, found by its values in the columns ``on``.

        Gives the number of records. ``figures`` has the values of ``on`` in its first columns.
        """


def checksums(
    places: NDArray[np.integer[Any]], counts: NDArray[np.integer[Any]], starts: NDArray[np.integer[Any]]
) -> NDArray[np.int64]:
    """A number for each class that changes, all but certainly, if its histogram does.

    >>> one, other = checksums(np.array([0, 1, 0, 2]), np.array([1, 1, 1, 1]), np.array([0, 2]))
    >>> bool(one == other)
    False
    """
    mixed = (places.astype(np.uint64) + np.uint64(1)) * np.uint64(0x9E3779B97F4A7C15)
    mixed = (mixed ^ (mixed >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    mixed ^= mixed >> np.uint64(27)
    return np.add.reduceat(mixed * counts.astype(np.uint64), starts).view(np.int64)
