"""The rule of class edges: conditions on some keys may only end on fixed edges, so that query sets differ by classes.

An edge e divides the values of a key into those below e and those from e on. A condition selects some of the key's
values that occur; each place where it changes between neighbouring values must be an edge.
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from equivoc.data.microdata import Microdata
from equivoc.errors import InputError, did_you_mean
from equivoc.sql.schema import Schema, value_of_level
from equivoc.sql.statement import And, Between, Comparison, Condition, IsNull, Like, Not, OneOf, Or, Statement
from equivoc.text import counted


@dataclass(frozen=True)
class KeyClasses:
    """The values of one key that occur, and where its edges divide them."""

    key: str
    values: tuple[Any, ...]
    """Ascending, without null."""
    edges: tuple[Any, ...]

    def fault(self, selected: Sequence[bool]) -> str | None:
        """Why a condition that selects these of the values is refused."""
        places = [bisect_left(self.values, edge) for edge in self.edges]
        for at in range(1, len(self.values)):
            if selected[at - 1] != selected[at] and at not in places:
                below = [edge for edge, place in zip(self.edges, places, strict=True) if place < at]
                above = [edge for edge, place in zip(self.edges, places, strict=True) if place > at]
                nearest = " and ".join(str(edge) for edge in (*below[-1:], *above[:1]))
                return (
                    f"a condition on {self.key} ends between two class edges; the nearest are {nearest}. "
                    f"Write {self.key} >= edge, or {self.key} < edge."
                )
        return None


def key_classes(
    people: Microdata, schema: Schema, edges: Mapping[str, Sequence[Any]]
) -> dict[str, KeyClasses]:
    """The classes of the keys with edges; InputError if there is no such key, or its values are of another kind."""
    found = {}
    for key, given in edges.items():
        if key not in people.keys:
            raise InputError(
                f"the policy has edges of {key!r}, which is no key{did_you_mean(key, people.keys)}"
            )
        kind = schema.kind(key)
        values = tuple(value_of_level(key, kind, level) for level in people.levels(key) if level is not None)
        try:
            bisect_left(values, given[0])
        except TypeError:
            raise InputError(
                f"the policy's edges of {key!r} cannot be compared with its values: give edges of its kind, {kind}."
            ) from None
        found[key] = KeyClasses(key, values, tuple(given))
    return found


def edge_fault(statement: Statement, classes: Mapping[str, KeyClasses]) -> str | None:
    """Why a statement is refused by the class edges; None if it is not."""
    if not classes:
        return None
    for key in statement.groups:
        if key in classes:
            every_other = [bool(at % 2) for at in range(len(classes[key].values))]
            fault = classes[key].fault(every_other)
            if fault is not None:
                return f"GROUP BY {key} makes a group of each value, not of each class; use conditions."
    for part in _parts(statement.condition):
        if part.key not in classes:
            continue
        if isinstance(part, Like):
            return f"LIKE is not allowed for {part.key}, which has class edges."
        values = classes[part.key].values
        fault = classes[part.key].fault([_holds(part, value) for value in values])
        if fault is not None:
            return fault
    return None


def _parts(condition: Condition | None) -> Iterator[Comparison | Between | OneOf | Like]:
    match condition:
        case None | IsNull():
            return
        case And(operands) | Or(operands):
            for operand in operands:
                yield from _parts(operand)
        case Not(operand):  # a condition and its negation end in the same places
            yield from _parts(operand)
        case _:
            yield condition


def _holds(part: Comparison | Between | OneOf, value: Any) -> bool:
    match part:
        case Between(_, low, high):
            return bool(low <= value <= high)
        case OneOf(_, values):
            return value in values
        case Comparison(_, operator, bound):
            smaller, equal = bool(value < bound), bool(value == bound)
            larger = not smaller and not equal
            return {
                "=": equal,
                "<>": not equal,
                "<": smaller,
                "<=": smaller or equal,
                ">": larger,
                ">=": larger or equal,
            }[operator]


# The rule of query set sizes: a query set, and the people outside it, number at least k.
#
# The complement is taken among all people of the data. The whole table is allowed: its complement is nobody,
# and nothing about nobody becomes known. An empty query set counts as smaller than k. Each group of GROUP BY
# is a query set of its own; if one is too small, the whole statement is refused, because leaving out a group
# would tell its size.


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
