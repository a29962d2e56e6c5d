"""The figures of all techniques, measures, tables and audits are those that are stored."""

from __future__ import annotations

import pytest

from tests.stored_cases import CASES
from tests.stored_figures import Change, changes, computed, named, stored

SECTIONS = sorted({case.partition(":")[0] for case in CASES})


@pytest.mark.parametrize("section", SECTIONS)
def test_figures_are_those_stored(section: str) -> None:
    """`python -m tests.stored_figures --write` stores others; the commit that does so says why they changed."""
    new = named({case: computed(case) for case in CASES if case.startswith(f"{section}:")})
    old = {name: value for name, value in stored().items() if name.startswith(f"{section}:")}
    changed = changes(old, new, exact=False)
    assert not changed, "\n".join(map(str, changed))


OLD = {"a": 0.1, "b": 3, "c": "informed", "d": "sha256:00", "e | pmse": 1.0}


@pytest.mark.parametrize(
    ("figure", "value", "within_tolerance", "bit_for_bit"),
    [
        ("a", 0.1, False, False),
        ("a", 0.1 + 1e-16, False, True),
        ("a", 0.1 + 1e-8, True, True),
        ("a", float("nan"), True, True),
        ("b", 4, True, True),
        ("b", 3.0, True, True),
        ("c", "register", True, True),
        ("d", "sha256:01", False, True),
        ("e | pmse", 1.1, False, True),
        ("f", 1, True, True),
    ],
)
def test_what_counts_as_a_change(
    figure: str, value: object, within_tolerance: bool, bit_for_bit: bool
) -> None:
    change = [Change(figure, OLD.get(figure, "none"), value)]
    for exact, changed in ((False, within_tolerance), (True, bit_for_bit)):
        assert repr(changes(OLD, {**OLD, figure: value}, exact=exact)) == repr(change if changed else [])


def test_a_figure_that_is_gone_is_a_change() -> None:
    assert changes(OLD, {name: value for name, value in OLD.items() if name != "d"}, exact=False) == [
        Change("d", "sha256:00", "none")
    ]
