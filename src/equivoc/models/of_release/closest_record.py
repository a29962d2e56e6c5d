"""Membership inference: the people closest to a released record are taken to be in the data."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from equivoc.checks import checked_whole_number
from equivoc.data.lattice import row_groups
from equivoc.data.microdata import Microdata
from equivoc.models.of_file.measure import Known, Measure
from equivoc.models.of_release.attacks import Attribute, Interval, Rate, attacked, checked_attributes
from equivoc.models.of_release.predicates import KINDS, attack
from equivoc.models.of_release.released_table import ReleasedTable
from equivoc.releases.release import Release
from equivoc.text import percent

Floats = NDArray[np.float64]
Singles = NDArray[np.float32]
_TIED = 1e-5
"""Distances closer than this are equal: they are sums in single precision."""


@dataclass(frozen=True)
class MembershipInference:
    """How often the attack is right about who is in the data. Smaller is safer; 0.5 is guessing."""

    accuracy: float
    """The share of right answers among equally many people in the data and of the control group."""
    interval: Interval
    """Wilson's 95 % interval of it."""
    candidates: int
    """How many people were judged, half of them in the data."""
    asked: int
    """How many were to be judged: twice ``attacks``."""
    people_distance: float
    """The median distance to the closest released record, of those in the data; 0 … the number of attributes."""
    control_distance: float
    """The same for the control group; if it is much larger, the release contains copies of records."""

    @property
    def advantage(self) -> float:
        """2 · accuracy − 1: 0 for guessing, 1 if she is always right."""
        return 2 * self.accuracy - 1

    @property
    def note(self) -> str:
        """Why fewer people were judged than asked for; empty if they were not fewer."""
        if self.candidates >= self.asked:
            return ""
        return f"all of the smaller group and as many others; {self.asked:,} were asked for"


def membership_inference(
    people: Microdata,
    release: Release,
    *,
    control: Any,
    known: Known = None,
    attacks: int = 500,
    seed: int = 0,
) -> MembershipInference:
    """An intruder takes the half of the candidates that is closest to a released record for members of the data.

    The candidates are m people of the data and m of the ``control`` group, m the least of ``attacks`` and both groups'
    sizes, drawn with the ``seed``. She knows their keys (``known``; None: all) and confidential value. A distance is a
    sum over attributes: of numbers, the difference divided by the range of the released column, at most 1; of
    categories, 0 or 1; null is 1 away from everything but null (Gower 1971). Of candidates that tie at the half, each
    counts for the share that is taken. Guessing is right for half of them: the baseline is 0.5. With fewer candidates
    than asked for, ``note`` says why.

    ``control`` are people of the same population who were not used to make the release: a table with the people's
    columns, or Microdata. Sources: the distance to the closest record, as usual for synthetic data, as a membership
    attack: D. Chen, N. Yu, Y. Zhang and M. Fritz, GAN-Leaks (CCS 2020), the full black-box attack.

    >>> import pandas as pd
    >>> from equivoc.techniques.released_file import ReleasedFile
    >>> frame = pd.DataFrame({"age": [20, 33, 41, 58], "pay": [10, 30, 20, 40]})
    >>> people = Microdata(frame, confidential="pay", keys=["age"])
    >>> others = pd.DataFrame({"age": [25, 37, 44, 50], "pay": [20, 10, 40, 30]})
    >>> membership_inference(people, ReleasedFile(frame).release(people), control=others).accuracy      # a copy
    1.0
    """
    most, seed = (
        checked_whole_number("attacks", attacks, at_least=1),
        checked_whole_number("seed", seed, at_least=0),
    )
    attributes, others = checked_attributes(people, release, control, known)
    return closest_half(attributes, len(people), len(others), most, np.random.default_rng(seed))


def closest_half(
    attributes: Sequence[Attribute], people: int, control: int, most: int, rng: np.random.Generator
) -> MembershipInference:
    """The attack on columns that are coded alike."""
    m = min(most, people, control)
    members, strangers = (rng.choice(size, m, replace=False) for size in (people, control))
    released, asked = _scaled(attributes, members, strangers)
    distances = _closest(released, asked)
    ours, theirs = distances[:m], distances[m:]
    limit = np.partition(distances, m - 1)[m - 1]
    below, at = distances < limit - _TIED, np.abs(distances - limit) <= _TIED
    taken = below + at * ((m - np.count_nonzero(below)) / np.count_nonzero(at))
    right = float(taken[:m].sum() + (1 - taken[m:]).sum())
    found = Rate(right, 2 * m)
    return MembershipInference(
        found.share, found.interval, 2 * m, 2 * most, float(np.median(ours)), float(np.median(theirs))
    )


