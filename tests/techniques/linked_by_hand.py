"""Linkage in plain Python: every person with every released record, sets written out, fractions for distances."""

from __future__ import annotations

from fractions import Fraction
from math import prod
from typing import Any

AGES = [20, 21, 22, 23, 25, None]
JOBS = ["cook", "judge", "nurse"]
ZIPS = ["02138", "02139", "10001"]
KEYS = ["age", "job", "zip"]
LEVELS: dict[str, list[Any]] = {"age": AGES, "job": JOBS, "zip": ZIPS}
PAYS = [10, 20, 30, 50]

# Each symbol with what it stands for: members of the levels, or numbers that are none.
AGE_SYMBOLS: dict[Any, set[Any]] = {
    "20": {20},
    " 23 ": {23},
    "25.0": {25},
    "[20,22)": {20, 21},
    "(20,23]": {21, 22, 23},
    "[20, 23[": {20, 21, 22},
    "]20;22]": {21, 22},
    "[21,23]": {21, 22, 23},
    "20-22": {20, 21, 22},
    "21–25": {21, 22, 23, 25},
    ">=23": {23, 25},
    ">22": {23, 25},
    "<22": {20, 21},
    "≤ 21": {20, 21},
    "23+": {23, 25},
    "[22,inf)": {22, 23, 25},
    "(-inf,21]": {20, 21},
    "(,20]": {20},
    "2*": {20, 21, 22, 23, 25},
    "{20,25}": {20, 25},
    "{21, NA}": {21, None},
    "*": set(AGES),
    "NA": set(AGES),
    None: {None},
    "24": {24},
    "19.5": {Fraction(39, 2)},
    "40": {40},
}
JOB_SYMBOLS: dict[Any, set[Any]] = {
    "cook": {"cook"},
    "judge": {"judge"},
    "{cook,nurse}": {"cook", "nurse"},
    '{judge, "nurse"}': {"judge", "nurse"},
    "*": set(JOBS),
    "NA": set(JOBS),
    None: set(JOBS),
    "pilot": {"pilot"},
    "{cook,pilot}": {"cook", "pilot"},
    "**d**": {"judge"},
}
ZIP_SYMBOLS: dict[Any, set[Any]] = {
    "02138": {"02138"},
    "10001": {"10001"},
    "0213*": {"02138", "02139"},
    "02***": {"02138", "02139"},
    "1*": {"10001"},
    "*****": set(ZIPS),
    "99999": {"99999"},
}
SYMBOLS = {"age": AGE_SYMBOLS, "job": JOB_SYMBOLS, "zip": ZIP_SYMBOLS}


def held(key: str, record: dict[str, Any]) -> set[Any]:
    return SYMBOLS[key][record[key]]


def classes(people: list[dict[str, Any]], known: list[str]) -> dict[tuple[Any, ...], int]:
    found: dict[tuple[Any, ...], int] = {}
    for person in people:
        key = tuple(person[name] for name in known)
        found[key] = found.get(key, 0) + 1
    return found


def fits(
    value: tuple[Any, ...], record: dict[str, Any], known: list[str], levels: dict[str, list[Any]]
) -> Fraction:
    """Π [v ∈ s] / |s|, |s| counting levels of the original."""
    weight = Fraction(1)
    for name, v in zip(known, value, strict=True):
        if v not in held(name, record):
            return Fraction(0)
        weight /= max(len(held(name, record) & set(levels[name])), 1)
    return weight


def share(record: dict[str, Any], known: list[str], levels: dict[str, list[Any]]) -> Fraction:
    """Π 1/|s|, |s| counting levels of the original; 1 for a symbol without any."""
    weight = Fraction(1)
    for name in known:
        weight /= max(len(held(name, record) & set(levels[name])), 1)
    return weight


def distance(
    value: tuple[Any, ...], record: dict[str, Any], known: list[str], levels: dict[str, list[Any]]
) -> Fraction:
    total = Fraction(0)
    for name, v in zip(known, value, strict=True):
        members = held(name, record)
        if v in members:
            continue
        numbers = [Fraction(m) for m in members if m is not None] if name == "age" else []
        if v is None or not numbers:
            total += 1
            continue
        ages = [level for level in levels["age"] if level is not None]
        width = max(ages) - min(ages) or 1
        total += (min(abs(v - m) for m in numbers) / Fraction(width)) ** 2
    return total


def normalised(weights: list[Any], released: list[dict[str, Any]], pays: list[int]) -> list[float]:
    total = sum(weights)
    return [
        float(sum(w for w, r in zip(weights, released, strict=True) if r["pay"] == pay) / total)
        for pay in pays
    ]


def exact(
    value: tuple[Any, ...],
    released: list[dict[str, Any]],
    known: list[str],
    levels: dict[str, list[Any]],
    pays: list[int],
) -> list[float]:
    weights = [fits(value, record, known, levels) for record in released]
    return normalised(weights if any(weights) else [Fraction(1)] * len(released), released, pays)


def nearest(
    value: tuple[Any, ...],
    released: list[dict[str, Any]],
    known: list[str],
    levels: dict[str, list[Any]],
    pays: list[int],
) -> list[float]:
    away = [distance(value, record, known, levels) for record in released]
    weights = [
        share(record, known, levels) * (d == min(away)) for d, record in zip(away, released, strict=True)
    ]
    return normalised(weights, released, pays)


def probable(
    value: tuple[Any, ...],
    released: list[dict[str, Any]],
    known: list[str],
    m: dict[str, float],
    u: dict[str, float],
    pays: list[int],
) -> list[float]:
    weights = [
        float(share(record, known, LEVELS))
        * prod(
            m[name] / u[name] if v in held(name, record) else (1 - m[name]) / (1 - u[name])
            for name, v in zip(known, value, strict=True)
        )
        for record in released
    ]
    return normalised(weights, released, pays)


def rates(
    people: list[dict[str, Any]], released: list[dict[str, Any]], keys: list[str], steps: int
) -> tuple[dict[str, float], dict[str, float]]:
    """m ≥ u by EM over all pairs, listed one by one; matches are a share 1/max(n, n′) of them."""

    def possible(p: float) -> float:
        return min(max(p, 1e-9), 1 - 1e-9)

    pairs = [[person[k] in held(k, record) for k in keys] for person in people for record in released]
    share = possible(1 / max(len(people), len(released)))
    u = [possible(sum(pair[k] for pair in pairs) / len(pairs)) for k in range(len(keys))]
    m = [max(0.9, rate) for rate in u]
    for _ in range(steps):
        matched = 0.0
        agreed = [0.0] * len(keys)
        for pair in pairs:
            of_match = share * prod(m[k] if a else 1 - m[k] for k, a in enumerate(pair))
            of_other = (1 - share) * prod(u[k] if a else 1 - u[k] for k, a in enumerate(pair))
            chance = of_match / (of_match + of_other)
            matched += chance
            for k, a in enumerate(pair):
                agreed[k] += chance * a
        m = [max(possible(each / matched), rate) for each, rate in zip(agreed, u, strict=True)]
    return dict(zip(keys, m, strict=True)), dict(zip(keys, u, strict=True))
