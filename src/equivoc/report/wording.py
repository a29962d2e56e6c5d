"""The sentences of the report about its figures."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from equivoc.models.phrases import listed
from equivoc.number_format import amount, bits, counted, figure, probability
from equivoc.report.bounds import Bounds

VERDICTS = ((0.25, "little"), (0.5, "a good part"), (2.0, "most"))
"""The word for the drop of the area: "little" below a quarter, "most" from a half on."""

CONTROL, MEAN_ENTROPY, HIT_RATE = "Control group", "Mean entropy", "Hit rate V(ε)"
METHODS = (
    (
        "H(ε)",
        "the smallest Shannon entropy, in bits, over all partitions of the candidate values into groups at most ε "
        "wide: the uncertainty that remains for an intruder who only needs the value to within ε. Higher is safer.",
    ),
    ("H0", "H(0): the uncertainty about the exact value, in bits. 0 means she knows it. Higher is safer."),
    (
        "Area A",
        "the integral of H(ε) over all ε, in bits × the attribute's unit: the uncertainty summed over all tolerances. "
        "Higher is safer.",
    ),
    (MEAN_ENTROPY, "the area divided by the width of the domain, in bits. Higher is safer."),
    (
        HIT_RATE,
        "the largest posterior probability of any interval of length ε: the probability that the intruder gives to "
        "her best guess being within ±ε/2. Lower is safer.",
    ),
    (
        "True-hit rate",
        "the share of people whose true value lies in that interval. If it is below the hit rate, the intruder is "
        "overconfident; if above, underconfident. Lower is safer.",
    ),
    (
        "Surprise",
        "−log2 of the probability that she gives to the true value, in bits, averaged over people. The distribution of "
        "the attribute in the file is first mixed into her posteriors, with the weight that minimises the surprise. "
        "Lower is riskier. The value without the release is for someone who knows only this distribution.",
    ),
    (
        "Averages",
        "are over people unless stated otherwise: each class of people who agree on the known keys is weighted by its "
        "size. An average is the figure for a person picked at random.",
    ),
    (
        "Baselines",
        "“without the release” is for an intruder who has only her prior; “published unchanged” is for one who has the "
        "original file. “Share left” is the figure for this release divided by the figure without the release.",
    ),
    (
        CONTROL,
        "people who were not in the data. What the release discloses about them, it discloses about anyone; the "
        "difference is the risk of being in the data. In this table surprise is the mean of −log2 of the probability "
        "that the intruder gives to the true value, in bits, after 1% of the probability is spread evenly over all "
        "values. Lower is riskier.",
    ),
    (
        "Contributions",
        "are Shapley values: how much learning a key reduces H0, averaged over all orders of learning the known keys. "
        "They add up to the reduction from knowing all of them.",
    ),
    (
        "Verdict",
        "“little” is disclosed if the release reduces the area by less than a quarter, “a good part” if by less than a "
        "half, “most” otherwise. It is about the average person; see the distribution over people for those at the "
        "highest risk.",
    ),
)


HIT_RATE_OF_CATEGORIES = (
    "the largest posterior probability of any group at level ε (at ε = 0, of any category): the probability that the "
    "intruder herself gives to her best guess being right. Lower is safer."
)
LEVELS = (
    "Levels",
    "ε counts levels of the hierarchy. The distance between two categories is the level of their lowest common group; "
    "without a hierarchy, any two are one level apart. H(ε) is the entropy of the groups at that level, and the area "
    "is the sum of H over the levels.",
)


def methods(*, categories: bool, control: bool, mean_entropy: bool) -> list[tuple[str, str]]:
    """The terms that a page explains: those that it uses."""
    told = [
        (term, HIT_RATE_OF_CATEGORIES if categories and term == HIT_RATE else meaning)
        for term, meaning in METHODS
        if (control or term != CONTROL) and (mean_entropy or term != MEAN_ENTROPY)
    ]
    return [LEVELS, *told] if categories else told


def estimates_sentence(estimates: dict[str, Any]) -> str:
    """How many areas are estimates, and how far off they may be.

    >>> estimates_sentence({"classes": 12, "checked": 3, "largest_error": 0.004})
    'The areas of 12 classes with many values are estimates; of those that were checked, none is off by more than \
0.4%. Give a tolerance such as 0.01 for certified areas.'
    """
    return (
        f"The areas of {counted(estimates['classes'], 'class')} with many values are estimates; of those that were "
        f"checked, none is off by more than {figure(100 * estimates['largest_error'])}%. Give a tolerance such as 0.01 "
        "for certified areas."
    )


def question(confidential: str, known: Sequence[str], technique: str) -> str:
    knows = f"knows a person's {listed(known)}" if known else "knows nothing else about a person"
    return (
        f"If the data are released by {technique}, how precisely can an intruder who {knows} "
        f"infer that person's {confidential}?"
    )


def hit_sentence(known: Sequence[str], phrase: str, hit: float) -> str:
    """“Knowing age and sex, an intruder is within ±5K of a random person's salary with probability 0.41.”"""
    knowing = f"Knowing {listed(known)}" if known else "Knowing nothing else"
    return f"{knowing}, an intruder {phrase} with probability {probability(hit)}."


