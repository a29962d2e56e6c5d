"""Reads people from a file, a folder of files, a database or a cluster; and what is guessed about a file."""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, Unpack

import numpy as np

from equivoc.attributes.written_values import are_dates
from equivoc.data.as_read import TextFacts, two_answers
from equivoc.data.microdata import Confidential, Microdata
from equivoc.data.records import held_columns
from equivoc.data.tables import CsvTable, open_table, reading_of
from equivoc.errors import InputError
from equivoc.reading.reading import Answer, ReadAs, Reading, ReadingOptions, checked_options
from equivoc.reading.written_numbers import Look, look, plain_numbers
from equivoc.text import listed

if TYPE_CHECKING:
    from equivoc.data.columns import Column


def read(
    path: str | os.PathLike[str],
    *,
    confidential: Confidential | None = None,
    keys: Iterable[str] = (),
    domain: Iterable[float] | None = None,
    round_to: float | None = None,
    weights: str | None = None,
    group: str | None = None,
    drop_missing: bool = False,
    sample: int | None = None,
    seed: int = 0,
    memory_limit: int | str | None = None,
    spill: str | os.PathLike[str] | None = None,
    engine: str = "duckdb",
    master: str | None = None,
    **reading: Unpack[ReadingOptions],
) -> Microdata:
    """People from a file, a folder of Parquet files or a PostgreSQL table; see `Microdata` for the arguments.

    With ``engine="spark"``, ``path`` is a folder of Parquet files or a table of Spark's catalog, and Spark counts it.
    ``master`` is the address of Spark's master (``local[*]``, ``spark://host:7077``, ``sc://host:15002``); an active
    session is used in any case, and not stopped.
    """
    source: Any = path
    if engine == "spark":
        from equivoc.engines.spark import open_people

        source = open_people(str(path), master=master)
    elif engine != "duckdb":
        raise InputError(f"engine is {engine!r}; give 'duckdb' or 'spark'.")
    elif master is not None:
        raise InputError("master is the address of a Spark cluster: give engine='spark' as well.")
    return Microdata(
        source,
        confidential=confidential,
        keys=keys,
        domain=domain,
        round_to=round_to,
        weights=weights,
        group=group,
        drop_missing=drop_missing,
        sample=sample,
        seed=seed,
        memory_limit=memory_limit,
        spill=spill,
        **reading,
    )


# A control group: people of the same population who are not in the data.


def control_people(people: Microdata, control: Any) -> Microdata:
    """The control group as Microdata, read like the people's table."""
    try:
        if not isinstance(control, Microdata):
            return people.alike(control)
        if control.several:
            return control_people(people, control.of(people.confidential))
        if control.confidential != people.confidential:
            raise InputError(
                f"its confidential column is {control.confidential!r}, not {people.confidential!r}"
            )
        lacking = [key for key in people.keys if key not in control.keys]
        if lacking:
            raise InputError(f"it lacks the key {lacking[0]!r}")
        people.check_rounded_alike(control)
    except InputError as mistake:
        raise InputError(f"the control group cannot be used: {mistake}") from None
    return control


# What is guessed about a file before its columns have roles, with the evidence: for a page that asks the user.


@dataclass(frozen=True)
class ColumnGuess:
    """What the texts of one column show."""

    name: str
    kind: str
    """number, date, text or empty."""
    decimals: tuple[str, ...]
    """The decimal marks with which it is numbers; two if both fit and give different numbers."""
    thousands: str | None
    missing: Mapping[str, int]
    """Words that would be read as missing, with their numbers of rows."""
    evidence: str
    """Why, in a sentence."""

    @property
    def json(self) -> dict[str, Any]:
        return {
            "name": self.name,
            "kind": self.kind,
            "decimals": list(self.decimals),
            "thousands": self.thousands,
            "missing": dict(self.missing),
            "evidence": self.evidence,
        }


