"""A file that is a sample: what an intruder learns who does not know whether her target took part.

Three figures, always in this order, so that never only the mild one is seen: she knows that her target took part; the
people in the file, when she does not know it; and the whole population, of whom the file's people are a few. For the
last, a record of weight w stands for itself and for w − 1 people who are not in the file: about them she learns from
the file without the record, `T = Σ_r [s_in + (w_r − 1) · s_out] / Σ_r w_r`.

The chance that the target of a class with f records took part is f · r, with r = E[1/F | f] for the F people of the
population in the class: the chance of a link to each of its records, and exactly the individual risk of sdcMicro.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from equivoc.assessment.class_figures import entry_numbers, members
from equivoc.checks import is_finite
from equivoc.data.classes import Classes
from equivoc.data.microdata import Microdata
from equivoc.errors import InputError
from equivoc.intruder.participation import (
    PopulationShares,
    checked_participation,
    is_the_file,
    learnt_shares,
    unsure_choice,
)
from equivoc.intruder.posteriors import Posteriors
from equivoc.intruder.prior import marginal, without_zeros
from equivoc.intruder.strengths import TIE, Choice, Tried, against_truth
from equivoc.intruder.truth import Truth, hold_against_truth
from equivoc.models.of_file.identification import chance_of_link, counted
from equivoc.text import counted as counted_words
from equivoc.text import exact, figure

if TYPE_CHECKING:
    from equivoc.assessment.assessment import Assessment

Floats = NDArray[np.float64]
NORMALISED = 1.01
"""Weights that sum to less than so many times the number of records are shares of the file, not numbers of people."""


@dataclass(frozen=True, eq=False)
class Participation:
    """Whether the intruder knows that her target took part, and what the population is."""

    asked: str | float = "known"
    """"known", "unknown", or the chance that the target took part."""
    population: float | Microdata | None = field(default=None, repr=False)
    """Its size, or its people (a register that she has); None: the survey weights say."""

    @classmethod
    def of(cls, people: Microdata, participation: Any, population: Any) -> Participation:
        """The checked arguments of an assessment of these people."""
        asked = checked_participation(participation)
        found = cls(asked, _checked_population(people, population))
        if asked == "unknown":
            found.check(people)
        return found

    @property
    def known(self) -> bool:
        """True if she knows that her target took part."""
        return self.asked == "known"

    @property
    def register(self) -> Microdata | None:
        """The people of the population, if they are given."""
        return self.population if isinstance(self.population, Microdata) else None

    @property
    def facts(self) -> str | float:
        """As plain data, for the description of a comparison."""
        if self.known or isinstance(self.asked, float):
            return self.asked
        if self.register is not None:
            return f"{self.asked}, with a register of {len(self.register):,} people"
        return self.asked if self.population is None else f"{self.asked}, of {self.population:,.12g} people"

    def applies(self, people: Microdata) -> bool:
        """True if anything is said about how the file was drawn."""
        return not self.known or people.weights is not None or self.population is not None

    def check(self, people: Microdata) -> None:
        """InputError unless the chance that somebody took part can be told."""
        why = self.why_not(people)
        if why:
            raise InputError(f'participation="unknown" cannot be used: {why}')

    def why_not(self, people: Microdata) -> str:
        """Why that chance cannot be told; "" if it can."""
        weights = people.weights
        if weights is None:
            if self.register is not None:
                return ""
            return (
                "the people have no survey weights; name their column with weights=, or give the people of the "
                "population as population=, or a share such as participation=0.02."
            )
        zero = np.flatnonzero(weights <= 0)
        if zero.size:
            return (
                f"record {zero[0] + 1:,} has the survey weight {weights[zero[0]]:g}, and a weight must be above 0: "
                "leave such records out."
            )
        total = float(weights.sum())
        if self.population is None and total < NORMALISED * len(people):
            return (
                f"the survey weights sum to {figure(total)}, about the number of records ({len(people):,}), so they do "
                "not say how large the population is: give its size with population=."
            )
        return ""

    def weights(self, people: Microdata) -> tuple[Floats | None, list[str]]:
        """The weight of each record in people of the population, and remarks on them; None if there are none."""
        given = people.weights
        if given is None or (given <= 0).any():
            return None, []
        scaled = given * (self.population / float(given.sum())) if is_finite(self.population) else given
        few = int(np.count_nonzero(scaled < 1))
        if not few:
            return scaled, []
        return np.maximum(scaled, 1.0), [
            f"{counted_words(few, 'survey weight')} below 1 count{'s' if few == 1 else ''} as 1: a record stands for "
            "at least the person it is about."
        ]

    def survey(self, classes: Classes) -> Survey:
        """What the weights, or the register, say about the people of these classes."""
        people = classes.people
        weights, remarks = self.weights(people)
        sizes, link, sums = classes.sizes, None, None
        if self.register is not None:
            behind = counted(classes, self.register).sizes
            link = 1.0 / behind
            if weights is None:
                weights = (behind / sizes)[classes.of_record]
        if weights is not None:
            sums = np.bincount(classes.of_record, weights=weights, minlength=len(classes)).astype(np.float64)
            if link is None:
                link = chance_of_link(sizes, np.maximum(sums, sizes))
        if isinstance(self.asked, float):
            chance = np.full(len(classes), self.asked)
        else:
            assert link is not None  # `check` has refused everything else
            chance = np.minimum(sizes * link, 1.0)
        return Survey(classes, weights, sums, link, chance, self, tuple(remarks))


def _checked_population(people: Microdata, given: Any) -> float | Microdata | None:
    if given is None or isinstance(given, Microdata):
        return given
    if not is_finite(given):
        raise InputError(
            f"population is {given!r}; give the number of people in the population, or these people as Microdata."
        )
    if given < len(people):
        raise InputError(
            f"population is {exact(given)}, fewer than the {len(people):,} records; give the size of the population."
        )
    if people.weights is None:
        raise InputError(
            "population is a number, but the people have no survey weights that it could scale: name their column "
            "with weights=, or give the people of the population."
        )
    return float(given)


@dataclass(frozen=True, eq=False)
class Survey:
    """The chance of each class that somebody in it took part."""

    classes: Classes = field(repr=False)
    weights: Floats | None = field(repr=False)
    """Of each record, in people of the population; None if that is not known."""
    sums: Floats | None = field(repr=False)
    """Of each class."""
    link: Floats | None = field(repr=False)
    """r of each class: the chance of a link to each of its records; None if that is not known."""
    chance: Floats = field(repr=False)
    """P_in of each class."""
    asked: Participation
    remarks: tuple[str, ...]

    @property
    def population(self) -> float | None:
        """How many people the file stands for."""
        return None if self.sums is None else float(self.sums.sum())

    @cached_property
    def entries(self) -> NDArray[np.int64]:
        """The entry of the classes' counts of each record."""
        return entry_numbers(self.classes, self.classes.of_record, self.classes.people.codes)

    def of_entries(self) -> Floats:
        """The sum of the weights of each entry of the classes' counts."""
        classes = self.classes
        if self.weights is None:
            return np.asarray(classes.counts.data, np.float64)
        found = np.bincount(self.entries, weights=self.weights, minlength=len(classes.counts.data))
        return np.asarray(found, np.float64)

    def shares(self, choice: Choice, prior: Floats) -> PopulationShares:
        """π as the intruder who is used learns it from the release."""
        return learnt_shares(choice, self.sums, prior, self.of_entries)

    def mixed(self, choice: Choice, prior: Floats) -> Choice:
        """The same intruders, who do not know that their target took part."""
        return unsure_choice(choice, self.chance, self.shares(choice, prior))

    def outside(self) -> tuple[Floats, Floats]:
        """Of each record, for a person like it who is not in the file: the chance that she is, from the file without
        the record, and how many records of her class the file then has."""
        of, others = self.classes.of_record, self.classes.sizes[self.classes.of_record] - 1
        if isinstance(self.asked.asked, float):
            return np.where(others > 0, self.asked.asked, 0.0), others.astype(np.float64)
        assert self.link is not None
        assert self.weights is not None
        assert self.sums is not None
        link = self.link[of]
        if self.asked.register is None:
            link = chance_of_link(others, np.maximum(self.sums[of] - self.weights, others))
        return np.minimum(others * link, 1.0), others.astype(np.float64)


