"""How the figures of a random technique vary from release to release."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np

from equivoc.assessment.class_figures import members
from equivoc.engines.engine import MeasuringEngine
from equivoc.errors import InputError
from equivoc.requirements.outcome import figure_value, over_releases
from equivoc.text import exact

if TYPE_CHECKING:
    import pyarrow as pa

    from equivoc.assessment.assessment import Assessment

FIGURES = ("h0", "area", "surprise", "gain", "hit", "true_hit", "certain_right")


def seeds_of(result: Assessment) -> list[int | None]:
    """The seed of each release: one if the technique is not random or a single release is assessed."""
    technique = result.drawn_by
    if technique is None or not technique.random or result.seed is None:
        return [result.seed]
    return list(range(result.seed, result.seed + result.replicates))


def drawn_figures(result: Assessment) -> list[dict[str, Any]]:
    """The figures and the requirements' values of every release; nothing else of the releases is kept."""
    rows = [_figures(result)]
    for seed in seeds_of(result)[1:]:
        assert result.drawn_by is not None  # only a technique has several seeds
        release = result.drawn_by.release(result.people, seed)
        rows.append(_figures(replace(result, release=release, seed=seed, replicates=1, control=None)))
    return rows


def spread_over_seeds(result: Assessment) -> dict[str, Any] | None:
    """Mean, standard deviation, least, greatest and a 95 % interval of the mean, of each figure over the seeds.

    A technique that is not random has one release. None: one release was asked for.
    """
    if result.drawn_by is None or result.replicates == 1:
        return None
    rows = result.drawn_figures
    return {
        "random": result.drawn_by.random,
        "seeds": seeds_of(result),
        "eps": result.hit_eps,
        "intruders": sorted({row["intruder"] for row in rows}),
        **{name: over_releases([row[name] for row in rows]) for name in FIGURES},
    }


def _figures(result: Assessment) -> dict[str, Any]:
    eps, means, truth = result.hit_eps, result.means, result.truth
    return {
        "intruder": result.intruder,
        "h0": means["h0"],
        "area": means["area"],
        "surprise": truth.overall.surprise,
        "gain": truth.overall.gain,
        "hit": means["hit"][eps],
        "true_hit": means["true_hit"][eps],
        "certain_right": truth.certain.truth.certain_right,
        "requirements": [figure_value(result, requirement) for requirement in result.require],
    }


# Figures of every record of people in a cluster: written there, because the records stay there.


def write_records_of(result: Assessment, folder: str, *, beside: Sequence[str]) -> None:
    """Have the engine write the figures of every record; InputError if it cannot, or if the data have changed."""
    people = result.people
    engine = people.engine
    if not isinstance(engine, MeasuringEngine):
        raise InputError(
            "write_records is for people in a Spark cluster; here, write result.records with the frame's own method."
        )
    if isinstance(beside, str):
        raise InputError(f"beside must be a list of columns, such as [{beside!r}]")
    on = [*result.known, people.confidential]
    count = engine.write_records(_by_value(result), on=on, beside=list(beside), folder=folder)
    if count != len(people):
        raise InputError(
            f"{folder} has {count:,} records, but {len(people):,} were counted: the data have changed since; delete "
            "the folder, and read the people again."
        )


def _by_value(result: Assessment) -> pa.Table:
    """A row for each class and each value of the confidential column in it: the values, then the figures."""
    import pyarrow as pa

    people, classes = result.people, result.posteriors.classes
    counts, row = members(classes)
    levels, places = people.source_values
    # Rounding may have given several values of the column the same place.
    order = np.argsort(places, kind="stable")
    bounds = np.searchsorted(places[order], np.arange(len(people.attribute) + 1))
    many = np.diff(bounds)[counts.indices]
    entry = np.repeat(np.arange(len(row)), many)
    nth = np.arange(len(entry)) - np.repeat(np.cumsum(many) - many, many)
    level = order[bounds[counts.indices][entry] + nth]
    columns: dict[str, Any] = {}
    for name, codes in zip(result.known, classes.key_codes.T, strict=True):
        columns[name] = people.decode(name, codes[row[entry]])
    arrays = [*columns.values(), levels.take(pa.array(level))]
    names = [*columns, people.confidential]
    for name, column in {"class": np.arange(len(classes)), **result.class_columns()}.items():
        arrays.append(pa.array(column[row[entry]]))
        names.append(name)
    for e, shares in result.right_guesses.items():
        arrays.append(pa.array(shares[entry]))
        names.append(f"true_hit_{exact(e)}")
    for e, bits in {0.0: result.truth.overall.surprises, **result.truth.bits}.items():
        arrays.append(pa.array(bits[entry]))
        names.append(f"surprise_{exact(e)}")
    return pa.Table.from_arrays(arrays, names=names)
