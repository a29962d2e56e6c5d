"""The measure on one posterior: H(ε) for every ε, its area, its windows, its hit rate."""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import cached_property
from typing import TYPE_CHECKING, Any, NamedTuple, overload

import numpy as np
from numpy.typing import ArrayLike

from equivoc.measure.area import certified_area
from equivoc.measure.distribution import (
    NATS_PER_BIT,
    TIE_SHARE,
    Distribution,
    Floats,
    check_relative_gap,
    one_tolerance,
    tolerances,
)
from equivoc.measure.jumps import jumps, last_of_ties

if TYPE_CHECKING:
    import altair

# One exact H(ε) for any number of values, in O(n log n).


def entropy_at(values: ArrayLike, probabilities: ArrayLike, eps: float) -> float:
    """H(ε): the least Shannon entropy, in bits, after merging values at most ε apart.

    H(ε) = min over partitions of the sorted values into windows of diameter ≤ ε of Σ −q log2 q, q the windows'
    masses (Alfalayleh and Brankovic 2014, with the misprint "maximised" corrected). Exact up to rounding; O(n log n)
    time, O(n) memory. Smaller is riskier: at 0 bits the intruder knows the value to within ε.

    A pair x_i − x_j = ε counts as covered even where binary rounding makes the difference come out larger (see
    docs/method.md, "Ties").

    >>> round(entropy_at([1, 3, 8, 9], [.15, .1, .7, .05], 2), 3)
    0.811
    >>> entropy_at([0.1, 0.4], [0.5, 0.5], 0.3)
    0.0
    """
    at = one_tolerance("eps", eps)
    return exact_entropy(Distribution.of(values, probabilities), at)


def exact_entropy(distribution: Distribution, eps: float) -> float:
    """H(ε) in bits of a checked distribution."""
    from equivoc.measure.jump_kernels import reach
    from equivoc.measure.partition_kernels import least_cost

    x = distribution.values
    if eps == 0.0:
        return distribution.shannon
    limit = reach(x[0], x[-1], eps)
    if x[-1] - x[0] <= limit:
        return 0.0
    return max(float(least_cost(distribution.cumulative, x, x, limit)) / NATS_PER_BIT, 0.0)


class Window(NamedTuple):
    """A merged run of values, from ``low`` to ``high``, and its total probability."""

    low: float
    high: float
    probability: float


