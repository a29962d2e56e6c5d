"""The text output of ``equivoc assess``."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from equivoc.assessment.several import SeveralAssessments
from equivoc.attributes.attribute import closeness, measured_in
from equivoc.cli.terminal import Terminal
from equivoc.render.parts import riskiest_classes
from equivoc.render.several import together_facts, together_value
from equivoc.render.truth import intruder_line, truth_facts, verdict
from equivoc.render.truth_wording import control_sentence, spread_sentence
from equivoc.render.wording import estimates_sentence
from equivoc.text import bits, counted, figure, percent, probability

if TYPE_CHECKING:
    from equivoc.assessment.assessment import Assessment

RISKIEST = 8


def print_assessments(
    result: Assessment | SeveralAssessments,
    units: Mapping[str, str],
    required: Mapping[str, dict[str, Any] | None],
    *,
    record_values: bool,
    written: list[Path],
) -> None:
    """Print the result of each attribute, the figures of all together, and the files that were written.

    ``required`` are the `requirement_facts` of each attribute.
    """
    terminal = Terminal()
    for name, each in result.attributes.items():
        if len(result.attributes) > 1:
            terminal.say(f"── {name} ──")
        _assessment(terminal, each, required[name], unit=units[name], record_values=record_values)
    if isinstance(result, SeveralAssessments):
        _together(terminal, result, units)
    for path in written:
        terminal.say(f"written: {path}")


def _together(terminal: Terminal, result: SeveralAssessments, units: Mapping[str, str]) -> None:
    facts = together_facts(result, units)
    terminal.say("── together ──")
    for f in facts["figures"]:
        terminal.say(
            f"{f['label']}: {together_value(f)} ({f['unit']}; {f['safer']} is safer): {f['meaning']}."
        )
    if facts["why_not"]:
        terminal.say(f"Some figures of the attributes together are not available: {facts['why_not']}")


def _assessment(
    terminal: Terminal,
    result: Assessment,
    required: dict[str, Any] | None,
    *,
    unit: str,
    record_values: bool,
) -> None:
    """The figures beside their baselines, the riskiest classes, the keys' contributions, and what they mean."""
    summary = result.summary
    knowing = ", ".join(result.known) or "nothing"
    terminal.say(
        f"{counted(summary['records'], 'record')}; {result.technique}; an intruder who knows {knowing} "
        f"can distinguish {counted(summary['classes'], 'class')}."
    )
    for note in result.notes:
        terminal.say(note)
    truth = truth_facts(result)
    sentences = verdict(truth, summary["records"], required)
    terminal.say(sentences["headline"])
    if required is not None:
        _requirements(terminal, required)
        terminal.say(sentences["disclosed"])
    terminal.say(intruder_line(result))
    _figures(terminal, summary, truth, measured_in(result.people.attribute, unit))
    if summary["estimates"]:
        terminal.say(estimates_sentence(summary["estimates"]))
    _riskiest(terminal, result, unit, record_values=record_values)
    if summary.get("contributions"):
        _contributions(terminal, summary["contributions"])
    _sentences(terminal, result, unit)
    terminal.say(truth["sentence"])
    terminal.say(sentences["half_bit"])
    terminal.say(sentences["sentence"])
    if result.spread is not None:
        terminal.say(spread_sentence(result.spread))


def _requirements(terminal: Terminal, required: dict[str, Any]) -> None:
    """Each requirement beside its figure, and what would help."""
    rows = [
        (
            row["requirement"],
            "–" if row["value"] is None else figure(row["value"]),
            "yes" if row["meets"] else "no",
            "–" if row["missed_by"] is None else figure(row["missed_by"]),
        )
        for row in required["rows"]
    ]
    terminal.show("Requirements", ("requirement", "it is", "met", "missed by"), rows)
    for row in required["rows"]:
        if row["reason"] or row["reach"] or row["releases"] > 1:
            terminal.say(row["sentence"])
    for sentence in (required["help"], required["note"]):
        if sentence:
            terminal.say(sentence)


