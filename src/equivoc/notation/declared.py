"""Parameters that are declared once, as fields of a frozen class.

A field says what it means, which values are valid and which are worth trying. From this come the check when an object
is made and the sentence of its error, the notation ``sampling:fraction=0.1``, the Python text, JSON, help texts,
tables of the documentation, forms, the range of a search, and examples of invalid values for tests.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import MISSING, dataclass, field, fields, replace
from operator import ge, gt, le, lt
from pathlib import Path
from typing import Any, ClassVar, Literal, Self

from equivoc.checks import held, is_finite, is_whole
from equivoc.errors import InputError, did_you_mean
from equivoc.notation.ranges import Range, limits_in_words
from equivoc.notation.words import COLUMN_WORDS, checked_columns, is_quoted, number_or_text, unquoted, written
from equivoc.renamed import in_new_names

Kind = Literal["number", "choice", "columns", "flag", "file", "text", "names", "numbers", "table", "inner"]


@dataclass(frozen=True)
class Param:
    """A declared parameter."""

    kind: Kind
    meaning: str
    """What it is, in a few words; the unit, and which direction is safer where that is not obvious."""
    wanted: str = ""
    """What a valid value is, as the end of "it must be …"."""
    fits: Callable[[Any], bool] = lambda value: True
    says: str | None = None
    """What the error says in place of "it must be" and what is wanted."""
    words: tuple[str, ...] | None = None
    """The words of a choice, or those that stand for columns."""
    tries: Range | None = None
    """The values of a number that are worth trying."""
    read: Callable[[Any], Any] | None = None
    """Makes the value that is kept from what is given; it raises its own InputErrors."""
    beside: Callable[[Any, Path], Any] | None = None
    """Of a file: resolves its path from the folder of a plan."""
    has_separators: bool = False
    """True if its text has separators that ``read`` understands, as in ``age+sex`` and ``age:1+zip:2``."""
    name: str = ""
    required: bool = True
    default: Any = None
    """None if it is required, or if what is used then is decided elsewhere."""

    def checked(self, owner: str, given: Any) -> Any:
        """The value to keep; InputError unless it is valid. None is valid where it is the default."""
        if given is None and not self.required and self.default is None:
            return None
        if not self.fits(given):
            text = f"{given!r}; it must be {self.wanted}" if self.says is None else f"{given}; {self.says}"
            raise InputError(f"{owner}: {self.name} is {text}.")
        if self.kind == "columns":
            return checked_columns(f"{owner}: {self.name}", given)
        return given if self.read is None else self.read(given)

    def from_text(self, text: str) -> Any:
        """The value of a notation: a number if it reads as one and is not quoted."""
        if self.has_separators:
            return text
        return unquoted(text) if is_quoted(text) else number_or_text(text)


def number(
    meaning: str,
    *,
    above: float | None = None,
    at_least: float | None = None,
    below: float | None = None,
    at_most: float | None = None,
    whole: bool = False,
    multiple_of: int = 1,
    wanted: str | None = None,
    says: str | None = None,
    default: Any = MISSING,
    tries: Range | None = None,
) -> Any:
    """A finite number within limits. ``wanted`` or ``says`` replace the words of the error."""
    limits = ((above, gt), (at_least, ge), (below, lt), (at_most, le))

    def fits(value: Any) -> bool:
        if not (is_finite(value) and (is_whole(value) or not whole)):
            return False
        within = all(limit is None or compare(value, limit) for limit, compare in limits)
        return within and (not whole or value % multiple_of == 0)

    if wanted is None:
        wanted = limits_in_words(above=above, at_least=at_least, below=below, at_most=at_most, whole=whole)
    return declared(Param("number", meaning, wanted, fits, says, tries=tries, read=held), default)


def choice(meaning: str, *words: str, default: Any = MISSING) -> Any:
    """One of a few words."""

    def fits(value: Any) -> bool:
        return isinstance(value, str) and value in words

    return declared(Param("choice", meaning, f"one of {', '.join(words)}", fits, words=words), default)


def columns(meaning: str, *, default: Any = MISSING) -> Any:
    """Columns of the people: one of `COLUMN_WORDS`, or names joined by ``+``."""
    return declared(Param("columns", meaning, words=COLUMN_WORDS, has_separators=True), default)


def flag(meaning: str, *, default: bool | None = False) -> Any:
    """True or False; None if what is used then is decided elsewhere."""
    return declared(Param("flag", meaning, "true or false", lambda value: isinstance(value, bool)), default)


def text(
    meaning: str,
    *,
    default: Any = MISSING,
    read: Callable[[Any], Any] | None = None,
    has_separators: bool = False,
) -> Any:
    """A text, or an object that ``read`` makes from one."""
    return declared(Param("text", meaning, read=read, has_separators=has_separators), default)


def file(
    meaning: str,
    *,
    beside: Callable[[Any, Path], Any],
    default: Any = None,
    read: Callable[[Any], Any] | None = None,
    has_separators: bool = True,
) -> Any:
    """A file, or what could stand in one; ``beside`` resolves its path from the folder of a plan."""
    return declared(Param("file", meaning, read=read, beside=beside, has_separators=has_separators), default)


class Declared:
    """The mixin of frozen dataclasses with declared parameters."""

    name: ClassVar[str]
    """The name in notations and in error messages."""
    renamed: ClassVar[Mapping[str, str]] = {}
    """Old names of parameters, which are read without a warning: texts live longer than programs."""

    def __post_init__(self) -> None:
        for each in params(type(self)):
            given = getattr(self, each.name)
            kept = each.checked(self.name, given)
            if kept is not given:
                object.__setattr__(self, each.name, kept)

    @property
    def notation(self) -> str:
        """As on the command line and in plans, without what has its default: ``sampling:fraction=0.1``."""
        given = [f"{each.name}={written(value)}" for each, value in self.given()]
        return f"{self.name}:{','.join(given)}" if given else self.name

    @property
    def python(self) -> str:
        """The call that makes it: ``eq.Sampling(fraction=0.1)``."""
        given = (f"{each.name}={plain(each, value)!r}" for each, value in self.given())
        return f"eq.{type(self).__name__}({', '.join(given)})"

    @property
    def data(self) -> dict[str, Any]:
        """What is required or differs from the defaults, as plain data, ready for JSON."""
        return {each.name: plain(each, value) for each, value in self.given()}

    def given(self) -> list[tuple[Param, Any]]:
        """The parameters that are required or differ from their defaults, with their values."""
        values = [(each, getattr(self, each.name)) for each in params(type(self))]
        return [(each, value) for each, value in values if each.required or value != each.default]

    @classmethod
    def read(cls, given: Mapping[str, Any], folder: Path | None = None) -> Self:
        """From its parameters by name; InputError for a name that is unknown or missing.

        Relative paths are resolved from ``folder``.
        """
        allowed = {each.name: each for each in params(cls)}
        given = in_new_names(given, cls.renamed)
        for name in given:
            if name not in allowed:
                raise InputError(f"{cls.name} has no parameter {name!r}{did_you_mean(name, allowed)}")
        for each in allowed.values():
            if each.required and each.name not in given:
                raise InputError(f"{cls.name} needs {each.name}, as in {cls.name}:{each.name}=….")
        resolved = dict(given)
        for name in given:
            resolve = allowed[name].beside
            if folder is not None and resolve is not None:
                resolved[name] = resolve(given[name], folder)
        return cls(**resolved)


def params(kind: type) -> tuple[Param, ...]:
    """The declared parameters of a frozen class, in the order of its fields."""
    found = ((each, each.metadata.get("param")) for each in fields(kind))
    return tuple(replace(param, name=each.name) for each, param in found if param)


def in_python(value: Any) -> str:
    """A value as a Python expression."""
    if isinstance(value, tuple):
        return f"[{', '.join(map(in_python, value))}]"
    if isinstance(value, dict):
        return f"{{{', '.join(f'{name!r}: {in_python(each)}' for name, each in value.items())}}}"
    if isinstance(value, Path):
        return f"pathlib.Path({str(value)!r})"
    return value.python if isinstance(value, Declared) else repr(value)


def plain(param: Param, value: Any) -> Any:
    """A value as plain data: numbers, flags, texts, lists and mappings."""
    if param.kind == "table":
        return _lists(value)
    if value is None or param.kind in ("number", "choice", "flag"):
        return value
    if param.kind in ("names", "numbers"):
        return list(value)
    if param.kind == "inner":
        return [each.notation for each in value] if isinstance(value, tuple) else value.notation
    return value if isinstance(value, str) and not param.has_separators else str(written(value))


def _lists(value: Any) -> Any:
    """A mapping or a list whose parts are lists, as JSON and TOML have them."""
    if isinstance(value, Mapping):
        return {name: _lists(each) for name, each in value.items()}
    return list(value) if isinstance(value, tuple) else value


def declared(param: Param, default: Any) -> Any:
    """The field of a dataclass with this parameter."""
    if default is MISSING:
        return field(metadata={"param": param})
    return field(default=default, metadata={"param": replace(param, required=False, default=default)})
