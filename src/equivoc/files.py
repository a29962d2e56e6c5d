"""Safe file access: read regular files only; write completely or not at all, never over an input or a device."""

from __future__ import annotations

import csv
import os
import re
import secrets
import stat
import unicodedata
from collections.abc import Iterable, Iterator, Sequence
from contextlib import ExitStack, contextmanager, suppress
from pathlib import Path
from typing import Any, TextIO

from equivoc.errors import InputError
from equivoc.temporary_files import second_name, signals_held_back, temporary_file

_KINDS = (
    (stat.S_ISFIFO, "pipe"),
    (stat.S_ISCHR, "device"),
    (stat.S_ISBLK, "device"),
    (stat.S_ISSOCK, "socket"),
)


def check_outputs(
    outputs: Iterable[Path], *, inputs: Iterable[Path | None] = (), folder: Path | None = None
) -> None:
    """InputError if an output is one of the inputs, another output, or something that must not be replaced.

    Files are compared by path and by inode, so links and other spellings of a name are recognised. Inputs that are
    None or do not exist are ignored. ``folder`` is created before anything is written; all other folders must exist.
    Call this before any work, and again before writing.
    """
    if folder is not None:
        _check_folder(folder)
    by_path: dict[str, Path] = {}
    by_file: dict[tuple[int, int], Path] = {}
    for read in inputs:
        if read is not None:
            by_path[_spelling(read)] = read
            found = _file(read)
            if found is not None:
                by_file[found] = read
    written: dict[str | tuple[int, int], Path] = {}
    for output in outputs:
        check_replaceable(output)
        if output.parent != folder and not output.parent.is_dir():
            raise InputError(f"{output} cannot be written: {output.parent} is not a folder.")
        spelling, found = _spelling(output), _file(output)
        read = by_path.get(spelling) or (None if found is None else by_file.get(found))
        whole = next((given for path, given in by_path.items() if _inside(spelling, path)), None)
        if whole is not None:
            raise InputError(
                f"{output} cannot be written: {whole} is an input folder. Choose another folder."
            )
        if read is not None:
            same = "" if read == output else f", under the name {read}"
            raise InputError(f"{output} cannot be written: it is also an input{same}. Choose another name.")
        # On a case-insensitive disk, names that differ only in case are the same file.
        for name in (spelling.casefold(), found):
            if name is not None and written.setdefault(name, output) is not output:
                raise InputError(
                    f"{output} cannot be written: it is the same file as another output, {written[name]}. "
                    "Choose another name."
                )


def check_replaceable(path: Path) -> None:
    """InputError unless ``path`` does not exist or is a regular file (or a link to one)."""
    try:
        mode = path.stat().st_mode
    except FileNotFoundError:
        if path.is_symlink():
            raise InputError(
                f"{path} cannot be written: it is a link to a file that does not exist."
            ) from None
        return
    except OSError as problem:
        raise InputError(f"{path} cannot be written: {problem.strerror}.") from None
    if stat.S_ISDIR(mode):
        raise InputError(f"{path} cannot be written: it is a folder.")
    if not stat.S_ISREG(mode):
        raise InputError(f"{path} cannot be written: it is a device, a pipe or a socket, not a regular file.")


def _check_folder(folder: Path) -> None:
    """InputError unless ``folder`` is a folder, or nothing yet."""
    try:
        mode = folder.stat().st_mode
    except (FileNotFoundError, NotADirectoryError):  # the files in it are checked, too
        return
    except OSError as problem:
        raise InputError(f"the folder {folder} cannot be created: {problem.strerror}.") from None
    if not stat.S_ISDIR(mode):
        raise InputError(f"{folder} is a file; give a folder.")


def new_folder(folder: Path, *, private: bool = False) -> None:
    """Create the folder, unless it exists; InputError if that fails. Only the owner can read a new ``private`` one."""
    try:
        folder.mkdir(mode=0o700 if private else 0o777, parents=True, exist_ok=True)
    except FileExistsError:
        raise InputError(f"{folder} is a file; give a folder.") from None
    except (OSError, ValueError) as problem:
        why = getattr(problem, "strerror", None) or problem
        raise InputError(f"the folder {folder} cannot be created: {why}.") from None


