"""The riskiest classes for publication: classes of one or two people are counted, not named."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from equivoc.assessment.truth import members
from equivoc.attributes.words import closeness
from equivoc.report.facts.bounds import FEWEST_PEOPLE

if TYPE_CHECKING:
    from equivoc.assessment.assessment import Assessment


def riskiest_classes(result: Assessment, most: int, *, record_values: bool, unit: str = "") -> dict[str, Any]:
    """The ``most`` classes with the smallest area and H0. Those of fewer than three people are averaged into one
    entry: the key values of a class of one identify a person, and in a class of two each can work out the other's
    value. ``record_values`` names them too.
    """
    posteriors, measured = result.posteriors, result.figures
    fewest = 1 if record_values else FEWEST_PEOPLE
    sizes = posteriors.sizes
    counts, row = members(posteriors.classes)
    weighed = counts.data * result.truth.overall.surprises
    surprise = np.bincount(row, weights=weighed, minlength=len(sizes)) / sizes
    figures = {"h0": measured.h0, "area": measured.area, "surprise": surprise}
    hits = measured.hit
    order = result.riskiest(len(posteriors))
    named = order[sizes[order] >= fewest][:most]
    keys = [
        result.people.decode(name, posteriors.classes.key_codes[named, i]).to_pylist()
        for i, name in enumerate(posteriors.classes.known)
    ]
    small = sizes < fewest
    withheld: dict[str, Any] = {"classes": small.sum(), "people": sizes[small].sum()}
    if small.any():
        withheld |= {name: np.average(f[small], weights=sizes[small]) for name, f in figures.items()}
        withheld["hit"] = [np.average(hit[small], weights=sizes[small]) for hit in hits.values()]
    return {
        "fewest_people": fewest,
        "eps": list(hits),
        "close": [closeness(result.people.attribute, eps, unit).label for eps in hits],
        "withheld": withheld,
        "classes": [
            {
                "keys": [column[i] for column in keys],
                "size": sizes[c],
                **{name: figure[c] for name, figure in figures.items()},
                "hit": [hit[c] for hit in hits.values()],
            }
            for i, c in enumerate(named)
        ],
    }
