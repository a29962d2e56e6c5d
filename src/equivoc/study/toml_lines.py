"""Line numbers of tables and keys in a TOML text, for error messages: the parser does not give them."""

from __future__ import annotations

import re
from dataclasses import dataclass, field

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
