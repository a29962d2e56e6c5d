"""Fixed-width files, read by a layout: ARGUS's .rda metadata, or a CSV or TOML file with name, start and width.

A layout says at which character each column begins (from 1), how wide it is, and which codes mean that a value is
missing. Values come as text without blanks around them; blank fields and missing codes are null. Decimals that a CSV or
TOML layout declares are implied: they apply to values without a decimal point (12345 with 2 decimals is 123.45), as in
Fortran, SAS and SPSS. ARGUS takes values as they are written, so there they are only noted.
"""

from __future__ import annotations

import csv
import io
import shlex
import tomllib
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import islice, pairwise
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

from equivoc.attributes.written_values import NUMBER
from equivoc.checks import is_whole
from equivoc.engines.text_file import Dialect, compression_of, open_text, undecodable
from equivoc.errors import InputError
from equivoc.files import check_readable
from equivoc.reading.encoding import guess_encoding

if TYPE_CHECKING:
    import pyarrow as pa

AT_ONCE = 1 << 16
"""Lines per batch."""
_R_STARTS = (b"RDX", b"RDA", b"\x1f\x8b", b"BZh", b"\xfd7zXZ")
"""How R's own .rda files begin: plain, or compressed by gzip, bzip2 or xz."""
_ROLES = {
    "<RECODEABLE>": "key",
    "<RECODABLE>": "key",
    "<NUMERIC>": "number",
    "<WEIGHT>": "weights",
    "<HOUSE_ID>": "group",
    "<HOLDING>": "group",
}
_WIDTH_COLUMNS = ("name", "start", "width", "decimals", "missing")


@dataclass(frozen=True)
class Field:
    """One column of a fixed-width file."""

    name: str
    start: int
    """The place of its first character, from 1; 0 in a layout with a separator."""
    width: int
    """How many characters; 0 in a layout with a separator that gives none."""
    decimals: int | None = None
    missing: tuple[str, ...] = ()
    """Codes that mean a missing value."""
    roles: tuple[str, ...] = ()
    """What ARGUS calls it: "key", "number", "weights", "group"."""
    codelist: str | None = None
    """The file of its codes and their labels, as the layout names it."""
    hierarchy: str | None = None
    """The .hrc file of its hierarchy, as the layout names it."""

    @property
    def end(self) -> int:
        """The place of its last character."""
        return self.start + self.width - 1


@dataclass(frozen=True)
class Layout:
    """The columns of a file without a header, in their order."""

    fields: tuple[Field, ...]
    source: Path = field(compare=False)
    separator: str | None = None
    """The separator of ARGUS's free format; None: fixed width."""
    header: bool = False
    """True if the first line of a free-format file holds the names."""
    implied: bool = False
    """True if the decimals apply to values that are written without a decimal point."""

    @property
    def names(self) -> tuple[str, ...]:
        return tuple(each.name for each in self.fields)

    @property
    def missing(self) -> dict[str, tuple[str, ...]]:
        """The missing codes of each column that has some."""
        return {each.name: each.missing for each in self.fields if each.missing}

    def value_labels(self, name: str) -> dict[str, str]:
        """The label of each code of a column; none if the layout names no codelist."""
        column = next(each for each in self.fields if each.name == name)
        if column.codelist is None:
            return {}
        return read_codelist(self.source.parent / column.codelist.replace("\\", "/"))


def is_r_data(start: bytes) -> bool:
    """True if a .rda file that begins with these bytes is R's, not the metadata of ARGUS.

    >>> is_r_data(b"RDX3\\nX"), is_r_data(b"GEMEENTE 1 4 999\\n")
    (True, False)
    """
    return start.startswith(_R_STARTS)


def read_layout(path: str | Path) -> Layout:
    """The layout in a file: ``.csv`` or ``.toml`` with names, starts and widths, else ARGUS's metadata (.rda)."""
    path = Path(path)
    text = _text(path)
    kind = path.suffix.casefold()
    if kind == ".toml":
        layout = _described(_toml_rows(text, path), path)
    elif kind == ".csv":
        layout = _described(_csv_rows(text, path), path)
    else:
        layout = argus_layout(text, path)
    return _checked(layout)


