"""The attacks on a released table with a control group, each with a sentence about its value."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from equivoc.data.microdata import Microdata
from equivoc.models.measure import Measure
from equivoc.models.of_release.released_table import ReleasedTable
from equivoc.models.of_synthetic.attack_success import Interval
from equivoc.models.of_synthetic.attacked_tables import attacked
from equivoc.models.of_synthetic.closest_record import closest_half
from equivoc.models.of_synthetic.predicates import KINDS, attack
from equivoc.number_format import percent

ATTACKS = 300
"""Predicates of a kind, and candidates of each group: intervals of some ±5 %, in half a second for 100,000 records."""
COLUMNS = 3
"""The attributes of a multivariate predicate …"""
FEW = 30
"""… or all of them, if fewer predicates of three than this single out a released record."""
SEED = 0


def attack_measures(table: ReleasedTable, control: Microdata, known: Sequence[str]) -> list[Measure]:
    """Singling out and membership inference; none if no released attribute has values like the original's."""
    people, attributes = table.people, attacked(table, control, known)
    if not attributes:
        return []
    rows = []
    for kind in KINDS:
        for width in (COLUMNS, len(attributes)):
            random = np.random.default_rng(SEED)
            found = attack(attributes, len(people), len(control), kind, width, ATTACKS, random)
            if kind == "univariate" or found.attacks >= FEW:
                break
        if found.attacks:
            rows.append(
                Measure(
                    f"singling out, {kind}",
                    found.success,
                    f"Of {found.attacks:,} {kind} predicates from the release{_attributes(kind, width)} "
                    f"{_percent(found.success, found.interval)} fit exactly one of the people in the data, of random "
                    f"ones {percent(found.baseline)}; among equally many people {percent(found.compared)} fit one in "
                    f"the data, {_percent(found.control, found.control_interval)} one of the control group; less is "
                    "safer.",
                )
            )
    guess = closest_half(attributes, len(people), len(control), ATTACKS, np.random.default_rng(SEED))
    rows.append(
        Measure(
            "membership inference, closest record",
            guess.accuracy,
            f"Of {guess.candidates:,} candidates, half of them in the data, she takes those closest to a released "
            f"record for members and is right about {_percent(guess.accuracy, guess.interval)}, by guessing about 50%; "
            "less is safer.",
        )
    )
    return rows


def _attributes(kind: str, width: int) -> str:
    return f" ({width} attributes each)" if kind == "multivariate" and width > COLUMNS else ""


def _percent(share: float, interval: Interval) -> str:
    """A rate and its 95 % interval.

    >>> _percent(0.3, (0.191, 0.4375))
    '30.0% (19.1 to 43.8)'
    """
    low, high = interval
    return f"{percent(share)} ({100 * low:.1f} to {100 * high:.1f})"
