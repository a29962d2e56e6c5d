"""A Spark DataFrame as an engine: Spark counts, and only counts come back.

Columns are used by position, so any name is safe. Nothing is written, no view is
left behind, and the session's settings stay as they are.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any

from equivoc.engines.engine import ColumnKind, SqlEngine
from equivoc.engines.spark.failures import asking_spark
from equivoc.engines.spark.session import check_pyspark, session
from equivoc.errors import InputError

if TYPE_CHECKING:
    import pyarrow as pa
    from sqlglot import exp

    from equivoc.engines.measuring import ClassQuestion

SKIPPING = ("spark.sql.files.ignoreCorruptFiles", "spark.sql.files.ignoreMissingFiles")
"""With these settings Spark leaves out what it cannot read, without notice."""
_NO_VALUES = ("array", "map", "struct", "binary", "variant", "interval", "void", "udt", "geo")
_TABLE = re.compile(r"[^/\\:*?\s]+$")


@dataclass(frozen=True, eq=False)
class SparkTable(SqlEngine):
    """The people in a DataFrame, a table of the catalog, or a folder of Parquet files."""

    frame: Any
    label: str = "the Spark DataFrame"

    def __post_init__(self) -> None:
        with asking_spark(self.label):
            settings = {name: self.frame.sparkSession.conf.get(name, "false") for name in SKIPPING}
        for name, value in settings.items():
            if str(value).lower() == "true":
                raise InputError(
                    f"the Spark session has {name} set, so that people could be missing without notice: "
                    "set it to false and read the data again."
                )

    @property
    def ordered(self) -> bool:
        return False

    @cached_property
    def _types(self) -> list[tuple[str, str]]:
        """Each column's name and type, as Spark writes it."""
        with asking_spark(self.label):
            return [(field.name, field.dataType.simpleString()) for field in self.frame.schema.fields]

    @cached_property
    def names(self) -> tuple[str, ...]:
        return tuple(name for name, _ in self._types)

    def kind(self, name: str) -> ColumnKind:
        written = self._types[self.names.index(name)][1]
        if written in ("tinyint", "smallint", "int", "bigint"):
            return "integer"
        return "floating" if written in ("float", "double") else "other"

    @cached_property
    def numbered(self) -> Any:
        """The DataFrame with the columns c0, c1, …"""
        return self.frame.toDF(*(f"c{at}" for at in range(len(self.names))))

    @property
    def source(self) -> exp.Expression:
        from sqlglot import exp

        return exp.Table(this=exp.Identifier(this="{people}", quoted=False))

    def value(self, name: str) -> exp.Expression:
        from equivoc.engines import statements

        at = self.names.index(name)
        written = self._types[at][1]
        if written.startswith(_NO_VALUES):
            raise InputError(
                f"column {name!r} holds {written} values: give text, numbers, dates or truth values"
            )
        column = statements.column(f"c{at}")
        if "collate" in written:  # such as one that ignores case
            column = _function("collate", column, "UTF8_BINARY")
        # Otherwise null and not-a-number would be two groups.
        return statements.without_nan(column) if self.kind(name) == "floating" else column

    def stream(self, statement: exp.Expression) -> Iterator[pa.RecordBatch]:
        with asking_spark(self.label):
            asked = self.frame.sparkSession.sql(statement.sql(dialect="spark"), people=self.numbered)
            answer = asked.toArrow()
        yield from answer.to_batches() or [_empty(answer.schema)]

    def __getstate__(self) -> dict[str, Any]:
        """A copy for another process has no connection: what was counted is enough there."""
        return {"frame": None, "label": self.label}

    def class_figures(self, question: ClassQuestion) -> pa.Table | None:
        """The figures of every class, computed by the executors; None in a process without a connection."""
        if self.frame is None:
            return None
        from equivoc.engines.spark.class_measures import measured_classes

        with asking_spark(self.label):
            return measured_classes(self, question).toArrow()

    def write_records(
        self, figures: pa.Table, *, on: Sequence[str], beside: Sequence[str], folder: str
    ) -> int:
        """Have the executors write the figures of every record to Parquet; the number of records."""
        from equivoc.engines.spark.record_output import write_joined

        if self.frame is None:
            raise InputError(
                "this process has no connection to Spark: write the records where the people were read."
            )
        return write_joined(self, figures, on=on, beside=beside, folder=folder)


def _empty(schema: pa.Schema) -> pa.RecordBatch:
    import pyarrow as pa

    return pa.RecordBatch.from_arrays([pa.array([], field.type) for field in schema], schema=schema)


def _function(name: str, value: exp.Expression, text: str) -> exp.Expression:
    from sqlglot import exp

    return exp.Anonymous(this=name, expressions=[value, exp.Literal.string(text)])


def open_people(source: str | Path, *, master: str | None) -> SparkTable:
    """A folder of Parquet files, or a table of the catalog, in the active session or a new one for ``master``."""
    check_pyspark()
    written = str(source)
    if not written.strip():
        raise InputError("the name of the table or folder for Spark is empty.")
    spark = session(master)
    is_path = written.endswith((".parquet", ".pq")) or not _TABLE.match(written) or Path(written).exists()
    with asking_spark(written):
        if not is_path:
            return SparkTable(spark.table(written), f"table {written}")
        # Files whose columns have other types are refused, not read as far as it goes.
        read = spark.read.option("mergeSchema", "true")
        for setting in ("ignoreCorruptFiles", "ignoreMissingFiles"):
            read = read.option(setting, "false")
        # Spark writes checksums of pages, but does not look at them unless it is asked to.
        read = read.option("parquet.page.verify-checksum.enabled", "true")
        return SparkTable(read.parquet(_location(written)), written)


def _location(written: str) -> str:
    """The path for Spark: an existing local one as a URI, because a cluster may take plain paths for HDFS."""
    has_scheme = re.match(r"[a-z][a-z0-9+.-]+:", written)
    return written if has_scheme or not Path(written).exists() else Path(written).absolute().as_uri()
