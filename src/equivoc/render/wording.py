"""The sentences of the report about its figures."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from equivoc.render.parts import Bounds
from equivoc.text import amount, counted, figure, listed, percent, probability

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
        "−log2 of the probability that she gives to the true value, in bits, averaged over people. Her prior is first "
        "mixed into her posteriors, with the weight that minimises the surprise (1 − trust). Lower is riskier. The "
        "value without the release is for someone who has only the prior. T(ε) is the surprise at the window of width "
        "ε that holds the true value.",
    ),
    (
        "Averages",
        "are over people unless stated otherwise: each class of people who agree on the known keys is weighted by its "
        "size. An average is the figure for a person picked at random.",
    ),
    (
        "Baselines",
        "“without the release” is for an intruder who has only her prior; “published unchanged” is for one who has the "
        "original file.",
    ),
    (
        CONTROL,
        "people who were not in the data. What the release discloses about them, it discloses about anyone; the "
        "difference is the risk of being in the data. Both groups are scored with the trust that suits the people in "
        "the data, but with a weight of the prior of at least 1/(n + 1) for n people. The 95% interval of the "
        "difference is clustered by class, because people who agree on the known keys share a posterior.",
    ),
    (
        "Contributions",
        "are Shapley values: how much learning a key reduces H0, averaged over all orders of learning the known keys. "
        "They add up to the reduction from knowing all of them.",
    ),
    (
        "Verdict",
        "“little” is disclosed if the release takes away less than a quarter of the surprise that the true values have "
        "without it, “a good part” if less than a half, “most” otherwise. It is about the average person; see the "
        "people about whom she is certain and right, and the distribution over people.",
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
    sentences = [
        (term, HIT_RATE_OF_CATEGORIES if categories and term == HIT_RATE else meaning)
        for term, meaning in METHODS
        if (control or term != CONTROL) and (mean_entropy or term != MEAN_ENTROPY)
    ]
    return [LEVELS, *sentences] if categories else sentences


def estimates_sentence(estimates: dict[str, Any]) -> str:
    """How many areas are estimates, and how far off they may be.

    >>> estimates_sentence({"classes": 12, "checked": 3, "largest_error": 0.004})
    'The areas of 12 classes with many values are estimates; of those that were checked, none is off by more than \
0.4%. Give a precision such as 0.01 for certified areas.'
    """
    return (
        f"The areas of {counted(estimates['classes'], 'class')} with many values are estimates; of those that were "
        f"checked, none is off by more than {figure(100 * estimates['largest_error'])}%. Give a precision such as 0.01 "
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
        f"{percent(hit['true_hit'])} of the people."
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
    low, high = bounds.words or (amount(bounds.low, unit), amount(bounds.high, unit))
    return (
        f"{many} from {low} to {high}"
        if bounds.exact
        else f"{many}, most of them between about {low} and {high}"
    )


PRIORS = {
    "marginal": "Without the release she knows how the attribute is distributed in the file: this counts as public.",
    "uniform": "Without the release she considers all of these equally likely.",
    "given": "Without the release she expects the distribution that was given as her prior.",
}


def assumptions(
    *, mechanism: str, intruder: str, prior: str, weights: bool, given_domain: str, control: bool = False
) -> list[str]:
    """What the figures assume; ``prior`` is one of PRIORS, ``intruder`` the one that is used."""
    sentences = [
        "The target is in the file, and the intruder knows how many people in the file have the same known keys.",
        "She knows the true values of the known keys; a missing value of a key is treated as a value of its own.",
        f"She knows which values the confidential attribute can take ({given_domain}).",
        PRIORS[prior],
        mechanism,
    ]
    if intruder == "register":
        sentences.append("She has a register: she knows the known keys of everybody in the file.")
    if intruder == "learned":
        sentences.append(
            "She learns from the release how the confidential attribute depends on the released keys."
        )
    if intruder == "paper" and prior != "uniform":
        sentences.append(
            "The intruder is the published one, who considers all values equally likely before the release; the stated "
            "prior is used for the figures without the release only."
        )
    if control:
        sentences.append("People of the control group are not in the file; the intruder is not told so.")
    if weights:
        sentences.append(
            "Survey weights count only in the figures of participation: all others are about the people in the file."
        )
    return sentences
