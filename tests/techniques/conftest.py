"""A small file with ties, nulls and a value that nobody has, and a plain view of posteriors."""

from __future__ import annotations

import random
from typing import Any

import pyarrow as pa
import pytest

from equivoc.data.microdata import Microdata


@pytest.fixture(scope="session")
def domain() -> list[int]:
    """The values that pay can take. Nobody earns 70."""
    return list(range(10, 80, 10))


@pytest.fixture(scope="session")
def records() -> list[dict[str, Any]]:
    """Forty people, one dict each: a numeric key, one with nulls, one of text."""
    draw = random.Random(20)
    return [
        {
            "age": draw.choice([20, 21, 22, 23, 24]),
            "sex": draw.choice(["F", "F", "M", None]),
            "job": draw.choice(["cook", "judge", "nurse"]),
            "pay": draw.choice([10, 10, 20, 30, 40, 50, 60]),
        }
        for _ in range(40)
    ]


@pytest.fixture(scope="session")
def people(records, domain) -> Microdata:
    return Microdata(
        pa.Table.from_pylist(records), confidential="pay", keys=["sex", "age", "job"], domain=domain
    )


@pytest.fixture(scope="session")
def beliefs():
    """From posteriors to a dict: the class's key values, by the keys' names ascending, and its row."""

    def beliefs(post) -> dict[tuple[Any, ...], list[float]]:
        levels = [post.classes.people.levels(name) for name in post.known]
        by_name = sorted(range(len(post.known)), key=lambda k: post.known[k])
        keys = [tuple(levels[k][codes[k]] for k in by_name) for codes in post.classes.key_codes]
        matrix = post.probabilities
        rows = matrix.toarray() if hasattr(matrix, "toarray") else matrix
        assert len(set(keys)) == len(rows) == len(post)
        return dict(zip(keys, rows.tolist(), strict=True))

    return beliefs


@pytest.fixture(scope="session")
def classes_of():
    """The records of each class, found by reading them one by one; keyed as `beliefs` is."""

    def classes_of(records, known) -> dict[tuple[Any, ...], list[int]]:
        found: dict[tuple[Any, ...], list[int]] = {}
        for number, record in enumerate(records):
            found.setdefault(tuple(record[name] for name in sorted(known)), []).append(number)
        return found

    return classes_of


@pytest.fixture(scope="session")
def assert_same():
    """The same classes, and the same probabilities but for rounding."""

    def assert_same(found, expected, *, rel: float = 1e-12) -> None:
        assert found.keys() == expected.keys()
        for key in expected:
            assert found[key] == pytest.approx(expected[key], rel=rel, abs=1e-12), key

    return assert_same
