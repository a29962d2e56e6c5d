"""The measures of one file, each with a sentence about its value."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from equivoc.data.classes import Classes
from equivoc.data.microdata import Microdata
from equivoc.data.missing_keys import ANY_VALUE, OWN, has_missing, matches
from equivoc.models.of_file.anonymity import alpha_k_anonymity, l_diversity, t_closeness
from equivoc.models.of_file.identification import (
    individual_risk,
    journalist_risk,
    marketer_risk,
    prosecutor_risk,
)
from equivoc.models.of_file.likeness import delta_presence, likeness_measures
from equivoc.models.of_file.measure import Measure
from equivoc.models.of_file.population import checked_fraction, uniqueness_measures
from equivoc.models.of_file.suda import suda
from equivoc.text import figure, listed, part, percent

RECURSIVE_C = 3
"""The c of recursive (c,l)-diversity that is shown."""
COMPARED = ("k-anonymity", "l-diversity, distinct", "t-closeness, ordered", "prosecutor risk, average")
"""The measures of the original shown beside those of its release."""
COUNTED = {
    OWN: 'a missing key is counted as a value of its own (missing_keys="own")',
    ANY_VALUE: 'a missing key is counted as any value (missing_keys="any") here, in prosecutor and in individual risk, '
    "and as a value of its own in all other measures",
}
FEW_KEYS = 2
"""A record that is unique on at most this many keys is a special unique."""


def file_measures(
    people: Microdata, classes: Classes, *, fraction: float | None = None, missing_keys: str = OWN
) -> list[Measure]:
    """k, l, t, α, β, δ, identification risks and SUDA of the file of these people.

    For a sample (a ``fraction`` of the population) also the population's uniques; by default the fraction is that of
    the survey weights.
    """
    if fraction is None and people.weights is not None and people.weights.sum() >= len(people):
        fraction = checked_fraction(people, None)
    sampled = [] if fraction is None else uniqueness_measures(classes, fraction)
    return [*_first(people, classes, missing_keys), *sampled, *_special(people, classes)]


def compared_measures(people: Microdata, classes: Classes, *, missing_keys: str = OWN) -> list[Measure]:
    """The few measures of the original that its release is compared with."""
    return [
        row._replace(measure=f"{row.measure}, original")
        for row in _first(people, classes, missing_keys)
        if row.measure in COMPARED
    ]


def _first(people: Microdata, classes: Classes, missing_keys: str) -> list[Measure]:
    sizes = matches(classes, missing_keys).sizes
    alone = int(classes.sizes[sizes == 1].sum())
    k = class_size(int(sizes.min()), classes.known, alone)
    if has_missing(classes):
        safe = "more is safer."
        k = k._replace(meaning=f"{k.meaning.removesuffix(safe)}{COUNTED[missing_keys]}; {safe}")
    values = _values(people, classes) if people.attributes else []
    return [k, *values, *_attacks(people, classes, missing_keys)]


def class_size(k: int, known: Sequence[str], alone: int) -> Measure:
    """k-anonymity, which needs only the class sizes."""
    on = f"on {listed(known)}" if known else "to someone who knows no key"
    others = f"{k - 1:,} other{'s' * (k != 2)}"
    looks = f"Everyone looks like at least {others} {on}" if k > 1 else f"Someone looks like nobody else {on}"
    who = "nobody is" if not alone else "1 record is" if alone == 1 else f"{alone:,} records are"
    return Measure("k-anonymity", float(k), f"{looks}; {who} alone; more is safer.")


def _values(people: Microdata, classes: Classes) -> list[Measure]:
    """Measures of the confidential values in the classes."""
    known, unit = classes.known, people.confidential
    distinct = int(l_diversity(people, known=known))
    effective = float(l_diversity(people, known=known, kind="entropy"))
    recursive = int(l_diversity(people, known=known, kind="recursive", c=RECURSIVE_C))
    share = alpha_k_anonymity(people, known=known).alpha
    equal = t_closeness(people, known=known, distance="equal")
    given_away = int(classes.sizes[np.diff(classes.counts.indptr) == 1].sum())
    return [
        Measure(
            "l-diversity, distinct",
            float(distinct),
            (
                f"Every class has at least {distinct:,} different values"
                if distinct > 1
                else "Some class has a single value"
            )
            + f" of {unit}; "
            f"{part(given_away, len(people))} are in a class with one value only; more is safer.",
        ),
        Measure(
            "l-diversity, entropy",
            effective,
            f"In the worst class {unit} is as uncertain as among {figure(effective)} equally frequent values "
            "(1: certain); more is safer.",
        ),
        Measure(
            f"l-diversity, recursive (c = {RECURSIVE_C})",
            float(recursive),
            f"In every class the most frequent {unit} is less than {RECURSIVE_C} times as frequent as all but the "
            f"{recursive - 1} most frequent together; more is safer."
            if recursive > 1
            else f"In some class one {unit} is at least {RECURSIVE_C} times as frequent as all others together; "
            "more is safer.",
        ),
        Measure(
            "(α,k)-anonymity, α",
            share,
            f"In the worst class {percent(share)} of the people have the same {unit}, so a guess of it is right that "
            "often; less is safer.",
        ),
        *_by_distance(people, classes),
        Measure(
            "t-closeness, equal",
            equal,
            f"In the worst class {percent(equal)} of the people would need another {unit} for it to be distributed "
            "like everyone's; less is safer.",
        ),
        *likeness_measures(classes),
    ]


def _by_distance(people: Microdata, classes: Classes) -> list[Measure]:
    """t-closeness with the attribute's own distance: on the line, or in the hierarchy."""
    attribute = people.attribute
    if not attribute.ordered and attribute.geometry.width <= 1:
        return []  # without a hierarchy, t-closeness with equal distances says the same
    moved = t_closeness(people, known=classes.known)
    across = "of the way across the domain" if attribute.ordered else "of the way up the hierarchy"
    return [
        Measure(
            f"t-closeness, {'ordered' if attribute.ordered else 'tree'}",
            moved,
            f"In the worst class the values of {attribute.name} lie {figure(moved)} {across} from everyone's "
            "(0: distributed alike; 1: at the other end); less is safer.",
        )
    ]


