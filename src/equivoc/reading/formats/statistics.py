"""Files of SPSS (.sav, .zsav, .por), Stata (.dta) and SAS (.sas7bdat, .xpt), read by pyreadstat some rows at a time."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from equivoc.errors import InputError
from equivoc.reading.formats.coded import CodedTable, Piece, Variable
from equivoc.reading.formats.kinds import Code, Format, damaged, needs

if TYPE_CHECKING:
    import pyarrow as pa

CELLS_AT_ONCE = 4_000_000
"""They come as Python objects of some 40 bytes each."""
FEWEST_ROWS = 1000


def open_statistics(path: Path, known: Format, *, encoding: str | None, labelled: bool) -> CodedTable:
    """The table; only what the file says of it is read."""
    read = _reader(path, known, encoding)
    _, said = read(metadataonly=True)
    names = tuple(said.column_names)
    if not names:
        raise InputError(f"{path} has no columns")
    labels = said.variable_value_labels or {}
    ranges = said.missing_ranges or {}
    variables = {}
    for name in names:
        shown_as = str(said.original_variable_types.get(name) or "")
        tags = {_tagged(code, known): label for code, label in (labels.get(name) or {}).items()}
        made, about = _calendar(known, shown_as)
        variables[name] = Variable(
            labels=tags,
            missing=tuple(_declared(each) for each in ranges.get(name) or ()),
            ordered=(said.variable_measure or {}).get(name) == "ordinal",
            single=said.readstat_variable_types.get(name) == "float",
            made=made,
            about=about,
            width=shown_as,
            title=(said.column_names_to_labels or {}).get(name),
        )
    rows = said.number_rows if said.number_rows is not None and said.number_rows >= 0 else None
    return CodedTable(path, known, names, rows, variables, partial(_pieces, read, known, rows), labelled)


def _reader(path: Path, known: Format, encoding: str | None) -> Callable[..., Any]:
    """pyreadstat's function for the format, with its errors as sentences."""
    try:
        import pyreadstat
    except ImportError as missing:
        raise needs(path, known, missing) from None

    with path.open("rb") as file:
        portable = known == "spss" and not file.read(4).startswith((b"$FL2", b"$FL3"))
    if portable and encoding is not None:
        raise InputError(
            f"encoding is {encoding!r}, but the texts of a portable SPSS file name theirs: leave it out"
        )
    function = {
        "spss": pyreadstat.read_por if portable else pyreadstat.read_sav,
        "stata": pyreadstat.read_dta,
        "sas": pyreadstat.read_sas7bdat,
        "xport": pyreadstat.read_xport,
    }[known]
    options: dict[str, Any] = {"output_format": "dict", "disable_datetime_conversion": True}
    if known != "xport" and not portable:
        options["user_missing"] = True  # elsewhere the library makes them null and does not say how many
    if encoding is not None:
        options["encoding"] = encoding

    def read(**more: Any) -> Any:
        try:
            return function(str(path), **options, **more)
        except (pyreadstat.ReadstatError, pyreadstat.PyreadstatError) as broken:
            raise damaged(path, known, broken) from None
        except (UnicodeDecodeError, LookupError) as broken:
            raise InputError(
                f"{path} cannot be read: its texts are not in the encoding that it names ({broken}): name "
                "theirs, as in encoding='latin-1'"
            ) from None

    return read


def _tagged(code: Code, known: Format) -> Code:
    """The letter of a missing value as the program writes it: .a in Stata, .A in SAS."""
    return f".{code}" if known != "spss" and isinstance(code, str) else code


def _declared(each: Any) -> Code | tuple[float, float]:
    """A value that the user declared missing, or a range."""
    if isinstance(each, Mapping):
        return each["lo"] if each["lo"] == each["hi"] else (float(each["lo"]), float(each["hi"]))
    return each  # type: ignore[no-any-return]


