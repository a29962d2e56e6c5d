"""What is said of an assessment: on a terminal, and in a notebook in short."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING, Any

import numpy as np

from equivoc.assessment.several import SeveralAssessments
from equivoc.attributes.attribute import closeness, measured_in
from equivoc.render.assessment import assessment_facts
from equivoc.render.blocks import Block, Rows, html_table
from equivoc.render.parts import records_in_words, riskiest_classes
from equivoc.render.several import together_facts, together_value
from equivoc.render.truth import (
    intruder_line,
    participation_facts,
    requirement_facts,
    truth_facts,
    verdict,
)
from equivoc.render.truth_wording import control_sentence, spread_sentence
from equivoc.render.wording import estimates_sentence
from equivoc.results.result import Renderer
from equivoc.text import bits, counted, figure, listed, percent, probability

if TYPE_CHECKING:
    from equivoc.assessment.assessment import Assessment

RISKIEST = 8


def assessment_lines(
    result: Assessment | SeveralAssessments,
    units: Mapping[str, str],
    required: Mapping[str, dict[str, Any] | None],
    *,
    record_values: bool,
) -> Iterator[Block]:
    """The result of each attribute, and the figures of all together.

    ``required`` are the `requirement_facts` of each attribute.
    """
    for name, each in result.attributes.items():
        if len(result.attributes) > 1:
            yield f"── {name} ──"
        yield from _assessment(each, required[name], unit=units[name], record_values=record_values)
    if isinstance(result, SeveralAssessments):
        yield from _together(result, units)


def _together(result: SeveralAssessments, units: Mapping[str, str]) -> Iterator[Block]:
    facts = together_facts(result, units)
    yield "── together ──"
    for f in facts["figures"]:
        yield (f"{f['label']}: {together_value(f)} ({f['unit']}; {f['safer']} is safer): {f['meaning']}.")
    if facts["why_not"]:
        yield f"Some figures of the attributes together are not available: {facts['why_not']}"


def _assessment(
    result: Assessment,
    required: dict[str, Any] | None,
    *,
    unit: str,
    record_values: bool,
) -> Iterator[Block]:
    """The figures beside their baselines, the riskiest classes, the keys' contributions, and what they mean."""
    summary = result.summary
    knowing = ", ".join(result.known) or "nothing"
    yield (
        f"{counted(summary['records'], 'record')}; {result.technique}; an intruder who knows {knowing} "
        f"can distinguish {counted(summary['classes'], 'class')}."
    )
    yield from result.notes
    truth = truth_facts(result)
    sentences = verdict(truth, summary["records"], required)
    yield sentences["headline"]
    if required is not None:
        yield from _requirements(required)
        yield sentences["disclosed"]
    yield intruder_line(result)
    yield from _figures(summary, truth, measured_in(result.people.attribute, unit))
    yield from _participation(result)
    if summary["estimates"]:
        yield estimates_sentence(summary["estimates"])
    yield from _riskiest(result, unit, record_values=record_values)
    if summary.get("contributions"):
        yield from _contributions(summary["contributions"])
    yield from _sentences(result, unit)
    yield truth["sentence"]
    yield sentences["half_bit"]
    yield sentences["sentence"]
    if result.spread is not None:
        yield spread_sentence(result.spread)


def _requirements(required: dict[str, Any]) -> Iterator[Block]:
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
    yield Rows("Requirements", ("requirement", "it is", "met", "missed by"), rows)
    for row in required["rows"]:
        if row["reason"] or row["reach"] or row["releases"] > 1:
            yield row["sentence"]
    for sentence in (required["help"], required["note"]):
        if sentence:
            yield sentence


def _figures(summary: dict[str, Any], truth: dict[str, Any], unit: str) -> Iterator[Block]:
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
    yield Rows(
        "The intruder's remaining uncertainty about a random person (less is riskier)",
        ("", "mean", "min", "5th pct.", "no release", "unchanged"),
        rows,
    )


def _participation(result: Assessment) -> Iterator[Block]:
    """The three figures of a file that is a sample, and what undoes the milder ones."""
    facts = participation_facts(result)
    if facts is None:
        return
    rows = [
        (
            row["label"],
            figure(row["surprise"]),
            figure(row["prior_surprise"]),
            f"{row['certain_right']:,}",
            percent(row["below_half_bit"]),
            percent(row["chance"]),
        )
        for row in facts["figures"]
    ]
    yield Rows(
        "The file is a sample: does she know that her target took part? (less surprise is riskier)",
        ("", "surprise", "no release", "certain and right", "below half a bit", "took part"),
        rows,
    )
    for sentence in (facts["sentence"], facts["warning"], *facts["remarks"]):
        if sentence:
            yield sentence


