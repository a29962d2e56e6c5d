"""The PRAM matrix: reads it from an array, a mapping, a file or text, checks it, and writes it as text."""

from __future__ import annotations

import os
from collections.abc import Mapping
from hashlib import sha256
from pathlib import Path
from typing import Any

import numpy as np

from equivoc.errors import InputError
from equivoc.files import check_readable
from equivoc.quoted_words import quoted, split_words, unquoted

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