@contextmanager
def writing_into(folder: Path, *, private: bool = False) -> Iterator[None]:
    """Create the folder before the block; if the block fails, remove the folder if it is new and still empty."""
    new = not is_folder(folder)
    new_folder(folder, private=private)
    try:
        yield
    except (InputError, OSError):
        if new:
            with suppress(OSError):  # it is not empty
                folder.rmdir()
        raise


@contextmanager
def replacing(path: Path, *, private: bool = False) -> Iterator[Path]:
    """A temporary file next to ``path`` that replaces it once it is complete.

    If ``path`` is a link, its target is replaced.
    ``private`` files can be read by their owner only; others have the usual permissions of new files.
    """
    with replacing_together([path], private=private) as (temporary,):
        yield temporary


@contextmanager
def replacing_together(paths: Sequence[Path], *, private: bool = False) -> Iterator[list[Path]]:
    """Temporary files next to ``paths`` that replace them once all are complete; if one cannot be, none is."""
    for path in paths:
        check_replaceable(path)
    try:
        targets = [path.resolve() for path in paths]
        with ExitStack() as temporary:
            files = [temporary.enter_context(temporary_file(target, private=private)) for target in targets]
            yield files
            for path in paths:
                check_replaceable(path)
            with signals_held_back():
                _replace_all(list(zip(files, targets, strict=True)))
    except OSError as problem:
        named = " and ".join(map(str, paths))
        raise InputError(f"{named} cannot be written: {problem.strerror}.") from None


def _replace_all(places: Sequence[tuple[Path, Path]]) -> None:
    """Move each temporary file to its target; after a failure the targets are what they were before."""
    *all_but_last, (last, target) = places
    with ExitStack() as undoing:
        for each, place in all_but_last:
            undoing.enter_context(_replaced(each, place))
        last.replace(target)


@contextmanager
def _replaced(temporary: Path, target: Path) -> Iterator[None]:
    """Move the file to its target; if the block fails, the target is what it was before."""
    if not target.exists():
        temporary.replace(target)
        try:
            yield
        except BaseException:
            target.unlink(missing_ok=True)
            raise
        return
    with _former(target) as former:
        try:
            temporary.replace(target)
            yield
        except BaseException:
            former.replace(target)
            raise


@contextmanager
def _former(target: Path) -> Iterator[Path]:
    """Another name for the file at ``target`` during the block."""
    with ExitStack() as names:
        try:
            former = names.enter_context(second_name(target))
        except OSError:  # a disk without hard links: not one of the names that the next run removes
            former = target.with_name(f".equivoc-{secrets.token_hex(8)}.former")
            target.replace(former)
            names.callback(former.unlink, missing_ok=True)
        yield former


def _spelling(path: Path) -> str:
    """The path with links resolved, in one Unicode normal form."""
    try:
        return unicodedata.normalize("NFC", os.fspath(path.resolve()))
    except (OSError, RuntimeError, ValueError):  # a loop of links, or an invalid file name
        return os.fspath(path.absolute())


def _inside(path: str, folder: str) -> bool:
    """True if the path lies in an existing folder (paths as `_spelling` writes them)."""
    return path.startswith(folder.rstrip(os.sep) + os.sep) and is_folder(folder)


def _file(path: Path) -> tuple[int, int] | None:
    """Device and inode of the file; None if it does not exist."""
    try:
        found = path.stat()
    except (OSError, ValueError):
        return None
    return found.st_dev, found.st_ino


def is_folder(path: str | os.PathLike[str]) -> bool:
    """True for a folder; unlike Path.is_dir, never an OSError, as for a name of more than 255 bytes."""
    return os.path.isdir(path)  # noqa: PTH112


def is_file(path: str | os.PathLike[str]) -> bool:
    """True for an ordinary file; unlike Path.is_file, never an OSError."""
    return os.path.isfile(path)  # noqa: PTH113


