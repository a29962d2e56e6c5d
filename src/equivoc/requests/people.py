"""Which people: their file and the roles of its columns, as plain data that every face shares."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import MISSING, dataclass, fields
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar

from equivoc.errors import InputError
from equivoc.notation.declared import Param, choice, file, flag, number, text
from equivoc.notation.lists import names, numbers, table
from equivoc.reading.reading import Reading

if TYPE_CHECKING:
    from equivoc.attributes.kinds import Kind
    from equivoc.data.microdata import Microdata

LONGEST_DOMAIN = 1_000_000


def _file_beside(given: Any, folder: Path) -> Any:
    """A file resolved from a folder; addresses of databases stay."""
    return str(folder / given) if isinstance(given, str) and "://" not in given else given


def _files_beside(given: Any, folder: Path) -> Any:
    from equivoc.data.hierarchies import rule_beside

    return {name: rule_beside(each, folder) for name, each in given.items()}


@dataclass(frozen=True)
class PeopleRequest(Reading):
    """A file of people, the roles of its columns, and how it is read.

    >>> people = PeopleRequest("people.csv", confidential="pay", keys=["age", "sex"], round_to=10)
    >>> people.confidential, people.data["keys"]
    (('pay',), ['age', 'sex'])
    """

    name: ClassVar[str] = "people"
    source: str = file(
        "the original file (CSV with a header, or Parquet), a folder of Parquet files, or a PostgreSQL table",
        beside=_file_beside,
        default=MISSING,
        has_separators=False,
    )
    confidential: tuple[str, ...] = names("the confidential columns: numbers or categories", default=())
    keys: tuple[str, ...] = names("columns that an intruder may know", default=())
    domain: tuple[float, ...] | None = numbers(
        "values that the confidential attribute can take; None: those that occur", default=None
    )
    round_to: float | None = number(
        "round confidential values to the nearest multiple first", above=0, default=None
    )
    hierarchy: Mapping[str, str] = table(
        "the file of the hierarchy of a confidential column of categories", default=None, beside=_files_beside
    )
    ordered: Mapping[str, list[str]] = table(
        "the categories of an ordered confidential column, lowest first", default=None
    )
    categories: tuple[str, ...] = names("confidential columns whose numbers are codes", default=())
    weights: str | None = text("a column of survey weights", default=None)
    group: str | None = text("a column that says which people belong together: the household", default=None)
    drop_missing: bool = flag("leave out rows without a confidential value")
    sample: int | None = number(
        "draw this many records at random, the same ones each time", at_least=1, whole=True, default=None
    )
    engine: str = choice("what counts the people", "duckdb", "spark", default="duckdb")
    master: str | None = text("the address of Spark's master", default=None)
    memory_limit: str | None = text("the memory in which a file is read and counted", default=None)
    spill: str | None = text("a folder for temporary data that do not fit into the memory", default=None)

    def given(self) -> list[tuple[Param, Any]]:
        """What is required or differs from the defaults; how the file is read comes last."""
        own = {each.name for each in fields(Reading)}
        return sorted(super().given(), key=lambda each: each[0].name in own)

    def kinds(self) -> list[Kind]:
        """The confidential columns, each with the kind of its values."""
        from equivoc.attributes.kinds import kinds_of

        return kinds_of(
            self.confidential,
            hierarchy=self.hierarchy,
            ordered=self.ordered,
            categories=self.categories,
            round_to=self.round_to,
            domain=self.domain,
        )

    def open(self, *, folder: Path | None = None, names: Mapping[str, str] | None = None) -> Microdata:
        """Read the people; relative paths are resolved from ``folder``.

        ``names`` says what the owner calls private paths: they stand in place of the paths in errors.
        """
        from equivoc.data.read import read

        if folder is not None:
            return (
                type(self).read({each.name: value for each, value in self.given()}, folder).open(names=names)
            )
        try:
            return read(
                self.source,
                confidential=self.kinds() or None,
                keys=self.keys,
                weights=self.weights,
                group=self.group,
                drop_missing=self.drop_missing,
                sample=self.sample,
                engine=self.engine,
                master=self.master,
                memory_limit=self.memory_limit,
                spill=self.spill,
                **self.asked.options,
            )
        except InputError as mistake:
            message = str(mistake)
            for path, name in (names or {}).items():
                message = message.replace(path, name)
            raise InputError(message) from None
