"""Malformed inputs for every command, generated from a valid command line with one thing wrong."""

from __future__ import annotations

from collections.abc import Iterator

from . import (
    cell_tables,
    curves,
    decisions,
    options,
    outputs,
    pages,
    people_files,
    plans,
    queries,
    technique_words,
)
from .case import Case, unique


def all_cases() -> list[Case]:
    """Every case: valid ones first, so that kernels are compiled; then in the order of the files that define them."""

    def made() -> Iterator[Case]:
        for part in (
            people_files,
            options,
            technique_words,
            outputs,
            plans,
            curves,
            queries,
            cell_tables,
            pages,
            decisions,
        ):
            yield from part.cases()

    return sorted(unique(made()), key=lambda case: case.expected != "accepted")
