"""Writes a table as the SPSS or Stata file that it was read from: codes with their labels, missing codes, formats."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

from equivoc.errors import InputError
from equivoc.files import replacing
from equivoc.reading.formats.coded import CodedTable, Variable
from equivoc.reading.formats.kinds import NAMES, Code, needs

if TYPE_CHECKING:
    import pyarrow as pa

WRITABLE = ("spss", "stata")
_LETTERS = "abcdefghijklmnopqrstuvwxyz"


@dataclass
class _Columns:
    """What is written, column by column."""

    values: dict[str, Any] = field(default_factory=dict)
    labels: dict[str, dict[Any, str]] = field(default_factory=dict)
    missing: dict[str, list[Any]] = field(default_factory=dict)
    formats: dict[str, str] = field(default_factory=dict)
    titles: dict[str, str] = field(default_factory=dict)
    ordered: list[str] = field(default_factory=list)
    changed: list[str] = field(default_factory=list)
    """A sentence on each column that could not keep its codes."""


def write_alike(table: pa.Table, path: Path, like: CodedTable) -> list[str]:
    """Write a table that was made from the file ``like``, in its format; gives sentences on what could not be kept.

    Text that was a label becomes its code again, unless the table also holds other texts, such as a coarser category:
    the column is then text. Null becomes the missing code of the file if the column had just one, no other null, and
    has as many nulls now: a suppressed value is not an answer that was refused. Otherwise it is the format's own null.
    """
    if like.format not in WRITABLE or path.suffix.lower() == ".por":
        raise InputError(
            f"{path} cannot be written: {NAMES[like.format]} can only be read; name a .csv or .parquet file"
        )
    try:
        import pyreadstat
    except ImportError as lacking:
        raise needs(path, like.format, lacking) from None
    import pandas as pd

    made = _Columns()
    for name in table.column_names:
        _enter(made, name, table.column(name).combine_chunks(), like)
    frame = pd.DataFrame(made.values)
    options: dict[str, Any] = {
        "variable_value_labels": made.labels or None,
        "variable_format": made.formats or None,
        "column_labels": [made.titles.get(name) for name in table.column_names],
    }
    if like.format == "spss":
        options["missing_ranges"] = made.missing or None
        options["variable_measure"] = dict.fromkeys(made.ordered, "ordinal") or None
    else:
        options["missing_user_values"] = made.missing or None
    write = pyreadstat.write_sav if like.format == "spss" else pyreadstat.write_dta
    with replacing(path) as temporary:
        try:
            write(frame, str(temporary), **options)
        except (pyreadstat.PyreadstatError, pyreadstat.ReadstatError, OverflowError) as refused:
            said = " ".join(str(refused).split())[:200].rstrip(".")
            raise InputError(f"{path} cannot be written as {NAMES[like.format]}: {said}") from None
    return made.changed


def _enter(made: _Columns, name: str, column: pa.Array, like: CodedTable) -> None:
    import pyarrow as pa

    variable = like.variables.get(name, Variable())
    if pa.types.is_dictionary(column.type):
        column = column.cast(column.type.value_type)
    values: list[Any] = column.to_pylist()
    if variable.title:
        made.titles[name] = variable.title
    is_text = pa.types.is_string(column.type) or pa.types.is_large_string(column.type)
    codes = _codes(values, variable.labels) if is_text and variable.labels else None
    if codes is not None:
        values, is_text = codes, False
    elif is_text and variable.labels:
        made.changed.append(f"{name} holds values without a code, so it is written as text")
    if is_text:
        made.values[name] = ["" if value is None else str(value) for value in values]
        return
    if pa.types.is_boolean(column.type):
        values = [None if value is None else int(value) for value in values]
    is_time = pa.types.is_date(column.type) or pa.types.is_timestamp(column.type)
    if variable.width and is_time != (variable.made is None):
        made.formats[name] = variable.width
    if variable.labels:
        made.labels[name] = _labels(variable.labels)
    if variable.ordered:
        made.ordered.append(name)
    _enter_missing(made, name, values, variable, like)


def _enter_missing(
    made: _Columns, name: str, values: list[Any], variable: Variable, like: CodedTable
) -> None:
    """The values, with null as the column's missing code if that is certain."""
    import numpy as np
    import pandas as pd

    meaning = like.meanings.get(name)
    code = None
    if meaning is not None and len(meaning.missing) == 1 and not meaning.other_nulls:
        [(code, many)] = meaning.missing.items()
        if sum(value is None for value in values) != many:
            code = None
    letters = isinstance(code, str) and like.format == "stata"
    if letters:
        code = str(code).lstrip(".")
    if like.format == "spss" and variable.missing:
        made.missing[name] = [
            {"lo": each[0], "hi": each[1]} if isinstance(each, tuple) else each for each in variable.missing
        ]
    elif letters or any(isinstance(each, str) for each in variable.labels):
        own = {
            str(each).lstrip(".") for each in (*variable.labels, code or "") if isinstance(each, str) and each
        }
        made.missing[name] = sorted(own & set(_LETTERS))
    if code is not None and (letters or like.format == "spss"):
        values = [code if value is None else value for value in values]
    if any(isinstance(value, str) for value in values) or any(
        value is not None and not isinstance(value, (int, float)) for value in values
    ):
        made.values[name] = pd.Series(values, dtype=object)
    elif any(value is None for value in values) or any(isinstance(value, float) for value in values):
        made.values[name] = np.array([np.nan if value is None else value for value in values], np.float64)
    else:
        made.values[name] = np.array(values, np.int64 if like.format == "stata" else np.float64)


def _codes(values: list[Any], labels: Mapping[Code, str]) -> list[Any] | None:
    """The code of each label; None if a value is no label, or two codes have the label of one."""
    codes: dict[str, list[Code]] = {}
    for code, label in labels.items():
        codes.setdefault(label, []).append(code)
    occurring = {value for value in values if value is not None}
    if any(len(codes.get(value, ())) != 1 for value in occurring):
        return None
    return [None if value is None else codes[value][0] for value in values]


def _labels(labels: Mapping[Code, str]) -> dict[Any, str]:
    """With the letters of missing values as the library writes them."""
    return {
        code.lstrip(".") if isinstance(code, str) and code.startswith(".") else code: label
        for code, label in labels.items()
    }
