"""A browser for the tests that need one, and which examples hypothesis generates: the same ones everywhere
(`make test`), or new ones and more (`make fuzz`).

Neither has a deadline, because kernels may be compiled on first use.
"""

from __future__ import annotations

import atexit
import os
from collections.abc import Iterator
from typing import Any

import pytest
from hypothesis import HealthCheck, settings

from tests.browser import chromium
from tests.sweeps import TIMES_AS_MANY


@atexit.register
def _be_silent() -> None:
    """Drop what is printed after the last result.

    DuckDB 2.0 holds its types in static variables; where hypothesis has seen them, nanobind reports them as leaked when
    the process ends. Registered first, this runs last.
    """
    os.dup2(os.open(os.devnull, os.O_WRONLY), 2)


settings.register_profile(
    "same", deadline=None, derandomize=True, database=None, suppress_health_check=[HealthCheck.too_slow]
)
settings.register_profile(
    "fuzz",
    deadline=None,
    derandomize=False,
    print_blob=True,
    suppress_health_check=[HealthCheck.too_slow],
)
settings.load_profile("fuzz" if TIMES_AS_MANY else "same")


@pytest.hookimpl(trylast=True)  # hypothesis has put its marker on its tests by then
def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Multiply the number of examples; most tests set their own, which a profile cannot change.

    Without `make fuzz`, the tests marked as the rest of a sweep are left out.
    """
    if not TIMES_AS_MANY:
        rest = [item for item in items if item.get_closest_marker("sweep")]
        config.hook.pytest_deselected(items=rest)
        items[:] = [item for item in items if not item.get_closest_marker("sweep")]
        return
    tests = {item.function for item in items if item.get_closest_marker("hypothesis")}  # type: ignore[attr-defined]
    for test in tests:
        asked = test._hypothesis_internal_use_settings
        test._hypothesis_internal_use_settings = settings(
            asked, max_examples=TIMES_AS_MANY * asked.max_examples
        )


@pytest.fixture(scope="module")
def browser() -> Iterator[Any]:
    """Chromium for the tests of one file; Playwright's event loop must not run while others use theirs."""
    with chromium() as opened:
        yield opened
