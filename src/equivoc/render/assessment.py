"""The facts of a result: a plain dict, ready for JSON, from which figures and page are made.

No fact discloses a value of one record. The range of values is shown as `equivoc.render.parts` allows. Classes
of fewer than three people are counted, but their key values are withheld unless ``record_values=True``.
"""

from __future__ import annotations

import inspect
import platform
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from equivoc.assessment.budget import budget as budgets
from equivoc.assessment.budget import budgeted, can_be_budgeted
from equivoc.assessment.subsets import risk_by_knowledge
from equivoc.attributes.attribute import closeness, domain_size, level_names, measured_in
from equivoc.intruder.prior import marginal
from equivoc.render import wording
from equivoc.render.parts import (
    Bounds,
    json_values,
    riskiest_classes,
    shown_bounds,
    shown_summary,
    tells_no_value,
    utility_facts,
)
from equivoc.render.truth import (
    intruder_facts,
    participation_facts,
    requirement_facts,
    spread_facts,
    surprise_facts,
    truth_facts,
    verdict,
)
from equivoc.render.truth_wording import control_sentence
from equivoc.version import __version__

if TYPE_CHECKING:
    from equivoc.assessment.assessment import Assessment
    from equivoc.requirements.outcome import Outcome

Floats = NDArray[np.float64]
MOST_TOLERANCES = 65
BINS = 20
RISKIEST = 10
CERTAIN = 1e-9
"""Bits: a class with less uncertainty than this counts as certain."""


def assessment_facts(
    result: Assessment,
    *,
    unit: str = "",
    record_values: bool = False,
    title: str | None = None,
    date: str | None = None,
    budget: bool = False,
    every_outcome: Sequence[Outcome] | None = None,
) -> dict[str, Any]:
    """The facts of the report of an assessment.

    ``unit`` is the confidential attribute's, such as "K" or "cents". With ``record_values`` the riskiest classes are
    named even if they have fewer than three people. ``date`` is printed as given; without it, the same result gives
    the same bytes. ``budget`` adds the figures of privacy budgets; for a differentially private release they are
    always included. ``every_outcome`` are the requirements' outcomes for all confidential attributes of the release.
    """
    subsets = result.subsets  # before the summary, so that it does not measure them again
    people, summary = result.people, result.summary
    attribute = people.attribute
    unit = unit or attribute.unit
    bounds = shown_bounds(people)
    core = core_facts(result, unit=unit, title=title, every_outcome=every_outcome)
    figures, shown = core["figures"], core["shown_hit"]
    facts = {
        **core,
        "spread": spread_facts(result),
        "control": _control(summary, {hit["eps"]: hit["close"] for hit in core["hits"]}),
        "curve": curve_facts(result, bounds),
        "knowledge": risk_by_knowledge(subsets),
        "riskiest": riskiest_classes(result, RISKIEST, record_values=record_values, unit=unit),
        "contributions": contribution_facts(summary),
        "budget": _budget(result, shown["eps"]) if budget or _is_private(result) else None,
        "utility": utility_facts(result),
        "measures": [row._asdict() for row in result.measures],
        "methods": [
            {"term": term, "meaning": meaning}
            for term, meaning in wording.methods(
                categories=not attribute.ordered,
                control="control" in summary,
                mean_entropy=any(f["name"] == "mean_entropy" for f in figures),
            )
        ],
        "assumptions": wording.assumptions(
            mechanism=result.release.assumption,
            intruder=result.intruder,
            prior=prior_name(result),
            control=result.control is not None,
            weights=people.weights is not None,
            given_domain=wording.domain_words(domain_size(attribute), bounds, unit),
        ),
        "summary": shown_summary(result, bounds),
        "versions": versions(),
        "date": date,
    }
    plain: dict[str, Any] = json_values(facts)
    return plain


