"""The assessment of one release for one intruder: the risk of every class and every person."""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from equivoc.assessment.class_figures import (
    CHECKED_ROWS,
    ClassFigures,
    class_figures,
    entry_numbers,
    true_hits,
)
from equivoc.assessment.control_group import control_figures
from equivoc.assessment.participation import Participation, participation_facts
from equivoc.assessment.replicates import drawn_figures, spread_over_seeds
from equivoc.assessment.subsets import (
    MOST_KEYS,
    MeanCurve,
    SubsetFigures,
    SurpriseCurve,
    contributions,
    mean_entropies,
    mean_entropies_at,
    published,
    subset_figures,
    surprise_curve,
)
from equivoc.assessment.surprise import TruthFigures, intruder_rows, truth_beside_belief
from equivoc.attributes.attribute import Attribute
from equivoc.data.classes import class_of_records
from equivoc.data.microdata import Microdata
from equivoc.intruder.posteriors import Posteriors
from equivoc.intruder.prior import without_zeros
from equivoc.intruder.strengths import Choice, Tried
from equivoc.models.measures import measure_rows
from equivoc.models.of_file.measure import Measure
from equivoc.models.of_release.released_table import ReleasedAnonymity, released_anonymity
from equivoc.releases.release import Release
from equivoc.renamed import renamed_field
from equivoc.requirements.nothing_released import NothingReleased
from equivoc.requirements.outcome import Outcome, outcomes_of, spread
from equivoc.requirements.requirement import Requirement
from equivoc.results.result import Reported
from equivoc.techniques.technique import Technique
from equivoc.techniques.unprotected import PublishedFile
from equivoc.text import exact, figure

if TYPE_CHECKING:
    import altair

    from equivoc.measure.curves import Curves
    from equivoc.measure.tree import TreeCurves

Floats = NDArray[np.float64]
MOST_KEYS_FOR_CONTRIBUTIONS = 6
"""With more known keys than this, the summary has no contributions; use `contributions`."""
GATE_BELOW = 0.95
"""With less trust than this in a file made in an unknown way, trust is estimated for each person."""


