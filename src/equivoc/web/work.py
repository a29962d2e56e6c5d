"""What a job's process gets: the people, the request, a folder for its files, and a way to tell its progress."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any

from equivoc.assessment.assess import assess
from equivoc.assessment.of_table import assess_table
from equivoc.auditing.audit import audit
from equivoc.charts.assessment import audit_figures, interval_chart
from equivoc.errors import InputError
from equivoc.experiments.choose import choose_among
from equivoc.experiments.compare import compare
from equivoc.files import replacing, write_csv
from equivoc.parallel import cores
from equivoc.protection.protect import protect
from equivoc.render.assessment import assessment_facts
from equivoc.render.audit import audit_facts
from equivoc.render.comparison import choice_facts, protection_facts
from equivoc.render.page import chart_spec, render, write_page
from equivoc.render.table_release import table_release_facts
from equivoc.requests.ranges import search_range
from equivoc.tables.cell_rounding import CellRounding
from equivoc.tables.cell_table import CellTable
from equivoc.tables.release import TableRelease
from equivoc.tables.rules import Dominance, as_rules
from equivoc.tables.suppression.cell_suppression import CellSuppression
from equivoc.tables.tabulate import tabulate
from equivoc.techniques.notation import named_parameters, technique_type
from equivoc.techniques.technique import Technique, tried_parameters
from equivoc.web.held_people import text, texts
from equivoc.web.people_spec import PeopleSpec

if TYPE_CHECKING:
    from equivoc.data.microdata import Microdata

Tell = Callable[[int, int, str], None]
"""Called with what is done, what there is in all, and a sentence."""


@dataclass(frozen=True, eq=False)
class Work:
    """One job."""

    spec: PeopleSpec
    given: Mapping[str, Any]
    """The request."""
    folder: Path
    """The job's own folder; what is in ``files`` can be downloaded."""
    tell: Tell

    @cached_property
    def people(self) -> Microdata:
        """The people with the attribute that is on the screen, read once."""
        self.tell(0, 0, "reading the file")
        return self.spec.alone.read()

    @property
    def files(self) -> Path:
        """The folder of the files to download."""
        return self.folder / "files"

    def text(self, name: str, default: str = "") -> str:
        """A text of the request."""
        return text(self.given, name, default)

    def texts(self, name: str) -> tuple[str, ...]:
        """A list of texts of the request."""
        return texts(self.given, name)

    def number(self, name: str) -> float | None:
        """A number of the request; None if it is not given."""
        found = self.given.get(name)
        if found is not None and (isinstance(found, bool) or not isinstance(found, (int, float))):
            raise InputError(f"{name} must be a number.")
        return found

    def whole(self, name: str, default: int) -> int:
        """A whole number of the request."""
        found = self.given.get(name)
        if found is None:
            return default
        if isinstance(found, bool) or not isinstance(found, int):
            raise InputError(f"{name} must be a whole number.")
        return found

    @property
    def known(self) -> list[str] | None:
        """The keys that the intruder knows; None: all."""
        return None if self.given.get("known") is None else list(self.texts("known"))

    @property
    def intruder(self) -> dict[str, Any]:
        """The arguments that every assessment has."""
        eps = self.number("eps")
        return {
            "known": self.known,
            "prior": self.text("prior", "marginal"),
            "intruder": self.text("intruder", "strongest"),
            "eps": None if eps is None else sorted({0.0, float(eps)}),
        }


# The audit of a pasted log of queries.


def audit_job(work: Work) -> dict[str, Any]:
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
    tables = found.tables()
    for name in ("records", "compromised"):
        write_csv(tables[name], work.files / f"{name}.csv", private=True)
    write_page(render(facts), work.files / "audit.html", private=True)
    return {**facts, "charts": {name: chart_spec(chart) for name, chart in audit_figures(facts).items()}}


# The search for the mildest setting that meets the requirements.


