"""The display of results in notebooks: a small table."""

from __future__ import annotations

from collections.abc import Sequence
from html import escape
from typing import Any

from equivoc.assessment.assessment import Assessment
from equivoc.assessment.of_table import TableAssessment
from equivoc.attributes.attribute import closeness, measured_in
from equivoc.auditing.result import Audit
from equivoc.data.microdata import Microdata
from equivoc.render.audit import disclosed_facts, headline
from equivoc.render.table_release import table_release_facts
from equivoc.render.truth import requirement_facts, truth_facts, verdict
from equivoc.text import counted, figure, listed, probability


def notebook_summary(result: Any) -> str:
    """A small HTML table with escaped values."""
    if isinstance(result, Audit):
        return _audit(result)
    if isinstance(result, TableAssessment):
        return _released_table(result)
    return _assessment(result) if isinstance(result, Assessment) else _study(result)


def _assessment(result: Assessment) -> str:
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
        f"{result.technique}; {_records(result.people)}; the {result.intruder} intruder knows {knows}; averages "
        f"over people. {sentences['headline']}"
    )
    return _table(caption, ("", "this release", "without it", "published unchanged"), cells)


def _records(people: Microdata) -> str:
    left_out = f" ({people.dropped:,} left out)" if people.dropped else ""
    return f"{len(people):,} records{left_out}"


def _audit(found: Audit) -> str:
    disclosed = disclosed_facts(found, found.people.attribute.unit)
    rows = [(row["close"], f"{row['surely']:,}", f"{row['likely']:,}") for row in disclosed["within"]]
    caption = f"{counted(found.statement_count, 'statement')}; {_records(found.people)}. {headline(found)}"
    return _table(
        caption, ("people known", "for sure", f"with probability {disclosed['likely']} or more"), rows
    )


def _released_table(result: TableAssessment) -> str:
    facts = table_release_facts(result)
    rows = [
        (
            ", ".join("all" if label is None else label for label in row["categories"]),
            *("no limit" if row[end] is None else figure(row[end]) for end in ("low", "high")),
            "unsafe" if row["unsafe"] else "",
        )
        for row in facts["assessed"][:20]
    ]
    caption = f"{facts['title']}. {facts['method']} {facts['headline']}"
    return _table(caption, ("cell, riskiest first", "at least", "at most", ""), rows)


def _study(result: Any) -> str:
    frame = result.frame
    techniques = list(dict.fromkeys(frame["technique"].tolist()))
    caption = f"{len(frame):,} cells: {', '.join(map(str, techniques))}; averages over replicates"
    table: str = result.summary().head(20).to_html(escape=True, index=True, float_format=figure)
    return f"<p>{escape(caption)}</p>{table}"


def _table(caption: str, columns: tuple[str, ...], rows: Sequence[tuple[str, ...]]) -> str:
    head = "".join(f'<th scope="col">{escape(column)}</th>' for column in columns)
    body = "".join(
        f'<tr><th scope="row">{escape(row[0])}</th>'
        + "".join(f"<td>{escape(entry)}</td>" for entry in row[1:])
        + "</tr>"
        for row in rows
    )
    return f"<table><caption>{escape(caption)}</caption><thead><tr>{head}</tr></thead><tbody>{body}</tbody></table>"
