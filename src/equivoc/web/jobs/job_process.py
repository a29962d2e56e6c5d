"""The process of a job: it computes, writes its result and files, and ends with the server."""

from __future__ import annotations

import importlib
import json
import os
import signal
import sys
import threading
import traceback
from collections.abc import Mapping
from multiprocessing.connection import Connection
from pathlib import Path
from typing import Any

from equivoc.errors import InputError
from equivoc.web.live.people_spec import PeopleSpec
from equivoc.web.live.warm_process import NICE

KINDS = ("compare", "choose", "protect", "report", "audit", "table")
RESULT = "result.json"


def run_job(
    kind: str, spec: PeopleSpec, given: Mapping[str, Any], folder: str, pipe: Connection, lifeline: Connection
) -> None:
    """Compute the job and send ("progress", …) while it runs, then ("done" | "mistake" | "failure", …)."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    os.umask(0o077)
    os.nice(NICE)
    os.setsid()  # a cancelled job takes its own workers with it
    threading.Thread(target=_leave_with_server, args=(lifeline,), daemon=True).start()
    from equivoc.files import new_folder, replacing
    from equivoc.web.jobs.work import Work

    home = Path(folder)

    def tell(done: int, total: int, text: str) -> None:
        pipe.send(("progress", (done, total, text)))

    try:
        new_folder(home / "files", private=True)
        result = importlib.import_module(f"equivoc.web.jobs.kinds.{kind}").run(Work(spec, given, home, tell))
        with replacing(home / RESULT, private=True) as temporary:
            temporary.write_text(json.dumps(result, allow_nan=False), encoding="utf-8")
        pipe.send(("done", None))
    except InputError as mistake:
        pipe.send(
            ("mistake", spec.renamed(str(mistake)).replace(f"{home}/files/", "").replace(str(home), ""))
        )
    except MemoryError:
        pipe.send(("mistake", "there is not enough memory for this; use fewer keys or fewer values."))
    except Exception as problem:  # its message could hold a value of a person
        place = traceback.extract_tb(problem.__traceback__)[-1]
        print(f"equivoc: {type(problem).__name__} in {place.name}, line {place.lineno}", file=sys.stderr)
        pipe.send(("failure", None))


def _leave_with_server(lifeline: Connection) -> None:
    """Nothing is sent; reading ends when the server dies."""
    try:
        lifeline.recv_bytes()
    except (EOFError, OSError):
        os.killpg(0, signal.SIGKILL)