@renamed_field("tolerance", "precision")
@dataclass(frozen=True, eq=False)
class Assessment(Reported):
    """The disclosure risk of a release from an intruder who knows the keys ``known``.

    Entropies are in bits, areas in bits × the confidential attribute's unit, ε in that unit. Less entropy and area
    is riskier; a higher hit rate is riskier.
    """

    kind: ClassVar[str] = "assessment"

    people: Microdata = field(repr=False)
    release: Release = field(repr=False)
    technique: str
    known: tuple[str, ...]
    eps: tuple[float, ...]
    """The tolerances at which hit rates are given."""
    prior_probabilities: Floats = field(repr=False)
    """The intruder's prior: probabilities of the values without the release."""
    seed: int | None = None
    """The seed of the release; None if an existing release was assessed."""
    control: Microdata | None = field(default=None, repr=False)
    """The control group: people who are not in the data."""

    precision: float | None = None
    """The relative gap of certified areas; None: areas of classes with many values are estimated."""
    asked: str = "strongest"
    """The requested intruder."""
    replicates: int = 1
    """The number of releases in `spread`."""
    drawn_by: Technique | None = field(default=None, repr=False)
    """The technique; None if an existing release was assessed."""
    require: tuple[Requirement, ...] = ()
    """What the release must meet to be published."""
    participant: Participation = field(default=Participation(), kw_only=True)
    """Whether she knows that her target took part, and what the population is."""
    with_floor: bool = False
    """True if somebody who does not know the technique takes the place of the intruder that it names, if stronger."""

    @cached_property
    def decisive(self) -> Assessment:
        """The assessment by which it is decided whether the release may be published: this one, unless the technique
        names its own intruder. She must not make a release look safer than it is to those who do not know it."""
        if not self.release.fixed or self.with_floor:
            return self
        return replace(self, with_floor=True, control=None, replicates=1)

    @property
    def attributes(self) -> dict[str, Assessment]:
        """A mapping from the attribute's name to this assessment, as in `SeveralAssessments`."""
        return {self.people.confidential: self}

    @property
    def inputs(self) -> list[Any]:
        """The files of the people and of the control group."""
        return [each.source for each in (self.people, self.control) if each is not None]

    @cached_property
    def choice(self) -> Choice:
        """The intruders that were tried, the one that is used, and why others were left out."""
        if self.participant.known:
            return self._tried(self.known)
        return self.unsure(self.when_known)

    @cached_property
    def when_known(self) -> Choice:
        """The same for intruders who know that their target took part."""
        return self.choice if self.participant.known else self._tried(self.known)

    def _tried(self, known: Sequence[str]) -> Choice:
        classes = self.people.classes(list(known))
        if self.with_floor:
            return self.release.above_the_floor(classes, self.prior_probabilities)
        return self.release.choice(classes, self.prior_probabilities, self.asked)

    def unsure(self, choice: Choice, prior: Floats | None = None) -> Choice:
        """The choice as it is if she does not know that her target took part, where the assessment says so."""
        if self.participant.known:
            return choice
        survey = self.participant.survey(choice.used.posteriors.classes)
        return survey.mixed(choice, self.prior_probabilities if prior is None else prior)

    @cached_property
    def participation(self) -> dict[str, Any] | None:
        """Of a file that is a sample: the figures if she knows that her target took part, those of the people in the
        file if she does not, and those of the whole population, in this order; None if nothing says that it is one.
        """
        return participation_facts(self)

    @property
    def intruder(self) -> str:
        """The name of the intruder that is used."""
        return self.choice.used.intruder

    @property
    def notes(self) -> list[str]:
        """What to know about how the people were read, the figures and the intruder, one sentence each."""
        notes = [*(remark.sentence for remark in self.people.remarks), *self.release.notes(self.known)]
        notes += self._below_the_floor
        if not self.participant.known:
            notes.append(
                "She does not know whether her target took part: every figure is about the people in the file, and "
                "takes into account that she does not know that they are in it."
            )
        if self.asked in ("strongest", self.intruder):
            return notes
        why = self.choice.left_out[self.asked]
        return [
            *notes,
            f"The {self.asked} intruder was asked for and is not used: {why}. The figures are for the "
            f"{self.intruder} intruder.",
        ]

    @cached_property
    def _below_the_floor(self) -> list[str]:
        """Where the technique's own intruder is weaker than somebody who does not know the technique: who and how."""
        stronger, own = self.decisive.choice.used, self.choice.used
        if self.release.fixed and stronger.intruder == own.intruder and self.require:
            return [
                "Requirements are judged with the hits and the certainty of whoever is right about more people: the "
                "intruder that the technique names, or someone who does not know how the release was made."
            ]
        if stronger.intruder == own.intruder:
            return []
        return [
            "The figures are for the intruder that the technique names, and no other was tried. Someone who does not "
            f"know how the release was made ({stronger.intruder}) comes closer to the truth: "
            f"{figure(stronger.truth.surprise)} bits of surprise, not {figure(own.truth.surprise)}. The risk is at "
            "least that high, and requirements are judged by it."
        ]

    @property
    def posteriors(self) -> Posteriors:
        """The intruder's posterior of each class."""
        return self.choice.used.posteriors

    @cached_property
    def intruders(self) -> Any:
        """A frame with a row per intruder that applies: h0, area, surprise, gain, trust, hit, true_hit, used.

        Averages over people; hit and true_hit at the first tolerance above 0. Less entropy, area and surprise is
        riskier, more gain and more hits are.
        """
        choice = self.choice
        if self.asked != "strongest":
            found = self.release.choice(self.posteriors.classes, self.prior_probabilities)
            choice = self.unsure(found)
        rows = intruder_rows(self, choice)
        return self.people.like({name: [row[name] for row in rows] for name in rows[0]})

    @property
    def hit_eps(self) -> float:
        """The tolerance of hit rates where one figure is shown: the first above 0, else 0."""
        return next((e for e in self.eps if e > 0), self.eps[0])

    @cached_property
    def figures(self) -> ClassFigures:
        """The measure of every class, and how often the best guess is right."""
        return class_figures(self.posteriors, self.eps, tolerance=self.precision)

    @cached_property
    def prior(self) -> Curves | TreeCurves:
        """The measure of the prior."""
        return self.people.attribute.geometry.curves(
            self.prior_probabilities[None, :], tolerance=self.precision
        )

    @cached_property
    def nothing_released(self) -> NothingReleased:
        """What the intruder knows without any release, figure by figure."""
        return NothingReleased(self.people, self.prior_probabilities, self.prior)

    @cached_property
    def unprotected(self) -> ClassFigures:
        """The measure of every class if the file were published unprotected."""
        if isinstance(self.release, PublishedFile):
            return self.figures
        return class_figures(published(self.posteriors), self.eps, tolerance=self.precision, truth=False)

    @cached_property
    def subsets(self) -> list[SubsetFigures]:
        """The figures for every subset of the known keys, or for some of them if there are many."""
        own = self.figures
        if self.subset_intruder != self.intruder:
            own = class_figures(self._believed(self.known), (), tolerance=self.precision, truth=False)
        return subset_figures(
            self._believed, self.known, all_known=(own, self.unprotected), tolerance=self.precision
        )

    @property
    def subset_intruder(self) -> str:
        """The intruder used for subsets of the known keys: a quicker one, if the one used would take too long."""
        return {"register": "informed", "learned": "informed", "file": "plain"}.get(
            self.intruder, self.intruder
        )

    def _believed(self, known: Sequence[str]) -> Posteriors:
        """The posteriors of someone who knows some of the keys."""
        if tuple(known) == self.known:  # tried already
            for each in self.choice.tried:
                if each.intruder == self.subset_intruder:
                    return each.posteriors
        classes = self.people.classes(list(known))
        believed = self.release.believed(classes, self.prior_probabilities, self.subset_intruder)
        if self.participant.known:
            return believed
        tried = Tried(self.subset_intruder, believed, self.prior_probabilities)
        return self.unsure(Choice(tried, (tried,), {})).used.posteriors

    @property
    def break_points(self) -> Floats:
        """The tolerances at which H(ε) can change: the distinct differences of the domain, or even steps if many."""
        return self.prior.epsilons

    def mean_curve(self, eps: Floats) -> MeanCurve:
        """Mean H over people at these tolerances, with the baselines."""
        release, drawn = mean_entropies_at(self.posteriors, eps)
        unprotected, _ = (release, drawn)
        if not isinstance(self.release, PublishedFile):
            unprotected, _ = mean_entropies_at(published(self.posteriors), eps)
        prior = np.array([float(self.prior.at(float(e))[0]) for e in eps])
        return MeanCurve(eps, release, prior, unprotected, drawn)

    def surprise_curve(self, eps: Floats) -> SurpriseCurve:
        """T(ε), the mean surprise over people at these tolerances, in bits, beside H(ε)."""
        return surprise_curve(self.posteriors, eps, self.truth.overall, self.mixed_prior)

    @cached_property
    def measures(self) -> list[Measure]:
        """The classic measures for the same intruder, each with its meaning."""
        return measure_rows(
            self.people,
            self.release,
            known=self.known,
            believed=(self.posteriors, self.figures),
            bare=self.unprotected,
            control=self.control,
        )

    @cached_property
    def _true_hits(self) -> dict[float, Floats]:
        """Per class: the share of its people whose true value is within ε/2 of the best guess."""
        return true_hits(self.posteriors.classes, self.right_guesses)

    @property
    def right_guesses(self) -> dict[float, Floats]:
        """By tolerance, for each entry of the classes' counts: the chance that the best guess is right, of the
        intruder who is right about most people."""
        return {e: self.truth.hitting(e).right[e] for e in self.eps}

    @cached_property
    def truth(self) -> TruthFigures:
        """The intruder's posteriors compared with the people's true values."""
        return truth_beside_belief(
            self.posteriors,
            self.figures,
            self.eps,
            self.mixed_prior,
            gate_below=GATE_BELOW if self.release.may_mislead else 0.0,
            choice=self.choice,
        )

    def prior_surprises(self, eps: float) -> Floats:
        """The surprise of each value of the domain without the release, in bits."""
        prior, geometry = self.mixed_prior, self.people.attribute.geometry
        if eps == 0:
            return np.asarray(-np.log2(np.minimum(prior, 1.0)))
        everything = np.array([0, len(prior)])
        return np.asarray(geometry.curves(prior[None, :]).surprises(eps, geometry.positions, everything))

    @cached_property
    def released_anonymity(self) -> ReleasedAnonymity:
        """k, l and t of the released file by the known keys."""
        return released_anonymity(self.people, self.release, known=self.known)

    @property
    def mixed_prior(self) -> Floats:
        """The prior that is mixed in before the comparison with the true values; no value has probability 0."""
        return without_zeros(self.prior_probabilities)

    @cached_property
    def means(self) -> dict[str, Any]:
        """Averages over people: h0, area, mean_entropy; hit and true_hit by tolerance. For comparisons."""
        found = self.figures
        return {**found.means, "true_hit": {e: found.mean(share) for e, share in self._true_hits.items()}}

    @cached_property
    def averages(self) -> dict[str, Any]:
        """The part of `summary` that takes no further posteriors: figures of classes and people, and the baselines."""
        found, attribute = self.figures, self.people.attribute

        def over(weights: NDArray[np.int64] | None) -> dict[str, Any]:
            facts: dict[str, Any] = {
                name: spread(getattr(found, name), weights) for name in ("h0", "area", "mean_entropy")
            }
            facts["hit"] = {e: spread(hit, weights) for e, hit in found.hit.items()}
            return facts

        per_record = over(found.sizes)
        per_record["true_hit"] = self.means["true_hit"]
        return {
            "technique": self.technique,
            "known": list(self.known),
            "intruder": self.intruder,
            "left_out": self.choice.left_out,
            "records": len(self.people),
            "classes": len(self.posteriors),
            "domain": _domain(attribute),
            "per_class": over(None),
            "per_record": per_record,
            "prior": self._prior_figures,
            "unprotected": self.unprotected.means,
            "truth": self.truth.facts,
            "estimates": self._estimates,
        }

    @cached_property
    def summary(self) -> dict[str, Any]:
        """Averages, minima and quantiles of every figure, over classes and over people, with the baselines."""
        facts = dict(self.averages)
        if self.participation is not None:
            facts["participation"] = self.participation
        if self.participant.known and len(self.known) <= MOST_KEYS_FOR_CONTRIBUTIONS:
            facts["contributions"] = self.contributions
        if self.spread is not None:
            facts["spread"] = self.spread
        if self.require:
            facts["requirements"] = [each.facts for each in self.requirements]
        if self.control is not None:
            facts["control"] = control_figures(self, self.control)
        return facts

    @cached_property
    def requirements(self) -> tuple[Outcome, ...]:
        """The outcome of each requirement: met or not, and by how much; over ``replicates`` if there are several."""
        return outcomes_of(self)

    @property
    def meets(self) -> bool:
        """True if every requirement is met; also without requirements."""
        return all(each.meets for each in self.requirements)

    @cached_property
    def drawn_figures(self) -> list[dict[str, Any]]:
        """The figures of each of the ``replicates`` releases."""
        return drawn_figures(self)

    @cached_property
    def spread(self) -> dict[str, Any] | None:
        """How the figures vary over ``replicates`` random releases; None for one release. Units as in `summary`."""
        return spread_over_seeds(self)

    @property
    def _prior_figures(self) -> dict[str, Any]:
        area, width = float(self.prior.area[0]), self.people.attribute.geometry.width
        return {
            "h0": float(self.prior.h0[0]),
            "area": area,
            "mean_entropy": area / width if width else 0.0,
            "hit": {e: float(self.prior.hit(e)[0]) for e in self.eps},
        }

    @property
    def _estimates(self) -> dict[str, Any] | None:
        """How many classes have an estimated area, and a bound of the error of those checked; None if no class has."""
        found = self.figures
        if found.largest_error is None:
            return None
        return {
            "classes": int(found.estimated.sum()),
            "checked": CHECKED_ROWS,
            "largest_error": found.largest_error,
        }

    @cached_property
    def contributions(self) -> dict[str, float]:
        """Each known key's share, in bits, of the reduction of H0 (Shapley values; more is riskier)."""
        if "subsets" in self.__dict__ and len(self.known) <= MOST_KEYS:  # already measured
            h = {frozenset(subset.known): subset.h0 for subset in self.subsets}
        else:
            h = mean_entropies(self._believed, self.known)
        # Both computations agree up to rounding errors, which must not change a report's bytes.
        return {key: round(bits, 12) for key, bits in contributions(h, self.known).items()}

    def plot_contributions(self) -> altair.Chart:
        """The contributions as bars."""
        from equivoc.charts.curves import contribution_chart

        return contribution_chart(self.contributions)

    def class_columns(self) -> dict[str, Any]:
        found = self.figures
        return {
            "size": found.sizes,
            "h0": found.h0,
            "area": found.area,
            "mean_entropy": found.mean_entropy,
            "eps_max": found.eps_max,
            **{f"hit_{exact(e)}": hit for e, hit in found.hit.items()},
        }

    @cached_property
    def classes(self) -> Any:
        """One row per class: its key values, size, h0, area, mean_entropy, eps_max and hit rates."""
        return self.named_classes(1)

    def named_classes(self, fewest: int) -> Any:
        """`classes`, without the key values of classes of fewer people: they are null."""
        found = self.posteriors.classes
        keys = {
            name: self.people.decode(name, np.where(found.sizes < fewest, -1, codes))
            for name, codes in zip(found.known, found.key_codes.T, strict=True)
        }
        return self.people.like({**keys, **_beside(keys, self.class_columns())})

    @cached_property
    def records(self) -> Any:
        """One row per record of the original, in its order: the figures of its class, and ``true_hit_<ε>``, the chance
        that her best guess is within ε/2 of its true value: 0 or 1, or a share where several windows are equally heavy;
        ``surprise_0`` and ``surprise_<ε>``, in bits: −log2 of her probability of the window that holds the true value.
        The record's own values are not included."""
        return self.people.like(_beside(self.people.names, self.record_columns))

    @cached_property
    def record_columns(self) -> dict[str, Any]:
        """The columns of `records`."""
        return self._of_records(self.posteriors.classes.of_record, self.people.codes)

    def record_pieces(self) -> Iterator[dict[str, Any]]:
        """The columns of `records`, for some million records at a time: for files that do not fit into memory."""
        found = self.posteriors.classes
        for keys, values in self.people.pieces(found.known):
            of = class_of_records(found.key_codes, keys, len(values))
            yield _beside(self.people.names, self._of_records(of, values))

    def _of_records(self, of: NDArray[np.int32], values: NDArray[np.int32]) -> dict[str, Any]:
        """The figures of records, given the class and the value of each."""
        columns = {"class": of, **{name: column[of] for name, column in self.class_columns().items()}}
        entries = entry_numbers(self.posteriors.classes, of, values)
        for e, shares in self.right_guesses.items():
            columns[f"true_hit_{exact(e)}"] = shares[entries]
        surprises = {0.0: self.truth.overall.surprises, **self.truth.bits}
        for e, bits in surprises.items():
            columns[f"surprise_{exact(e)}"] = bits[entries]
        return columns

    def write_records(self, folder: str | os.PathLike[str], *, beside: Sequence[str] = ()) -> None:
        """For people in a Spark cluster: have the executors write `records` to a new folder of Parquet files.

        ``beside`` are columns of the DataFrame to write beside the figures, such as the person's identifier.
        """
        from equivoc.assessment.replicates import write_records_of

        write_records_of(self, os.fspath(folder), beside=beside)

    def riskiest(self, count: int = 10) -> NDArray[np.int64]:
        """The numbers of the classes with the least area, then least H0: those at the highest risk."""
        order = np.lexsort((self.figures.sizes, self.figures.h0, self.figures.area))
        return np.asarray(order[:count])


def _domain(attribute: Attribute) -> dict[str, Any]:
    """The number of values, and their smallest and largest value, or the height of their hierarchy."""
    facts: dict[str, Any] = {"kind": attribute.kind, "values": len(attribute)}
    if attribute.numeric:
        return {**facts, "low": float(attribute.values[0]), "high": float(attribute.values[-1])}
    return facts if attribute.ordered else {**facts, "height": int(attribute.geometry.width)}


def _beside(taken: Any, columns: dict[str, Any]) -> dict[str, Any]:
    """The columns, renamed if the caller has columns of the same names."""
    return {f"{name}_" if name in taken else name: column for name, column in columns.items()}
