"""Importing the queries loads nothing heavy."""

import subprocess
import sys

MODULES = ("grids", "linear_bounds", "range_sums", "sum_systems")


def test_import_loads_no_solver() -> None:
    program = (
        "import sys\n"
        + "".join(f"import equivoc.systems.{name}\n" for name in MODULES)
        + "print([name for name in ('scipy', 'numba', 'highspy', 'pandas') if name in sys.modules])"
    )
    ran = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    assert ran.stdout.strip() == "[]"
