"""Noise addition: every attribute of every record is moved on its rank by binomial noise."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any, ClassVar, Literal

import numpy as np
from numpy.typing import NDArray

from equivoc.channels.channel import Bayes, Channel
from equivoc.channels.likelihood import Cells, Table
from equivoc.channels.rank_noise import (
    amplitude,
    draw,
    interval_channel,
    rank_noise,
    released_size,
    transition,
    within_reach,
)
from equivoc.checks import check_memory
from equivoc.data.microdata import Microdata, check_people
from equivoc.intruder.prior import ReleasedColumn
from equivoc.notation.declared import choice, number
from equivoc.notation.ranges import Range
from equivoc.releases.linked_release import LinkedRelease
from equivoc.releases.release import GroupedRelease
from equivoc.renamed import renamed_field
from equivoc.techniques.inside.exact_ends import exact_ends
from equivoc.techniques.technique import Randomness, Technique, check_order, generator, in_words, knows_shares
from equivoc.text import exact

Edge = Literal["clip", "wrap", "extend"]
MOST_PERCENT = 1_000_000
"""Ten thousand times the domain: far beyond any useful noise."""


@renamed_field("intruder", "belief")
@dataclass(frozen=True)
class NoiseAddition(Technique):
    """Move each value's rank by ``Binomial(M, ½) − M/2``, M the even number nearest to ``percent`` % of |domain| − 1.

    At the ends of a domain the rank is clipped, wrapped around, or lands on a longer grid (``edge="extend"``: for
    numbers on an even grid; other attributes are clipped).

    ``belief="bayes"`` weights each released record by the probability of its keys given the known ones, and the
    confidential value likewise. ``belief="interval"`` (the paper's printed text) takes, for each record of the
    class, all values within M/2 ranks of the released one as equally likely. None: the assessment decides.

    >>> import pandas as pd
    >>> people = Microdata(pd.DataFrame({"age": [1, 2, 3], "pay": [10, 20, 30]}), confidential="pay", keys=["age"])
    >>> NoiseAddition(percent=0).release(people, 0).posteriors(["age"]).probabilities.tolist()
    [[1.0, 0.0, 0.0], [0.0, 1.0, 0.0], [0.0, 0.0, 1.0]]
    """

    renamed: ClassVar = {"intruder": "belief"}
    name: ClassVar[str] = "noise-addition"
    needs: ClassVar = "order"
    percent: float = number(
        "how far values may move, in percent of the domain; more is safer",
        at_least=0,
        at_most=MOST_PERCENT,
        wanted=f"0 or more, and at most {MOST_PERCENT:,}",
        tries=Range(1, 100),
    )
    edge: Edge = choice(
        'at the ends of a domain, "clip": stop there; "wrap": go on at the other end; "extend": numbers on an even '
        "grid may pass them",
        "clip",
        "wrap",
        "extend",
        default="clip",
    )
    belief: str | None = choice(
        "the technique's own intruder; None: the assessment decides", "bayes", "interval", default=None
    )

    def release(self, people: Microdata, rng: Randomness = None) -> NoisyRecords | NoisyIntervals:
        """Draw the noise, key by key and then for the confidential value."""
        check_people("people", people)
        check_order(self.name, people, "so noise cannot move a value up or down")
        random = generator(rng)
        noises = {key: self._noise(people.levels(key)) for key in people.keys}
        own = self._noise(people.values.tolist())
        for name, noise in {**noises, people.confidential: own}.items():
            square = name != people.confidential or (self.belief == "interval" and noise.edge == "wrap")
            check_memory(
                f"noise-addition: the noise of {name!r}",
                rows=noise.size if square else 1,
                columns=released_size(noise.size, noise.amplitude, edge=noise.edge),
                advice="round it first, or add less noise",
            )
        keys = {}
        for key, noise in noises.items():
            codes, labels = noise.move(people.key_codes(key), random), _labels(people, key, noise)
            table = transition(noise.size, noise.amplitude, edge=noise.edge).T
            # The paper's evidence is P(released | true) itself.
            keys[key] = ReleasedColumn(codes, labels, table, likelihood=table)
        confidential = ReleasedColumn(
            own.move(people.codes, random),
            _labels(people, people.confidential, own),
            Bayes(rank_noise(own.size, own.amplitude, edge=own.edge), np.full(own.size, 1 / own.size)),
        )
        fixed = self.belief is not None
        mechanism = self.mechanism(people)
        ends = exact_ends(
            people,
            [name for name, noise in {**noises, people.confidential: own}.items() if noise.edge != "extend"],
            "noise moves values to the ends of the domain, so the file shows it exactly; declare a domain with other "
            "ends, or top-code first",
        )
        noisy = NoisyRecords(people, keys, confidential, fixed=fixed, mechanism=mechanism, exactly=ends)
        if self.belief != "interval":
            return noisy
        return NoisyIntervals(
            people, confidential.codes, own.interval(), noisy, fixed=fixed, mechanism=mechanism, exactly=ends
        )

    def mechanism(self, people: Microdata) -> str:
        columns = (*people.keys, people.confidential)
        share = exact(self.percent)
        if self.belief == "interval":
            return (
                f"She knows which records are in the target's class, and that {people.confidential} was moved by at "
                f"most half of {share} % of its domain; all values within that distance are equally likely."
            )
        past = {
            "clip": "ranks past an end of the domain stop there",
            "wrap": "ranks past an end of the domain continue at the other end",
            "extend": "numbers on an even grid may pass the ends of the domain, other ranks stop there",
        }[self.edge]
        alike = " All values are equally likely a priori." if self.belief else ""
        known = "" if self.belief else knows_shares(people, columns)
        return (
            f"She knows that the ranks of {in_words(columns)} were moved independently by binomial noise of "
            f"{share} % of the domain; {past}.{known}{alike}"
        )

    def _noise(self, levels: Any) -> _Noise:
        edge: Edge = self.edge if self.edge != "extend" or _even_step(levels) is not None else "clip"
        return _Noise(len(levels), amplitude(self.percent, len(levels)), edge)


@dataclass(frozen=True)
class _Noise:
    """The noise of one attribute."""

    size: int
    amplitude: int
    edge: Edge

    def interval(self) -> Channel:
        """All values from which the noise can reach the released one, equally likely."""
        if self.edge == "wrap":  # not one interval, but up to two
            near = interval_channel(self.size, self.amplitude, edge=self.edge) > 0
            return Bayes(Table(near.T.astype(np.float64)), np.full(self.size, 1 / self.size))
        first, past = within_reach(self.size, self.amplitude, edge=self.edge)
        return Bayes(Cells(first, past, self.size), np.full(self.size, 1 / self.size))

    def move(self, codes: NDArray[np.int32], random: np.random.Generator) -> NDArray[np.int64]:
        return draw(codes, self.size, self.amplitude, edge=self.edge, rng=random)


@dataclass(frozen=True, eq=False)
class NoisyRecords(LinkedRelease):
    """The noisy file, with an intruder who knows the noise's distribution."""


@dataclass(frozen=True, eq=False)
class NoisyIntervals(GroupedRelease):
    """The noisy file, with an intruder who knows only the range of the noise."""

    noisy: NoisyRecords = field(repr=False)

    @property
    def table(self) -> Any:
        return self.noisy.table


def _even_step(levels: Any) -> float | None:
    """The step of numbers on an even grid; None for anything else."""
    if any(isinstance(level, bool) or not isinstance(level, (int, float)) for level in levels):
        return None
    steps = np.diff(np.asarray(levels, dtype=np.float64))
    if len(steps) == 0 or not np.allclose(steps, steps[0], rtol=1e-9, atol=0):
        return None
    return float(steps[0])


def _labels(people: Microdata, name: str, noise: _Noise) -> Any:
    """The label of each released rank; on an extended grid, with M/2 more steps at both ends."""
    import pyarrow as pa

    levels = people.decode(name, np.arange(noise.size))
    if noise.edge != "extend":
        return levels
    grid = levels.to_numpy()  # the levels themselves stay bitwise equal
    beyond = np.arange(1, noise.amplitude // 2 + 1) * (grid[1] - grid[0])
    return pa.array(np.concatenate([grid[0] - beyond[::-1], grid, grid[-1] + beyond]))