def read_codelist(path: Path) -> dict[str, str]:
    """The codes and labels of ARGUS's .cdl files: ``code,label`` on each line."""
    pairs = (line.partition(",") for line in _text(path, "codelist").splitlines() if line.strip())
    return {code.strip().strip('"'): label.strip().strip('"') for code, _, label in pairs}


def _text(path: Path, what: str = "layout") -> str:
    try:
        check_readable(path)
        found = path.read_bytes()
    except InputError as refused:
        raise InputError(f"the {what} cannot be used: {refused}.") from None
    except OSError as refused:
        raise InputError(f"the {what} {path} cannot be read: {refused.strerror}.") from None
    if is_r_data(found):
        raise InputError(
            f"the {what} {path} is a data file of R, not metadata of ARGUS; give it as the data."
        )
    try:
        return found.decode("utf-8-sig")
    except UnicodeDecodeError:
        return found.decode("windows-1252", errors="replace")  # ARGUS writes in the encoding of Windows


def argus_layout(text: str, source: Path) -> Layout:
    """A line for each variable, ``name start width [missing [missing]]``, and options below it in angle brackets.

    >>> layout = argus_layout("GEMEENTE 1 4 9999\\n <RECODEABLE>\\nPAY 5 6\\n <NUMERIC>\\n <DECIMALS> 2", Path("a.rda"))
    >>> layout.names, layout.fields[0].missing, layout.fields[1].decimals
    (('GEMEENTE', 'PAY'), ('9999',), 2)
    """
    found: list[dict[str, Any]] = []
    free: dict[str, Any] = {}
    for number, line in enumerate(text.splitlines(), 1):
        words = _words(line, number, source)
        if not words:
            continue
        first, rest = words[0], words[1:]
        if not first.startswith("<"):
            found.append(_variable(first, rest, f"line {number} of the layout {source}", fixed=not free))
        elif found:
            _option(found[-1], first.upper(), rest, f"line {number} of the layout {source}")
        elif first.upper() == "<SEPARATOR>" and rest:
            free |= {"separator": rest[0]}
        elif first.upper() == "<NAMESINFRONT>":
            free = {"separator": ",", **free, "header": True}
        elif first.upper() == "<SPSS>":
            raise InputError(
                f"the layout {source} is for a file of SPSS; give the .sav file itself, without layout."
            )
        else:
            raise InputError(
                f"line {number} of the layout {source} is {line.strip()!r}, before any variable."
            )
    return Layout(tuple(Field(**each) for each in found), source, **free)


def _words(line: str, number: int, source: Path) -> list[str]:
    """The words of a line; quotes hold a word with blanks together, and backslashes are those of Windows."""
    split = shlex.shlex(line, posix=True)
    split.whitespace_split, split.commenters, split.escape, split.quotes = True, "", "", '"'
    try:
        return list(split)
    except ValueError:
        raise InputError(f"line {number} of the layout {source} has a quote that is not closed.") from None


def _variable(name: str, rest: Sequence[str], where: str, *, fixed: bool) -> dict[str, Any]:
    numbers = 2 if fixed else 1
    if not all(word.isdigit() for word in rest[:numbers]) or len(rest) < numbers * fixed:
        form = "name, start and width" if fixed else "name and width"
        raise InputError(f"{where} is {' '.join([name, *rest])!r}; give {form}, such as {name} 1 4.")
    start, width = (rest[0], rest[1]) if fixed else ("0", rest[0] if rest else "0")
    missing = tuple(word.strip() for word in rest[numbers:] if word.strip())
    return {"name": name, "start": int(start), "width": int(width), "missing": missing}


def _option(variable: dict[str, Any], option: str, rest: Sequence[str], where: str) -> None:
    """What an option says; those that only ARGUS's methods use are left out."""
    if option in _ROLES:
        variable["roles"] = (*variable.get("roles", ()), _ROLES[option])
    elif option in ("<CODELIST>", "<HIERCODELIST>") and rest:
        variable["codelist" if option == "<CODELIST>" else "hierarchy"] = rest[0]
    elif option == "<DECIMALS>":
        if len(rest) != 1 or not rest[0].isdigit():
            raise InputError(f"{where} gives decimals as {' '.join(rest)!r}; give a number.")
        variable["decimals"] = int(rest[0])


