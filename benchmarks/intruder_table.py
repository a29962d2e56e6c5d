"""T(0) by intruder: how surprised each one is by the truth, for every technique on the shipped people.

    .venv/bin/python benchmarks/intruder_table.py            # prints the table of docs/techniques.md, some minutes
    .venv/bin/python benchmarks/intruder_table.py --write    # and puts it there

Mean bits per person, seed 0, age, sex and education known / all six keys known; less is riskier. An intruder that does
not apply (it would be the informed one) has a dash. A second table has the best of these beside the two intruders who
do not use how the release was made.
"""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from pathlib import Path

import equivoc as eq
from equivoc.datasets import people as shipped
from equivoc.intruder.prior import marginal
from equivoc.intruder.strengths import TIE
from equivoc.techniques.technique import Technique

PAGE = Path(__file__).resolve().parents[1] / "docs" / "techniques.md"
NAMES = ("intruder table", "floor table")
COLUMNS = ("informed", "register", "learned", "paper")
FLOOR = {"own": "own", "file": "unknown origin", "plain": "plain"}
THREE = ("age", "sex", "education")
TECHNIQUES: tuple[Technique, ...] = (
    eq.Unprotected(),
    eq.Sampling(fraction=0.1),
    eq.Sampling(fraction=0.5),
    eq.QueryRestriction(size=2),
    eq.QueryRestriction(size=8),
    eq.NoiseAddition(percent=20),
    eq.PRAM(keep=0.5, on="confidential"),
    eq.PRAM(keep=0.8),
    eq.GeometricNoise(epsilon=10),
    eq.Rounding(base=500),
    eq.TopBottomCoding(high=1000),
    eq.Generalisation(k=5),
    eq.Suppression(k=5),
    eq.Swapping(rate=0.3),
    eq.Swapping(rate=0.3, on="keys"),
    eq.Swapping(rate=1, window=10),
    eq.Microaggregation(size=5),
    eq.Microaggregation(size=5, method="mdav"),
    eq.Microaggregation(size=5, on=("age", "weeks_worked")),
    eq.NoisyTable(epsilon=1),
)


def tables() -> tuple[list[str], list[str]]:
    """Both tables in Markdown, the strongest of each row of the first in bold."""
    everyone = shipped("cps_hourly_workers")
    by_intruder, floor = _header(COLUMNS), _header(list(FLOOR.values()))
    for technique in TECHNIQUES:
        cells: dict[str, list[str]] = {name: [] for name in (*COLUMNS, *FLOOR)}
        people = everyone
        if isinstance(technique, eq.NoisyTable):  # six keys make too many cells
            people = eq.Microdata(
                eq.datasets.load("cps_hourly_workers"), confidential="wage_per_hour", keys=THREE, round_to=100
            )
        prior = marginal(people)
        release = technique.release(people, 0)
        for known in dict.fromkeys((THREE, people.keys)):
            classes = people.classes(list(known))
            tried = release.choice(classes, prior).tried
            found = {each.intruder: each.truth.surprise for each in tried}
            own = {name: found[name] for name in COLUMNS if name in found}
            used = next(name for name in own if own[name] <= min(own.values()) + TIE)
            found["own"] = min(own.values())
            for name, column in cells.items():
                bits = f"{found[name]:.2f}" if name in found else "–"
                column.append(f"**{bits}**" if name == used else bits)
        for lines, names in ((by_intruder, COLUMNS), (floor, FLOOR)):
            written = " | ".join(" / ".join(cells[name]) for name in names)
            lines.append(f"| `{technique.notation}` | {written} |")
        print(by_intruder[-1], floor[-1], sep="\n", flush=True)
    return by_intruder, floor


def _header(columns: Sequence[str]) -> list[str]:
    return ["| technique | " + " | ".join(columns) + " |", "|---|" + "---|" * len(columns)]


def main() -> None:
    options = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    options.add_argument("--write", action="store_true", help="put the tables into docs/techniques.md")
    write = options.parse_args().write
    found = tables()
    if write:
        page = PAGE.read_text(encoding="utf-8")
        for name, table in zip(NAMES, found, strict=True):
            begin, end = (
                f"<!-- {name}: benchmarks/intruder_table.py --write -->\n",
                f"<!-- end of the {name} -->\n",
            )
            before, rest = page.split(begin)
            page = before + begin + "\n".join(table) + "\n" + end + rest.split(end)[1]
        PAGE.write_text(page, encoding="utf-8")


if __name__ == "__main__":
    main()
