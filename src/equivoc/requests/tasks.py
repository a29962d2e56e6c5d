"""The tasks: what is asked of some people, as frozen plain data; every face says the same thing by one of them.

A task is flat: the fields of its question stand beside its own. `spell` writes any of them as Python, as a command,
as TOML and as JSON; `read` is the way back.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import MISSING, dataclass, replace
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar

from equivoc.errors import InputError
from equivoc.notation.declared import Declared, choice, file, flag, in_python, number, text
from equivoc.notation.lists import inner, names, numbers
from equivoc.requests.people import PeopleRequest

if TYPE_CHECKING:
    from equivoc.data.microdata import Microdata

PRIORS = ("marginal", "uniform")
OF_SURVEYS = ("participation", "population")
"""Fields of the question that only assessments, comparisons and choices use; all else counts on known participation."""
INTRUDERS = ("strongest", "informed", "register", "learned", "paper", "file", "plain")


def _people(given: Any) -> Any:
    """The people of a task: a request, or its plain data."""
    return PeopleRequest.read(given) if isinstance(given, Mapping) else given


def _technique(given: Any) -> Any:
    from equivoc.techniques.notation import technique_from

    return technique_from(given) if isinstance(given, str) else given


def _techniques(given: Any) -> tuple[Any, ...]:
    return tuple(_technique(each) for each in ([given] if isinstance(given, str) else given))


def _participation(given: Any) -> Any:
    from equivoc.intruder.participation import checked_participation

    return checked_participation(given)


def _beside(given: Any, folder: Path) -> Any:
    return str(folder / given) if isinstance(given, str) else given


def public(name: str) -> Any:
    """A public function or class, found by its name: what it needs lies above this room."""
    return getattr(import_module("equivoc"), name)


@dataclass(frozen=True, kw_only=True)
class Question(Declared):
    """What an intruder knows, and which risk is accepted."""

    people: Any = inner("the people", default=None, read=_people)
    known: tuple[str, ...] | None = names(
        "the keys that the intruder knows of her target; None: all of them", default=None
    )
    eps: tuple[float, ...] | None = numbers(
        "tolerances for hit rates, in the confidential attribute's unit", default=None
    )
    prior: str = choice("what is publicly known without the release", *PRIORS, default="marginal")
    intruder: str = choice("the intruder", *INTRUDERS, default="strongest")
    participation: str | float | None = text(
        "whether she knows that her target took part: known, unknown, or the chance",
        default=None,
        read=_participation,
        has_separators=True,
    )
    population: float | None = number(
        "how many people the file stands for, where its weights do not say", above=0, default=None
    )
    require: tuple[str, ...] = names(
        'requirements such as "true_hit(5000) <= 0.2"', default=(), what="requirements"
    )


@dataclass(frozen=True, kw_only=True)
class Task(Question):
    """Something to do with people."""

    verb: ClassVar[str]
    """The function of the package, and the command."""
    first: ClassVar[tuple[str, ...]] = ()
    """The parameters that the function takes by position, after the people."""

    result: ClassVar[str] = "result"
    """What the result is called in a program."""
    shows: ClassVar[tuple[str, ...]] = ()
    """What a program prints of the result."""

    unused: ClassVar[tuple[str, ...]] = ()
    """Fields of the question that mean nothing here: only their defaults are valid."""
    unsaid: ClassVar[tuple[str, ...]] = ()
    """Fields for which the command has no option, because they do not change its figures."""
    no_option: ClassVar[tuple[str, ...]] = ()
    """Fields for which the command has no option, although they matter: a task with one of them has no command."""

    def __post_init__(self) -> None:
        super().__post_init__()
        given = [each.name for each, _ in self.given() if each.name in self.unused]
        if given:
            raise InputError(f"{self.verb} has no use for {given[0]}: leave it out.")

    def program(self) -> list[str]:
        """The lines of a program that come after the people."""
        places, given = self.arguments()
        words = ["people", *map(in_python, places)]
        words += [f"{name}={in_python(value)}" for name, value in given.items()]
        lines = [f"{self.result} = eq.{self.verb}({', '.join(words)})"]
        return lines + [f"print({self.result}.{each})" for each in self.shows]

    def options(self) -> list[str]:
        """Words of the command beside those of the fields."""
        return []

    def arguments(self) -> tuple[list[Any], dict[str, Any]]:
        """What the function takes after the people: by position, and by name."""
        given = {each.name: value for each, value in self.given() if each.name != "people"}
        places = [given.pop(name, None) for name in self.first]
        return places, given

    def run(self, people: Microdata | None = None, **how: Any) -> Any:
        """Do it. ``people`` are those of the request if they are not given; ``how``: store, workers, progress."""
        places, given = self.arguments()
        return public(self.verb)(self.opened(people), *places, **given, **how)

    @property
    def python(self) -> str:
        """The task as a program."""
        from equivoc.requests import spell

        return spell.python(self)

    @property
    def command(self) -> str:
        """The task as a command."""
        from equivoc.requests import spell

        return spell.command(self)

    @property
    def toml(self) -> str:
        """The task as TOML."""
        from equivoc.requests import spell

        return spell.toml(self)

    @property
    def json(self) -> str:
        """The task as JSON."""
        from equivoc.requests import spell

        return spell.json(self)

    def opened(self, people: Microdata | None = None) -> Microdata:
        """The people that are given, or else those of the request."""
        if people is not None:
            return people
        if not isinstance(self.people, PeopleRequest):
            raise InputError(f"{self.verb} needs people: their file and the roles of its columns.")
        return self.columns.open()

    @property
    def request(self) -> PeopleRequest:
        """The people, if they are a request."""
        if not isinstance(self.people, PeopleRequest):
            raise InputError(
                "people that are given as a frame have no command and no plan: name their file in a request."
            )
        return self.people

    @property
    def columns(self) -> PeopleRequest:
        """The people with every column that is used."""
        return self.request

    def beside(self, folder: Path) -> Task:
        """The same task, with the files of its people resolved from ``folder``."""
        if not isinstance(self.people, PeopleRequest):
            return self
        people = {each.name: value for each, value in self.people.given()}
        return replace(self, people=PeopleRequest.read(people, folder))


@dataclass(frozen=True, kw_only=True)
class Assess(Task):
    """Measure the disclosure risk of one technique."""

    renamed: ClassVar = {"tolerance": "precision"}
    name: ClassVar[str] = "assess"
    verb: ClassVar[str] = "assess"
    first: ClassVar[tuple[str, ...]] = ("technique",)
    shows: ClassVar[tuple[str, ...]] = ("summary",)
    technique: Any = inner("the technique, such as sampling:fraction=0.1", read=_technique)
    seed: int = number("the same seed makes the same release", at_least=0, whole=True, default=0)
    replicates: int = number("releases of a random technique", at_least=1, whole=True, default=1)
    precision: float | None = number("certify areas to within this relative error", above=0, default=None)
    control: str | None = file("people who were not in the data", beside=_beside, has_separators=False)


@dataclass(frozen=True, kw_only=True)
class Report(Assess):
    """An assessment, written as a page."""

    name: ClassVar[str] = "report"
    verb: ClassVar[str] = "report"
    out: str = file("the page to write", beside=_beside, default="report.html", has_separators=False)
    unit: str = text("the unit of the confidential attribute", default="")

    def arguments(self) -> tuple[list[Any], dict[str, Any]]:
        places, given = super().arguments()
        return places, {name: value for name, value in given.items() if name not in ("out", "unit")}

    def program(self) -> list[str]:
        unit = f", unit={self.unit!r}" if self.unit else ""
        assessed = super().program()[0].replace("eq.report(", "eq.assess(", 1)
        return [assessed, f"{self.result}.report({self.out!r}{unit})"]

    def options(self) -> list[str]:
        return ["--out", self.out] if self.out == "report.html" else []

    def run(self, people: Microdata | None = None, **how: Any) -> Any:
        (technique,), given = self.arguments()
        result = public("assess")(self.opened(people), technique, **given, **how)
        result.report(self.out, unit=self.unit)
        return result


@dataclass(frozen=True, kw_only=True)
class Compare(Task):
    """Risk and utility of several techniques, and which to take."""

    name: ClassVar[str] = "compare"
    verb: ClassVar[str] = "compare"
    first: ClassVar[tuple[str, ...]] = ("techniques",)
    result: ClassVar[str] = "done"
    shows: ClassVar[tuple[str, ...]] = ("headline", "frame")
    techniques: tuple[Any, ...] = inner("the techniques to compare", read=_techniques)
    utility: str | None = text("the measure of loss that ranks", default=None)
    seed: int = number("the same seed makes the same releases", at_least=0, whole=True, default=0)
    replicates: int = number("releases of each random technique", at_least=1, whole=True, default=1)


@dataclass(frozen=True, kw_only=True)
class Choose(Task):
    """The mildest setting of a technique that meets the requirements."""

    name: ClassVar[str] = "choose"
    verb: ClassVar[str] = "choose"
    first: ClassVar[tuple[str, ...]] = ("technique",)
    result: ClassVar[str] = "best"
    shows: ClassVar[tuple[str, ...]] = ("sentence",)
    technique: str = text("a technique with a range: noise-addition:percent=1..100")
    require: tuple[str, ...] = names("what the setting must meet", what="requirements")
    seed: int = number("the same seed makes the same releases", at_least=0, whole=True, default=0)
    replicates: int = number("releases of a random technique", at_least=1, whole=True, default=1)


@dataclass(frozen=True, kw_only=True)
class Protect(Task):
    """Write the protected file and its certificate."""

    name: ClassVar[str] = "protect"
    verb: ClassVar[str] = "protect"
    first: ClassVar[tuple[str, ...]] = ("technique", "out")
    result: ClassVar[str] = "done"
    shows: ClassVar[tuple[str, ...]] = ("certificate",)
    unused: ClassVar[tuple[str, ...]] = OF_SURVEYS
    technique: Any = inner("the technique", read=_technique)
    out: str = file("the protected file", beside=_beside, default=MISSING, has_separators=False)
    seed: int | None = number(
        "None: a secret one; whoever knows it can undo random changes", at_least=0, whole=True, default=None
    )
    keep: tuple[str, ...] = names("further columns to keep", default=())
    keep_order: bool = flag("keep the order of the records, which can tell who is who")


@dataclass(frozen=True, kw_only=True)
class Audit(Task):
    """What answered queries disclose about each person."""

    name: ClassVar[str] = "audit"
    verb: ClassVar[str] = "audit"
    result: ClassVar[str] = "found"
    shows: ClassVar[tuple[str, ...]] = ("frame",)
    unused: ClassVar[tuple[str, ...]] = ("intruder", *OF_SURVEYS)
    # Only numbers are audited, and weights do not count in queries.
    unsaid: ClassVar[tuple[str, ...]] = (
        "hierarchy",
        "ordered",
        "categories",
        "weights",
        "memory_limit",
        "spill",
    )
    no_option: ClassVar[tuple[str, ...]] = ("statements", "group", "sample", "engine", "master")
    queries: str | None = file(
        "the file of the SQL statements", beside=_beside, default=None, has_separators=False
    )
    statements: tuple[str, ...] = names("the SQL statements themselves", default=(), what="statements")
    prior: str = choice("what the intruder expects before any answer", *PRIORS, default="uniform")

    def __post_init__(self) -> None:
        super().__post_init__()
        if (self.queries is None) == (not self.statements):
            raise InputError("audit: give either queries, a file, or statements, and not both.")

    def arguments(self) -> tuple[list[Any], dict[str, Any]]:
        places, given = super().arguments()
        queries, statements = given.pop("queries", None), given.pop("statements", None)
        return [*places, statements if queries is None else Path(queries)], given