def _csv_rows(text: str, path: Path) -> list[dict[str, Any]]:
    first = text.partition("\n")[0]
    by = max(",;\t", key=first.count)
    rows = list(csv.DictReader(io.StringIO(text, newline=""), delimiter=by, skipinitialspace=True))
    return [{(name or "").strip().casefold(): value for name, value in row.items()} for row in rows]


def _toml_rows(text: str, path: Path) -> list[dict[str, Any]]:
    try:
        columns = tomllib.loads(text).get("columns", [])
    except tomllib.TOMLDecodeError as problem:
        raise InputError(f"the layout {path} is not TOML: {problem}.") from None
    if isinstance(columns, Mapping):
        columns = [
            {"name": name, **row} if isinstance(row, Mapping) else {"name": name}
            for name, row in columns.items()
        ]
    if not isinstance(columns, list) or not all(isinstance(row, dict) for row in columns):
        raise InputError(
            f"the layout {path} has no [columns]; write age = {{ start = 1, width = 2 }} below it."
        )
    return columns


def _described(rows: Sequence[Mapping[str, Any]], path: Path) -> Layout:
    """From rows with name, start, width, and perhaps decimals and missing codes."""
    fields = []
    for number, row in enumerate(rows, 1):
        strange = [name for name in row if name not in _WIDTH_COLUMNS]
        if strange or not row.get("name"):
            what = f"has {strange[0]!r}" if strange else "has no name"
            raise InputError(
                f"column {number} of the layout {path} {what}; give name, start, width and perhaps decimals, missing."
            )
        start, width, decimals = (
            _whole(row.get(each), each, row["name"], path) for each in _WIDTH_COLUMNS[1:4]
        )
        if start is None or width is None:
            raise InputError(
                f"the layout {path} gives no {'start' if start is None else 'width'} of {row['name']!r}."
            )
        codes = row.get("missing") or ()
        words = codes.split() if isinstance(codes, str) else [codes] if not isinstance(codes, list) else codes
        fields.append(Field(str(row["name"]).strip(), start, width, decimals, tuple(map(str, words))))
    return Layout(tuple(fields), path, implied=True)


def _whole(given: Any, what: str, name: Any, path: Path) -> int | None:
    if given is None or given == "":
        return None
    text = str(given).strip()
    if not text.isdecimal() or not (isinstance(given, str) or is_whole(given)):
        raise InputError(f"the layout {path} gives {given!r} as the {what} of {name!r}; give a whole number.")
    return int(text)


def _checked(layout: Layout) -> Layout:
    if not layout.fields:
        raise InputError(
            f"the layout {layout.source} describes no column; give name, start and width of each."
        )
    lower = [name.casefold() for name in layout.names]
    twice = [name for name in layout.names if lower.count(name.casefold()) > 1]
    if twice:
        raise InputError(
            f"the layout {layout.source} describes {twice[0]!r} twice; give each column one name."
        )
    if layout.separator is not None:
        return layout
    for each in layout.fields:
        if each.start < 1 or each.width < 1:
            raise InputError(
                f"the layout {layout.source} gives {each.name!r} the start {each.start} and the width {each.width}; "
                "both count from 1."
            )
    for one, other in pairwise(sorted(layout.fields, key=lambda each: each.start)):
        if one.end >= other.start:
            raise InputError(
                f"the layout {layout.source} has {one.name!r} in characters {one.start} to {one.end}, but "
                f"{other.name!r} begins at {other.start}; columns must not overlap."
            )
    return layout


# Reading by a layout.


def fixed_width_batches(
    lines: Iterable[str], layout: Layout, *, source: str | Path, names: Sequence[str] | None = None
) -> Iterator[pa.RecordBatch]:
    """The columns ``names`` (None: all) as text, some ten thousand lines at a time; blank lines are left out.

    A line that ends before a column gives null; one that ends inside a number is an error.
    """
    import pyarrow as pa

    chosen = [each for each in layout.fields if names is None or each.name in names]
    numbered = enumerate((line.rstrip("\r\n") for line in lines), 1)
    while piece := list(islice(numbered, AT_ONCE)):
        kept = [(number, line) for number, line in piece if line.strip(" \t\x1a")]
        texts = pa.array([line for _, line in kept], pa.large_string())
        columns = [_column(texts, each, layout, [number for number, _ in kept], source) for each in chosen]
        if kept:
            yield pa.RecordBatch.from_arrays(columns, [each.name for each in chosen])


