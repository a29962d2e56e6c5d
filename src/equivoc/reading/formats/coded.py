"""A table whose file declares codes (labels, missing values, dates as numbers), applied to the distinct values."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from equivoc.reading.formats.kinds import Code, Format, shown
from equivoc.text import counted

if TYPE_CHECKING:
    import pyarrow as pa

_WHOLE = 2.0**53
"""Below this every whole number has a float of its own."""
_NAMED = 3


@dataclass(frozen=True)
class Variable:
    """What the file declares of a column."""

    labels: Mapping[Code, str] = field(default_factory=dict)
    missing: tuple[Code | tuple[float, float], ...] = ()
    """Values, and ranges with both ends, that mean that there is no value."""
    closed: bool = False
    """True if a code without a label is none of the column's values, and labels are always shown: a factor of R."""
    ordered: bool = False
    """True if the labelled codes are an order."""
    single: bool = False
    """True if the numbers are stored in 32 bits: 0.1 is then meant by the float next to it."""
    made: Callable[[pa.Array], pa.Array | None] | None = None
    """What the stored numbers stand for, such as dates; None if they cannot be that."""
    about: str = ""
    """The unit or format, for a note."""
    width: str = ""
    """The format in which the program shows the column."""
    title: str | None = None
    """The column's label."""


class Piece(NamedTuple):
    """Some rows of a column."""

    values: pa.Array
    missing: Mapping[Code, int]
    """Codes that became null already, and how often."""


Pieces = Callable[[Sequence[str]], Iterator[Mapping[str, Piece]]]


@dataclass(frozen=True, eq=False)
class Meaning:
    """What a column's stored values were read as."""

    levels: pa.Array
    """For each stored value in the order in which they occur first."""
    missing: Mapping[Code, int] = field(default_factory=dict)
    note: str = ""
    order: pa.Array | None = None
    other_nulls: bool = False
    """True if some rows have no value and no missing code either."""


@dataclass(frozen=True, eq=False)
class CodedTable:
    """The columns are read once, kept as codes, and their distinct values are given their meaning."""

    path: Path
    format: Format
    names: tuple[str, ...]
    rows: int | None
    variables: Mapping[str, Variable]
    pieces: Pieces
    labelled: bool = True
    """False: labelled values stay as they are stored."""
    part: str | None = None
    """The sheet, or the data frame, that the table is."""
    meanings: dict[str, Meaning] = field(default_factory=dict, repr=False)
    """Of the columns read so far."""

    @property
    def value_labels(self) -> Mapping[str, Mapping[Code, str]]:
        return {name: each.labels for name, each in self.variables.items() if each.labels}

    @property
    def missing(self) -> Mapping[str, Mapping[Code, int]]:
        return {name: each.missing for name, each in self.meanings.items() if each.missing}

    @property
    def notes(self) -> Mapping[str, str]:
        return {name: each.note for name, each in self.meanings.items() if each.note}

    def order(self, name: str) -> pa.Array | None:
        variable = self.variables[name]
        if not (variable.ordered and (self.labelled or variable.closed)):
            return None
        if name not in self.meanings:
            for _ in self.batches([name]):
                pass
        return self.meanings[name].order

    def batches(self, names: Sequence[str]) -> Iterator[pa.RecordBatch]:
        import pyarrow as pa

        stored = {name: _Stored() for name in names}
        for piece in self.pieces(names):
            for name, column in stored.items():
                column.add(piece[name])
        for name, column in stored.items():
            self.meanings[name] = self._meaning(name, column)
        pieces = max((len(column.chunks) for column in stored.values()), default=0)
        for at in range(pieces):
            yield pa.record_batch(
                [
                    self.meanings[name].levels.take(pa.array(column.take_chunk(at)))
                    for name, column in stored.items()
                ],
                names=list(names),
            )
        if not pieces:
            yield pa.record_batch([pa.nulls(0)] * len(names), names=list(names))

    def _meaning(self, name: str, column: _Stored) -> Meaning:
        """Missing codes to null, then labels, or dates, or plain numbers."""
        import pyarrow as pa

        variable = self.variables[name]
        raw, many = column.levels, column.counts()
        gone = _missing(raw, variable.missing)
        missing = Counter(column.missing)
        for at in np.flatnonzero(gone & (many > 0)):
            missing[_code(raw[int(at)].as_py())] += int(many[at])
        levels = raw if not gone.any() else pa.array(raw.to_pylist(), raw.type, mask=gone)
        counts = dict(sorted(missing.items(), key=lambda each: (str(type(each[0])), each[0])))
        nulls = int(many[raw.is_null().to_numpy(zero_copy_only=False)].sum())
        found = partial(Meaning, missing=counts, other_nulls=nulls > sum(column.missing.values()))
        if variable.labels and (self.labelled or variable.closed):
            labelled, note = _labelled(levels, variable.labels, closed=variable.closed)
            if labelled is not None:
                order = _order(variable.labels, labelled) if variable.ordered else None
                return found(labelled, order=order)
            return found(plain(levels, variable.single), note=note)
        if variable.made is not None:
            made = variable.made(levels)
            if made is not None:
                return found(made)
            note = f"its format is {variable.about}, but not all of its values can be that: read as numbers"
            return found(plain(levels, variable.single), note=note)
        return found(plain(levels, variable.single), note=variable.about)


