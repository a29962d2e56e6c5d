"""Reads and parses a plan; rejects, with the line number, input that would exhaust memory or time or cause a crash."""

from __future__ import annotations

import math
import re
import tomllib
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from equivoc.errors import InputError

# Line numbers of tables and keys in a TOML text, for error messages: the parser does not give them.

_HEADER = re.compile(r"^\s*(\[\[?)([^\[\]]+)\]\]?\s*(#.*)?$")
_KEY = re.compile(r"^\s*((?:[\w-]+|\"[^\"]*\"|'[^']*')(?:\s*\.\s*(?:[\w-]+|\"[^\"]*\"|'[^']*'))*)\s*=")

Place = tuple[str, int, str]
"""A table's name ("" at the top), its number among the tables of that name, and a key ("" for its header)."""


@dataclass(frozen=True)
class TomlLines:
    """Line numbers, from 1.

    >>> lines = TomlLines.of("[data]\\npath = 'x'\\n[[technique]]\\nname = 'a'\\n[[technique]]\\nname = 'b'")
    >>> lines.find("data", "path"), lines.find("technique", "name", number=1), lines.find("technique", "size")
    (2, 6, 3)
    """

    lines: dict[Place, int] = field(repr=False)

    @classmethod
    def of(cls, text: str) -> TomlLines:
        lines: dict[Place, int] = {}
        count: dict[str, int] = {}
        table = ""
        for number, line in enumerate(text.splitlines(), start=1):
            header, key = _HEADER.match(line), _KEY.match(line)
            if header:
                table = header[2].strip().strip("\"'")
                count[table] = count.get(table, -1) + 1
                lines.setdefault((table, count[table], ""), number)
            elif key:
                names = [part.strip().strip("\"'") for part in key[1].split(".")]
                if not table and len(names) > 1:  # data.path = "…" before any table
                    lines.setdefault((names[0], 0, names[1]), number)
                lines.setdefault((table, count.get(table, 0), names[0]), number)
        return cls(lines)

    def find(self, table: str, key: str = "", *, number: int = 0) -> int:
        """The line of the key, or of its table if the key is missing, or 1 if both are."""
        inline = self.lines.get(("", 0, table), 1)
        header = self.lines.get((table, number, ""), inline)
        return self.lines.get((table, number, key), header)


MOST_BYTES = 1_000_000
DEEPEST = 8
"""The deepest nesting of tables and lists; the rows of a matrix need the most."""
LONGEST_MESSAGE = 500
WHOLE_NUMBERS = 1 << 63
"""TOML's whole numbers have 64 bits."""
_MANY_DIGITS = re.compile(r"[0-9](?:_?[0-9]){1000,}")


def read_toml(file: Path) -> tuple[dict[str, Any], TomlLines]:
    """The plan's tables and their line numbers. All numbers are finite, and nothing is nested too deeply."""
    text = _text(file)
    try:
        plan = tomllib.loads(text)
    except tomllib.TOMLDecodeError as problem:
        raise InputError(f"the plan {file} is not TOML: {_short(str(problem))}.") from None
    except ValueError:  # Python parses at most a few thousand digits
        raise _at(file, _line_of(_MANY_DIGITS, text), "a number has too many digits.") from None
    except RecursionError:
        raise _at(file, _deep_line(text), "tables or lists are nested too deeply.") from None
    lines = TomlLines.of(text)
    for table, content in plan.items():
        tables = content if isinstance(content, list) else [content]
        for number, each in enumerate(tables):
            for key, value in each.items() if isinstance(each, dict) else [("", each)]:
                fault = _fault(value)
                if fault:
                    raise wrong(file, lines, table, key, f"{key or table} {fault}", number=number)
    return plan, lines


def wrong(file: Path, lines: TomlLines, table: str, key: str, message: str, *, number: int = 0) -> InputError:
    """The error about a key of a table, with its line; long messages are shortened."""
    return _at(file, lines.find(table, key, number=number), message)


def _at(file: Path, line: int, message: str) -> InputError:
    return InputError(f"{file}, line {line}: {_short(message)}")


def _short(message: str) -> str:
    """The message, with its middle left out if it is too long."""
    if len(message) <= LONGEST_MESSAGE:
        return message
    return f"{message[: LONGEST_MESSAGE // 2]} … {message[-LONGEST_MESSAGE // 2 :]}"


def _text(file: Path) -> str:
    try:
        if file.exists() and not file.is_file():
            kind = "a folder" if file.is_dir() else "not a regular file"
            raise InputError(f"the plan {file} is {kind}; give a TOML file.")
        with file.open("rb") as opened:
            content = opened.read(MOST_BYTES + 1)
    except (OSError, ValueError) as problem:
        if isinstance(problem, InputError):
            raise
        why = getattr(problem, "strerror", None) or problem
        raise InputError(f"the plan {file} cannot be read: {why}.") from None
    if len(content) > MOST_BYTES:
        raise InputError(
            f"the plan {file} has more than {MOST_BYTES:,} bytes; give a plan in TOML, not data."
        )
    try:
        return content.decode("utf-8-sig")
    except UnicodeDecodeError:
        raise InputError(f"the plan {file} is not a text file; give TOML in UTF-8.") from None


def _fault(value: Any) -> str:
    """What is wrong with a value or anything inside it; "" if nothing is."""
    waiting = [(value, 0)]
    while waiting:
        found, depth = waiting.pop()
        if isinstance(found, (dict, list)):
            if depth == DEEPEST:
                return "is nested too deeply."
            inside = found.values() if isinstance(found, dict) else found
            waiting += [(each, depth + 1) for each in inside]
        elif isinstance(found, float) and not math.isfinite(found):
            return f"is {found}; give a finite number."
        elif isinstance(found, int) and not -WHOLE_NUMBERS <= found < WHOLE_NUMBERS:
            return "is a whole number of more than 64 bits; give a smaller one."
    return ""


def _line_of(pattern: re.Pattern[str], text: str) -> int:
    found = pattern.search(text)
    return 1 if found is None else text.count("\n", 0, found.start()) + 1


def _deep_line(text: str) -> int:
    """The first line on which brackets are nested more than DEEPEST deep (brackets in texts are included)."""
    depth = 0
    for number, line in enumerate(text.splitlines(), start=1):
        for character in line:
            depth += (character in "[{") - (character in "]}")
            if depth > DEEPEST:
                return number
    return 1
