"""Splits a released file into folds, and scores models on the records left out."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
import numpy.typing as npt

from equivoc.intruder.beliefs.class_chain import ClassChain, telling

Floats = npt.NDArray[np.float64]
Ints = npt.NDArray[np.int64]
FOLDS = 5
WORTH = 1e-4
"""Bits per record: a smaller gain counts as 0."""


@dataclass(frozen=True)
class Settings:
    """The chosen settings: a chain's keys, strengths and steps, or a forest's leaf size, weight and steps."""

    model: str = "prior"
    """"prior" (nothing to learn), "chain" or "forest"."""
    order: tuple[int, ...] = ()
    strengths: tuple[float, ...] = (64.0,)
    """For a chain: one for the whole file, then one for each key."""
    leaf: int = 0
    share: float = 0.0
    steps: int = 0
    score: float = -np.inf
    """Mean log2 likelihood of held-out records, in bits per record; larger is better."""


def score_of(settings: Settings) -> float:
    """Larger is better."""
    return settings.score


@dataclass(frozen=True, eq=False)
class HeldOutFile:
    keys: Ints
    symbols: Ints
    fold: Ints
    likelihood: Floats
    prior: Floats
    seed: int

    def part(self, records: Ints) -> HeldOutFile:
        return replace(self, keys=self.keys[records], symbols=self.symbols[records], fold=self.fold[records])

    @property
    def informative(self) -> Floats:
        """1 for each record whose symbol gives information about the value, else 0: the weights of the score."""
        return telling(self.likelihood)[self.symbols].astype(np.float64)

    def chain(self, order: Sequence[int]) -> ClassChain:
        return ClassChain.of(self.keys, self.symbols, self.likelihood, self.prior, order=order)


def mean_log(evidence: Floats, weights: Floats) -> float:
    """Mean log2 of the evidence; impossible symbols are ignored, because no model can explain them."""
    fits = (evidence > 0) & (weights > 0)
    return float(weights[fits] @ np.log2(evidence[fits]) / max(weights.sum(), 1.0))


def score_of_prior(file: HeldOutFile) -> Settings:
    """The settings that use the given prior without learning."""
    evidence = (file.likelihood @ file.prior)[file.symbols]
    return Settings(score=mean_log(evidence, file.informative))
