"""The result of an audit: what follows from the answers about each person."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property, partial
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from equivoc.auditing.conclusions import EXACT, UNSETTLED, AnsweredQuestions, named_methods
from equivoc.checks import checked_number
from equivoc.errors import InputError
from equivoc.intruder.posteriors import DENSE_UP_TO
from equivoc.measure.distribution import one_tolerance
from equivoc.results.result import Reported
from equivoc.systems.smallest_sets import smallest_sufficient_set
from equivoc.text import counted

if TYPE_CHECKING:
    from scipy.sparse import csr_array

    from equivoc.assessment.assessment import Assessment
    from equivoc.attributes.attribute import Attribute
    from equivoc.data.microdata import Microdata
    from equivoc.measure.curves import Curves
    from equivoc.requirements.outcome import Outcome
    from equivoc.systems.posteriors.exact import AtomPosteriors

# The posterior of each person, kept once for each atom.

Floats = NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class PersonPosteriors:
    """P(value | all answers) of each person, in the people's order. People of one atom have the same."""

    attribute: Attribute = field(repr=False)
    atom: NDArray[np.int64] = field(repr=False)
    """The atom of each person: the row of ``table``."""
    table: Floats = field(repr=False)
    """Atoms × |D|; each row sums to 1."""

    def __len__(self) -> int:
        return len(self.atom)

    @property
    def values(self) -> NDArray[Any]:
        """The domain D, ascending."""
        return self.attribute.values

    @property
    def probabilities(self) -> Floats | csr_array:
        """People × |D|; each row sums to 1. A scipy CSR array where a dense one would pass 256 MB."""
        if 8 * len(self.atom) * self.table.shape[1] <= DENSE_UP_TO:
            return np.asarray(self.table[self.atom])
        from scipy.sparse import csr_array

        found: csr_array = csr_array(self.table)[self.atom]
        return found

    def of(self, person: int) -> Floats:
        """The posterior of one person, by her record number from 0."""
        return np.asarray(self.table[self.atom[person]])

    def curves(self, *, tolerance: float | None = 1e-3) -> Curves:
        """The measure on every person; each atom is computed once. See `equivoc.curves` for ``tolerance``."""
        from equivoc.measure.curves import curves

        return curves(self.values, self.table, tolerance=tolerance).rows(self.atom)


# Which statements disclose a person's value: a small set of them that suffices to be certain.

WORK = 3e7
"""The work for all groups of people together: members of tested query sets; some ten seconds."""
MOST_WORK = 6e6
"""The work for one group, at most."""
TEST = 2e4
"""The work of a test whose query sets have few members."""


@dataclass(frozen=True)
class ResponsibleStatements:
    """Statements whose answers alone disclose the value of a group of people who are in the same query sets."""

    people: int
    """How many people the group has."""
    person: int
    """The record number of the first of them, from 0."""
    statements: tuple[int, ...]
    """The numbers of the statements in the log, from 1."""
    smallest: bool
    """True if it is proved that no smaller set of statements suffices."""
    irreducible: bool
    """True if it is proved that none of these can be left out."""

    @property
    def words(self) -> str:
        """What is known about the size of the set."""
        if self.smallest:
            return "a smallest set"
        return (
            "none of these can be left out" if self.irreducible else "sufficient; perhaps not all are needed"
        )


def responsible_statements(
    log: AnsweredQuestions, groups: Sequence[tuple[int, int]]
) -> list[ResponsibleStatements | None]:
    """For each group (a person's record number, and how many people it has) the statements that disclose its value.

    None if no set was found within the work limit. The groups share the work: what one does not need, others can use.
    """
    sizes: dict[int, int] = {}
    for each in log.questions:
        sizes[each.statement] = sizes.get(each.statement, 0) + each.people
    left, responsible = WORK, []
    for at, (person, people) in enumerate(groups):
        most = min(MOST_WORK, left / (len(groups) - at))
        spent: list[float] = []

        def cost(chosen: frozenset[int], spent: list[float] = spent) -> float:
            spent.append(TEST + sum(sizes[number] for number in chosen))
            return spent[-1]

        found = smallest_sufficient_set(
            log.near_to(person), partial(log.certain, person=person), work=most, cost=cost
        )
        left -= min(sum(spent), most)
        responsible.append(
            None
            if found is None
            else ResponsibleStatements(
                people, person, tuple(number + 1 for number in found.items), found.smallest, found.irreducible
            )
        )
    return responsible


CERTAIN = 1e-9
"""Bits: less uncertainty than this counts as none."""
MOST_GROUPS = 20
"""For so many groups of compromised people, the largest first, the responsible statements are searched."""


