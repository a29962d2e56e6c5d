"""One release, one intruder's knowledge: how much risk is left, for every class and every person."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from equivoc.data.microdata import Microdata, check_people
from equivoc.errors import InputError
from equivoc.intruder.posteriors import Posteriors
from equivoc.intruder.release import Release
from equivoc.measure.curves import Curves, curves
from equivoc.measure.input.arguments import numbers, tolerances
from equivoc.measure.input.distribution import SUM_TOLERANCE
from equivoc.number_format import exact
from equivoc.study.contribution import contribution_chart, contributions
from equivoc.study.default_tolerance import round_tolerance
from equivoc.study.spread import spread
from equivoc.study.truth import beyond, control_people, guess_shares, of_records, true_hits, truth_figures
from equivoc.study.way_out import Reported
from equivoc.techniques.technique import Technique
from equivoc.techniques.unprotected import PublishedFile

if TYPE_CHECKING:
    import altair

Floats = NDArray[np.float64]
MOST_KEYS_FOR_CONTRIBUTIONS = 6
"""With more known keys than this, the summary leaves the contributions out; ask for them by name."""


@dataclass(frozen=True, eq=False)
class Assessment(Reported):
    """The risk that a release leaves to an intruder who knows the keys ``known``.

    Entropies are in bits, areas in bits × the confidential attribute's unit, ε in that unit. Less entropy and area
    is riskier; a higher hit rate is riskier.
    """

    people: Microdata = field(repr=False)
    release: Release = field(repr=False)
    technique: str
    known: tuple[str, ...]
    eps: tuple[float, ...]
    """The tolerances at which hit rates are given."""
    prior_probabilities: Floats = field(repr=False)
    """What the intruder believes without the release."""
    seed: int | None = None
    """What the release was drawn with; None where a release made before was assessed."""
    control: Microdata | None = field(default=None, repr=False)
    """People who were not in the data: what is learnt about them is learnt about anyone."""

    @cached_property
    def posteriors(self) -> Posteriors:
        """What the intruder believes of each class."""
        return self.release.posteriors(list(self.known))

    @cached_property
    def curves(self) -> Curves:
        """The measure on every class."""
        return self.posteriors.curves()

    @cached_property
    def _prior(self) -> Curves:
        return curves(self.people.values, self.prior_probabilities[None, :])

    @cached_property
    def _hits(self) -> dict[float, Floats]:
        """Per class: the mass of her best window."""
        return {e: self.curves.hit(e) for e in self.eps}

    @cached_property
    def _guess_shares(self) -> dict[float, Floats]:
        return guess_shares(self.posteriors.classes, self.curves, self.eps)

    @cached_property
    def _true_hits(self) -> dict[float, Floats]:
        """Per class: the share of its people for whom her best guess is within ε/2 of the truth."""
        return true_hits(self.posteriors.classes, self._guess_shares)

    @cached_property
    def means(self) -> dict[str, Any]:
        """Averages over people: h0, area, mean_entropy; hit and true_hit by tolerance. All that a comparison needs."""
        sizes = self.posteriors.sizes
        told = _means(self.curves, self._mean_entropy(self.curves.area), sizes, self.eps)
        shares = self._true_hits
        return {**told, "true_hit": {e: float(np.average(shares[e], weights=sizes)) for e in self.eps}}

    def _mean_entropy(self, area: Floats) -> Floats:
        width = float(self.people.values[-1] - self.people.values[0])
        return area / width if width else np.zeros_like(area)

    @cached_property
    def summary(self) -> dict[str, Any]:
        """Averages, minima and quantiles of every figure, over classes and over people, beside the baselines'."""
        measured, sizes, values = self.curves, self.posteriors.sizes, self.people.values
        figures: dict[str, Floats] = {
            "h0": measured.h0,
            "area": measured.area,
            "mean_entropy": self._mean_entropy(measured.area),
        }

        def over(weights: NDArray[np.int64] | None) -> dict[str, Any]:
            told: dict[str, Any] = {name: spread(figure, weights) for name, figure in figures.items()}
            told["hit"] = {e: spread(hit, weights) for e, hit in self._hits.items()}
            return told

        per_record = over(sizes)
        per_record["true_hit"] = self.means["true_hit"]
        prior = _means(self._prior, self._mean_entropy(self._prior.area), np.ones(1, np.int64), self.eps)
        told = {
            "technique": self.technique,
            "known": list(self.known),
            "records": len(self.people),
            "classes": len(self.posteriors),
            "domain": {"values": len(values), "low": float(values[0]), "high": float(values[-1])},
            "per_class": over(None),
            "per_record": per_record,
            "prior": prior,
            "unprotected": self._unprotected,
            "left": {
                name: per_record[name]["mean"] / prior[name] if prior[name] else 1.0
                for name in ("h0", "area", "mean_entropy")
            },
        }
        if len(self.known) <= MOST_KEYS_FOR_CONTRIBUTIONS:
            told["contributions"] = self.contributions
        if self.control is not None:
            told["control"] = self._control_figures(self.control)
        return told

    def _control_figures(self, control: Microdata) -> dict[str, Any]:
        """Per-record means of the control group, and how near the truth she is for them and for those in the data."""
        posteriors = self.release.of_others(control.classes(list(self.known)))
        measured = posteriors.curves()
        of_control = truth_figures(posteriors, guess_shares(posteriors.classes, measured, self.eps))
        of_people = truth_figures(self.posteriors, self._guess_shares)
        return {
            "records": len(control),
            "classes": len(posteriors),
            **_means(measured, self._mean_entropy(measured.area), posteriors.sizes, self.eps),
            **of_control,
            "people": of_people,
            "beyond": beyond(of_people, of_control),
        }

    @cached_property
    def _unprotected(self) -> dict[str, Any]:
        """Per-record means had the file been published as it is."""
        if isinstance(self.release, PublishedFile):
            posteriors, measured = self.posteriors, self.curves
        else:
            posteriors = PublishedFile(self.people).posteriors(list(self.known))
            measured = posteriors.curves()
        return _means(measured, self._mean_entropy(measured.area), posteriors.sizes, self.eps)

    @cached_property
    def contributions(self) -> dict[str, float]:
        """Each known key's share, in bits, of what knowing them takes away (Shapley values; more is riskier)."""
        return contributions(self.release, self.known)

    def plot_contributions(self) -> altair.Chart:
        """The contributions as bars."""
        return contribution_chart(self.contributions)

    def _columns(self) -> dict[str, Any]:
        measured = self.curves
        return {
            "size": self.posteriors.sizes,
            "h0": measured.h0,
            "area": measured.area,
            "mean_entropy": self._mean_entropy(measured.area),
            "eps_max": measured.eps_max,
            **{f"hit_{exact(e)}": hit for e, hit in self._hits.items()},
        }

    @cached_property
    def classes(self) -> Any:
        """One row per class: its key values, size, h0, area, mean_entropy, eps_max and hit rates."""
        found = self.posteriors.classes
        keys = {
            name: self.people.decode(name, codes)
            for name, codes in zip(found.known, found.key_codes.T, strict=True)
        }
        return self.people.like({**keys, **_beside(keys, self._columns())})

    @cached_property
    def records(self) -> Any:
        """One row per record of the original, in its order: the figures of its class, and ``true_hit_<ε>``, the chance
        that her best guess is within ε/2 of its true value: 0 or 1, or a share where several windows are equally heavy.
        No value of the record itself."""
        found = self.posteriors.classes
        of = found.of_record
        columns = {"class": of, **{name: column[of] for name, column in self._columns().items()}}
        for e, shares in self._guess_shares.items():
            columns[f"true_hit_{exact(e)}"] = of_records(found, shares)
        return self.people.like(_beside(self.people.names, columns))

    def riskiest(self, count: int = 10) -> NDArray[np.int64]:
        """The numbers of the classes with the least area, then H0: those an intruder comes closest to."""
        order = np.lexsort((self.posteriors.sizes, self.curves.h0, self.curves.area))
        return np.asarray(order[:count])


