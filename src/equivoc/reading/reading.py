"""How a file is to be read, as the caller says it, and how it was read."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, fields
from datetime import datetime
from pathlib import Path
from typing import Any, ClassVar, TypedDict, cast

from equivoc.engines.text_file import encoding_name
from equivoc.errors import InputError
from equivoc.notation.declared import Declared, Param, choice, declared, file, flag, text
from equivoc.reading.encoding import checked_encoding
from equivoc.reading.formats.kinds import NAMES
from equivoc.text import listed

FORMATS = ("csv", "fixed", "parquet", "arrow", "excel", "ods", "spss", "stata", "sas", "xport", "r")
DECIMALS = {".": "decimal point", ",": "decimal comma"}
THOUSANDS = {".": "dots", ",": "commas", "'": "apostrophes", " ": "blanks"}
SEPARATORS = {",": "commas", ";": "semicolons", "\t": "tabs", "|": "bars", " ": "blanks"}
_WORDS = {
    "tab": "\t",
    r"\t": "\t",
    "comma": ",",
    "semicolon": ";",
    "bar": "|",
    "pipe": "|",
    "space": " ",
    "blank": " ",
}
"""What a separator may be called where it is hard to write."""
_MOST_NAMED = 3

MissingWords = tuple[str, ...] | Mapping[str, tuple[str, ...]]
"""Words for a missing value: in all columns, or in those named."""


class ReadingOptions(TypedDict, total=False):
    """How a file is read; what is left out is guessed from all of it, and said by `Microdata.reading`."""

    format: str | None
    separator: str | None
    decimal: str | None
    thousands: str | None
    encoding: str | None
    header: bool | None
    missing: str | Sequence[str] | Mapping[str, str | Sequence[str]] | None
    labels: str | None
    dates: str | None
    sheet: str | None
    layout: str | None


def separator(meaning: str) -> Any:
    """One character, or a word for it."""
    return declared(Param("text", meaning, "one character, or tab", _is_separator, read=_mark), None)


def missing(meaning: str) -> Any:
    """Words, or words by the names of columns."""
    wanted = 'a list of words, or a mapping of columns to them, such as ["NA", "-8"]'
    return declared(Param("table", meaning, wanted, _is_missing, read=_missing), None)


def _mark(given: str) -> str:
    return _WORDS.get(given.casefold(), given)


def _is_separator(given: Any) -> bool:
    return isinstance(given, str) and len(_mark(given)) == 1 and _mark(given) not in '"\r\n\0'


def _is_missing(given: Any) -> bool:
    if isinstance(given, Mapping):
        return all(isinstance(name, str) and _is_words(words) for name, words in given.items())
    return _is_words(given)


def _is_words(given: Any) -> bool:
    return isinstance(given, str) or (
        isinstance(given, Sequence) and not isinstance(given, bytes) and all(map(_is_word, given))
    )


def _is_word(given: Any) -> bool:
    return isinstance(given, (str, int, float)) and not isinstance(given, bool)


def _missing(given: Any) -> MissingWords | None:
    if isinstance(given, Mapping):
        return {name: _words(words) for name, words in given.items()} or None
    return _words(given) or None


def _is_date_format(form: str) -> bool:
    """True if dates that are written with it can be read with it."""
    day = datetime(2021, 12, 31)
    try:
        return datetime.strptime(day.strftime(form), form).date() == day.date()
    except (ValueError, re.error):
        return False


def _words(given: Any) -> tuple[str, ...]:
    return (given,) if isinstance(given, str) else tuple(map(str, given))


def _beside(given: Any, folder: Path) -> Any:
    return str(folder / given) if isinstance(given, str) else given


@dataclass(frozen=True, kw_only=True)
class Reading(Declared):
    """How a file is read. None: guessed from the file.

    >>> Reading(decimal=",", missing=["NA", -8]).data
    {'decimal': ',', 'missing': ['NA', '-8']}
    """

    name: ClassVar[str] = "reading"
    format: str | None = choice("the file's format; by default from its first bytes", *FORMATS, default=None)
    separator: str | None = separator("what separates the columns of a text file: one character, or tab")
    decimal: str | None = choice("the decimal mark of numbers in text", ".", ",", default=None)
    thousands: str | None = choice(
        "the mark between thousands in text: a point, a comma, an apostrophe, a blank, or none",
        *THOUSANDS,
        "none",
        default=None,
    )
    encoding: str | None = text(
        "a text file's encoding: utf-8, utf-16, latin-1, windows-1252, …", default=None
    )
    header: bool | None = flag(
        "the first line holds the columns' names; without them they are column_1, column_2, …", default=None
    )
    missing: MissingWords | None = missing(
        "words and codes for a missing value, for all columns or for those named"
    )
    labels: str | None = choice(
        "what stands for a value with a label: its label or its code", "labels", "codes", default=None
    )
    dates: str | None = text("how dates are written, such as %d.%m.%Y", default=None)
    sheet: str | None = text("the sheet of a workbook; by default its only one", default=None)
    layout: str | None = file(
        "the file that describes a fixed-width file", beside=_beside, has_separators=False
    )

    def __post_init__(self) -> None:
        super().__post_init__()
        for name in ("encoding", "dates", "sheet"):
            given = getattr(self, name)
            if given is not None and not (isinstance(given, str) and given):
                raise InputError(f"{name} is {given!r}; it must be a text.")
        if self.encoding is not None:
            object.__setattr__(self, "encoding", checked_encoding(self.encoding))
        if self.decimal is not None and self.decimal == self.thousands:
            raise InputError(f"decimal and thousands are both {self.decimal!r}: give two different marks.")

        if self.dates is not None and not _is_date_format(self.dates):
            raise InputError(f"dates is {self.dates!r}; give a format such as %d.%m.%Y.")

    @property
    def asked(self) -> Reading:
        """These fields alone, if this is a request with others."""
        return Reading(**{each.name: getattr(self, each.name) for each in fields(Reading)})

    @property
    def options(self) -> ReadingOptions:
        """What is given, as arguments."""
        given = ((each.name, getattr(self, each.name)) for each in fields(Reading))
        return cast("ReadingOptions", {name: value for name, value in given if value is not None})

    def missing_in(self, column: str) -> tuple[str, ...]:
        """The words that the caller gave for this column."""
        if self.missing is None:
            return ()
        return self.missing.get(column, ()) if isinstance(self.missing, Mapping) else self.missing


def checked_options(function: str, given: Mapping[str, Any]) -> Any:
    """The options of a reading; TypeError for an unknown name, as for any argument."""
    for name in given:
        if name not in ReadingOptions.__annotations__:
            raise TypeError(f"{function}() got an unexpected keyword argument {name!r}")
    return given


GUESS = Reading()
"""Everything is guessed."""


@dataclass(frozen=True)
class Answer:
    """One of two readings that fit a file: the option that chooses it, and what it means for a value of the file."""

    option: Mapping[str, str]
    meaning: str


class TwoReadingsError(InputError):
    """Two readings fit, and nothing in the file decides: `answers` are what the caller can say."""

    def __init__(self, message: str, answers: Sequence[Answer]) -> None:
        super().__init__(message)
        self.answers = tuple(answers)


@dataclass(frozen=True)
class ReadAs:
    """How a file was read: what was given, and what was guessed for the rest. None: it does not apply."""

    format: str
    separator: str | None = None
    decimal: str | None = None
    thousands: str | None = None
    encoding: str | None = None
    header: bool | None = None
    missing: Mapping[str, Mapping[str, int]] = field(default_factory=dict)
    """For each column, the words and codes that were read as missing, with their numbers of records."""
    labels: str | None = None
    dates: str | None = None
    sheet: str | None = None
    layout: str | None = None
    compression: str | None = None
    given: tuple[str, ...] = ()
    """What the caller gave."""
    asked: Reading = field(default_factory=Reading, repr=False)
    """The same as it was given: how other files of this kind are read."""
    records: int = 0

    @property
    def sentence(self) -> str:
        """How the file was read, in words; "" for a frame or a database.

        >>> ReadAs("csv", ";", ",", None, "latin-1", True, {"income": {"NA": 377}}, records=2000).sentence
        "read as: semicolons, decimal comma, Latin-1; 'NA' is missing in income, 377 of 2,000 records"
        """
        if self.format in ("frame", "database"):
            return ""
        words = [] if self.format == "csv" else [NAMES.get(self.format, self.format)]
        if self.separator is not None:
            words.append(SEPARATORS.get(self.separator, f"separator {self.separator!r}"))
        if self.decimal is not None:
            words.append(DECIMALS[self.decimal])
        if self.thousands in THOUSANDS:
            words.append(f"{THOUSANDS[self.thousands]} between thousands")
        if self.encoding is not None:
            words.append(encoding_name(self.encoding))
        if self.compression not in (None, "none"):
            words.append(f"packed with {self.compression}")
        if self.header is False:
            words.append("no header")
        if self.sheet is not None:
            words.append(f"{'data frame' if self.format == 'r' else 'sheet'} {self.sheet!r}")
        if self.dates is not None:
            words.append(f"dates as {self.dates}")
        if self.labels is not None:
            words.append(self.labels)
        return "; ".join([f"read as: {', '.join(words)}", *self._missing()])

    @property
    def plain(self) -> bool:
        """True if nothing needs to be said: commas, points, UTF-8, a header, and no word for a missing value."""
        usual = {"csv": (",", ".", "utf-8"), "parquet": (None, None, None)}.get(self.format)
        return self.format in ("frame", "database", "parquet", "csv") and (
            not self.missing
            and self.thousands in (None, "none")
            and self.dates is None
            and self.header is not False
            and (usual is None or (self.separator, self.decimal, self.encoding) == usual)
        )

    @property
    def json(self) -> dict[str, Any]:
        """Plain data, for the page, a certificate and a report."""
        found: dict[str, Any] = {
            each.name: getattr(self, each.name)
            for each in fields(self)
            if each.name not in ("asked", "given", "missing")
        }
        found["missing"] = {name: dict(words) for name, words in self.missing.items()}
        return found | {"given": list(self.given), "asked": self.asked.data, "sentence": self.sentence}

    def _missing(self) -> list[str]:
        found = []
        for name, words in list(self.missing.items())[:_MOST_NAMED]:
            quoted = listed([repr(word) if word else "blanks" for word in list(words)[:_MOST_NAMED]])
            more = " and other words" if len(words) > _MOST_NAMED else ""
            verb = "is" if len(words) == 1 else "are"
            of = f", {sum(words.values()):,} of {self.records:,} records" if self.records else ""
            found.append(f"{quoted}{more} {verb} missing in {name}{of}")
        others = len(self.missing) - _MOST_NAMED
        return [*found, *([f"and words in {others} other columns"] if others > 0 else [])]
