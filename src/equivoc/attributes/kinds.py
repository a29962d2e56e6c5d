"""The kinds of confidential attribute: a number, ordered categories, categories, categories under a hierarchy.

A kind is the caller's description of a column. `resolve` checks it against the values that occur and returns an
`Attribute`.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from equivoc.attributes import numbers
from equivoc.attributes.attribute import Attribute, Line, Nested
from equivoc.attributes.dates import as_dates
from equivoc.attributes.hierarchy import Calendar, Hierarchy
from equivoc.attributes.level_text import written
from equivoc.attributes.numbers import Misfit
from equivoc.errors import InputError, did_you_mean
from equivoc.files import is_file

if TYPE_CHECKING:
    import pyarrow as pa

Placed = tuple[Attribute, NDArray[np.int32]]
"""An attribute, and the position in its domain of each level of the column."""


@dataclass(frozen=True)
class Kind:
    """A confidential column and the kind of its values."""

    name: str
    """The column's name."""

    def __post_init__(self) -> None:
        if not isinstance(self.name, str):
            raise InputError(
                f"a confidential attribute must be given by its column's name, not {self.name!r}"
            )

    def resolve(self, levels: pa.Array, *, order: pa.Array | None = None) -> Placed | Misfit:
        """The attribute, and the position of each of the column's ``levels`` (distinct, not null) in its domain; or
        the levels that do not fit.

        ``order`` is the column's own order of values, if its type has one.
        """
        raise NotImplementedError


@dataclass(frozen=True)
class Number(Kind):
    """Numbers on a line: "close" is a small difference. Dates are numbers of days since 1970-01-01, or of hours if not
    all are at midnight; the unit is then days or hours.

    >>> import pyarrow as pa
    >>> attribute, place = Number("salary", round_to=10).resolve(pa.array([12, 27, 9]))
    >>> attribute.values, place
    (array([10., 30.]), array([0, 1, 0], dtype=int32))
    """

    round_to: float | None = None
    """Round each value to its nearest multiple first (a half goes up)."""
    domain: Iterable[float] | None = None
    """The values that the attribute can take; without it, those that occur."""
    unit: str = ""
    """The unit of the values, such as "K" or "cents"; used in the report."""

    def __post_init__(self) -> None:
        super().__post_init__()
        numbers.check_step(self.round_to)
        if self.domain is not None:
            object.__setattr__(self, "domain", tuple(numbers.as_domain(self.domain).tolist()))

    def resolve(self, levels: pa.Array, *, order: pa.Array | None = None) -> Placed | Misfit:
        import pyarrow as pa

        dated = as_dates(levels)
        found = (
            numbers.as_numbers(levels, name=self.name, step=self.round_to) if dated is None else dated.numbers
        )
        if isinstance(found, Misfit):
            return found
        if self.round_to is not None:
            found = numbers.round_half_up(found, self.round_to)
        domain = np.unique(found) if self.domain is None else np.array(list(self.domain), np.float64)
        placed = numbers.place(found, domain)
        if isinstance(placed, Misfit):
            after = "" if self.round_to is None else f" once rounded to {self.round_to}"
            return placed._replace(
                why=placed.why + after, advice=f"it goes from {domain[0]:g} to {domain[-1]:g}"
            )
        kind = levels.type
        whole = pa.types.is_string(kind) or pa.types.is_large_string(kind) or pa.types.is_integer(kind)
        whole = whole and bool(
            np.array_equal(domain, np.rint(domain)) and np.abs(domain).max(initial=0) < 2**63
        )
        scale = None if dated is None else dated.scale
        labels = (
            pa.array(domain.astype(np.int64) if whole else domain) if scale is None else scale.written(domain)
        )
        attribute = Attribute(
            self.name,
            "number",
            labels,
            domain,
            Line(domain),
            self.unit or ("" if scale is None else scale.unit),
            self.domain is not None,
            self.round_to,
            scale,
        )
        return attribute, placed


@dataclass(frozen=True)
class Ordered(Kind):
    """Categories in an order: "close" is a small difference of ranks.

    >>> import pyarrow as pa
    >>> attribute, place = Ordered("severity", levels=["mild", "severe"]).resolve(pa.array(["severe", " mild"]))
    >>> attribute.values.tolist(), place.tolist()
    (['mild', 'severe'], [1, 0])
    """

    levels: Sequence[Any] | None = None
    """All categories, from lowest to highest; None: the column's own order (an ordered categorical type)."""

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.levels is None:
            return
        if isinstance(self.levels, (str, bytes)) or not isinstance(self.levels, Iterable):
            raise InputError(f"the levels of {self.name!r} must be a list, lowest first, not {self.levels!r}")
        given = tuple(self.levels)
        texts = [_text(level) for level in given]
        twice = sorted({text for text in texts if texts.count(text) > 1})
        if twice:
            raise InputError(f"the levels of {self.name!r} name {twice[0]!r} twice: name each level once")
        if not given:
            raise InputError(f"the levels of {self.name!r} are empty: name them from lowest to highest")
        object.__setattr__(self, "levels", given)

    def resolve(self, levels: pa.Array, *, order: pa.Array | None = None) -> Placed | Misfit:

        named = self.levels
        if named is None:
            if order is None:
                raise InputError(f"the type of {self.name!r} has no order: give its levels, lowest first")
            named = order.to_pylist()
        rank = {_text(level): at for at, level in enumerate(named)}
        places = np.array([rank.get(_text(level), -1) for level in levels.to_pylist()], np.int32)
        strange = np.flatnonzero(places < 0)
        if strange.size:
            return Misfit(strange, "is not one of its levels", f"they are {', '.join(map(str, named))}")
        labels = _labels(named)
        line = Line(np.arange(len(named), dtype=np.float64), least_tolerance=2.0)
        values = np.array(labels.to_pylist(), dtype=object)
        return Attribute(self.name, "ordered", labels, values, line, "ranks", True), places


