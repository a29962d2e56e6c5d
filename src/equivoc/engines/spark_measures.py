"""The measure of every class, computed by Spark's executors from Arrow batches of counted cells.

Spark counts each combination of keys and confidential value, and brings the counts of a class to one executor. There
the kernels measure all classes of a partition at once; a class's histogram never leaves the cluster.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from equivoc.engines.engine import ClassQuestion, checksums
from equivoc.engines.spark import asking_spark
from equivoc.errors import InputError, did_you_mean
from equivoc.parallel import on_one_core

if TYPE_CHECKING:
    import pyarrow as pa

    from equivoc.engines.spark import SparkTable

CELLS = 2**21
"""About how many cells a partition may have: an executor holds them in memory, some 200 MB."""
CHECKED = 3
"""How many estimated areas of a partition are compared with certified ones."""


def measured_classes(table: SparkTable, question: ClassQuestion) -> Any:
    """A Spark DataFrame with a row per class; see `ClassQuestion.columns`. Nothing runs before it is used."""
    names = [*question.keys, question.confidential]
    wanted = {f"v{at}": table.value(name) for at, name in enumerate(names)}
    coded = table.numbered.selectExpr(
        *(f"{expression.sql(dialect='spark')} AS {name}" for name, expression in wanted.items())
    )
    keys, groups = list(wanted)[:-1], list(wanted)
    if question.drop_missing:
        coded = coded.where(f"{groups[-1]} IS NOT NULL")
    partitions = _partitions(table, question.rows)
    if keys and 2 * question.combinations > question.rows:
        # Counting before the shuffle would not make the table smaller: shuffle once, by class.
        counted = coded.repartition(partitions, *keys).groupBy(*groups).count()
    else:
        counted = coded.groupBy(*groups).count()
        counted = counted.repartition(partitions, *keys) if keys else counted.coalesce(1)
    schema = ", ".join(f"{name} {kind}" for name, kind in question.columns())
    return counted.mapInArrow(PartitionMeasure(question), schema)


def _partitions(table: SparkTable, rows: int) -> int:
    own = int(table.frame.sparkSession.conf.get("spark.sql.shuffle.partitions", "200"))
    # A small table would spend its time starting tasks; a large one must not fill an executor's memory.
    return max(1, min(own, rows // 2**16), -(-rows // CELLS))


@dataclass(frozen=True, eq=False)
class PartitionMeasure:
    """Measures the classes of one partition; runs in an executor's Python."""

    question: ClassQuestion

    def __call__(self, batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        numbers, places, counts = [], [], []
        for batch in batches:
            number, place, count = self._coded(batch)
            numbers.append(number)
            places.append(place)
            counts.append(count)
        if numbers and sum(map(len, numbers)):
            # Spark runs one task per core.
            with on_one_core():
                yield self._measured(np.concatenate(numbers), np.concatenate(places), np.concatenate(counts))

    def _coded(self, batch: pa.RecordBatch) -> tuple[NDArray[np.int64], NDArray[np.int64], NDArray[np.int64]]:
        """The class number, the value's place and the count of each row."""
        asked = self.question
        numbers = np.zeros(batch.num_rows, np.int64)
        for at, levels in enumerate(asked.levels):
            numbers = numbers * len(levels) + _positions(batch.column(at), levels)
        places = asked.places.astype(np.int64)[_positions(batch.column(len(asked.levels)), asked.values)]
        counts = batch.column(len(asked.levels) + 1).to_numpy()
        return numbers, places, counts

    def _measured(
        self, numbers: NDArray[np.int64], places: NDArray[np.int64], counts: NDArray[np.int64]
    ) -> pa.RecordBatch:
        import pyarrow as pa
        from scipy.sparse import csr_array

        asked = self.question
        size = len(asked.geometry.positions)
        cells = numbers * size + places
        order = np.argsort(cells)
        cells, counts = cells[order], counts[order]
        # Rounding may have given several values of a class the same place.
        firsts = np.flatnonzero(np.diff(cells, prepend=-1))
        cells, counts = cells[firsts], np.add.reduceat(counts, firsts)
        numbers, places = np.divmod(cells, size)
        starts = np.flatnonzero(np.diff(numbers, prepend=-1))
        bounds = np.append(starts, len(numbers))
        index = np.int32 if len(cells) < 2**31 else np.int64
        matrix = csr_array((counts, places.astype(index), bounds.astype(index)), shape=(len(starts), size))
        found = asked.geometry.curves(matrix, counts=True, tolerance=asked.tolerance)
        error = found.check_estimates(CHECKED) if found.estimated.any() else None
        columns = [
            numbers[starts],
            np.add.reduceat(counts, starts),
            found.h0,
            found.area,
            found.eps_max,
            found.estimated,
            pa.array([error] * len(starts), pa.float64()),
            checksums(places, counts, starts),
            *(found.hit(e) for e in asked.eps),
        ]
        if asked.cells:
            truths = asked.geometry.positions[places]
            for figure in (found.right_guesses, found.surprises):
                columns += [_lists(figure(e, truths, bounds), bounds) for e in asked.eps]
        named = [name for name, _ in asked.columns()]
        return pa.RecordBatch.from_arrays([pa.array(column) for column in columns], names=named)


def _positions(column: pa.Array, levels: pa.Array) -> NDArray[np.int64]:
    import pyarrow as pa
    import pyarrow.compute as pc

    values = column.cast(levels.type)
    if pa.types.is_floating(values.type):
        values = pc.add(values, pa.scalar(0, values.type))  # −0.0 is 0.0
    found = pc.index_in(values, value_set=levels)
    if found.null_count:
        raise InputError("the data have changed since they were counted: read them again")
    return np.asarray(found.to_numpy(), np.int64)


def _lists(entries: NDArray[np.float64], bounds: NDArray[np.int64]) -> pa.Array:
    import pyarrow as pa

    return pa.ListArray.from_arrays(pa.array(bounds, pa.int32()), pa.array(entries))


# Figures of every record, written to Parquet by the executors: a join of the DataFrame with figures by value.


def write_joined(
    table: SparkTable, figures: pa.Table, *, on: Sequence[str], beside: Sequence[str], folder: str
) -> int:
    """Write ``beside`` and the figures of each row with the same values in ``on``; the number of rows written.

    The columns of ``figures`` are the values of ``on``, then the figures. Null equals null, and not-a-number is null.
    """
    from pyspark.sql import functions

    for name in beside:
        if name not in table.names:
            raise InputError(f"there is no column {name!r}{did_you_mean(name, table.names)}")
    taken = {name.lower() for name in beside}
    written = figures.column_names[len(on) :]
    both = next((name for name in written if name.lower() in taken), None)
    if both is not None:
        raise InputError(
            f"{both!r} is a column of beside and the name of a figure: rename it in the DataFrame."
        )
    with asking_spark(f"{table.label}, for {folder},"):
        session = table.frame.sparkSession
        names = [f"on{at}" for at in range(len(on))] + [f"figure{at}" for at in range(len(written))]
        right = session.createDataFrame(figures.rename_columns(names))
        left = table.numbered.selectExpr(
            *(f"{table.value(name).sql(dialect='spark')} AS value{at}" for at, name in enumerate(on)),
            *(f"c{table.names.index(name)} AS beside{at}" for at, name in enumerate(beside)),
        )
        matched = functions.lit(True)
        for at in range(len(on)):
            matched = matched & left[f"value{at}"].eqNullSafe(right[f"on{at}"])
        joined = left.join(right, matched, "inner").select(
            *(functions.col(f"beside{at}").alias(name) for at, name in enumerate(beside)),
            *(functions.col(f"figure{at}").alias(name) for at, name in enumerate(written)),
        )
        joined.write.mode("error").parquet(folder)
        count: int = session.read.parquet(folder).count()
        return count
