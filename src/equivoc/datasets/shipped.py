"""The data sets shipped with equivoc, by name."""

from __future__ import annotations

from dataclasses import dataclass
from importlib.resources import files
from pathlib import Path
from typing import TYPE_CHECKING

from equivoc.did_you_mean import did_you_mean
from equivoc.errors import InputError

if TYPE_CHECKING:
    import pandas as pd

    from equivoc.data.microdata import Microdata


@dataclass(frozen=True)
class Roles:
    """What is confidential in a shipped file, and what an intruder may know."""

    confidential: str
    """The confidential column."""
    round_to: float
    """The rounding step of the confidential values, in the column's unit."""
    keys: tuple[str, ...]
    """What an intruder may know."""


# The keys correspond to the paper's six: age, sex, education, industry, occupation and (there) travel time.
_SHIPPED = {
    "cps_hourly_workers": Roles(
        confidential="wage_per_hour",
        round_to=100,
        keys=("age", "sex", "education", "major_industry", "major_occupation", "weeks_worked"),
    ),
}


def names() -> list[str]:
    """The names of the shipped data.

    >>> names()
    ['cps_hourly_workers']
    """
    return sorted(_SHIPPED)


def path(name: str) -> Path:
    """The path of the shipped file (CSV with a header); the file of the same name ending in .md describes its source.

    >>> path("cps_hourly_workers").name
    'cps_hourly_workers.csv'
    """
    _roles(name)
    return Path(str(files("equivoc.datasets").joinpath(f"{name}.csv")))


def load(name: str) -> pd.DataFrame:
    """A shipped file as a frame; text such as "NA" stays text.

    ``cps_hourly_workers``: 2,500 hourly workers of the US Current Population Survey 1994–95 (UCI Census-Income
    (KDD) extract, CC BY 4.0); ``wage_per_hour`` in US cents.

    >>> load("cps_hourly_workers").shape
    (2500, 13)
    """
    import pandas as pd

    return pd.read_csv(path(name), keep_default_na=False)


def people(name: str) -> Microdata:
    """A shipped file as people, its columns in the roles of the paper's experiment.

    ``cps_hourly_workers``: the hourly wage is confidential, rounded to 100 US cents (46 values); age, sex,
    education, industry, occupation and weeks worked are what an intruder may know.

    >>> people("cps_hourly_workers").values[:3]
    array([100., 200., 300.])
    """
    from equivoc.data.microdata import Microdata

    roles = _roles(name)
    return Microdata(load(name), confidential=roles.confidential, keys=roles.keys, round_to=roles.round_to)


def _roles(name: str) -> Roles:
    if not isinstance(name, str) or name not in _SHIPPED:
        raise InputError(f"no data set named {name!r} comes with equivoc{did_you_mean(name, names())}")
    return _SHIPPED[name]
