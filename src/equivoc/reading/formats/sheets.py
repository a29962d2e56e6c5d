"""One sheet of a workbook (.xlsx, .ods) as a table: the first row with entries names the columns."""

from __future__ import annotations

import datetime
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import partial
from itertools import dropwhile, islice
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from equivoc.errors import InputError, did_you_mean
from equivoc.reading.formats.coded import CodedTable, Piece, Variable, plain
from equivoc.reading.formats.kinds import Format, damaged, needs
from equivoc.reading.formats.workbook import Look, address, column_letters, looks
from equivoc.text import exact

if TYPE_CHECKING:
    import pyarrow as pa

MOST_CELLS = 30_000_000
"""A sheet is held in memory as a whole, at some 30 bytes a cell."""
ROWS_AT_ONCE = 50_000
_TRIED = 12
"""So many rows say whether the second is one of names, too."""
_LONGEST = 40
Row = list[Any]


def open_sheet(path: Path, known: Format, *, sheet: str | None) -> CodedTable:
    """The table in the sheet; without ``sheet``, in the only one that has entries."""
    try:
        import python_calamine
    except ImportError as missing:
        raise needs(path, known, missing) from None

    chosen = _chosen(path, looks(path, known), sheet)
    place = f"{path} cannot be read: in the sheet {chosen.name!r},"
    _check(path, place, chosen)
    try:
        with python_calamine.CalamineWorkbook.from_path(str(path)) as workbook:
            opened = workbook.get_sheet_by_name(chosen.name)
            opened.to_python(nrows=1)  # reads it all
    except BaseException as broken:
        # The library is compiled: what it does not expect in a file ends in an exception of another kind.
        if isinstance(broken, (KeyboardInterrupt, SystemExit)):
            raise
        raise damaged(path, known, broken) from None
    top, left = opened.start or (0, 0)
    rows = partial(_from_header, opened.iter_rows)
    first = list(islice(rows(), _TRIED))
    names = _names(place, first[0] if first else [], top, left)
    _check_first_rows(place, first, top, left)
    variables = {name: Variable(made=_made) for name in names}
    return CodedTable(
        path, known, tuple(names), None, variables, partial(_pieces, rows, names), part=chosen.name
    )


def _chosen(path: Path, every: Sequence[Look], sheet: str | None) -> Look:
    listed = ", ".join(repr(each.name) for each in every)
    if sheet is not None:
        found = next((each for each in every if each.name == sheet), None)
        if found is None:
            raise InputError(
                f"{path} has no sheet {sheet!r}{did_you_mean(sheet, [each.name for each in every])}"
            )
        if not found.entries:
            raise InputError(f"{path}: the sheet {sheet!r} is empty; the sheets are {listed}")
        return found
    filled = [each for each in every if each.entries]
    if not filled:
        raise InputError(
            f"{path} has no entries in any sheet: give a sheet with names of columns and records"
        )
    if len(filled) > 1:
        listed = ", ".join(repr(each.name) for each in filled)
        raise InputError(
            f"{path} has {len(filled)} sheets with entries, {listed}: choose one, as in sheet={filled[0].name!r}"
        )
    return filled[0]


def _check(path: Path, place: str, look: Look) -> None:
    """InputError for what cannot be read as one table of records."""
    if look.rows * look.columns > MOST_CELLS:
        raise InputError(
            f"{path}: the sheet {look.name!r} has {look.rows:,} rows and {look.columns:,} columns, and sheets are read "
            f"up to {MOST_CELLS:,} cells: save it as CSV or Parquet"
        )
    if look.merged is not None:
        raise InputError(
            f"{place} the cells {look.merged} are merged; split them, so that every cell has its entry"
        )
    if look.error is not None:
        cell, what = look.error
        raise InputError(
            f"{place} the cell {cell} holds the error {what or 'of a formula'}; correct or empty it"
        )
    if look.formula is not None:
        raise InputError(
            f"{place} the cell {look.formula} holds a formula without its result; open the file in a spreadsheet "
            "program and save it"
        )


def _from_header(rows: Callable[[], Iterator[Row]]) -> Iterator[Row]:
    """The rows from the first one with an entry."""
    return dropwhile(lambda row: all(cell == "" for cell in row), rows())


