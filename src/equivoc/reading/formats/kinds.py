"""The formats of other programs, what a table in one of them is, and the sentences about files that cannot be read."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal, Protocol

from equivoc.errors import InputError
from equivoc.text import exact

if TYPE_CHECKING:
    import pyarrow as pa

Format = Literal["fixed", "arrow", "excel", "ods", "spss", "stata", "sas", "xport", "r"]
Code = float | int | str
"""A stored value, or the letter of a missing value of Stata or SAS, as in ``.a``."""

NAMES: Mapping[str, str] = {
    "fixed": "a fixed-width file",
    "arrow": "an Arrow file",
    "excel": "an Excel workbook",
    "ods": "an OpenDocument spreadsheet",
    "spss": "an SPSS file",
    "stata": "a Stata file",
    "sas": "a SAS file",
    "xport": "a SAS transport file",
    "r": "a file of R",
}
SUFFIXES: Mapping[str, Format] = {
    ".arrow": "arrow", ".feather": "arrow", ".ipc": "arrow", ".arrows": "arrow",
    ".xlsx": "excel", ".xlsm": "excel", ".xls": "excel", ".xlsb": "excel", ".ods": "ods",
    ".sav": "spss", ".zsav": "spss", ".por": "spss", ".dta": "stata",
    ".sas7bdat": "sas", ".xpt": "xport", ".rds": "r", ".rdata": "r", ".rda": "r",
}  # fmt: skip


class FormatTable(Protocol):
    """A table in a file of another program."""

    @property
    def path(self) -> Path: ...

    @property
    def format(self) -> Format: ...

    @property
    def names(self) -> tuple[str, ...]: ...

    @property
    def rows(self) -> int | None:
        """None if the file does not say it."""

    @property
    def part(self) -> str | None:
        """The sheet or the data frame that the table is; None if a file of this format holds one table."""

    @property
    def value_labels(self) -> Mapping[str, Mapping[Code, str]]:
        """Of each column that has them, the label of each code."""

    @property
    def missing(self) -> Mapping[str, Mapping[Code, int]]:
        """Of the columns read so far, how often each code occurs that is null because the file declares it missing."""

    @property
    def notes(self) -> Mapping[str, str]:
        """Of the columns read so far, a sentence on those that were not read as one might expect."""

    def batches(self, names: Sequence[str]) -> Iterator[pa.RecordBatch]:
        """The named columns, piece by piece, in row order; at least one piece."""

    def order(self, name: str) -> pa.Array | None:
        """The order of the column's values, if the file gives them one."""


def needs(path: Path, known: Format, missing: ImportError) -> InputError:
    """The sentence for a library that is not installed."""
    return InputError(
        f"{path} is {NAMES[known]}, and {missing.name or 'the library'}, which reads it, is not installed: "
        "pip install 'equivoc[formats]'"
    )


def damaged(path: Path, known: Format, why: Any) -> InputError:
    """The sentence for what a library says of a file that it cannot read."""
    said = " ".join(str(why).split())[:200].rstrip(".")
    return InputError(
        f"{path} cannot be read: it is damaged or not {NAMES[known]} ({said or type(why).__name__})"
    )


def shown(code: Code) -> str:
    """A code in a sentence: 8, -1.5, 'X', .a."""
    return exact(code) if isinstance(code, float) else str(code)
