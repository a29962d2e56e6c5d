"""Writes SAS data sets (.sas7bdat) of one page, 32 bits, not compressed, after Shotwell's description."""

from __future__ import annotations

import struct
from collections.abc import Mapping, Sequence

_MAGIC = bytes(12) + bytes.fromhex("c2ea8160b31411cfbd92080009c7318c181f1011")
_PAGE = 8192
_HEADER = 1024


def _number(value: float | str | None) -> bytes:
    """A double; a missing value is not a number, with its letter (or a point) turned over in the third byte."""
    if value is None or isinstance(value, str):
        letter = ord(value) if value else ord(".")
        return struct.pack("<Q", 0xFFFF << 48 | (0xFF - letter if value else 0xD1) << 40)
    return struct.pack("<d", value)


def data_set(
    columns: Mapping[str, Sequence[float | str | None]],
    *,
    texts: Sequence[str] = (),
    formats: Mapping[str, str] | None = None,
) -> bytes:
    """The file; in columns that are not in ``texts`` a letter is a missing value with that letter."""
    widths = {
        name: max(1, *(len(str(each or "")) for each in values)) if name in texts else 8
        for name, values in columns.items()
    }
    # Numbers stand first, so that each is at a multiple of 8.
    order = [name for name in columns if name not in texts] + [name for name in columns if name in texts]
    places, length = {}, 0
    for name in order:
        places[name] = length
        length += widths[name]
    length += -length % 8
    words = dict.fromkeys((*columns, *(formats or {}).values()), 0)
    text = bytearray(struct.pack("<HHHHHH", 0, 0, 0, 0, 0, 0) + b" " * 8 + b"DATASTEP" + bytes(8))
    for word in words:
        text += b" " * (-len(text) % 4)
        words[word] = len(text)
        text += word.encode()
    text += b" " * (-len(text) % 4 + 8)
    struct.pack_into("<H", text, 0, len(text) - 8)
    rows = len(next(iter(columns.values())))
    size = bytearray(480)
    size[:4] = b"\xf7\xf7\xf7\xf7"
    struct.pack_into("<ii", size, 20, length, rows)
    struct.pack_into("<ii", size, 36, len(columns), 0)
    struct.pack_into("<ii", size, 52, _PAGE, 0)
    struct.pack_into("<i", size, 60, rows)
    struct.pack_into("<H", size, 354, 0)
    struct.pack_into("<H", size, 378, 8)
    names = b"\xff\xff\xff\xff" + struct.pack("<Hhhh", 8 * len(columns) + 8, 0, 0, 0)
    attributes = b"\xfc\xff\xff\xff" + struct.pack("<Hhhh", 12 * len(columns) + 8, 0, 0, 0)
    labels = []
    for name in columns:
        names += struct.pack("<HHHH", 0, words[name], len(name), 0)
        attributes += struct.pack("<iiHBB", places[name], widths[name], 4, 2 if name in texts else 1, 0)
        shown = (formats or {}).get(name, "")
        form = bytearray(52)
        form[:4] = b"\xfe\xfb\xff\xff"
        struct.pack_into("<HHH", form, 34, 0, words.get(shown, 0), len(shown))
        labels.append(bytes(form))
    parts = [
        bytes(size),
        b"\xf6\xf6\xf6\xf6" + struct.pack("<ii", len(columns), 0),
        b"\xfd\xff\xff\xff" + bytes(text),
        names + bytes(8),
        attributes + bytes(8),
        *labels,
    ]
    return _header() + _page(parts, rows, _rows(columns, order, widths, texts, length))


def _rows(
    columns: Mapping[str, Sequence[float | str | None]],
    order: Sequence[str],
    widths: Mapping[str, int],
    texts: Sequence[str],
    length: int,
) -> bytes:
    made = b""
    for at in range(len(columns[order[0]])):
        row = b""
        for name in order:
            entry = columns[name][at]
            row += str(entry or "").encode().ljust(widths[name]) if name in texts else _number(entry)
        made += row.ljust(length, b"\0")
    return made


def _header() -> bytes:
    head = bytearray(_HEADER)
    head[:32] = _MAGIC
    head[32], head[35], head[37], head[39], head[70] = (
        0x22,
        0x22,
        1,
        ord("1"),
        20,
    )  # little-endian, Unix, UTF-8
    head[84:92] = b"SAS FILE"
    head[92:156] = b"PEOPLE".ljust(64)
    head[156:164] = b"DATA    "
    struct.pack_into("<dd", head, 164, 2e9, 2e9)
    struct.pack_into("<iii", head, 196, _HEADER, _PAGE, 1)
    head[216:224] = b"9.0401M6"
    head[224:240] = b"Linux".ljust(16)
    return bytes(head)


def _page(parts: Sequence[bytes], rows: int, data: bytes) -> bytes:
    """A page of declarations, which fill it from its end, and of rows, which follow the pointers to these."""
    page = bytearray(_PAGE)
    struct.pack_into("<HHH", page, 16, 0x0200, rows + len(parts), len(parts))
    end, pointer = _PAGE, 24
    for part in parts:
        end -= len(part) + -len(part) % 4
        page[end : end + len(part)] = part
        struct.pack_into("<iiBBH", page, pointer, end, len(part), 0, 0, 0)
        pointer += 12
    pointer += pointer % 8
    page[pointer : pointer + len(data)] = data
    assert pointer + len(data) <= end
    return bytes(page)
