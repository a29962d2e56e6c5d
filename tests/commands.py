"""Runs a command in this process, which saves seconds, or starts one that tests send signals to."""

from __future__ import annotations

import io
import os
import signal
import subprocess
import sys
from collections.abc import Mapping, Sequence
from contextlib import chdir, redirect_stderr, redirect_stdout
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from unittest.mock import patch

from equivoc.cli.main import main


@dataclass(frozen=True)
class Ran:
    """What a finished command left."""

    returncode: int
    stdout: str
    stderr: str


def run_command(folder: Path, words: Sequence[str], *, surroundings: Mapping[str, str] | None = None) -> Ran:
    """Run ``equivoc`` with these words in ``folder``; ``surroundings`` are environment variables to set."""
    out, err = (io.TextIOWrapper(io.BytesIO(), encoding="utf-8") for _ in range(2))
    code = 0
    with (
        chdir(folder),
        patch.dict(os.environ, surroundings or {}),
        patch.object(sys, "argv", ["equivoc", *words]),
        redirect_stdout(out),
        redirect_stderr(err),
    ):
        try:
            main()
        except SystemExit as left:
            code = int(left.code or 0)
        out.flush()
        err.flush()
    return Ran(code, *(stream.buffer.getvalue().decode() for stream in (out, err)))  # type: ignore[attr-defined]


def start_interruptible(
    words: Sequence[str], *, ignores_ctrl_c: bool = False, **more: Any
) -> subprocess.Popen[str]:
    """Start a process that tests send signals to, in a group of its own.

    Ctrl-C interrupts it even if the tests themselves ignore SIGINT, as what a script starts with ``&`` does;
    with ``ignores_ctrl_c`` it is started as such a script would.
    """
    handler = signal.SIG_IGN if ignores_ctrl_c else signal.SIG_DFL
    return subprocess.Popen(
        words,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        start_new_session=True,
        preexec_fn=lambda: signal.signal(signal.SIGINT, handler),
        **more,
    )
