"""How much code a walk through the package enters: files and rooms, and what a start costs beside Python's own.

.venv/bin/python benchmarks/files_entered.py
"""

from __future__ import annotations

import contextlib
import io
import statistics
import subprocess
import sys
import tempfile
import threading
from collections.abc import Callable
from pathlib import Path
from time import perf_counter
from types import FrameType
from typing import Any

import numpy as np
import pandas as pd

import equivoc as eq

PACKAGE = Path(eq.__file__).parent
STARTS = 15


def entered(walk: Callable[[], Any]) -> tuple[int, int]:
    """How many files of the package, and rooms, are entered by a function that runs."""
    files: set[str] = set()

    def note(frame: FrameType, what: str, argument: object) -> None:
        if what == "call":
            files.add(frame.f_code.co_filename)

    threading.setprofile(note)
    sys.setprofile(note)
    try:
        with contextlib.redirect_stdout(io.StringIO()):
            walk()
    finally:
        sys.setprofile(None)
        threading.setprofile(None)  # type: ignore[arg-type]
    own = {Path(file) for file in files if file.startswith(str(PACKAGE))}
    return len(own), len({file.parent for file in own})


def command(*words: str) -> None:
    """Run a command in this process."""
    from equivoc.cli.main import main

    sys.argv = ["equivoc", *words]
    with contextlib.suppress(SystemExit):
        main()


def seconds(*words: str) -> float:
    """The median time of a process, over several starts."""
    times = []
    for _ in range(STARTS):
        begin = perf_counter()
        subprocess.run([sys.executable, *words], check=True, capture_output=True)
        times.append(perf_counter() - begin)
    return statistics.median(times)


def main() -> None:
    """Print the table."""
    rng = np.random.default_rng(1)
    frame = pd.DataFrame(
        {
            "age": rng.integers(20, 60, 300),
            "sex": rng.integers(1, 3, 300),
            "pay": rng.integers(1, 20, 300) * 10,
        }
    )
    frame["job"] = rng.integers(1, 6, 300)
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder, "people.csv")
        frame.to_csv(file, index=False)
        people = eq.read(file, confidential="pay", keys=["age", "sex", "job"])
        log = [f"SELECT SUM(pay) FROM people WHERE age > {20 + at}" for at in range(40)]
        result = eq.assess(people, eq.Sampling(0.1))
        _ = result.summary
        walks: dict[str, Callable[[], Any]] = {
            "`equivoc assess` (three keys, a sample)": lambda: command(
                "assess",
                str(file),
                "--confidential",
                "pay",
                "--keys",
                "age,sex,job",
                "--technique",
                "sampling:fraction=0.1",
            ),
            "an audit of 40 statements": lambda: eq.audit(people, log).facts(),
            "`result.report()`": lambda: result.report(Path(folder, "report.html")),
        }
        print("| walk | files entered | rooms |\n|---|---|---|")
        for name, walk in walks.items():
            print("| {} | {} | {} |".format(name, *entered(walk)))
    plain = seconds("-c", "import numpy")
    print("\n| start | times `import numpy` |\n|---|---|")
    for name, words in {
        "`import equivoc`": ("-c", "import equivoc"),
        "`equivoc --version`": ("-m", "equivoc", "--version"),
    }.items():
        print(f"| {name} | {seconds(*words) / plain:.2f} |")


if __name__ == "__main__":
    main()
