"""Printing of commands: literal text without markup or control characters, and tables that fit the terminal."""

from __future__ import annotations

from collections.abc import Sequence
from math import isnan
from pathlib import Path
from typing import TYPE_CHECKING, Any

from rich.console import Console
from rich.measure import Measurement
from rich.table import Table
from rich.text import Text

from equivoc.data.remarks import left_out_sentence
from equivoc.text import counted, figure, printable

if TYPE_CHECKING:
    from equivoc.experiments.comparison import Comparison


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


# The text output of ``equivoc compare``.


def print_comparison(done: Comparison, written: list[Path]) -> None:
    """The choice, a table of all techniques, and why each other one was not chosen."""
    terminal = Terminal()
    data, risk = done.made_of["data"], done.risk
    knows = ", ".join(done.known) or "no key"
    terminal.say(
        f"{counted(data['records'], 'record')}; {counted(len(done.techniques), 'technique')}; an intruder "
        f"({done.intruder}) who knows {knows}; prior: {done.prior}."
    )
    if data.get("left_out"):
        terminal.say(left_out_sentence(data))
    for remark in done.remarks:
        terminal.say(remark)
    terminal.say(done.headline)
    safer = "less" if risk.riskier == "more" else "more"
    rows = [
        (
            str(number),
            each.notation,
            _shown(each.risk.mean),
            _shown(each.loss.mean),
            "–" if each.failure else str(each.releases),
            "failed" if each.failure else meets(each.meets, required=bool(done.requirements)),
            "yes" if front else "no",
        )
        for number, (each, front) in enumerate(zip(done.compared, done.front, strict=True), 1)
    ]
    columns = ("", "technique", risk.left, done.utility, "releases", "meets", "front")
    drawn = sorted({each.releases for each in done.compared if each.releases > 1})
    over = f", means where there are {' or '.join(map(str, drawn))} releases" if drawn else ""
    terminal.show(
        f"{risk.left}: {risk.kind.unit}, {safer} is safer; {done.utility}: less is more useful{over}",
        columns,
        rows,
        left=2,
    )
    if done.reasons:
        terminal.say("Why not the others:" if done.meets else "Why none:")
        for notation, reason in done.reasons.items():
            terminal.say(f"- {notation}: {reason}")
    for path in written:
        terminal.say(f"written: {path}")


def meets(yes: bool, *, required: bool) -> str:
    """Without a requirement nothing is met."""
    return ("yes" if yes else "no") if required else "–"


def _shown(value: float) -> str:
    return "–" if isnan(value) else figure(value)
