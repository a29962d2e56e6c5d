"""Work shared among threads: every piece once, errors are raised, and a forked process starts its own threads."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from threading import Barrier, current_thread, main_thread
from time import sleep

import pytest

from equivoc import parallel
from equivoc.parallel import over_pieces


@contextmanager
def on(cores: int) -> Iterator[None]:
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(parallel, "cores", lambda: cores)
        yield


@pytest.mark.parametrize("cores", [1, 2, 5])
@pytest.mark.parametrize("length", [0, 1, 9, 10, 95])
def test_every_piece_is_worked_on_once(length: int, cores: int) -> None:
    seen: list[int] = []
    with on(cores):
        over_pieces(lambda part: seen.extend(range(part.start, part.stop)), length, piece=10)
    assert sorted(seen) == list(range(length))


@pytest.mark.parametrize("bad", range(6))
def test_an_error_in_a_piece_is_raised(bad: int) -> None:
    def work(part: slice) -> None:
        if part.start == bad:
            raise ArithmeticError(f"piece {bad}")

    with on(3), pytest.raises(ArithmeticError, match=f"piece {bad}"):
        over_pieces(work, 6, piece=1)


@pytest.mark.parametrize("failing", ["caller", "other"])
def test_after_an_error_no_thread_runs_and_no_piece_is_started(failing: str) -> None:
    begun: list[int] = []
    both_began = Barrier(2)
    at_work: set[int] = set()

    def work(part: slice) -> None:
        begun.append(part.start)
        at_work.add(part.start)
        both_began.wait(timeout=300)
        if (current_thread() is main_thread()) == (failing == "caller"):
            at_work.remove(part.start)
            raise ArithmeticError
        sleep(0.05)
        at_work.remove(part.start)

    with on(2), pytest.raises(ArithmeticError):
        over_pieces(work, 100, piece=1)
    assert sorted(begun) == [0, 1]
    assert at_work == set()


IN_A_FORK = """
import os
import numpy as np
import equivoc as eq

rows = np.random.default_rng(0).integers(1, 9, (20_000, 5))
before = eq.curves(range(5), rows, counts=True).area
child = os.fork()
if child == 0:
    os._exit(0 if (eq.curves(range(5), rows, counts=True).area == before).all() else 3)
assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 0
"""


@pytest.mark.skipif(not hasattr(os, "fork"), reason="this system has no fork")
def test_a_forked_process_starts_threads_of_its_own() -> None:
    subprocess.run([sys.executable, "-c", IN_A_FORK], check=True)
