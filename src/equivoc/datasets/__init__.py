"""Example data: the shipped file, ACS-like people of any number, and your own Census file.

>>> import equivoc.datasets
>>> equivoc.datasets.names()
['cps_hourly_workers']
"""

from equivoc.datasets.acs_people import acs_like, write_acs_like
from equivoc.datasets.pums import read_pums
from equivoc.datasets.shipped import load, names, path, people

__all__ = ["acs_like", "load", "names", "path", "people", "read_pums", "write_acs_like"]
