"""Writes the protected file and its certificate."""

from __future__ import annotations

import platform
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field, fields
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import Any

from equivoc.checks import check_choice, is_whole
from equivoc.data.microdata import Microdata, check_people
from equivoc.errors import InputError
from equivoc.files import check_outputs, replacing_together
from equivoc.intruder.strengths import INTRUDERS
from equivoc.protection.certificate import FORMAT, VERSION, certificate_text, with_digest
from equivoc.protection.judging import (
    SEED_BITS,
    FileQuestion,
    Judged,
    MadeRelease,
    check_makes_a_file,
    drawn_seed,
    make_release,
    release_figures,
    riskier_outcomes,
    row_order,
)
from equivoc.protection.protected_file import (
    file_format,
    kept_columns,
    published_table,
    read_back,
    read_table,
    sha256_of,
    write_table,
)
from equivoc.releases.release import Release
from equivoc.requests.described_people import described_people, hierarchy_files
from equivoc.requirements.requirement import Requirement, requirements
from equivoc.techniques.technique import Technique
from equivoc.techniques.unprotected import Unprotected
from equivoc.version import __version__

PRIORS = ("marginal", "uniform")
LIBRARIES = ("numpy", "pandas", "pyarrow", "duckdb", "opendp")
GUESSABLE = 1 << 63
"""Seeds below this can be found by trying, or are chosen by a person."""
WITHHELD = "a seed, withheld"
SHOWN = "a seed, in this certificate"
OPERATING_SYSTEM = "the operating system, through OpenDP"


@dataclass(frozen=True, eq=False)
class Protected:
    """A protected file and its certificate."""

    path: Path
    """The protected file."""
    certificate_path: Path
    written: bool
    """False if a requirement is not met, so that neither file was written."""
    certificate: dict[str, Any] = field(repr=False)
    """The content of the certificate."""
    judged: tuple[Judged, ...] = field(repr=False)
    """Each requirement for each attribute."""
    warnings: tuple[str, ...]
    """What the owner should know before publishing the file, one sentence each."""

    @property
    def meets(self) -> bool:
        """True if all requirements are met."""
        return all(each.outcome.meets for each in self.judged)


def protect(
    people: Microdata,
    technique: Technique,
    out: str | Path,
    *,
    known: Sequence[str] | None = None,
    seed: int | None = None,
    show_seed: bool = False,
    keep: Sequence[str] = (),
    keep_order: bool = False,
    require: Sequence[str | Requirement] = (),
    eps: Any = None,
    prior: str = "marginal",
    intruder: str = "strongest",
    certificate: str | Path | None = None,
    escape: bool = True,
    write_anyway: bool = False,
) -> Protected:
    """Write the file that ``technique`` makes of the people, and a certificate that says how safe it is.

    ``out`` ends in .csv or .parquet; the certificate is ``certificate``, or beside it (``out.certificate.json``). The
    file has the keys and the confidential columns, and the columns in ``keep``, which are not protected. Rows are in
    random order unless ``keep_order``. If a requirement is not met, nothing is written unless ``write_anyway``.

    The seed is drawn from the operating system's randomness unless given. It is nowhere in the output unless
    ``show_seed``: with it, random changes can be undone. Differentially private noise is OpenDP's and has no seed.

    The figures are those of the release and those of the written file read again, for an intruder with ``known``,
    ``prior``, ``intruder`` and ``eps`` as in `assess`; a requirement is judged by the riskier of both.
    """
    check_people("people", people)
    people.check_confidential()
    if people.drawn_from is not None:
        raise InputError("people is a sample; protect needs all records: read them without sample.")
    if not isinstance(technique, Technique):
        raise InputError(f"technique is {technique!r}; give a technique, such as Sampling(0.1).")
    check_makes_a_file(technique)
    seed = _checked_seed(technique, seed)
    check_choice("prior", prior, PRIORS)
    check_choice("intruder", intruder, INTRUDERS)
    path = Path(out)
    beside = path.with_suffix(".certificate.json") if certificate is None else Path(certificate)
    inputs = [people.source, *hierarchy_files(people)]
    file_format(path)
    check_outputs([path, beside], inputs=inputs)
    by_name = isinstance(eps, Mapping)
    question = FileQuestion(
        people.known_keys(known),
        prior,
        intruder,
        {name: eps.get(name) if by_name else eps for name in people.attributes},
        requirements(require),
    )
    kept = kept_columns(people, list(keep), as_text=file_format(path) == "csv")
    used = drawn_seed() if seed is None and not technique.private_noise else seed
    made = make_release(people, technique, used)
    order = None if keep_order or made.origins is None else row_order(len(made.table), used)
    table = published_table(made, kept, order)
    own = question.assessed(made.releases)
    with suppress(_NotToBePublished), replacing_together([path, beside], private=True) as (file, words):
        write_table(table, file, escape=escape)
        read = question.assessed(_read_again(people, technique, file, escape=escape))
        held = riskier_outcomes(own, read, question.require)
        facts = with_digest(
            {
                "format": FORMAT,
                "version": VERSION,
                "made_with": _versions(),
                "technique": _technique_facts(technique),
                "people": described_people(people),
                "assessment": {
                    "known": list(question.known),
                    "prior": prior,
                    "intruder": intruder,
                    "eps": {name: list(result.eps) for name, result in own.items()},
                },
                "randomness": OPERATING_SYSTEM if used is None else SHOWN if show_seed else WITHHELD,
                "seed": str(used) if show_seed and used is not None else None,
                "file": {
                    "name": path.name,
                    "format": file_format(path),
                    "sha256": sha256_of(file),
                    "rows": table.num_rows,
                    "columns": table.column_names,
                    "kept": list(kept),
                    "order": "original" if order is None else "random",
                    "escaped": escape and file_format(path) == "csv",
                },
                "figures": {
                    name: {"release": release_figures(own[name]), "file": release_figures(read[name])}
                    for name in own
                },
                "requirements": [each.facts for each in held],
                "meets": all(each.outcome.meets for each in held),
            }
        )
        words.write_text(certificate_text(facts), encoding="utf-8")
        check_outputs([path, beside], inputs=inputs)
        if not (facts["meets"] or write_anyway):
            raise _NotToBePublished
    cautions = _warnings(made, technique, question.known, kept=list(kept), given=seed, shown=facts["seed"])
    warnings = tuple(dict.fromkeys((*(remark.sentence for remark in people.remarks), *cautions)))
    return Protected(path, beside, facts["meets"] or write_anyway, facts, tuple(held), warnings)


