"""What is said of a result, whoever draws it: sentences and tables of texts."""

from __future__ import annotations

from collections.abc import Sequence
from html import escape
from typing import NamedTuple


class Rows(NamedTuple):
    """A table of texts; the first ``left`` columns are names, the others figures."""

    title: str
    columns: Sequence[str]
    rows: Sequence[Sequence[str]]
    left: int = 1


Block = str | Rows
"""A sentence, or a table."""


def html_table(rows: Rows) -> str:
    """A small table with escaped values."""
    head = "".join(f'<th scope="col">{escape(column)}</th>' for column in rows.columns)
    body = "".join(
        f'<tr><th scope="row">{escape(row[0])}</th>'
        + "".join(f"<td>{escape(entry)}</td>" for entry in row[1:])
        + "</tr>"
        for row in rows.rows
    )
    caption = escape(rows.title)
    return f"<table><caption>{caption}</caption><thead><tr>{head}</tr></thead><tbody>{body}</tbody></table>"
