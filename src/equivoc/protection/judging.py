"""The figures of a protected file, as made and as read again, and the requirements judged by the riskier of both."""

from __future__ import annotations

import secrets
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from equivoc.assessment.assess import assess
from equivoc.assessment.assessment import Assessment
from equivoc.data.microdata import Microdata
from equivoc.data.tables import open_table
from equivoc.errors import InputError
from equivoc.protection.certificate import FIGURES, rounded
from equivoc.releases.joint_release import joint_release
from equivoc.releases.linked_release import LinkedRelease
from equivoc.releases.release import Release
from equivoc.requirements.outcome import Outcome, figure_value, outcome, used_eps, why_not
from equivoc.requirements.requirement import Requirement
from equivoc.techniques.query_restriction import QueryRestriction
from equivoc.techniques.released_file import ReleasedFile
from equivoc.techniques.technique import Randomness, Technique

if TYPE_CHECKING:
    import pyarrow as pa


@dataclass(frozen=True)
class FileQuestion:
    """The intruder for whom the file is assessed, and the requirements."""

    known: tuple[str, ...]
    prior: str
    intruder: str
    eps: Mapping[str, Sequence[float] | None]
    """The tolerances of each attribute; None: the default ones."""
    require: tuple[Requirement, ...]

    def assessed(self, releases: Mapping[str, Release]) -> dict[str, Assessment]:
        """The assessment of each attribute's release."""
        return {
            name: assess(
                release.people,
                release,
                known=list(self.known),
                eps=self.eps[name],
                prior=self.prior,
                intruder=self.intruder,
                require=self.require,
            )
            for name, release in releases.items()
        }


@dataclass(frozen=True)
class Judged:
    """A requirement of one attribute: the figure of the release as made, that of the file, and the riskier of both."""

    release: float | None
    file: float | None
    outcome: Outcome

    @property
    def facts(self) -> dict[str, Any]:
        """As a certificate holds it."""
        found = self.outcome
        return {
            "attribute": found.attribute,
            "requirement": found.requirement.text,
            "eps": found.eps,
            "release": rounded(self.release),
            "file": rounded(self.file),
            "limit": found.limit,
            "meets": found.meets,
            "missed_by": rounded(found.missed_by),
            "reason": found.reason,
        }


def riskier_outcomes(
    made: Mapping[str, Assessment], read: Mapping[str, Assessment], require: Sequence[Requirement]
) -> list[Judged]:
    """Every requirement for every attribute, by the figure that is nearer to the wrong side of the limit."""
    return [_judged(name, made[name], read[name], requirement) for name in made for requirement in require]


def _judged(name: str, made: Assessment, read: Assessment, requirement: Requirement) -> Judged:
    values = figure_value(made, requirement), figure_value(read, requirement)
    found = [value for value in values if value is not None]
    worse = max if requirement.comparison == "<=" else min
    eps = used_eps(made, requirement)
    reason = why_not(made, requirement)
    held = outcome(
        requirement,
        [worse(found) if found else None],
        eps=eps,
        reason=reason,
        attribute=name,
        nothing_released=made.nothing_released.figure(requirement.at(eps)),
    )
    return Judged(*values, held)


def release_figures(result: Assessment) -> dict[str, Any]:
    """The figures of a release as a certificate holds them, and the intruder and tolerance that they are for."""
    found = result.drawn_figures[0] | {"k": result.released_anonymity.k}
    return {
        "intruder": result.intruder,
        "eps": result.hit_eps,
        **{name: rounded(found[name]) for name in FIGURES},
    }


# Makes the release that is published, with all confidential attributes.

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