class _NotToBePublished(Exception):  # noqa: N818
    """A requirement is not met: what was written so far is removed."""


def _checked_seed(technique: Technique, seed: object) -> int | None:
    if seed is None:
        return None
    if technique.private_noise:
        raise InputError(
            f"{technique.name}: a seed is given, but noise that can be repeated is not private; leave it out, and the "
            "noise comes from the operating system's randomness."
        )
    if not (is_whole(seed) and 0 <= seed < 1 << SEED_BITS):
        raise InputError(f"the seed must be a whole number from 0 to 2^{SEED_BITS} − 1.")
    return int(seed)


def _read_again(people: Microdata, technique: Technique, file: Path, *, escape: bool) -> dict[str, Release]:
    """The releases that the written file holds."""
    try:
        return read_back(people, technique, read_table(file, escaped=escape and file_format(file) == "csv"))
    except InputError as mistake:
        raise InputError(
            f"the protected file cannot be read as it was made: {_clause(mistake)}. Nothing is written. Parquet keeps "
            "values that CSV does not."
        ) from None


def _clause(mistake: InputError) -> str:
    return str(mistake).rstrip(".")


def _technique_facts(technique: Technique) -> dict[str, Any]:
    return {
        "notation": technique.notation,
        "name": technique.name,
        "parameters": {each.name: _plain(getattr(technique, each.name)) for each in fields(technique)},
        "content": technique.content,
    }


def _plain(parameter: Any) -> Any:
    """A parameter as JSON can hold it: a number, a text, or the text of anything else."""
    return parameter if parameter is None or isinstance(parameter, (bool, int, float)) else str(parameter)


def _versions() -> dict[str, str]:
    found = {"equivoc": __version__, "python": platform.python_version()}
    for library in LIBRARIES:
        with suppress(PackageNotFoundError):
            found[library] = version(library)
    return found


def _warnings(
    made: MadeRelease,
    technique: Technique,
    known: Sequence[str],
    *,
    kept: Sequence[str],
    given: int | None,
    shown: str | None,
) -> tuple[str, ...]:
    """What the owner should know before publishing the file."""
    found = []
    if isinstance(technique, Unprotected):
        found.append("The file is not protected: it has the true values of every record.")
    if kept:
        found.append(
            f"{', '.join(kept)} {'is' if len(kept) == 1 else 'are'} published as in the original, with the same row: "
            "not protected, and not counted in the figures."
        )
    if shown is not None:
        found.append(
            "The certificate holds the seed: whoever has it can undo the random changes. Keep it to yourself."
        )
    elif given is not None and given < GUESSABLE:
        found.append(
            "A seed that is easy to guess undoes the random changes; leave it out when you make the file to publish."
        )
    if technique.private_noise:
        found.append(
            "The certificate's figures are computed from the original, without noise: the privacy budget covers the "
            "file, not the certificate."
        )
    for release in made.releases.values():
        found += release.notes(list(known))
    return tuple(found)
