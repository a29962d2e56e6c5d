"""T(0) by intruder: how surprised each one is by the truth, for every technique on the shipped people.

    .venv/bin/python benchmarks/intruder_table.py            # prints the table of docs/techniques.md, some minutes
    .venv/bin/python benchmarks/intruder_table.py --write    # and puts it there

Mean bits per person, seed 0, age, sex and education known / all six keys known; less is riskier. An intruder that does
not apply (it would be the informed one) has a dash.
"""

from __future__ import annotations

import argparse
from pathlib import Path

import equivoc as eq
from equivoc.datasets import people as shipped
from equivoc.intruder.prior import marginal
from equivoc.intruder.strengths.strongest import TIE, against_truth
from equivoc.techniques.technique import Technique

PAGE = Path(__file__).resolve().parents[1] / "docs" / "techniques.md"
BEGIN, END = (
    "<!-- intruder table: benchmarks/intruder_table.py --write -->\n",
    "<!-- end of the intruder table -->\n",
)
COLUMNS = ("informed", "register", "learned", "paper")
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
    eq.Microaggregation(size=5, on=("age", "weeks_worked")),
    eq.NoisyTable(epsilon=1),
)


def rows() -> list[str]:
    """The table in Markdown, the strongest of each row in bold."""
    everyone = shipped("cps_hourly_workers")
    lines = [
        "| technique | " + " | ".join(COLUMNS) + " |",
        "|---|" + "---|" * len(COLUMNS),
    ]
    for technique in TECHNIQUES:
        cells: dict[str, list[str]] = {name: [] for name in COLUMNS}
        people = everyone
        if isinstance(technique, eq.NoisyTable):  # six keys make too many cells
            people = eq.Microdata(
                eq.datasets.load("cps_hourly_workers"), confidential="wage_per_hour", keys=THREE, round_to=100
            )
        prior = marginal(people)
        release = technique.release(people, 0)
        for known in dict.fromkeys((THREE, people.keys)):
            classes = people.classes(list(known))
            left_out = release.left_out(classes)
            found = {
                name: against_truth(release.believed(classes, prior, name), prior).surprise
                for name in COLUMNS
                if name not in left_out
            }
            least = min(found.values())
            used = next(name for name in COLUMNS if name in found and found[name] <= least + TIE)
            for name in COLUMNS:
                bits = f"{found[name]:.2f}" if name in found else "–"
                cells[name].append(f"**{bits}**" if name == used else bits)
        written = " | ".join(" / ".join(cells[name]) for name in COLUMNS)
        lines.append(f"| `{technique.notation}` | {written} |")
        print(lines[-1], flush=True)
    return lines


def main() -> None:
    options = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    options.add_argument("--write", action="store_true", help="put the table into docs/techniques.md")
    write = options.parse_args().write
    table = rows()
    if write:
        page = PAGE.read_text(encoding="utf-8")
        before, rest = page.split(BEGIN)
        PAGE.write_text(before + BEGIN + "\n".join(table) + "\n" + END + rest.split(END)[1], encoding="utf-8")


if __name__ == "__main__":
    main()
