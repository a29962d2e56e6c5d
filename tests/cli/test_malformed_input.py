"""A sample of the malformed inputs of ``benchmarks/bad_input.py``: one sentence as an error, nothing written."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

RUNNER = Path(__file__).parents[2] / "benchmarks" / "bad_input.py"
SAMPLE = 80


@pytest.mark.bad_input
def test_a_sample_of_malformed_inputs_is_refused() -> None:
    command = [sys.executable, str(RUNNER), "--sample", str(SAMPLE)]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout + done.stderr
    assert f"{SAMPLE} cases" in done.stdout