def core_facts(
    result: Assessment,
    *,
    unit: str = "",
    title: str | None = None,
    every_outcome: Sequence[Outcome] | None = None,
    advice: bool = True,
) -> dict[str, Any]:
    """The facts that need the intruder's posteriors for the known keys and nothing else, so that they are quick.

    The other arguments are those of `assessment_facts`; ``advice`` adds what would help to meet a requirement.
    """
    people, summary = result.people, result.averages
    name, attribute = people.confidential, people.attribute
    unit = unit or attribute.unit
    hits = hit_facts(result, unit)
    phrases = {hit["eps"]: closeness(attribute, hit["eps"], unit).phrase for hit in hits}
    shown = next((hit for hit in hits if hit["eps"] > 0), hits[0])
    bounds = shown_bounds(people)
    figures = uncertainty_facts(summary, measured_in(attribute, unit))
    if not tells_no_value(attribute, bounds):
        # Area divided by mean entropy is the difference between the largest and the smallest person's value.
        figures = [figure for figure in figures if figure["name"] != "mean_entropy"]
    truth = truth_facts(result)
    required = requirement_facts(result, every_outcome, advice=advice)
    return {
        "kind": "assessment",
        "title": title or f"Disclosure risk of {name}",
        "question": wording.question(name, result.known, result.technique),
        "verdict": verdict(truth, len(people), required),
        "requirements": required,
        "sentences": {
            "hit": [wording.hit_sentence(result.known, phrases[hit["eps"]], hit["release"]) for hit in hits],
            "shown": wording.hit_sentence(result.known, phrases[shown["eps"]], shown["release"]),
            "beside": wording.beside_sentence(shown),
            "truth": truth["sentence"],
        },
        "data": data_facts(result, unit, bounds),
        "technique": {"notation": result.technique, "release": _first_sentence(type(result.release))},
        "known": result.known,
        "truth": truth,
        "participation": participation_facts(result),
        "intruders": intruder_facts(result),
        "figures": figures,
        "hits": hits,
        "estimates": _estimates(summary),
        "notes": result.notes,
        "shown_hit": shown,
        "people": {**exposure_facts(result, shown["eps"]), "hit_close": shown["close"]},
        "seed": result.seed,
    }


def versions() -> dict[str, str]:
    """The versions of the software that computed the figures."""
    return {"equivoc": __version__, "python": platform.python_version(), "numpy": np.__version__}


def data_facts(result: Assessment, unit: str, bounds: Bounds | None) -> dict[str, Any]:
    people, classes = result.people, result.posteriors.classes
    sizes = classes.sizes
    return {
        "records": len(people),
        "dropped": people.dropped,
        "reading": people.reading.json,
        "classes": len(classes),
        "smallest_class": sizes.min(),
        "largest_class": sizes.max(),
        "alone": np.count_nonzero(sizes == 1),
        "confidential": {
            "name": people.confidential,
            "kind": people.attribute.kind,
            "unit": unit,
            "measured_in": measured_in(people.attribute, unit),
            "values": len(people.values),
            "low": None if bounds is None else bounds.low,
            "high": None if bounds is None else bounds.high,
            "exact": bounds is not None and bounds.exact,
            "words": wording.domain_words(domain_size(people.attribute), bounds, unit),
        },
        "keys": [
            {"name": key, "levels": len(people.levels(key)), "known": key in result.known}
            for key in people.keys
        ],
        "weights": people.weights is not None,
    }


def uncertainty_facts(summary: dict[str, Any], unit: str) -> list[dict[str, Any]]:
    """H0, area and mean entropy: over people, beside the baselines."""
    rows = []
    for name, label, in_units in (
        ("h0", "H0", "bits"),
        ("area", "Area A", f"bits × {unit}"),
        ("mean_entropy", "Mean entropy", "bits"),
    ):
        prior = summary["prior"][name]
        release = summary["per_record"][name]["mean"]
        rows.append(
            {
                "name": name,
                "label": label,
                "unit": in_units,
                "safer": "higher",
                "release": release,
                "prior": prior,
                "unprotected": summary["unprotected"][name],
                "over_people": summary["per_record"][name],
                "over_classes": summary["per_class"][name],
            }
        )
    return rows


def hit_facts(result: Assessment, unit: str) -> list[dict[str, Any]]:
    summary = result.averages
    return [
        {
            "eps": eps,
            "close": closeness(result.people.attribute, eps, unit).label,
            "within": eps / 2,
            "safer": "lower",
            "release": summary["per_record"]["hit"][eps]["mean"],
            "true_hit": summary["per_record"]["true_hit"][eps],
            "prior": summary["prior"]["hit"][eps],
            "unprotected": summary["unprotected"]["hit"][eps],
        }
        for eps in result.eps
    ]


def prior_name(result: Assessment) -> str:
    """Which prior was asked for: "uniform", "marginal" or "given"."""
    prior = result.prior_probabilities
    if np.ptp(prior) < 1e-12:
        return "uniform"
    return "marginal" if np.allclose(prior, marginal(result.people), rtol=0, atol=1e-12) else "given"


def _estimates(summary: dict[str, Any]) -> dict[str, Any] | None:
    """How many areas are estimates, and a bound of their error; None if all are exact or certified."""
    estimates = summary["estimates"]
    return None if estimates is None else {**estimates, "sentence": wording.estimates_sentence(estimates)}


