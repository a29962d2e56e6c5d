"""The few rows of these tests go through the dense kernel too, where their grid allows it."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from equivoc.measure import lanes as dense_rows


@pytest.fixture(autouse=True, scope="package")
def _few_rows_side_by_side() -> Iterator[None]:
    before, dense_rows.FEWEST_ROWS = dense_rows.FEWEST_ROWS, 1
    yield
    dense_rows.FEWEST_ROWS = before
