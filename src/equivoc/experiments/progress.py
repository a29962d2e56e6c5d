"""Progress of a computation on stderr: a live bar, lines for logs, or nothing."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import partial
from time import monotonic

from equivoc.errors import InputError

KINDS = ("auto", "bar", "plain", "none")
SECONDS_BETWEEN_LINES = 2.0

Tell = Callable[[int], None]
"""Called with the number of finished cells."""
Progress = str | Callable[[int, int], None]
"""One of KINDS, or a function that is called with the numbers of finished and of all cells."""


def checked_kind(progress: bool | Progress) -> Progress:
    """``True`` is auto, ``False`` none; a function stays one."""
    if callable(progress):
        return progress
    kind = progress if isinstance(progress, str) else "auto" if progress else "none"
    if kind not in KINDS:
        raise InputError(f"progress is {progress!r}; choose one of {', '.join(KINDS)}.")
    return kind


@contextmanager
def telling(kind: Progress, *, what: str, total: int, done: int) -> Iterator[Tell]:
    """Report how many of ``total`` cells of ``what`` is computed are done, ``done`` of them at the start."""
    if callable(kind):
        kind(done, total)
        yield partial(_all_cells, kind, total)
        return
    from rich.console import Console

    console = Console(stderr=True)
    if kind == "auto":
        kind = "bar" if console.is_terminal or console.is_jupyter else "none"
    if kind == "none":
        yield lambda now: None
    elif kind == "plain":
        yield _lines(what, total, done)
    else:
        with _bar(console, what, total, done) as tell:
            yield tell


def _all_cells(tell: Callable[[int, int], None], total: int, now: int) -> None:
    tell(now, total)


def _lines(what: str, total: int, before: int) -> Tell:
    begin = monotonic()
    last = begin
    print(f"{what}: {before} of {total} cells are done; beginning", file=sys.stderr, flush=True)

    def tell(now: int) -> None:
        nonlocal last
        time = monotonic()
        if now < total and time - last < SECONDS_BETWEEN_LINES:
            return
        last = time
        rate = (now - before) / max(time - begin, 1e-9)
        left = (
            f"{_duration((total - now) / rate)} left" if now < total else f"{_duration(time - begin)} taken"
        )
        print(f"{what}: {now} of {total} cells, {rate:.2f} cells/s, {left}", file=sys.stderr, flush=True)

    return tell


@contextmanager
def _bar(console: object, what: str, total: int, before: int) -> Iterator[Tell]:
    from rich.progress import (
        BarColumn,
        MofNCompleteColumn,
        Progress,
        TextColumn,
        TimeElapsedColumn,
    )

    begin = monotonic()
    columns = (
        TextColumn(what),
        BarColumn(),
        MofNCompleteColumn(),
        TextColumn("cells"),
        TextColumn("{task.fields[rate]}"),
        TimeElapsedColumn(),
        TextColumn("{task.fields[left]}"),
    )
    with Progress(*columns, console=console) as shown:  # type: ignore[arg-type]
        task = shown.add_task("", total=total, completed=before, rate="", left="")

        def tell(now: int) -> None:
            rate = (now - before) / max(monotonic() - begin, 1e-9)
            left = f"{_duration((total - now) / rate)} left" if now < total else ""
            shown.update(task, completed=now, rate=f"{rate:.2f} cells/s", left=left)

        yield tell


def _duration(seconds: float) -> str:
    """A duration as text.

    >>> _duration(7.2), _duration(131), _duration(7300)
    ('8 s', '2 min 11 s', '2 h 1 min')
    """
    whole = int(-(-seconds // 1))
    if whole < 60:
        return f"{whole} s"
    if whole < 3600:
        return f"{whole // 60} min {whole % 60} s"
    return f"{whole // 3600} h {whole % 3600 // 60} min"
