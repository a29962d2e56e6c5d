"""A comparison of several settings. It goes on where it was interrupted."""

from __future__ import annotations

from typing import Any

from equivoc.csv_output import write_csv
from equivoc.decide.comparison.compare import compare
from equivoc.measure.parallel import cores
from equivoc.report.page import chart_spec, render_comparison, write_page
from equivoc.web.jobs.work import Work

FEW = 6
"""So few releases are made by one process: starting others takes longer."""


def run(work: Work) -> dict[str, Any]:
    """The facts of the comparison, its map, and its tables and page as files."""
    techniques = [work.spec.technique(notation) for notation in work.texts("techniques")]
    replicates = work.whole("replicates", 1)
    people = work.people
    done = compare(
        people,
        techniques,
        require=work.texts("require"),
        utility=work.text("utility", "query_error"),
        replicates=replicates,
        seed=work.whole("seed", 0),
        store=work.folder / "store",
        workers=1 if len(techniques) * replicates <= FEW else cores(),
        progress=lambda now, total: work.tell(now, total, f"{now} of {total} releases are measured"),
        **work.intruder,
    )
    work.tell(0, 0, "writing the page")
    chart = done.plot()
    facts: dict[str, Any] = done.facts(unit=work.spec.unit)
    write_csv(done.frame, work.files / "comparison.csv", private=True)
    write_csv(done.why, work.files / "requirements.csv", private=True)
    write_page(render_comparison(facts, chart), work.files / "comparison.html", private=True)
    return {**facts, "charts": {"map": chart_spec(chart)}}
