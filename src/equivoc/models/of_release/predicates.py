"""Singling out: predicates made from a released table that fit exactly one person."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from equivoc.checks import check_choice, checked_whole_number
from equivoc.data.microdata import Microdata
from equivoc.models.of_file.measure import Known
from equivoc.models.of_release.attacks import Attribute, Interval, Rate, checked_attributes, excess
from equivoc.models.of_release.predicate_search import Predicates, at_random, multivariate, univariate
from equivoc.releases.release import Release

KINDS = ("univariate", "multivariate")
Floats = NDArray[np.float64]


@dataclass(frozen=True)
class SinglingOut:
    """How often a predicate made from the release fits exactly one person. Smaller is safer."""

    attacks: int
    """How many predicates were tried; 0 if the release has none that single out one of its own records."""
    asked: int
    """How many were asked for."""
    attempts: int
    """How many predicates were made from released records to find them; one that fits several is not tried."""
    all_there_are: bool
    """Whether the release offers no other predicate; if not, and ``attacks`` < ``asked``, the search was given up."""
    success: float
    """The share that fits exactly one of the people in the data."""
    interval: Interval
    """Wilson's 95 % interval of it."""
    compared: float
    """The share that fits exactly one of as many people in the data as the control group has, or fewer."""
    control: float
    """The share that fits exactly one of the control group (of as many as there are people in the data, or fewer)."""
    control_interval: Interval
    baseline: float
    """The share of predicates put together at random that fit exactly one of the people in the data."""
    excess: float
    """``compared`` − ``control``: the part of the success that is due to being in the data."""
    excess_interval: Interval
    """Newcombe's 95 % interval of it; if it holds 0, no difference is shown."""

    @property
    def risk(self) -> float:
        """(compared − control)/(1 − control), at least 0: the share of successes that being in the data adds."""
        return max(0.0, self.excess / (1 - self.control)) if self.control < 1 else 0.0

    @property
    def note(self) -> str:
        """Why fewer predicates were tried than asked for; empty if they were not fewer."""
        if self.attacks >= self.asked:
            return ""
        why = "all there are" if self.all_there_are else f"all that {self.attempts:,} attempts found"
        return f"{why}; {self.asked:,} were asked for"


def singling_out(
    people: Microdata,
    release: Release,
    *,
    control: Any,
    known: Known = None,
    kind: str = "multivariate",
    columns: int = 3,
    attacks: int = 500,
    seed: int = 0,
) -> SinglingOut:
    """An intruder guesses from a released table that exactly one person in the data fits a predicate.

    - ``kind="univariate"``: one attribute: a value that occurs once in the released column, and of numbers the least
      (≤) and the greatest (≥). All of them, or ``attacks`` of them at random.
    - ``"multivariate"``: a random released record and ``columns`` random attributes (all, if there are fewer): equal
      categories; of numbers ≥ its value if that is above the released median, ≤ otherwise. Kept if it fits exactly one
      released record. Predicates are made until ``attacks`` are kept, or there are no others (of up to a million), or
      a million were made or two thousand million records looked at. With fewer than asked for, ``note`` says why.

    The attributes are the ``known`` keys (None: all) and the confidential one. A predicate succeeds if it fits exactly
    one person. The same predicates are tried on the ``control`` group, people of the same population who were not used
    to make the release (a table with the people's columns, or Microdata): a success there comes from information about
    the population. The success rate depends on the number of people, so both groups are compared with equally many
    people, drawn with the ``seed``. The baseline is predicates with attributes, signs and values at random.

    Source: M. Giomi, F. Boenisch, C. Wehmeyer and B. Tasnádi, A unified framework for quantifying privacy risk in
    synthetic data, PoPETs 2023(2), 312–328: the attacks of its Anonymeter. Comparing equal numbers is ours; there a
    model of the dependence on size is fitted.

    >>> import pandas as pd
    >>> from equivoc.techniques.released_file import ReleasedFile
    >>> frame = pd.DataFrame({"town": list("AABBC"), "pay": [10, 20, 20, 30, 40]})
    >>> people = Microdata(frame, confidential="pay", keys=["town"])
    >>> others = pd.DataFrame({"town": list("ABBAB"), "pay": [10, 20, 20, 20, 30]})
    >>> found = singling_out(people, ReleasedFile(frame).release(people), control=others, kind="univariate")
    >>> found.attacks, found.success, found.control        # town C; pay 10, 30, 40, ≤ 10, ≥ 40
    (6, 1.0, 0.5)
    """
    check_choice("kind", kind, KINDS)
    width = checked_whole_number("columns", columns, at_least=1)
    most, seed = (
        checked_whole_number("attacks", attacks, at_least=1),
        checked_whole_number("seed", seed, at_least=0),
    )
    attributes, others = checked_attributes(people, release, control, known)
    return attack(attributes, len(people), len(others), kind, width, most, np.random.default_rng(seed))


def attack(
    attributes: Sequence[Attribute],
    people: int,
    control: int,
    kind: str,
    width: int,
    most: int,
    rng: np.random.Generator,
) -> SinglingOut:
    """The attack on columns that are coded alike."""
    if kind == "univariate":
        width = 1
        found = univariate(attributes, most, rng)
    else:
        found = multivariate(attributes, width, most, rng)
    # As many as were asked for, so that the baseline is as precise if the release offers few.
    naive = at_random(attributes, width, most, rng)
    same = min(people, control)
    everyone = np.stack([each.people for each in attributes])
    some = everyone if same == people else everyone[:, rng.choice(people, same, replace=False)]
    others = np.stack([each.control for each in attributes])
    others = others if same == control else others[:, rng.choice(control, same, replace=False)]
    whole, compared, beside = (_successes(found.predicates, table) for table in (everyone, some, others))
    difference, around = excess(compared, beside)
    return SinglingOut(
        attacks=len(found.predicates),
        asked=most,
        attempts=found.attempts,
        all_there_are=found.all_there_are,
        success=whole.share,
        interval=whole.interval,
        compared=compared.share,
        control=beside.share,
        control_interval=beside.interval,
        baseline=_successes(naive, everyone).share,
        excess=difference,
        excess_interval=around,
    )


def _successes(predicates: Predicates, table: Floats) -> Rate:
    return Rate(float(np.count_nonzero(predicates.fitting(table) == 1)), len(predicates))
