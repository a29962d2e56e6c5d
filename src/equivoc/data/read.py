"""Reads people from a file, a folder of files, a database or a cluster."""

from __future__ import annotations

import os
from collections.abc import Iterable
from typing import Any

from equivoc.data.microdata import Confidential, Microdata
from equivoc.errors import InputError


def read(
    path: str | os.PathLike[str],
    *,
    confidential: Confidential | None = None,
    keys: Iterable[str] = (),
    domain: Iterable[float] | None = None,
    round_to: float | None = None,
    weights: str | None = None,
    drop_missing: bool = False,
    sample: int | None = None,
    seed: int = 0,
    memory_limit: int | str | None = None,
    spill: str | os.PathLike[str] | None = None,
    engine: str = "duckdb",
    master: str | None = None,
) -> Microdata:
    """People from a file, a folder of Parquet files or a PostgreSQL table; see `Microdata` for the arguments.

    With ``engine="spark"``, ``path`` is a folder of Parquet files or a table of Spark's catalog, and Spark counts it.
    ``master`` is the address of Spark's master (``local[*]``, ``spark://host:7077``, ``sc://host:15002``); an active
    session is used in any case, and not stopped.
    """
    source: Any = path
    if engine == "spark":
        from equivoc.engines.spark import open_people

        source = open_people(str(path), master=master)
    elif engine != "duckdb":
        raise InputError(f"engine is {engine!r}; give 'duckdb' or 'spark'.")
    elif master is not None:
        raise InputError("master is the address of a Spark cluster: give engine='spark' as well.")
    return Microdata(
        source,
        confidential=confidential,
        keys=keys,
        domain=domain,
        round_to=round_to,
        weights=weights,
        drop_missing=drop_missing,
        sample=sample,
        seed=seed,
        memory_limit=memory_limit,
        spill=spill,
    )


# A control group: people of the same population who are not in the data.


def control_people(people: Microdata, control: Any) -> Microdata:
    """The control group as Microdata, read like the people's table."""
    try:
        if not isinstance(control, Microdata):
            return people.alike(control)
        if control.several:
            return control_people(people, control.of(people.confidential))
        if control.confidential != people.confidential:
            raise InputError(
                f"its confidential column is {control.confidential!r}, not {people.confidential!r}"
            )
        lacking = [key for key in people.keys if key not in control.keys]
        if lacking:
            raise InputError(f"it lacks the key {lacking[0]!r}")
        people.check_rounded_alike(control)
    except InputError as mistake:
        raise InputError(f"the control group cannot be used: {mistake}") from None
    return control
