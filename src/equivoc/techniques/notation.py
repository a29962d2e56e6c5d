"""Parses the notation of techniques: ``sampling:fraction=0.1,prior=marginal`` on the command line and in plans."""

from __future__ import annotations

from collections.abc import Mapping
from itertools import product
from math import prod
from pathlib import Path
from typing import Any

from equivoc.errors import InputError, did_you_mean
from equivoc.notation.declared import Param, params
from equivoc.notation.words import number_or_text, split_words
from equivoc.techniques.date_shift import DateShift
from equivoc.techniques.generalisation import Generalisation
from equivoc.techniques.geometric_noise import GeometricNoise
from equivoc.techniques.microaggregation import Microaggregation
from equivoc.techniques.noise_addition import NoiseAddition
from equivoc.techniques.noisy_table import NoisyTable
from equivoc.techniques.pram import PRAM
from equivoc.techniques.query_restriction import QueryRestriction
from equivoc.techniques.released_file import ReleasedFile
from equivoc.techniques.rounding import Rounding
from equivoc.techniques.sampling import Sampling
from equivoc.techniques.suppression import Suppression
from equivoc.techniques.swapping import Swapping
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
        DateShift,
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
        parameters[parameter.strip()] = value
    return name.strip(), _values(name.strip(), parameters)


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
    whole = {each for each, param in _declared(name.strip()).items() if param.has_separators}
    choices = [
        [value] if parameter.strip() in whole else split_words(value, "|") for parameter, _, value in items
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


def technique_of(name: str, parameters: Mapping[str, Any], folder: Path | None = None) -> Technique:
    """The technique ``name`` with these parameters; InputError names what is wrong."""
    return technique_type(name).read(parameters, folder)


def _declared(name: str) -> dict[str, Param]:
    """The parameters of a technique by name; none if there is no such technique."""
    return {each.name: each for each in params(TECHNIQUES[name])} if name in TECHNIQUES else {}


def _values(name: str, texts: Mapping[str, str]) -> dict[str, Any]:
    """The values of parameters that are given as text."""
    declared = _declared(name)
    return {
        each: declared[each].from_text(text.strip()) if each in declared else number_or_text(text)
        for each, text in texts.items()
    }