class _Stored:
    """A column's distinct stored values, in the order in which they occur first, and which of them each row has."""

    def __init__(self) -> None:
        self._levels: pa.Array | None = None
        self.chunks: list[NDArray[Any] | None] = []
        self.missing: Counter[Code] = Counter()
        self._counts: NDArray[np.int64] = np.zeros(0, np.int64)

    @property
    def levels(self) -> pa.Array:
        import pyarrow as pa

        return pa.nulls(0) if self._levels is None else self._levels

    def counts(self) -> NDArray[np.int64]:
        """How often each of the levels occurs."""
        return self._counts

    def add(self, piece: Piece) -> None:
        import pyarrow as pa
        import pyarrow.compute as pc

        self.missing.update(piece.missing)
        found = pc.dictionary_encode(piece.values, null_encoding="encode")
        values, places = found.dictionary, found.indices.to_numpy()
        if self._levels is None:
            self._levels, table = values, np.arange(len(values))
        else:
            if self._levels.type != values.type:
                self._levels, values = _alike(self._levels, values)
            fresh = values.filter(pc.invert(pc.is_in(values, value_set=self._levels)))
            self._levels = pa.concat_arrays([self._levels, fresh])
            table = pc.index_in(values, value_set=self._levels).to_numpy()
        codes = table.astype(np.min_scalar_type(max(len(self._levels) - 1, 0)))[places]
        self._counts = np.concatenate(
            [self._counts, np.zeros(len(self._levels) - len(self._counts), np.int64)]
        ) + np.bincount(codes, minlength=len(self._levels))
        self.chunks.append(codes)

    def take_chunk(self, at: int) -> NDArray[Any]:
        """The codes of a piece, which is then forgotten."""
        codes, self.chunks[at] = self.chunks[at], None
        assert codes is not None
        return codes


def _alike(one: pa.Array, other: pa.Array) -> tuple[pa.Array, pa.Array]:
    """Both in one type: all of a piece may be null, or whole."""
    import pyarrow as pa

    if pa.types.is_null(one.type):
        return one.cast(other.type), other
    if pa.types.is_null(other.type):
        return one, other.cast(one.type)
    return one.cast(pa.float64()), other.cast(pa.float64())


def _missing(raw: pa.Array, declared: Sequence[Code | tuple[float, float]]) -> NDArray[np.bool_]:
    """Which of the values are declared missing."""
    import pyarrow as pa

    gone = np.zeros(len(raw), np.bool_)
    if not declared or pa.types.is_null(raw.type):
        return gone
    if pa.types.is_string(raw.type):
        words = {str(code).rstrip() for code in declared}
        return np.array([text is not None and text.rstrip() in words for text in raw.to_pylist()], np.bool_)
    numbers = raw.cast(pa.float64()).to_numpy(zero_copy_only=False)
    for each in declared:
        low, high = each if isinstance(each, tuple) else (each, each)
        if isinstance(low, (int, float)) and isinstance(high, (int, float)):
            gone |= (numbers >= low) & (numbers <= high)
    return gone


def _labelled(levels: pa.Array, labels: Mapping[Code, str], *, closed: bool) -> tuple[pa.Array | None, str]:
    """The labels in the places of the codes; None and a note if a code has none, or two codes have the same."""
    import pyarrow as pa

    by_code = {_code(code): label for code, label in labels.items() if label.strip()}
    if closed:
        return pa.array(
            [None if code is None else by_code.get(_code(code)) for code in levels.to_pylist()], pa.string()
        ), ""
    codes = [None if code is None else _code(code) for code in levels.to_pylist()]
    occurring = {code for code in codes if code is not None}
    without = [code for code in occurring if code not in by_code]
    if without:
        few = sorted(code for code in by_code if code in occurring)
        if not few:
            return None, ""  # labels for values that do not occur
        named = ", ".join(f"{shown(code)} is {by_code[code]!r}" for code in few[:_NAMED])
        more = ", …" if len(few) > _NAMED else ""
        return None, (
            f"{named}{more}, but {counted(len(without), 'other value')} {'has' if len(without) == 1 else 'have'} no "
            "label: read as numbers; a label that means that there is no value belongs into missing"
        )
    texts = [by_code[code] for code in occurring]
    if len(set(texts)) < len(texts):
        twice = next(text for text in texts if texts.count(text) > 1)
        return None, f"several of its codes have the label {twice!r}: read as codes, so that they stay apart"
    return pa.array([None if code is None else by_code[code] for code in codes], pa.string()), ""


def _order(labels: Mapping[Code, str], levels: pa.Array) -> pa.Array:
    """The labels of occurring values in the order of their codes."""
    import pyarrow as pa

    occurring = set(levels.to_pylist())
    by_code = sorted(labels, key=lambda code: (isinstance(code, str), code))
    return pa.array([labels[code] for code in by_code if labels[code] in occurring], pa.string())


def plain(levels: pa.Array, single: bool = False) -> pa.Array:
    """Whole numbers as integers, as a CSV file would have them; all other values as they are."""
    import pyarrow as pa

    if not pa.types.is_floating(levels.type):
        return levels
    numbers = levels.cast(pa.float64()).to_numpy(zero_copy_only=False)
    there = numbers[~np.isnan(numbers)]
    if there.size and (there == np.floor(there)).all() and (np.abs(there) < _WHOLE).all():
        whole = np.where(np.isnan(numbers), 0, numbers).astype(np.int64)
        return pa.array(whole, mask=np.isnan(numbers))
    if single:
        short = np.array([float(str(number)) for number in numbers.astype(np.float32)])
        same = numbers.astype(np.float32).astype(np.float64) == numbers
        numbers = np.where(same, short, numbers)
    return pa.array(numbers, mask=np.isnan(numbers))


def _code(value: Any) -> Code:
    """Numbers that are equal have one code: 1.0 is 1."""
    if isinstance(value, bool) or not isinstance(value, float):
        return value if isinstance(value, (int, str)) else str(value)
    return int(value) if value.is_integer() and abs(value) < _WHOLE else value
