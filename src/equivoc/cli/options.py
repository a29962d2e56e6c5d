"""The options for a file of people and its release, shared by the commands."""

from __future__ import annotations

import inspect
import sys
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from dataclasses import fields as dataclass_fields
from functools import wraps
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, get_type_hints

import typer

from equivoc.cli.attribute_options import (
    NOTHING,
    ReadingOptions,
    asked_tolerances,
    category_names,
    domain_values,
    hierarchy_files,
    names,
    ordered_levels,
)
from equivoc.cli.process import discard_output
from equivoc.errors import InputError
from equivoc.requests.named_files import technique_files

if TYPE_CHECKING:
    from equivoc.assessment.assessment import Assessment
    from equivoc.assessment.several import SeveralAssessments
    from equivoc.attributes.kinds import Kind
    from equivoc.data.microdata import Microdata
    from equivoc.requirements.requirement import Requirement
    from equivoc.techniques.technique import Technique

# ``--require``, and the exit code of a command whose requirements are not met.

NOT_MET = 3
"""The exit code if a requirement is not met."""

RequireOption = Annotated[
    list[str] | None,
    typer.Option(
        help="What the release must meet: 'true_hit(5000) <= 0.2', 'h0@worst >= 1', 'k >= 3'. Repeatable; the exit "
        "code is 3 if one is not met."
    ),
]


def asked_requirements(given: Sequence[str] | None) -> tuple[Requirement, ...]:
    """The requirements of ``--require``; InputError if one cannot be read or two contradict each other."""
    from equivoc.requirements.requirement import requirements

    return requirements(given)


@contextmanager
def exit_code_of(*, meets: bool) -> Iterator[None]:
    """Print the result inside; afterwards the command ends with exit code 3 unless the requirements are met.

    Also if the reader closes the output early, as ``| head`` does: a pipeline must not take that for a success.
    """
    try:
        yield
        if sys.stdout is not None:
            sys.stdout.flush()
    except BrokenPipeError:
        discard_output()
    if not meets:
        raise typer.Exit(NOT_MET)


EscapeOption = Annotated[
    bool,
    typer.Option(
        help="In CSV files, put an apostrophe before texts that a spreadsheet would treat as formulas."
    ),
]
ParticipationOption = Annotated[
    str | None,
    typer.Option(
        help="Whether the intruder knows that her target took part in the survey: known (default), unknown (the "
        "weights give the chance), or the chance, such as 0.02."
    ),
]
PopulationOption = Annotated[
    float | None,
    typer.Option(help="How many people the file stands for, where its survey weights do not say."),
]
DomainOption = Annotated[
    str | None,
    typer.Option(help="Values the confidential attribute can take: 10:250:10 (low:high:step) or 10,20,50."),
]
RoundToOption = Annotated[
    float | None, typer.Option(help="Round confidential values to the nearest multiple.")
]
DropMissingOption = Annotated[bool, typer.Option(help="Leave out rows without a confidential value.")]

EngineOption = Annotated[
    str,
    typer.Option(
        help="What counts the people: duckdb, or spark for a folder of Parquet files or a table there."
    ),
]
MasterOption = Annotated[
    str | None,
    typer.Option(help="The address of Spark's master: local[*], spark://host:7077, sc://host:15002, yarn."),
]

PRIORS = ("marginal", "uniform")
"""The choices of ``--prior``."""
INTRUDERS = ("strongest", "informed", "register", "learned", "paper", "file", "plain")
"""The choices of ``--intruder``."""


def check_intruder(prior: str | None, intruder: str | None) -> None:
    """InputError unless these are choices of ``--prior`` and ``--intruder``, or not given."""
    if prior is not None and prior not in PRIORS:
        raise InputError(f"--prior {prior}: choose {' or '.join(PRIORS)}.")
    if intruder is not None and intruder not in INTRUDERS:
        *most, last = INTRUDERS
        raise InputError(f"--intruder {intruder}: choose {', '.join(most)} or {last}.")


