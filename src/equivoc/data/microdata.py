"""People in a table, with the roles of its columns: what is confidential, and what an intruder may know."""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator, Mapping, Sequence
from copy import copy
from dataclasses import replace
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any, Unpack

import numpy as np
from numpy.typing import NDArray

from equivoc.attributes import numbers
from equivoc.attributes.attribute import Attribute, Nested
from equivoc.attributes.kinds import Bare, Kind, Number, as_kinds
from equivoc.checks import checked_whole_number
from equivoc.data.cells import Cells, count_cells
from equivoc.data.classes import Classes
from equivoc.data.columns import fixed
from equivoc.data.lattice import lattice
from equivoc.data.records import open_records
from equivoc.data.remarks import Remark, remarks
from equivoc.data.roles import check_key_text, checked_roles, checked_weights, group_codes, place_attribute
from equivoc.data.tables import OtherTable, open_table, reading_of
from equivoc.engines.duckdb import workspace
from equivoc.engines.postgresql import is_address
from equivoc.errors import InputError, did_you_mean
from equivoc.reading.reading import ReadAs, Reading, ReadingOptions, checked_options

if TYPE_CHECKING:
    import pyarrow as pa

    from equivoc.data.cells import WideCells
    from equivoc.engines.engine import Engine

Confidential = str | Kind | Sequence[str | Kind]
"""What is confidential: a column by its name, a kind of attribute, or several of these."""


