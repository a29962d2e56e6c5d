"""Membership inference: the people closest to a released record are taken to be in the data."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from equivoc.arguments import checked_whole_number
from equivoc.data.counting.row_codes import row_groups
from equivoc.data.microdata import Microdata
from equivoc.intruder.release import Release
from equivoc.models.known_classes import Known
from equivoc.models.of_synthetic.attack_success import Interval, Rate
from equivoc.models.of_synthetic.attacked_tables import Attribute, checked_attributes

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
    people_distance: float
    """The median distance to the closest released record, of those in the data; 0 … the number of attributes."""
    control_distance: float
    """The same for the control group; if it is much larger, the release contains copies of records."""

    @property
    def advantage(self) -> float:
        """2 · accuracy − 1: 0 for guessing, 1 if she is always right."""
        return 2 * self.accuracy - 1


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
    counts for the share that is taken. Guessing is right for half of them: the baseline is 0.5.

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
        found.share, found.interval, 2 * m, float(np.median(ours)), float(np.median(theirs))
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
