"""A process with a gateway that asks what it is told on standard input, and prints what becomes of each question."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

from equivoc.errors import InputError
from equivoc.gateway.gateway import Gateway
from tests.gateway.asking_process import POLICY, people_of_process

ROOT = Path(__file__).parents[2]


class ToldProcess:
    """The process, as a test sees it."""

    def __init__(self, store: Path) -> None:
        command = [sys.executable, "-m", "tests.gateway.told_process", str(store)]
        pipes = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE}
        self.process = subprocess.Popen(command, text=True, cwd=ROOT, **pipes)
        self.began = self._line()
        """{"ready": true}, or {"error": …} if the store could not be opened."""

    def sum_below(self, identity: int) -> dict[str, Any]:
        """Ask for the sum of the people with smaller ids."""
        assert self.process.stdin is not None
        self.process.stdin.write(f"SELECT SUM(pay) FROM people WHERE id < {identity}\n")
        self.process.stdin.flush()
        return self._line()

    def kill(self) -> None:
        """SIGKILL."""
        self.process.kill()
        self.process.communicate()

    def end(self) -> None:
        """No more questions: the gateway is closed."""
        self.process.communicate(timeout=60)

    def _line(self) -> dict[str, Any]:
        assert self.process.stdout is not None
        found: dict[str, Any] = json.loads(self.process.stdout.readline())
        return found


def _tell(**told: Any) -> None:
    print(json.dumps(told), flush=True)


if __name__ == "__main__":
    try:
        gate = Gateway(people_of_process(), store=sys.argv[1], policy=POLICY)
    except InputError as problem:
        _tell(error=str(problem))
        sys.exit(2)
    _tell(ready=True)
    for line in sys.stdin:
        try:
            reply = gate.ask(line, analyst="a")
            _tell(answered=reply.answered, value=reply.value, number=reply.number)
        except InputError as problem:
            _tell(error=str(problem))
    gate.close()
