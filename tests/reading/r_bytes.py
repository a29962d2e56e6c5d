"""Writes data frames as R does, from "Serialization Formats" in R Internals: XDR, version 2."""

from __future__ import annotations

import struct
from collections.abc import Mapping, Sequence
from typing import Any

NA_REAL = struct.pack(">Q", 0x7FF00000000007A2)
NA_INT = -(2**31)
_OBJECT, _ATTRIBUTES, _TAG = 1 << 8, 1 << 9, 1 << 10
_END = struct.pack(">i", 254)


def _int(number: int) -> bytes:
    return struct.pack(">i", number)


def _char(text: str | None, latin: bool = False) -> bytes:
    if text is None:
        return _int(9) + _int(-1)
    content = text.encode("latin-1" if latin else "utf-8")
    level = 64 if content.isascii() else 4 if latin else 8  # ASCII, Latin-1 or UTF-8
    return _int(9 | level << 12) + _int(len(content)) + content


def _symbol(name: str) -> bytes:
    return _int(1) + _char(name)


def _pairs(entries: Mapping[str, bytes]) -> bytes:
    return b"".join(_int(2 | _TAG) + _symbol(name) + value for name, value in entries.items()) + _END


def _vector(kind: int, content: bytes, length: int, attributes: Mapping[str, bytes] | None = None) -> bytes:
    flags = (
        kind | (_ATTRIBUTES if attributes else 0) | (_OBJECT if attributes and "class" in attributes else 0)
    )
    return _int(flags) + _int(length) + content + (_pairs(attributes) if attributes else b"")


def texts(values: Sequence[str | None], *, latin: bool = False, **attributes: bytes) -> bytes:
    return _vector(16, b"".join(_char(value, latin) for value in values), len(values), attributes)


def reals(values: Sequence[float | None], **attributes: bytes) -> bytes:
    content = b"".join(NA_REAL if value is None else struct.pack(">d", value) for value in values)
    return _vector(14, content, len(values), attributes)


def integers(values: Sequence[int | None], *, kind: int = 13, **attributes: bytes) -> bytes:
    content = b"".join(_int(NA_INT if value is None else value) for value in values)
    return _vector(kind, content, len(values), attributes)


def logicals(values: Sequence[bool | None]) -> bytes:
    return integers([None if value is None else int(value) for value in values], kind=10)


def factor(values: Sequence[str | None], levels: Sequence[str], *, ordered: bool = False) -> bytes:
    kinds = texts(["ordered", "factor"] if ordered else ["factor"])
    codes = [None if value is None else levels.index(value) + 1 for value in values]
    return integers(codes, **{"levels": texts(levels), "class": kinds})


def of_class(name: str, values: Sequence[float | None], **attributes: bytes) -> bytes:
    return reals(values, **{"class": texts([name]), **attributes})


def frame(columns: Mapping[str, bytes], rows: int, kind: Sequence[str] = ("data.frame",)) -> bytes:
    attributes = {
        "names": texts(list(columns)),
        "class": texts(list(kind)),
        "row.names": integers([None, -rows]),
    }
    return _vector(19, b"".join(columns.values()), len(columns), attributes)


def rds(content: bytes) -> bytes:
    """One saved object."""
    return b"X\n" + struct.pack(">iii", 2, 0x00040301, 0x00020300) + content


def workspace(objects: Mapping[str, bytes]) -> bytes:
    """What save() writes, before it is compressed."""
    return b"RDX2\n" + rds(_pairs(objects))


def no_frame(values: Any) -> bytes:
    return reals(values)
