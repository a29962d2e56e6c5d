"""Checks for techniques that reach k-anonymity: of k, the file, and its values."""

from __future__ import annotations

from equivoc.arguments import is_whole
from equivoc.attributes.level_text import STAR
from equivoc.data.microdata import Microdata
from equivoc.errors import InputError


def check_k(technique: str, k: object) -> None:
    """InputError unless k is a whole number of 1 or more."""
    if not is_whole(k) or k < 1:
        raise InputError(f"{technique}: k is {k!r}; it must be a whole number of 1 or more.")


def check_enough(technique: str, k: int, people: Microdata) -> None:
    """InputError if the file has fewer than k records."""
    if k > len(people):
        raise InputError(f"{technique}: k is {k}, but there are only {len(people)} records.")


def check_no_star(technique: str, people: Microdata, key: str) -> None:
    """InputError if the key itself has the value ``*``, which means any value."""
    if STAR in people.levels(key):
        raise InputError(
            f"{technique}: key {key!r} has the value {STAR!r}, which is to stand for any value; rename it."
        )
