"""Makes the pictures of the documentation: ``python -m docs.making.pictures`` from the repository's root.

Beside them it writes ``made_from.json``: a fingerprint of the figures in each chart. The tests make the charts again
and compare fingerprints, so that no picture shows figures which the program no longer gives.
"""

from __future__ import annotations

import hashlib
import json
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import equivoc as eq
from equivoc.charts.curves import curve_chart
from equivoc.charts.drawing import save_chart
from equivoc.techniques.notation import technique_from

IMAGES = Path(__file__).resolve().parent.parent / "images"
RECORD = IMAGES / "made_from.json"

# The comparison of the tutorial, as its command is written there.
KNOWN = ["age", "sex", "education"]
REQUIRED = ["true_hit(200) <= 0.45", "gain <= 0.5"]
COMPARED = [
    "sampling:fraction=0.1",
    "swapping:rate=0.3",
    "swapping:rate=0.6",
    "noise-addition:percent=20",
    "generalisation:k=10",
    "pram:keep=0.5",
]


def tutorial_people() -> eq.Microdata:
    return eq.Microdata(
        eq.datasets.load("cps_hourly_workers"), confidential="wage_per_hour", keys=KNOWN, round_to=100
    )


def two_salaries() -> Any:
    close, far = eq.curve([77, 80], [0.5, 0.5]), eq.curve([50, 107], [0.5, 0.5])
    return curve_chart({"salary is 77K or 80K": close, "salary is 50K or 107K": far}, unit="thousand")


def privacy_budget() -> Any:
    return eq.budget(eq.datasets.people("cps_hourly_workers"), known=["age", "sex"]).plot()


def tutorial_keys() -> Any:
    return eq.assess(tutorial_people(), eq.Unprotected()).plot_contributions()


def tutorial_map() -> Any:
    return eq.compare(tutorial_people(), [technique_from(each) for each in COMPARED], require=REQUIRED).plot()


CHARTS: dict[str, Callable[[], Any]] = {
    "two_salaries": two_salaries,
    "privacy_budget": privacy_budget,
    "tutorial_keys": tutorial_keys,
    "tutorial_map": tutorial_map,
}


def rounded(value: Any) -> Any:
    """A number to three digits, so that the last bits of a computation do not matter; anything else unchanged."""
    return float(f"{value:.3g}") if isinstance(value, float) else value


def rows_of(description: Any) -> Iterator[dict[str, Any]]:
    """Every row of data in the description of a chart, at any depth."""
    if isinstance(description, list):
        for each in description:
            yield from rows_of(each)
    elif isinstance(description, dict):
        for name, each in description.items():
            if name == "datasets":
                yield from (row for rows in each.values() for row in rows)
            elif name == "data" and isinstance(each.get("values"), list):
                yield from each["values"]
            else:
                yield from rows_of(each)


def fingerprint(chart: Any) -> str:
    """Of the rows of data in the chart, whatever their order."""
    rows = [
        json.dumps(sorted((name, rounded(value)) for name, value in row.items()))
        for row in rows_of(chart.to_dict())
    ]
    if not rows:
        raise ValueError("the chart has no data")
    return hashlib.sha256("\n".join(sorted(rows)).encode()).hexdigest()[:16]


def main(names: list[str]) -> None:
    """Make the named pictures, or all."""
    record = json.loads(RECORD.read_text(encoding="utf-8")) if RECORD.exists() else {}
    for name in names or list(CHARTS):
        chart = CHARTS[name]()
        save_chart(chart, IMAGES / f"{name}.png")
        record[name] = fingerprint(chart)
        print(f"docs/images/{name}.png")
    RECORD.write_text(json.dumps(record, indent=2, sort_keys=True) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main(sys.argv[1:])
