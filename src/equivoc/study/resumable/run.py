"""Computes the cells that are missing, in parallel; an interruption keeps what is finished."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import closing, contextmanager
from pathlib import Path
from typing import Any, Protocol

from equivoc.measure.parallel import cores
from equivoc.study.resumable.progress import Progress, telling
from equivoc.study.resumable.workers import Setting, compute


class Interrupted(KeyboardInterrupt):
    """Stopped by Ctrl-C; the message says what is finished and how to continue."""


class CellStore(Protocol):
    """Where finished cells are kept."""

    @property
    def folder(self) -> Path:
        """The store's folder."""

    def add(self, cell: Any) -> None:
        """Store a finished cell; on return it is on disk."""

    def cells(self) -> Sequence[Any]:
        """All finished cells."""


def finish(
    what: str,
    setting: Setting[Any, Any],
    missing: Sequence[Any],
    store: CellStore | None,
    *,
    keep: Callable[[Any], None],
    total: int,
    workers: int,
    progress: Progress,
) -> None:
    """Compute the ``missing`` cells of ``total``; each is stored if there is a ``store``, then given to ``keep``.

    ``what`` is computed, such as "study", is named in the progress and in the message of an interruption.
    """
    if not missing:
        return
    workers = min(workers, len(missing), max(cores(), 2))
    done = total - len(missing)
    with (
        _interruptible(what, store, total),
        telling(progress, what=what, total=total, done=done) as tell,
        closing(compute(setting, missing, workers=workers)) as results,  # type: ignore[type-var]
    ):
        for number, result in enumerate(results, done + 1):
            if store is not None:
                store.add(result)
            keep(result)
            tell(number)


@contextmanager
def _interruptible(what: str, store: CellStore | None, total: int) -> Iterator[None]:
    try:
        yield
    except KeyboardInterrupt:
        if store is None:
            raise Interrupted("stopped; without a store, no result is kept.") from None
        raise Interrupted(
            f"stopped with {len(store.cells())} of {total} cells done; they are kept in {store.folder}. "
            f"Run the same {what} again to continue."
        ) from None
