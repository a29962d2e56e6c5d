"""How the people are read: the file and the roles of its columns, as plain data that can be sent to a process."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

from equivoc.errors import InputError

if TYPE_CHECKING:
    from equivoc.attributes.kinds import Kind
    from equivoc.data.microdata import Microdata

KINDS = ("number", "ordered", "categories", "tree")


@dataclass(frozen=True)
class PeopleSpec:
    """A file and the roles of its columns."""

    path: str
    name: str
    """The file's name as its owner knows it; it replaces the path in messages."""
    confidential: str
    kind: str
    keys: tuple[str, ...]
    round_to: float | None = None
    unit: str = ""
    levels: tuple[str, ...] = ()
    """The values of an ordered attribute, lowest first."""
    hierarchy: str | None = None
    """The file of the attribute's hierarchy."""
    weights: str | None = None
    drop_missing: bool = False
    hierarchies: Mapping[str, str] = field(default_factory=dict)
    """Files of the page's hierarchies, by the names under which techniques mention them."""
    column_rules: Mapping[str, str] = field(default_factory=dict)
    """For each column with a hierarchy, its file or its widths."""

    def read(self) -> Microdata:
        """The people. InputError names the file as its owner does."""
        from equivoc.data.read import read

        try:
            return read(
                self.path,
                confidential=self._confidential(),
                keys=list(self.keys),
                weights=self.weights,
                drop_missing=self.drop_missing,
            )
        except InputError as mistake:
            raise InputError(self.renamed(str(mistake))) from None

    def renamed(self, text: str) -> str:
        """The text with the owner's names instead of the paths of the private folder."""
        text = text.replace(self.path, self.name)
        for name, path in self.hierarchies.items():
            text = text.replace(path, name)
        return text

    def _confidential(self) -> Kind:
        from equivoc.attributes.kinds import kinds_of

        name, round_to = self.confidential, self.round_to
        return kinds_of(
            [name],
            hierarchy={name: self.hierarchy} if self.kind == "tree" else None,
            ordered={name: list(self.levels)} if self.kind == "ordered" else None,
            categories=[name] if self.kind == "categories" else [],
            round_to=round_to if self.kind == "number" else None,
        )[0]

    def technique(self, notation: str) -> Any:
        """The technique of a notation; the hierarchies that it names are those of the page, and no other file is read.

        >>> spec = PeopleSpec("/x/people.csv", "people.csv", "pay", "number", ("age",))
        >>> spec.technique("released-file:table=/etc/passwd")
        Traceback (most recent call last):
        equivoc.errors.InputError: released-file reads a file of its own, which the page does not offer.
        """
        from equivoc.techniques.notation import named_parameters, technique_type, with_parameters

        name, parameters = named_parameters(notation)
        kind = technique_type(name)
        for parameter in kind.files:
            if parameter in parameters:
                if parameter != "hierarchies":
                    raise InputError(f"{name} reads a file of its own, which the page does not offer.")
                parameters[parameter] = self._own_hierarchies(parameters[parameter])
        return with_parameters(kind, parameters)

    def _own_hierarchies(self, given: str) -> dict[str, Any]:
        """``age:5/10+zip:zip.csv`` with the page's files; InputError if one is not among them."""
        from equivoc.data.hierarchies import WIDTHS
        from equivoc.quoted_words import split_words, unquoted

        rules: dict[str, Any] = {}
        for item in split_words(given, "+"):
            column, *rest = (unquoted(part) for part in split_words(item, ":"))
            rule = ":".join(rest)
            if WIDTHS.fullmatch(rule):
                rules[column] = rule
            elif rule in self.hierarchies:
                rules[column] = Path(self.hierarchies[rule])
            else:
                raise InputError(
                    f"there is no hierarchy {rule!r} for {column!r}: upload it, or give widths such as 5/10."
                )
        return rules
