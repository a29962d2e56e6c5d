"""Safe file access: read regular files only; write completely or not at all, never over an input or a device."""

from __future__ import annotations

import os
import secrets
import stat
import unicodedata
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path

from equivoc.errors import InputError

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
    new = not folder.is_dir()
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
    temporary, target = _temporary(path, private=private)
    try:
        yield temporary
        check_replaceable(path)
        temporary.replace(target)
    except OSError as problem:
        raise InputError(f"{path} cannot be written: {problem.strerror}.") from None
    finally:
        temporary.unlink(missing_ok=True)


@contextmanager
def replacing_together(paths: Sequence[Path], *, private: bool = False) -> Iterator[list[Path]]:
    """Temporary files next to ``paths`` that replace them once all are complete; if one cannot be, none is."""
    places: list[tuple[Path, Path]] = []
    try:
        for path in paths:
            places.append(_temporary(path, private=private))
        yield [temporary for temporary, _ in places]
        for path in paths:
            check_replaceable(path)
        _replace_all(places)
    except OSError as problem:
        named = " and ".join(map(str, paths))
        raise InputError(f"{named} cannot be written: {problem.strerror}.") from None
    finally:
        for temporary, _ in places:
            temporary.unlink(missing_ok=True)


def _replace_all(places: Sequence[tuple[Path, Path]]) -> None:
    """Move each temporary file to its target; after a failure the targets are what they were before."""
    begun: list[tuple[Path, Path, bool]] = []
    try:
        for temporary, target in places:
            there = target.exists()
            former = target.with_name(f".equivoc-{secrets.token_hex(8)}.former")
            begun.append((target, former, there))
            if there:
                target.replace(former)
            temporary.replace(target)
    except BaseException:
        for target, former, there in reversed(begun):
            if former.exists():
                former.replace(target)
            elif not there:
                target.unlink(missing_ok=True)
        raise
    for _, former, _ in begun:
        former.unlink(missing_ok=True)


def _temporary(path: Path, *, private: bool) -> tuple[Path, Path]:
    """A new empty file next to ``path`` (or its target, if it is a link), and the file that it will replace."""
    check_replaceable(path)
    try:
        target = path.resolve()
        temporary = target.with_name(f".equivoc-{secrets.token_hex(8)}{target.suffix}")
        os.close(os.open(temporary, os.O_CREAT | os.O_EXCL | os.O_WRONLY, 0o600 if private else 0o666))
    except OSError as problem:
        raise InputError(f"{path} cannot be written: {problem.strerror}.") from None
    return temporary, target


def _spelling(path: Path) -> str:
    """The path with links resolved, in one Unicode normal form."""
    try:
        return unicodedata.normalize("NFC", os.fspath(path.resolve()))
    except (OSError, RuntimeError, ValueError):  # a loop of links, or an invalid file name
        return os.fspath(path.absolute())


def _inside(path: str, folder: str) -> bool:
    """True if the path lies in an existing folder (paths as `_spelling` writes them)."""
    return path.startswith(folder.rstrip(os.sep) + os.sep) and os.path.isdir(folder)  # noqa: PTH112


def _file(path: Path) -> tuple[int, int] | None:
    """Device and inode of the file; None if it does not exist."""
    try:
        found = path.stat()
    except (OSError, ValueError):
        return None
    return found.st_dev, found.st_ino


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
