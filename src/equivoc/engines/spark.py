"""A Spark DataFrame as an engine: Spark counts, and only counts come back.

Columns are used by position, so any name is safe. Nothing is written, no view is
left behind, and the session's settings stay as they are.
"""

from __future__ import annotations

import atexit
import os
import re
import socket
import sys
import warnings
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any
from urllib.parse import urlsplit

from equivoc.engines.engine import ColumnKind, SqlEngine
from equivoc.errors import InputError

if TYPE_CHECKING:
    import pyarrow as pa
    from sqlglot import exp

    from equivoc.engines.engine import ClassQuestion

# Spark's errors as sentences, and its warnings about versions kept out of a command's output.

_LONGEST = 300
_CONDITION = re.compile(r"\[([A-Z][A-Z0-9_.]+)\] ([^\n]+)")


@contextmanager
def asking_spark(label: str) -> Iterator[None]:
    """Turn what Spark raises into an InputError of one sentence that names ``label``."""
    from py4j.protocol import Py4JError
    from pyspark.errors import PySparkException

    with warnings.catch_warnings():
        # PySpark 4 warns about pandas 3, which is not used here.
        warnings.simplefilter("ignore", FutureWarning)
        try:
            yield
        except (PySparkException, Py4JError, ConnectionError, EOFError) as problem:
            raise InputError(f"{label} cannot be read by Spark: {reason(problem)}") from None
        except Exception as problem:
            if not type(problem).__module__.startswith("grpc"):
                raise
            raise InputError(f"{label} cannot be read by Spark: {reason(problem)}") from None


def reason(problem: BaseException) -> str:
    """What went wrong, in one line: the innermost error condition that Spark names, else the first line.

    >>> reason(Exception("Job aborted: [FAILED_READ_FILE.NO_HINT] Error while reading file a. SQLSTATE: KD001"))
    'Error while reading file a'
    """
    text = str(problem)
    if "from the Python worker" in text:
        return _in_python(text)
    if "CANNOT_MERGE_SCHEMAS" in text:
        return _of_schemas(text)
    named = [said for condition, said in _CONDITION.findall(text) if "INTERNAL" not in condition]
    line = named[-1] if named else next(iter(text.strip().splitlines()), "")
    line = re.sub(r"\s*SQLSTATE: \w+.*$", "", line).rstrip(". ;:")
    if not line or re.match(r"An error occurred while calling|\[?Errno|reentrant call", line):
        line = "the connection to Spark was lost" if not named else line
    return line if len(line) <= _LONGEST else line[: _LONGEST - 1] + "…"


def _in_python(text: str) -> str:
    """The last line of an executor's traceback."""
    missing = re.search(r"ModuleNotFoundError: No module named '(\w+)", text)
    if missing is not None:
        return (
            f"the executors' Python has no {missing[1]}: install equivoc there, and set spark.pyspark.python"
        )
    ends = re.findall(r"^(?:[\w.]+\.)?(\w+(?:Error|Exception)): (.+)$", text, re.MULTILINE)
    return f"an executor failed ({ends[-1][1].rstrip('. ')})" if ends else "an executor failed"


def _of_schemas(text: str) -> str:
    """Which columns have different types in different files.

    >>> _of_schemas('Initial schema: "STRUCT<age: INT, pay: DOUBLE>" Schema …: "STRUCT<age: STRING, pay: DOUBLE>"')
    "its files have different types in the column 'age': INT and STRING; write them with one type"
    """
    schemas = [
        dict(part.split(": ", 1) for part in written.split(", ") if ": " in part)
        for written in re.findall(r'"STRUCT<(.*?)>"', text)[:2]
    ]
    if len(schemas) == 2:
        one, other = schemas
        for name in one.keys() & other.keys():
            if one[name] != other[name]:
                types = f"{one[name]} and {other[name]}"
                return f"its files have different types in the column {name!r}: {types}; write them with one type"
    return "its files have different columns; write them with one schema"


# Sessions: an existing one is used as it is and never stopped; one that we start is stopped when the process
# ends.

EXAMPLES = "local[*], spark://host:7077, sc://host:15002, yarn or k8s://https://host:6443"
_PORTS = {"spark": 7077, "sc": 15002}
"""The usual ports of a standalone master and of Spark Connect."""
_PATIENCE = 10.0
"""Seconds for a master to accept a connection."""
_MASTER = re.compile(r"local(\[[^\]\s]+\])?$|yarn$|(spark|sc|k8s)://\S+$")


def check_pyspark() -> None:
    """InputError unless PySpark is installed."""
    try:
        import pyspark.sql  # noqa: F401
    except ImportError:
        raise InputError("Spark needs more packages: pip install 'equivoc[spark]'") from None


def session(master: str | None) -> Any:
    """The active session; else a new one for ``master`` (None: as spark-submit or spark-defaults.conf says)."""
    if master is not None and not _MASTER.match(master):
        raise InputError(f"{shown(master)!r} is not the address of a Spark master: give {EXAMPLES}")
    check_pyspark()
    from pyspark.sql import SparkSession

    with asking_spark("the active session"):
        active = SparkSession.getActiveSession()
    if active is not None:
        return active
    if master is None and "SPARK_REMOTE" not in os.environ and "SPARK_ENV_LOADED" not in os.environ:
        raise InputError(f"there is no Spark session: give the master's address, such as {EXAMPLES}")
    if master is not None:
        check_answers(master)
    # The executors' Python; PySpark would take python3, which may be another than ours.
    os.environ.setdefault("PYSPARK_PYTHON", sys.executable)
    with asking_spark("Spark" if master is None else shown(master)):
        builder = SparkSession.builder.appName("equivoc")
        if master is not None and master.startswith("sc://"):
            builder = builder.remote(master)
        elif master is not None:
            builder = builder.master(master).config("spark.ui.showConsoleProgress", "false")
            # An error ends in one sentence, without the stack traces that Spark logs.
            builder = builder.config("spark.log.level", "OFF")
        started = builder.getOrCreate()
    atexit.register(_stop, started)
    return started


def shown(master: str) -> str:
    """The address for messages, without the parameters of Spark Connect: one of them may be a token.

    >>> shown("sc://host:15002/;token=secret;use_ssl=true")
    'sc://host:15002'
    """
    return master.partition("/;")[0]


def check_answers(master: str) -> None:
    """InputError if nothing listens at the address; Spark itself would try again for minutes."""
    scheme, _, hosts = shown(master).partition("://")
    if scheme not in _PORTS:
        return
    for host in hosts.split(","):  # a standalone cluster may have several masters
        try:
            parts = urlsplit(f"//{host}")
            place = (parts.hostname or "", parts.port or _PORTS[scheme])
        except ValueError:
            raise InputError(
                f"{shown(master)!r} is not the address of a Spark master: give {EXAMPLES}"
            ) from None
        with suppress(OSError, UnicodeError):
            socket.create_connection(place, timeout=_PATIENCE).close()
            return
    raise InputError(
        f"nothing answers at {shown(master)}: check the address, and that this machine can reach the Spark master."
    )


def _stop(started: Any) -> None:
    with suppress(Exception):  # the cluster may be gone
        started.stop()


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
        from equivoc.engines.spark_measures import measured_classes

        with asking_spark(self.label):
            return measured_classes(self, question).toArrow()

    def write_records(
        self, figures: pa.Table, *, on: Sequence[str], beside: Sequence[str], folder: str
    ) -> int:
        """Have the executors write the figures of every record to Parquet; the number of records."""
        from equivoc.engines.spark_measures import write_joined

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
