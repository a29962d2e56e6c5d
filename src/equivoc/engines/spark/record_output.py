"""Figures of every record, written to Parquet by the executors: a join of the DataFrame with figures by value."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from equivoc.did_you_mean import did_you_mean
from equivoc.engines.spark.failures import asking_spark
from equivoc.errors import InputError

if TYPE_CHECKING:
    import pyarrow as pa

    from equivoc.engines.spark.table import SparkTable


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