# The three figures.


def participation_facts(result: Assessment) -> dict[str, Any] | None:
    """The entry ``participation`` of a summary; None for a file of which nothing says that it is a sample."""
    people, asked = result.people, result.participant
    if not asked.applies(people):
        return None
    figures = [_figure("known", _known(result), 1.0)]
    facts: dict[str, Any] = {"asked": asked.asked, "figures": figures, "population": None}
    why_not = "" if isinstance(asked.asked, float) else asked.why_not(people)
    if why_not:
        return {**facts, "individual_risk": None, "why_not": why_not, "remarks": [], "warning": ""}
    survey, choice = asked.survey(result.posteriors.classes), result.when_known
    shares = survey.shares(choice, result.prior_probabilities)
    unknown, used = _unknown(result, survey, shares, choice)
    sizes = survey.classes.sizes
    figures.append(_figure("unknown", unknown, float(np.average(survey.chance, weights=sizes))))
    if survey.weights is not None:
        figures.append(_of_population(result, survey, shares, used))
    return {
        **facts,
        "population": survey.population,
        "individual_risk": _individual_risk(survey),
        "learnt": {"order": list(shares.order), "strength": shares.strength},
        "why_not": "",
        "remarks": list(survey.remarks),
        "warning": _warning(survey),
    }


