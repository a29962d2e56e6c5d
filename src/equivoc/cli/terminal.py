"""What commands print: text as it is, without markup or control characters, and tables that fit."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from rich.console import Console
from rich.measure import Measurement
from rich.table import Table
from rich.text import Text

from equivoc.plain_text import printable


class Terminal(Console):
    """A console that shows every text as it is: no markup, no emoji codes, control characters made visible."""

    def __init__(self) -> None:
        super().__init__(highlight=False, markup=False, emoji=False)

    def render_str(self, text: str, **options: Any) -> Text:
        """Called by Rich for every text, those in tables too."""
        options |= {"markup": False, "emoji": False}
        return super().render_str(printable(text, keep="\n"), **options)

    def say(self, sentence: str) -> None:
        """A sentence on a line of its own, which the terminal wraps."""
        self.print(printable(sentence), soft_wrap=True)

    def show(
        self, title: str, columns: Sequence[str], rows: Sequence[Sequence[str]], *, left: int = 1
    ) -> None:
        """A table whose first ``left`` columns are words and the others figures.

        Where it is too wide for the terminal it has no lines; where that does not help, each row becomes a block, so
        that no word is broken apart.
        """
        if title:
            self.say(title)
        for lined in (True, False):
            table = Table() if lined else Table(box=None, padding=(0, 2, 0, 0), pad_edge=False)
            for place, column in enumerate(columns):
                table.add_column(column, justify="left" if place < left else "right", no_wrap=True)
            for row in rows:
                table.add_row(*map(_one_line, row))
            if Measurement.get(self, self.options.update(max_width=1 << 16), table).maximum <= self.width:
                self.print(table)
                return
        for row in rows:
            for place, (column, entry) in enumerate(zip(columns, row, strict=True)):
                begins = "  " if place else "- "
                self.say(f"{begins}{column}: {entry}" if column else f"{begins}{entry}")


def _one_line(entry: str) -> str:
    return printable(entry)
