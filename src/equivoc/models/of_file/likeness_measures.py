"""β-likeness and δ-disclosure privacy of a file, each with a sentence about its value."""

from __future__ import annotations

from math import inf, isinf

import numpy as np

from equivoc.data.classes import Classes
from equivoc.models.measure import Measure
from equivoc.models.of_file.likeness import beta_of, delta_of, excessive, lacking, ratios
from equivoc.models.phrases import part
from equivoc.number_format import bits, figure


def likeness_measures(classes: Classes) -> list[Measure]:
    """Basic and enhanced β; δ by its definition, and of the values that occur in the classes."""
    unit, found, absent = classes.people.confidential, ratios(classes), lacking(classes)
    beta, enhanced, delta = beta_of(found, "basic"), beta_of(found, "enhanced"), delta_of(found)
    times = figure(1 + beta)
    frequent = int(classes.sizes[np.logical_or.reduceat(excessive(found), classes.counts.indptr[:-1])].sum())
    lack = part(int(np.sum(classes.sizes[absent])), len(classes.people))
    return [
        Measure(
            "β-likeness, basic",
            beta,
            f"In the worst class one {unit} is {times} times as frequent as among everyone, a gain of {figure(beta)}; "
            "less is safer.",
        ),
        Measure(
            "β-likeness, enhanced",
            enhanced,
            f"No β suffices: in the classes of {part(frequent, len(classes.people))} some {unit} of share p among "
            "everyone gains more than −ln p; less is safer."
            if isinf(enhanced)
            else f"The largest gain is {figure(enhanced)}, and no {unit} of share p gains more than −ln p; "
            "less is safer.",
        ),
        Measure(
            "δ-disclosure privacy",
            inf if absent.any() else delta,
            f"For {lack} the class lacks a {unit} that others have, and so rules it out; less is safer."
            if absent.any()
            else f"Each {unit} occurs in every class, and its share differs from everyone's by at most {bits(delta)}; "
            "less is safer.",
        ),
        Measure(
            "δ-disclosure privacy, values that occur",
            delta,
            f"Where it occurs, a {unit} is up to {figure(2.0**delta)} times more or less frequent than among everyone, "
            f"{bits(delta)}; less is safer.",
        ),
    ]
