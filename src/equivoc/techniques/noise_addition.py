"""Noise addition: every attribute of every record is moved on its rank by binomial noise."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from functools import cached_property
from itertools import combinations
from typing import Any, ClassVar, Literal

import numpy as np
from numpy.typing import NDArray

from equivoc.data.classes import Classes
from equivoc.data.lattice import largest_size
from equivoc.data.microdata import Microdata
from equivoc.errors import InputError
from equivoc.intruder.binomial_noise import amplitude, channel, draw, interval_channel, transition
from equivoc.intruder.noise_linkage import linkage, sweep
from equivoc.intruder.noisy_file import NoisyFile
from equivoc.intruder.posteriors import Posteriors
from equivoc.intruder.release import GroupedRelease, Release
from equivoc.techniques.technique import Randomness, Technique, generator, one_of

Edge = Literal["clip", "wrap", "extend"]


@dataclass(frozen=True)
class NoiseAddition(Technique):
    """Move each value's rank by ``Binomial(M, ½) − M/2``, M the even number nearest to ``percent`` % of |domain| − 1.

    At the ends of a domain the rank is clipped, wrapped around, or lands on a longer grid (``edge="extend"``: for
    numbers on an even grid; other attributes are clipped).

    ``intruder="bayes"`` weighs each released record by how likely the noise made its keys from what she knows, and
    the confidential value likewise. ``intruder="interval"`` (the paper's printed text) takes, for each record of the
    class, all values within M/2 ranks of the released one as equally likely.

    >>> import pandas as pd
    >>> people = Microdata(pd.DataFrame({"age": [1, 2, 3], "pay": [10, 20, 30]}), confidential="pay", keys=["age"])
    >>> NoiseAddition(percent=0).release(people, 0).posteriors(["age"]).probabilities.tolist()
    [[1.0, 0.0, 0.0], [0.0, 1.0, 0.0], [0.0, 0.0, 1.0]]
    """

    name: ClassVar[str] = "noise-addition"
    percent: float
    """How far values may move, in percent of the domain: 0 or more. More is safer."""
    edge: Edge = "clip"
    intruder: str = "bayes"

    def __post_init__(self) -> None:
        if not (np.isfinite(self.percent) and self.percent >= 0):
            raise InputError(f"noise-addition: percent is {self.percent}; it must be 0 or more.")
        one_of("noise-addition", "edge", self.edge, ("clip", "wrap", "extend"))
        one_of("noise-addition", "intruder", self.intruder, ("bayes", "interval"))

    def release(self, people: Microdata, rng: Randomness = None) -> NoisyRecords | NoisyIntervals:
        """Draw the noise, key by key and then for the confidential value."""
        random = generator(rng)
        noises = {key: self._noise(people.levels(key)) for key in people.keys}
        own = self._noise(people.values.tolist())
        released = {key: noise.move(people.key_codes(key), random) for key, noise in noises.items()}
        confidential = own.move(people.codes, random)
        if self.intruder == "interval":
            reach = interval_channel(own.size, own.amplitude, edge=own.edge)
            return NoisyIntervals(people, confidential, reach, noises, own, released)
        return NoisyRecords(people, noises, own, released, confidential)

    def _noise(self, levels: Any) -> _Noise:
        edge: Edge = self.edge if self.edge != "extend" or _even_step(levels) is not None else "clip"
        return _Noise(len(levels), amplitude(self.percent, len(levels)), edge)


@dataclass(frozen=True)
class _Noise:
    """The noise of one attribute."""

    size: int
    amplitude: int
    edge: Edge

    def move(self, codes: NDArray[np.int32], random: np.random.Generator) -> NDArray[np.int64]:
        return draw(codes, self.size, self.amplitude, edge=self.edge, rng=random)


@dataclass(frozen=True, eq=False)
class NoisyRecords(Release):
    """The noisy file, before an intruder who knows the noise's distribution."""

    noises: dict[str, _Noise] = field(repr=False)
    own: _Noise = field(repr=False)
    released: dict[str, NDArray[np.int64]] = field(repr=False)
    confidential: NDArray[np.int64] = field(repr=False)

    @property
    def table(self) -> Any:
        return _noisy_table(self.people, self.noises, self.own, self.released, self.confidential)

    @cached_property
    def _file(self) -> NoisyFile:
        n = len(self.people)
        keys = [self.released[key] for key in self.people.keys]
        return NoisyFile(
            np.column_stack(keys) if keys else np.empty((n, 0), dtype=np.int64),
            [transition(s.size, s.amplitude, edge=s.edge) for s in self.noises.values()],
            self.confidential,
            confidential_size=self._channel.shape[0],
        )

    @cached_property
    def _channel(self) -> NDArray[np.float64]:
        return channel(transition(self.own.size, self.own.amplitude, edge=self.own.edge))

    def of_classes(self, classes: Classes) -> Posteriors:
        columns = [self.people.keys.index(key) for key in classes.known]
        weights = linkage(classes.key_codes, self._file, known=columns)
        return Posteriors(classes, self.people.values, weights, self._channel)

    def sweep(self, *, min_size: int = 0, max_size: int | None = None) -> Iterator[Posteriors]:
        keys = self.people.keys
        largest = largest_size(len(keys), min_size=min_size, max_size=max_size)
        subsets = [s for size in range(min_size, largest + 1) for s in combinations(range(len(keys)), size)]
        original = np.empty((len(self.people), len(keys)), dtype=np.int64)
        for column, key in enumerate(keys):
            original[:, column] = self.people.key_codes(key)
        for found in sweep(original, self._file, subsets=subsets):
            classes = self.people.classes([keys[i] for i in found.known])
            yield Posteriors(classes, self.people.values, found.weights, self._channel)


@dataclass(frozen=True, eq=False)
class NoisyIntervals(GroupedRelease):
    """The noisy file, before an intruder who knows only how far noise reaches."""

    noises: dict[str, _Noise] = field(repr=False)
    own: _Noise = field(repr=False)
    released: dict[str, NDArray[np.int64]] = field(repr=False)

    @property
    def table(self) -> Any:
        return _noisy_table(self.people, self.noises, self.own, self.released, self.group)


def _even_step(levels: Any) -> float | None:
    """The step of numbers on an even grid; None for anything else."""
    if any(isinstance(level, bool) or not isinstance(level, (int, float)) for level in levels):
        return None
    steps = np.diff(np.asarray(levels, dtype=np.float64))
    if len(steps) == 0 or not np.allclose(steps, steps[0], rtol=1e-9, atol=0):
        return None
    return float(steps[0])


def _noisy_table(
    people: Microdata,
    noises: dict[str, _Noise],
    own: _Noise,
    released: dict[str, NDArray[np.int64]],
    confidential: NDArray[np.integer[Any]],
) -> Any:
    columns: dict[str, Any] = {}
    for name, noise, codes in (
        *((key, noises[key], released[key]) for key in people.keys),
        (people.confidential, own, confidential),
    ):
        if noise.edge == "extend":
            columns[name] = _grown(people.decode(name, np.arange(noise.size)).to_numpy(), noise)[codes]
        else:
            columns[name] = people.decode(name, codes)
    return people.like(columns)


def _grown(levels: NDArray[Any], noise: _Noise) -> NDArray[Any]:
    """The grid with M/2 more steps at both ends; the levels themselves stay as they are, to the last bit."""
    beyond = np.arange(1, noise.amplitude // 2 + 1) * (levels[1] - levels[0])
    return np.concatenate([levels[0] - beyond[::-1], levels, levels[-1] + beyond])
