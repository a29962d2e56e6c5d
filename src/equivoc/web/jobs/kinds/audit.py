"""The audit of a pasted log of queries."""

from __future__ import annotations

from typing import Any

from equivoc.auditing.audit import audit
from equivoc.charts.report import audit_figures
from equivoc.csv_output import write_csv
from equivoc.errors import InputError
from equivoc.report.facts.audit_facts import audit_facts
from equivoc.report.page import chart_spec, render_audit, write_page
from equivoc.web.jobs.work import Work


def run(work: Work) -> dict[str, Any]:
    """What the answers disclose, with tables and page as files."""
    statements = work.given.get("statements")
    if not isinstance(statements, str) or not statements.strip():
        raise InputError(
            "paste at least one statement, such as SELECT SUM(salary) FROM people WHERE age > 40."
        )
    people = work.people
    work.tell(0, 0, "auditing")
    shared = work.intruder
    found = audit(
        people,
        statements,
        prior=work.text("prior", "uniform"),
        known=shared["known"],
        eps=shared["eps"],
        seed=work.whole("seed", 0),
        require=work.texts("require"),
    )
    facts = audit_facts(found, unit=work.spec.unit)
    write_csv(found.frame, work.files / "records.csv", private=True)
    write_csv(found.compromised, work.files / "compromised.csv", private=True)
    write_page(render_audit(facts), work.files / "audit.html", private=True)
    return {**facts, "charts": {name: chart_spec(chart) for name, chart in audit_figures(facts).items()}}
