"""The facts of an audit: who is disclosed, by which statements, and how the figures were found.

As in other reports, no fact discloses a value of one record: answers, and the keys of groups of fewer than three
people, are withheld unless ``record_values=True``.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from equivoc.attributes.attribute import closeness, domain_size, measured_in
from equivoc.auditing.conclusions import MEANINGS
from equivoc.auditing.result import Audit
from equivoc.render import wording
from equivoc.render.assessment import (
    RISKIEST,
    curve_facts,
    data_facts,
    exposure_facts,
    hit_facts,
    prior_name,
    uncertainty_facts,
    versions,
)
from equivoc.render.blocks import Block, Rows, html_table
from equivoc.render.parts import (
    json_values,
    records_in_words,
    riskiest_classes,
    shown_bounds,
    tells_no_value,
)
from equivoc.results.result import Renderer
from equivoc.text import bits, counted, figure, listed, percent, probability

if TYPE_CHECKING:
    from equivoc.auditing.result import ResponsibleStatements
    from equivoc.requirements.outcome import Outcome

MOST_STATEMENTS = 200
"""More statements than these are counted, not shown."""
LIKELY = 0.9
"""A value is likely within a tolerance if a window of that width has at least this probability."""
NOT_ASSUMED = (
    "Not covered: what she knows about people beyond their keys (a salary that she has heard of), answers about other "
    "tables, changes of the data between two answers, and answers that are not in the log."
)


def audit_facts(
    found: Audit,
    *,
    unit: str = "",
    record_values: bool = False,
    title: str | None = None,
    date: str | None = None,
) -> dict[str, Any]:
    """The facts of the report of an audit, ready for JSON.

    With ``record_values``, answers and the key values of small groups are included. ``date`` is printed as given.
    """
    result, people = found.assessment, found.people
    summary, attribute, name = result.summary, people.attribute, people.confidential
    unit = unit or attribute.unit
    hits = hit_facts(result, unit)
    shown = next((hit for hit in hits if hit["eps"] > 0), hits[0])
    bounds = shown_bounds(people)
    figures = uncertainty_facts(summary, measured_in(attribute, unit))
    if not tells_no_value(attribute, bounds):
        # Area divided by mean entropy is the difference between the largest and the smallest person's value.
        figures = [figure for figure in figures if figure["name"] != "mean_entropy"]
    disclosed = disclosed_facts(found, unit)
    facts = {
        "kind": "audit",
        "title": title or f"What the answered queries disclose about {name}",
        "question": f"Given the answers to {counted(found.statement_count, 'statement')}, what is known about each "
        f"person's {name}?",
        "headline": headline(found),
        "disclosed_sentence": disclosed_sentence(found),
        "tone": tone(found),
        "requirements": [each.facts for each in found.requirements],
        "data": data_facts(result, unit, bounds),
        "known": result.known,
        "knows": knows_sentence(found),
        "log": {
            "statements": found.statement_count,
            "questions": len(found.log.questions),
            "groups": len(found.low),
            "shown": min(found.statement_count, MOST_STATEMENTS),
        },
        "statements": statement_facts(found, record_values=record_values)[:MOST_STATEMENTS],
        "disclosed": disclosed,
        "responsible": [responsible_facts(each) for each in found.responsible],
        "unexplained": found.unexplained,
        "figures": figures,
        "hits": hits,
        "shown_hit": shown,
        "people": {**exposure_facts(result, shown["eps"]), "hit_close": shown["close"]},
        "curve": curve_facts(result, bounds),
        "riskiest": riskiest_classes(result, RISKIEST, record_values=record_values, unit=unit),
        "methods": method_facts(found),
        "notes": list(found.notes),
        "terms": [
            {"term": term, "meaning": meaning}
            for term, meaning in wording.methods(
                categories=False,
                control=False,
                mean_entropy=any(f["name"] == "mean_entropy" for f in figures),
            )
            if term not in ("Verdict", "Contributions")
        ],
        "assumptions": [
            *wording.assumptions(
                mechanism=result.release.assumption,
                intruder=result.intruder,
                prior=prior_name(result),
                weights=people.weights is not None,
                given_domain=wording.domain_words(domain_size(attribute), bounds, unit),
            ),
            NOT_ASSUMED,
        ],
        "record_values": record_values,
        "versions": versions(),
        "seed": found.seed,
        "date": date,
    }
    plain: dict[str, Any] = json_values(facts)
    return plain


def headline(found: Audit) -> str:
    """The result in one line: the requirements if there are any, otherwise who is disclosed."""
    if not found.requirements:
        return disclosed_sentence(found)
    return requirement_answer(found.requirements)


def requirement_answer(outcomes: Sequence[Outcome]) -> str:
    """Whether the answers meet the requirements.

    >>> from equivoc.requirements.outcome import outcome
    >>> from equivoc.requirements.requirement import parse_requirement
    >>> requirement_answer([outcome(parse_requirement("h0@worst >= 1"), [0.0])])
    'No, the answers do not meet the requirement. h0@worst >= 1 is not met: it is 0, which is 1 too little.'
    """
    these = "the requirement" if len(outcomes) == 1 else f"all {len(outcomes)} requirements"
    missed = [each for each in outcomes if not each.meets]
    if not missed:
        return f"Yes, the answers meet {these}." + (f" {outcomes[0].sentence}" if len(outcomes) == 1 else "")
    more = (
        f" {len(missed) - 1} more {'is' if len(missed) == 2 else 'are'} not met." if len(missed) > 1 else ""
    )
    return f"No, the answers do not meet {these}. {missed[0].sentence}{more}"


def disclosed_sentence(found: Audit) -> str:
    """How many people's values follow from the answers."""
    people, name = len(found.people), found.people.confidential
    certain = found.certain[found.atom]
    many = int(np.count_nonzero(certain))
    doubt = found.assessment.release.doubt
    if not many:
        sentence = f"Nobody's exact {name} follows from the answers"
        return f"{sentence}." if not doubt else f"{sentence} as far as it was computed: {doubt}."
    sampled = int(np.count_nonzero(certain & ~found.proved[found.atom]))
    share = f"{many:,} of {counted(people, 'person')} ({percent(many / people)})"
    sentence = f"The exact {name} of {share} follows from the answers."
    if sampled:
        sentence += f" For {sampled:,} of them this was found by sampling and is not proved."
    return sentence + (f" Perhaps more follow: {doubt}." if doubt else "")


