"""The record of bounds: what answers leave possible for one person of each atom."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Literal

import numpy as np
from numpy.typing import NDArray

Method = Literal["prior domain", "propagation", "shortest paths", "linear programs", "whole-number programs"]


@dataclass(frozen=True, eq=False)
class PersonBounds:
    """Bounds for each atom, in whole steps above the domain's least value, inclusive.

    Nothing outside the bounds is possible. Medians and variances are left out: they could only narrow the bounds.
    """

    low: NDArray[np.int64]
    """The least value that one person of the atom can have; always one of the domain's values."""
    high: NDArray[np.int64]
    sum_low: NDArray[np.int64] = field(repr=False)
    """A lower bound of the sum over the atom's people. Only as tight as ``low`` needs it: it may be an outer bound even
    where ``exact`` is True."""
    sum_high: NDArray[np.int64] = field(repr=False)
    exact: NDArray[np.bool_]
    """Whether, if the answers do not contradict each other, some database that fits them gives a person ``low``, and
    some database ``high``. False: the bounds are outer ones, and the true ones may be narrower."""
    method: tuple[Method, ...] = field(repr=False)
    """What found the bounds of each atom. "linear programs": a solution in real numbers attains them, or a program
    proved them, in large systems one with the nearest sums only. "propagation" is exact for sums that form no cycle;
    elsewhere the work allowed for programs ended before this atom."""
