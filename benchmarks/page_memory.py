"""What the processes of `equivoc serve` hold in memory: with an open file, after long figures, and when all is quiet.

.venv/bin/python benchmarks/page_memory.py [rows]
"""

from __future__ import annotations

import sys
import tempfile
import time
from pathlib import Path

import numpy as np

sys.path.insert(0, str(Path(__file__).parents[1]))

from equivoc.web.warm_process import REST
from tests.web.page_server import PageServer, descendants, opened

ROLES = {
    "confidential": "pay",
    "kind": {"kind": "number", "round_to": 10, "unit": ""},
    "keys": ["age", "sex"],
}
LONGER = ["knowledge", "curve", "measures", "utility"]


def held(process: int) -> tuple[int, int]:
    """MiB of a process: what is resident, and what is its alone (libraries on disk are shared)."""
    sizes: dict[str, int] = {}
    for line in Path(f"/proc/{process}/smaps_rollup").read_text(encoding="utf-8").splitlines()[1:]:
        name, size, *_ = line.split()
        sizes[name] = int(size) // 1024
    return sizes["Rss:"], sizes["Private_Dirty:"] + sizes["Private_Clean:"]


def row(name: str, server: PageServer) -> None:
    """Print the memory of the server and of each process that it has started, the largest first."""
    own, *others = (held(each) for each in (server.process.pid, *descendants(server.process.pid)))
    busy = sorted((each for each in others if each[0] > 50), reverse=True)
    shown = ", ".join(f"{resident} ({alone})" for resident, alone in busy)
    print(
        f"| {name} | {own[0]} ({own[1]}) | {shown} | {sum(each[0] for each in (own, *others))} |", flush=True
    )


def main() -> None:
    """Print the table."""
    rows = int(sys.argv[1]) if len(sys.argv) > 1 else 2000
    rng = np.random.default_rng(0)
    columns = (rng.integers(20, 70, rows), rng.choice(list("FM"), rows), rng.integers(1, 200, rows) * 10)
    people = "age,sex,pay\n" + "\n".join(f"{age},{sex},{pay}" for age, sex, pay in zip(*columns, strict=True))
    asked = {"technique": "sampling:fraction=0.5", "known": ["age", "sex"], "eps": 10}
    with tempfile.TemporaryDirectory() as folder:
        server = PageServer.start(Path(folder, "page"))
        try:
            print(f"{rows:,} rows; MiB resident (of these its own)\n")
            print("| when | server | processes with the people | all, resident |\n|---|---|---|---|")
            with server.client() as http:
                opened(http, people, ROLES)
                row("a file is open", server)
                http.post("/api/live/assess", json=asked)
                http.post("/api/live/assess", json={**asked, "fields": LONGER})
                while not any(job["status"] == "done" for job in http.get("/api/state").json()["jobs"]):
                    time.sleep(0.5)
                row("long figures and the strongest intruder are shown", server)
                time.sleep(REST + 5)
                row(f"{REST:.0f} s later", server)
        finally:
            server.stop()


if __name__ == "__main__":
    main()
