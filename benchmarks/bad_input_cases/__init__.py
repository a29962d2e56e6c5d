"""Malformed inputs for every command, generated: a good command line, and one thing wrong with it."""

from __future__ import annotations

from collections.abc import Iterator

from . import curves, options, outputs, people_files, plans, technique_words
from .case import Case, unique


def all_cases() -> list[Case]:
    """Every case: good ones first (their kernels are compiled then), then in the order of the files that make them."""

    def made() -> Iterator[Case]:
        for part in (people_files, options, technique_words, outputs, plans, curves):
            yield from part.cases()

    return sorted(unique(made()), key=lambda case: case.expected != "accepted")