def _scaled(
    attributes: Sequence[Attribute], members: NDArray[np.int64], strangers: NDArray[np.int64]
) -> tuple[list[Singles], list[Singles]]:
    """Distinct released records and the candidates, such that a difference of 1 or more counts as 1."""
    columns = [np.unique(each.released, return_inverse=True) for each in attributes]
    groups = row_groups(
        ((rank.reshape(-1), len(levels)) for levels, rank in columns), len(attributes[0].released)
    )
    released, asked = [], []
    for each in attributes:
        values = np.concatenate([each.released[groups.first], each.people[members], each.control[strangers]])
        shown = each.released[~np.isnan(each.released)]
        spread = float(np.ptp(shown)) if each.numeric and shown.size else 0.0
        if spread > 0:
            values = (values - shown.min()) / spread
            values = np.where(np.isnan(values), np.nanmax(np.abs(values)) + 1, values)
        else:  # equal or not; null is a value of its own
            values = np.unique(values, return_inverse=True)[1].reshape(-1).astype(np.float64)
        values = values.astype(np.float32)
        released.append(values[: len(groups.first)])
        asked.append(values[len(groups.first) :])
    return released, asked


def _closest(released: Sequence[Singles], asked: Sequence[Singles]) -> Floats:
    """The distance of each candidate to the released record that is closest to it."""
    found = np.empty(len(asked[0]))
    total, away = np.empty_like(released[0]), np.empty_like(released[0])
    for at in range(len(found)):
        total[:] = 0
        for column, values in zip(released, asked, strict=True):
            np.subtract(column, values[at], out=away)
            np.abs(away, out=away)
            np.minimum(away, np.float32(1), out=away)
            np.add(total, away, out=total)
        found[at] = total.min()
    return found


# The attacks on a released table with a control group, each with a sentence about its value.

ATTACKS = 300
"""Predicates of a kind, and candidates of each group: intervals of some ±5 %, in half a second for 100,000 records."""
COLUMNS = 3
"""The attributes of a multivariate predicate …"""
FEW = 30
"""… or all of them, if fewer predicates of three than this single out a released record and more of all do."""
SEED = 0


def attack_measures(table: ReleasedTable, control: Microdata, known: Sequence[str]) -> list[Measure]:
    """Singling out and membership inference; none if no released attribute has values like the original's."""
    people, attributes = table.people, attacked(table, control, known)
    if not attributes:
        return []
    rows = []
    for kind in KINDS:
        tried = []
        for width in (COLUMNS, len(attributes)):
            random = np.random.default_rng(SEED)
            tried.append((width, attack(attributes, len(people), len(control), kind, width, ATTACKS, random)))
            if kind == "univariate" or tried[-1][1].attacks >= FEW:
                break
        width, found = max(tried, key=lambda one: one[1].attacks)
        if found.attacks:
            rows.append(
                Measure(
                    f"singling out, {kind}",
                    found.success,
                    f"Of {found.attacks:,} {kind} predicates from the release{_remarks(kind, width, found.note)} "
                    f"{_percent(found.success, found.interval)} fit exactly one of the people in the data, of random "
                    f"ones {percent(found.baseline)}; among equally many people {percent(found.compared)} fit one in "
                    f"the data, {_percent(found.control, found.control_interval)} one of the control group; less is "
                    "safer.",
                )
            )
    guess = closest_half(attributes, len(people), len(control), ATTACKS, np.random.default_rng(SEED))
    few = f" ({guess.note})" if guess.note else ""
    rows.append(
        Measure(
            "membership inference, closest record",
            guess.accuracy,
            f"Of {guess.candidates:,} candidates{few}, half of them in the data, she "
            f"takes those closest to a released record for members and is right about "
            f"{_percent(guess.accuracy, guess.interval)}, by guessing about 50%; less is safer.",
        )
    )
    return rows


def _remarks(kind: str, width: int, note: str) -> str:
    """How wide the predicates are, if wider than usual, and why there are few, if there are.

    >>> _remarks("multivariate", 4, "all there are; 300 were asked for")
    ' (4 attributes each; all there are; 300 were asked for)'
    """
    wide = f"{width} attributes each" if kind == "multivariate" and width > COLUMNS else ""
    remarks = "; ".join(each for each in (wide, note) if each)
    return f" ({remarks})" if remarks else ""


def _percent(share: float, interval: Interval) -> str:
    """A rate and its 95 % interval.

    >>> _percent(0.3, (0.191, 0.4375))
    '30.0% (19.1 to 43.8)'
    """
    low, high = interval
    return f"{percent(share)} ({100 * low:.1f} to {100 * high:.1f})"
