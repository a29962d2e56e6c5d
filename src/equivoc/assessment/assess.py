"""`assess`: the checked arguments of an assessment."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

from equivoc.assessment.assessment import Assessment
from equivoc.assessment.of_table import assess_table
from equivoc.assessment.participation import Participation
from equivoc.checks import check_choice, checked_whole_number
from equivoc.data.microdata import Microdata, check_people
from equivoc.data.read import control_people
from equivoc.errors import InputError
from equivoc.intruder.prior import Prior, prior_probabilities
from equivoc.intruder.strengths import INTRUDERS
from equivoc.measure.distribution import check_relative_gap, tolerances
from equivoc.releases.release import Release
from equivoc.renamed import renamed
from equivoc.requirements.outcome import check_at_used_tolerances, tolerances_with
from equivoc.requirements.requirement import Requirement, requirements
from equivoc.tables.cell_table import CellTable
from equivoc.tables.release import TableRelease
from equivoc.techniques.technique import Technique


@renamed(tolerance="precision")
def assess(
    people: Microdata | CellTable,
    technique: Technique | Release | TableRelease,
    *,
    known: Sequence[str] | None = None,
    seed: int = 0,
    eps: Any = None,
    prior: Prior = "marginal",
    intruder: str = "strongest",
    control: Any = None,
    precision: float | None = None,
    replicates: int = 1,
    require: Iterable[str | Requirement] | None = None,
    participation: str | float | None = None,
    population: float | Microdata | None = None,
) -> Any:
    """Measure the disclosure risk of a technique, or of an existing release, for ``people``.

    ``known`` are the keys whose values the intruder knows of her target (None: all of them; []: none). ``eps`` are the
    tolerances of the hit rates (None: 0 and about a tenth of the domain's width, `round_tolerance`). ``prior`` is what
    is publicly known of the confidential attribute without the release: "marginal" (its distribution among the
    people), "uniform", or a probability for each value of the domain. Every intruder but the paper's uses it, and it is
    the baseline. ``intruder`` is "paper" (the algorithm as published, with a uniform prior), "informed" (Bayes' rule
    with the prior, the mechanism and the number of people like the target), "register" (informed, and knows the
    keys of everybody), "learned" (informed, and learns from the release how values depend on keys) or "strongest": of
    those that apply, the one whose beliefs come closest to the truth. ``control`` are people who are not in the data,
    with the same columns (a Microdata, or a table that is read like the people's): the summary then also gives the
    figures for them, which show what can be learnt about anyone. ``precision`` certifies areas to that relative gap
    (0.01: within 1 %); without it, areas of classes with more than 256 values are estimated, and the summary says how
    many, with a bound of the error of those that were checked. ``replicates`` releases of a random technique, with the
    seeds ``seed``, ``seed + 1``, …, show how much the figures depend on the draw (``summary["spread"]``); all other
    figures are those of the first.

    ``require`` are requirements such as "true_hit(5000) <= 0.2" or "h0@worst >= 1": ``result.requirements`` says which
    are met and by how much, ``result.meets`` whether all are. Tolerances that they name are added to ``eps``. With
    ``replicates``, a requirement must be met at the riskier end of the 95 % interval of the mean.

    ``participation`` says whether she knows that her target took part: "known", "unknown" (the survey weights, or a
    register, give the chance), or the chance itself. All figures, and requirements, are then those of the people in the
    file for such an intruder. Without it participation is known; of people with survey weights
    ``summary["participation"]`` has beside it the figures of those in the file and of the whole population when it is
    not. ``population`` is the population's size, where the weights do not sum to it, or its people, for an intruder
    who has a register of them.

    A table of cells (`equivoc.tabulate`) with one of its releases gets a `TableAssessment`: figures for each withheld
    or rounded cell. Only ``eps`` and ``require`` apply to it.

    People with several confidential attributes get `SeveralAssessments`: ``attributes`` has one Assessment for each,
    ``together`` the figures of all combined. ``eps`` and ``prior`` may then be mappings by attribute.

    >>> import pandas as pd
    >>> from equivoc.techniques.unprotected import Unprotected
    >>> frame = pd.DataFrame({"sex": ["F", "F", "M", "M"], "pay": [50, 107, 77, 80]})
    >>> result = assess(Microdata(frame, confidential="pay", keys=["sex"]), Unprotected())
    >>> result.classes["area"].tolist()
    [57.0, 3.0]
    """
    if isinstance(people, CellTable):
        return assess_table(people, technique, eps=eps, require=require)
    check_people("people", people)
    if isinstance(technique, TableRelease):
        raise InputError("a released table is assessed with its table of cells: eq.assess(table, release).")
    required = requirements(require)
    if people.several:
        from equivoc.assessment.several import assess_several

        return assess_several(
            people,
            technique,
            known=known,
            seed=seed,
            eps=eps,
            prior=prior,
            intruder=intruder,
            control=control,
            precision=precision,
            replicates=replicates,
            require=required,
            participation=participation,
            population=population,
        )
    participant = Participation.of(people, participation, population)
    if not participant.known and control is not None:
        raise InputError(
            "control compares with people who are not in the data, with known participation: leave one of them out."
        )
    names = people.known_keys(known)
    if precision is not None:
        precision = check_relative_gap(precision, exact_allowed=False, name="precision")
    asked = tolerances("eps", people.attribute.geometry.default_tolerances() if eps is None else eps)
    expected = prior_probabilities(prior, people)
    check_choice("intruder", intruder, INTRUDERS)
    replicates = checked_whole_number("replicates", replicates, at_least=1)
    others = None if control is None else control_people(people, control)
    if isinstance(technique, Technique):
        release, notation, drawn_with = technique.release(people, seed), technique.notation, seed
    elif isinstance(technique, Release):
        if technique.people is not people:
            raise InputError("the release was made from other people; assess it with those it was made from.")
        if replicates > 1:
            raise InputError(
                "replicates needs a technique to draw releases from; leave it out for an existing release."
            )
        release, notation, drawn_with = technique, type(technique).__name__, None
    else:
        raise InputError(f"technique is {technique!r}; give a technique such as Sampling(0.1), or a release.")
    if others is not None:
        release.check_links_others()
    at = tolerances_with(required, asked.tolist())
    drawn_by = technique if isinstance(technique, Technique) else None
    result = Assessment(
        people,
        release,
        notation,
        names,
        at,
        expected,
        drawn_with,
        others,
        precision,
        intruder,
        replicates,
        drawn_by,
        required,
        participant=participant,
    )
    check_at_used_tolerances(result)
    return result
