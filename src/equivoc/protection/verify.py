"""Checks a certificate against the people and the protected file: what holds, and what does not."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from equivoc.data.microdata import Microdata
from equivoc.errors import InputError
from equivoc.protection.certificate import FIGURES, Facts, digest_of, read_certificate
from equivoc.protection.judging import (
    FileQuestion,
    MadeRelease,
    check_makes_a_file,
    make_release,
    release_figures,
    riskier_outcomes,
    row_order,
)
from equivoc.protection.protected_file import (
    as_published,
    found_table,
    kept_columns,
    published_table,
    read_back,
    read_table,
    sha256_of,
)
from equivoc.requests.described_people import read_described
from equivoc.requirements.requirement import requirements
from equivoc.techniques.notation import technique_from
from equivoc.techniques.technique import Technique
from equivoc.text import counted, figure

if TYPE_CHECKING:
    import pyarrow as pa

    from equivoc.assessment.assessment import Assessment

NEARLY = 1e-4
"""Figures that differ by a smaller share are the same: machines round differently."""
NOTHING = 1e-6
"""Figures below this are the same as 0."""
ANY_SEED = 0
"""For techniques that draw nothing at random."""


@dataclass(frozen=True)
class Check:
    """One thing that was checked."""

    about: str
    holds: bool | None
    """None: it could not be checked."""
    sentence: str


@dataclass(frozen=True)
class Verification:
    """What was checked of a certificate."""

    checks: tuple[Check, ...]

    @property
    def holds(self) -> bool:
        """True if nothing that was checked is wrong."""
        return not self.problems

    @property
    def problems(self) -> list[str]:
        """What does not hold, one sentence each."""
        return [check.sentence for check in self.checks if check.holds is False]


def verify(
    certificate: str | Path,
    people: str | Path | Microdata,
    protected: str | Path,
    *,
    seed: int | None = None,
    hierarchy: Mapping[str, Path] | None = None,
) -> Verification:
    """Compute again what a certificate says: the file's hash, the figures, the requirements, and the release itself.

    ``people`` is the original file, read as the certificate says, or a Microdata. The release can be made again if
    nothing in it is random, or if the seed is in the certificate or given. ``hierarchy`` names the files of hierarchies
    of confidential columns, by column; without it they are looked for beside the people and the certificate.
    """
    file = Path(certificate)
    facts = read_certificate(file)
    technique = technique_from(facts["technique"]["notation"])
    check_makes_a_file(technique)
    if not isinstance(people, Microdata):
        folders = [Path(people).parent, file.parent]
        people = read_described(people, facts["people"], hierarchy=hierarchy, folders=folders)
    elif [*people.attributes] != [each["name"] for each in facts["people"]["confidential"]]:
        raise InputError(
            f"people have the confidential columns {', '.join(people.attributes)}, the certificate others."
        )
    return Verification(tuple(_checks(facts, technique, people, Path(protected), seed)))


def _checks(
    facts: Facts, technique: Technique, people: Microdata, path: Path, seed: int | None
) -> Iterator[Check]:
    intact = digest_of(facts) == facts["digest"]
    yield _check(
        "certificate",
        intact,
        "The certificate's content fits its digest.",
        "The certificate was edited: its content does not fit its digest.",
    )
    if technique.content != facts["technique"]["content"]:
        yield Check("technique", False, "The files that the technique names are not those it was made with.")
    same = sha256_of(path) == facts["file"]["sha256"]
    yield _check(
        "file",
        same,
        f"{path.name} has the certificate's SHA-256: it was not changed.",
        f"{path.name} was changed: it does not have the certificate's SHA-256.",
    )
    expected, left_out = facts["people"]["records"], facts["people"]["left_out"]
    as_many = (len(people), people.dropped) == (expected, left_out)
    yield _check(
        "people",
        as_many,
        f"There are {_people(len(people), people.dropped)}, as the certificate says.",
        f"These are other people: there are {_people(len(people), people.dropped)}, but the certificate is about "
        f"{_people(expected, left_out)}.",
    )
    question = FileQuestion(
        people.known_keys(facts["assessment"]["known"]),
        facts["assessment"]["prior"],
        facts["assessment"]["intruder"],
        facts["assessment"]["eps"],
        requirements(dict.fromkeys(each["requirement"] for each in facts["requirements"])),
    )
    read, wrong = None, []
    try:
        table = read_table(path, escaped=facts["file"]["escaped"])
        wrong = list(_shape(facts, table))
        read = question.assessed(read_back(people, technique, table))
        wrong += _figures(facts, read, "file")
    except InputError as mistake:
        wrong.append(
            f"The file does not fit {technique.notation} and these people: {str(mistake).rstrip('.')}."
        )
    if wrong and intact and same and as_many:
        wrong.append(
            "The certificate and the file are as they were written, so these are probably other people."
        )
    yield _check("figures of the file", not wrong, "The figures of the file are right.", " ".join(wrong))
    yield from _release(facts, technique, people, path, question, seed)
    if read is not None:
        yield _requirements(facts, read, question)


def _people(records: int, left_out: int) -> str:
    without = f", and {left_out:,} more were left out because a confidential value is missing"
    return f"{counted(records, 'person')}{without if left_out else ''}"


def _check(about: str, holds: bool, if_so: str, if_not: str) -> Check:
    return Check(about, holds, if_so if holds else if_not)


def _shape(facts: Facts, table: pa.Table) -> Iterator[str]:
    if table.column_names != facts["file"]["columns"]:
        yield f"The file has the columns {', '.join(table.column_names)}, not those of the certificate."
    if table.num_rows != facts["file"]["rows"]:
        yield f"The file has {table.num_rows:,} rows, but the certificate says {facts['file']['rows']:,}."


def _figures(facts: Facts, results: Mapping[str, Assessment], which: str) -> Iterator[str]:
    """The figures that are not what the certificate says."""
    for attribute, result in results.items():
        said, found = facts["figures"][attribute][which], release_figures(result)
        for name in FIGURES:
            if not _same(said[name], found[name]):
                difference = f"the certificate says {_shown(said[name])}, but it is {_shown(found[name])}"
                yield f"{name} of {attribute}: {difference}."
        if said["intruder"] != found["intruder"]:
            yield (
                f"The intruder of {attribute}: the certificate says {said['intruder']}, but it is {found['intruder']}."
            )


def _same(one: float | None, other: float | None) -> bool:
    if one is None or other is None:
        return one is other
    return math.isclose(one, other, rel_tol=NEARLY, abs_tol=NOTHING)


def _shown(value: float | None) -> str:
    return "none" if value is None else figure(value)


def _requirements(facts: Facts, read: Mapping[str, Assessment], question: FileQuestion) -> Check:
    """Each requirement is judged again by the riskier of the file's figure and the recorded one of the release."""
    recorded = facts["requirements"]
    wrong = []
    for each in riskier_outcomes(read, read, question.require):
        held, name = each.outcome, each.outcome.attribute
        said = [r for r in recorded if r["attribute"] == name and r["requirement"] == held.requirement.text]
        if len(said) != 1:
            wrong.append(f"{held.text} for {name} is not in the certificate once.")
            continue
        one = said[0]
        if not _same(one["file"], each.file):
            wrong.append(
                f"{held.text} for {name}: the certificate says {_shown(one['file'])}, but it is {_shown(each.file)}."
            )
        of_release = one["release"] is None or held.requirement.keeps(one["release"])
        if one["meets"] != (held.meets and of_release):
            wrong.append(
                f"{held.text} for {name}: the certificate says it is {_met(one['meets'])}, but it is not so."
            )
    if facts["meets"] != all(each["meets"] for each in recorded):
        wrong.append("The certificate's verdict on all requirements does not follow from its own list.")
    sentence = (
        "All requirements are met."
        if facts["meets"]
        else "Not all requirements are met, as the certificate says."
    )
    return _check(
        "requirements", not wrong, sentence if recorded else "There are no requirements.", " ".join(wrong)
    )


