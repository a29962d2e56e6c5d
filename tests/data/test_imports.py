"""What importing loads."""

from __future__ import annotations

import subprocess
import sys

HEAVY = {"numba", "duckdb", "pandas", "polars", "pyarrow", "scipy", "sqlglot"}


def test_importing_loads_nothing_heavy() -> None:
    code = "import sys, equivoc, equivoc.data.microdata; print(*sys.modules)"
    loaded = subprocess.run(
        [sys.executable, "-c", code], check=True, capture_output=True, text=True
    ).stdout.split()
    assert not HEAVY & set(loaded)


def test_polars_is_loaded_only_by_those_who_use_it() -> None:
    code = (
        "import sys, pyarrow as pa; from equivoc.data.microdata import Microdata;"
        "Microdata(pa.table({'k': [1], 'x': [1]}), confidential='x', keys=['k']).frame; print(*sys.modules)"
    )
    loaded = subprocess.run(
        [sys.executable, "-c", code], check=True, capture_output=True, text=True
    ).stdout.split()
    assert "polars" not in loaded