def _figures(terminal: Terminal, summary: dict[str, Any], truth: dict[str, Any], unit: str) -> None:
    record, prior, bare = summary["per_record"], summary["prior"], summary["unprotected"]
    over_people = truth["over_people"]
    rows = [
        (
            "surprise, bits",
            figure(truth["surprise"]),
            figure(over_people["min"]),
            figure(over_people["q05"]),
            figure(truth["prior"]),
            figure(truth["unprotected"]),
        )
    ]
    rows += [
        (
            label,
            figure(record[name]["mean"]),
            figure(record[name]["min"]),
            figure(record[name]["q05"]),
            figure(prior[name]),
            figure(bare[name]),
        )
        for name, label in (
            ("h0", "H0, bits"),
            ("area", f"area, bits × {unit}"),
            ("mean_entropy", "mean entropy, bits"),
        )
    ]
    terminal.show(
        "The intruder's remaining uncertainty about a random person (less is riskier)",
        ("", "mean", "min", "5th pct.", "no release", "unchanged"),
        rows,
    )


def _riskiest(terminal: Terminal, result: Assessment, unit: str, *, record_values: bool) -> None:
    found = riskiest_classes(result, RISKIEST, record_values=record_values, unit=unit)
    known, fewest, withheld = result.known, found["fewest_people"], found["withheld"]
    hits = [f"hit, {close}" for close in found["close"]]
    rows = [
        (
            *("(missing)" if value is None else str(value) for value in row["keys"] or ["everyone"]),
            f"{row['size']:,}",
            figure(row["h0"]),
            figure(row["area"]),
            figure(row["surprise"]),
            *map(probability, row["hit"]),
        )
        for row in found["classes"]
    ]
    if withheld["classes"]:
        terminal.say(
            f"{counted(withheld['classes'], 'class')} of fewer than {fewest} people, {withheld['people']:,} people in "
            f"all: H0 {bits(withheld['h0'])} and area {figure(withheld['area'])} on average. Their key values are "
            "withheld; --record-values shows them."
        )
    if rows:
        names = known or ("class",)
        columns = (*names, "people", "H0, bits", "area", "surprise", *hits)
        title = "The riskiest classes" if fewest == 1 else f"The riskiest classes of {fewest} people or more"
        terminal.show(title, columns, rows, left=len(names))


def _contributions(terminal: Terminal, contributed: dict[str, float]) -> None:
    total = sum(contributed.values())
    rows = [
        (key, figure(value), f"{percent(value / total)}" if total else "–")
        for key, value in sorted(contributed.items(), key=lambda item: -item[1])
    ]
    terminal.show("Contribution of each key to the risk (more is riskier)", ("key", "bits", "share"), rows)


def _sentences(terminal: Terminal, result: Assessment, unit: str) -> None:
    summary, name = result.summary, result.people.confidential
    record = summary["per_record"]
    close = {e: closeness(result.people.attribute, e, unit).label for e in result.eps}
    hitting = result.truth.named["true_hit"]
    for e in result.eps:
        share = probability(record["true_hit"][e])
        whose = "" if hitting[e] == result.intruder else f" (of the {hitting[e]} intruder's guesses)"
        terminal.say(
            f"Her best guess of a random person's {name} is {close[e]} with probability "
            f"{probability(record['hit'][e]['mean'])} by her posterior (without the release "
            f"{probability(summary['prior']['hit'][e])}); the actual share is {share}{whose}."
        )
    if "control" in summary:
        _control(terminal, summary["control"], close)
    largest = int(np.max(result.posteriors.sizes))
    alone = float(np.sum(result.posteriors.sizes == 1) / len(result.people))
    terminal.say(
        f"{percent(alone)} of the people are alone in their class; the largest class has {largest:,}."
    )


def _control(terminal: Terminal, control: dict[str, Any], close: Mapping[float, str]) -> None:
    of_people = control["people"]
    for e, hit in control["true_hit"].items():
        low, high = control["interval"]["true_hit"][e]
        terminal.say(
            f"Her best guess is {close[e]} for a share of {probability(hit)} of {control['records']:,} people who were "
            f"not in the data, and of {probability(of_people['true_hit'][e])} of those in it (95% interval of the "
            f"difference {low:.3f} to {high:.3f})."
        )
    terminal.say(
        control_sentence(
            control["records"], of_people["surprise"], control["surprise"], control["interval"]["surprise"]
        )
    )
