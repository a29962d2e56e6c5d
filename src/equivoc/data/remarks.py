"""What a reader of figures must know about how the people were read: rows left out, words that may mean nothing."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from equivoc.attributes.written_values import (
    are_comma_numbers,
    are_missing_words,
    are_numbers,
    are_other_numbers,
)
from equivoc.text import counted

if TYPE_CHECKING:
    import pyarrow as pa

    from equivoc.data.microdata import Microdata

STAR = "*"
"""What other tools write for a value that they withhold."""
_MOST_WORDS = 3
_LONGEST_WORD = 20


class Remark(NamedTuple):
    """One thing to know about how the people were read."""

    about: str
    """In a few words, for the table of measures."""
    people: int
    """How many people it concerns."""
    sentence: str


def remarks(people: Microdata) -> Iterator[Remark]:
    """None for a file that is read as it is meant."""
    if not people.reading.plain:
        yield Remark("how the file was read", people.reading.records, people.reading.sentence)
    if people.dropped:
        names = " or ".join(people.attributes)
        facts = {"left_out": people.dropped, "records": len(people), "confidential": names}
        yield Remark("people left out", people.dropped, left_out_sentence(facts))
    for name, note in people.read_otherwise.items():
        yield Remark(f"how {name} was read", len(people), f"{name}: {note}.")
    for name in people.keys:
        yield from _of_key(people, name)
    if not people.attributes:
        return
    for name in people.attributes if people.several else [people.confidential]:
        yield from _of_confidential(people.of(name), name)


def left_out_sentence(data: Mapping[str, Any]) -> str:
    """What the number of people leaves out, from facts about them.

    >>> left_out_sentence({"left_out": 377, "records": 1623, "confidential": "income"})
    '377 of 2,000 people were left out because income is missing; every figure is about the 1,623 others.'
    """
    left_out, records = data["left_out"], data["records"]
    verb = "was" if left_out == 1 else "were"
    return (
        f"{left_out:,} of {counted(left_out + records, 'person')} {verb} left out because {data['confidential']} is "
        f"missing; every figure is about the {records:,} others."
    )


def counted_records(data: Mapping[str, Any]) -> str:
    """The number of people with that of those left out, from facts about them.

    >>> counted_records({"left_out": 377, "records": 1623}), counted_records({"records": 1623})
    ('1,623 records (377 left out)', '1,623 records')
    """
    left_out = data.get("left_out")
    return f"{counted(data['records'], 'record')}{f' ({left_out:,} left out)' if left_out else ''}"


def _of_key(people: Microdata, name: str) -> Iterator[Remark]:
    import pyarrow.compute as pc

    texts = _texts(people.key_values(name))
    if texts is None:
        return
    missing = are_missing_words(texts)
    words = ~(are_numbers(texts) | are_other_numbers(texts))
    mixed = 0 < words.sum() < len(words) / 2
    commas = are_comma_numbers(texts)
    stars = pc.equal(texts, STAR).to_numpy(zero_copy_only=False)
    if not (mixed or missing.any() or commas.any() or stars.any()):
        return
    found = (people.of(next(iter(people.attributes))) if people.several else people).classes([name])
    sizes = np.zeros(len(people.key_values(name)), np.int64)
    sizes[found.key_codes[:, 0]] = found.sizes
    sizes = sizes[: len(texts)]  # null is the last level
    if missing.any():
        yield Remark(
            f"words in {name}",
            int(sizes[missing].sum()),
            f"The key {name!r} holds {_shown(texts, sizes, missing)}: read as a value of its own, not as missing. If "
            "it means that the value is missing, leave these fields empty.",
        )
    if stars.any():
        yield Remark(
            f"stars in {name}",
            int(sizes[stars].sum()),
            f"The key {name!r} holds {_shown(texts, sizes, stars)}: read as a value of its own, not as any value. If "
            "this is a released file, give it as such (ReleasedFile in Python, --release in a command), with the "
            "original as the people.",
        )
    if mixed:
        yield Remark(
            f"no numbers in {name}",
            int(sizes[words].sum()),
            # The words are not shown: they can be those of a single person.
            f"The key {name!r} holds numbers, but other text for {counted(int(sizes[words].sum()), 'person')}: all of "
            "it is read as text, so its values are equal or different, never close.",
        )

    if commas.any():
        yield Remark(
            f"numbers with a comma in {name}",
            int(sizes[commas].sum()),
            f"The key {name!r} holds numbers with a comma for {counted(int(sizes[commas].sum()), 'person')}: all of it "
            "is read as text, so its values are equal or different, never close. Write 1234.5, not 1.234,5 or 1,234.5.",
        )


def _of_confidential(people: Microdata, name: str) -> Iterator[Remark]:
    dates = people.attribute.dates
    if dates is not None:
        yield Remark(
            f"dates in {name}",
            len(people),
            f"{name} holds dates, which are read as {dates.unit} since 1970-01-01: distances and tolerances are in "
            f"{dates.unit}.",
        )
    if people.attribute.kind != "categories":
        return
    texts = _texts(people.attribute.labels)
    if texts is None:
        return
    missing = are_missing_words(texts)
    if missing.any():
        sizes = np.asarray(people.classes([]).counts.toarray()[0], np.int64)
        yield Remark(
            f"words in {name}",
            int(sizes[missing].sum()),
            f"{name} holds {_shown(texts, sizes, missing)}: read as a category, not as missing. If it means that the "
            "value is missing, leave these fields empty and the rows out.",
        )


def _texts(levels: pa.Array) -> pa.Array | None:
    """The texts among the levels without blanks around them; None for levels of another type."""
    import pyarrow as pa
    import pyarrow.compute as pc

    if not (pa.types.is_string(levels.type) or pa.types.is_large_string(levels.type)):
        return None
    return pc.utf8_trim_whitespace(levels.drop_null())


def _shown(texts: pa.Array, sizes: NDArray[np.int64], which: NDArray[np.bool_]) -> str:
    """These texts with their numbers of people: 'NA' for 12 people."""
    at = np.flatnonzero(which)
    most = at[np.argsort(-sizes[at], kind="stable")][:_MOST_WORDS]
    named = [f"{_word(texts[int(i)].as_py())} for {counted(int(sizes[i]), 'person')}" for i in most]
    more = len(at) - len(most)
    return ", ".join(named) + (f" and {counted(more, 'other text')}" if more else "")


def _word(text: str) -> str:
    return repr(text if len(text) <= _LONGEST_WORD else f"{text[:_LONGEST_WORD]}…")