def _names(place: str, header: Row, top: int, left: int) -> list[str]:
    """The names of the columns; one without a name is called by its letter."""
    names: list[str] = []
    for at, cell in enumerate(header):
        letters = column_letters(left + at)
        name = _written(cell).strip() or f"column {letters}"
        if name in names:
            other = column_letters(left + names.index(name))
            raise InputError(
                f"{place} the columns {other} and {letters} have the same name, {name!r}; rename one"
            )
        names.append(name)
    if not names:
        raise InputError(f"{place} there is no row with names of columns")
    return names


def _check_first_rows(place: str, rows: Sequence[Row], top: int, left: int) -> None:
    """InputError if a title stands above the names, or names stand in two rows."""
    header, *below = rows
    filled = [cell for cell in header if cell != ""]
    if len(filled) == 1 and len(header) > 1 and any(sum(cell != "" for cell in row) > 1 for row in below):
        title = _written(filled[0])[:_LONGEST]
        raise InputError(
            f"{place} row {top + 1} has a single entry, {title!r}, and the rows below have more; delete what stands "
            "above the names of the columns"
        )
    if len(below) < 3 or not all(isinstance(cell, str) for cell in below[0]):
        return
    for at, cell in enumerate(below[0]):
        under = [row[at] for row in below[1:] if row[at] != ""]
        if cell != "" and len(under) > 1 and not any(isinstance(value, str) for value in under):
            raise InputError(
                f"{place} row {top + 2} looks like a second row of names ({address(top + 1, left + at)} holds "
                f"{cell[:_LONGEST]!r}, with numbers or dates below); delete one of the two rows"
            )


def _pieces(
    rows: Callable[[], Iterator[Row]], every: Sequence[str], names: Sequence[str]
) -> Iterator[Mapping[str, Piece]]:
    import pyarrow as pa

    at = {name: every.index(name) for name in names}
    reader = rows()
    next(reader, None)
    while piece := list(islice(reader, ROWS_AT_ONCE)):
        piece = [row for row in piece if any(cell != "" for cell in row)]  # empty rows are no records
        columns = {
            name: pa.array([_kept(row[place]) for row in piece], pa.string()) for name, place in at.items()
        }
        yield {name: Piece(column, {}) for name, column in columns.items()}


# A column may hold entries of several types. Each is kept as text behind a letter for its type, until all are known.


def _kept(cell: Any) -> str | None:
    if isinstance(cell, str):
        return f"s{cell}" if cell else None
    if isinstance(cell, bool):
        return "bTRUE" if cell else "bFALSE"
    if isinstance(cell, (int, float)):
        return f"n{cell!r}"
    if isinstance(cell, datetime.datetime):
        return f"t{_written(cell)}"
    if isinstance(cell, datetime.date):
        return f"d{_written(cell)}"
    return f"s{_written(cell)}"


def _written(cell: Any) -> str:
    """An entry as a CSV file would have it."""
    if isinstance(cell, bool):
        return "TRUE" if cell else "FALSE"
    if isinstance(cell, float):
        return exact(cell)
    if isinstance(cell, datetime.datetime):
        return cell.isoformat(" ")
    if isinstance(cell, (datetime.date, datetime.time)):
        return cell.isoformat()
    if isinstance(cell, datetime.timedelta):
        minutes, seconds = divmod(int(cell.total_seconds()), 60)
        return f"{minutes // 60:02}:{minutes % 60:02}:{seconds:02}"
    return str(cell)


def _made(levels: pa.Array) -> pa.Array:
    """Numbers, dates, times or Booleans if all entries are such; otherwise the text of each."""
    import pyarrow as pa
    import pyarrow.compute as pc

    kinds = Counter(text[0] for text in levels.drop_null().to_pylist())
    texts = pc.utf8_slice_codeunits(levels, 1)
    if not kinds or kinds.keys() == {"s"}:
        return texts
    if kinds.keys() == {"n"}:
        return plain(
            pa.array([None if each is None else float(each) for each in texts.to_pylist()], pa.float64())
        )
    if kinds.keys() == {"b"}:
        return pc.equal(texts, "TRUE")
    if kinds.keys() == {"d"}:
        return texts.cast(pa.date32())
    if kinds.keys() <= {"d", "t"}:
        return texts.cast(pa.timestamp("us"))
    numbers = np.array([text is not None and text.startswith("n") for text in levels.to_pylist()])
    short = [
        exact(float(text)) if number else text
        for text, number in zip(texts.to_pylist(), numbers, strict=True)
    ]
    return pa.array(short, pa.string())
