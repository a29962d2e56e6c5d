"""Compares the figures of `tests.stored_cases` with stored_figures.json: some changes must alter none.

    python -m tests.stored_figures            within 1e-9, as `make test` does on every machine
    python -m tests.stored_figures --exact    bit for bit
    python -m tests.stored_figures --write    stores them; prints old and new value of each figure that changed

Other machines round sums differently. For an exact comparison on another machine than the file was written on, write
a file there first, from the commit before the change: ``--write --file before.json``, then ``--exact --file
before.json``.

Compared bit for bit only are digests, each of which stands for many values, and figures of models that scikit-learn
fits, because its versions fit them differently. Everything here is the same in each process and with any number of
threads; nothing had to be left out for that.
"""

from __future__ import annotations

import argparse
import hashlib
import json
import math
import sys
import warnings
from collections.abc import Iterator, Mapping
from dataclasses import fields, is_dataclass
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import pandas as pd

from tests.stored_cases import CASES

FILE = Path(__file__).with_suffix(".json")
DIGEST = "sha256:"
FITTED = ("pmse", "prediction")
SEARCHED, WITHIN = "uniques", 1e-4
"""Numbers at which a search for the greatest likelihood ended: less precise than sums."""
NONE = "none"

Figures = dict[str, Any]


class Change(NamedTuple):
    """A figure that is not what was stored."""

    figure: str
    old: Any
    new: Any

    def __str__(self) -> str:
        return f"{self.figure}: {self.old!r} → {self.new!r}"


def computed(case: str) -> Figures:
    """All figures of a case, by name. Renamed arguments warn until 1.0; a figure does not depend on the spelling."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", DeprecationWarning)
        warnings.simplefilter("ignore", FutureWarning)
        return dict(_flat("", CASES[case]()))


def _flat(name: str, value: Any) -> Iterator[tuple[str, Any]]:
    """Single figures; of an array or a frame a digest and the means."""
    if is_dataclass(value):
        shown = {field.name: getattr(value, field.name) for field in fields(value) if field.repr}
        value = {part: inner for part, inner in shown.items() if not isinstance(inner, str)}
    elif isinstance(value, list | tuple):
        value = dict(enumerate(value))
    elif isinstance(value, np.ndarray):
        yield f"{name} | digest", _digest(value.tolist())
        value = {"mean": value.mean()} if value.dtype.kind in "biuf" else {}
    elif isinstance(value, pd.DataFrame):
        yield f"{name} | digest", _digest(value.to_dict("list"))
        value = {f"mean {column}": value[column].mean() for column in value}
    if isinstance(value, Mapping):
        for key, inner in value.items():
            yield from _flat(f"{name} | {key}" if name else str(key), inner)
    else:
        yield name, value.item() if isinstance(value, np.generic) else value


def _digest(values: Any) -> str:
    return DIGEST + hashlib.sha256(repr(values).encode()).hexdigest()[:16]


def stored(file: Path = FILE) -> Figures:
    return named(json.loads(file.read_text(encoding="utf-8")))


def named(cases: Mapping[str, Figures]) -> Figures:
    """The figures of several cases in one mapping."""
    return {f"{case} | {name}": value for case, figures in cases.items() for name, value in figures.items()}


def changes(old: Figures, new: Figures, *, exact: bool) -> list[Change]:
    """What differs, in the order of the cases; figures that only one of the two has are changes too."""
    pairs = (Change(name, old.get(name, NONE), new.get(name, NONE)) for name in {**new, **old})
    return [pair for pair in pairs if not (repr(pair.old) == repr(pair.new) or (not exact and _close(*pair)))]


def _close(figure: str, old: Any, new: Any) -> bool:
    """Equal but for the rounding of sums. A digest, or what scikit-learn fits, need only be there."""
    if NONE in (old, new) or type(old) is not type(new):
        return False
    if str(old).startswith(DIGEST) or any(name in figure for name in FITTED):
        return True
    tolerance = WITHIN if SEARCHED in figure else 1e-9
    return isinstance(old, float) and math.isclose(old, new, rel_tol=tolerance, abs_tol=1e-9)


def main() -> int:
    parser = argparse.ArgumentParser(description="Compare the stored figures, or store them anew.")
    parser.add_argument("--exact", action="store_true", help="bit for bit, not within 1e-9")
    parser.add_argument("--write", action="store_true", help="store the figures; print what changed")
    parser.add_argument("--file", type=Path, default=FILE, help="another file than the one in tests/")
    asked = parser.parse_args()
    old = stored(asked.file) if asked.file.exists() or not asked.write else {}
    cases = {case: computed(case) for case in CASES}
    changed = changes(old, named(cases), exact=asked.exact or asked.write)
    print(*changed, f"{len(changed)} of {len(named(cases))} figures changed.", sep="\n")
    if asked.write:
        asked.file.write_text(json.dumps(cases, indent=0, ensure_ascii=False) + "\n", encoding="utf-8")
    return 0 if asked.write else int(bool(changed))


if __name__ == "__main__":
    sys.exit(main())
