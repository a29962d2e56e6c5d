"""What importing loads, and which way imports go."""

from __future__ import annotations

import ast
import subprocess
import sys
from pathlib import Path

import equivoc

HEAVY = {"numba", "duckdb", "pandas", "polars", "pyarrow", "scipy", "sqlglot"}
PACKAGE = Path(equivoc.__file__).parent


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


def test_imports_go_down() -> None:
    allowed = {"data": {"data", "engines", "measure", "errors"}, "engines": {"engines", "measure", "errors"}}
    for package, may in allowed.items():
        for path in (PACKAGE / package).glob("*.py"):
            for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
                names = [a.name for a in node.names] if isinstance(node, ast.Import) else []
                if isinstance(node, ast.ImportFrom) and node.module:
                    names = [node.module]
                for name in names:
                    if name.startswith("equivoc."):
                        assert name.split(".")[1] in may, f"{path.name} imports {name}"