def _control(summary: dict[str, Any], close: dict[float, str]) -> dict[str, Any] | None:
    """True hits, truth and surprise for the control group and the people in the data; None without a control group."""
    if "control" not in summary:
        return None
    control = summary["control"]
    people, further, between = control["people"], control["beyond"], control["interval"]
    return {
        "records": control["records"],
        "h0": control["h0"],
        "area": control["area"],
        "hits": [
            {
                "eps": eps,
                "close": close[eps],
                "within": eps / 2,
                "people": people["true_hit"][eps],
                "control": hit,
                "beyond": further["true_hit"][eps],
                "interval": between["true_hit"][eps],
            }
            for eps, hit in control["true_hit"].items()
        ],
        **{
            name: {
                "people": people[name],
                "control": control[name],
                "beyond": further[name],
                "interval": between[name],
            }
            for name in ("truth", "surprise")
        },
        "sentence": control_sentence(
            control["records"], people["surprise"], control["surprise"], between["surprise"]
        ),
    }


def curve_facts(result: Assessment, bounds: Bounds | None, *, most: int = MOST_TOLERANCES) -> dict[str, Any]:
    """H(ε) of the average over people, at every break point if these are few, else at ``most`` even steps.

    Break points are differences of values, so they would disclose people's own values; even steps do not.
    """
    eps = result.break_points
    attribute = result.people.attribute
    every = tells_no_value(attribute, bounds) and (len(eps) <= most or not attribute.ordered)
    if not every:
        eps = np.linspace(0.0, _reach(float(eps[-1]), bounds), most)
    found = result.mean_curve(eps)
    return {
        "eps": eps,
        "levels": level_names(attribute) if attribute.kind == "tree" else None,
        "every_break_point": every,
        "drawn": found.drawn,
        "release": found.release,
        "prior": found.prior,
        "unprotected": found.unprotected,
        "truth": surprise_facts(result, eps, found.release),
    }


def _reach(widest: float, bounds: Bounds | None) -> float:
    """The largest tolerance that is drawn: the width of the range that is shown; if none is shown, a power of ten."""
    if bounds is not None and bounds.exact:
        return widest
    width = 0.0 if bounds is None else bounds.high - bounds.low
    return width or float(10.0 ** np.ceil(np.log10(widest))) if widest else 1.0


def exposure_facts(result: Assessment, eps: float) -> dict[str, Any]:
    """The distributions of H0 and the hit rate over people: histograms, and the people at the highest risk."""
    sizes, h0, hit = result.figures.sizes, result.figures.h0, result.figures.hit[eps]
    top = max(float(np.log2(len(result.people.values))), float(h0.max()), CERTAIN)
    return {
        "h0": _histogram(h0, sizes, top),
        "hit": _histogram(hit, sizes, 1.0),
        "hit_eps": eps,
        "certain": sizes[h0 < CERTAIN].sum(),
        "hit_above_half": sizes[hit > 0.5].sum(),
        "hit_above_nine_tenths": sizes[hit > 0.9].sum(),
    }


def _histogram(figures: Floats, sizes: NDArray[np.int64], top: float) -> list[dict[str, Any]]:
    edges = np.linspace(0.0, top, BINS + 1)
    place = np.clip(np.searchsorted(edges, figures, side="right") - 1, 0, BINS - 1)
    people = np.bincount(place, weights=sizes, minlength=BINS).astype(np.int64)
    return [
        {"low": low, "high": high, "people": count}
        for low, high, count in zip(edges[:-1], edges[1:], people, strict=True)
    ]


def contribution_facts(summary: dict[str, Any]) -> list[dict[str, Any]] | None:
    """Each known key's bits and share, the largest first; None if they were not computed."""
    if "contributions" not in summary:
        return None
    bits = summary["contributions"]
    total = sum(bits.values())
    return [
        {"key": key, "bits": value, "share": value / total if total else None}
        for key, value in sorted(bits.items(), key=lambda item: -item[1])
    ]


def _is_private(result: Assessment) -> bool:
    """True if the release is differentially private and `budget` applies to its attribute."""
    return result.release.privacy_budget is not None and can_be_budgeted(result.people)


def _budget(result: Assessment, eps: float) -> dict[str, Any]:
    """Bits and hit rates for many budgets; ``here`` is the release itself if it has a budget, else None."""
    facts = budgets(result.people, known=result.known, eps=eps, seed=result.seed or 0).facts()
    spent = result.release.value_budget  # the chart's ε is the budget for a change of one value
    here = None
    if spent is not None:
        means = budgeted(result.people, result.release, known=result.known, eps=[eps]).means
        here = {"epsilon": spent, "h0": means["h0"], "hit": means["hit"][eps]}
    return {**facts, "here": here}


def _first_sentence(kind: type) -> str:
    text = " ".join(inspect.cleandoc(kind.__doc__ or "").split())
    return text.split(". ")[0].rstrip(".") + "." if text else ""
