"""The people of the stored figures, their kinds of attributes, and the techniques that protect them."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from functools import cache, partial
from typing import Any

import pandas as pd

import equivoc as eq

Making = Callable[[], Any]
WAGE, KEYS, JOB = "wage_per_hour", ["age", "sex", "education"], ["major_occupation", "sex"]


@cache
def shipped() -> pd.DataFrame:
    frame = eq.datasets.load("cps_hourly_workers")
    return frame.assign(weight=1 + frame.index % 7, major_occupation=frame["major_occupation"].str.strip())


def people(
    confidential: Any = WAGE, *, keys: Iterable[str] = KEYS, first: int = 0, **more: Any
) -> eq.Microdata:
    """Every eighth of the shipped people, 313 in all."""
    return eq.Microdata(shipped().iloc[first::8], confidential=confidential, keys=list(keys), **more)


workers = cache(partial(people, round_to=100))
others = cache(partial(people, round_to=100, first=4))
employees = cache(partial(people, keys=[*JOB, "major_industry"]))


@cache
def everyone(confidential: str | None = None) -> eq.Microdata:
    return eq.Microdata(shipped(), confidential=confidential, keys=KEYS)


@cache
def few() -> eq.Microdata:
    """Forty people with a small domain."""
    frame = shipped().head(40)
    pay = (frame[WAGE] // 300 * 3).clip(upper=30)
    return eq.Microdata(
        frame.assign(pay=pay), confidential="pay", keys=["age", "sex"], domain=range(0, 31, 3)
    )


@cache
def released(name: str) -> Any:
    return TECHNIQUES[name]().release(workers(), 1)


def file_of(name: str, **more: Any) -> Any:
    return eq.ReleasedFile(released(name).table, **more)


TENS = pd.DataFrame({"age": range(16, 91), "ten": [f"{age // 10}0s" for age in range(16, 91)], "any": "*"})
TECHNIQUES: Mapping[str, Making] = {
    "unprotected": eq.Unprotected,
    "sample of 10 %": partial(eq.Sampling, fraction=0.1),
    "sample of 50 %": partial(eq.Sampling, fraction=0.5),
    "sample, marginal prior": partial(eq.Sampling, fraction=0.2, prior="marginal"),
    "queries of 2": partial(eq.QueryRestriction, size=2),
    "queries of 8": partial(eq.QueryRestriction, size=8),
    "noise of 5 %": partial(eq.NoiseAddition, percent=5),
    "noise of 20 %": partial(eq.NoiseAddition, percent=20),
    "queries of 4, exact": partial(eq.QueryRestriction, size=4, belief="bayes"),
    "noise as printed": partial(eq.NoiseAddition, percent=20, belief="interval"),
    "noise, wrapped": partial(eq.NoiseAddition, percent=60, edge="wrap"),
    "PRAM of the value": partial(eq.PRAM, keep=0.5, on="confidential"),
    "PRAM of keys": partial(eq.PRAM, keep=0.8),
    "PRAM by a matrix": partial(eq.PRAM, matrix=[[0.9, 0.1], [0.2, 0.8]], on="sex"),
    "geometric noise of 1": partial(eq.GeometricNoise, epsilon=1),
    "geometric noise of 10": partial(eq.GeometricNoise, epsilon=10),
    "noisy table": partial(eq.NoisyTable, epsilon=2),
    "rounding": partial(eq.Rounding, base=500),
    "rounding at random": partial(eq.Rounding, base=300, method="random"),
    "date shift of 100": partial(eq.DateShift, days=100),
    "top coding": partial(eq.TopBottomCoding, high=1000),
    "top and bottom coding of age": partial(eq.TopBottomCoding, low=25, high=60, on="age"),
    "Mondrian": partial(eq.Generalisation, k=3),
    "hierarchies": partial(eq.Generalisation, k=3, hierarchies={"age": TENS}, suppress=0.2),
    "suppression of 3": partial(eq.Suppression, k=3),
    "suppression of 5": partial(eq.Suppression, k=5),
    "suppression of 5, any value": partial(eq.Suppression, k=5, missing_keys="any"),
    "swapping": partial(eq.Swapping, rate=0.3),
    "swapping of keys": partial(eq.Swapping, rate=0.3, on="keys"),
    "swapping within a window": partial(eq.Swapping, rate=1, window=10),
    "microaggregation": partial(eq.Microaggregation, size=5),
    "microaggregation, ordered": partial(eq.Microaggregation, size=5, belief="order"),
    "microaggregation, fast": partial(eq.Microaggregation, size=3, on=("age", WAGE), method="fast"),
    "microaggregation, MDAV": partial(eq.Microaggregation, size=4, on=("age", WAGE), method="mdav"),
    "file of noise": partial(file_of, "noise of 5 %"),
    "file of noise, nearest": partial(file_of, "noise of 5 %", matching="nearest"),
    "file of noise, probable": partial(file_of, "noise of 5 %", matching="probable"),
    "file of noise, stated": partial(file_of, "noise of 5 %", channel=eq.NoiseAddition(percent=5)),
    "generalised file, exact": partial(file_of, "Mondrian", matching="exact"),
}
GROUPS = {job: [job[0], "any"] for job in sorted(set(shipped()["major_occupation"]))}
OWNERS = ["Private", "Local government", "State government", "Federal government"]
KINDS: Mapping[str, Any] = {
    "number": eq.Number("weeks_worked", round_to=4),
    "ordered": eq.Ordered("class_of_worker", levels=OWNERS),
    "categories": eq.Categories("marital_status"),
    "tree": eq.Tree("major_occupation", GROUPS),
}