@dataclass(frozen=True, eq=False)
class Curve:
    """H(ε) of one posterior. Entropies in bits, ε in the values' unit, area in bits × that unit.

    Smaller entropies and areas are riskier; a larger hit rate is riskier.
    """

    epsilons: Floats
    """Where H changes, ascending from 0.0; for a curve with a tolerance, where H was evaluated."""
    entropies: Floats
    """H from each of ``epsilons`` on, in bits. For a curve with a tolerance: a lower bound of H up to each of them,
    exact at 0. So between two of them H lies between the second's lower bound and the first's ``most_entropies``."""
    area_bounds: tuple[float, float]
    """Certified lower and upper bound of the area; equal when it is exact."""
    _distribution: Distribution = field(repr=False)
    _jumps: tuple[Floats, Floats] | None = field(repr=False, default=None)
    """Every ε at which H changes, with H from there on, before differences equal up to rounding were merged."""
    _most: Floats | None = field(repr=False, default=None)

    @property
    def break_points(self) -> Floats:
        """The same as ``epsilons``: tolerances, not budgets."""
        return self.epsilons

    @property
    def most_entropies(self) -> Floats:
        """Upper bounds of H from each of ``epsilons`` on, in bits; without a tolerance, H itself."""
        return self.entropies if self._most is None else self._most

    @property
    def h0(self) -> float:
        """H(0), the Shannon entropy of the posterior, in bits: exact compromise."""
        return float(self.entropies[0])

    @property
    def area(self) -> float:
        """A = ∫ H(ε) dε from 0 to ε_max: approximate compromise. The middle of ``area_bounds``."""
        low, high = self.area_bounds
        return 0.5 * (low + high)

    @property
    def eps_max(self) -> float:
        """The smallest ε with H(ε) = 0: the spread of the values of positive probability."""
        return self._distribution.spread

    @property
    def exact(self) -> bool:
        """True if ``epsilons`` are all jumps of H and the area is exact."""
        return self._jumps is not None

    @cached_property
    def _cumulative(self) -> Floats:
        return self._distribution.cumulative

    @overload
    def __call__(self, eps: float) -> float: ...
    @overload
    def __call__(self, eps: ArrayLike) -> Floats: ...
    def __call__(self, eps: Any) -> Any:
        """H(ε) in bits at one tolerance or at each of several; always exact."""
        asked = tolerances("eps", eps)
        if self._jumps is not None:
            epsilons, entropies = self._jumps
            reach = asked + np.minimum(self._distribution.rounding, TIE_SHARE * asked)
            found = entropies[np.searchsorted(epsilons, reach, side="right") - 1]
        else:
            found = np.array([exact_entropy(self._distribution, float(e)) for e in asked])
        return float(found[0]) if np.ndim(eps) == 0 else found

    @overload
    def hit(self, eps: float) -> float: ...
    @overload
    def hit(self, eps: ArrayLike) -> Floats: ...
    def hit(self, eps: Any) -> Any:
        """V(ε): the chance that the intruder's best guess is within ε/2 of the truth, if the posterior is right."""
        from equivoc.measure.jump_kernels import best_window

        asked = tolerances("eps", eps)
        x = self._distribution.values
        found = np.array([min(best_window(x, self._cumulative, float(e))[0], 1.0) for e in asked])
        return float(found[0]) if np.ndim(eps) == 0 else found

    def windows(self, eps: float) -> list[Window]:
        """An optimal partition at ε: windows of values at most ε apart whose masses have entropy H(ε)."""
        from equivoc.measure.jump_kernels import reach
        from equivoc.measure.partition_kernels import least_costs

        x, p = self._distribution.values, self._distribution.probabilities
        limit = reach(x[0], x[-1], one_tolerance("eps", eps))
        source = np.empty(len(x) + 1, np.int32)
        least_costs(self._cumulative, x, x, limit, np.empty(len(x) + 1), source)
        found, end = [], len(x)
        while end > 0:
            start = int(source[end])
            found.append(Window(float(x[start]), float(x[end - 1]), float(p[start:end].sum())))
            end = start
        return found[::-1]

    def plot(self) -> altair.Chart:
        """H(ε) as a step chart (of a curve with a tolerance: its lower bound); ``.save("x.png")`` works offline."""
        from equivoc.charts.curves import curve_chart

        return curve_chart({"": self})

    def _repr_mimebundle_(self, include: Any = None, exclude: Any = None) -> Any:
        from equivoc.charts.curves import notebook_display

        return notebook_display(self.plot())


def curve(values: ArrayLike, probabilities: ArrayLike, *, tolerance: float = 0.0) -> Curve:
    """H(ε) of a posterior over real values: the intruder's least remaining entropy at every tolerance ε.

    With ``tolerance=0.0`` every jump of H is found and the area is exact; the cost is about one O(n log n) evaluation
    per jump, practical for a few thousand values. With ``tolerance=t`` the area is certified to a relative gap of at
    most t, for any number of values.

    >>> c = curve([1, 3, 8, 9], [.15, .1, .7, .05])
    >>> round(c.h0, 3), round(c.area, 3), c.eps_max
    (1.319, 6.514, 8.0)
    >>> curve([77, 80], [.5, .5]).area, curve([50, 107], [.5, .5]).area
    (3.0, 57.0)
    """
    gap = check_relative_gap(tolerance, exact_allowed=True)
    distribution = Distribution.of(values, probabilities)
    if gap == 0.0:
        epsilons, entropies, area = jumps(distribution)
        kept = last_of_ties(epsilons, distribution.rounding)
        # A value of probability 1e-300 can merge without H changing by a digit: that is no break point.
        kept = kept[np.append(True, np.diff(entropies[kept]) < 0)]
        return Curve(
            epsilons[kept], entropies[kept], (area, area), distribution, _jumps=(epsilons, entropies)
        )
    certified = certified_area(distribution, gap)
    return Curve(
        certified.epsilons, certified.entropies, certified.bounds, distribution, _most=certified.most
    )
