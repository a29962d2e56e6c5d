"""``equivoc doctor``: what is installed, in words and as JSON."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from importlib import metadata
from pathlib import Path

import numba
import numpy as np
import pytest
from typer.testing import CliRunner

import equivoc
from equivoc.cli import system as doctor
from equivoc.cli.app import app

KERNELS = len(list(Path(equivoc.__file__).parent.rglob("*_kernels.py")))


def facts() -> dict:
    shown = CliRunner().invoke(app, ["doctor", "--json"])
    assert shown.exit_code == 0
    return json.loads(shown.stdout)


def test_versions_are_those_of_the_packages() -> None:
    found = facts()
    versions = {each["name"]: each["version"] for each in found["packages"]}
    assert (versions["numpy"], versions["numba"]) == (np.__version__, numba.__version__)
    assert found["equivoc"] == equivoc.__version__
    assert found["engines"]["duckdb"] == {"found": True, "note": None}
    assert found["kernels"] == {"modules": KERNELS, "compiled": KERNELS}
    assert found["system"]["memory"] > 2**26


def test_what_is_missing_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    known = metadata.version

    def version(name: str) -> str:
        if name in ("pyspark", "adbc-driver-postgresql"):
            raise metadata.PackageNotFoundError(name)
        return known(name)

    monkeypatch.setattr(metadata, "version", version)
    engines = facts()["engines"]
    assert engines["spark"] == {
        "found": False,
        "note": "pyspark missing: pip install 'equivoc[spark]'",
    }
    assert engines["postgresql"]["note"] == (
        "adbc-driver-postgresql missing: pip install 'equivoc[postgresql]'"
    )
    assert engines["duckdb"]["found"]


def test_java_is_asked(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    java = tmp_path / "bin" / "java"
    java.parent.mkdir()
    java.write_text("#!/bin/sh\necho 'openjdk version \"17.0.99\" 2025-01-01' >&2\n")
    java.chmod(0o755)
    monkeypatch.setenv("JAVA_HOME", str(tmp_path))
    monkeypatch.setattr(metadata, "version", lambda name: "1")
    assert facts()["engines"]["spark"] == {"found": True, "note": "Java 17.0.99"}
    java.unlink()
    assert "no Java" in facts()["engines"]["spark"]["note"]


def test_kernels_that_are_not_compiled(tmp_path: Path) -> None:
    """In a process whose cache is empty."""
    done = subprocess.run(
        [sys.executable, "-m", "equivoc", "doctor", "--json"],
        env={**os.environ, "NUMBA_CACHE_DIR": str(tmp_path)},
        capture_output=True,
        text=True,
        check=True,
    )
    assert json.loads(done.stdout)["kernels"] == {"modules": KERNELS, "compiled": 0}


def test_in_words(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(doctor, "_java", lambda: None)
    shown = CliRunner().invoke(app, ["doctor"])
    assert shown.exit_code == 0
    assert f"equivoc {equivoc.__version__}, Python " in shown.stdout
    assert f"Kernels: {KERNELS} of {KERNELS} modules are compiled" in shown.stdout
