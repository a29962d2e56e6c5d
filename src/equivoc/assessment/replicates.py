"""How the figures of a random technique vary from release to release."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

from equivoc.assessment.spread import over_releases

if TYPE_CHECKING:
    from equivoc.assessment.assessment import Assessment

FIGURES = ("h0", "area", "surprise", "gain", "hit", "true_hit", "certain_right")


def spread_over_seeds(result: Assessment) -> dict[str, Any] | None:
    """Mean, standard deviation, least, greatest and a 95 % interval of the mean, of each figure over the seeds.

    Only the figures of each release are kept. A technique that is not random has one release. None: one release was
    asked for. The interval is Student's: mean ± t · sd / √r.
    """
    technique = result.drawn_by
    if technique is None or result.replicates == 1:
        return None
    first = result.seed or 0
    seeds = list(range(first, first + result.replicates)) if technique.random else [first]
    rows = [mean_figures(result)]
    for seed in seeds[1:]:
        release = technique.release(result.people, seed)
        rows.append(mean_figures(replace(result, release=release, seed=seed, replicates=1, control=None)))
    return {
        "random": technique.random,
        "seeds": seeds,
        "eps": result.hit_eps,
        "intruders": sorted({row["intruder"] for row in rows}),
        **{name: over_releases([row[name] for row in rows]) for name in FIGURES},
    }


def mean_figures(result: Assessment) -> dict[str, Any]:
    """The figures in `FIGURES`, averaged over people where each person has one, and the intruder they are for."""
    eps, means, overall = result.hit_eps, result.means, result.truth.overall
    return {
        "intruder": result.intruder,
        "h0": means["h0"],
        "area": means["area"],
        "surprise": overall.surprise,
        "gain": overall.gain,
        "hit": means["hit"][eps],
        "true_hit": means["true_hit"][eps],
        "certain_right": overall.certain_right,
    }
