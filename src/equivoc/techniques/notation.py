"""Parses the notation of techniques: ``sampling:fraction=0.1,prior=marginal`` on the command line and in plans."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import MISSING, fields
from itertools import product
from math import prod
from typing import Any

from equivoc.did_you_mean import did_you_mean
from equivoc.errors import InputError
from equivoc.quoted_words import is_quoted, split_words, unquoted
from equivoc.techniques.differential_privacy.geometric_noise import GeometricNoise
from equivoc.techniques.differential_privacy.noisy_table import NoisyTable
from equivoc.techniques.generalisation.generalisation import Generalisation
from equivoc.techniques.microaggregation.microaggregation import Microaggregation
from equivoc.techniques.noise_addition import NoiseAddition
from equivoc.techniques.pram.pram import PRAM
from equivoc.techniques.query_restriction import QueryRestriction
from equivoc.techniques.released_file import ReleasedFile
from equivoc.techniques.rounding import Rounding
from equivoc.techniques.sampling import Sampling
from equivoc.techniques.suppression.suppression import Suppression
from equivoc.techniques.swapping.swapping import Swapping
from equivoc.techniques.technique import Technique
from equivoc.techniques.top_bottom_coding import TopBottomCoding
from equivoc.techniques.unprotected import Unprotected

MOST_CHOICES = 10_000
TECHNIQUES: Mapping[str, type[Technique]] = {
    kind.name: kind
    for kind in (
        Unprotected,
        Sampling,
        QueryRestriction,
        NoiseAddition,
        Rounding,
        TopBottomCoding,
        PRAM,
        GeometricNoise,
        NoisyTable,
        Generalisation,
        Suppression,
        Swapping,
        Microaggregation,
        ReleasedFile,
    )
}


def technique_from(text: str) -> Technique:
    """The technique that a notation describes.

    A name or path that contains one of ``, + : | ; "``, begins or ends with a blank, or looks like a number is written
    in double quotes, with inner quotes doubled: ``swapping:rate=0.1,on="pay, yearly"+age``.

    >>> technique_from("sampling:fraction=0.1")
    Sampling(fraction=0.1, prior=None)
    """
    return technique_of(*named_parameters(text))


def named_parameters(text: str) -> tuple[str, dict[str, Any]]:
    """The name and the parameters in a notation; a parameter that reads as a number is one.

    >>> named_parameters("sampling:fraction=0.1")
    ('sampling', {'fraction': 0.1})
    """
    name, _, rest = text.partition(":")
    parameters: dict[str, Any] = {}
    for item in filter(None, (part.strip() for part in split_words(rest, ","))):
        parameter, equals, value = item.partition("=")
        if not equals:
            raise InputError(f"technique {text!r}: {item!r} needs a value, as in {parameter}=….")
        if parameter.strip() in parameters:
            raise InputError(f"technique {text!r}: {parameter.strip()} is given twice.")
        worded = parameter.strip() in Technique.worded
        parameters[parameter.strip()] = value.strip() if worded else _value(value)
    return name.strip(), parameters


def technique_type(name: str) -> type[Technique]:
    """The technique of this name."""
    if name not in TECHNIQUES:
        raise InputError(f"there is no technique {name!r}{did_you_mean(name, TECHNIQUES)}")
    return TECHNIQUES[name]


def techniques_from(text: str) -> list[Technique]:
    """The techniques of a notation with choices between bars: every combination of them.

    >>> [technique.notation for technique in techniques_from("sampling:fraction=0.1|0.5")]
    ['sampling:fraction=0.1', 'sampling:fraction=0.5']
    """
    name, colon, rest = text.partition(":")
    items = [item.partition("=") for item in split_words(rest, ",")]
    choices = [
        [value] if parameter.strip() in Technique.worded else split_words(value, "|")
        for parameter, _, value in items
    ]
    if prod(map(len, choices)) > MOST_CHOICES:
        raise InputError(
            f"the technique {name!r} has more than {MOST_CHOICES:,} combinations of its choices."
        )
    heads = [f"{parameter}{equals}" for parameter, equals, _ in items]
    return [
        technique_from(name + colon + ",".join(map(str.__add__, heads, values)))
        for values in product(*choices)
    ]


def technique_of(name: str, parameters: Mapping[str, Any]) -> Technique:
    """The technique ``name`` with these parameters; InputError names what is wrong."""
    return with_parameters(technique_type(name), parameters)


def with_parameters(kind: type[Technique], parameters: Mapping[str, Any]) -> Technique:
    """The technique with these parameters; InputError names one that is unknown or missing."""
    name = kind.name
    allowed = {f.name: f for f in fields(kind)}
    for parameter in parameters:
        if parameter not in allowed:
            raise InputError(f"{name} has no parameter {parameter!r}{did_you_mean(parameter, allowed)}")
    missing = [f.name for f in allowed.values() if f.default is MISSING and f.name not in parameters]
    if missing:
        raise InputError(f"{name} needs {missing[0]}, as in {name}:{missing[0]}=….")
    return kind(**parameters)


def _value(text: str) -> Any:
    if is_quoted(text):
        return unquoted(text)
    text = text.strip()
    for kind in (int, float):
        try:
            return kind(text)
        except ValueError:
            continue
    return text
