"""The HTML report of a release, with the same facts as JSON."""

from __future__ import annotations

import json
from typing import Any

from equivoc.assessment.assess import assess
from equivoc.files import replacing
from equivoc.report.facts.assessment_facts import assessment_facts
from equivoc.report.page import render, write_page
from equivoc.web.jobs.work import Work


def run(work: Work) -> dict[str, Any]:
    """Write the report; the facts are those of `equivoc report --json`."""
    technique = work.spec.technique(work.text("technique", "unprotected"))
    people = work.people
    work.tell(0, 0, "assessing and drawing")
    result = assess(
        people,
        technique,
        seed=work.whole("seed", 0),
        replicates=work.whole("replicates", 1),
        require=work.texts("require"),
        **work.intruder,
    )
    facts = assessment_facts(
        result, unit=work.spec.unit, title=work.text("title") or None, date=work.text("date") or None
    )
    write_page(render(facts), work.files / "report.html", private=True)
    with replacing(work.files / "report.json", private=True) as temporary:
        temporary.write_text(json.dumps(facts, indent=2, allow_nan=False) + "\n", encoding="utf-8")
    return facts
