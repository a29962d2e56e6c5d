"""What a text in a table looks like: a number, a number in another notation, a date or time, a word for nothing."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

if TYPE_CHECKING:
    import pyarrow as pa

Mask = NDArray[np.bool_]

# The format of a number; "inf" and "nan" are not numbers here.
NUMBER = r"^[+-]?(\d+\.?\d*|\.\d+)([eE][+-]?\d+)?$"
# 1,5 and 1.234,50 and 1'000 and ,5; with a currency or per cent sign; with a minus sign behind it, or in brackets.
_MINUS, _MONEY = "-\u2212", "$€£¥"
_BETWEEN = "[.,' \u2019\u00a0\u202f\u2009]"
_OTHER_NUMBER = (
    rf"^\(?[{_MINUS}+]?[{_MONEY}]?{_BETWEEN}?[{_MINUS}+]?(\d+({_BETWEEN}\d+)*|[.,]\d+)([eE][+-]?\d+)?"
    rf"{_BETWEEN}?[{_MINUS}%{_MONEY}]?\)?$"
)
# 2020-01-31, 2020/1/31, 31.12.2020, 12/31/20, 31-Jan-2020, Jan 31, 2020; with a time behind it; or a time alone; or a
# month, quarter or week: 2020-01, Jan 2020, 2020Q1, 2020-W05.
_TIME = r"\d{1,2}:\d{2}(:\d{2}([.,]\d+)?)?( ?[APap][Mm]|Z|[+-]\d{2}:?\d{2})?"
_MONTH = r"(?i:jan|feb|m[aä]r|apr|ma[iy]|jun|jul|aug|sep|o[ck]t|nov|de[cz])[a-zé]*\.?"
_DAY = (
    r"\d{4}([-/.])\d{1,2}([-/.])\d{1,2}|\d{1,2}([-/.])\d{1,2}([-/.])(\d{4}|\d{2})"
    rf"|\d{{1,2}}[-. ]* ?{_MONTH}[- ,]*(\d{{4}}|\d{{2}})|{_MONTH} \d{{1,2}},? ?\d{{4}}"
)
_SPAN = rf"\d{{4}}[-/](0?[1-9]|1[0-2])|\d{{4}}[- ]?(?i:[qhw])\d{{1,2}}|{_MONTH}[- ](\d{{4}}|\d{{2}})"
_DATE = rf"^(({_DAY})([T ]+{_TIME})?|{_TIME}|{_SPAN})$"
MEASURED = "|".join((NUMBER, _OTHER_NUMBER.replace("'", r"\x27"), _DATE))
"""The format of a number in any notation, a date or a time; without apostrophes, so that it can stand in SQL."""
MISSING_WORDS = frozenset({"", "na", "n/a", "<na>", "#n/a", "nan", "null", ".", "-", "?", "missing"})
"""What R, SQL, SAS, spreadsheets and pandas write for a missing value, in small letters. An empty field is null, and
is not read as a word; text of blanks is."""


# 1,5 and 60,000 and 1.234,50: what is hardly ever meant as a code, as 1.2.3 or 555-1234 can be.
_COMMA_NUMBER = r"^[+-]?\d{1,3}([. ]\d{3})+,\d+$|^[+-]?\d+(,\d+)+(\.\d+)?$"


def are_numbers(texts: pa.Array) -> Mask:
    """Which of the texts (without blanks around them) are numbers as they are read here."""
    return _match(texts, NUMBER)


def are_comma_numbers(texts: pa.Array) -> Mask:
    """Which are numbers with a comma, as a decimal sign or between thousands: 60000,5 or 60,000 or 1.234,50."""
    return _match(texts, _COMMA_NUMBER)


def are_other_numbers(texts: pa.Array) -> Mask:
    """Which are numbers in another notation: 60000,5 or 1.234,50 or 1'000."""
    return _match(texts, _OTHER_NUMBER) & ~are_numbers(texts) & ~are_dates(texts)


def are_dates(texts: pa.Array) -> Mask:
    """Which are dates or times.

    >>> import pyarrow as pa
    >>> texts = pa.array(["2020-01-31", "31.12.2020", "2020-01-31 09:30", "1.2.34", "9:30", "1.234,50", "31"])
    >>> are_dates(texts).tolist(), are_other_numbers(texts).tolist()
    ([True, True, True, True, True, False, False], [False, False, False, False, False, True, False])
    """
    return _match(texts, _DATE)


def are_missing_words(texts: pa.Array) -> Mask:
    """Which are words for a missing value.

    >>> import pyarrow as pa
    >>> are_missing_words(pa.array(["NA", "n/a", "nah", "."])).tolist()
    [True, True, False, True]
    """
    return np.array([is_missing_word(str(text)) for text in texts.to_pylist()], np.bool_)


def is_missing_word(text: str) -> bool:
    """True if the text is a word for a missing value, or blank."""
    return text.strip().casefold() in MISSING_WORDS


def is_measured(text: str) -> bool:
    """True if the text is a number in any notation, a date or a time.

    >>> [text for text in ("37", "1.234,50", "31.12.2020", "age", "20-29", "") if is_measured(text)]
    ['37', '1.234,50', '31.12.2020']
    """
    return re.search(MEASURED, text) is not None


def _match(texts: pa.Array, pattern: str) -> Mask:
    import pyarrow.compute as pc

    found: Mask = pc.match_substring_regex(texts, pattern).to_numpy(zero_copy_only=False)
    return found.astype(np.bool_)