def _riskiest(result: Assessment, unit: str, *, record_values: bool) -> Iterator[Block]:
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
        yield (
            f"{counted(withheld['classes'], 'class')} of fewer than {fewest} people, {withheld['people']:,} people in "
            f"all: H0 {bits(withheld['h0'])} and area {figure(withheld['area'])} on average. Their key values are "
            "withheld; --record-values shows them."
        )
    if rows:
        names = known or ("class",)
        columns = (*names, "people", "H0, bits", "area", "surprise", *hits)
        title = "The riskiest classes" if fewest == 1 else f"The riskiest classes of {fewest} people or more"
        yield Rows(title, columns, rows, left=len(names))


def _contributions(contributed: dict[str, float]) -> Iterator[Block]:
    total = sum(contributed.values())
    rows = [
        (key, figure(value), f"{percent(value / total)}" if total else "–")
        for key, value in sorted(contributed.items(), key=lambda item: -item[1])
    ]
    yield Rows("Contribution of each key to the risk (more is riskier)", ("key", "bits", "share"), rows)


def _sentences(result: Assessment, unit: str) -> Iterator[Block]:
    summary, name = result.summary, result.people.confidential
    record = summary["per_record"]
    close = {e: closeness(result.people.attribute, e, unit).label for e in result.eps}
    hitting = result.truth.named["true_hit"]
    for e in result.eps:
        share = probability(record["true_hit"][e])
        whose = "" if hitting[e] == result.intruder else f" (of the {hitting[e]} intruder's guesses)"
        yield (
            f"Her best guess of a random person's {name} is {close[e]} with probability "
            f"{probability(record['hit'][e]['mean'])} by her posterior (without the release "
            f"{probability(summary['prior']['hit'][e])}); the actual share is {share}{whose}."
        )
    if "control" in summary:
        yield from _control(summary["control"], close)
    largest = int(np.max(result.posteriors.sizes))
    alone = float(np.sum(result.posteriors.sizes == 1) / len(result.people))
    yield (f"{percent(alone)} of the people are alone in their class; the largest class has {largest:,}.")


def _control(control: dict[str, Any], close: Mapping[float, str]) -> Iterator[Block]:
    of_people = control["people"]
    for e, hit in control["true_hit"].items():
        low, high = control["interval"]["true_hit"][e]
        yield (
            f"Her best guess is {close[e]} for a share of {probability(hit)} of {control['records']:,} people who were "
            f"not in the data, and of {probability(of_people['true_hit'][e])} of those in it (95% interval of the "
            f"difference {low:.3f} to {high:.3f})."
        )
    yield (
        control_sentence(
            control["records"], of_people["surprise"], control["surprise"], control["interval"]["surprise"]
        )
    )


# In a notebook.


def assessment_notebook(result: Assessment) -> str:
    """The averages beside the two baselines."""
    summary = result.summary
    record, prior, bare = summary["per_record"], summary["prior"], summary["unprotected"]
    attribute = result.people.attribute
    truth = truth_facts(result)
    sentences = verdict(truth, summary["records"], requirement_facts(result))
    cells: list[tuple[str, ...]] = [
        (
            "surprise at the true value, bits",
            *(figure(truth[f]) for f in ("surprise", "prior", "unprotected")),
        )
    ]
    for f, label in (("h0", "H0, bits"), ("area", f"area, bits × {measured_in(attribute)}")):
        cells.append((label, figure(record[f]["mean"]), figure(prior[f]), figure(bare[f])))
    for e in result.eps:
        label = f"best guess {closeness(attribute, e).label}"
        rates = (record["hit"][e]["mean"], prior["hit"][e], bare["hit"][e])
        cells.append((label, *map(probability, rates)))
    knows = listed(result.known) if result.known else "no key"
    caption = (
        f"{result.technique}; {records_in_words(result.people)}; the {result.intruder} intruder knows {knows}; "
        f"averages over people. {sentences['headline']}"
    )
    return html_table(Rows(caption, ("", "this release", "without it", "published unchanged"), cells))


def _charts(facts: dict[str, Any], result: Any) -> dict[str, Any]:
    from equivoc.charts.assessment import assessment_figures

    return assessment_figures(facts)


RENDERER = Renderer(
    assessment_facts,
    frozenset({"unit", "record_values", "title", "date", "budget"}),
    assessment_notebook,
    assessment_lines,
    "assessment",
    _charts,
)
