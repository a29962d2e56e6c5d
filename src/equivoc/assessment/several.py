"""Several confidential attributes: each assessed alone, all of them together, and whether any is disclosed."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from equivoc.assessment.assess import assess
from equivoc.assessment.assessment import Assessment
from equivoc.assessment.class_figures import class_figures, of_records
from equivoc.assessment.surprise import truth_beside_belief
from equivoc.checks import checked_whole_number
from equivoc.data.microdata import Microdata
from equivoc.errors import InputError
from equivoc.intruder.prior import prior_probabilities, without_zeros
from equivoc.releases.joint_release import joint_release
from equivoc.releases.release import Release
from equivoc.requirements.outcome import Outcome
from equivoc.results.result import ReportedSeveral
from equivoc.techniques.technique import Technique

Floats = NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class SeveralAssessments(ReportedSeveral):
    """The risk to each of several confidential attributes, and to all of them together."""

    people: Microdata = field(repr=False)
    technique: str
    attributes: Mapping[str, Assessment] = field(repr=False)
    """The assessment of each attribute, by name."""
    joint: Release | None = field(repr=False)
    """The release of the combined attribute; None if the technique cannot make one."""
    why_not: str
    """Why there is no joint release; "" if there is one."""
    joint_prior: str = "marginal"
    """The prior of the combinations of values: "marginal", or "uniform" if that was asked for each attribute."""

    @property
    def known(self) -> tuple[str, ...]:
        """The keys that the intruder knows."""
        return next(iter(self.attributes.values())).known

    @property
    def _asked(self) -> str:
        return next(iter(self.attributes.values())).asked

    @property
    def eps(self) -> dict[str, float]:
        """The tolerance at which each attribute counts as disclosed: the first requested one above 0, else 0."""
        return {name: result.hit_eps for name, result in self.attributes.items()}

    @property
    def requirements(self) -> tuple[Outcome, ...]:
        """The outcome of each requirement for each attribute."""
        return tuple(each for result in self.attributes.values() for each in result.requirements)

    @property
    def meets(self) -> bool:
        """True if every requirement is met for every attribute; also without requirements."""
        return all(each.meets for each in self.requirements)

    @cached_property
    def together(self) -> dict[str, float | None]:
        """All attributes combined: each combination of values is one category.

        h0, surprise and gain (bits), true_hit (the share of people whose whole combination she guesses), and
        any_true_hit: the share of people with at least one disclosed attribute, each at its tolerance in `eps`.
        None for figures that need a joint release if there is none.
        """
        means: dict[str, float | None] = dict.fromkeys(("h0", "surprise", "gain", "true_hit"))
        if self.joint is not None:
            prior = prior_probabilities(self.joint_prior, self.joint.people)
            classes = self.joint.people.classes(list(self.known))
            one = next(iter(self.attributes.values()))
            choice = one.unsure(self.joint.choice(classes, prior, self._asked), prior)
            posteriors = choice.used.posteriors
            found = class_figures(posteriors, (0.0,))
            truth = truth_beside_belief(posteriors, found, (0.0,), without_zeros(prior), choice=choice)
            means |= {
                "h0": found.mean(found.h0),
                "surprise": truth.surprise[0.0],
                "gain": truth.overall.gain,
                "true_hit": truth.true_hit[0.0],
            }
        return {**means, "any_true_hit": float(self.any_true_hits.mean())}

    @cached_property
    def any_true_hits(self) -> Floats:
        """For each person, the chance that the best guess is right for at least one attribute.

        Ties are broken independently for each attribute.
        """
        missed = np.ones(len(self.people))
        for name, result in self.attributes.items():
            shares = result.right_guesses[self.eps[name]]
            missed *= 1.0 - of_records(result.posteriors.classes, shares)
        return 1.0 - missed

    @cached_property
    def summary(self) -> dict[str, Any]:
        """Each attribute's summary by name, and the figures of all combined."""
        facts = {
            "technique": self.technique,
            "known": list(self.known),
            "records": len(self.people),
            "attributes": {name: result.summary for name, result in self.attributes.items()},
            "together": {**self.together, "eps": self.eps, "why_not": self.why_not},
        }
        if self.requirements:
            facts["requirements"] = [each.facts for each in self.requirements]
        return facts

    @cached_property
    def records(self) -> Any:
        """One row per person: each attribute's columns, prefixed with its name, and ``any_true_hit``."""
        columns: dict[str, Any] = {}
        for name, result in self.attributes.items():
            for column, values in result.record_columns.items():
                columns[f"{name}_{column}"] = values
        return self.people.like({**columns, "any_true_hit": self.any_true_hits})


def assess_several(
    people: Microdata,
    technique: Technique | Release,
    *,
    seed: int = 0,
    eps: Any = None,
    prior: Any = "marginal",
    replicates: int = 1,
    **options: Any,
) -> SeveralAssessments:
    """Assess each confidential attribute, all drawn with the same random numbers, and all of them together."""
    if not isinstance(technique, Technique):
        raise InputError(
            "people with several confidential attributes are assessed with a technique, not a release."
        )
    tolerances, priors = (
        _by_attribute("eps", people, eps, None),
        _by_attribute("prior", people, prior, "marginal"),
    )
    replicates = checked_whole_number("replicates", replicates, at_least=1)
    alone, joint, why_not = several_releases(people, technique, seed)
    results = {}
    for name, release in alone.items():
        found = assess(release.people, release, eps=tolerances[name], prior=priors[name], **options)
        results[name] = replace(
            found, technique=technique.notation, seed=seed, replicates=replicates, drawn_by=technique
        )
    uniform = all(isinstance(each, str) and each == "uniform" for each in priors.values())
    joint_prior = "uniform" if uniform else "marginal"
    return SeveralAssessments(people, technique.notation, results, joint, why_not, joint_prior)


def several_releases(
    people: Microdata, technique: Technique, seed: int
) -> tuple[dict[str, Release], Release | None, str]:
    """The technique's release of each attribute, drawn with the same random numbers, and of all of them together."""
    alone = {name: technique.release(people.of(name), seed) for name in people.attributes}
    try:
        if technique.whole_records:
            return alone, technique.release(people.together, seed), ""
        return alone, joint_release(people.together, people, alone), ""
    except InputError as refused:
        return alone, None, str(refused)


def _by_attribute(what: str, people: Microdata, given: Any, default: Any) -> dict[str, Any]:
    """An argument for each attribute: from a mapping by name, the default if it lacks one, or the same for all."""
    if not isinstance(given, Mapping):
        return dict.fromkeys(people.attributes, given)
    strange = [name for name in given if name not in people.attributes]
    if strange:
        raise InputError(f"{what} names {strange[0]!r}, which is not confidential.")
    return {name: given.get(name, default) for name in people.attributes}
