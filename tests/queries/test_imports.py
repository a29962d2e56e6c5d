"""Importing the queries loads nothing heavy, and their examples run."""

import doctest
import importlib
import subprocess
import sys

import pytest

MODULES = (
    "candidates",
    "decimals",
    "even_grids",
    "exact_posterior",
    "linear_programs",
    "range_sums",
    "simplex",
    "sum_systems",
)


def test_import_loads_no_solver() -> None:
    program = (
        "import sys\n"
        + "".join(f"import equivoc.queries.{name}\n" for name in MODULES)
        + "print([name for name in ('scipy', 'numba', 'highspy', 'pandas') if name in sys.modules])"
    )
    ran = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    assert ran.stdout.strip() == "[]"


@pytest.mark.parametrize("name", MODULES)
def test_examples_run(name: str) -> None:
    assert doctest.testmod(importlib.import_module(f"equivoc.queries.{name}")).failed == 0
