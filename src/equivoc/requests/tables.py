"""The task of a table of cells: what makes the cells, which are unsafe, and what protects them."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar

from equivoc.errors import InputError
from equivoc.notation.declared import text
from equivoc.notation.lists import names, table
from equivoc.notation.words import quoted
from equivoc.requests.people import PeopleRequest
from equivoc.requests.tasks import OF_SURVEYS, Task, public

if TYPE_CHECKING:
    from equivoc.data.microdata import Microdata

LARGEST = 5
"""The contributions of a cell that `equivoc.tabulate` keeps unless it is told otherwise."""
METHODS = ("none", "suppress", "round", "redesign", "noisy")


def _hierarchies_beside(given: Any, folder: Path) -> Any:
    from equivoc.data.hierarchies import hierarchies_beside

    return hierarchies_beside(given, folder)


@dataclass(frozen=True, kw_only=True)
class Table(Task):
    """The unsafe cells of a table of counts or totals, or the protected table."""

    name: ClassVar[str] = "table"
    verb: ClassVar[str] = "table"
    # Cells need categories only, whatever their kind.
    unsaid: ClassVar[tuple[str, ...]] = (
        "hierarchy",
        "ordered",
        "categories",
        "method",
        "hierarchies",
        "memory_limit",
        "spill",
    )
    no_option: ClassVar[tuple[str, ...]] = ("group", "sample", "engine", "master")
    unused: ClassVar[tuple[str, ...]] = ("known", "prior", "intruder", *OF_SURVEYS)
    by: tuple[str, ...] = names("one to four columns that make the cells")
    value: str | None = text("the column that is added up; None: people are counted", default=None)
    rule: tuple[str, ...] = names("rules for unsafe cells, such as p:10", default=(), what="rules")
    method: str = text("none, suppress, round:5, redesign or noisy:1", default="none")
    hierarchies: Mapping[str, str] = table(
        "for a redesign, the hierarchy of each column: a file, or widths of intervals",
        default=None,
        beside=_hierarchies_beside,
    )
    unit: str = text("the unit of the confidential attribute, for what is printed", default="")

    def __post_init__(self) -> None:
        super().__post_init__()
        name, colon, number = self.method.partition(":")
        if name not in METHODS or bool(colon) != (name in ("round", "noisy")):
            raise InputError(
                f"there is no method {self.method!r}; choose none, suppress, round:5, redesign or noisy:1."
            )
        if name in ("suppress", "redesign") and not self.rule:
            raise InputError("choose a rule that says which cells are unsafe, such as p:10.")
        if name == "redesign" and not self.hierarchies:
            raise InputError("a redesign merges categories: give one of the columns a hierarchy first.")
        if name == "none" and (self.require or self.eps is not None):
            given = "require" if self.require else "eps"
            raise InputError(f"{given} is about a protected table: choose a method, or leave it out.")
        if colon:
            self.number(number)

    def number(self, text: str) -> float:
        """The number of a method, as it is written."""
        try:
            found = float(text)
        except ValueError:
            raise InputError(f"{self.method!r} needs a number, as in round:5 and noisy:1.") from None
        return int(found) if found.is_integer() else found

    @property
    def columns(self) -> PeopleRequest:
        """The people with every column that is used among the keys."""
        people = self.request
        used = (*people.keys, *self.by, *([self.value] if self.value else []))
        keys = tuple(name for name in dict.fromkeys(used) if name not in people.confidential)
        return replace(people, keys=keys)

    def program(self) -> list[str]:
        """The lines after the people."""
        words = [f"{list(self.by)!r}", repr(self.value), *_named(self._largest())]
        lines = [f"table = eq.tabulate(people, {', '.join(words)})"]
        made = self._method()
        if made is None:
            shown = f"table.unsafe({list(self.rule)!r})" if self.rule else "table.frame"
            return [*lines, f"print({shown})"]
        name, given = made
        asked = ", ".join(["table", "release", *_named(self._asked())])
        drawn = ", ".join(["table", *map(repr, self._seed())])
        return [
            *lines,
            f"release = eq.{name}({', '.join(_named(given))}).release({drawn})",
            f"result = eq.assess({asked})",
            "print(result.frame)",
        ]

    def run(self, people: Microdata | None = None, **how: Any) -> Any:
        """The table of cells; with a method, the assessment of the protected table."""
        cells = public("tabulate")(self.opened(people), list(self.by), self.value, **self._largest())
        made = self._method()
        if made is None:
            return cells
        name, given = made
        release = public(name)(**given).release(cells, *self._seed())
        return public("assess")(cells, release, **self._asked(), **how)

    def _largest(self) -> dict[str, Any]:
        """As many contributions as a dominance rule asks for; the command keeps them by itself."""
        from equivoc.tables.rules import Dominance, as_rules

        rules = as_rules(self.rule) if self.rule else ()
        most = max([0, *(rule.n for rule in rules if isinstance(rule, Dominance))])
        return {"largest": most} if most > LARGEST else {}

    def _asked(self) -> dict[str, Any]:
        """The question, for an assessment of the released table."""
        eps = {} if self.eps is None else {"eps": list(self.eps)}
        return eps | ({"require": list(self.require)} if self.require else {})

    def _seed(self) -> tuple[int, ...]:
        """Noise with a seed is for measuring only."""
        return (0,) if self.method.startswith("noisy") else ()

    def _method(self) -> tuple[str, dict[str, Any]] | None:
        """The class of the method and its parameters; None for a table as it is."""
        name, _, number = self.method.partition(":")
        rule = {"rule": list(self.rule)}
        match name:
            case "suppress":
                return "CellSuppression", rule
            case "redesign":
                return "Redesign", rule | {"hierarchies": dict(self.hierarchies)}
            case "round":
                return "CellRounding", {"base": self.number(number)}
            case "noisy":
                return "NoisyCells", {"epsilon": self.number(number)}
        return None

    def options(self) -> list[str]:
        """The options of the method."""
        name, _, number = self.method.partition(":")
        words = {"none": [], "round": ["--round", number], "noisy": ["--noisy", number]}.get(
            name, [f"--{name}"]
        )
        if name == "redesign":
            rules = (f"{quoted(column)}:{_rule(rule)}" for column, rule in self.hierarchies.items())
            words += ["--hierarchies", "+".join(rules)]
        return words


def _named(given: Mapping[str, Any]) -> list[str]:
    return [f"{name}={value!r}" for name, value in given.items()]


def _rule(hierarchy: str) -> str:
    """Widths and periods as they are, a file's name in quotes where it needs them."""
    from equivoc.attributes.hierarchy import Calendar
    from equivoc.data.hierarchies import WIDTHS

    return hierarchy if WIDTHS.fullmatch(hierarchy) or Calendar.fits(hierarchy) else quoted(hierarchy)