def tone(found: Audit) -> str:
    """The colour of the verdict: "alarm" if someone is disclosed or a requirement is not met."""
    if not found.meets or found.certain.any():
        return "alarm"
    return "calm" if found.requirements else "caution"


def knows_sentence(found: Audit) -> str:
    """For whom the figures are."""
    result = found.assessment
    if set(result.known) == set(found.people.keys):
        return "All figures are for someone who knows the keys of everyone, so also who is in each query set."
    knows = listed(result.known) if result.known else "no key"
    return (
        "Who is disclosed, and by which statements, is for someone who knows the keys of everyone. The requirements, "
        f"the averages and the groups of people are for someone who knows {knows} of her target: for her, everyone "
        "who agrees on that may be the target."
    )


def disclosed_facts(found: Audit, unit: str) -> dict[str, Any]:
    """How many people's values are known: exactly, and to within each tolerance."""
    sizes = np.bincount(found.atom, minlength=len(found.low))

    def count(chosen: Any) -> int:
        return int(sizes[chosen].sum())

    attribute = found.people.attribute
    untouched = np.array([method == "prior" for method in found.found.method], dtype=np.bool_)
    return {
        "exact": count(found.certain),
        "sampled": count(found.certain & ~found.proved),
        "groups": int(np.count_nonzero(found.certain)),
        "untouched": count(untouched),
        "likely": LIKELY,
        "within": [
            {
                "eps": eps,
                "close": closeness(attribute, eps, unit).label,
                "surely": count(found.known_within(eps)),
                "likely": count(found.known_within(eps, LIKELY)),
            }
            for eps in found.assessment.eps
        ],
    }


def statement_facts(found: Audit, *, record_values: bool) -> list[dict[str, Any]]:
    """Each statement: what it asks, of how many people, and how many groups it helps to disclose."""
    of: list[list[Any]] = [[] for _ in found.sql]
    for each in found.log.questions:
        of[each.statement].append(each)
    used: dict[int, int] = {}
    for responsible in found.responsible:
        for number in responsible.statements:
            used[number] = used.get(number, 0) + responsible.people
    return [
        {
            "number": number,
            "sql": sql,
            "questions": len(asked),
            "fewest": min((each.people for each in asked), default=0),
            "most": max((each.people for each in asked), default=0),
            "answers": [each.answer for each in asked] if record_values else None,
            "discloses": used.get(number, 0),
        }
        for number, (sql, asked) in enumerate(zip(found.sql, of, strict=True), 1)
    ]


def responsible_facts(found: ResponsibleStatements) -> dict[str, Any]:
    """Statements that suffice, and what is proved about them."""
    return {
        "people": found.people,
        "statements": list(found.statements),
        "smallest": found.smallest,
        "irreducible": found.irreducible,
        "words": found.words,
    }


def method_facts(found: Audit) -> list[dict[str, Any]]:
    """How many people's figures come from each method, and what it promises."""
    worst: dict[str, float] = {}
    for method, error in zip(found.method, found.found.error, strict=True):
        if error == error:
            worst[method] = max(worst.get(method, 0.0), float(error))
    return [
        {
            "method": method,
            "people": people,
            "share": people / len(found.people),
            "error": worst.get(method),
            "meaning": MEANINGS.get(method, ""),
        }
        for method, people in found.methods.items()
    ]


