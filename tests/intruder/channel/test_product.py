"""Products of linkages and tables: the same bits whatever BLAS does, and right on both ways of computing."""

import subprocess
import sys

import numpy as np
import pytest

from equivoc.channels.likelihood import FEW_ROWS, ONE_THREAD, product

DIGEST = """
import hashlib, numpy as np
from equivoc.channels.likelihood import product
rng, found = np.random.default_rng(0), hashlib.sha256()
for n, s, v in ((2001, 46, 46), (503, 69, 69), (333, 90, 90), (401, 14, 200), (100, 300, 300)):
    found.update(product(rng.random((n, s)), rng.random((v, s)).T).tobytes())
print(found.hexdigest())
"""


@pytest.mark.parametrize("width", [3, 46, int((ONE_THREAD / FEW_ROWS) ** 0.5) + 1])
def test_against_fractions_of_whole_numbers(width):
    """Whole numbers: every sum is exact, so both ways must give it."""
    rng = np.random.default_rng(width)
    rows, table = rng.integers(0, 99, (41, width)), rng.integers(0, 99, (width, 7))
    expected = [
        [sum(int(a) * int(b) for a, b in zip(row, column, strict=True)) for column in table.T] for row in rows
    ]
    assert product(rows.astype(float), table.astype(float)).tolist() == expected


def test_the_number_of_threads_changes_no_bit():
    found = {
        subprocess.run(
            [sys.executable, "-c", DIGEST],
            env={"OPENBLAS_NUM_THREADS": threads, "OMP_NUM_THREADS": threads},
            capture_output=True,
            text=True,
            check=True,
        ).stdout
        for threads in ("1", "2", "4")
    }
    assert len(found) == 1
