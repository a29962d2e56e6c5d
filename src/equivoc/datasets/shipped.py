"""The data sets shipped with equivoc, by name."""

from __future__ import annotations

from dataclasses import dataclass
from importlib.resources import files
from pathlib import Path
from typing import TYPE_CHECKING

from equivoc.errors import InputError, did_you_mean

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


# The paper's seven attributes: their names and the values each can take.

SALARY = range(10, 251, 10)
"""Thousands of US dollars a year: 25 values."""
AGE = range(16, 85)
"""Years."""
SEX = range(1, 3)
"""1 male, 2 female."""
EDUCATION = range(1, 17)
"""Highest level reached, 1 none to 16 doctorate."""
INDUSTRY = range(1, 19)
"""Groups of the Census industry codes."""
OCCUPATION = range(1, 26)
"""Groups of the Census occupation codes."""
TRAVEL_TIME = range(1, 178)
"""Minutes to work, one way."""

DOMAINS = {
    "Salary": SALARY,
    "Age": AGE,
    "Sex": SEX,
    "Education": EDUCATION,
    "Industry": INDUSTRY,
    "Occupation": OCCUPATION,
    "Travel_time": TRAVEL_TIME,
}
"""The seven columns in order; the first is confidential, the others are what an intruder may know."""
