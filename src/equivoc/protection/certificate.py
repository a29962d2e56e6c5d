"""The certificate of a protected file: a JSON file with a digest of its own content, read without trusting it."""

from __future__ import annotations

import json
import math
from collections.abc import Callable, Iterator, Mapping
from hashlib import sha256
from pathlib import Path
from typing import Any

from equivoc.checks import is_number, is_whole
from equivoc.errors import InputError
from equivoc.files import check_readable
from equivoc.reading.reading import Reading
from equivoc.requests.described_people import KINDS

FORMAT = "equivoc certificate"
VERSION = 1
LARGEST = 1 << 24
"""Bytes; a certificate has some thousands."""
DIGITS = 6
"""Significant digits of figures: enough to check them, and the same on every machine."""

Facts = dict[str, Any]


def with_digest(facts: Facts) -> Facts:
    """The facts with the digest of all others."""
    return {**facts, "digest": digest_of(facts)}


def digest_of(facts: Mapping[str, Any]) -> str:
    """SHA-256 of the facts without their digest, in one spelling; white space and the order of keys do not matter.

    >>> digest_of({"a": 1, "b": [2.0]}) == digest_of({"b": [2.0], "a": 1, "digest": "any"})
    True
    """
    content = {name: fact for name, fact in facts.items() if name != "digest"}
    text = json.dumps(content, sort_keys=True, separators=(",", ":"), allow_nan=False)
    return sha256(text.encode()).hexdigest()


def certificate_text(facts: Facts) -> str:
    """The certificate as it is written; InputError if it is larger than `read_certificate` accepts."""
    text = json.dumps(facts, indent=2, ensure_ascii=False, allow_nan=False) + "\n"
    if len(text.encode()) > LARGEST:
        raise InputError(
            "the certificate would be too large to be checked: the domain lists too many values, or names of columns "
            "are too long; give the domain as low:high:step, or shorter names."
        )
    return text


def rounded(value: float | None) -> float | None:
    """A figure to `DIGITS` significant digits; None if there is none.

    >>> rounded(3.14159265), rounded(None), rounded(float("inf"))
    (3.14159, None, None)
    """
    if value is None or not math.isfinite(value):
        return None
    return float(f"{value:.{DIGITS}g}") + 0.0


def read_certificate(path: Path) -> Facts:
    """The facts of a certificate; InputError if it is none or lacks something. Its digest is not checked."""
    check_readable(path)
    try:
        if path.stat().st_size > LARGEST:
            raise InputError(f"{path} is not a certificate: it is too large.")
        text = path.read_text(encoding="utf-8-sig")
    except UnicodeDecodeError:
        raise InputError(f"{path} is not a certificate: it is not text in UTF-8.") from None
    except OSError as problem:
        raise InputError(f"{path} cannot be read: {problem.strerror}.") from None
    try:
        facts = json.loads(text, parse_constant=_no_constant, object_pairs_hook=_no_repetition)
    except (ValueError, RecursionError) as broken:
        why = "it is nested too deeply" if isinstance(broken, RecursionError) else broken
        raise InputError(f"{path} is not a certificate: {why}.") from None
    if not isinstance(facts, dict) or facts.get("format") != FORMAT:
        raise InputError(f'{path} is not a certificate: it does not say "format": "{FORMAT}".')
    if facts.get("version") != VERSION or isinstance(facts["version"], bool):
        raise InputError(
            f"{path} cannot be checked: its version is not {VERSION}, the one that this equivoc knows."
        )
    for place in _misfits(facts):
        raise InputError(
            f"{path} is not a complete certificate: {place} is missing or not what it should be."
        )
    return facts


def _no_constant(name: str) -> float:
    raise ValueError(f"{name} is not a number")


