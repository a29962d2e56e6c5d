"""``equivoc compare``: risk and loss of several techniques, and which one to take."""

from __future__ import annotations

import json
import shlex
import sys
from collections.abc import Iterable
from dataclasses import dataclass, fields
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from equivoc.charts.drawing import check_drawing, save_chart
from equivoc.cli.attribute_options import ReadingOptions, numbers
from equivoc.cli.options import (
    EscapeOption,
    ParticipationOption,
    PeopleOptions,
    PopulationOption,
    RequireOption,
    asked_requirements,
    check_intruder,
    exit_code_of,
    with_options,
)
from equivoc.cli.process import StoppedError
from equivoc.errors import InputError
from equivoc.files import check_outputs, write_csv
from equivoc.requests.named_files import technique_files

if TYPE_CHECKING:
    from equivoc.experiments.compare import Request
    from equivoc.experiments.comparison import Comparison
    from equivoc.techniques.technique import Technique

FILES = ("comparison.csv", "why.csv", "map.png", "report.html")
OF_A_PLAN = (
    *("confidential", "keys", "domain", "round_to", "hierarchy", "ordered", "categories", "weights", "group"),
    *("drop_missing", "technique"),
)
"""Options about the data and the techniques, which a plan has itself."""
NOT_OF_A_PLAN = ("sample", "memory_limit", "spill", *(each.name for each in fields(ReadingOptions)))
"""Options about reading the people; a plan reads all records of its file."""


@dataclass(frozen=True, kw_only=True)
class CompareOptions(PeopleOptions):
    """What is compared: a file of people with options, or a plan."""

    people: Annotated[
        str,
        typer.Argument(
            help="The original file (CSV with a header, or Parquet), a folder of Parquet files, a PostgreSQL table, "
            "or a plan (.toml)."
        ),
    ]
    confidential: Annotated[
        str, typer.Option(help="The confidential column: numbers or categories.", show_default=False)
    ] = ""
    keys: Annotated[
        str,
        typer.Option(help="Columns that an intruder may know, separated by commas.", show_default=False),
    ] = ""
    technique: Annotated[
        list[str] | None,
        typer.Option(
            help="A technique to compare, such as 'sampling:fraction=0.1'; 'sampling:fraction=0.1|0.5' is two. "
            "Repeatable."
        ),
    ] = None
    require: RequireOption = None
    utility: Annotated[
        str | None,
        typer.Option(
            help="The measure of loss that ranks: query_error (default), distribution, averages, correlations, "
            "two_way_tables, pmse, prediction or queries_refused."
        ),
    ] = None
    replicates: Annotated[
        int | None,
        typer.Option(
            help="Releases of each random technique, with seeds --seed, --seed + 1, …; default: 1.", min=1
        ),
    ] = None
    seed: Annotated[
        int | None, typer.Option(help="The seed of the first release of each technique; default: 0.", min=0)
    ] = None
    eps: Annotated[
        str | None,
        typer.Option(
            help="Tolerances in the confidential attribute's unit: 0,500; hits are compared at the first above 0."
        ),
    ] = None
    prior: Annotated[
        str,
        typer.Option(
            help="What is publicly known without the release: marginal (default: the distribution of the "
            "confidential attribute) or uniform.",
            show_default=False,
        ),
    ] = ""
    intruder: Annotated[
        str,
        typer.Option(
            help="strongest (default), informed, learned, paper or register; the same for all techniques.",
            show_default=False,
        ),
    ] = ""
    participation: ParticipationOption = None
    population: PopulationOption = None

    @property
    def is_plan(self) -> bool:
        """True if the argument is a plan."""
        return self.file is not None and self.file.suffix.lower() == ".toml"

    def request(self) -> tuple[Request, list[Path]]:
        """The checked comparison, and the files that it reads."""
        check_intruder(self.prior or None, self.intruder or None)
        required = asked_requirements(self.require)
        return self._of_a_plan(required) if self.is_plan else self._of_options(required)

    def _of_a_plan(self, required: Any) -> tuple[Request, list[Path]]:
        from equivoc.experiments.compare import planned
        from equivoc.requests.plan import read_plan

        both = [name for name in OF_A_PLAN if getattr(self, name)]
        if both:
            option = f"--{both[0].replace('_', '-')}"
            raise InputError(
                f"{option} is given with the plan {self.people}: write it into the plan instead."
            )
        for name in NOT_OF_A_PLAN:
            if getattr(self, name) is not None:
                raise InputError(
                    f"--{name.replace('_', '-')} is given with the plan {self.people}: leave it out, or give the "
                    "people and the techniques as options."
                )
        plan = read_plan(Path(self.people), "compare")
        files = [Path(self.people), plan.path.parent / plan.data["path"], *plan.hierarchies().values()]
        files += _files(plan.techniques)
        found = planned(
            plan,
            known=None if self.known is None else self.asked_keys(plan.data["keys"]),
            require=required or None,
            **self._chosen(),
        )
        return found, files

    def _of_options(self, required: Any) -> tuple[Request, list[Path]]:
        from equivoc.experiments.compare import request
        from equivoc.techniques.notation import techniques_from

        for name in ("confidential", "keys", "technique"):
            if not getattr(self, name):
                raise InputError(
                    f"--{name} is missing: name {_MISSING[name]}, or give a plan (a file that ends in .toml)."
                )
        techniques = [each for text in self.technique or () for each in techniques_from(text)]
        people = self.read()
        chosen = {name: value for name, value in self._chosen().items() if value is not None}
        found = request(people, techniques, known=self.asked(people), require=required, **chosen)
        return found, [*self.inputs(), *_files(techniques)]

    def _chosen(self) -> dict[str, Any]:
        names = ("utility", "replicates", "seed", "prior", "intruder", "participation", "population")
        found = {name: getattr(self, name) for name in names}
        for name in ("prior", "intruder"):  # empty by default: a plan may have its own
            found[name] = found[name] or None
        return found | {"eps": None if self.eps is None else numbers("--eps", self.eps)}