@dataclass(frozen=True)
class Categories(Kind):
    """Categories without an order: two values are equal or different. A tree of height 1.

    >>> import pyarrow as pa
    >>> attribute, place = Categories("disease").resolve(pa.array([" flu", "asthma", "flu"]))
    >>> attribute.values.tolist(), place.tolist()
    (['asthma', 'flu'], [1, 0, 1])
    """

    def resolve(self, levels: pa.Array, *, order: pa.Array | None = None) -> Placed | Misfit:
        import pyarrow as pa

        if pa.types.is_binary(levels.type) or pa.types.is_large_binary(levels.type):
            raise InputError(f"the confidential column {self.name!r} contains bytes: give numbers or text")
        labels, places = _distinct(levels)
        values = np.array(labels.to_pylist(), dtype=object)
        return Attribute(self.name, "categories", labels, values, Nested.flat(len(labels))), places


@dataclass(frozen=True)
class Tree(Kind):
    """Categories under a hierarchy: "close" is a common ancestor, and the distance is its height.

    ``hierarchy`` is a CSV file, a frame or a mapping as ARX writes them: leaf; parent; grandparent; …. A header row
    (the column's name first) names the levels. For dates it may be periods, such as "month/year". The domain is the
    values that occur.

    >>> import pyarrow as pa
    >>> tree = Tree("disease", {"flu": "lungs", "asthma": "lungs", "gastritis": "stomach"})
    >>> attribute, place = tree.resolve(pa.array(["gastritis", "flu", "asthma"]))
    >>> attribute.geometry.groups.tolist()  # asthma, flu, gastritis; their organs; everything
    [[0, 1, 2], [0, 0, 1], [0, 0, 0]]
    """

    hierarchy: Any = None

    def __post_init__(self) -> None:
        super().__post_init__()
        given = self.hierarchy
        periods = Calendar.fits(given) and (isinstance(given, (list, tuple)) or not is_file(given))
        made = Calendar.of(given) if periods else given
        made = made if isinstance(made, Calendar) else Hierarchy.of(made, key=self.name)
        object.__setattr__(self, "hierarchy", made)

    def resolve(self, levels: pa.Array, *, order: pa.Array | None = None) -> Placed | Misfit:
        labels, places = _distinct(levels)
        hierarchy: Hierarchy | Calendar = self.hierarchy
        known = hierarchy.knows(labels.to_pylist())
        if not all(known):
            lacking = np.flatnonzero(~np.array(known)[places])
            if isinstance(hierarchy, Calendar):
                return Misfit(
                    lacking, "is not a date", "write dates as 2020-01-31, or give another hierarchy"
                )
            return Misfit(lacking, f"the hierarchy {hierarchy} does not have", "add a row for it")
        ladder = hierarchy.ladder(self.name, labels.to_pylist())
        names = (self.name, *hierarchy.level_names(ladder.top))
        groups = [tuple(str(label) for label in step) for step in ladder.labels]
        nested = Nested(np.stack(ladder.groups), names, tuple(groups))
        values = np.array(labels.to_pylist(), dtype=object)
        return Attribute(self.name, "tree", labels, values, nested), places


@dataclass(frozen=True)
class Bare(Kind):
    """A column given only by its name: `Number` if all values are numbers or all are dates, `Categories` if none is a
    number or a date.
    """

    round_to: float | None = None
    domain: Iterable[float] | None = None

    def __post_init__(self) -> None:
        # Checked now, so that a mistake is reported before a file is read.
        number = Number(self.name, round_to=self.round_to, domain=self.domain)
        object.__setattr__(self, "domain", number.domain)

    def resolve(self, levels: pa.Array, *, order: pa.Array | None = None) -> Placed | Misfit:
        number = Number(self.name, round_to=self.round_to, domain=self.domain)
        if self.round_to is not None or self.domain is not None:
            return number.resolve(levels)
        if order is None and (numbers.is_temporal(levels.type) or as_dates(levels) is not None):
            return number.resolve(levels)
        if not numbers.may_be_numbers(levels.type):
            return self._categories(levels, order)
        found = numbers.as_numbers(levels, name=self.name)
        if not isinstance(found, Misfit) or len(levels) == 0:
            return number.resolve(levels)
        if found.all_are != numbers.NO_NUMBERS:
            return found
        ordered = order is not None and found.why == numbers.IS_DATE  # the type's own order is kept
        if ordered or (found.why == numbers.NO_NUMBER and len(found.levels) == len(levels)):
            return self._categories(levels, order)
        # A column that is numbers but for some words is never turned into categories without asking.
        why = f"{found.why}, while other values are" if found.why == numbers.NO_NUMBER else found.why
        either = f"{numbers.GIVE_NUMBERS}, or {numbers.DECLARE}"
        return found._replace(
            why=why, advice=either if found.advice == numbers.GIVE_NUMBERS else found.advice
        )

    def _categories(self, levels: pa.Array, order: pa.Array | None) -> Placed | Misfit:
        kind = Categories(self.name) if order is None else Ordered(self.name)
        return kind.resolve(levels, order=order)


