"""The people in the data compared with a control group: what the release discloses only about people in the data.

Surprise is scored as for the people in the data: the prior is mixed in with the weight that suits the people best
(1 − trust), and both groups are scored with it. People of the control group may have a value that the intruder rules
out, so the weight is at least 1/(n + 1) for n people in the data: being right about n people does not exclude an error
about the next one. A value with prior 0 gets the probability 1/((n + 1)·|D|).

The difference of two means has a 95 % interval (normal approximation). People who agree on the known keys share a
posterior, so the standard error is clustered by class, a class of both groups being one cluster; if it is smaller than
the standard error of independent people, as with few classes, that one is used.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from equivoc.assessment.class_figures import Shares, class_figures, members, true_places
from equivoc.attributes.numbers import nearest_places
from equivoc.data.classes import Classes
from equivoc.data.microdata import Microdata
from equivoc.intruder.posteriors import Posteriors
from equivoc.intruder.strengths import against_truth

if TYPE_CHECKING:
    from equivoc.assessment.assessment import Assessment

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]
NORMAL_95 = 1.959963984540054
"""The 97.5 % quantile of the standard normal distribution."""


@dataclass(frozen=True, eq=False)
class Scores:
    """For each entry of a group's ``classes.counts``: its number of people, their class, and their figures."""

    people: Floats = field(repr=False)
    cluster: Ints = field(repr=False)
    truth: Floats = field(repr=False)
    """The posterior probability of the true value, before the prior is mixed in."""
    surprise: Floats = field(repr=False)
    """Bits."""
    right: Shares = field(repr=False)
    """By tolerance: the chance that her best guess is right."""

    @property
    def means(self) -> dict[str, Any]:
        """For a random person: ``true_hit`` by tolerance, ``truth``, and ``surprise`` in bits."""
        return {
            "true_hit": {e: self._mean(share) for e, share in self.right.items()},
            "truth": self._mean(self.truth),
            "surprise": self._mean(self.surprise),
        }

    def _mean(self, figures: Floats) -> float:
        return float(np.average(figures, weights=self.people))


def control_figures(result: Assessment, control: Microdata) -> dict[str, Any]:
    """Means of the control group; true hits, truth and surprise for it and for the people, and the differences."""
    classes = control.classes(list(result.known))
    prior = result.prior_probabilities
    posteriors = result.release.of_others(classes, prior, result.intruder)
    found = class_figures(posteriors, result.eps, tolerance=result.precision)
    # For both groups she uses the same knowledge, so nothing that she knows only about people in the data.
    own = result.release.of_others(result.posteriors.classes, prior, result.intruder)
    compared = compared_groups(
        (own, class_figures(own, result.eps, tolerance=result.precision).right),
        (posteriors, found.right),
        prior,
        against_truth(own, prior).trust,
    )
    return {"records": len(control), "classes": len(posteriors), **found.means, **compared}


def compared_groups(
    people: tuple[Posteriors, Shares],
    control: tuple[Posteriors, Shares],
    prior: Floats,
    trust: float,
) -> dict[str, Any]:
    """Means of the control group and of the people, the differences, and their 95 % intervals; more is riskier.

    ``prior`` has a probability for each value of the domain. A true value outside the domain counts as the nearest
    value of it; a category outside it, as one that the prior rules out.
    """
    mine, theirs = people[0].classes, control[0].classes
    in_data = float(mine.sizes.sum())
    doubt = max(1.0 - trust, 1.0 / (in_data + 1.0))
    least = 1.0 / ((in_data + 1.0) * len(prior))
    own_cluster, other_cluster = _clusters(mine, theirs)
    own = _scores(*people, own_cluster, np.maximum(prior, least), doubt, least)
    other = _scores(*control, other_cluster, np.maximum(prior, least), doubt, least)
    of_people, of_control = own.means, other.means

    def between(figure: Floats, others: Floats) -> tuple[float, float]:
        return interval((figure, own.people, own.cluster), (others, other.people, other.cluster))

    return {
        **of_control,
        "people": of_people,
        "beyond": {
            "true_hit": {e: hit - of_control["true_hit"][e] for e, hit in of_people["true_hit"].items()},
            "truth": of_people["truth"] - of_control["truth"],
            "surprise": of_control["surprise"] - of_people["surprise"],
        },
        "interval": {
            "true_hit": {e: between(share, other.right[e]) for e, share in own.right.items()},
            "truth": between(own.truth, other.truth),
            "surprise": between(-own.surprise, -other.surprise),
        },
    }


def interval(
    people: tuple[Floats, Floats, Ints], control: tuple[Floats, Floats, Ints]
) -> tuple[float, float]:
    """The 95 % interval of the mean of ``people`` minus that of ``control``: figures, numbers of people, clusters.

    >>> one = (np.array([0.0, 1.0]), np.array([50.0, 50.0]), np.array([0, 0]))
    >>> low, high = interval(one, one)
    >>> round(low, 3), round(high, 3)
    (-0.139, 0.139)
    """
    clusters = int(max(people[2].max(), control[2].max())) + 1
    influence = np.zeros(clusters)
    alone, difference = 0.0, 0.0
    for sign, (figures, many, cluster) in ((1.0, people), (-1.0, control)):
        total = float(many.sum())
        mean = float(many @ figures / total)
        off = many * (figures - mean) / total
        influence += sign * np.bincount(cluster, weights=off, minlength=clusters)
        alone += float(many @ (figures - mean) ** 2) / total**2
        difference += sign * mean
    clustered = float(influence @ influence) * clusters / max(clusters - 1, 1)
    reach = NORMAL_95 * float(max(clustered, alone) ** 0.5)
    return difference - reach, difference + reach


def _scores(
    posteriors: Posteriors, right: Shares, cluster: Ints, prior: Floats, doubt: float, least: float
) -> Scores:
    counts, row = members(posteriors.classes)
    places = true_places(posteriors.classes, posteriors)
    column = nearest_places(places, posteriors.attribute.geometry.positions)
    given, expected = posteriors.of_values(row, column), prior[column]
    if not posteriors.attribute.ordered:
        given = np.where(places < 0, 0.0, given)  # a category that is not in the domain
        expected = np.where(places < 0, least, expected)
    surprise = -np.log2((1.0 - doubt) * given + doubt * expected)
    return Scores(counts.data.astype(np.float64), cluster[row], given, surprise, right)


def _clusters(people: Classes, control: Classes) -> tuple[Ints, Ints]:
    """The number of the cluster of each class: classes of both groups with the same key values have the same one."""
    numbers: dict[tuple[Any, ...], int] = {}
    found = []
    for classes in (people, control):
        columns = [
            classes.people.decode(name, codes).to_pylist()
            for name, codes in zip(classes.known, classes.key_codes.T, strict=True)
        ]
        values = zip(*columns, strict=True) if columns else iter([()] * len(classes))
        found.append(np.array([numbers.setdefault(value, len(numbers)) for value in values], dtype=np.int64))
    return found[0], found[1]
