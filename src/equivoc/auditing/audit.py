"""`audit`: from SQL statements and their answers to what is known about each person."""

from __future__ import annotations

import os
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from decimal import Decimal
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from equivoc.assessment.assess import assess
from equivoc.auditing.conclusions import UNSETTLED, AnsweredQuestions, named_methods
from equivoc.auditing.result import Audit
from equivoc.channels.channel import Stated
from equivoc.checks import checked_number, checked_whole_number
from equivoc.data.microdata import Microdata, check_people
from equivoc.errors import InputError
from equivoc.files import check_readable
from equivoc.intruder.prior import Prior, prior_probabilities
from equivoc.releases.release import GroupedRelease
from equivoc.requirements.requirement import Requirement, requirements
from equivoc.text import counted

if TYPE_CHECKING:
    from equivoc.sql.asking import PeopleTable
    from equivoc.systems.system import Question

# Answered queries as a release: what follows from the answers, for every person.


@dataclass(frozen=True, eq=False)
class AnsweredLog(GroupedRelease):
    """The answers to a log of queries. People who are in the same query sets have the same posterior.

    ``group[r]`` is the atom of record r, and the channel's rows are the posteriors of the atoms.
    """

    remarks: tuple[str, ...] = field(default=(), repr=False)
    """What the posteriors leave out or approximate, in sentences."""
    doubt: str = field(default="", repr=False)
    """Why the posteriors may show less risk than there is; "": they do not."""

    def notes(self, known: Sequence[str] | None = None) -> list[str]:
        return list(self.remarks)

    @property
    def assumption(self) -> str:
        """What the intruder is assumed to know and use, in sentences."""
        return self.mechanism


def knowledge(confidential: str, statements: int, prior: str) -> str:
    """What the intruder knows. ``prior`` is "uniform", "marginal" or "given".

    >>> print(knowledge("pay", 2, "uniform"))
    She knows the answers to 2 statements, everyone's keys (so who is in each query set) and the values that pay can \
take. She takes every database that fits the answers as equally likely.
    """
    weighs = {
        "uniform": "She takes every database that fits the answers as equally likely.",
        "marginal": f"She weighs the databases that fit the answers by the distribution of {confidential} among the "
        "people, each person independently of the others.",
        "given": "She weighs the databases that fit the answers by the given prior, each person independently of the "
        "others.",
    }[prior]
    return (
        f"She knows the answers to {counted(statements, 'statement')}, everyone's keys (so who is in each query set) "
        f"and the values that {confidential} can take. {weighs}"
    )


def doubt(people: int) -> str:
    """Why no requirement is met if the figures of so many people may show less risk than there is.

    >>> doubt(0), doubt(2)
    ('', 'the figures of 2 people are incomplete, rough or bounds only, and more may be known about them')
    """
    if not people:
        return ""
    them = "her" if people == 1 else "them"
    return (
        f"the figures of {counted(people, 'person')} are incomplete, rough or bounds only, and more may be known about "
        f"{them}"
    )


LARGEST_LOG = 64 * 2**20
"""Bytes of a file of statements."""


