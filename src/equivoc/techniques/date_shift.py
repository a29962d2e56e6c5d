"""Date shift: all dates of a person are moved by the same random number of days."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from equivoc.attributes.dates import DAY, instants, written_dates
from equivoc.channels.channel import Bayes
from equivoc.channels.likelihood import Table
from equivoc.checks import check_memory
from equivoc.data.classes import class_of_records
from equivoc.data.microdata import Microdata, check_people
from equivoc.errors import InputError
from equivoc.intruder.posteriors import Posteriors
from equivoc.intruder.prior import ReleasedColumn, unchanged
from equivoc.notation.declared import columns, number
from equivoc.notation.ranges import Range
from equivoc.notation.words import Columns
from equivoc.releases.linked_release import LinkedRelease
from equivoc.releases.release import Release
from equivoc.techniques.technique import Randomness, Technique, check_numbers, columns_of, generator, in_words
from equivoc.text import exact

if TYPE_CHECKING:
    import pyarrow as pa

    from equivoc.data.classes import Classes

Ints = NDArray[np.int64]
Floats = NDArray[np.float64]
LONGEST = 36_525
"""A hundred years."""


@dataclass(frozen=True)
class DateShift(Technique):
    """Move the dates of each person by the same number of whole days, drawn uniformly from −``days`` to ``days``.

    The confidential column holds dates, or numbers, which are taken as days. Dates among the keys that ``on`` names
    are moved by the same number as the confidential one, so the time between two dates of a person stays; other keys
    are unchanged.

    The intruder knows ``days``: P(d | released) ∝ prior(d) for the dates at most ``days`` from the released one. If
    she knows one of the moved keys, each record that could be the target's gives away its shift: she takes the records
    with the weight that their shift has, given how many people have each combination of keys and the prior.

    >>> import pandas as pd
    >>> seen = pd.to_datetime(["2020-01-01", "2020-01-02", "2020-03-01"])
    >>> release = DateShift(days=1).release(Microdata(pd.DataFrame({"seen": seen}), confidential="seen"), 0)
    >>> release.table["seen"].dt.strftime("%d.%m.").tolist()
    ['02.01.', '02.01.', '01.03.']
    """

    name: ClassVar[str] = "date-shift"
    needs: ClassVar = "numbers"
    days: int = number(
        "the most days by which the dates of a person are moved; more is safer",
        at_least=0,
        at_most=LONGEST,
        whole=True,
        tries=Range(1, 180, whole=True, unit="number"),
    )
    on: Columns = columns(
        '"confidential", "keys", "all", or columns by name; keys must hold dates', default="confidential"
    )

    def release(self, people: Microdata, rng: Randomness = None) -> ShiftedDates | DatesShiftedTogether:
        """Draw one shift for each record."""
        check_people("people", people)
        check_numbers(self.name, people, "which cannot be moved by days")
        random = generator(rng)
        names = columns_of(self.name, people, self.on)
        before = {name: _instants(people, name) for name in names}
        shifts = random.integers(-self.days, self.days, len(people), endpoint=True)
        changed = {name: self._moved(people, name, *there, shifts) for name, there in before.items()}
        told = self.mechanism(people)
        if names != (people.confidential,):
            shown = {
                name: changed.get(name) or unchanged(people, name)
                for name in (*people.keys, people.confidential)
            }
            own = shown.pop(people.confidential)
            flat = np.full(len(people.values), 1 / len(people.values))
            return DatesShiftedTogether(people, shown, own, names, self.days, flat, mechanism=told)
        column = changed[people.confidential]
        channel = Bayes(self._likelihood(people, column), np.full(len(people.values), 1 / len(people.values)))
        found = ShiftedDates.changing(people, {people.confidential: replace(column, channel=channel)})
        return replace(found, mechanism=told)

    def mechanism(self, people: Microdata) -> str:
        names = columns_of(self.name, people, self.on)
        alike = ", the same for all of them" if len(names) > 1 else ""
        return (
            f"She knows that {in_words(names)} of each record {'was' if len(names) == 1 else 'were'} moved by a whole "
            f"number of days{alike}, any from −{exact(self.days)} to {exact(self.days)} with equal probability."
        )

    def _moved(self, people: Microdata, name: str, there: Ints, codes: Ints, shifts: Ints) -> ReleasedColumn:
        """The column with each date moved; a missing key stays missing. Its symbols are all dates that can be shown."""
        import pyarrow as pa

        check_memory(
            f"date-shift: the dates of {name!r}",
            rows=len(there),
            columns=2 * self.days + 1,
            advice="round them first, or move them by fewer days",
        )
        every = np.unique((there[:, None] + np.arange(-self.days, self.days + 1) * DAY).ravel())
        null = codes == len(there)
        moved = np.append(there, 0)[codes] + shifts * DAY
        labels = _written(people, name, every)
        if null.any():
            labels = pa.concat_arrays([labels, pa.nulls(1, labels.type)])
        return ReleasedColumn(np.where(null, len(every), np.searchsorted(every, moved)), labels)

    def _likelihood(self, people: Microdata, column: ReleasedColumn) -> Table:
        """P(released date | true date)."""
        from scipy.sparse import csr_array

        there, _ = _instants(people, people.confidential)
        shown = _own_instants(people, column.labels)
        moved = there[:, None] + np.arange(-self.days, self.days + 1) * DAY
        chance = np.full(moved.size, 1 / moved.shape[1])
        starts = np.arange(len(there) + 1) * moved.shape[1]
        return Table(
            csr_array((chance, np.searchsorted(shown, moved.ravel()), starts), shape=(len(there), len(shown)))
        )


@dataclass(frozen=True, eq=False)
class ShiftedDates(LinkedRelease):
    """The file with the confidential date moved by a random number of days, all keys as they are."""


@dataclass(frozen=True, eq=False)
class DatesShiftedTogether(Release):
    """The file with several dates of each record moved alike, with an intruder who uses that their shifts are equal.

    Record r with the shift s belongs to somebody with the keys and the value that r shows, less s. With n people of
    these keys, ``P(r is hers) ∝ prior(value less s) / Σ_s' n(keys less s') · prior(value less s')``.
    """

    keys: dict[str, ReleasedColumn] = field(repr=False)
    confidential: ReleasedColumn = field(repr=False)
    moved: tuple[str, ...]
    days: int
    prior: Floats = field(repr=False)

    @property
    def origins(self) -> Ints:
        return np.arange(len(self.people))

    def with_prior(self, prior: Floats) -> DatesShiftedTogether:
        return replace(self, prior=prior)

    @property
    def shown(self) -> dict[str, Any]:
        columns = {name: released.column for name, released in self.keys.items()}
        return {**columns, self.people.confidential: self.confidential.column}

    @property
    def table(self) -> Any:
        return self.people.like(self.shown)

    def of_classes(self, classes: Classes) -> Posteriors:
        from scipy.sparse import coo_array, csr_array

        people, records = self.people, len(self.people)
        check_memory("date-shift", rows=records, columns=2 * self.days + 1, advice="move dates by fewer days")
        steps = np.arange(-self.days, self.days + 1) * DAY
        whose = np.empty((len(steps), records), dtype=np.int64)
        value = np.empty((len(steps), records), dtype=np.int64)
        for at, step in enumerate(steps.tolist()):
            codes = [self._true(name, step) for name in classes.known]
            value[at] = self._true(people.confidential, step)
            whose[at] = _class_of(classes, codes, records)
        fits = (whose >= 0) & (value >= 0)
        chance = np.where(fits, self.prior[np.maximum(value, 0)], 0.0)
        if not np.all(self.prior > 0):  # a prior that rules the truth out is wrong
            lost = fits.any(axis=0) & ~chance.any(axis=0)
            chance[:, lost] = fits[:, lost]
        of_keys = np.where(fits, chance * classes.sizes[np.maximum(whose, 0)], 0.0)
        weight = np.divide(chance, of_keys.sum(axis=0), out=np.zeros_like(chance), where=fits)
        shape = (len(classes), len(people.values))
        link = csr_array(coo_array((weight[fits], (whose[fits], value[fits])), shape=shape))
        link.sum_duplicates()
        link.eliminate_zeros()
        return Posteriors(classes, people.attribute, link, None)

    def _true(self, name: str, step: int) -> Ints:
        """Each record's true code of a column if its shift was this step; −1 if no level is there."""
        people, own = self.people, name == self.people.confidential
        if name not in self.moved:
            return np.asarray(people.codes if own else people.key_codes(name), dtype=np.int64)
        there, _ = _instants(people, name)
        released = self.confidential if own else self.keys[name]
        labels = released.labels
        shown = _own_instants(people, labels) if own else instants(labels.drop_null())
        if shown is None:  # nothing but nulls
            return np.full(len(people), len(there))
        place = np.append(_places(there, shown - step), [len(there)] * labels.null_count)
        return np.asarray(place[released.codes], dtype=np.int64)


def _class_of(classes: Classes, codes: list[Ints], records: int) -> Ints:
    """The class with these key codes; −1 if there is none."""
    if not codes:
        return np.zeros(records, np.int64)
    asked = np.column_stack(codes)
    found = class_of_records(classes.key_codes, [np.maximum(each, 0) for each in codes], records)
    found = np.minimum(found, len(classes) - 1)
    there = np.all(classes.key_codes[found] == asked, axis=1)
    return np.where(there, found, -1)


def _instants(people: Microdata, name: str) -> tuple[Ints, Ints]:
    """The dates of a column's levels without null, in microseconds, and each record's code."""
    if name == people.confidential:
        return _of_numbers(people, people.values), people.codes.astype(np.int64)
    levels = people.key_values(name).drop_null()
    found = instants(levels)
    if found is None and len(levels):
        raise InputError(
            f"date-shift: the key {name!r} holds {levels[0].as_py()!r}, which is not a date; leave it out of on."
        )
    return np.empty(0, np.int64) if found is None else found, people.key_codes(name).astype(np.int64)


def _of_numbers(people: Microdata, numbers: Floats) -> Ints:
    dates = people.attribute.dates
    return np.rint(numbers * (DAY if dates is None else dates.microseconds)).astype(np.int64)


def _own_instants(people: Microdata, labels: pa.Array) -> Ints:
    """The released confidential dates, or numbers of days, in microseconds."""
    found = None if people.attribute.dates is None else instants(labels)
    return (
        _of_numbers(people, labels.to_numpy(zero_copy_only=False).astype(np.float64))
        if found is None
        else found
    )


def _places(there: Ints, asked: Ints) -> Ints:
    """The position of each of these moments among the levels; −1 if absent."""
    at = np.minimum(np.searchsorted(there, asked), max(len(there) - 1, 0))
    return np.where(there[at] == asked, at, -1) if len(there) else np.full(len(asked), -1)


def _written(people: Microdata, name: str, moments: Ints) -> pa.Array:
    """These moments as they stand in the released table: as dates, or as numbers of days."""
    import pyarrow as pa

    own = name == people.confidential
    if not own or people.attribute.dates is not None:
        return written_dates(moments, people.attribute.labels.type if own else people.key_values(name).type)
    days = moments / DAY
    return pa.array(days.astype(np.int64) if pa.types.is_integer(people.attribute.labels.type) else days)