class Microdata:
    """One record per person: one or more confidential attributes, and keys that an intruder may know.

    ``source`` is a path (CSV with a header, Parquet, a folder of Parquet files), a PostgreSQL table
    (``postgresql:///dbname?table=people``, see `equivoc.engines.postgresql`), a pandas, polars or pyarrow table, a
    DuckDB relation, or a Spark DataFrame (counted in the cluster); returned frames are of the same kind (for a
    path, a database or Spark: pandas). ``domain`` lists the values that the confidential attribute can take;
    without it, those that occur. ``round_to`` first rounds each value to its nearest multiple (a half goes up).
    ``weights`` names a column of survey weights, ``group`` one that says which people belong together (`group`). A
    null key is a value of its own; a null confidential value is an error, or its row is left out with
    ``drop_missing=True``. Without ``confidential`` the people have keys only: enough for measures of the keys, such
    as k-anonymity, and for nothing else. ``sample`` draws so many records at random, with ``seed``; all figures are
    then those of the sample. ``memory_limit`` ("2GiB") limits the memory in which DuckDB reads and counts a file;
    what does not fit goes to a private folder inside ``spill``, which is removed afterwards. ``separator``,
    ``decimal``, ``thousands``, ``encoding``, ``header``, ``missing``, ``dates``, ``labels``, ``sheet``, ``layout``
    and ``format`` say how a file is read; what is left out is guessed from all of it, and said by `reading`.

    >>> import pandas as pd
    >>> frame = pd.DataFrame({"age": [30, 41, 30], "salary": [12, 27, 9]})
    >>> people = Microdata(frame, confidential="salary", keys=["age"], round_to=10)
    >>> people.values, people.classes(["age"]).sizes
    (array([10., 30.]), array([2, 1]))
    """

    def __init__(
        self,
        source: Any,
        *,
        confidential: Confidential | None = None,
        keys: Iterable[str] = (),
        domain: Iterable[float] | None = None,
        round_to: float | None = None,
        weights: str | None = None,
        group: str | None = None,
        drop_missing: bool = False,
        sample: int | None = None,
        seed: int = 0,
        memory_limit: int | str | None = None,
        spill: str | os.PathLike[str] | None = None,
        **reading: Unpack[ReadingOptions],
    ) -> None:
        if not isinstance(drop_missing, (bool, np.bool_)):
            raise InputError(f"drop_missing must be True or False, not {drop_missing!r}")
        kinds = _kinds(confidential, round_to=round_to, domain=domain)
        names = [kind.name for kind in kinds]
        given = Reading(**checked_options("Microdata", reading))
        table = open_table(source, workspace(memory_limit, spill), given)
        from_file = isinstance(source, (str, os.PathLike)) and not is_address(source)
        self.source = Path(source) if from_file else None
        """The file that the people were read from; None for a frame or a database. No command may overwrite it."""
        self._keys = checked_roles(table, confidential=names, keys=keys, weights=weights, group=group)
        if not (names or self._keys):
            raise InputError("no column has a role: name the confidential column, or at least one key")
        self._kinds = kinds
        self._drop_missing = bool(drop_missing)
        self._weights_name = weights
        self._group_name = group
        beside = [name for name in (weights, group) if name is not None]
        if sample is not None:
            sample = checked_whole_number("sample", sample, at_least=1)
        self._records, self._total = open_records(
            table,
            keys=self._keys,
            confidential=names,
            raw=beside,
            drop_missing=drop_missing,
            sample=sample,
            seed=checked_whole_number("seed", seed, at_least=0),
            given=given,
            kept=[
                *(kind.name for kind in kinds if not isinstance(kind, (Bare, Number))),
                *([] if group is None else [group]),
            ],
        )
        self._reading = reading_of(table, given, self._records.facts, self._total + self._records.dropped)
        self.read_otherwise = dict(table.file.notes) if isinstance(table, OtherTable) else {}
        """Of columns of another program's file, what was not read as one might expect."""
        if not len(self._records):
            raise InputError(
                f"no record has a value in {', '.join(names)}: all {self._records.dropped} rows were dropped"
                if self._records.dropped
                else "the table has no records, only column names: give at least one record"
            )
        for name in self._keys:
            check_key_text(self._records, name)
        self._attributes: dict[str, Attribute] = {}
        self._place_of_level: dict[str, NDArray[np.int32]] = {}
        for kind in kinds:
            placed = place_attribute(self._records, kind, order=table.order(kind.name))
            self._attributes[kind.name], self._place_of_level[kind.name] = placed
        self._rebuild = table.from_arrow([*self._keys, *names, *beside])
        self._weights = None if weights is None else checked_weights(self._records, weights)
        self._group = None if group is None else group_codes(self._records, group)
        self._key_codes: dict[str, NDArray[np.int32]] = {}
        self._levels: dict[str, tuple[Any, ...]] = {}
        self._look_at(names[0] if len(names) == 1 else None)

    def _look_at(self, name: str | None) -> None:
        """Select the confidential attribute to measure; None: several, none selected."""
        self._current = name
        self._classes: dict[tuple[str, ...], Classes] = {}
        self._codes: NDArray[np.int32] | None = None
        self._finest: Cells | WideCells | None = None

    def __len__(self) -> int:
        """How many records there are."""
        return len(self._records)

    def __repr__(self) -> str:
        keys = ", ".join(self._keys) or "none"
        drawn = "" if self.drawn_from is None else f" drawn from {self.drawn_from:,}"
        left_out = f" ({self.dropped:,} left out)" if self.dropped else ""
        confidential = ", ".join(self._attributes) or "none"
        return (
            f"<Microdata: {len(self):,} records{drawn}{left_out}, confidential {confidential}, keys {keys}>"
        )

    @property
    def drawn_from(self) -> int | None:
        """How many records the source has, if these are a sample of them; None if they are all."""
        return self._total if self._total > len(self) else None

    @property
    def attributes(self) -> Mapping[str, Attribute]:
        """All confidential attributes by name, in the caller's order."""
        return self._attributes

    def of(self, name: str) -> Microdata:
        """The same people with one of their confidential attributes."""
        if name not in self._attributes:
            raise InputError(f"{name!r} is not confidential{did_you_mean(name, list(self._attributes))}")
        return self if name == self._current else self._looking_at(name)

    @property
    def together(self) -> Microdata:
        """The same people with all confidential attributes combined: each combination that occurs is a category."""
        import pyarrow as pa

        self.check_confidential()
        if len(self._attributes) == 1:
            return self
        codes = np.column_stack([self.of(name).codes for name in self._attributes])
        tuples, places = np.unique(codes, axis=0, return_inverse=True)
        written = [
            map(str, attribute.labels.take(pa.array(tuples[:, at])).to_pylist())
            for at, attribute in enumerate(self._attributes.values())
        ]
        labels = [" | ".join(each) for each in zip(*written, strict=True)]
        name = " | ".join(self._attributes)
        joint = self._looking_at(None)
        values = np.array(labels, dtype=object)
        joint._attributes = {
            name: Attribute(name, "categories", pa.array(labels), values, Nested.flat(len(labels)))
        }
        joint._look_at(name)
        joint._codes = fixed(places.reshape(-1).astype(np.int32))
        return joint

    def _looking_at(self, name: str | None) -> Microdata:
        view = copy(self)
        view.__dict__.pop("remarks", None)  # they are about the selected attribute
        view._look_at(name)
        return view

    @property
    def several(self) -> bool:
        """True if there are several confidential attributes and none is selected."""
        return self._current is None and len(self._attributes) > 1

    @property
    def attribute(self) -> Attribute:
        """The confidential attribute; InputError if there are several and none is selected."""
        self.check_confidential()
        if self._current is None:
            names = list(self._attributes)
            raise InputError(
                f"there are several confidential attributes ({', '.join(names)}): choose one, as in "
                f"people.of({names[0]!r})"
            )
        return self._attributes[self._current]

    def check_confidential(self) -> None:
        """InputError if no attribute is confidential."""
        if not self._attributes:
            raise InputError(
                "the people have no confidential attribute, so only their keys can be measured, as by k-anonymity: "
                "name the confidential column (confidential=… in Python, --confidential in a command)"
            )

    @property
    def confidential(self) -> str:
        """The confidential column's name."""
        return self.attribute.name

    @property
    def keys(self) -> tuple[str, ...]:
        """The key columns' names."""
        return self._keys

    @property
    def names(self) -> tuple[str, ...]:
        """All columns with a role: keys, confidential, weights, group."""
        others = [name for name in (self._weights_name, self._group_name) if name is not None]
        return tuple(dict.fromkeys((*self._keys, *self._attributes, *others)))

    @property
    def values(self) -> NDArray[Any]:
        """The confidential attribute's domain D: numbers, ascending, or labels."""
        return self.attribute.values

    @property
    def domain_given(self) -> bool:
        """True if the domain was given; otherwise it is the set of values that occur."""
        return self.attribute.domain_given

    @property
    def rounded(self) -> bool:
        """True if the confidential values were rounded."""
        return self.attribute.round_to is not None

    @property
    def reading(self) -> ReadAs:
        """How the file was read: what was given, and what was guessed."""
        return self._reading

    def alike(self, source: Any) -> Microdata:
        """Other people in a table with the same columns, read with the same roles, kinds, rounding and given domain.

        A file is read as this one was asked to be.
        """
        kinds = [kind for kind in self._kinds if kind.name in self._attributes]
        options = self._reading.asked.options if isinstance(source, (str, os.PathLike)) else {}
        return Microdata(
            source, confidential=kinds or None, keys=self._keys, drop_missing=self._drop_missing, **options
        )

    def check_rounded_alike(self, others: Microdata) -> None:
        """InputError unless the values of ``others`` have the same rounding."""
        step = self.attribute.round_to
        if step is None:
            return
        rounded = numbers.round_half_up(others.values, step)
        off = np.flatnonzero(~np.isclose(rounded, others.values, rtol=1e-12, atol=0))
        if off.size:
            raise InputError(
                f"it contains the value {others.values[off[0]]:g}, but these people are rounded to {step:g}: "
                f"read it with round_to={step:g}"
            )

    @property
    def weights(self) -> NDArray[np.float64] | None:
        """Each record's survey weight; None without weights."""
        return self._weights

    @property
    def group(self) -> NDArray[np.int64] | None:
        """Each record's group, such as its household, as a number from 0; who has none is a group of her own. None
        without a group column, which is no key.
        """
        return self._group

    @property
    def dropped(self) -> int:
        """How many rows were dropped because a confidential value was missing."""
        return self._records.dropped

    @cached_property
    def remarks(self) -> tuple[Remark, ...]:
        """What to know about how they were read: rows left out, words that may mean "missing"."""
        return tuple(remarks(self))

    @property
    def source_rows(self) -> NDArray[np.int64]:
        """The row of each record in the source, from 0: they differ from the records' numbers if rows were dropped."""
        numbers = np.arange(len(self))
        all_rows = not self.dropped and self.drawn_from is None
        return numbers if all_rows else np.array(self._records.source_rows(numbers.tolist()))

    @property
    def kinds(self) -> tuple[Kind, ...]:
        """The confidential columns as the caller described them."""
        return self._kinds

    @property
    def drop_missing(self) -> bool:
        """True if rows without a confidential value are left out."""
        return self._drop_missing

    @property
    def codes(self) -> NDArray[np.int32]:
        """The position of each record's confidential value in `values`, in row order."""
        if self._codes is None and not self._attributes:
            self._codes = fixed(
                np.zeros(len(self), np.int32)
            )  # classes of keys only: one value for everybody
        if self._codes is None:
            name = self.confidential
            self._codes = fixed(self._place_of_level[name][self._records.codes(name)])
        return self._codes

    def key_codes(self, name: str) -> NDArray[np.int32]:
        """The position of each record's key value in ``levels(name)``, in row order."""
        self._check_key(name)
        if name not in self._key_codes:
            self._key_codes[name] = fixed(self._records.codes(name).astype(np.int32))
        return self._key_codes[name]

    def pieces(self, known: Sequence[str]) -> Iterator[tuple[list[NDArray[Any]], NDArray[np.int32]]]:
        """The codes of the ``known`` keys and of the confidential value, for some million records at a time."""
        name = self.confidential
        for *keys, levels in self._records.pieces([*self.known_keys(known), name]):
            yield keys, self._place_of_level[name][levels]

    def key_values(self, name: str) -> pa.Array:
        """The key's distinct values as Arrow, ascending; null, if it occurs, is the last."""
        self._check_key(name)
        return self._records.levels(name)

    def levels(self, name: str) -> tuple[Any, ...]:
        """The key's distinct values, ascending; None, if it occurs, is the last."""
        self._check_key(name)
        if name not in self._levels:
            try:
                self._levels[name] = tuple(self.key_values(name).to_pylist())
            except (ValueError, OverflowError):
                raise InputError(
                    f"the key {name!r} holds dates outside the years 1 to 9999: give text"
                ) from None
        return self._levels[name]

    def decode(self, name: str, codes: NDArray[np.integer[Any]]) -> pa.Array:
        """The values of codes of a key or of the confidential attribute; a negative code is null."""
        import pyarrow as pa

        chosen = pa.array(codes, mask=np.asarray(codes) < 0)
        if name in self._attributes:
            return self._attributes[name].labels.take(chosen)
        self._check_key(name)
        return self._records.levels(name).take(chosen)

    def like(self, columns: Mapping[str, Any]) -> Any:
        """A frame of the caller's kind, from NumPy or Arrow columns (`decode` makes them from codes).

        Columns with the name of an input column get its type if their values allow it.
        """
        import pyarrow as pa

        arrays = {
            name: c if isinstance(c, (pa.Array, pa.ChunkedArray)) else pa.array(c)
            for name, c in columns.items()
        }
        return self._rebuild(pa.table(arrays))

    @property
    def frame(self) -> Any:
        """The columns with a role, after rounding, one row per record, as a frame of the caller's kind."""
        columns: dict[str, Any] = {name: self.decode(name, self.key_codes(name)) for name in self._keys}
        for name in self._attributes:
            columns[name] = self.decode(name, self.of(name).codes)
        if self._weights_name is not None:
            columns.setdefault(self._weights_name, self._weights)
        return self.like(columns)

    def classes(
        self,
        known: Sequence[str] | None,
        *,
        values: NDArray[np.integer[Any]] | None = None,
        span: int | None = None,
    ) -> Classes:
        """The classes of people who agree on the ``known`` keys (None: all; []: one class) and the values in each.

        With ``values``, these codes (one per record, below ``span``) are counted, not the confidential ones.
        """
        known = self.known_keys(known)
        if values is not None:
            return Classes(known, self, self._count(known, values, span))
        if known not in self._classes:
            order = self._records.key_order
            cells = self._cells().select([order.index(name) for name in known])
            self._classes[known] = Classes(known, self, cells)
        return self._classes[known]

    def _cells(self) -> Cells | WideCells:
        """The confidential values in the classes of all keys, in the records' order of keys."""
        if self._finest is None:
            counted, span = self._records.cells(), len(self.attribute) if self._attributes else 1
            if counted is not None and replace(counted.layout, span=span).fits:
                radices = counted.layout.radices
                same = [np.arange(radix) for radix in radices]
                places = self._place_of_level[self.confidential]
                self._finest = counted.recode(same, places, radices=radices, span=span)
            else:
                self._finest = self._count(self._records.key_order, self.codes, span)
        return self._finest

    def _count(
        self, known: Sequence[str], values: NDArray[np.integer[Any]], span: int | None
    ) -> Cells | WideCells:
        columns = [self._records.codes(name) for name in known]
        radices = [len(self._records.levels(name)) for name in known]
        values = np.asarray(values)
        if span is None:
            span = int(values.max()) + 1
        return count_cells(columns, values, radices=radices, span=span)

    @property
    def engine(self) -> Engine | None:
        """The engine that holds the records: a database, a cluster; None if they are held here."""
        return self._records.engine

    @property
    def source_values(self) -> tuple[pa.Array, NDArray[np.int32]]:
        """The confidential column's values in the source, and the place of each in `values`, after rounding."""
        name = self.confidential
        return self._records.levels(name), self._place_of_level[name]

    def measured_by_engine(
        self, known: Sequence[str], *, eps: Sequence[float], tolerance: float | None
    ) -> pa.Table | None:
        """The measure of every class's own distribution, if the engine that holds the records can compute it; else
        None. A row per class, in the order of `classes`; see `equivoc.engines.engine.ClassQuestion.columns`.
        """
        from equivoc.engines.engine import ClassQuestion, MeasuringEngine

        engine = self.engine
        if not isinstance(engine, MeasuringEngine) or self._current not in self._place_of_level:
            return None
        question = ClassQuestion(
            keys=tuple(known),
            levels=tuple(self._records.levels(name) for name in known),
            confidential=self.confidential,
            values=self.source_values[0],
            places=self.source_values[1],
            geometry=self.attribute.geometry,
            eps=tuple(eps),
            tolerance=tolerance,
            rows=len(self),
            combinations=len(self.classes(known).cells),
            drop_missing=self._drop_missing,
        )
        found = engine.class_figures(question) if question.numbered else None
        return None if found is None else found.sort_by("class")

    def lattice(
        self,
        *,
        min_size: int = 0,
        max_size: int | None = None,
        values: NDArray[np.integer[Any]] | None = None,
        span: int | None = None,
    ) -> Iterator[Classes]:
        """The classes for every subset of the keys with ``min_size`` to ``max_size`` members, finest first.

        All come from one pass over the data (see `equivoc.data.lattice`). Each subset comes once, its
        keys in the order of ``.known``: those with most levels first. With ``values``, these codes are
        counted instead of the confidential ones.
        """
        order = self._records.key_order
        finest = self._cells() if values is None else self._count(order, values, span)
        for positions, cells in lattice(finest, min_size=min_size, max_size=max_size):
            yield Classes(tuple(order[p] for p in positions), self, cells)

    def known_keys(self, known: Sequence[str] | None) -> tuple[str, ...]:
        """The keys in ``known`` (None: all); InputError if one of them is not a key."""
        if known is None:
            return self._keys
        if isinstance(known, str):
            raise InputError(f"known must be a list of keys, such as [{known!r}]")
        if not isinstance(known, Iterable):
            raise InputError(f"known is {known!r}; give a list of keys, [] for none, or None for all")
        names = tuple(known)
        for name in names:
            self._check_key(name)
        if len(set(names)) < len(names):
            raise InputError(f"a key is named twice in known: {', '.join(map(str, names))}")
        return names

    def _check_key(self, name: str) -> None:
        if name not in self._keys:
            raise InputError(f"{name!r} is not a key{did_you_mean(name, self._keys)}")


def _kinds(
    confidential: Confidential | None, *, round_to: float | None, domain: Iterable[float] | None
) -> tuple[Kind, ...]:
    """The kinds of the confidential columns; none without one."""
    if confidential is not None:
        return as_kinds(confidential, round_to=round_to, domain=domain)
    if not (round_to is None and domain is None):
        raise InputError("round_to and domain are about a confidential column: name it by confidential")
    return ()


def check_people(name: str, given: object) -> None:
    """InputError unless ``given`` is Microdata."""
    if not isinstance(given, Microdata):
        raise InputError(
            f"{name} is a {type(given).__name__}; convert it with eq.Microdata(…, confidential=…, keys=[…])."
        )
