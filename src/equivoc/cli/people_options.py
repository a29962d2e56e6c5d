"""The options by which commands are told about a file of people."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from equivoc.errors import InputError

if TYPE_CHECKING:
    from equivoc.data.microdata import Microdata
    from equivoc.study.assess import Assessment
    from equivoc.techniques.technique import Technique

PeopleFile = Annotated[Path, typer.Argument(help="The original file: CSV with a header, or Parquet.")]
Confidential = Annotated[str, typer.Option(help="The confidential column (numbers).")]
Keys = Annotated[str, typer.Option(help="Columns that an intruder may know, separated by commas.")]
Domain = Annotated[
    str | None,
    typer.Option(help="Values the confidential attribute can take: 10:250:10 (low:high:step) or 10,20,50."),
]
RoundTo = Annotated[float | None, typer.Option(help="Round confidential values to the nearest multiple.")]
Weights = Annotated[str | None, typer.Option(help="A column of survey weights.")]
DropMissing = Annotated[bool, typer.Option(help="Leave out rows without a confidential value.")]

TechniqueNotation = Annotated[
    str | None, typer.Option(help="Such as unprotected (default), sampling:fraction=0.1.")
]
Known = Annotated[
    str | None,
    typer.Option(help="The keys that the intruder knows, separated by commas; all unless given."),
]
Eps = Annotated[
    str | None, typer.Option(help="Tolerances for hit rates, in the confidential attribute's unit: 5,10.")
]
ReleaseFile = Annotated[
    Path | None,
    typer.Option("--release", help="A released file to assess instead of a technique: masked or synthetic."),
]
Matching = Annotated[
    str | None,
    typer.Option(help="How records of --release are linked to people: exact (default), nearest, probable."),
]
ControlFile = Annotated[
    Path | None, typer.Option("--control", help="A file of people who were not in the data, for comparison.")
]
Seed = Annotated[int, typer.Option(help="The same seed makes the same release.", min=0)]


def people_from(
    path: Path,
    *,
    confidential: str,
    keys: str,
    domain: str | None,
    round_to: float | None,
    weights: str | None,
    drop_missing: bool,
) -> Microdata:
    """The people that the options describe."""
    from equivoc.data.microdata import read

    return read(
        path,
        confidential=confidential,
        keys=names(keys),
        domain=None if domain is None else domain_values(domain),
        round_to=round_to,
        weights=weights,
        drop_missing=drop_missing,
    )


def assessment_from(
    path: Path,
    *,
    confidential: str,
    keys: str,
    domain: str | None,
    round_to: float | None,
    weights: str | None,
    drop_missing: bool,
    technique: str | None,
    known: str | None,
    eps: str | None,
    seed: int,
    release: Path | None,
    matching: str | None,
    control: Path | None,
) -> Assessment:
    """The assessment that the options describe; what is wrong with the words is said before the file is read."""
    from equivoc.study.assess import assess

    chosen = _technique(technique, release, matching)
    tolerances = None if eps is None else numbers("--eps", eps)

    def read(file: Path, domain: str | None, weights: str | None) -> Microdata:
        return people_from(
            file,
            confidential=confidential,
            keys=keys,
            domain=domain,
            round_to=round_to,
            weights=weights,
            drop_missing=drop_missing,
        )

    people = read(path, domain, weights)
    asked = names(known) if known is not None else list(people.keys)
    others = None if control is None else read(control, None, None)
    return assess(people, chosen, known=asked, seed=seed, eps=tolerances, control=others)


def _technique(technique: str | None, release: Path | None, matching: str | None) -> Technique:
    """The technique in words, or the released file."""
    from equivoc.techniques.notation import technique_from
    from equivoc.techniques.released_file import ReleasedFile

    if release is None:
        if matching is not None:
            raise InputError(
                "--matching says how the records of --release are linked: give --release as well."
            )
        return technique_from("unprotected" if technique is None else technique)
    if technique is not None:
        raise InputError("--technique and --release are both given: give the one that is to be assessed.")
    return ReleasedFile(release, matching="exact" if matching is None else matching)


def names(text: str) -> list[str]:
    """Names separated by commas."""
    return [name.strip() for name in text.split(",") if name.strip()]


def numbers(option: str, text: str) -> list[float]:
    """Numbers separated by commas."""
    found = []
    for position, item in enumerate(text.split(",")):
        try:
            found.append(float(item))
        except ValueError:
            raise InputError(f"{option}: {item.strip()!r} at position {position} is not a number.") from None
    return found


def domain_values(text: str) -> list[float]:
    """``10:250:10`` or a list of values."""
    if ":" not in text:
        return numbers("--domain", text)
    parts = numbers("--domain", text.replace(":", ","))
    if len(parts) != 3 or parts[2] <= 0 or parts[1] < parts[0]:
        raise InputError(f"--domain {text}: give low:high:step with a step above 0, such as 10:250:10.")
    low, high, step = parts
    return [low + step * i for i in range(int((high - low) / step + 1e-9) + 1)]
