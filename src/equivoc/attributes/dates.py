"""Dates as numbers: days since 1970-01-01, or hours where the times of day differ; and the periods they lie in."""

from __future__ import annotations

import datetime
import re
from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

if TYPE_CHECKING:
    import pyarrow as pa

Floats = NDArray[np.float64]
DAY = 86_400_000_000
"""A day in microseconds."""
_HOUR = 3_600_000_000
_ISO = r"\d{4}-\d{2}-\d{2}(?:[ T]\d{2}:\d{2}(?::\d{2}(?:\.\d{1,6})?)?)?"
"""2020-01-31, 2020-01-31 09:30, 2020-01-31T09:30:00.5."""
ISO_DATE = re.compile(_ISO)
_PERIOD = re.compile(r"(\d{4})(?:-(\d{2})|-?Q([1-4])|(s))?")
"""2020-05, 2020-Q2, 2020, 2020s."""


@dataclass(frozen=True)
class DateScale:
    """How dates lie on a line of numbers."""

    unit: str
    """"days" or "hours", since 1970-01-01."""
    stamped: bool = False
    """True if dates are written with a time, as in the original, although all are at midnight."""

    @property
    def microseconds(self) -> int:
        """How long a unit is."""
        return DAY if self.unit == "days" else _HOUR

    def numbers(self, instants: NDArray[np.int64]) -> Floats:
        """Numbers of microseconds since 1970 in this unit."""
        return np.asarray(instants / self.microseconds)

    def written(self, numbers: Floats) -> pa.Array:
        """The dates as Arrow: days as dates; hours, and parts of days, with times."""
        import pyarrow as pa

        whole = np.rint(np.asarray(numbers, np.float64) * self.microseconds).astype(np.int64)
        return written_dates(
            whole, pa.timestamp("us") if self.stamped or self.unit == "hours" else pa.date32()
        )

    def text(self, number: float) -> str:
        """One date as text.

        >>> DateScale("days").text(18262), DateScale("hours").text(438297.5)
        ('2020-01-01', '2020-01-01 09:30')
        """
        found = str(replace(self, stamped=False).written(np.array([number])).cast("string")[0].as_py())
        return re.sub(r"(:\d\d):00(\.0+)?$", r"\1", found)

    def periods(self, *numbers: float) -> list[tuple[str, datetime.date, datetime.date]]:
        """The years of these dates, or their months if they are in one year: name, first day, and the day after."""
        texts = [self.text(number) for number in numbers]
        length = 4 if len({text[:4] for text in texts}) > 1 else 7
        found = ((text[:length], period_of(text[:length])) for text in texts)
        return [(name, *period) for name, period in found if period is not None]

    def number(self, day: datetime.date) -> float:
        """The number of the first moment of a day."""
        return self._number(datetime.datetime.combine(day, datetime.time()))

    def with_numbers(self, text: str) -> str:
        """The text of a released value with each date in it as a number, and a period as a range of numbers.

        >>> DateScale("days").with_numbers("[2020-01-01,2020-01-31]"), DateScale("days").with_numbers("2020-01")
        ('[18262,18292]', '[18262,18293)')
        """
        period = period_of(text)
        if period is not None:
            return "[{},{})".format(
                *(np.format_float_positional(self.number(day), trim="-") for day in period)
            )
        return ISO_DATE.sub(self._replaced, text)

    def _replaced(self, found: re.Match[str]) -> str:
        try:
            number = self._number(datetime.datetime.fromisoformat(found[0]))
        except ValueError:
            return found[0]
        return np.format_float_positional(number, trim="-")

    def _number(self, moment: datetime.datetime) -> float:
        return (moment - datetime.datetime(1970, 1, 1)) / datetime.timedelta(microseconds=self.microseconds)


class Dated(NamedTuple):
    """Levels that are dates, as numbers."""

    scale: DateScale
    numbers: Floats


