"""Guesses the roles of columns from their names and values, each with its reason in one sentence."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

from equivoc.web.views.preview import Column

Role = Literal["confidential", "key", "weights", "leave_out"]
Kind = Literal["number", "ordered", "categories", "tree"]
CONFIDENTIAL = (
    "salary", "wage", "income", "earning", "pay", "diagnosis", "disease", "illness", "debt", "wealth", "loan",
    "balance", "religion", "hiv", "expenditure", "tax", "turnover", "revenue", "profit",
)  # fmt: skip
"""Words in the names of columns that are usually confidential, the surest first."""
WEIGHTS = ("weight", "wgt", "wt", "weights", "pweight", "perwt", "gewicht", "poids")
IDENTIFIER = re.compile(
    r"(^|_|\b)(id|uuid|ssn|name|surname|phone|email|e_mail|address|iban|number_of_row)(_|\b|$)"
)
FEW = 100
"""A column with at most so many values can be a key."""
MANY_SHARE = 0.5
"""A text column with more distinct values than this share of the rows says who somebody is."""
MOST_KEYS = 6


@dataclass(frozen=True)
class Guess:
    """What a column is likely to be, and why."""

    role: Role
    kind: Kind
    reason: str


def guesses(columns: Sequence[Column], rows: int) -> list[Guess]:
    """A guess for each column: exactly one is confidential, and at most MOST_KEYS are keys."""
    found = [_alone(column, rows) for column in columns]
    chosen = _confidential(columns, found, rows)
    for place, (column, guess) in enumerate(zip(columns, found, strict=True)):
        if place == chosen:
            found[place] = Guess("confidential", _kind(column), _why_confidential(column))
        elif guess.role == "confidential":
            found[place] = Guess(
                "leave_out",
                guess.kind,
                "Its name also suggests something confidential; one column is assessed at a time.",
            )
    keys = sorted(
        (place for place, guess in enumerate(found) if guess.role == "key"),
        key=lambda place: (_word(columns[place].name, LIKELY_KEYS) is None, place),
    )
    for place in keys[MOST_KEYS:]:
        found[place] = Guess(
            "leave_out",
            found[place].kind,
            f"It could be a key, but {MOST_KEYS} others are likelier ones; add it if she knows it.",
        )
    return found


LIKELY_KEYS = (
    "age",
    "sex",
    "gender",
    "region",
    "zip",
    "education",
    "occupation",
    "industry",
    "marital",
    "race",
    "birth",
)


def _alone(column: Column, rows: int) -> Guess:
    """The guess from a column by itself."""
    name, kind = column.name.casefold(), _kind(column)
    words = set(re.split(r"[^a-z0-9]+", name))
    if column.type == "number" and (words & set(WEIGHTS)):
        return Guess("weights", "number", "Its name says that it holds survey weights.")
    if column.distinct <= 1:
        return Guess("leave_out", kind, "Everybody has the same value, so it tells nothing.")
    if IDENTIFIER.search(name):
        return Guess(
            "leave_out",
            kind,
            "Its name says that it identifies people directly, so it must not be published.",
        )
    if column.type == "text" and column.distinct > MANY_SHARE * rows and rows > 20:
        return Guess(
            "leave_out",
            kind,
            "Nearly everybody has a text of their own: it identifies people, or is free text.",
        )
    if column.type == "number" and column.whole and column.distinct >= 0.99 * rows and rows > 20:
        return Guess(
            "leave_out", kind, "Nearly everybody has a number of their own, as in a column of identifiers."
        )
    if _word(name, CONFIDENTIAL) is not None:
        return Guess("confidential", kind, _why_confidential(column))
    if column.distinct <= FEW:
        return Guess(
            "key", kind, f"It has {column.distinct} different values, which others may know of a person."
        )
    if column.type == "number":
        return Guess(
            "leave_out",
            kind,
            f"It has {column.distinct:,} different numbers; make it a key if others know them.",
        )
    return Guess("leave_out", kind, f"It has {column.distinct:,} different values, too many for a usual key.")


def _confidential(columns: Sequence[Column], found: Sequence[Guess], rows: int) -> int | None:
    """The place of the column to protect: by its name, else the number with most values, else the last candidate."""
    named = [place for place, guess in enumerate(found) if guess.role == "confidential"]
    if named:
        return min(named, key=lambda place: _word(columns[place].name, CONFIDENTIAL) or 0)
    numbers = [
        place
        for place, column in enumerate(columns)
        if column.type == "number"
        and found[place].role in ("key", "leave_out")
        and 1 < column.distinct < 0.99 * max(rows, 2)
        and not IDENTIFIER.search(column.name.casefold())
        and _word(column.name, LIKELY_KEYS) is None
    ]
    if numbers:
        return max(numbers, key=lambda place: columns[place].distinct)
    keys = [place for place, guess in enumerate(found) if guess.role == "key"]
    return keys[-1] if keys else None


def _why_confidential(column: Column) -> str:
    place = _word(column.name, CONFIDENTIAL)
    if place is not None:
        return f"Its name contains “{CONFIDENTIAL[place]}”, which people usually keep to themselves."
    if column.type == "number":
        return f"Of the columns of numbers it has the most different values ({column.distinct:,})."
    return "It is the last column that could be confidential; no name gave a hint."


def _kind(column: Column) -> Kind:
    return "number" if column.type == "number" else "categories"


def _word(name: str, words: Sequence[str]) -> int | None:
    """The place of the first word that the name contains; None if it contains none."""
    return next((place for place, word in enumerate(words) if word in name.casefold()), None)