def beside_sentence(hit: dict[str, Any]) -> str:
    return (
        f"Without the release it would be {probability(hit['prior'])}; with the file published unchanged, "
        f"{probability(hit['unprotected'])}. Compared with the true values, her best guess is that close for "
        f"{hit['true_hit']:.1%} of the people."
    )


def control_sentence(records: int, people: float, control: float) -> str:
    """The sentence about the difference between the people in the data and the control group.

    >>> control_sentence(100, 1.5, 2.0)
    'The mean surprise at the true value is 1.5 bits for the people in the data and 2 bits for 100 people who were not \
in it: the difference, 0.5 bits, is what the release discloses only about people in the data.'
    """
    return (
        f"The mean surprise at the true value is {bits(people)} for the people in the data and {bits(control)} for "
        f"{counted(records, 'person')} who were not in it: the difference, {bits(control - people)}, is what the "
        "release discloses only about people in the data."
    )


def truth_sentence(truth: dict[str, Any]) -> str:
    """Her posteriors compared with the people's true values, at ε = 0 or the smallest tolerance.

    >>> truth_sentence({"surprise": {0.0: 1.966}, "prior_surprise": {0.0: 4.104}, "gain": 2.137, "certain_right": 337,
    ...     "certain_wrong": 0})
    'Her mean surprise at the true values is 1.966 bits, and 4.104 bits without the release: she gains 2.137 bits \
about the true value per person. She is certain and right about 337 people, and certain but wrong about 0 people.'
    """
    eps = min(truth["surprise"])
    return (
        f"Her mean surprise at the true values is {bits(truth['surprise'][eps])}, and "
        f"{bits(truth['prior_surprise'][eps])} without the release: she gains {bits(truth['gain'])} about the true "
        f"value per person. She is certain and right about {counted(truth['certain_right'], 'person')}, and certain "
        f"but wrong about {counted(truth['certain_wrong'], 'person')}."
    )


def verdict_words(given_away: float) -> str:
    return next(words for below, words in VERDICTS if given_away < below)


def headline(words: str, certain: int, records: int) -> str:
    """The result in one line: the average person, and the people at the highest risk.

    >>> headline("little", 2, 100)
    'On average little is disclosed, but the intruder is certain about 2 people (2.0%).'
    """
    if not certain:
        return f"On average {words} is disclosed, and the intruder is not certain about anyone."
    many = counted(certain, "person")
    joined = "and" if words == "most" else "but"
    return f"On average {words} is disclosed, {joined} the intruder is certain about {many} ({certain / records:.1%})."


def verdict_sentence(left: float, left_unprotected: float) -> str:
    return (
        f"After the release, the intruder has {left:.0%} of the uncertainty that she has without it. "
        f"If the file were published unchanged, she would have {left_unprotected:.0%}."
    )


def domain_words(many: str, bounds: Bounds | None, unit: str) -> str:
    """The number of values, and their range.

    >>> domain_words("25 values", Bounds(10, 250, exact=True), "K"), domain_words("5 categories", None, "")
    ('25 values from 10K to 250K', '5 categories')
    >>> domain_words("1,234 values", Bounds(10, 250, exact=False), "K")
    '1,234 values, most of them between about 10K and 250K'
    """
    if bounds is None:
        return many
    low, high = amount(bounds.low, unit), amount(bounds.high, unit)
    return (
        f"{many} from {low} to {high}"
        if bounds.exact
        else f"{many}, most of them between about {low} and {high}"
    )


def assumptions(*, mechanism: str, uniform_prior: bool, weights: bool, given_domain: str) -> list[str]:
    told = [
        "The target is in the file, and the intruder knows how many people in the file have the same known keys.",
        "She knows the true values of the known keys; a missing value of a key is treated as a value of its own.",
        f"She knows which values the confidential attribute can take ({given_domain}).",
        "Without the release she considers all of these equally likely."
        if uniform_prior
        else "Without the release she expects the distribution that was given as her prior.",
        mechanism,
    ]
    if weights:
        told.append("Survey weights are not used: the figures are about the people in the file.")
    return told