def choose_job(work: Work) -> dict[str, Any]:
    """The choice and what was tried."""
    name, fixed = named_parameters(work.text("technique"))
    kind = technique_type(name)
    parameter = work.text("parameter") or None
    fixed.pop(parameter or next(iter(tried_parameters(kind)), ""), None)
    within = search_range(
        kind,
        parameter,
        low=work.number("low"),
        high=work.number("high"),
        step=work.number("step"),
        fixed=fixed,
    )
    people = work.people
    tried = 0

    def tell(line: str) -> None:
        nonlocal tried
        tried += 1
        work.tell(tried, 0, line)

    done = choose_among(
        people,
        [within],
        require=work.texts("require"),
        utility=work.text("utility", "query_error"),
        seed=work.whole("seed", 0),
        replicates=work.whole("replicates", 1),
        store=work.folder / "store",
        progress=tell,
        **work.intruder,
    )
    facts = choice_facts(done)
    choice = done.choices[0]
    return {
        **facts,
        "kind": "choose",
        "found": facts["technique"],
        "sentence": choice.sentence,
        "tried": [_tried(trial) for trial in choice.mildest_first],
    }


def _tried(trial: Any) -> dict[str, Any]:
    """A setting that was tried: its figure in the first requirement, and the requirement that it misses by most."""
    first, binding = trial.outcomes[0], trial.binding
    return {
        "value": trial.value,
        "meets": trial.meets,
        "risk": {"mean": first.value},
        "loss": None,
        "sentence": (first if binding is None else binding).sentence,
    }


# A comparison of several settings. It goes on where it was interrupted.

FEW = 6
"""So few releases are made by one process: starting others takes longer."""


def compare_job(work: Work) -> dict[str, Any]:
    """The facts of the comparison, its map, and its tables and page as files."""
    techniques, unreadable = _techniques(work)
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
    facts["techniques"] += [
        _unreadable(number, notation, why, facts)
        for number, (notation, why) in enumerate(unreadable.items(), len(facts["techniques"]) + 1)
    ]
    write_csv(done.frame, work.files / "comparison.csv", private=True)
    write_csv(done.why, work.files / "requirements.csv", private=True)
    write_page(render(facts, done), work.files / "comparison.html", private=True)
    return {**facts, "charts": {"map": chart_spec(chart)}}


def _techniques(work: Work) -> tuple[list[Technique], dict[str, str]]:
    """The techniques, each once, and why other notations cannot be read; InputError if none can."""
    techniques: dict[str, Technique] = {}
    unreadable: dict[str, str] = {}
    for notation in work.texts("techniques"):
        try:
            made = work.spec.technique(notation)
        except InputError as mistake:
            unreadable[notation] = str(mistake)
        else:
            techniques.setdefault(made.notation, made)
    if unreadable and not techniques:
        raise InputError(next(iter(unreadable.values())))
    return list(techniques.values()), unreadable


def _unreadable(number: int, notation: str, why: str, facts: dict[str, Any]) -> dict[str, Any]:
    """The row of a setting that cannot be read, with the same entries as the other rows of ``facts``."""
    name, _, parameters = notation.partition(":")
    none = {"mean": None, "low": None, "high": None}
    return {
        "number": number,
        "notation": notation,
        "technique": name,
        "parameters": parameters,
        "releases": 0,
        "intruders": [],
        "risk": none,
        "loss": none,
        "risks": {each["name"]: none for each in facts["figures"]},
        "losses": {each["name"]: none for each in facts["losses"]},
        "meets": False,
        "front": False,
        "chosen": False,
        "tied": False,
        "failed": why,
        "outcomes": [],
        "reason": f"It cannot be read: {why}",
    }


# The protected file and its certificate.

FORMATS = ("csv", "parquet")


