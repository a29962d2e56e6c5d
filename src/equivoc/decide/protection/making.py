"""Makes the release that is published, with all confidential attributes."""

from __future__ import annotations

import secrets
from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from equivoc.data.microdata import Microdata
from equivoc.data.reading.tables import open_table
from equivoc.errors import InputError
from equivoc.intruder.joint_release import joint_release
from equivoc.intruder.linked_release import LinkedRelease
from equivoc.intruder.release import Release
from equivoc.techniques.query_restriction import QueryRestriction
from equivoc.techniques.released_file import ReleasedFile
from equivoc.techniques.technique import Randomness, Technique

if TYPE_CHECKING:
    import pyarrow as pa

SEED_BITS = 128
"""The length of a seed that is drawn: too long to be found by trying."""
ROW_ORDER = 2**32 - 1
"""The stream of random numbers, of those that a seed gives, that the order of rows is drawn from."""


def check_makes_a_file(technique: Technique) -> None:
    """InputError if the technique releases no file of its own."""
    if isinstance(technique, QueryRestriction):
        raise InputError(
            f"{technique.name} answers queries and makes no file; choose another technique, such as "
            "noise-addition:percent=20."
        )
    if isinstance(technique, ReleasedFile):
        raise InputError(
            f"{technique.name} reads a file that another tool made and makes none; choose the technique that should "
            "make it."
        )


@dataclass(frozen=True, eq=False)
class MadeRelease:
    """The release of each confidential attribute, and the file that has all of them."""

    releases: Mapping[str, Release]
    table: pa.Table
    """The columns to publish, in the order of the original's records."""
    origins: NDArray[np.int64] | None
    """The number of the original record of each row; None if rows are not records."""


def drawn_seed() -> int:
    """A seed from the operating system's randomness."""
    return secrets.randbits(SEED_BITS)


def make_release(people: Microdata, technique: Technique, seed: int | None) -> MadeRelease:
    """The release to publish; ``seed`` is None for techniques whose noise comes from the operating system.

    Several confidential attributes: a technique that treats whole records draws once; any other draws each attribute
    from a stream of its own, so that one attribute's noise tells nothing of another's. All have the first one's keys.
    """
    check_makes_a_file(technique)
    releases: dict[str, Release] = {}
    for number, name in enumerate(people.attributes):
        releases[name] = technique.release(people.of(name), _randomness(technique, seed, number))
    first = next(iter(releases.values()))
    if len(releases) > 1:
        if first.tabulated:
            raise InputError(
                f"{technique.name} makes a file for one confidential attribute: which combinations of several occur "
                f"depends on the data; give one of {', '.join(releases)}."
            )
        if isinstance(first, LinkedRelease) and not technique.whole_records:
            releases = {
                name: replace(release, keys=first.keys) if isinstance(release, LinkedRelease) else release
                for name, release in releases.items()
            }
        _check_joint(people, technique, releases)
    return MadeRelease(releases, _table(people, releases), None if first.tabulated else first.origins)


def row_order(rows: int, seed: int | None) -> NDArray[np.int64]:
    """A random order of rows: from the seed, or from the operating system's randomness if there is none."""
    source = np.random.SeedSequence(drawn_seed() if seed is None else seed, spawn_key=(ROW_ORDER,))
    return np.asarray(np.random.default_rng(source).permutation(rows))


def _randomness(technique: Technique, seed: int | None, number: int) -> Randomness:
    # The first attribute's release is the one that `assess` makes from the same seed.
    if seed is None or number == 0 or technique.whole_records:
        return seed
    return np.random.default_rng(np.random.SeedSequence(seed, spawn_key=(number,)))


def _check_joint(people: Microdata, technique: Technique, releases: Mapping[str, Release]) -> None:
    """InputError if the technique has no joint release of the attributes."""
    if technique.whole_records:
        return
    try:
        joint_release(people.together, people, releases)
    except InputError as refused:
        raise InputError(
            f"{technique.notation} cannot make one file with {' and '.join(releases)}: {refused}"
        ) from None


def _table(people: Microdata, releases: Mapping[str, Release]) -> pa.Table:
    """The keys of the first release, and the confidential column of each."""
    import pyarrow as pa

    columns: dict[str, pa.ChunkedArray] = {}
    for name, release in releases.items():
        shown = open_table(release.table)
        # Survey weights are not protected: they are published only if the caller asks to keep them.
        wanted = [column for column in shown.names if column in (*people.keys, name) or release.tabulated]
        found = pa.Table.from_batches(list(shown.batches(wanted)))
        columns |= {column: found.column(column) for column in wanted if column not in columns}
    return pa.table(columns)