def as_dates(levels: pa.Array, scale: DateScale | None = None) -> Dated | None:
    """The levels (none of them null) as numbers of days, or of hours if not all are at midnight; None if not all are
    dates: of a date type, or texts such as 2020-01-31.

    >>> import pyarrow as pa
    >>> as_dates(pa.array(["2020-01-01", "2020-02-01"])).numbers.tolist(), as_dates(pa.array(["2020-01-01", "x"]))
    ([18262.0, 18293.0], None)
    """
    moments = instants(levels)
    if moments is None:
        return None
    scale = scale or DateScale("hours" if np.any(moments % DAY) else "days", _is_stamp(levels.type))
    return Dated(scale, scale.numbers(moments))


def _is_stamp(kind: pa.DataType) -> bool:
    import pyarrow as pa

    return bool(pa.types.is_timestamp(kind))


def instants(levels: pa.Array) -> NDArray[np.int64] | None:
    """The moments of levels that are all dates, in microseconds since 1970-01-01; None if not all are."""
    import pyarrow as pa
    import pyarrow.compute as pc

    kind = levels.type
    if pa.types.is_string(kind) or pa.types.is_large_string(kind):
        texts = pc.utf8_trim_whitespace(levels)
        if not len(levels) or not pc.all(pc.match_substring_regex(texts, f"^{_ISO}$")).as_py():
            return None
        texts = pc.replace_substring(texts, " ", "T")
        try:
            moments = [datetime.datetime.fromisoformat(text) for text in texts.to_pylist()]
        except ValueError:  # 2020-02-31
            return None
        return np.array(moments, dtype="datetime64[us]").astype(np.int64)
    if not (pa.types.is_date(kind) or pa.types.is_timestamp(kind)):
        return None
    plain = pc.local_timestamp(levels) if pa.types.is_timestamp(kind) and kind.tz else levels
    try:
        return np.asarray(plain.cast(pa.timestamp("us"), safe=False).cast(pa.int64()).to_numpy(), np.int64)
    except pa.ArrowInvalid:
        return None


def written_dates(whole: NDArray[np.int64], kind: pa.DataType) -> pa.Array:
    """Moments in microseconds as Arrow: with times if the type has them, or if not all are at midnight."""
    import pyarrow as pa

    if _is_stamp(kind) or np.any(whole % DAY):
        return pa.array(whole, pa.timestamp("us"))
    return pa.array((whole // DAY).astype(np.int32), pa.int32()).cast(pa.date32())


# Periods: months, quarters, years and decades.

PERIODS: dict[str, Callable[[datetime.date], str]] = {
    "day": lambda day: f"{day.year:04}-{day.month:02}-{day.day:02}",
    "month": lambda day: f"{day.year:04}-{day.month:02}",
    "quarter": lambda day: f"{day.year:04}-Q{(day.month + 2) // 3}",
    "year": lambda day: f"{day.year:04}",
    "decade": lambda day: f"{day.year // 10 * 10:04}s",
}
"""How the period of a date is written, from the shortest to the longest."""


def period_of(text: str) -> tuple[datetime.date, datetime.date] | None:
    """The first day of a period such as 2020-05, 2020-Q2, 2020 or 2020s, and the day after its last; None if the text
    is none.

    >>> period_of("2020-Q2")
    (datetime.date(2020, 4, 1), datetime.date(2020, 7, 1))
    """
    found = _PERIOD.fullmatch(text.strip())
    if found is None:
        return None
    year, month = int(found[1]), int(found[2] or 1)
    months = 1 if found[2] else 3 if found[3] else 120 if found[4] else 12
    month = 3 * int(found[3]) - 2 if found[3] else month
    past = year * 12 + month - 1 + months
    if not (1 <= month <= 12 and year >= 1 and past // 12 <= 9999):
        return None
    return datetime.date(year, month, 1), datetime.date(past // 12, past % 12 + 1, 1)


def day_of(level: Any) -> datetime.date | None:
    """The day of a date, a date with a time, or a text such as 2020-01-31; None for anything else."""
    if isinstance(level, datetime.date):
        return level
    if isinstance(level, str) and ISO_DATE.fullmatch(level.strip()):
        try:
            return datetime.datetime.fromisoformat(level.strip()).date()
        except ValueError:
            return None
    return None
