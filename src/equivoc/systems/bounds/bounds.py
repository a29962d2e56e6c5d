"""Bounds of every person's value from the answers.

Also whether any database fits the answers, and if none does, which answers contradict each other.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from equivoc.errors import InputError
from equivoc.systems.bounds.parts import Method, Part, PersonBounds, has_gaps, spare_of_pairs
from equivoc.systems.bounds.programs import cell_count, part_possible, person_range
from equivoc.systems.bounds.solving import solved_parts
from equivoc.systems.smallest_sets import smallest
from equivoc.systems.sum_systems import SumSystem, components
from equivoc.systems.system import AnswerSystem, Atoms, ContradictionError, atoms

# The largest part that a whole-number program decides, in unknowns.
_MOST_CELLS = 20_000
# How many smaller sets of answers are checked to prove that a contradicting set is a smallest one.
_MOST_SETS = 2_000


def of_questions(system: AnswerSystem, questions: Collection[int]) -> AnswerSystem:
    """The system with the constraints of some questions only, and with the atoms that these cut.

    Of several answers about the same people, the system keeps one; only its number (in ``row_question`` or
    ``extremes``) stands for them here.
    """
    rows = np.flatnonzero(np.isin(system.row_question, list(questions)))
    extremes = [extreme for extreme in system.extremes if extreme.question in questions]
    moments = [moment for moment in system.moments if moment.question in questions]
    table, ends = system.matrix.indices, system.matrix.indptr
    sets = [table[ends[row] : ends[row + 1]].astype(np.int64) for row in rows]
    sets += [constraint.atoms for constraint in extremes] + [constraint.atoms for constraint in moments]
    coarse = atoms(sets, len(system.atoms))
    sizes = np.bincount(coarse.of_person, weights=system.atoms.sizes).astype(np.int64)
    _, first = np.unique(coarse.of_person, return_index=True)
    place = len(rows)
    return replace(
        system,
        atoms=Atoms(coarse.of_person[system.atoms.of_person], sizes, coarse.in_set),
        matrix=system.matrix[rows][:, first],
        totals=system.totals[rows],
        row_question=system.row_question[rows],
        extremes=tuple(replace(e, atoms=coarse.in_set[place + k]) for k, e in enumerate(extremes)),
        moments=tuple(
            replace(moment, atoms=coarse.in_set[place + len(extremes) + k])
            for k, moment in enumerate(moments)
        ),
    )


def possible(system: AnswerSystem, *, orders: Sequence[NDArray[np.int64]] = ()) -> bool | None:
    """Whether some database fits the sums and extremes: True and False are proven, None is undecided.

    Medians and variances are left out. Undecided are only large systems in which real numbers fit, but no database
    was met.
    """
    try:
        _, solved = solved_parts(system, orders=orders)
    except ContradictionError:
        return False
    answer: bool | None = True
    for piece in solved:
        if piece.exact or bool(np.all(piece.attained.least <= piece.attained.greatest)):
            continue
        small = cell_count(piece.part, system.grid.positions) <= _MOST_CELLS
        decided = part_possible(piece.part, system.grid.positions) if small else None
        if decided is False:
            return False
        answer = answer and decided
    return answer


def require_possible(
    system: AnswerSystem,
    *,
    orders: Sequence[NDArray[np.int64]] = (),
    truth: NDArray[np.int64] | None = None,
) -> None:
    """Raise ``ContradictionError``, which names a contradicting set of statements, if no database fits the answers.

    ``truth`` holds the people's true positions on the grid, if known: answers that they give need no search.
    """
    if truth is not None and fits(system, truth):
        return
    if possible(system, orders=orders) is not False:
        return
    raise contradiction_of(system)


def contradiction_of(system: AnswerSystem) -> InputError:
    """The error that names a contradicting set of the answers of a system that nothing fits."""
    asked = sorted({*system.row_question.tolist(), *(extreme.question for extreme in system.extremes)})

    def impossible(some: Sequence[int]) -> bool:
        return possible(of_questions(system, some)) is False

    pair = contradicting_pair(system)
    if pair is not None:
        # Without gaps every single answer that could be read is possible, so two are the fewest.
        found, proven = [system.row_question[row] for row in pair], not has_gaps(system)
        if not proven:
            found, proven = smallest(found, impossible, most=_MOST_SETS)
    else:
        found, proven = smallest(asked, impossible, most=_MOST_SETS)
        only_sums = not system.extremes and not has_gaps(system)
        proven = proven or (only_sums and len(found) <= 3)
    if not system.questions:
        return InputError(f"the answers to questions {', '.join(map(str, found))} contradict each other.")
    return ContradictionError.between([system.questions[number] for number in found], smallest=proven)


def contradicting_pair(system: AnswerSystem) -> tuple[int, int] | None:
    """Two rows that contradict each other, or None. Without gaps and extremes, None is a proof that no two do."""
    high = system.atoms.sizes * system.grid.steps
    spare = spare_of_pairs(system.matrix, system.totals, np.zeros_like(high), high)
    first, second = np.nonzero(spare > 0)
    return (int(first[0]), int(second[0])) if len(first) else None


def fits(system: AnswerSystem, positions: NDArray[np.int64]) -> bool:
    """Whether the people's positions on the grid give all known sums and extremes."""
    of_person = system.atoms.of_person
    sums = np.zeros(len(system.atoms), dtype=np.int64)
    np.add.at(sums, of_person, positions)
    if not np.array_equal(system.matrix @ sums, system.totals):
        return False
    for extreme in system.extremes:
        inside = positions[np.isin(of_person, extreme.atoms)]
        end = inside.max() if extreme.kind == "max" else inside.min()
        if end != extreme.position:
            return False
    return True


