"""The unprotected file: the baseline with the highest risk."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from equivoc.data.classes import Classes
from equivoc.data.microdata import Microdata, check_people
from equivoc.intruder.posteriors import Posteriors
from equivoc.intruder.strengths import STRENGTHS, Choice, InapplicableError
from equivoc.releases.release import Release
from equivoc.techniques.technique import Randomness, Technique

_NOTHING_TO_ADD = "the file itself is released, so nothing can be added"


@dataclass(frozen=True)
class Unprotected(Technique):
    """Publish every record. The posterior is the distribution of values within the target's class.

    >>> import pandas as pd
    >>> people = Microdata(pd.DataFrame({"sex": list("FFM"), "pay": [50, 107, 77]}), confidential="pay", keys=["sex"])
    >>> Unprotected().release(people).posteriors(["sex"]).probabilities.tolist()
    [[0.5, 0.0, 0.5], [0.0, 1.0, 0.0]]
    """

    name: ClassVar[str] = "unprotected"
    needs_records: ClassVar[bool] = False

    @property
    def random(self) -> bool:
        return False

    @property
    def whole_records(self) -> bool:
        return True

    def release(self, people: Microdata, rng: Randomness = None) -> PublishedFile:
        """The file itself; nothing is random."""
        check_people("people", people)
        return PublishedFile(people, mechanism=self.mechanism(people))

    def mechanism(self, people: Microdata) -> str:
        return "She sees every record unchanged."


@dataclass(frozen=True, eq=False)
class PublishedFile(Release):
    """The original file."""

    @property
    def table(self) -> Any:
        return self.people.frame

    @property
    def origins(self) -> NDArray[np.int64]:
        return np.arange(len(self.people))

    def of_classes(self, classes: Classes) -> Posteriors:
        return Posteriors(classes, self.people.attribute, classes.counts, None)

    def believed(self, classes: Classes, prior: NDArray[np.float64], intruder: str) -> Posteriors:
        if intruder in ("informed", "paper"):
            return self.of_classes(classes)
        raise InapplicableError(_NOTHING_TO_ADD)

    def plainly(self, classes: Classes, prior: NDArray[np.float64], intruder: str) -> Choice:
        raise InapplicableError(_NOTHING_TO_ADD)

    def unreadable(self, intruder: str) -> str:
        return ""

    def left_out(self, classes: Classes) -> dict[str, str]:
        return dict.fromkeys(STRENGTHS[1:], _NOTHING_TO_ADD)
