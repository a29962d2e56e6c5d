"""The joint release of several attributes, as one combined attribute."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from equivoc.channels.channel import Bayes
from equivoc.channels.likelihood import Table
from equivoc.data.microdata import Microdata
from equivoc.errors import InputError
from equivoc.intruder.posteriors import believed
from equivoc.intruder.prior import ReleasedColumn
from equivoc.releases.file_release import FileRelease
from equivoc.releases.linked_release import LinkedRelease
from equivoc.releases.release import GroupedRelease, Release
from equivoc.releases.released_columns import ReleasedConfidential

Floats = NDArray[np.float64]
MOST_ENTRIES = 2**26
"""Joint symbols × combinations of values: a table of half a gigabyte."""


def joint_release(together: Microdata, people: Microdata, alone: Mapping[str, Release]) -> Release:
    """The release of the combined attribute, from the releases of each (of the same records, with the same keys).

    Attributes were changed independently, so with s_a the symbol of attribute a in a record,
    ``P(d_1, d_2, … | s_1, s_2, …) ∝ prior(d_1, d_2, …) · Π_a P(s_a | d_a)`` over the combinations that occur.
    """
    from scipy.sparse import csr_array

    first = next(iter(alone.values()))
    symbols, tables = [], []
    for name, release in alone.items():
        shown, channel = _symbols_and_channel(release)
        symbols.append(shown)
        tables.append((channel, people.of(name)))
    joint, joint_of = np.unique(np.column_stack(symbols), axis=0, return_inverse=True)
    combinations = _combinations(together, people)
    if len(joint) * len(combinations) > MOST_ENTRIES:
        raise InputError(
            f"{len(joint):,} combinations of released symbols × {len(combinations):,} of values are too many to "
            "combine; round the values, or take fewer attributes."
        )
    chance = np.ones((len(joint), len(combinations)))
    for at, (channel, own) in enumerate(tables):
        chances = _rows(channel, joint[:, at], len(own.attribute))
        chance *= chances[:, combinations[:, at]]
    # Symbols that fit no combination give no information: all combinations stay possible.
    chance[~chance.any(axis=1)] = 1.0
    chance /= chance.sum(axis=1, keepdims=True)
    import pyarrow as pa

    if isinstance(first, FileRelease):
        codes: NDArray[np.int64] = joint_of.reshape(-1).astype(np.int64)
        whole = np.bincount(codes, minlength=len(joint)) @ chance / len(codes)
        released = ReleasedConfidential(
            codes,
            pa.array(np.arange(len(joint))),
            np.arange(len(joint)),
            csr_array(np.vstack([chance, whole])),
            np.full(len(joint), np.nan),
        )
        return FileRelease(together, first.matching, first.keys, released)
    channel = Bayes(Table(np.ascontiguousarray(chance.T)), np.full(len(combinations), 1 / len(combinations)))
    fixed, mechanism = first.fixed, first.mechanism
    if isinstance(first, LinkedRelease):
        labels = pa.array(np.arange(len(joint)))
        column = ReleasedColumn(joint_of.reshape(-1), labels, channel)
        return LinkedRelease(together, first.keys, column, fixed=fixed, mechanism=mechanism, combined=True)
    return GroupedRelease(together, joint_of.reshape(-1), channel, fixed=fixed, mechanism=mechanism)


def _symbols_and_channel(release: Release) -> tuple[NDArray[np.integer[Any]], Any]:
    """Each record's symbol, and the channel of the symbols with all values equally likely a priori."""
    if isinstance(release, FileRelease):
        return release.confidential.groups, release.confidential.channel
    evidence = release.evidence
    if evidence is None:
        raise InputError("this technique has no joint release of several attributes.")
    values = len(release.people.values)
    return evidence.symbols, evidence.channel_given(np.full(values, 1 / values))


def _rows(channel: Any, symbols: NDArray[np.int64], values: int) -> NDArray[np.float64]:
    """P(value | symbol) for these symbols: symbols × values."""
    if channel is None:
        return np.asarray(symbols[:, None] == np.arange(values), dtype=np.float64)
    from scipy.sparse import csr_array

    one_each = csr_array(
        (np.ones(len(symbols)), symbols, np.arange(len(symbols) + 1)), shape=(len(symbols), channel.shape[0])
    )
    found = believed(one_each, channel)
    return found if isinstance(found, np.ndarray) else found.toarray()


def _combinations(together: Microdata, people: Microdata) -> NDArray[np.int64]:
    """Combinations × attributes: the value of each attribute in each combination that occurs."""
    codes = np.column_stack([people.of(name).codes for name in people.attributes])
    first = np.unique(together.codes, return_index=True)[1]
    return np.asarray(codes[first], dtype=np.int64)