# Whole-number programs: the largest part they are tried on, in unknowns, and how many atoms of it.
MOST_CELLS = 1_500
_MOST_ATOMS = 60


def person_bounds(system: AnswerSystem, *, orders: Sequence[NDArray[np.int64]] = ()) -> PersonBounds:
    """The least and greatest value that the answers leave one person of each atom.

    ``orders`` holds candidate orders of the atoms, each an array with the rank of every atom, for example by a key:
    where every known sum is a contiguous run of one of them, shortest paths give exact bounds quickly.

    Answers that contradict each other raise ``ContradictionError`` where a bound shows it; ``require_possible`` looks
    for contradictions that bounds do not show, too.

    >>> from equivoc.systems.constraints import answer_system
    >>> from equivoc.systems.system import Question
    >>> asked = [
    ...     Question("sum", np.array([0, 1]), 190.0, statement=0, text="SUM(salary) WHERE age < 40"),
    ...     Question("sum", np.array([1, 2]), 120.0, statement=1, text="SUM(salary) WHERE age > 30"),
    ... ]
    >>> found = person_bounds(answer_system(asked, values=range(101), people=3))
    >>> found.low.tolist(), found.high.tolist(), found.exact.tolist()
    ([90, 90, 20], [100, 100, 30], [True, True, True])
    """
    from threadpoolctl import threadpool_limits

    try:
        # Many products of middle-sized matrices: handing each to several threads takes longer than computing it.
        with threadpool_limits(1):
            ranges, solved = solved_parts(system, orders=orders)
    except ContradictionError:
        raise contradiction_of(system) from None
    used, with_moment = _constrained(system)
    method: list[Method] = ["propagation" if use else "prior domain" for use in used]
    low, high = ranges.floor.copy(), ranges.cap.copy()
    exact = np.ones(len(low), dtype=bool)
    for piece in solved:
        inside = piece.part.atoms
        exact[inside] = piece.exact | piece.attained.open_ends(low[inside], high[inside])
        for atom, found_by in zip(inside, piece.method, strict=True):
            method[atom] = found_by
        for place in _worth_counting(system, piece.part, ~exact[inside] & (low[inside] < high[inside])):
            ends = person_range(piece.part, system.grid.positions, int(place))
            if ends is not None:
                atom = inside[place]
                low[atom], high[atom], exact[atom] = *ends, True
                method[atom] = "whole-number programs"
    exact = (exact & ~with_moment) | (low == high)
    return PersonBounds(low, high, ranges.low, ranges.high, exact, tuple(method))


def _worth_counting(system: AnswerSystem, part: Part, uncertain: NDArray[np.bool_]) -> NDArray[np.int64]:
    """The atoms of a part on which whole-number programs are tried."""
    places = np.flatnonzero(uncertain)
    small = len(places) <= _MOST_ATOMS and cell_count(part, system.grid.positions) <= MOST_CELLS
    return places if small else places[:0]


def _constrained(system: AnswerSystem) -> tuple[NDArray[np.bool_], NDArray[np.bool_]]:
    """Which atoms some answer constrains, and which are linked to a median or variance, over any number of answers."""
    from scipy import sparse

    columns = len(system.atoms)
    sets = [extreme.atoms for extreme in system.extremes] + [moment.atoms for moment in system.moments]
    row = np.repeat(np.arange(len(sets)), [len(inside) for inside in sets])
    column = np.concatenate([*sets, np.zeros(0, dtype=np.int64)])
    more = sparse.csr_array((np.ones(len(row), dtype=np.int64), (row, column)), shape=(len(sets), columns))
    table = sparse.csr_array(sparse.vstack([system.matrix, more], format="csr"))
    used = np.bincount(table.indices, minlength=columns) > 0
    with_moment = np.zeros(columns, dtype=bool)
    if system.moments:
        first = table.shape[0] - len(system.moments)
        nothing = np.zeros(0)
        for rows, inside in components(SumSystem(table, nothing, nothing, nothing, 0.0)):
            with_moment[inside] = bool(np.any(rows >= first))
    return used, with_moment
