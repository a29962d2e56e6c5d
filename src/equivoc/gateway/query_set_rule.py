"""The rule of query set sizes: a query set, and the people outside it, number at least k.

The complement is taken among all people of the data. The whole table is allowed: its complement is nobody, and nothing
about nobody becomes known. An empty query set counts as smaller than k. Each group of GROUP BY is a query set of its
own; if one is too small, the whole statement is refused, because leaving out a group would tell its size.
"""

from __future__ import annotations

from collections.abc import Iterable

from equivoc.number_format import counted


def too_small(sizes: Iterable[int], *, people: int, least_people: int) -> str | None:
    """Why query sets of these sizes are refused; None if they are not. The sentence does not tell a size.

    >>> too_small([3, 997], people=1000, least_people=3) is None
    True
    >>> too_small([998], people=1000, least_people=3)
    'fewer than 3 people are outside the query set.'
    >>> too_small([40, 2], people=1000, least_people=3)
    'fewer than 3 people are in a query set of this question.'
    """
    found = list(sizes)
    few = f"fewer than {counted(least_people, 'person')} are"
    where = "the query set" if len(found) == 1 else "a query set of this question"
    if any(size < least_people for size in found):
        return f"{few} in {where}."
    if any(0 < people - size < least_people for size in found):
        return f"{few} outside {where}."
    return None
