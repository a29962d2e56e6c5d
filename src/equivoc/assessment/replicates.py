"""How the figures of a random technique vary from release to release."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

from equivoc.assessment.requirements.figures import figure_value
from equivoc.assessment.spread import over_releases

if TYPE_CHECKING:
    from equivoc.assessment.assessment import Assessment

FIGURES = ("h0", "area", "surprise", "gain", "hit", "true_hit", "certain_right")


def seeds_of(result: Assessment) -> list[int | None]:
    """The seed of each release: one if the technique is not random or a single release is assessed."""
    technique = result.drawn_by
    if technique is None or not technique.random or result.seed is None:
        return [result.seed]
    return list(range(result.seed, result.seed + result.replicates))


def drawn_figures(result: Assessment) -> list[dict[str, Any]]:
    """The figures and the requirements' values of every release; nothing else of the releases is kept."""
    rows = [_figures(result)]
    for seed in seeds_of(result)[1:]:
        assert result.drawn_by is not None  # only a technique has several seeds
        release = result.drawn_by.release(result.people, seed)
        rows.append(_figures(replace(result, release=release, seed=seed, replicates=1, control=None)))
    return rows


def spread_over_seeds(result: Assessment) -> dict[str, Any] | None:
    """Mean, standard deviation, least, greatest and a 95 % interval of the mean, of each figure over the seeds.

    A technique that is not random has one release. None: one release was asked for.
    """
    if result.drawn_by is None or result.replicates == 1:
        return None
    rows = result.drawn_figures
    return {
        "random": result.drawn_by.random,
        "seeds": seeds_of(result),
        "eps": result.hit_eps,
        "intruders": sorted({row["intruder"] for row in rows}),
        **{name: over_releases([row[name] for row in rows]) for name in FIGURES},
    }


def _figures(result: Assessment) -> dict[str, Any]:
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
        "requirements": [figure_value(result, requirement) for requirement in result.require],
    }