# What is said of an audit.

MOST_SETS = 8
"""More sets of responsible statements are counted, not printed."""
LONGEST_SQL = 300
"""Characters of a statement that are printed."""


def audit_lines(facts: dict[str, Any]) -> Iterator[Block]:
    """Who is disclosed, by which statements, the most exposed groups, and how the figures were found."""
    log = facts["log"]
    yield (
        f"{counted(facts['data']['records'], 'record')}; {counted(log['statements'], 'statement')} with "
        f"{counted(log['questions'], 'question')}; {counted(log['groups'], 'group')} of people in the same query sets."
    )
    yield facts["headline"]
    if facts["requirements"]:
        yield from _requirements(facts["requirements"])
        yield facts["disclosed_sentence"]
    yield from _tolerances(facts)
    yield from _responsible(facts)
    yield from _exposed(facts)
    rows = [
        (row["method"], f"{row['people']:,}", "–" if row["error"] is None else figure(row["error"]))
        for row in facts["methods"]
    ]
    yield Rows("How the figures were found", ("method", "people", "largest error"), rows)
    for row in facts["methods"]:
        yield f"- {row['method']}: {row['meaning']}."
    yield facts["knows"]
    for note in facts["notes"]:
        yield f"Note: {note}"


def _requirements(outcomes: list[dict[str, Any]]) -> Iterator[Block]:
    rows = [
        (
            row["requirement"],
            "–" if row["value"] is None else figure(row["value"]),
            "yes" if row["meets"] else "no",
            "–" if row["missed_by"] is None else figure(row["missed_by"]),
        )
        for row in outcomes
    ]
    yield Rows("Requirements", ("requirement", "it is", "met", "missed by"), rows)
    for row in outcomes:
        if row["reason"]:
            yield row["sentence"]


def _tolerances(facts: dict[str, Any]) -> Iterator[Block]:
    name, disclosed = facts["data"]["confidential"]["name"], facts["disclosed"]
    rows = [(row["close"], f"{row['surely']:,}", f"{row['likely']:,}") for row in disclosed["within"]]
    yield Rows(
        f"People whose {name} is known",
        ("", "for sure", f"with probability {disclosed['likely']} or more"),
        rows,
    )


def _responsible(facts: dict[str, Any]) -> Iterator[Block]:
    """The sets of statements, and their SQL."""
    found = facts["responsible"]
    if not found:
        return
    rows = [
        (", ".join(map(str, row["statements"])), row["words"], f"{row['people']:,}")
        for row in found[:MOST_SETS]
    ]
    yield Rows(
        "Statements that suffice to know them (the largest groups first)",
        ("statements", "this set is", "people"),
        rows,
        left=2,
    )
    more = len(found) - len(rows) + facts["unexplained"]
    if more:
        yield f"{counted(more, 'more group')} of people with a known value."
    named = sorted({number for row in found[:MOST_SETS] for number in row["statements"]})
    for statement in facts["statements"]:
        if statement["number"] in named:
            sql = statement["sql"]
            shown = sql if len(sql) <= LONGEST_SQL else f"{sql[:LONGEST_SQL]}…"
            yield f"{statement['number']}: {shown}"


def _exposed(facts: dict[str, Any]) -> Iterator[Block]:
    found, known = facts["riskiest"], facts["known"]
    withheld, fewest = found["withheld"], found["fewest_people"]
    if withheld["classes"]:
        yield (
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
        title = "The most exposed groups" + ("" if fewest == 1 else f" of {fewest} people or more")
        yield Rows(
            f"{title} (less uncertainty is riskier)",
            (*columns, "people", "H0, bits", "area", *hits),
            rows,
            left=len(columns),
        )


# In a notebook.


def audit_notebook(found: Audit) -> str:
    """Whose value is known, by tolerance."""
    disclosed = disclosed_facts(found, found.people.attribute.unit)
    rows = [(row["close"], f"{row['surely']:,}", f"{row['likely']:,}") for row in disclosed["within"]]
    caption = (
        f"{counted(found.statement_count, 'statement')}; {records_in_words(found.people)}. {headline(found)}"
    )
    return html_table(
        Rows(caption, ("people known", "for sure", f"with probability {disclosed['likely']} or more"), rows)
    )


def _charts(facts: dict[str, Any], result: Any) -> dict[str, Any]:
    from equivoc.charts.assessment import audit_figures

    return audit_figures(facts)


RENDERER = Renderer(
    audit_facts,
    frozenset({"unit", "record_values", "title", "date"}),
    audit_notebook,
    audit_lines,
    "audit",
    _charts,
)
