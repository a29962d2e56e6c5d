"""The text output of ``equivoc audit``."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

from equivoc.cli.output.terminal import Terminal
from equivoc.number_format import bits, counted, figure, probability

MOST_SETS = 8
"""More sets of responsible statements are counted, not printed."""
LONGEST_SQL = 300
"""Characters of a statement that are printed."""


def print_audit(facts: dict[str, Any], written: Sequence[Path]) -> None:
    """Who is disclosed, by which statements, the most exposed groups, and how the figures were found."""
    terminal = Terminal()
    log = facts["log"]
    terminal.say(
        f"{counted(facts['data']['records'], 'record')}; {counted(log['statements'], 'statement')} with "
        f"{counted(log['questions'], 'question')}; {counted(log['groups'], 'group')} of people in the same query sets."
    )
    terminal.say(facts["headline"])
    if facts["requirements"]:
        _requirements(terminal, facts["requirements"])
        terminal.say(facts["disclosed_sentence"])
    _tolerances(terminal, facts)
    _responsible(terminal, facts)
    _exposed(terminal, facts)
    rows = [
        (row["method"], f"{row['people']:,}", "–" if row["error"] is None else figure(row["error"]))
        for row in facts["methods"]
    ]
    terminal.show("How the figures were found", ("method", "people", "largest error"), rows)
    for row in facts["methods"]:
        terminal.say(f"- {row['method']}: {row['meaning']}.")
    terminal.say(facts["knows"])
    for note in facts["notes"]:
        terminal.say(f"Note: {note}")
    for path in written:
        terminal.say(f"written: {path}")


def _requirements(terminal: Terminal, outcomes: list[dict[str, Any]]) -> None:
    rows = [
        (
            row["requirement"],
            "–" if row["value"] is None else figure(row["value"]),
            "yes" if row["meets"] else "no",
            "–" if row["missed_by"] is None else figure(row["missed_by"]),
        )
        for row in outcomes
    ]
    terminal.show("Requirements", ("requirement", "it is", "met", "missed by"), rows)
    for row in outcomes:
        if row["reason"]:
            terminal.say(row["sentence"])


def _tolerances(terminal: Terminal, facts: dict[str, Any]) -> None:
    name, told = facts["data"]["confidential"]["name"], facts["disclosed"]
    rows = [(row["close"], f"{row['surely']:,}", f"{row['likely']:,}") for row in told["within"]]
    terminal.show(
        f"People whose {name} is known", ("", "for sure", f"with probability {told['likely']} or more"), rows
    )


def _responsible(terminal: Terminal, facts: dict[str, Any]) -> None:
    """The sets of statements, and their SQL."""
    found = facts["responsible"]
    if not found:
        return
    rows = [
        (", ".join(map(str, row["statements"])), row["words"], f"{row['people']:,}")
        for row in found[:MOST_SETS]
    ]
    terminal.show(
        "Statements that suffice to know them (the largest groups first)",
        ("statements", "this set is", "people"),
        rows,
        left=2,
    )
    more = len(found) - len(rows) + facts["unexplained"]
    if more:
        terminal.say(f"{counted(more, 'more group')} of people with a known value.")
    named = sorted({number for row in found[:MOST_SETS] for number in row["statements"]})
    for statement in facts["statements"]:
        if statement["number"] in named:
            sql = statement["sql"]
            shown = sql if len(sql) <= LONGEST_SQL else f"{sql[:LONGEST_SQL]}…"
            terminal.say(f"{statement['number']}: {shown}")


def _exposed(terminal: Terminal, facts: dict[str, Any]) -> None:
    found, known = facts["riskiest"], facts["known"]
    withheld, fewest = found["withheld"], found["fewest_people"]
    if withheld["classes"]:
        terminal.say(
            f"{counted(withheld['classes'], 'group')} of fewer than {fewest} people by the known keys, "
            f"{withheld['people']:,} people in all: H0 {bits(withheld['h0'])} and area {figure(withheld['area'])} on "
            "average. Their key values are withheld; --record-values shows them."
        )
    rows = [
        (
            *("(missing)" if value is None else str(value) for value in row["keys"] or ["everyone"]),
            f"{row['size']:,}",
            figure(row["h0"]),
            figure(row["area"]),
            *map(probability, row["hit"]),
        )
        for row in found["classes"]
    ]
    if rows:
        columns = known or ["group"]
        hits = [f"hit, {close}" for close in found["close"]]
        told = "The most exposed groups" + ("" if fewest == 1 else f" of {fewest} people or more")
        terminal.show(
            f"{told} (less uncertainty is riskier)",
            (*columns, "people", "H0, bits", "area", *hits),
            rows,
            left=len(columns),
        )