def assess(
    people: Microdata,
    technique: Technique | Release,
    *,
    known: Sequence[str] | None = None,
    seed: int = 0,
    eps: ArrayLike | None = None,
    prior: ArrayLike | None = None,
    control: Any = None,
) -> Assessment:
    """Measure the risk that a technique, or a release made before, leaves for ``people``.

    ``known`` are the keys whose values the intruder knows of her target (None: all of them; []: none). ``eps`` are the
    tolerances at which hit rates are wanted (None: 0 and about a tenth of the domain's width, `round_tolerance`).
    ``prior`` is what is publicly known of the confidential attribute without the release: a probability for each value
    of the domain (None: all equally likely). ``control`` are people who were not in the data, with the same columns (a
    Microdata, or what one can be made of, which is then read as the people were): the summary then says how much is
    learnt about them too, which is no breach of anyone's confidence.

    >>> import pandas as pd
    >>> from equivoc.techniques.unprotected import Unprotected
    >>> frame = pd.DataFrame({"sex": ["F", "F", "M", "M"], "pay": [50, 107, 77, 80]})
    >>> result = assess(Microdata(frame, confidential="pay", keys=["sex"]), Unprotected())
    >>> result.classes["area"].tolist()
    [57.0, 3.0]
    """
    check_people("people", people)
    names = people.known_keys(known)
    values = people.values
    asked = tolerances("eps", [0.0, round_tolerance(float(values[-1] - values[0]))] if eps is None else eps)
    expected = _checked_prior(prior, len(values))
    others = None if control is None else control_people(people, control)
    if isinstance(technique, Technique):
        release, notation, drawn_with = technique.release(people, seed), technique.notation, seed
    elif isinstance(technique, Release):
        if technique.people is not people:
            raise InputError("the release was made from other people; assess it with those it was made from.")
        release, notation, drawn_with = technique, type(technique).__name__, None
    else:
        raise InputError(f"technique is {technique!r}; give a technique such as Sampling(0.1), or a release.")
    if others is not None:
        release.check_links_others()
    at = tuple(dict.fromkeys(asked.tolist()))
    return Assessment(people, release, notation, names, at, expected, drawn_with, others)


