"""The list of deliberate faults fits the source, so that `python -m tests.break_the_kernels` can run at any time."""

from __future__ import annotations

import ast

import pytest

from tests.kernel_faults import FAULTS, SOURCE, Fault


@pytest.mark.parametrize("fault", FAULTS, ids=lambda fault: fault.what)
def test_the_fault_can_be_made(fault: Fault) -> None:
    """The right text occurs once in its package, the wrong one compiles, and the named tests exist."""
    file = fault.file()
    source = file.read_text(encoding="utf-8")
    broken = source.replace(fault.right, fault.wrong)
    assert ast.dump(ast.parse(broken)) != ast.dump(ast.parse(source))
    root = SOURCE.parents[1]
    assert fault.tests
    assert [test for test in fault.tests if not (root / test).is_file()] == []


def test_no_fault_is_listed_twice() -> None:
    assert len({fault.what for fault in FAULTS}) == len({(f.package, f.wrong) for f in FAULTS}) == len(FAULTS)