def protect_job(work: Work) -> dict[str, Any]:
    """Write both files. Without a seed in the request it is drawn, and nobody can undo the random changes."""
    technique = work.spec.technique(work.text("technique"))
    suffix = work.text("format", "csv")
    if suffix not in FORMATS:
        raise InputError("the protected file is csv or parquet.")
    seed = work.given.get("seed")
    work.tell(0, 0, "reading the file")
    people = work.spec.read()  # all confidential attributes are in the file
    asked = work.intruder
    if work.spec.also:
        asked["eps"] = None  # the tolerance on the screen is of one attribute
    work.tell(0, 0, "protecting and assessing")
    done = protect(
        people,
        technique,
        work.files / f"protected.{suffix}",
        certificate=work.files / "certificate.json",
        seed=None if seed is None else work.whole("seed", 0),
        show_seed=bool(work.given.get("show_seed")),
        keep=list(work.texts("keep")),
        keep_order=bool(work.given.get("keep_order")),
        require=list(work.texts("require")),
        write_anyway=bool(work.given.get("write_anyway")),
        **asked,
    )
    sentence = (
        "The file and its certificate are written."
        if done.written
        else "Nothing was written, because a requirement is not met: "
        + " ".join(each.outcome.sentence for each in done.judged if not each.outcome.meets)
    )
    facts = protection_facts(done)
    meets = done.meets if done.judged else None
    return {
        **facts,
        "kind": "protect",
        "meets": meets,
        "sentence": " ".join([sentence, *done.warnings]),
        "files": None,
    }


# The HTML report of a release, with the same facts as JSON.


def report_job(work: Work) -> dict[str, Any]:
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


# A table of counts or totals: its unsafe cells, or the protected table.

TIME_LIMIT = 60.0
"""Seconds for the search of cells to suppress."""


def table_job(work: Work) -> dict[str, Any]:
    """The facts of the table, with the table as a file."""
    by, value, method = list(work.texts("by")), work.text("value") or None, work.text("method", "none")
    if not by:
        raise InputError("choose one to four columns that make the cells.")
    named = [text for text in (work.text("rule"), *work.texts("rules")) if text]
    rules = as_rules(named) if named else ()
    spec = work.spec
    # A table may be made of any columns: those that are used become keys.
    used = [name for name in (*by, *([value] if value else [])) if name != spec.confidential]
    people = replace(spec.alone, keys=tuple(dict.fromkeys((*spec.keys, *used)))).read()
    work.tell(0, 0, "working on the table")
    table = tabulate(
        people,
        by,
        value,
        largest=max([5, *(min(rule.n, len(people)) for rule in rules if isinstance(rule, Dominance))]),
    )
    made = _release(work, table, rules, method)
    facts = table_release_facts(
        assess_table(table, made, require=work.texts("require")), rules=rules, unit=spec.unit
    )
    write_csv(made.table, work.files / "released.csv", private=True)
    write_page(render(facts), work.files / "table.html", private=True)
    chart = interval_chart(facts)
    return {**facts, "charts": {} if chart is None else {"intervals": chart_spec(chart)}}


def _release(work: Work, table: CellTable, rules: Any, method: str) -> Any:
    name, _, rest = method.partition(":")
    if name == "none":
        return TableRelease(table, table.values.copy())
    if name == "suppress":
        if not rules:
            raise InputError("choose a rule that says which cells are unsafe, such as p:10.")
        return CellSuppression(rule=rules, time_limit=TIME_LIMIT).release(table)
    if name == "round":
        try:
            base = float(rest)
        except ValueError:
            raise InputError(f"{method!r} needs a base, as in round:5.") from None
        return CellRounding(int(base) if base.is_integer() else base).release(table)
    if name == "redesign":
        from equivoc.tables.redesign import Redesign

        own = {column: rule for column, rule in work.spec.column_rules.items() if column in table.by}
        if not own:
            raise InputError("a redesign merges categories: give one of the columns a hierarchy first.")
        return Redesign(rule=rules, hierarchies=own).release(table)
    raise InputError(f"there is no method {method!r}; choose none, suppress, round:5 or redesign.")


JOBS: dict[str, Callable[[Work], dict[str, Any]]] = {
    "audit": audit_job,
    "choose": choose_job,
    "compare": compare_job,
    "protect": protect_job,
    "report": report_job,
    "table": table_job,
}
"""What computes each kind of job."""
