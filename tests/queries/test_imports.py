"""Importing the queries loads nothing heavy."""

import subprocess
import sys

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