_MISSING = {
    "confidential": "the confidential column",
    "keys": "the columns that an intruder may know",
    "technique": "at least one technique",
}


@with_options(CompareOptions)
def compare(
    options: CompareOptions,
    out: Annotated[
        Path | None,
        typer.Option(
            "--out",
            "--store",
            help="A file ending in .html: the page. Otherwise a folder for tables, map and page; an unfinished "
            "comparison in it is continued.",
        ),
    ] = None,
    workers: Annotated[int | None, typer.Option(help="How many cores to use; default: all.", min=1)] = None,
    progress: Annotated[
        str,
        typer.Option(
            help="auto (a bar on a terminal, otherwise nothing), bar, plain (lines for logs) or none."
        ),
    ] = "auto",
    escape: EscapeOption = True,
    unit: Annotated[str, typer.Option(help="The confidential attribute's unit, such as K or cents.")] = "",
    title: Annotated[str | None, typer.Option(help="The page's title.")] = None,
    date: Annotated[
        str | None, typer.Option(help="A date to print; without one, the same data give the same page.")
    ] = None,
    as_json: Annotated[bool, typer.Option("--json", help="Print JSON.")] = False,
) -> None:
    """Compare techniques: the risk and the loss of each, and which to take.

    All techniques are measured for the same intruder. The choice is the one that meets every requirement and loses the
    least; the output says why each other one was not chosen. The exit code is 3 if none meets the requirements.

    Example: equivoc compare people.csv --confidential salary --keys age,sex --technique 'sampling:fraction=0.1|0.5'
    --technique swapping:rate=0.2 --require 'true_hit(5000) <= 0.2' --out choice
    """
    from equivoc.experiments.workers import Interrupted, checked_kind
    from equivoc.parallel import cores

    checked_kind(progress)
    page_only = out is not None and out.suffix.lower() in (".html", ".htm")
    folder = None if page_only else out
    try:
        asked, inputs = options.request()
        outputs = _outputs(out, folder)
        check_outputs(outputs, inputs=inputs, folder=folder)
        if outputs:
            check_drawing()
        done = asked.run(folder, workers=workers or cores(), progress=progress)
        check_outputs(outputs, inputs=inputs, folder=folder)
        words = {"unit": unit, "title": title, "date": date}
        written = [] if out is None else _write(done, out, folder, escape=escape, words=words)
    except KeyboardInterrupt as stopped:
        reason = str(stopped) if isinstance(stopped, Interrupted) else "stopped."
        again = f" To continue: {shlex.join(['equivoc', *sys.argv[1:]])}" if folder is not None else ""
        raise StoppedError(f"{reason}{again}") from None
    with exit_code_of(meets=done.meets):
        if as_json:
            facts = done.facts(unit=unit)
            facts["files"] = [str(path) for path in written]
            print(json.dumps(facts, indent=2, allow_nan=False))
        else:
            from equivoc.render.comparison import comparison_lines
            from equivoc.render.lines import print_blocks

            print_blocks(comparison_lines(done), written)


def _files(techniques: Iterable[Technique]) -> list[Path]:
    return [path for technique in techniques for path in technique_files(technique)]


def _outputs(out: Path | None, folder: Path | None) -> list[Path]:
    from equivoc.experiments.stores import COMPARISON_FILE

    if out is None:
        return []
    return [out] if folder is None else [folder / name for name in (*FILES, COMPARISON_FILE)]


def _write(
    done: Comparison, out: Path, folder: Path | None, *, escape: bool, words: dict[str, Any]
) -> list[Path]:
    """Write the page, or the tables, the map and the page, each completely or not at all."""
    if folder is None:
        return [done.report(out, **words)]
    paths = [folder / name for name in FILES]
    write_csv(done.frame, paths[0], escape=escape)
    write_csv(done.why, paths[1], escape=escape)
    save_chart(done.plot(), paths[2])
    done.report(paths[3], **words)
    return paths
