"""Limits that the page proposes for a rule: each lies between nothing released and the file as it is."""

from __future__ import annotations

from decimal import ROUND_CEILING, ROUND_FLOOR, ROUND_HALF_EVEN, Decimal
from math import isfinite
from time import monotonic
from typing import TYPE_CHECKING, Any

from equivoc.assessment.assessment import Assessment
from equivoc.errors import InputError
from equivoc.requirements.outcome import eps_of, figure_value
from equivoc.requirements.requirement import FIGURES, OVER, Comparison, Requirement
from equivoc.techniques.notation import TECHNIQUES
from equivoc.techniques.technique import tried_parameters, useful_range
from equivoc.web.held_people import Asked

if TYPE_CHECKING:
    from equivoc.data.microdata import Microdata
    from equivoc.techniques.technique import Technique
    from equivoc.web.held_people import HeldPeople

# The set of settings that the page proposes to compare: each has been tried for these people, and runs.

SHARES = (0.25, 0.6)
"""Where in the useful range of a technique's parameter its settings lie; 0 is the low end."""
PATIENCE = 15.0
"""Seconds after which no further setting is tried: the set is then shorter."""


def proposed_settings(held: HeldPeople, *, known: tuple[str, ...] | None = None) -> list[str]:
    """Notations of settings that can be released and measured; first one of each technique, then the others."""
    end, found = monotonic() + PATIENCE, []
    for notation in candidates(held.people):
        if monotonic() > end:
            break
        if _runs(held, notation, known):
            found.append(notation)
    return found


def candidates(people: Microdata) -> list[str]:
    """Settings worth trying, without those that the technique itself refuses."""
    of_techniques = [_settings(kind, people) for kind in TECHNIQUES.values()]
    longest = max(map(len, of_techniques))
    rounds = [own[at] for at in range(longest) for own in of_techniques if at < len(own)]
    return list(dict.fromkeys(rounds))


def _settings(kind: type[Technique], people: Microdata) -> list[str]:
    """Settings of a technique by its usual parameter; [] if it has none that is a number and needs others."""
    try:
        tried = tried_parameters(kind)
        if not tried:
            return [kind.read({}).notation]
        usual, tries = next(iter(tried.items()))
        values = tries.values(*useful_range(usual, tries, people), name=usual)
        chosen = [values[round(share * (len(values) - 1))] for share in SHARES]
        return [kind.read({usual: value}).notation for value in dict.fromkeys(chosen)]
    except InputError:
        return []


def _runs(held: HeldPeople, notation: str, known: tuple[str, ...] | None) -> bool:
    """True if a release can be made and measured."""
    try:
        _ = held.beliefs(Asked(technique=notation, known=known)).truth
    except (InputError, MemoryError):
        return False
    return True


USUAL = {"certain_right": 0.0, "k": 3.0, "l": 2.0}
"""Whole numbers that are proposed where they lie between."""
DIGITS = 2


def proposed_limits(bare: Assessment, eps: float) -> dict[str, dict[str, Any]]:
    """By figure and then over whom: the figure if nothing is released, that of the file as it is, and a limit.

    ``bare`` is the assessment of the file as it is; hits are at the tolerance ``eps``.
    """
    limits: dict[str, dict[str, Any]] = {}
    for name, kind in FIGURES.items():
        comparison: Comparison = "<=" if kind.riskier == "more" else ">="
        limits[name] = {}
        for over in OVER if kind.per_person else OVER[:1]:
            wanted = Requirement(name, None, over, comparison, 1.0)
            wanted = wanted.at(eps_of(wanted, eps))
            nothing, file = bare.nothing_released.figure(wanted), figure_value(bare, wanted)
            if file is None:
                continue
            limits[name][over] = {
                "eps": wanted.eps,
                "nothing": nothing,
                "file": file,
                "limit": limit_between(nothing, file, comparison, usual=USUAL.get(name)),
            }
    return limits


def limit_between(
    nothing: float, file: float, comparison: Comparison, *, usual: float | None = None
) -> float:
    """A short number between both, that nothing released keeps; ``usual`` if it lies there.

    Where the file as it is is not riskier than nothing released, the limit is that of nothing released.

    >>> limit_between(0.67, 0.98, "<="), limit_between(4.13, 0.2, ">="), limit_between(2000, 1, ">=", usual=3)
    (0.82, 2.2, 3)
    >>> limit_between(0.671234, 0.671234, "<="), limit_between(0.5001, 0.5002, "<=")
    (0.68, 0.50015)
    """
    riskier = 1.0 if comparison == "<=" else -1.0
    if not isfinite(file) or riskier * (file - nothing) <= 0:
        return _short(nothing, DIGITS, ROUND_CEILING if comparison == "<=" else ROUND_FLOOR)
    low, high = sorted((nothing, file))
    if usual is not None and low <= usual <= high:
        return usual
    middle = (low + high) / 2
    if usual is not None:  # figures that are whole numbers
        return nothing if comparison == "<=" else float(int(middle))
    for digits in range(DIGITS, 17):
        found = _short(middle, digits, ROUND_HALF_EVEN)
        if low < found < high:
            return found
    return middle


def _short(value: float, digits: int, rounding: str) -> float:
    number = Decimal(repr(float(value)))
    if not number:
        return 0.0
    step = Decimal(1).scaleb(number.adjusted() - digits + 1)
    return float((number / step).to_integral_value(rounding) * step)