def as_kinds(
    confidential: Any, *, round_to: float | None = None, domain: Iterable[float] | None = None
) -> tuple[Kind, ...]:
    """The kinds of the confidential columns, which the caller gave as a name, a kind, or a list of these."""
    several = isinstance(confidential, Iterable) and not isinstance(confidential, (str, bytes, Mapping))
    given = list(confidential) if several else [confidential]
    if not given:
        raise InputError("confidential is an empty list: name at least one column")
    if (len(given) > 1 or isinstance(given[0], Kind)) and not (round_to is None and domain is None):
        raise InputError(
            "round_to and domain need one column, given by its name: otherwise use Number(…) for each"
        )
    found = []
    for each in given:
        if isinstance(each, Kind):
            found.append(each)
        elif isinstance(each, str):
            found.append(Bare(each, round_to=round_to, domain=domain))
        else:
            raise InputError(f"the confidential column must be given by its name, not {each!r}")
    names = [kind.name for kind in found]
    twice = [name for name in names if names.count(name) > 1]
    if twice:
        raise InputError(f"{twice[0]!r} is named twice as confidential: name each attribute once")
    return tuple(found)


def kinds_of(
    names: Sequence[str],
    *,
    hierarchy: Mapping[str, Any] | None = None,
    ordered: Mapping[str, Sequence[Any]] | None = None,
    categories: Sequence[str] = (),
    round_to: float | None = None,
    domain: Iterable[float] | None = None,
) -> list[Kind]:
    """The kinds of the columns ``names``, as a command or a plan describes them.

    Columns in ``hierarchy`` are a `Tree`, those in ``ordered`` are `Ordered`, those in ``categories`` are `Categories`;
    the kind of any other column follows from its values. ``round_to`` and ``domain`` apply to the one column that is in
    none of these.

    >>> kinds_of(["pay", "code"], categories=["code"], round_to=10)
    [Bare(name='pay', round_to=10, domain=None), Categories(name='code')]
    """
    described: set[str] = set()
    for what, given in (("hierarchy", hierarchy), ("ordered", ordered), ("categories", categories)):
        for name in given or ():
            if name not in names:
                raise InputError(
                    f"{what} is given for {name!r}, which is not confidential{did_you_mean(name, names)}"
                )
            if name in described:
                raise InputError(f"{what} is given for {name!r}, whose kind was given before: give it once")
            described.add(name)
    kinds: dict[str, Kind] = {name: Tree(name, given) for name, given in (hierarchy or {}).items()}
    kinds |= {name: Ordered(name, levels) for name, levels in (ordered or {}).items()}
    kinds |= {name: Categories(name) for name in categories}
    others = [name for name in names if name not in kinds]
    if not (round_to is None and domain is None) and len(others) != 1:
        what = "domain" if round_to is None else "round_to"
        named = f"none of {', '.join(names)} is numeric" if names else "no column is confidential"
        why = f"{' and '.join(others)} may be numeric" if others else named
        raise InputError(
            f"{what} needs exactly one numeric column, but {why}: omit it, or use Number(…) in Python"
        )
    return [kinds.get(name) or Bare(name, round_to=round_to, domain=domain) for name in names]


def _text(level: Any) -> str:
    return (written(level) or "").strip()


def _distinct(levels: pa.Array) -> tuple[pa.Array, NDArray[np.int32]]:
    """The distinct labels, ascending (text without surrounding blanks), and the position of each level among them."""
    import pyarrow as pa
    import pyarrow.compute as pc

    if pa.types.is_string(levels.type) or pa.types.is_large_string(levels.type):
        levels = pc.utf8_trim_whitespace(levels)
    labels = pc.unique(levels)
    labels = labels.take(pc.array_sort_indices(labels))
    places = pc.index_in(levels, value_set=labels).to_numpy(zero_copy_only=False)
    return labels, places.astype(np.int32)


def _labels(named: Sequence[Any]) -> pa.Array:
    import pyarrow as pa

    try:
        return pa.array(list(named))
    except (pa.ArrowInvalid, pa.ArrowTypeError):
        return pa.array([written(level) for level in named])
