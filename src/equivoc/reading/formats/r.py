"""Files of R: one saved object (.rds), or a workspace (.RData, .rda) with one data frame."""

from __future__ import annotations

import bz2
import gzip
import lzma
import warnings
import zlib
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from equivoc.errors import InputError, did_you_mean
from equivoc.reading.formats.coded import CodedTable, Piece, Variable
from equivoc.reading.formats.kinds import Code, damaged, needs
from equivoc.reading.formats.statistics import moments
from equivoc.text import counted

if TYPE_CHECKING:
    import pyarrow as pa

MOST_BYTES = 2**30
"""Of a decompressed file: all of it is held in memory."""
_PIECE = 1 << 20
_NA_INTEGER = -(2**31)
_SECOND = 1_000_000
_DAY = 86_400 * _SECOND


def open_r(path: Path, *, frame: str | None, labelled: bool) -> CodedTable:
    """The data frame in the file; ``frame`` chooses one of several in a workspace."""
    try:
        import rdata
    except ImportError as missing:
        raise needs(path, "r", missing) from None

    content = _decompressed(path)
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # objects of other kinds, of an unknown encoding
            read = rdata.parser.parse_data(content)
            name, found = _frame(path, read.object, frame)
            columns = {
                name: _column(column, f"the column {name!r} of {path}")
                for name, column in zip(_texts(_attribute(found, "names")), found.value, strict=True)
            }
    except InputError:
        raise
    except Exception as broken:  # the library has no errors of its own
        raise damaged(path, "r", broken) from None
    if not columns:
        raise InputError(f"{path}: the data frame {name} has no columns")
    lengths = {len(column) for column, _ in columns.values()}
    if len(lengths) > 1 or len(columns) < len(found.value):
        raise damaged(path, "r", "columns of different lengths or equal names")
    return CodedTable(
        path,
        "r",
        tuple(columns),
        lengths.pop(),
        {name: variable for name, (_, variable) in columns.items()},
        partial(_pieces, {name: column for name, (column, _) in columns.items()}),
        labelled,
        name or None,
    )


def _pieces(columns: Mapping[str, pa.Array], names: Sequence[str]) -> Iterator[Mapping[str, Piece]]:
    yield {name: Piece(columns[name], {}) for name in names}


def _decompressed(path: Path) -> bytes:
    """The file's content, up to `MOST_BYTES`."""
    with path.open("rb") as file:
        start = file.read(6)
    openers: tuple[tuple[bytes, Any], ...] = (
        (b"\x1f\x8b", gzip.open), (b"BZh", bz2.open), (b"\xfd7zXZ\0", lzma.open), (b"\x5d\0\0", lzma.open),
    )  # fmt: skip
    opener = next((opener for begin, opener in openers if start.startswith(begin)), open)
    pieces, size = [], 0
    try:
        with opener(path, "rb") as file:
            while piece := file.read(_PIECE):
                pieces.append(piece)
                size += len(piece)
                if size > MOST_BYTES:
                    raise InputError(
                        f"{path} holds more than {MOST_BYTES / 2**30:g} GiB, and files of R are read up to that: save "
                        "it as CSV or Parquet"
                    )
    except (OSError, EOFError, zlib.error, lzma.LZMAError) as broken:
        raise damaged(path, "r", broken) from None
    return b"".join(pieces)


def _frame(path: Path, read: Any, chosen: str | None) -> tuple[str, Any]:
    """The data frame and its name."""
    if not _is_pairs(read):
        if chosen is not None:
            raise InputError(f"sheet is {chosen!r}, but {path} holds a single object: leave it out")
        if not _is_frame(read):
            raise InputError(
                f"{path} holds no data frame, but {_kind(read)}: save one with saveRDS(frame, …)"
            )
        return "", read
    objects = dict(_pairs(read))
    frames = {name: each for name, each in objects.items() if _is_frame(each)}
    if chosen is not None:
        if chosen not in frames:
            raise InputError(f"{path} has no data frame {chosen!r}{did_you_mean(chosen, frames)}")
        return chosen, frames[chosen]
    listed = ", ".join(map(repr, frames))
    if len(frames) > 1:
        raise InputError(
            f"{path} holds {counted(len(frames), 'data frame')}, {listed}: choose one, as in "
            f"sheet={next(iter(frames))!r}"
        )
    if not frames:
        held = ", ".join(f"{name} ({_kind(each)})" for name, each in list(objects.items())[:5]) or "nothing"
        raise InputError(f"{path} holds no data frame, but {held}: save one with save(frame, file=…)")
    return next(iter(frames.items()))


def _is_pairs(each: Any) -> bool:
    return str(each.info.type.name) == "LIST" and each.tag is not None


