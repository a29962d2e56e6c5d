"""How the people are read: the file and the roles of its columns, as plain data that can be sent to a process."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from equivoc.attributes.numbers import DECLARE
from equivoc.errors import InputError
from equivoc.reading.reading import TwoReadingsError

if TYPE_CHECKING:
    from equivoc.attributes.kinds import Kind
    from equivoc.data.microdata import Microdata

# The library's messages in the words of the page, which has boxes and fields in place of arguments and
# options.

LEAVE_OUT = "“Leave out people whose confidential value is missing”"
"""The label of a box on the page; a test compares it."""
KIND = "“Kind of values”"
"""The label of a field on the page."""


def in_words_of_the_page(message: str) -> str:
    """A message that names what the reader can click.

    >>> in_words_of_the_page("leave these rows out with drop_missing=True")
    'leave these rows out with “Leave out people whose confidential value is missing”'
    """
    declared = message.replace(DECLARE, f"declare it as categories under {KIND}")
    return declared.replace("drop_missing=True", LEAVE_OUT)


KINDS = ("number", "ordered", "categories", "tree")


@dataclass(frozen=True)
class OwnKind:
    """A confidential column and the kind of its values."""

    name: str
    kind: str
    round_to: float | None = None
    levels: tuple[str, ...] = ()
    """The values of an ordered attribute, lowest first."""
    hierarchy: str | None = None
    """The file of the attribute's hierarchy."""
    unit: str = ""

    @property
    def read_as(self) -> Kind:
        """The kind as the library takes it."""
        from equivoc.attributes.kinds import kinds_of

        return kinds_of(
            [self.name],
            hierarchy={self.name: self.hierarchy} if self.kind == "tree" else None,
            ordered={self.name: list(self.levels)} if self.kind == "ordered" else None,
            categories=[self.name] if self.kind == "categories" else [],
            round_to=self.round_to if self.kind == "number" else None,
        )[0]


@dataclass(frozen=True)
class PeopleSpec:
    """A file and the roles of its columns."""

    path: str
    name: str
    """The file's name as its owner knows it; it replaces the path in messages."""
    confidential: str
    """The attribute on the screen."""
    kind: str
    keys: tuple[str, ...]
    round_to: float | None = None
    unit: str = ""
    levels: tuple[str, ...] = ()
    """The values of an ordered attribute, lowest first."""
    hierarchy: str | None = None
    """The file of the attribute's hierarchy."""
    weights: str | None = None
    group: str | None = None
    """The column that says which people belong together."""
    also: tuple[OwnKind, ...] = ()
    """The other confidential attributes."""
    drop_missing: bool = False
    reading: Mapping[str, Any] = field(default_factory=dict)
    """How the file is read, as far as the page's user says it."""
    hierarchies: Mapping[str, str] = field(default_factory=dict)
    """Files of the page's hierarchies, by the names under which techniques mention them."""
    column_rules: Mapping[str, str] = field(default_factory=dict)
    """For each column with a hierarchy, its file or its widths."""

    @property
    def alone(self) -> PeopleSpec:
        """The same people with the attribute on the screen alone."""
        return replace(self, also=())

    def read(self) -> Microdata:
        """The people, with all confidential attributes. InputError names the file as its owner does."""
        from equivoc.data.read import read

        try:
            return read(
                self.path,
                confidential=[each.read_as for each in (self._own, *self.also)],
                keys=list(self.keys),
                weights=self.weights,
                group=self.group,
                drop_missing=self.drop_missing,
                **self.reading,
            )
        except TwoReadingsError as question:
            raise TwoReadingsError(self.renamed(str(question)), question.answers) from None
        except InputError as mistake:
            raise InputError(self.renamed(str(mistake))) from None

    def renamed(self, text: str) -> str:
        """The text in the words of the page, with the owner's names instead of the paths of the private folder."""
        text = text.replace(self.path, self.name).replace(Path(self.path).name, self.name)
        for name, path in self.hierarchies.items():
            text = text.replace(path, name)
        return in_words_of_the_page(text)

    @property
    def _own(self) -> OwnKind:
        return OwnKind(self.confidential, self.kind, self.round_to, self.levels, self.hierarchy, self.unit)

    def showing(self, name: str | None) -> PeopleSpec:
        """The same people with another of their confidential attributes on the screen."""
        own = next((each for each in self.also if each.name == name), None)
        if own is None:
            return self
        return replace(
            self,
            confidential=own.name,
            kind=own.kind,
            round_to=own.round_to,
            levels=own.levels,
            hierarchy=own.hierarchy,
            unit=own.unit,
            also=(self._own, *(each for each in self.also if each is not own)),
        )

    def technique(self, notation: str) -> Any:
        """The technique of a notation; the hierarchies that it names are those of the page, and no other file is read.

        >>> spec = PeopleSpec("/x/people.csv", "people.csv", "pay", "number", ("age",))
        >>> spec.technique("released-file:table=/etc/passwd")
        Traceback (most recent call last):
        equivoc.errors.InputError: released-file reads a file of its own, which the page does not offer.
        """
        from equivoc.notation.declared import params
        from equivoc.techniques.notation import named_parameters, technique_type

        name, parameters = named_parameters(notation)
        kind = technique_type(name)
        for parameter in (each.name for each in params(kind) if each.kind == "file"):
            if parameter in parameters:
                if parameter != "hierarchies":
                    raise InputError(f"{name} reads a file of its own, which the page does not offer.")
                parameters[parameter] = self._own_hierarchies(parameters[parameter])
        return kind.read(parameters)

    def _own_hierarchies(self, given: str) -> dict[str, Any]:
        """``age:5/10+zip:zip.csv`` with the page's files; InputError if one is not among them."""
        from equivoc.attributes.hierarchy import Calendar
        from equivoc.data.hierarchies import WIDTHS
        from equivoc.notation.words import split_words, unquoted

        rules: dict[str, Any] = {}
        for item in split_words(given, "+"):
            column, *rest = (unquoted(part) for part in split_words(item, ":"))
            rule = ":".join(rest)
            if WIDTHS.fullmatch(rule) or (Calendar.fits(rule) and rule not in self.hierarchies):
                rules[column] = rule
            elif rule in self.hierarchies:
                rules[column] = Path(self.hierarchies[rule])
            else:
                raise InputError(
                    f"there is no hierarchy {rule!r} for {column!r}: upload it, or give widths such as 5/10."
                )
        return rules