def _pieces(
    read: Callable[..., Any], known: Format, rows: int | None, names: Sequence[str]
) -> Iterator[Mapping[str, Piece]]:
    at_once = max(FEWEST_ROWS, CELLS_AT_ONCE // max(1, len(names)))
    begin = 0
    while rows is None or begin < rows:
        columns, said = read(usecols=list(names), row_offset=begin, row_limit=at_once)
        read_now = len(columns[names[0]]) if names else 0
        if not read_now:
            return
        kinds = said.readstat_variable_types
        yield {name: _piece(columns[name], kinds[name], known) for name in names}
        begin += read_now
        if read_now < at_once:
            return


def _piece(values: list[Any], kind: str, known: Format) -> Piece:
    """The values as Arrow: missing values with a letter become null, and so does empty text."""
    import pyarrow as pa
    import pyarrow.compute as pc

    if kind == "string":
        texts = pa.array(values, pa.string())
        return Piece(pc.if_else(pc.equal(texts, ""), pa.scalar(None, pa.string()), texts), {})
    try:
        return Piece(pa.array(values, pa.float64(), from_pandas=True), {})
    except (pa.ArrowException, TypeError, ValueError):
        letters: Counter[Code] = Counter(f".{value}" for value in values if isinstance(value, str))
        numbers = [None if isinstance(value, str) else value for value in values]
        return Piece(pa.array(numbers, pa.float64(), from_pandas=True), letters)


# Dates and times, which are stored as numbers since a first day.

_DAY = 86_400_000_000
"""In microseconds."""
_SECOND = 1_000_000
_SPSS = -12_219_379_200
"""14 October 1582 in seconds since 1970."""
_YEAR_1960 = -3653
"""1 January 1960 in days since 1970."""
_SAS_DATES = (
    "DATE|DAY|DDMMYY[BCDNPS]?|E8601DA|B8601DA|IS8601DA|JULDAY|JULIAN|MMDDYY[BCDNPS]?|MMYY[CDNPS]?|MONYY|MINGUO|NENGO|"
    "WEEKDATE|WEEKDATX|WORDDATE|WORDDATX|YYMM[CDNPS]?|YYMON|YYMMDD[BCDNPS]?|YYQ[CDNPS]?|YYQR[CDNPS]?|NLDATE|"
    "EUR[A-Z]*D[DEFMNWX]*"
)
_SAS_TIMES = "DATETIME|DATEAMPM|E8601D[TNZ]|B8601D[TNZ]|IS8601D[TN]|MDYAMPM|DTDATE|DTMONYY|DTYYQC|NLDATM"
_CLOCK = "is a time of day or a duration: read as its seconds"


def _calendar(known: Format, shown_as: str) -> tuple[Callable[[pa.Array], pa.Array | None] | None, str]:
    """What makes dates of the stored numbers, and the format's name or a note; (None, "") for plain numbers."""
    name = shown_as.upper()
    if known == "spss":
        if re.fullmatch(r"(A|E|J|S)?DATE[\d.]*|MOYR[\d.]*|QYR[\d.]*|WKYR[\d.]*", name):
            return partial(moments, unit=_SECOND, begin=_SPSS * _SECOND, days=True), shown_as
        if re.fullmatch(r"(DATETIME|YMDHMS)[\d.]*", name):
            return partial(moments, unit=_SECOND, begin=_SPSS * _SECOND, days=False), shown_as
        return None, f"its format, {shown_as}, {_CLOCK}" if re.fullmatch(r"D?TIME[\d.]*", name) else ""
    if known == "stata":
        return _of_stata(shown_as)
    name = re.sub(r"[\d.]*$", "", name)
    if re.fullmatch(_SAS_TIMES, name):
        return partial(moments, unit=_SECOND, begin=_YEAR_1960 * _DAY, days=False), shown_as
    if re.fullmatch(_SAS_DATES, name):
        return partial(moments, unit=_DAY, begin=_YEAR_1960 * _DAY, days=True), shown_as
    clock = re.fullmatch(r"TIME|HHMM|TOD|TIMEAMPM|IS8601TM|E8601TM|B8601TM|MMSS|HOUR", name)
    return None, f"its format, {shown_as}, {_CLOCK}" if clock else ""


def _of_stata(shown_as: str) -> tuple[Callable[[pa.Array], pa.Array | None] | None, str]:
    if re.match(r"%-?t?d", shown_as):
        return partial(moments, unit=_DAY, begin=_YEAR_1960 * _DAY, days=True), shown_as
    if re.match(r"%-?t[cC]", shown_as):
        if "D" not in shown_as and "d" not in shown_as and re.search(r"HH|MM|SS", shown_as):
            return None, f"its format, {shown_as}, is a time of day: read as its milliseconds"
        return partial(moments, unit=1000, begin=_YEAR_1960 * _DAY, days=False), shown_as
    if period := re.match(r"%-?t([mqhw])", shown_as):
        return partial(_periods, period=period.group(1)), shown_as
    return None, ""


def moments(stored: pa.Array, *, unit: int, begin: int, days: bool) -> pa.Array | None:
    """Numbers of ``unit`` microseconds since ``begin`` as dates, or as times if some are not midnight."""
    import pyarrow as pa
    import pyarrow.compute as pc

    numbers = stored.cast(pa.float64()).to_numpy(zero_copy_only=False)
    nothing = np.isnan(numbers)
    moments = np.round(np.where(nothing, 0, numbers) * float(unit)) + begin
    if (np.abs(moments) > 2.0**62).any():
        return None
    made = pa.array(moments.astype(np.int64), pa.timestamp("us"), mask=nothing)
    first, last = (
        pa.scalar(-719_162 * _DAY, pa.timestamp("us")),
        pa.scalar(2_932_897 * _DAY, pa.timestamp("us")),
    )
    if not pc.all(pc.and_(pc.greater_equal(made, first), pc.less(made, last))).as_py() and not nothing.all():
        return None  # before the year 1 or after the year 9999
    if days and not (moments[~nothing] % _DAY).any():
        return made.cast(pa.date32())
    return made


def _periods(stored: pa.Array, *, period: str) -> pa.Array | None:
    """Months, quarters, half-years or weeks since the first of 1960, as the first day of each."""
    import pyarrow as pa

    numbers = stored.cast(pa.float64()).to_numpy(zero_copy_only=False)
    nothing = np.isnan(numbers)
    whole = np.where(nothing, 0, numbers)
    if (whole != np.floor(whole)).any() or (np.abs(whole) > 90_000).any():
        return None
    at = whole.astype(np.int64)
    if period == "w":  # 52 weeks a year, the last of 8 or 9 days
        years, weeks = np.divmod(at, 52)
        days = (years - 10).astype("datetime64[Y]").astype("datetime64[D]") + 7 * weeks
    else:
        months = at * {"m": 1, "q": 3, "h": 6}[period] - 120
        days = months.astype("datetime64[M]").astype("datetime64[D]")
    return pa.array(days.astype("datetime64[D]"), mask=nothing)