def _checked_prior(prior: ArrayLike | None, values: int) -> Floats:
    """One probability for each value of the domain; InputError says what is wrong with it."""
    if prior is None:
        return np.full(values, 1.0 / values)
    if isinstance(prior, (str, bytes)) or np.ndim(prior) == 0:
        raise InputError(
            f"prior is {prior!r}; give one probability for each of the {values} values, or None."
        )
    given = numbers("prior", prior)
    if len(given) != values:
        raise InputError(
            f"prior has {len(given)} entries; give one probability for each of the {values} values."
        )
    if given.min() < 0:
        i = int(np.argmax(given < 0))
        raise InputError(f"prior[{i}] is {given[i]:g}; probabilities must be 0 or more.")
    if abs(float(given.sum()) - 1.0) > SUM_TOLERANCE:
        raise InputError(
            f"prior sums to {given.sum():.12g}, not to 1 (within {SUM_TOLERANCE:g}); divide it by its sum."
        )
    return given


def _means(
    measured: Curves, mean_entropy: Floats, sizes: NDArray[np.int64], eps: tuple[float, ...]
) -> dict[str, Any]:
    return {
        "h0": float(np.average(measured.h0, weights=sizes)),
        "area": float(np.average(measured.area, weights=sizes)),
        "mean_entropy": float(np.average(mean_entropy, weights=sizes)),
        "hit": {e: float(np.average(measured.hit(e), weights=sizes)) for e in eps},
    }


def _beside(taken: Any, columns: dict[str, Any]) -> dict[str, Any]:
    """The columns under names that no column of the caller's has."""
    return {f"{name}_" if name in taken else name: column for name, column in columns.items()}