def _pairs(each: Any) -> Iterator[tuple[str, Any]]:
    """The entries of a pair list by name."""
    while each is not None and each.info.type.name in ("LIST", "ATTRLIST"):
        yield _symbol(each.tag), each.value[0]
        each = each.value[1]


def _symbol(tag: Any) -> str:
    if tag is None:
        return ""
    symbol = tag.referenced_object if tag.info.type.name == "REF" else tag
    return _text(symbol.value) or ""


def _attribute(each: Any, name: str) -> Any:
    return dict(_pairs(each.attributes)).get(name) if each.attributes is not None else None


def _classes(each: Any) -> list[str]:
    held = _attribute(each, "class")
    return [] if held is None else [text for text in _texts(held) if text is not None]


def _is_frame(each: Any) -> bool:
    return each.info.type.name == "VEC" and "data.frame" in _classes(each)


def _kind(each: Any) -> str:
    classes = _classes(each)
    names = {"VEC": "a list", "STR": "text", "REAL": "numbers", "INT": "integers", "LGL": "logical values"}
    return f"an object of class {classes[0]}" if classes else names.get(each.info.type.name, "another object")


def _texts(each: Any) -> list[Any]:
    return [_text(one) for one in each.value]


def _text(char: Any) -> str | None:
    """A string of R; None is NA."""
    if char.value is None:
        return None
    if isinstance(char.value, str):
        return char.value
    encoding = "latin-1" if char.info.gp & 0b100 else "utf-8"
    try:
        return bytes(char.value).decode(encoding)
    except UnicodeDecodeError:
        return bytes(char.value).decode("latin-1")


def _column(each: Any, place: str) -> tuple[pa.Array, Variable]:
    """The values, and what they stand for."""
    import pyarrow as pa
    import pyarrow.compute as pc

    kind, classes = each.info.type.name, _classes(each)
    if kind == "STR":
        texts = pa.array(_texts(each), pa.string())
        return pc.if_else(pc.equal(texts, ""), pa.scalar(None, pa.string()), texts), _labelled(
            each, Variable()
        )
    if kind == "LGL":
        values = np.ma.asarray(each.value)
        numbers, nothing = np.ma.getdata(values).astype(np.int64), np.ma.getmaskarray(values)
        nothing = nothing | (numbers == _NA_INTEGER)
        return pa.array(numbers != 0, mask=nothing), Variable()
    if kind not in ("INT", "REAL"):
        raise InputError(f"{place} cannot be read: it holds {_kind(each)}, not one value for each record")
    values = np.ma.asarray(each.value)
    numbers, nothing = np.ma.getdata(values).astype(np.float64), np.ma.getmaskarray(values)
    nothing = nothing | np.isnan(numbers) | ((kind == "INT") & (numbers == _NA_INTEGER))
    array = pa.array(numbers, mask=nothing)
    if "factor" in classes:
        labels: dict[Code, str] = dict(
            enumerate((text or "" for text in _texts(_attribute(each, "levels"))), 1)
        )
        return array, Variable(labels=labels, ordered="ordered" in classes, closed=True)
    if "Date" in classes:
        return array, Variable(made=partial(moments, unit=_DAY, begin=0, days=True), about="Date")
    if "POSIXct" in classes:
        return array, Variable(made=partial(moments, unit=_SECOND, begin=0, days=False), about="POSIXct")
    if "integer64" in classes:
        whole = np.ma.getdata(values).view(np.int64)
        return pa.array(whole, mask=whole == np.iinfo(np.int64).min), Variable()
    if "difftime" in classes or "hms" in classes:
        units = _attribute(each, "units")
        unit = _texts(units)[0] if units is not None else "seconds"
        return array, Variable(about=f"its class is difftime: read as numbers of {unit}")
    return array, _labelled(each, Variable())


def _labelled(each: Any, variable: Variable) -> Variable:
    """With the value labels and missing codes of the package haven, if the column has them."""
    held, missing, span = (
        _attribute(each, "labels"),
        _attribute(each, "na_values"),
        _attribute(each, "na_range"),
    )
    if held is not None and (names := _attribute(held, "names")) is not None:
        codes = _texts(held) if held.info.type.name == "STR" else np.ma.asarray(held.value).tolist()
        labels = {code: name or "" for code, name in zip(codes, _texts(names), strict=True) if code == code}
        variable = replace(variable, labels=labels)
    gone: list[Any] = []
    if missing is not None:
        gone += _texts(missing) if missing.info.type.name == "STR" else np.ma.asarray(missing.value).tolist()
    if span is not None:
        gone.append(tuple(map(float, np.ma.asarray(span.value).tolist())))
    return replace(variable, missing=tuple(gone))
