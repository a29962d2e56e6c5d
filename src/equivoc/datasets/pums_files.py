"""The columns of a Census person file as numbers, from a CSV file or the zip that the Census gives out."""

from __future__ import annotations

import zipfile
import zlib
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import IO, TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from equivoc.errors import InputError

if TYPE_CHECKING:
    import pandas as pd

# Rows parsed at a time: a piece holds the text of the wanted columns, the result only their numbers.
_PIECE = 250_000
_ENCRYPTED = 0x1


@dataclass(frozen=True)
class PersonFile:
    """A CSV file with a header, on its own or inside a zip."""

    path: Path
    """The file on disk."""
    member: str | None = None
    """The CSV file's name inside the zip."""

    @property
    def name(self) -> str:
        """The CSV file's own name, without folders."""
        return Path(self.member or self.path).name

    def __str__(self) -> str:
        return str(self.path) if self.member is None else f"{self.member} in {self.path}"

    @contextmanager
    def open(self) -> Iterator[IO[bytes]]:
        """The file's bytes; what is wrong with them becomes one sentence."""
        with _one_sentence(self.path):
            if self.member is None:
                with self.path.open("rb") as file:
                    yield file
            else:
                with zipfile.ZipFile(self.path) as archive, archive.open(self.member) as file:
                    yield file

    def header(self) -> list[str]:
        """The columns' names, in capitals."""
        import pandas as pd

        with self.open() as file, self._parsing():
            first: pd.DataFrame = pd.read_csv(
                file, header=None, nrows=1, dtype=str, keep_default_na=False, **_TEXT
            )
        return [str(name).strip().upper() for name in first.iloc[0]]

    def numbers(self, columns: Sequence[str]) -> dict[str, NDArray[np.float64]]:
        """The named columns of every row; what is blank or no number is NaN."""
        import pandas as pd

        header = self.header()
        for name in columns:
            if header.count(name) > 1:
                raise InputError(f"{self} has more than one column named {name}: remove all but one")
        places = {header.index(name): name for name in columns}
        pieces: dict[str, list[NDArray[np.float64]]] = {name: [np.empty(0)] for name in columns}
        with self.open() as file, self._parsing():
            parts = pd.read_csv(
                file,
                header=None,
                skiprows=1,
                names=range(len(header)),
                usecols=list(places),
                index_col=False,
                low_memory=False,
                chunksize=_PIECE,
                **_TEXT,
            )
            for part in parts:
                for place, name in places.items():
                    pieces[name].append(_as_numbers(part[place]))
        return {name: np.concatenate(parts) for name, parts in pieces.items()}

    @contextmanager
    def _parsing(self) -> Iterator[None]:
        from pandas.errors import EmptyDataError, ParserError

        try:
            yield
        except EmptyDataError:
            raise InputError(f"{self} is empty: give a file with a header and records") from None
        except ParserError as wrong:
            raise InputError(f"{self} is not a readable CSV file: {str(wrong).strip()}") from None


_TEXT = {"encoding": "utf-8-sig", "encoding_errors": "replace"}


def person_files(path: Path, columns: Sequence[str]) -> list[PersonFile]:
    """The CSV files that have all the columns: the file itself, or those in the zip by name."""
    if not path.exists():
        raise InputError(f"there is no file {path}")
    if path.is_dir():
        raise InputError(f"{path} is a folder: name a Census person file (CSV, or zip)")
    files = _members(path) if _is_zip(path) else [PersonFile(path)]
    lacking = {file: [name for name in columns if name not in file.header()] for file in files}
    whole = [file for file, missing in lacking.items() if not missing]
    if not whole:
        nearest = min(lacking, key=lambda file: len(lacking[file]))
        missing = lacking[nearest]
        raise InputError(
            f"{nearest} lacks the column{'s' * (len(missing) > 1)} {', '.join(missing)}: "
            "give a person file of the American Community Survey (PUMS)"
        )
    return whole


def _is_zip(path: Path) -> bool:
    with _one_sentence(path), path.open("rb") as file:
        return path.suffix.lower() == ".zip" or file.read(4) == b"PK\x03\x04"


def _members(path: Path) -> list[PersonFile]:
    with _one_sentence(path), zipfile.ZipFile(path) as archive:
        found = sorted(
            (
                info
                for info in archive.infolist()
                # Some programs add a folder of hidden "._" doubles.
                if info.filename.lower().endswith(".csv") and not Path(info.filename).name.startswith(".")
            ),
            key=lambda info: info.filename,
        )
    if not found:
        raise InputError(f"{path} holds no CSV file: give the zip of a Census person file")
    if any(info.flag_bits & _ENCRYPTED for info in found):
        raise InputError(f"{path} is locked by a password: unpack it first")
    return [PersonFile(path, info.filename) for info in found]


@contextmanager
def _one_sentence(path: Path) -> Iterator[None]:
    """What files and zips complain of, as the caller's mistake."""
    try:
        yield
    except (zipfile.BadZipFile, zlib.error, EOFError) as broken:
        raise InputError(f"{path} is a broken zip file ({str(broken).rstrip('.')}): fetch it again") from None
    except NotImplementedError as unknown:
        raise InputError(f"{path} cannot be unpacked ({unknown}): unpack it first") from None
    except OSError as refused:
        raise InputError(f"{path} cannot be read: {refused.strerror or refused}") from None


def _as_numbers(column: pd.Series) -> NDArray[np.float64]:
    import pandas as pd

    return np.asarray(pd.to_numeric(column, errors="coerce"), np.float64)
