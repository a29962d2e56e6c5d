"""The paper's claims are judged by the figures: made to hold, and each made to fail."""

from __future__ import annotations

import pandas as pd
import pytest

from equivoc.experiments.reproduction import claims

AMOUNTS = {
    "sampling": ("fraction", [0.05, 0.1, 0.2, 0.5]),
    "query-restriction": ("size", [2, 4, 8, 16, 32]),
    "noise-addition": ("percent", [5, 10, 20, 40]),
}
SIZES = range(4)


def summary(**changes: float) -> pd.DataFrame:
    """Averages that agree with all five claims, but for ``technique@amount@size@measure`` entries in ``changes``."""
    rows = []
    for technique, (name, amounts) in AMOUNTS.items():
        private = list(reversed(amounts)) if technique == "sampling" else amounts
        for amount in amounts:
            rank = private.index(amount)
            for size in SIZES:
                lost = {"sampling": 0.8, "query-restriction": 0.02, "noise-addition": 0.5}[technique] * size
                h0 = 4.0 + 0.1 * rank - lost / (1 + rank)
                area = (
                    (120 if technique == "sampling" else 100)
                    + rank
                    - (30 if technique == "sampling" else 1) * size
                )
                rows.append(
                    {
                        "technique": technique,
                        "parameters": f"{name}={amount}",
                        "known_size": size,
                        "h0": h0,
                        "h0_se": 0.001,
                        "area": area,
                        "area_se": 0.1,
                    }
                )
    frame = pd.DataFrame(rows)
    for place, value in changes.items():
        technique, amount, size, measure = place.split("@")
        chosen = (frame["technique"] == technique) & frame["parameters"].str.endswith(f"={amount}")
        frame.loc[chosen & (frame["known_size"] == int(size)), measure] = value
    return frame


def test_all_hold_on_figures_that_agree() -> None:
    judged = claims(summary())
    assert [c.number for c in judged] == [1, 2, 3, 4, 5]
    assert [c.verdict for c in judged] == ["holds"] * 5


@pytest.mark.parametrize(
    ("number", "changes"),
    [
        (1, {"noise-addition@20@1@h0": 0.5}),
        (1, {"sampling@0.1@0@area": 500.0}),
        (2, {"sampling@0.5@2@h0": 4.5}),
        (2, {"query-restriction@32@3@h0": 1.0}),
        (3, {"sampling@0.5@0@h0": 3.0}),
        (4, {"sampling@0.5@3@h0": 3.5}),
        (4, {"query-restriction@8@3@h0": 3.0}),
        (5, {"sampling@0.5@0@area": 90.0}),
        (5, {"sampling@0.5@3@area": 80.0}),
    ],
)
def test_each_fails_on_figures_that_do_not(number: int, changes: dict[str, float]) -> None:
    assert claims(summary(**changes))[number - 1].verdict == "does not hold"


def test_a_step_within_two_standard_errors_is_no_step() -> None:
    below = summary()
    one = (
        (below["technique"] == "noise-addition")
        & (below["parameters"] == "percent=20")
        & (below["known_size"] == 0)
    )
    before = (
        (below["technique"] == "noise-addition")
        & (below["parameters"] == "percent=10")
        & (below["known_size"] == 0)
    )
    below.loc[one, "h0"] = float(below.loc[before, "h0"].iloc[0]) - 0.002
    assert claims(below)[0].holds
    below.loc[one, "h0"] -= 0.002
    assert not claims(below)[0].holds
