"""A file released by another tool: masked or synthetic."""

from __future__ import annotations

import os
from dataclasses import MISSING, dataclass
from functools import cached_property
from hashlib import sha256
from typing import Any, ClassVar

from equivoc.data.microdata import Microdata, check_people
from equivoc.data.records import held_columns
from equivoc.data.roles import checked_roles
from equivoc.data.tables import open_table
from equivoc.errors import InputError
from equivoc.notation.declared import choice, file, text
from equivoc.notation.words import quoted
from equivoc.releases.file_reading import FileReading
from equivoc.releases.file_release import MATCHINGS, FileRelease
from equivoc.releases.stated_mechanism import StatedMechanism
from equivoc.techniques.technique import Randomness, Technique, beside

PATTERN_SEED = 0
"""The seed of the release that shows which symbols a stated technique has; its draws are not used."""


def _technique(given: Any) -> Technique:
    """A technique, perhaps given as text."""
    if isinstance(given, str):
        from equivoc.techniques.notation import technique_from

        return technique_from(given)
    if not isinstance(given, Technique):
        raise InputError(
            f"released-file: channel is {given!r}; give a technique, such as NoiseAddition(percent=20)."
        )
    return given


@dataclass(frozen=True, eq=False)
class ReleasedFile(Technique):
    """Assess an existing released file: masked with any tool, or fully synthetic.

    ``table`` is a path (CSV, Parquet), a pandas, polars or pyarrow table, or a DuckDB relation, with the original's
    keys and confidential column. It may have more or fewer records than the original, in any order. Values may be
    generalised: ``[20,30)``, ``20-29``, ``>=65``, ``2*``, ``{cook,judge}``; ``*``, ``NA`` and an empty field mean
    any value.

    The intruder links records to people by the keys she knows. By default she tries exact matching and matching by
    distance, and uses what comes closest to the truth (`FileRelease`). ``matching`` fixes one way: records that fit
    ("exact"), those that are nearest ("nearest"), or all, by Fellegi–Sunter weights ("probable"). She takes the
    released confidential value as the true one, or as the middle of a bell curve (`plain_reading`), so she can be
    wrong; trust measures how reliable she is.

    ``channel``: the technique that the file was made with, such as ``NoiseAddition(percent=20)``. The intruder then
    knows it, as she does where equivoc makes the release itself.

    >>> import pandas as pd
    >>> people = Microdata(pd.DataFrame({"age": [23, 28, 35], "pay": [10, 20, 30]}), confidential="pay", keys=["age"])
    >>> masked = pd.DataFrame({"age": ["[30,40)", "20-29", "2*"], "pay": [30, 20, 20]})
    >>> release = ReleasedFile(masked).release(people)
    >>> release.posteriors(["age"], intruder="informed").probabilities.tolist()
    [[0.0, 1.0, 0.0], [0.0, 1.0, 0.0], [0.0, 0.0, 1.0]]
    """

    name: ClassVar[str] = "released-file"
    table: Any = file(
        "the released file; two of these are equal if they name the same path, or hold the same frame",
        beside=beside,
        default=MISSING,
        has_separators=False,
    )
    matching: str | None = choice(
        "how records are linked to people; None: the assessment's intruder decides", *MATCHINGS, default=None
    )
    channel: Technique | str | None = text(
        "the technique that the file was made with, if the owner knows it; text is read as on the command line",
        default=None,
        read=_technique,
    )

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.matching is not None and self.channel is not None:
            raise InputError(f"{self.name}: give matching or channel, not both.")

    @property
    def _table_text(self) -> str:
        named = isinstance(self.table, (str, os.PathLike))
        if named:
            return quoted(os.fspath(self.table))
        return f"<{type(self.table).__name__} {self._digest[:12]}>"

    @cached_property
    def _digest(self) -> str:
        """A hash of a table in memory, to distinguish two tables."""
        return self.content

    @property
    def notation(self) -> str:
        matching = "" if self.matching is None else f",matching={self.matching}"
        channel = f",channel={quoted(self.channel.notation)}" if isinstance(self.channel, Technique) else ""
        return f"{self.name}:table={self._table_text}{matching}{channel}"

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, ReleasedFile):
            return NotImplemented
        named = isinstance(self.table, (str, os.PathLike)) and isinstance(other.table, (str, os.PathLike))
        return (self.table is other.table or named) and self.notation == other.notation

    def __hash__(self) -> int:
        return hash(self.notation)

    @property
    def content(self) -> str:
        """A digest of the columns and their values, in row order."""
        table = open_table(self.table)
        found = sha256(repr(table.names).encode())
        for batch in table.batches(list(table.names)):
            found.update(batch.serialize())
        if isinstance(self.channel, Technique) and self.channel.content is not None:
            found.update(self.channel.content.encode())
        return found.hexdigest()

    @property
    def random(self) -> bool:
        return False

    def release(self, people: Microdata, rng: Randomness = None) -> FileRelease:
        """Read the file; nothing is random."""
        check_people("people", people)
        name = people.confidential
        try:
            table = open_table(self.table)
            checked_roles(table, confidential=[name], keys=people.keys, weights=None)
            columns, _ = held_columns(table, [*people.keys, name])
            if not len(columns[name].codes):
                raise InputError("it has no records, only column names")
            reading = FileReading.of(people, columns)
        except InputError as mistake:
            raise InputError(f"the released file cannot be used: {mistake}") from None
        stated = None
        if isinstance(self.channel, Technique):
            pattern = self.channel.release(people, PATTERN_SEED)
            stated = StatedMechanism.of(self.channel.notation, pattern, columns)
        return FileRelease(
            people, self.matching, reading.keys, reading.confidential, stated, fixed=self.matching is not None
        )