def _figure(name: str, truth: Truth, chance: float) -> dict[str, Any]:
    return {
        "name": name,
        "surprise": truth.surprise,
        "prior_surprise": truth.prior_surprise,
        "certain_right": round(truth.certain_right),
        "below_half_bit": truth.below_half_bit,
        "chance": chance,
    }


def _known(result: Assessment) -> Truth:
    """The figures of the intruder who knows that her target took part."""
    if result.participant.known:
        found = result.truth
        return _riskiest(found.overall, [each.truth for each in found.everyone])
    everyone = [_in_file(result, each.posteriors, None, None) for each in result.when_known.tried]
    beside = [_in_file(result, each, None, None) for each in _beside(result.when_known)]
    used = result.when_known.tried.index(result.when_known.used)
    return _riskiest(everyone[used], [*everyone, *beside])


def _unknown(
    result: Assessment, survey: Survey, shares: PopulationShares, choice: Choice
) -> tuple[Truth, Tried]:
    """The figures of the people in the file for somebody who does not know that they are, and whose they are."""
    truths = [_in_file(result, each.posteriors, survey, shares) for each in choice.tried]
    beside = [_in_file(result, each, survey, shares) for each in _beside(choice)]
    least = min(each.surprise for each in truths)
    used = next(place for place, each in enumerate(truths) if each.surprise <= least + TIE)
    return _riskiest(truths[used], [*truths, *beside]), choice.tried[used]


def _beside(choice: Choice) -> list[Posteriors]:
    return [each for tried in choice.tried for each in tried.beside]


def _riskiest(used: Truth, everyone: Sequence[Truth]) -> Truth:
    """Her surprise, with the certainty of whoever is certain and right about most people."""
    return replace(
        used,
        certain_right=max(each.certain_right for each in everyone),
        below_half_bit=max(each.below_half_bit for each in everyone),
    )


def _in_file(
    result: Assessment, posteriors: Posteriors, survey: Survey | None, shares: PopulationShares | None
) -> Truth:
    """The people in the file against the truth; without a survey she knows that they are in it."""
    counts, row = members(posteriors.classes)
    belief = posteriors.of_values(row, counts.indices)
    if survey is not None and shares is not None:
        belief = _mixed(belief, survey, shares, row, counts.indices)
    return hold_against_truth(belief, result.mixed_prior[counts.indices], counts.data, _least_entropy(belief))


def _mixed(
    inside: Floats, survey: Survey, shares: PopulationShares, row: NDArray[np.int64], values: NDArray[Any]
) -> Floats:
    """Beliefs about one value of one class each, if she does not know that her target took part."""
    chance = survey.chance[row]
    return np.minimum(chance * inside + (1.0 - chance) * shares.at(row, values), 1.0)