def audit(
    people: Microdata,
    statements: str | os.PathLike[str] | Sequence[str],
    *,
    answers: Any = None,
    prior: Prior = "uniform",
    known: Sequence[str] | None = None,
    eps: Any = None,
    seed: int = 0,
    require: Iterable[str | Requirement] | None = None,
    tolerance: float | None = None,
    work: float | None = None,
) -> Audit:
    """What someone who knows the answers to ``statements``, and everyone's keys, knows about each person.

    ``statements`` is SQL text (statements separated by semicolons), a list with one statement in each entry, or a path
    object (``pathlib.Path``) of a file of such text: SUM, AVG, COUNT, MIN, MAX, MEDIAN, VARIANCE and STDDEV of the
    confidential attribute over people whose keys meet a condition. ``answers`` are recorded answers; without them, and
    without comments such as ``-- answer: 57`` in the text, they are computed from the people.

    ``prior`` weighs the databases that fit the answers: "uniform" (all are equally likely), "marginal" (each value as
    often as among the people), or a probability for each value. ``known``, ``eps``, ``require`` and ``tolerance`` are
    those of `equivoc.assess`: `Audit.assessment` is for someone who knows these keys of her target (None: all);
    `Audit.frame` is always for someone who knows all keys. ``seed`` is for figures that are sampled; ``work`` limits
    the steps for the posteriors of people who are linked by answers (1e8 take about a second; None: about a minute).

    >>> import pandas as pd
    >>> frame = pd.DataFrame({"sex": ["F", "F", "M"], "pay": [50, 107, 77]})
    >>> people = Microdata(frame, confidential="pay", keys=["sex"], domain=range(10, 151))
    >>> asked = "SELECT MAX(pay) FROM people WHERE sex = 'F'; SELECT AVG(pay) FROM people WHERE sex = 'F'"
    >>> found = audit(people, asked)
    >>> found.frame[["low", "high", "h0", "area"]].iloc[0].tolist()
    [50.0, 107.0, 1.0, 57.0]
    """
    from equivoc.sql.asking import PeopleTable, ask
    from equivoc.sql.parsing import parse
    from equivoc.sql.schema import schema_of

    check_people("people", people)
    _check_auditable(people)
    seed = checked_whole_number("seed", seed, at_least=0)
    required = requirements(require)
    if isinstance(answers, (str, os.PathLike)):
        check_readable(Path(answers))
    belief = prior_probabilities(prior, people)
    schema = schema_of(people)
    parsed = parse(statement_text(statements), schema=schema)
    if not parsed:
        raise InputError(
            "the log has no statement; give at least one, such as SELECT AVG(salary) FROM people."
        )
    table = PeopleTable.of(people, schema)
    questions, recorded = ask(table, parsed, answers=answers)
    if work is not None:
        work = checked_number("work", work, "a number above 0", lambda steps: 0 < steps < float("inf"))
    log = AnsweredQuestions(questions, people, belief, seed, work)
    concluded = log.conclusions()
    system, found = concluded.system, concluded.posteriors
    notes = (*found.notes, *_of_other_data(table, [each for each in questions if each.statement in recorded]))
    unsettled = np.isin(named_methods(found).astype(str), UNSETTLED)[system.atoms.of_person]
    release = AnsweredLog(
        people,
        system.atoms.of_person,
        Stated(found.probabilities),
        remarks=notes,
        doubt=doubt(int(np.count_nonzero(unsettled))),
        fixed=True,
        mechanism=knowledge(people.confidential, len(parsed), _prior_name(prior)),
    )
    result = assess(
        people, release, known=known, eps=eps, prior=belief, require=required, precision=tolerance
    )
    return Audit(
        people,
        tuple(each.sql() for each in parsed),
        log,
        result,
        *concluded.bounds(),
        found,
        system.atoms.of_person,
        (*(remark.sentence for remark in people.remarks), *notes),
        seed,
    )


def statement_text(statements: str | os.PathLike[str] | Sequence[str]) -> str | Sequence[str]:
    """The statements; those of a path object are read from its file."""
    if not isinstance(statements, os.PathLike):
        return statements
    path = Path(statements)
    check_readable(path)
    try:
        if path.stat().st_size > LARGEST_LOG:
            raise InputError(f"{path} is larger than {LARGEST_LOG >> 20} MiB; split the log.")
        return path.read_text(encoding="utf-8-sig")
    except OSError as refused:
        raise InputError(f"{path} cannot be read: {refused.strerror}.") from None
    except UnicodeDecodeError as wrong:
        raise InputError(f"{path} is not UTF-8 text (byte {wrong.start}); save it as UTF-8.") from None


def _check_auditable(people: Microdata) -> None:
    """InputError unless the people have one confidential attribute of numbers."""
    if people.several:
        names = list(people.attributes)
        raise InputError(
            f"an audit is about one confidential attribute: choose one, as in people.of({names[0]!r})."
        )
    if not people.attribute.numeric:
        raise InputError(
            f"{people.confidential} holds categories, which have no sums: an audit needs a confidential attribute of "
            "numbers."
        )


def _prior_name(prior: Prior) -> str:
    return prior if isinstance(prior, str) else "given"


def _of_other_data(table: PeopleTable, recorded: Sequence[Question]) -> list[str]:
    """A note if recorded answers are not those of the data."""
    other = []
    for each in recorded:
        own = table.values.answer(each.aggregate, each.members)
        if (own is None) != (each.answer is None) or (
            own is not None and each.answer is not None and not _same(own, each.answer)
        ):
            other.append(each.statement + 1)
    if not other:
        return []
    numbers = list(dict.fromkeys(other))
    shown = ", ".join(map(str, numbers[:10])) + (", …" if len(numbers) > 10 else "")
    return [
        f"The recorded answers of {counted(len(numbers), 'statement')} ({shown}) differ from what these data give; the "
        "figures follow the recorded answers."
    ]


def _same(own: float, recorded: float) -> bool:
    """True if the recorded answer is the data's own, perhaps with fewer digits."""
    if own == recorded:
        return True
    places = -int(Decimal(repr(recorded)).as_tuple().exponent)
    return abs(own - recorded) <= 0.5 * 10.0**-places * (1 + 1e-9)