@dataclass(frozen=True, eq=False)
class Audit(Reported):
    """What someone who knows everyone's keys and all answers knows about each person.

    Entropies are in bits, areas in bits × the confidential attribute's unit, bounds in that unit. Less entropy and area
    is riskier. `assessment` has the figures for someone who knows only some of the keys of her target, and the
    requirements.
    """

    kind: ClassVar[str] = "audit"

    people: Microdata = field(repr=False)
    sql: tuple[str, ...] = field(repr=False)
    """The statements, written anew from what was understood."""
    log: AnsweredQuestions = field(repr=False)
    """The questions that the statements ask, with their answers."""
    assessment: Assessment = field(repr=False)
    """The answers as a release, assessed for the known keys and the prior: see `equivoc.assess`."""
    low: Floats = field(repr=False)
    """The least value that the answers leave a person of each atom."""
    high: Floats = field(repr=False)
    """The greatest."""
    found: AtomPosteriors = field(repr=False)
    """The posterior of each atom, and how it was found."""
    atom: NDArray[np.int64] = field(repr=False)
    """The atom of each person: people who are in the same query sets are one atom."""
    notes: tuple[str, ...] = ()
    """What the figures leave out or approximate, in sentences."""
    seed: int = 0

    def __repr__(self) -> str:
        certain = int(np.count_nonzero(self.certain[self.atom]))
        return (
            f"<Audit: {counted(self.statement_count, 'statement')} about {counted(len(self.people), 'person')}, "
            f"{certain:,} with a known {self.people.confidential}>"
        )

    @property
    def inputs(self) -> list[Any]:
        """The file of the people."""
        return [self.people.source]

    @property
    def posteriors(self) -> PersonPosteriors:
        """The posterior of each person, in the people's order."""
        return PersonPosteriors(self.people.attribute, self.atom, self.found.probabilities)

    @cached_property
    def curves(self) -> Curves:
        """The measure on each atom."""
        from equivoc.measure.curves import curves

        return curves(self.people.values, self.found.probabilities, tolerance=self.assessment.precision)

    @cached_property
    def certain(self) -> NDArray[np.bool_]:
        """Of each atom: True if one value is left (H0 = 0)."""
        return np.asarray(self.curves.h0 < CERTAIN)

    @cached_property
    def proved(self) -> NDArray[np.bool_]:
        """Of each atom: True if one value left is proved: the posterior is exact, or the bounds leave one value."""
        exact = np.array([method in EXACT for method in self.found.method], dtype=np.bool_)
        return np.asarray(exact | (self.low == self.high))

    @cached_property
    def method(self) -> NDArray[Any]:
        """The method behind each atom's posterior: a name of `equivoc.auditing.conclusions.MEANINGS`."""
        return named_methods(self.found)

    @cached_property
    def unsettled(self) -> NDArray[np.bool_]:
        """Of each atom: True if its figures may show less risk than there is."""
        return np.asarray(np.isin(self.method.astype(str), UNSETTLED))

    @cached_property
    def frame(self) -> Any:
        """One row per person, in the people's order, for someone who knows everyone's keys.

        low, high: the least and greatest value that fit all answers. h0 (bits), area (bits × unit), eps_max (the
        width of the posterior's support), method (see `methods`), error (the standard error of the largest
        probability: 0 if exact, null if it is not known). Less h0, area and eps_max is riskier.
        """
        of = self.atom
        return self._like({"low": self.low[of], "high": self.high[of], **self._figures})

    def tables(self, *, record_values: bool = False) -> dict[str, Any]:
        """The frames to write into files, by name: records, compromised and statements.

        They say how exposed each person is, and which record number is compromised. Unless ``record_values`` is true,
        no key, value, bound or answer is in them, and statements stand as they were asked, without their groups.
        """
        if record_values:
            return {"records": self.frame, "compromised": self.compromised, "statements": self.statements}
        people, questions = self.people, self.log.questions
        records = np.flatnonzero(self.certain[self.atom])
        return {
            "records": people.like(self._figures),
            "compromised": people.like(self._of_chosen(records)),
            "statements": people.like(
                {
                    "statement": np.array([each.statement + 1 for each in questions], dtype=np.int64),
                    "sql": np.array([self.sql[each.statement] for each in questions], dtype=object),
                    "aggregate": np.array([each.aggregate for each in questions], dtype=object),
                    "people": np.array([each.people for each in questions], dtype=np.int64),
                }
            ),
        }

    @property
    def _figures(self) -> dict[str, Any]:
        """The columns of `frame` that hold no value of a person."""
        import pyarrow as pa

        curves, of = self.curves, self.atom
        error = np.asarray(self.found.error, dtype=np.float64)[of]
        return {
            "h0": curves.h0[of],
            "area": curves.area[of],
            "method": self.method[of],
            "eps_max": curves.eps_max[of],
            "error": pa.array(error, mask=np.isnan(error)),
        }

    @cached_property
    def compromised(self) -> Any:
        """The people with H0 = 0: their record number (from 0), keys, and the value that follows from the answers.

        ``proved`` is False where the certainty is only that of a sample.
        """
        return self._chosen(self.certain[self.atom])

    def within(self, eps: float, *, probability: float = 1.0) -> Any:
        """The people whose value is known to within ``eps``: all values that are left lie in one window of that width.

        With ``probability`` below 1, a window that has at least this probability is enough.
        """
        width = one_tolerance("eps", eps)
        share = checked_number("probability", probability, "above 0 and at most 1", lambda p: 0 < p <= 1)
        return self._chosen(self.known_within(width, share)[self.atom])

    def known_within(self, eps: float, probability: float = 1.0) -> NDArray[np.bool_]:
        """Of each atom: True if a window of width ``eps`` has at least this probability."""
        if probability == 1.0:
            return np.asarray(self.curves.eps_max <= eps * (1 + 1e-12))
        return np.asarray(self.curves.hit(eps) >= probability * (1 - 1e-12))

    @property
    def statement_count(self) -> int:
        """How many statements were audited."""
        return len(self.sql)

    @cached_property
    def statements(self) -> Any:
        """One row per question: its statement's number (from 1), the SQL as understood, aggregate, people, answer.

        A statement with GROUP BY, or with several aggregates, asks several questions.
        """
        import pyarrow as pa

        questions = self.log.questions
        return self._like(
            {
                "statement": np.array([each.statement + 1 for each in questions], dtype=np.int64),
                "question": np.array([each.text for each in questions], dtype=object),
                "aggregate": np.array([each.aggregate for each in questions], dtype=object),
                "people": np.array([each.people for each in questions], dtype=np.int64),
                "answer": pa.array([each.answer for each in questions], type=pa.float64()),
            }
        )

    @cached_property
    def responsible(self) -> tuple[ResponsibleStatements, ...]:
        """For each group of compromised people (the largest 20): statements that suffice to know their value."""
        found = self._responsible(self._compromised_atoms[:MOST_GROUPS])
        return tuple(each for each in found if each is not None)

    def why(self, record: int) -> ResponsibleStatements | None:
        """The statements that disclose the value of one person, by her record number from 0.

        None if her value is not known, or if no set was found within the work limit.
        """
        if not 0 <= record < len(self.people):
            raise InputError(f"record is {record}; give a number from 0 to {len(self.people) - 1}.")
        atom = int(self.atom[record])
        return self._responsible([atom])[0] if self.certain[atom] else None

    @property
    def unexplained(self) -> int:
        """How many groups of compromised people are beyond those of `responsible`."""
        return max(len(self._compromised_atoms) - len(self.responsible), 0)

    @property
    def requirements(self) -> tuple[Outcome, ...]:
        """The outcome of each requirement, for the known keys."""
        return self.assessment.requirements

    @property
    def meets(self) -> bool:
        """True if every requirement is met; also without requirements. `unsettled` figures meet none."""
        return self.assessment.meets

    @cached_property
    def methods(self) -> Mapping[str, int]:
        """How many people's posteriors were found by each method, the most common first."""
        names, counts = np.unique(self.method[self.atom].astype(str), return_counts=True)
        order = np.lexsort((names, -counts))
        return {str(names[at]): int(counts[at]) for at in order}

    @cached_property
    def _compromised_atoms(self) -> list[int]:
        """The atoms with one value left, the largest first."""
        sizes = np.bincount(self.atom, minlength=len(self.low))
        numbers = np.flatnonzero(self.certain)
        return [int(at) for at in numbers[np.argsort(-sizes[numbers], kind="stable")]]

    def _responsible(self, atoms: list[int]) -> list[ResponsibleStatements | None]:
        groups = [np.flatnonzero(self.atom == atom) for atom in atoms]
        return responsible_statements(self.log, [(int(members[0]), len(members)) for members in groups])

    def _chosen(self, chosen: NDArray[np.bool_]) -> Any:
        """Some of the people: record number, keys, the likeliest value, bounds, h0, method, proved."""
        people, records = self.people, np.flatnonzero(chosen)
        of = self.atom[records]
        best = people.values[np.argmax(self.found.probabilities, axis=1)][of]
        keys = {name: people.decode(name, people.key_codes(name)[records]) for name in people.keys}
        figures = self._of_chosen(records)
        columns = {
            "record": figures.pop("record"),
            "value": best,
            "low": self.low[of],
            "high": self.high[of],
            **figures,
        }
        return people.like({**keys, **_beside(keys, columns)})

    def _of_chosen(self, records: NDArray[np.int64]) -> dict[str, Any]:
        """The columns about some of the people that hold neither keys nor values."""
        of = self.atom[records]
        return {
            "record": records,
            "h0": self.curves.h0[of],
            "method": self.method[of],
            "proved": self.proved[of],
        }

    def _like(self, columns: Mapping[str, Any]) -> Any:
        return self.people.like(_beside(self.people.names, columns))


def _beside(taken: Any, columns: Mapping[str, Any]) -> dict[str, Any]:
    """The columns, renamed if the people have columns of the same names."""
    return {f"{name}_" if name in taken else name: column for name, column in columns.items()}
