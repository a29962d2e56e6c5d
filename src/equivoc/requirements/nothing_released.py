"""The figure of a requirement if nothing were released: what the intruder knows of everyone from the prior alone."""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from equivoc.data.microdata import Microdata
from equivoc.intruder.prior import without_zeros
from equivoc.intruder.truth import CERTAIN
from equivoc.requirements.outcome import over_people
from equivoc.requirements.requirement import Requirement

if TYPE_CHECKING:
    from equivoc.measure.curves import Curves
    from equivoc.measure.tree import TreeCurves

Floats = NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class NothingReleased:
    """The people for an intruder who has the prior and no release: she believes the same about everybody."""

    people: Microdata = field(repr=False)
    prior: Floats = field(repr=False)
    """The probabilities of the values."""
    measured: Curves | TreeCurves = field(repr=False)
    """The measure of the prior."""

    @classmethod
    def of(cls, people: Microdata, prior: Floats) -> NothingReleased:
        """For these probabilities of the values."""
        return cls(people, prior, people.attribute.geometry.curves(prior[None, :]))

    @cached_property
    def _counts(self) -> Any:
        """One row: how many people have each value that occurs."""
        return self.people.classes([]).counts

    def figure(self, requirement: Requirement) -> float:
        """The figure of a requirement whose tolerance is given.

        k, l and t are those of people who are all alike in the keys: no release of them has more k and l, or less t.
        """
        counts, eps = self._counts, requirement.eps
        match requirement.figure:
            case "h0" | "area" as name:
                return float(getattr(self.measured, name)[0])
            case "gain" | "t":
                return 0.0
            case "certain_right":
                certain = float(self.measured.h0[0]) < CERTAIN
                return float(counts.data[self.prior[counts.indices] > 0.5].sum()) if certain else 0.0
            case "k":
                return float(counts.data.sum())
            case "l":
                return float(len(counts.data))
        assert eps is not None  # surprise, hit and true_hit
        if requirement.figure == "hit":
            return float(self.measured.hit(eps)[0])
        return over_people(self._of_values(requirement.figure, eps), counts.data, requirement)

    def _of_values(self, figure: str, eps: float) -> Floats:
        """The figure of the people of each value that occurs."""
        values = self._counts.indices
        places = self.people.attribute.geometry.positions[values]
        whole = np.array([0, len(values)])
        if figure == "true_hit":
            return np.asarray(self.measured.right_guesses(eps, places, whole))
        expected = without_zeros(self.prior)  # as it is mixed in before a comparison with the true values
        if eps == 0:
            return np.asarray(-np.log2(np.minimum(expected[values], 1.0)))
        curves = self.people.attribute.geometry.curves(expected[None, :])
        return np.asarray(curves.surprises(eps, places, whole))
