"""The paper's experiment: its data, its techniques and parameters, its figures.

Alfalayleh and Brankovic, *Quantifying Privacy* (2014): sampling 5, 10, 20, 50 %; query set sizes 2 to 32; noise (the
paper's levels are unreadable in our copy) 5 to 100 %; 30 releases of each; intruders who know any 0 … 6 of the keys.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from equivoc.data.microdata import Microdata
from equivoc.datasets import people as shipped_people
from equivoc.datasets import read_pums
from equivoc.errors import InputError
from equivoc.experiments.study import Study
from equivoc.techniques.noise_addition import NoiseAddition
from equivoc.techniques.query_restriction import QueryRestriction
from equivoc.techniques.sampling import Sampling
from equivoc.text import figure

if TYPE_CHECKING:
    import pandas as pd

SHIPPED = "cps_hourly_workers"
FRACTIONS = (0.05, 0.1, 0.2, 0.5)
QUERY_SIZES = (2, 4, 8, 16, 32)
NOISE_PERCENTS = (5, 10, 20, 40, 60, 80, 100)


def experiment_people(pums: Path | None, *, records: int, seed: int) -> Microdata:
    """The shipped people, or ``records`` people of a Census file recoded to the paper's seven attributes."""
    if pums is None:
        return shipped_people(SHIPPED)
    frame = read_pums(pums, records=records, seed=seed)
    keys = [name for name in frame.columns if name != "Salary"]
    return Microdata(frame, confidential="Salary", keys=keys, domain=range(10, 260, 10))


def experiment(people: Microdata, *, replicates: int, seed: int) -> Study:
    """The whole study: 16 techniques with their parameters."""
    if len(people) < max(QUERY_SIZES):
        raise InputError(
            f"there are {len(people)} people, but the paper's largest query sums {max(QUERY_SIZES)}: draw more records."
        )
    techniques = [
        *(Sampling(fraction=f) for f in FRACTIONS),
        *(QueryRestriction(size=q) for q in QUERY_SIZES),
        *(NoiseAddition(percent=k) for k in NOISE_PERCENTS),
    ]
    return Study(
        people, techniques=techniques, replicates=replicates, seed=seed, prior="uniform", intruder="paper"
    )


# The five claims of the paper's experiment, each tested on the results of a study.
#
# The rules below were fixed before the experiment was run; a claim that fails is reported with its figures.

NOISE_OF_THE_MEAN = 2.0
"""A step in the wrong direction within this many standard errors is ignored."""
SIMILAR = 0.10
FLAT = 0.10
SHARP = 0.30
MUCH_WORSE = 0.50

# Each technique's parameter, and 1 if a larger value gives more privacy, −1 if less.
SAFER_WITH = {
    "sampling": ("fraction", -1),
    "query-restriction": ("size", 1),
    "noise-addition": ("percent", 1),
}


@dataclass(frozen=True)
class Claim:
    """A claim, the rule by which it is judged, what was measured, and the verdict."""

    number: int
    claim: str
    rule: str
    measured: str
    holds: bool

    @property
    def verdict(self) -> str:
        return "holds" if self.holds else "does not hold"


def claims(summary: pd.DataFrame) -> list[Claim]:
    """The paper's claims, judged on the averages of a study that has its three techniques."""
    table = _with_amounts(summary)
    return [
        _utility(table),
        _knowledge(table),
        _similar_without_knowledge(table),
        _sharp_against_flat(table),
        _by_area(table),
    ]


def _with_amounts(summary: pd.DataFrame) -> pd.DataFrame:
    amount = [
        float(dict(item.split("=") for item in parameters.split(",")).get(SAFER_WITH[technique][0], "nan"))
        for technique, parameters in zip(summary["technique"], summary["parameters"], strict=True)
    ]
    return summary.assign(amount=amount)


def _lines(table: pd.DataFrame, technique: str, measure: str) -> tuple[np.ndarray, np.ndarray]:
    """Means and standard errors: parameters (from most useful to most private) × numbers of known keys."""
    rows = table[table["technique"] == technique]
    means = rows.pivot(index="amount", columns="known_size", values=measure)
    errors = rows.pivot(index="amount", columns="known_size", values=f"{measure}_se").fillna(0.0)
    order = slice(None, None, SAFER_WITH[technique][1])
    return means.to_numpy()[order], errors.to_numpy()[order]