def _met(meets: bool) -> str:
    return "met" if meets else "not met"


def _release(
    facts: Facts,
    technique: Technique,
    people: Microdata,
    path: Path,
    question: FileQuestion,
    seed: int | None,
) -> Iterator[Check]:
    """The release made again: its file and its figures."""
    held = None if facts["seed"] is None else int(facts["seed"])
    if technique.private_noise:
        if seed is not None:
            raise InputError(
                f"{technique.name} has no seed: its noise came from the operating system; leave it out."
            )
        yield Check(
            "release", None, "The release cannot be made again: its noise came from the operating system."
        )
        return
    used = held if seed is None else seed
    if used is None and technique.random:
        yield Check(
            "release", None, "The release was not made again: its seed is not in the certificate; give it."
        )
        return
    if seed is not None and held is not None and seed != held:
        yield Check("seed", False, "The seed that is given is another one than the certificate's.")
    by = technique.notation if used is None else f"{technique.notation} with {_seed_named(seed)}"
    try:
        made = make_release(people, technique, ANY_SEED if used is None else used)
        different = _differing_rows(facts, people, path, made, used)
    except InputError as mistake:
        yield Check("release", False, f"The release cannot be made again: {str(mistake).rstrip('.')}.")
        return
    yield _check(
        "release",
        not different,
        f"The file is what {by} makes of these people.",
        f"The file is not what {by} makes of these people: {different}. {_likely(used)}",
    )
    wrong = list(_figures(facts, question.assessed(made.releases), "release"))
    yield _check(
        "figures of the release", not wrong, "The figures of the release are right.", " ".join(wrong)
    )


def _seed_named(seed: int | None) -> str:
    return "the certificate's seed" if seed is None else "this seed"


def _likely(used: int | None) -> str:
    return (
        "Its cells or the people were changed."
        if used is None
        else "The seed, the people or cells are others."
    )


def _differing_rows(facts: Facts, people: Microdata, path: Path, made: MadeRelease, seed: int | None) -> str:
    """How the file differs from the release written again; "" if it does not. Without a seed, rows in any order."""
    file = facts["file"]
    kept = kept_columns(people, file["kept"], as_text=file["format"] == "csv")
    shuffled = file["order"] == "random"
    order = row_order(len(made.table), seed) if shuffled and seed is not None else None
    table = published_table(made, kept, order)
    wanted = as_published(table, file["format"], escaped=file["escaped"])
    found = found_table(path, file["format"], escaped=file["escaped"])
    if found.column_names != wanted.column_names:
        return "the columns differ"
    if found.num_rows != wanted.num_rows:
        return f"it has {found.num_rows:,} rows, not {wanted.num_rows:,}"
    if found.schema.types != wanted.schema.types:
        return "the columns have other types"
    if shuffled and seed is None:
        by = [(name, "ascending") for name in found.column_names]
        found, wanted = found.sort_by(by), wanted.sort_by(by)
    rows = _unequal_rows(found, wanted)
    return f"{rows:,} of {found.num_rows:,} rows differ" if rows else ""


def _unequal_rows(found: pa.Table, wanted: pa.Table) -> int:
    import numpy as np
    import pyarrow.compute as pc

    unequal: Any = np.zeros(found.num_rows, dtype=bool)
    for name in found.column_names:
        one, other = found.column(name), wanted.column(name)
        different = pc.fill_null(pc.not_equal(one, other), False)
        unequal |= different.to_numpy() | (one.is_null().to_numpy() != other.is_null().to_numpy())
    return int(unequal.sum())
