"""What a job's process gets: the people, the request, a folder for its files, and a way to tell its progress."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any

from equivoc.errors import InputError
from equivoc.web.live.held_people import text, texts
from equivoc.web.live.people_spec import PeopleSpec

if TYPE_CHECKING:
    from equivoc.data.microdata import Microdata

Tell = Callable[[int, int, str], None]
"""Called with what is done, what there is in all, and a sentence."""


@dataclass(frozen=True, eq=False)
class Work:
    """One job."""

    spec: PeopleSpec
    given: Mapping[str, Any]
    """The request."""
    folder: Path
    """The job's own folder; what is in ``files`` can be downloaded."""
    tell: Tell

    @cached_property
    def people(self) -> Microdata:
        """The people, read once."""
        self.tell(0, 0, "reading the file")
        return self.spec.read()

    @property
    def files(self) -> Path:
        """The folder of the files to download."""
        return self.folder / "files"

    def text(self, name: str, default: str = "") -> str:
        """A text of the request."""
        return text(self.given, name, default)

    def texts(self, name: str) -> tuple[str, ...]:
        """A list of texts of the request."""
        return texts(self.given, name)

    def number(self, name: str) -> float | None:
        """A number of the request; None if it is not given."""
        found = self.given.get(name)
        if found is not None and (isinstance(found, bool) or not isinstance(found, (int, float))):
            raise InputError(f"{name} must be a number.")
        return found

    def whole(self, name: str, default: int) -> int:
        """A whole number of the request."""
        found = self.given.get(name)
        if found is None:
            return default
        if isinstance(found, bool) or not isinstance(found, int):
            raise InputError(f"{name} must be a whole number.")
        return found

    @property
    def known(self) -> list[str] | None:
        """The keys that the intruder knows; None: all."""
        return None if self.given.get("known") is None else list(self.texts("known"))

    @property
    def intruder(self) -> dict[str, Any]:
        """The arguments that every assessment has."""
        eps = self.number("eps")
        return {
            "known": self.known,
            "prior": self.text("prior", "marginal"),
            "intruder": self.text("intruder", "strongest"),
            "eps": None if eps is None else sorted({0.0, float(eps)}),
        }