@dataclass(frozen=True, kw_only=True)
class PeopleOptions(ReadingOptions):
    """A file of people and an intruder, as the options of a command describe them."""

    people: Annotated[
        str,
        typer.Argument(
            help="The original file (CSV with a header, or Parquet), a folder of Parquet files, or a PostgreSQL table: "
            "postgresql:///dbname?table=people."
        ),
    ]
    confidential: Annotated[
        str,
        typer.Option(help="The confidential column: numbers or categories; several are separated by commas."),
    ]
    keys: Annotated[str, typer.Option(help="Columns that an intruder may know, separated by commas.")]
    known: Annotated[
        str | None,
        typer.Option(
            help="The keys that the intruder knows, separated by commas; 'none' for no key; default: all keys."
        ),
    ] = None
    domain: DomainOption = None
    round_to: RoundToOption = None
    hierarchy: Annotated[
        list[str] | None,
        typer.Option(
            help="The hierarchy of a confidential column of categories: disease=disease.csv. Repeatable."
        ),
    ] = None
    ordered: Annotated[
        list[str] | None,
        typer.Option(
            help="The categories of an ordered confidential column, lowest first: severity=mild,moderate,severe. "
            "Repeatable."
        ),
    ] = None
    categories: Annotated[
        list[str] | None,
        typer.Option(help="Confidential columns whose numbers are codes of categories, separated by commas."),
    ] = None
    prior: Annotated[
        str,
        typer.Option(
            help="What is publicly known without the release: marginal (the distribution of the confidential "
            "attribute) or uniform."
        ),
    ] = "marginal"
    intruder: Annotated[
        str,
        typer.Option(
            help="paper (as published), informed (Bayes' rule and the mechanism), register (also "
            "knows everybody's keys), learned (also learns from the release), or strongest: the nearest to the truth."
        ),
    ] = "strongest"
    weights: Annotated[str | None, typer.Option(help="A column of survey weights.")] = None
    group: Annotated[
        str | None, typer.Option(help="A column that says which people belong together: the household.")
    ] = None
    drop_missing: DropMissingOption = False
    engine: EngineOption = "duckdb"
    master: MasterOption = None
    sample: Annotated[
        int | None,
        typer.Option(
            help="Draw this many records at random, the same ones each time, and use only these.", min=1
        ),
    ] = None
    memory_limit: Annotated[
        str | None, typer.Option(help="The memory in which a file is read and counted, such as 2GiB.")
    ] = None
    spill: Annotated[
        Path | None,
        typer.Option(
            help="A folder for temporary data that do not fit into --memory-limit; they are removed."
        ),
    ] = None

    @property
    def file(self) -> Path | None:
        """The file or folder of the people; None for a database."""
        from equivoc.engines.postgresql import is_address

        return None if is_address(self.people) else Path(self.people)

    def attributes(self) -> list[str]:
        """The names of the confidential columns."""
        return names("--confidential", self.confidential)

    def kinds(self, *, domain: list[float] | None) -> list[Kind]:
        """The confidential columns, each with the kind of its values."""
        from equivoc.attributes.kinds import kinds_of

        return kinds_of(
            self.attributes(),
            hierarchy=hierarchy_files(self.hierarchy),
            ordered=ordered_levels(self.ordered),
            categories=category_names(self.categories),
            round_to=self.round_to,
            domain=domain,
        )

    def read(self, *, control: Path | None = None) -> Microdata:
        """The people; with ``control``, those of another file with the same columns."""
        from equivoc.data.read import read

        if self.known is not None:  # an error in the options is reported before a file is read
            names("--known", self.known)
        domain = None if self.domain is None or control is not None else domain_values(self.domain)
        return read(
            self.people if control is None else control,
            confidential=self.kinds(domain=domain) or None,
            keys=names("--keys", self.keys),
            weights=self.weights if control is None else None,
            group=self.group if control is None else None,
            drop_missing=self.drop_missing,
            engine=self.engine if control is None else "duckdb",
            master=self.master if control is None else None,
            sample=self.sample if control is None else None,
            memory_limit=self.memory_limit,
            spill=self.spill,
            **self.reading.options,
        )

    def asked(self, people: Microdata) -> list[str]:
        """The keys that the intruder knows."""
        return self.asked_keys(people.keys)

    def asked_keys(self, keys: Sequence[str]) -> list[str]:
        """Those of the ``keys`` that the intruder knows."""
        if self.known is None:
            return list(keys)
        if self.known.strip() == NOTHING and NOTHING not in keys:
            return []
        return names("--known", self.known)

    def inputs(self) -> list[Path]:
        """The files that are read; none of them may be overwritten."""
        people = [] if self.file is None else [self.file]
        layout = [] if self.layout is None else [self.layout]
        return [*people, *layout, *hierarchy_files(self.hierarchy).values()]

    def others(self, control: Path) -> Microdata:
        """The people of the control group, read like the people in the data."""
        try:
            return self.read(control=control)
        except InputError as mistake:
            raise InputError(f"the control group cannot be used: {mistake}") from None


