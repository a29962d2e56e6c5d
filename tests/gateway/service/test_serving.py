"""The orderly stop: a signal stops the service even before it has begun to listen for signals."""

from __future__ import annotations

import os
import signal
import socket

import pytest

from equivoc.serving import serving


class StartedLate:
    """Uvicorn's server, reduced to what `serve` uses: the signal comes before it has handlers of its own."""

    def __init__(self) -> None:
        self.should_exit = False
        self.stopped_by_signal = False

    def handle_exit(self, number: int, frame: object) -> None:
        raise AssertionError("Uvicorn's own handler is not installed yet.")

    def run(self, *, sockets: list[socket.socket]) -> None:
        assert len(sockets) == 1
        os.kill(os.getpid(), self.number)
        self.stopped_by_signal = self.should_exit

    number = signal.SIGTERM


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT])
def test_an_early_signal_stops_it(monkeypatch: pytest.MonkeyPatch, number: signal.Signals) -> None:
    late = StartedLate()
    late.number = number
    monkeypatch.setattr(serving, "server", lambda app: late)
    former = signal.getsignal(number)
    serving.serve(object(), serving.bind("127.0.0.1", 0))  # type: ignore[arg-type]
    assert late.stopped_by_signal
    assert signal.getsignal(number) is former
