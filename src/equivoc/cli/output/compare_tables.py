"""The text output of ``equivoc compare``."""

from __future__ import annotations

from math import isnan
from pathlib import Path
from typing import TYPE_CHECKING

from equivoc.cli.output.terminal import Terminal
from equivoc.number_format import counted, figure

if TYPE_CHECKING:
    from equivoc.decide.comparison.comparison import Comparison


def print_comparison(done: Comparison, written: list[Path]) -> None:
    """The choice, a table of all techniques, and why each other one was not chosen."""
    terminal = Terminal()
    data, risk = done.made_of["data"], done.risk
    knows = ", ".join(done.known) or "no key"
    terminal.say(
        f"{counted(data['records'], 'record')}; {counted(len(done.techniques), 'technique')}; an intruder "
        f"({done.intruder}) who knows {knows}; prior: {done.prior}."
    )
    terminal.say(done.headline)
    safer = "less" if risk.riskier == "more" else "more"
    rows = [
        (
            str(number),
            each.notation,
            _shown(each.risk.mean),
            _shown(each.loss.mean),
            "yes" if each.meets else "no",
            "yes" if front else "no",
        )
        for number, (each, front) in enumerate(zip(done.compared, done.front, strict=True), 1)
    ]
    columns = ("", "technique", risk.left, done.utility, "meets", "front")
    over = f", means over {done.replicates} releases of random techniques" if done.replicates > 1 else ""
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


def _shown(value: float) -> str:
    return "–" if isnan(value) else figure(value)