@dataclass(frozen=True)
class FileGuess:
    """How a file would be read, and what each column shows about it."""

    reading: ReadAs
    columns: tuple[ColumnGuess, ...]
    question: str
    """What has to be asked, since two readings fit; "" if nothing."""
    answers: tuple[Answer, ...] = ()
    """What can be said to the question."""

    @property
    def json(self) -> dict[str, Any]:
        """Plain data, for the page."""
        return {
            "reading": self.reading.json,
            "columns": [each.json for each in self.columns],
            "question": self.question,
            "answers": [{"option": dict(each.option), "meaning": each.meaning} for each in self.answers],
        }


def guess(path: str | os.PathLike[str], **options: Any) -> FileGuess:
    """What is guessed about a file; the options are those of `equivoc.read`, and what they say is not guessed."""
    given = Reading(**checked_options("guess", options))
    table = open_table(Path(path), given=given)
    if not isinstance(table, CsvTable):
        return FileGuess(reading_of(table, given, TextFacts(), 0), (), "")
    names = [name for name in table.names if table.names.count(name) == 1]
    columns, _ = held_columns(table, names)
    looks = {
        name: look(column.levels, given=given, column=name, guess=True) for name, column in columns.items()
    }
    found = [_column(name, column, looks[name]) for name, column in columns.items()]
    decided = {each.decimals[0] for each in found if len(each.decimals) == 1}
    doubtful = [each for each in found if len(each.decimals) > 1]
    question = ""
    answers: tuple[Answer, ...] = ()
    if doubtful and len(decided) != 1 and given.decimal is None:
        names = [each.name for each in doubtful]
        question = (
            f"{listed(names)} can be read with a decimal point or with a decimal comma: which one is meant?"
        )
        answers = two_answers(looks[names[0]])
    elif len(decided) > 1:
        question = "Some columns have a decimal point and others a decimal comma: which one is meant?"
        answers = (Answer({"decimal": "."}, "a decimal point"), Answer({"decimal": ","}, "a decimal comma"))
    open_ = None if question else "."
    decimal = given.decimal or (next(iter(decided)) if len(decided) == 1 else open_)
    facts = TextFacts(
        decimal,
        next((each.thousands for each in found if each.thousands is not None), given.thousands),
        {each.name: each.missing for each in found if each.missing},
    )
    rows = len(next(iter(columns.values())).codes) if columns else 0
    return FileGuess(reading_of(table, given, facts, rows), tuple(found), question, answers)


def _column(name: str, column: Column, seen: Look) -> ColumnGuess:
    sizes = np.bincount(column.codes, minlength=len(column.levels))
    words = {str(seen.texts[int(at)].as_py()): int(sizes[at]) for at in np.flatnonzero(seen.missing)}
    there = seen.texts.filter(_kept(seen.missing)).drop_null()
    if not len(there):
        return ColumnGuess(name, "empty", (), None, words, "no row has a value")
    said = (
        f"; {listed([repr(word) for word in list(words)[:3]])} for {sum(words.values()):,} rows"
        if words
        else ""
    )
    if not seen.notations:
        dates = bool(are_dates(there).all())
        evidence = (
            "all values are dates or times" if dates else f"{len(there):,} different texts, not all numbers"
        )
        return ColumnGuess(name, "date" if dates else "text", (), None, words, evidence + said)
    if not seen.marks:
        return ColumnGuess(name, "number", (), None, words, f"all values are whole numbers{said}")
    example = seen.texts[seen.example()].as_py()
    readings = [
        plain_numbers(there.filter(_same(there, example)), each)[0].as_py() for each in seen.notations
    ]
    marks = tuple(each.decimal for each in seen.notations) if seen.ambiguous else (seen.decides,)
    evidence = f"{example!r} is {' or '.join(dict.fromkeys(readings))}{said}"
    thousands = seen.notations[0].thousands if not seen.ambiguous else None
    return ColumnGuess(name, "number", tuple(filter(None, marks)), thousands, words, evidence)


def _kept(missing: Any) -> Any:
    import pyarrow as pa

    return pa.array(~missing)


def _same(texts: Any, text: str) -> Any:
    import pyarrow.compute as pc

    return pc.equal(texts, text)