def _no_repetition(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    found = dict(pairs)
    if len(found) < len(pairs):
        raise ValueError("a name occurs twice in one object")
    return found


def _text(found: Any) -> bool:
    return isinstance(found, str) and "\0" not in found


def _flag(found: Any) -> bool:
    return isinstance(found, bool)


def _count(found: Any) -> bool:
    return is_whole(found) and 0 <= found < 1 << 63


def _figure(found: Any) -> bool:
    return is_number(found) and abs(found) < 1e300


def _tolerance(found: Any) -> bool:
    return _figure(found) and found >= 0


def _seed(found: Any) -> bool:
    return isinstance(found, str) and found.isascii() and found.isdigit() and len(found) <= 40


def _one_of(*allowed: str) -> Callable[[Any], bool]:
    return lambda found: isinstance(found, str) and found in allowed


def _or_none(fits: Callable[[Any], bool]) -> Callable[[Any], bool]:
    return lambda found: found is None or fits(found)


def _list_of(fits: Callable[[Any], bool], *, least: int = 0) -> Callable[[Any], bool]:
    return lambda found: isinstance(found, list) and len(found) >= least and all(map(fits, found))


def _domain(found: Any) -> bool:
    if isinstance(found, dict):
        return set(found) == {"low", "high", "step"} and all(map(_figure, found.values()))
    return found is None or _list_of(_figure, least=1)(found)


def _reading(found: Any) -> bool:
    """How the people were read; certificates of older versions do not say it."""
    if found is MISSING:
        return True
    asked = found.get("asked") if isinstance(found, dict) else None
    if not isinstance(asked, dict):
        return False
    try:
        Reading.read(asked)
    except InputError:
        return False
    return True


MISSING = object()

FIELDS: Mapping[str, Callable[[Any], bool]] = {
    "made_with.equivoc": _text,
    "technique.notation": _text,
    "technique.content": _or_none(_text),
    "people.records": _count,
    "people.left_out": _count,
    "people.keys": _list_of(_text),
    "people.drop_missing": _flag,
    "people.reading": _reading,
    "assessment.known": _list_of(_text),
    "assessment.prior": _text,
    "assessment.intruder": _text,
    "randomness": _text,
    "seed": _or_none(_seed),
    "file.format": _one_of("csv", "parquet"),
    "file.sha256": _text,
    "file.rows": _count,
    "file.columns": _list_of(_text),
    "file.kept": _list_of(_text),
    "file.order": _one_of("random", "original"),
    "file.escaped": _flag,
    "meets": _flag,
    "digest": _text,
}
ATTRIBUTE: Mapping[str, Mapping[str, Callable[[Any], bool]]] = {
    "by its values": {"round_to": _or_none(_figure), "domain": _domain},
    "number": {"round_to": _or_none(_figure), "domain": _domain, "unit": _text},
    "ordered": {"levels": _or_none(_list_of(_text))},
    "categories": {},
    "tree": {"hierarchy.file": _text, "hierarchy.sha256": _text},
}
FIGURES = ("h0", "area", "surprise", "gain", "hit", "true_hit", "certain_right", "k")
"""The figures of a release; averages over people except for certain_right (people) and k (records)."""
REQUIRED: Mapping[str, Callable[[Any], bool]] = {
    "attribute": _text,
    "requirement": _text,
    "release": _or_none(_figure),
    "file": _or_none(_figure),
    "meets": _flag,
}


def _misfits(facts: Facts) -> Iterator[str]:
    """The places that do not fit, in the order of reading."""
    yield from _wrong(facts, FIELDS, "")
    attributes = _at(facts, "people.confidential")
    if not (isinstance(attributes, list) and attributes):
        yield "people.confidential"
        return
    names = []
    for number, attribute in enumerate(attributes):
        place = f"people.confidential[{number}]"
        yield from _wrong(attribute, {"name": _text, "kind": _one_of(*KINDS)}, f"{place}.")
        yield from _wrong(attribute, ATTRIBUTE[attribute["kind"]], f"{place}.")
        names.append(attribute["name"])
    yield from _wrong(facts, {f"assessment.eps\0{name}": _list_of(_tolerance, least=1) for name in names}, "")
    for name in names:
        for which in ("release", "file"):
            fields = {figure: _or_none(_figure) for figure in FIGURES} | {"intruder": _text}
            yield from _wrong(_at(facts, f"figures\0{name}\0{which}"), fields, f"figures.{name}.{which}.")
    required = facts.get("requirements")
    if not isinstance(required, list):
        yield "requirements"
        return
    for number, each in enumerate(required):
        yield from _wrong(each, REQUIRED, f"requirements[{number}].")
        if each["attribute"] not in names:
            yield f"requirements[{number}].attribute"


def _wrong(facts: Any, fields: Mapping[str, Callable[[Any], bool]], place: str) -> Iterator[str]:
    for path, fits in fields.items():
        if not fits(_at(facts, path)):
            yield place + path.replace("\0", ".")


def _at(facts: Any, path: str) -> Any:
    """The fact at a path of names; names that may have dots are separated by zero bytes."""
    separated = path.partition("\0")
    parts = [*separated[0].split("."), *(separated[2].split("\0") if separated[1] else [])]
    for part in parts:
        if not (isinstance(facts, dict) and part in facts):
            return MISSING
        facts = facts[part]
    return facts
