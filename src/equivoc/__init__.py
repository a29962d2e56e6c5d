"""equivoc: how closely can an intruder pin down a person's confidential value?"""

from equivoc.version import __version__

__all__ = ["__version__"]