@dataclass(frozen=True, kw_only=True)
class ReleaseOptions(PeopleOptions):
    """A file of people and its release, as the options of a command describe them."""

    technique: Annotated[
        str | None,
        typer.Option(help="The technique: unprotected (default), or another such as sampling:fraction=0.1."),
    ] = None
    release: Annotated[
        Path | None,
        typer.Option(help="A released file, masked or synthetic, to assess instead of a technique."),
    ] = None
    matching: Annotated[
        str | None,
        typer.Option(
            help="How records of --release are linked to people: exact, nearest, probable; default: as --intruder says."
        ),
    ] = None
    channel: Annotated[
        str | None,
        typer.Option(
            help="The technique that --release was made with, if it is known: noise-addition:percent=20."
        ),
    ] = None
    seed: Annotated[int, typer.Option(help="The same seed makes the same release.", min=0)] = 0

    def chosen(self) -> Technique:
        """The technique that ``--technique`` describes, or the released file."""
        from equivoc.techniques.notation import technique_from
        from equivoc.techniques.released_file import ReleasedFile

        if self.release is None:
            if self.matching is not None:
                raise InputError(
                    "--matching sets how the records of --release are linked: give --release as well."
                )
            if self.channel is not None:
                raise InputError("--channel says how the file of --release was made: give --release as well.")
            return technique_from("unprotected" if self.technique is None else self.technique)
        if self.technique is not None:
            raise InputError("--technique and --release are both given: give only one of them.")
        return ReleasedFile(self.release, matching=self.matching, channel=self.channel)

    def inputs(self) -> list[Path]:
        """The files that are read, including those that a technique names; none of them may be overwritten."""
        found = [*super().inputs(), *technique_files(self.chosen())]
        return found if self.release is None else [*found, self.release]


@dataclass(frozen=True, kw_only=True)
class MeasureOptions(ReleaseOptions):
    """The options of the classic measures, some of which need keys only."""

    confidential: Annotated[
        str, typer.Option(help="The confidential column; none: only the measures of the keys, such as k.")
    ] = NOTHING

    def attributes(self) -> list[str]:
        return [] if self.confidential.strip() == NOTHING else super().attributes()


@dataclass(frozen=True, kw_only=True)
class AssessmentOptions(ReleaseOptions):
    """The options of an assessment."""

    eps: Annotated[
        str | None,
        typer.Option(
            help="Tolerances for hit rates, in the confidential attribute's unit: 5,10. For several attributes, by "
            "name: salary=5,disease=1."
        ),
    ] = None
    precision: Annotated[
        float | None,
        typer.Option(
            help="Certify areas to within this relative error, such as 0.01; by default, areas of classes with many "
            "values are estimated."
        ),
    ] = None
    tolerance: Annotated[float | None, typer.Option(help="The old name of --precision.", hidden=True)] = None
    replicates: Annotated[
        int,
        typer.Option(
            help="Releases of a random technique, with seeds --seed, --seed + 1, …: prints how the figures vary.",
            min=1,
        ),
    ] = 1
    control: Annotated[
        Path | None, typer.Option(help="A file of people who were not in the data, for comparison.")
    ] = None

    unit: Annotated[str, typer.Option(help="The confidential attribute's unit, such as K or cents.")] = ""
    require: RequireOption = None
    participation: ParticipationOption = None
    population: PopulationOption = None

    def inputs(self) -> list[Path]:
        """The files that are read; none of them may be overwritten."""
        return super().inputs() if self.control is None else [*super().inputs(), self.control]

    def assessment(self) -> Assessment | SeveralAssessments:
        """The assessment of one attribute, or of several; an error in the options is reported before a file is read."""
        from equivoc.assessment.assess import assess

        if self.precision is not None and self.tolerance is not None:
            raise InputError("--tolerance is the old name of --precision: give --precision only.")
        check_intruder(self.prior, self.intruder)
        chosen = self.chosen()
        required = asked_requirements(self.require)
        tolerances = asked_tolerances(self.eps, self.attributes())
        people = self.read()
        others = None if self.control is None else self.others(self.control)
        result: Assessment | SeveralAssessments = assess(
            people,
            chosen,
            known=self.asked(people),
            seed=self.seed,
            eps=tolerances,
            prior=self.prior,
            intruder=self.intruder,
            control=others,
            precision=self.tolerance if self.precision is None else self.precision,
            replicates=self.replicates,
            require=required,
            participation=self.participation,
            population=self.population,
        )
        return result


def with_options(kind: type[ReadingOptions]) -> Callable[[Callable[..., None]], Callable[..., None]]:
    """Decorate a command whose first parameter is a ``kind``: on the command line it has the fields of ``kind`` as
    options, followed by its own.
    """

    def decorate(command: Callable[..., None]) -> Callable[..., None]:
        # Fields of a base class are described in the terms of its own module.
        described = get_type_hints(kind, include_extras=True)
        fields = inspect.signature(kind).parameters
        shared = {name: field.replace(annotation=described[name]) for name, field in fields.items()}
        own = list(inspect.signature(command, eval_str=True).parameters.values())[1:]

        @wraps(command)
        def with_all(**given: Any) -> None:
            command(kind(**{name: given.pop(name) for name in shared}), **given)

        how = {each.name for each in dataclass_fields(ReadingOptions)}
        first = [p for name, p in shared.items() if name not in how]
        last = [p for name, p in shared.items() if name in how]  # how the file is read: seldom needed
        parameters = [p.replace(kind=p.KEYWORD_ONLY) for p in (*first, *own, *last)]
        with_all.__signature__ = inspect.Signature(parameters)  # type: ignore[attr-defined]
        with_all.__annotations__ = {p.name: p.annotation for p in parameters}
        return with_all

    return decorate
