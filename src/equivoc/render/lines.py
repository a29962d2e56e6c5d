"""Blocks on a terminal: literal text without markup or control characters, and tables that fit."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any

from rich.console import Console
from rich.measure import Measurement
from rich.table import Table
from rich.text import Text

from equivoc.render.blocks import Block, Rows
from equivoc.text import printable


class Terminal(Console):
    """A console that prints text literally: no markup, no emoji codes, control characters made visible."""

    def __init__(self) -> None:
        super().__init__(highlight=False, markup=False, emoji=False)

    def on_broken_pipe(self) -> None:
        """The reader closed the output: let the command decide; Rich would end the process with exit code 1."""
        raise BrokenPipeError

    def render_str(self, text: str, **options: Any) -> Text:
        """Called by Rich for every text, including those in tables."""
        options |= {"markup": False, "emoji": False}
        return super().render_str(printable(text, keep="\n"), **options)

    def say(self, sentence: str) -> None:
        """Print a sentence on its own line; the terminal wraps it."""
        self.print(printable(sentence), soft_wrap=True)

    def show(
        self, title: str, columns: Sequence[str], rows: Sequence[Sequence[str]], *, left: int = 1
    ) -> None:
        """Print a table whose first ``left`` columns are left-aligned and the others right-aligned.

        If it is too wide for the terminal it is printed without lines; if it is still too wide, each row becomes a
        block of lines, so that no word is broken.
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


def print_blocks(blocks: Iterable[Block], written: Iterable[Path] = ()) -> None:
    """Print what a renderer says of a result, and the files that were written."""
    terminal = Terminal()
    for block in blocks:
        if isinstance(block, Rows):
            terminal.show(block.title, block.columns, block.rows, left=block.left)
        else:
            terminal.say(block)
    for path in written:
        terminal.say(f"written: {path}")
