"""A malformed input: a command line, its files, and the expected result."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path

Content = bytes | Callable[[Path], None]
"""A file's bytes, or what makes it at a path: a folder, a link, a FIFO."""

REFUSED, EITHER, ACCEPTED = "refused", "either", "accepted"

ROWS = [
    (
        20 + 7 * (i % 5),
        "FM"[i % 3 % 2],
        ("cook", "judge", "clerk")[i % 4 % 3],
        10 * (1 + i * i % 6),
        1 + i % 3,
    )
    for i in range(24)
]
HEADER = "age,sex,job,pay,w"
PEOPLE = "\n".join([HEADER, *(",".join(map(str, row)) for row in ROWS), ""])
OPTIONS = ("--confidential", "pay", "--keys", "age,sex")
PEOPLE_COMMANDS = ("assess", "measures", "report")


@dataclass(frozen=True)
class Case:
    """One input. Its files are in a new working folder; people.csv is always there."""

    command: str
    """The command, or "" for none."""
    kind: str
    what: str
    words: tuple[str, ...]
    """What stands after the command."""
    files: Mapping[str, Content] = field(default_factory=dict)
    stdin: bytes = b""
    real: bool = False
    """In a process of its own, started as a user would; otherwise in a fork that has the package loaded."""
    expected: str = REFUSED
    """refused: a sentence and exit code 2. either: that, or exit code 0. accepted: exit code 0, to see that the
    inputs next to it are refused for what is wrong with them."""
    code: int = 2
    """The exit code of a refusal: 1 where what is printed cannot be written, which no other input would mend."""
    prints: bool = False
    """May print what it found before the refusal, as verify does."""
    stdout: str = ""
    """Where the output goes, if not into a file of the runner's."""
    file_limit: int = 0
    """The most bytes that a file may have, as on a full disk."""
    environment: Mapping[str, str] = field(default_factory=dict)

    @property
    def name(self) -> str:
        return f"{self.command or 'none'}/{self.kind}/{self.what}"

    @property
    def line(self) -> list[str]:
        return [self.command, *self.words] if self.command else list(self.words)

    def lay_out(self, folder: Path) -> None:
        """Create the files; PermissionError if only another user may create them."""
        for name, content in {"people.csv": PEOPLE.encode(), **self.files}.items():
            path = folder / name
            path.parent.mkdir(parents=True, exist_ok=True)
            if isinstance(content, bytes):
                path.write_bytes(content)
            else:
                content(path)


def people_words(path: str = "people.csv", *more: str) -> tuple[str, ...]:
    """The arguments of assess, measures and report."""
    return (path, *OPTIONS, *more)


def changed(option: str, value: str) -> tuple[str, ...]:
    """The arguments of a valid command line with one option changed or added."""
    given = dict(zip(OPTIONS[::2], OPTIONS[1::2], strict=True)) | {option: value}
    return ("people.csv", *(word for pair in given.items() for word in pair))


def unique(cases: Iterable[Case]) -> Iterator[Case]:
    """The cases, after a check that all names are different: two cases of one name would hide one of them."""
    seen: set[str] = set()
    for case in cases:
        if case.name in seen:
            raise ValueError(f"two cases are called {case.name}")
        seen.add(case.name)
        yield case


def folder(path: Path) -> None:
    path.mkdir()


def fifo(path: Path) -> None:
    os.mkfifo(path)


def link_to(target: str) -> Callable[[Path], None]:
    return lambda path: path.symlink_to(target)


def hard_link_to(name: str) -> Callable[[Path], None]:
    """A second name for a file of the working folder."""
    return lambda path: path.hardlink_to(next(p / name for p in path.parents if (p / name).exists()))


def device(major: int, minor: int) -> Callable[[Path], None]:
    """A device created for the case, so that overwriting it does no harm."""
    return lambda path: os.mknod(path, 0o020666, os.makedev(major, minor))


def unreadable(path: Path) -> None:
    if os.geteuid() == 0:
        raise PermissionError("modes do not bind this user")
    path.write_text(PEOPLE)
    path.chmod(0)


ZERO, FULL = device(1, 5), device(1, 7)


def column(name: str, values: Iterable[object]) -> str:
    """The people, with other values in a column; from the first row on, as many as given."""
    at = HEADER.split(",").index(name)
    rows = [list(map(str, row)) for row in ROWS]
    for row, value in zip(rows, values, strict=False):
        row[at] = str(value)
    return "\n".join([HEADER, *(",".join(row) for row in rows), ""])
