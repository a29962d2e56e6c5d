"""Key values as text in a released column: one value, a range, or a set."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

STAR = "*"
"""Text for a suppressed value."""
MISSING = "NA"
"""Text for a null within a set."""


def is_number(level: Any) -> bool:
    """Whether a value of a key is a number that can be ordered and cut into ranges."""
    return isinstance(level, (int, float)) and not isinstance(level, bool)


def written(level: Any) -> str | None:
    """One value as text; a null stays null.

    >>> written(20), written(20.0), written(2.5), written("cook"), written(None)
    ('20', '20', '2.5', 'cook', None)
    """
    if level is None:
        return None
    if isinstance(level, float) and level.is_integer() and abs(level) < 2**53:
        return str(int(level))
    return str(level)


def written_range(levels: Sequence[Any], low: int, high: int) -> str | None:
    """Levels ``low`` to ``high``: one value unchanged, all levels as ``*``, numbers as a closed range, else a set.

    >>> written_range((20, 21, 22, 23), 1, 2), written_range(("cook", "judge", "nurse"), 0, 1)
    ('[21,22]', '{cook,judge}')
    >>> written_range((20, 21, None), 1, 2), written_range((20, 21, None), 0, 2), written_range((20, 21), 1, 1)
    ('{21,NA}', '*', '21')
    """
    if low == high:
        return written(levels[low])
    if high - low == len(levels) - 1:
        return STAR
    if is_number(levels[low]) and is_number(levels[high]):
        return f"[{written(levels[low])},{written(levels[high])}]"
    found = written_set(levels[low : high + 1])
    # If a level has the same text as this set, add a blank: the two then differ, and the meaning stays the same.
    while found in levels:
        found = "{ " + found[1:]
    return found


def written_set(levels: Sequence[Any]) -> str:
    """These values as a set.

    >>> written_set(["cook", "judge, retired", None])
    '{cook,"judge, retired",NA}'
    """
    return "{" + ",".join(_element(level) for level in levels) + "}"


def _element(level: Any) -> str:
    """A member of a set; quoted as in CSV if it would be ambiguous without quotes."""
    text = written(level)
    if text is None:
        return MISSING
    plain = text.strip() == text and text not in ("", MISSING) and not any(mark in text for mark in ',{}"')
    return text if plain else '"' + text.replace('"', '""') + '"'