def _attacks(people: Microdata, classes: Classes, missing_keys: str) -> list[Measure]:
    known, records = classes.known, len(people)
    found = prosecutor_risk(people, known=known, missing_keys=missing_keys)
    rows = [
        Measure(
            "prosecutor risk, highest",
            found.highest,
            f"An intruder who knows that her target is in the file finds the right record with probability "
            f"{figure(found.highest)} at worst; less is safer.",
        ),
        Measure(
            "prosecutor risk, average",
            found.average,
            f"She finds the right record of a random person with probability {figure(found.average)}; "
            f"for {percent(found.above)} of the records it is above {figure(found.threshold)}; less is safer.",
        ),
    ]
    weights = people.weights
    if weights is not None and weights.sum() >= records:
        whole = f"By the survey weights the file stands for {figure(weights.sum())} people; "
        individual = individual_risk(people, known=known, missing_keys=missing_keys)
        rows += [
            *outsiders(people, classes, None),
            Measure(
                "individual risk, highest",
                individual.highest,
                f"{whole}the riskiest record is identified with probability {figure(individual.highest)}; "
                "less is safer.",
            ),
            Measure(
                "global risk",
                individual.share,
                f"{whole}{figure(individual.expected)} of {records:,} records can be expected to be identified; "
                "less is safer.",
            ),
        ]
    return rows


def outsiders(people: Microdata, classes: Classes, population: Microdata | None) -> list[Measure]:
    """Risks from intruders who do not know who is in the file, given ``population`` or survey weights."""
    found = journalist_risk(people, known=classes.known, population=population)
    market = marketer_risk(people, known=classes.known, population=population)
    source = found.population if population is None else "the original"
    rows = [
        Measure(
            "journalist risk, highest",
            found.highest,
            "An intruder who does not know who is in the file finds the person of a record with probability "
            f"{figure(found.highest)} at worst (population: {source}); less is safer.",
        ),
        Measure(
            "marketer risk",
            market.share,
            f"An intruder who matches the whole file with the population gets {figure(market.expected)} of "
            f"{len(people):,} records right ({percent(market.share)}); less is safer.",
        ),
    ]
    if population is not None:
        presence = delta_presence(people, population=population, known=classes.known)
        rows.append(
            Measure(
                "δ-presence, δ_max",
                presence.high,
                f"The probability that someone of the population is in the file is between {figure(presence.low)} and "
                f"{figure(presence.high)}; less is safer.",
            )
        )
    return rows


def _special(people: Microdata, classes: Classes) -> list[Measure]:
    if not classes.known:
        return []
    size = min(FEW_KEYS, len(classes.known))
    few = int(np.count_nonzero(suda(people, known=classes.known, max_size=size).smallest_msu))
    keys = "a single key makes" if size == 1 else f"{size} keys or fewer make"
    return [
        Measure(
            "SUDA, special uniques",
            few / len(people),
            f"{keys.capitalize()} {part(few, len(people))} unique in the file; less is safer.",
        )
    ]