def _column(
    texts: pa.Array, of: Field, layout: Layout, numbers: Sequence[int], source: str | Path
) -> pa.Array:
    import pyarrow as pa
    import pyarrow.compute as pc

    cut = pc.utf8_slice_codeunits(texts, of.start - 1, of.end)
    values = pc.utf8_trim(cut, " \t")
    short = pc.and_(pc.less(pc.utf8_length(cut), of.width), pc.match_substring_regex(values, NUMBER))
    if pc.any(short).as_py():
        at = pc.index(short, True).as_py()
        raise InputError(
            f"line {numbers[at]} of {source} ends inside {of.name!r} (characters {of.start} to {of.end}); give whole "
            "lines, or another layout."
        )
    missing = pc.is_in(values, value_set=pa.array(["", *of.missing], pa.large_string()))
    if layout.implied and of.decimals:
        values = _with_point(values, of.decimals)
    return pc.if_else(missing, pa.scalar(None, pa.large_string()), values)


def _with_point(values: pa.Array, decimals: int) -> pa.Array:
    """A decimal point before the last digits of whole numbers; other texts as they are."""
    import pyarrow as pa
    import pyarrow.compute as pc

    parts = pc.extract_regex(values, r"^(?P<sign>[+-]?)(?P<digits>\d+)$")
    digits = pc.utf8_lpad(pc.struct_field(parts, "digits"), decimals + 1, "0")
    whole, rest = (
        pc.utf8_slice_codeunits(digits, 0, -decimals),
        pc.utf8_slice_codeunits(digits, -decimals, None),
    )
    point, nothing = (pa.scalar(each, pa.large_string()) for each in (".", ""))
    pointed = pc.binary_join_element_wise(pc.struct_field(parts, "sign"), whole, point, rest, nothing)
    return pc.if_else(pc.is_null(parts), values, pointed)


def write_as_csv(lines: Iterable[str], layout: Layout, target: Path, *, source: str | Path) -> int:
    """The file as CSV in UTF-8 with a header, for readers of CSV; returns how many records it has."""
    import pyarrow as pa
    from pyarrow.csv import CSVWriter

    schema = pa.schema([(name, pa.large_string()) for name in layout.names])
    records = 0
    with CSVWriter(target, schema) as writer:
        for batch in fixed_width_batches(lines, layout, source=source):
            writer.write_batch(batch)
            records += batch.num_rows
    return records


@dataclass(frozen=True, eq=False)
class FixedWidthFile:
    """A fixed-width file with its layout, as a table of texts."""

    path: Path
    layout: Layout
    dialect: Dialect
    format: Literal["fixed"] = "fixed"
    value_labels: Mapping[str, Mapping[Any, str]] = field(default_factory=dict)
    missing: Mapping[str, Mapping[Any, int]] = field(default_factory=dict)
    notes: Mapping[str, str] = field(default_factory=dict)
    rows: int | None = None
    part: None = None

    @property
    def names(self) -> tuple[str, ...]:
        return self.layout.names

    def batches(self, names: Sequence[str]) -> Iterator[pa.RecordBatch]:
        import pyarrow as pa

        empty = True
        with open_text(self.path, self.dialect) as lines:
            try:
                for batch in fixed_width_batches(lines, self.layout, source=self.path, names=names):
                    empty = False
                    yield batch.select(list(names))
            except UnicodeError:
                raise InputError(undecodable(self.path, self.dialect)) from None
        if empty:
            yield pa.RecordBatch.from_arrays([pa.array([], pa.large_string()) for _ in names], list(names))

    def order(self, name: str) -> None:
        return None


def fixed_width_file(path: Path, layout: str, encoding: str | None) -> FixedWidthFile:
    """The file with the layout in another one."""
    compression = compression_of(path)
    found = read_layout(layout)
    if found.separator is not None:
        raise InputError(
            f"the layout {layout} is of a file with a separator, {found.separator!r}: leave the layout out, and say "
            f"separator={found.separator!r}, header={found.header} and missing=…"
        )
    dialect = Dialect(encoding=encoding or guess_encoding(path, compression), compression=compression)
    return FixedWidthFile(path, found, dialect)