def _least_entropy(belief: Floats) -> Floats:
    """The least entropy, in bits, of a distribution that gives one value this probability.

    Somebody who is certain and right gives the true value all but some 1e-11 of the probability, so this decides who is
    certain without the rest of the distribution.
    """
    found = np.zeros(len(belief))
    some = (belief > 0) & (belief < 1)
    p = belief[some]
    found[some] = -(p * np.log2(p) + (1 - p) * np.log1p(-p) / np.log(2))
    found[belief <= 0.5] = 1.0  # not right; whether she is certain is not asked
    return found


def _of_population(
    result: Assessment, survey: Survey, shares: PopulationShares, used: Tried
) -> dict[str, Any]:
    """The figures of everybody in the population: those in the file, and those like them who are not."""
    assert survey.weights is not None
    classes, posteriors, people = survey.classes, used.posteriors, result.people
    counts, row = members(classes)
    of, codes = classes.of_record, people.codes
    entry = survey.entries
    inside = posteriors.of_values(row, counts.indices)
    within = _mixed(inside, survey, shares, row, counts.indices)
    belief = inside[entry]
    chance, others = survey.outside()
    weight = survey.weights / shares.unit
    own = weight
    if is_the_file(posteriors):
        belief = np.divide(counts.data[entry] - 1.0, others, out=np.zeros(len(of)), where=others > 0)
    else:
        trust = against_truth(posteriors, result.prior_probabilities).trust
        own = weight * (trust * belief + (1.0 - trust) * result.prior_probabilities[codes])
    population = shares.at(of.astype(np.int64), codes, own=own, whole=weight)
    belief = np.minimum(chance * belief + (1.0 - chance) * population, 1.0)
    # Those in the file, and for each of them the people like it who are not; one trust for all of them.
    every = np.concatenate([within, belief])
    found = hold_against_truth(
        every,
        result.mixed_prior[np.concatenate([counts.indices, codes])],
        np.concatenate([counts.data, survey.weights - 1.0]),
        _least_entropy(every),
    )
    before = _public(result, survey.weights)[codes]
    bare = float(-(survey.weights * np.log2(before)).sum() / survey.weights.sum())
    taken_part = float(np.average(survey.chance, weights=survey.sums))
    return _figure("population", replace(found, prior_surprise=bare), taken_part)


def _public(result: Assessment, weights: Floats) -> Floats:
    """The prior of the population: where it is the distribution in the file, with the weights."""
    given, people = result.prior_probabilities, result.people
    if not np.array_equal(given, marginal(people)):
        return result.mixed_prior
    found = np.bincount(people.codes, weights=weights, minlength=len(given))
    return without_zeros(found / found.sum())


def _individual_risk(survey: Survey) -> dict[str, float] | None:
    """sdcMicro's: the chance of the link to a record, summed and at most."""
    if survey.link is None:
        return None
    return {
        "expected": float(survey.link @ survey.classes.sizes),
        "highest": float(survey.link.max()),
    }


def _warning(survey: Survey) -> str:
    """What undoes unknown participation, in sentences."""
    alone = survey.classes.sizes == 1
    if survey.link is None:
        return (
            "Whoever learns that her target took part, or can count the population, knows as much as with known "
            "participation."
        )
    unique = float(survey.link[alone & (survey.link >= 1)].sum())
    if survey.asked.register is not None:
        return (
            f"She can count the population: {counted_words(round(unique), 'person')} in the file "
            f"{'is' if round(unique) == 1 else 'are'} unique there on the known keys, and not knowing who took part "
            "protects none of them."
        )
    assert survey.sums is not None
    expected = float((1.0 / np.maximum(survey.sums[alone], 1.0)).sum())
    return (
        "Not knowing who took part protects nobody who is unique in the population if she can count its classes, "
        f"with a register for instance. Of the {counted_words(int(alone.sum()), 'person')} alone in the file on the "
        f"known keys, some {figure(expected)} can be expected to be unique there."
    )