def check_readable(path: Path) -> None:
    """InputError unless ``path`` is a regular file: reading a device or a pipe may never end."""
    try:
        kind = path.stat().st_mode
    except (FileNotFoundError, NotADirectoryError, ValueError):
        raise InputError(f"there is no file {path}") from None
    except OSError as problem:
        raise InputError(f"{path} cannot be read: {problem.strerror}") from None
    if stat.S_ISDIR(kind):
        raise InputError(f"{path} is a folder: name a file")
    if not stat.S_ISREG(kind):
        found = next((name for test, name in _KINDS if test(kind)), "special file")
        raise InputError(f"{path} cannot be read: it is a {found}, not an ordinary file")


def one_each(path: Path, names: Iterable[str]) -> dict[str, Path]:
    """A file for each name beside ``path``: ``report.html`` becomes ``report-salary.html``. One name: ``path`` itself.

    >>> [file.name for file in one_each(Path("report.html"), ["salary", "a/b", "a b"]).values()]
    ['report-salary.html', 'report-a_b.html', 'report-a_b-2.html']
    """
    found: dict[str, Path] = {}
    every = list(names)
    if len(every) == 1 or not path.name:
        return dict.fromkeys(every, path)
    for name in every:
        safe = "".join(letter if letter.isalnum() or letter in "-_." else "_" for letter in name)
        file, number = path.with_name(f"{path.stem}-{safe}{path.suffix}"), 2
        while file in found.values():
            file, number = path.with_name(f"{path.stem}-{safe}-{number}{path.suffix}"), number + 1
        found[name] = file
    return found


# Writes frames as CSV files without text that a spreadsheet would run as a formula.

FORMULA = re.compile(r"[=+\-@\t\r\n＝＋－＠]")
"""First characters of a formula in a spreadsheet, and characters that it skips before one."""
NUMBER = re.compile(r"[+-]?(\d+\.?\d*|\.\d+)([eE][+-]?\d+)?")


def write_csv(frame: Any, path: Path, *, escape: bool = True, private: bool = False) -> None:
    """Write a pandas frame completely or not at all; ``escape`` prefixes text that looks like a formula (`escaped`).

    ``private`` is that of `equivoc.files.replacing`.
    """
    with replacing(path, private=private) as temporary:
        put_csv(frame, temporary, escape=escape)


def put_csv(frame: Any, to: Path | TextIO, *, escape: bool) -> None:
    """Write a pandas frame as CSV into a file that is there, or into memory."""
    texts = [place for place, kind in enumerate(frame.dtypes) if getattr(kind, "kind", "O") not in "biufcmM"]
    if escape:
        frame = frame.rename(columns=escaped)
        for place in texts:
            frame.isetitem(place, frame.iloc[:, place].astype(object).map(escaped))
    # Python's writer quotes text with a carriage return only on request.
    returns = any("\r" in str(text) for place in texts for text in frame.iloc[:, place].unique())
    frame.to_csv(to, index=False, quoting=csv.QUOTE_NONNUMERIC if returns else csv.QUOTE_MINIMAL)


def escaped(value: Any) -> Any:
    """Prefix text that a spreadsheet would take for a formula with an apostrophe; return anything else unchanged.

    >>> escaped("=1+1"), escaped("-2.5"), escaped("-a"), escaped("age"), escaped(-3)
    ("'=1+1", '-2.5', "'-a", 'age', -3)
    """
    if isinstance(value, str) and FORMULA.match(value) and not NUMBER.fullmatch(value):
        return f"'{value}"
    return value


def unescaped(value: Any) -> Any:
    """The value that `escaped` was given; text without an apostrophe of ours is returned unchanged.

    >>> unescaped("'=1+1"), unescaped("'-a"), unescaped("'tis"), unescaped("-2.5"), unescaped(None)
    ('=1+1', '-a', "'tis", '-2.5', None)
    """
    if isinstance(value, str) and value.startswith("'") and escaped(value[1:]) == value:
        return value[1:]
    return value