def _utility(table: pd.DataFrame) -> Claim:
    wrong, steps = 0, 0
    for technique in SAFER_WITH:
        for measure in ("h0", "area"):
            means, errors = _lines(table, technique, measure)
            slack = NOISE_OF_THE_MEAN * np.hypot(errors[1:], errors[:-1])
            wrong += int((np.diff(means, axis=0) < -slack).sum())
            steps += np.diff(means, axis=0).size
    return Claim(
        1,
        "Privacy rises as utility falls, for all three techniques.",
        f"no step to less utility lowers H0 or A by more than {NOISE_OF_THE_MEAN:g} standard errors",
        f"{steps - wrong} of {steps} steps rise or stay",
        wrong == 0,
    )


def _knowledge(table: pd.DataFrame) -> Claim:
    rising, steps, gentler, gains = 0, 0, True, []
    for technique in SAFER_WITH:
        means, errors = _lines(table, technique, "h0")
        slack = NOISE_OF_THE_MEAN * np.hypot(errors[:, 1:], errors[:, :-1])
        rising += int((np.diff(means, axis=1) > slack).sum())
        steps += np.diff(means, axis=1).size
        useful, private = means[0, 0] - means[0, -1], means[-1, 0] - means[-1, -1]
        gentler &= bool(private < useful)
        gains.append(f"{technique} −{useful:.2f} and −{private:.2f} bits")
    return Claim(
        2,
        "Privacy falls as knowledge grows, gently at low utility and sharply at high utility.",
        "H0 never rises with knowledge, and falls more at the most useful parameter than at the least useful",
        f"{steps - rising} of {steps} steps fall or stay; {'; '.join(gains)}",
        rising == 0 and gentler,
    )


def _ends(table: pd.DataFrame, measure: str) -> Iterator[tuple[float, float]]:
    """Without knowledge and with all of it: sampling 50 %, then query restriction with Q = 8."""
    for technique, amount in (("sampling", 0.5), ("query-restriction", 8)):
        rows = table[(table["technique"] == technique) & (table["amount"] == amount)].sort_values(
            "known_size"
        )
        yield float(rows[measure].iloc[0]), float(rows[measure].iloc[-1])


def _similar_without_knowledge(table: pd.DataFrame) -> Claim:
    (sampling, _), (queries, _) = _ends(table, "h0")
    apart = abs(sampling - queries) / max(sampling, queries)
    return Claim(
        3,
        "Without knowledge, sampling 50 % and query restriction with Q = 8 give similar H0.",
        f"they differ by at most {SIMILAR:.0%} of the larger",
        f"{sampling:.3f} and {queries:.3f} bits, {apart:.1%} apart",
        apart <= SIMILAR,
    )


def _sharp_against_flat(table: pd.DataFrame) -> Claim:
    (s0, s1), (q0, q1) = _ends(table, "h0")
    sampling, queries = 1 - s1 / s0, 1 - q1 / q0
    return Claim(
        4,
        "With growing knowledge, sampling's H0 drops sharply while query restriction's stays flat.",
        f"sampling loses at least {SHARP:.0%} of its H0, query restriction at most {FLAT:.0%}",
        f"sampling loses {sampling:.1%}, query restriction {queries:.1%}",
        sampling >= SHARP and queries <= FLAT,
    )


def _by_area(table: pd.DataFrame) -> Claim:
    (s0, s1), (q0, q1) = _ends(table, "area")
    return Claim(
        5,
        "By area, sampling is slightly better without knowledge and much worse with it.",
        f"without knowledge sampling has the larger area; with full knowledge, at most {MUCH_WORSE:.0%} of the other's",
        f"without: {figure(s0)} and {figure(q0)}; with: {figure(s1)} and {figure(q1)}",
        s0 > q0 and s1 <= MUCH_WORSE * q1,
    )
