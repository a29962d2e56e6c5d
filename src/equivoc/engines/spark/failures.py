"""Spark's errors as sentences, and its warnings about versions kept out of a command's output."""

from __future__ import annotations

import re
import warnings
from collections.abc import Iterator
from contextlib import contextmanager

from equivoc.errors import InputError

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
