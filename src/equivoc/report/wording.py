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
        "the least Shannon entropy, in bits, over all ways to merge candidate values that lie at most ε apart: what "
        "an intruder still does not know when an answer within ε is good enough for her. Higher is safer.",
    ),
    ("H0", "H(0): the uncertainty about the exact value, in bits. 0: she knows it. Higher is safer."),
    (
        "Area A",
        "the integral of H(ε) over all ε, in bits × the attribute's unit: the uncertainty about the value at every "
        "tolerance. Higher is safer.",
    ),
    (MEAN_ENTROPY, "the area divided by the width of the domain, in bits. Higher is safer."),
    (
        HIT_RATE,
        "the largest probability that one window of length ε holds: the chance, by the intruder's own reckoning, that "
        "her best guess is within ±ε/2. Lower is safer.",
    ),
    (
        "True-hit rate",
        "the share of people whose true value lies in that best window. Below the hit rate, she is surer than she "
        "should be; above it, less sure than she could be. Lower is safer.",
    ),
    (
        "Surprise",
        "−log2 of the probability that she gives to the true value, in bits, averaged over people. The distribution of "
        "the attribute among the people is first mixed into her beliefs, with the weight that makes the surprise "
        "least. Lower is riskier. Without the release it is that of someone who knows this distribution and nothing "
        "else.",
    ),
    (
        "Averages",
        "are over people unless said otherwise: each class of people who agree on the known keys counts as often as "
        "it has members. It is the risk of a person picked at random.",
    ),
    (
        "Baselines",
        "“without the release” is what the intruder expects beforehand; “published as it is” is what she would have "
        "if the file were released unchanged. “Left” is a figure divided by the one without the release.",
    ),
    (
        CONTROL,
        "people who were not in the data. What the release tells about them it tells about anyone, and is no breach of "
        "someone's confidence; the difference is what those in the data give away by being in it. Here surprise is the "
        "mean of −log2 of the probability that the intruder gives to the true value, in bits, one hundredth of her "
        "belief being spread evenly over all values. Lower is riskier.",
    ),
    (
        "Contributions",
        "are Shapley values: what learning a key takes from H0, averaged over all orders of learning the known keys. "
        "They sum to what knowing all of them takes away.",
    ),
    (
        "Verdict",
        "“little” is given away if the area falls by less than a quarter, “a good part” if by less than a half, "
        "“most” otherwise. It is about the average person: see the distribution over people for the worst off.",
    ),
)


HIT_RATE_OF_CATEGORIES = (
    "the largest probability that one group of the level ε holds (at ε = 0, one category): the chance, by the "
    "intruder's own reckoning, that her best guess is right about it. Lower is safer."
)
LEVELS = (
    "Levels",
    "ε counts levels of the hierarchy. Two categories are as far apart as their lowest common group is high above "
    "them; without a hierarchy, any two are one level apart. H(ε) is the entropy of the groups at that level, and the "
    "area is the sum of H over the levels.",
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
        f"Once the data are released by {technique}, how closely can an intruder who {knows} "
        f"pin down that person's {confidential}?"
    )


def hit_sentence(known: Sequence[str], phrase: str, hit: float) -> str:
    """“Knowing age and sex, an intruder is within ±5K of a random person's salary with probability 0.41.”"""
    knowing = f"Knowing {listed(known)}" if known else "Knowing nothing else"
    return f"{knowing}, an intruder {phrase} with probability {probability(hit)}."


def beside_sentence(hit: dict[str, Any]) -> str:
    return (
        f"Without the release it would be {probability(hit['prior'])}; had the file been published as it is, "
        f"{probability(hit['unprotected'])}. Held against the true values, her best guess is that close for "
        f"{hit['true_hit']:.1%} of the people."
    )


def control_sentence(records: int, people: float, control: float) -> str:
    """The sentence about the difference between the people in the data and the control group.

    >>> control_sentence(100, 1.5, 2.0)
    'The true value surprises her by 1.5 bits for those in the data and by 2 bits for 100 people who were not in \
it: 0.5 bits are learnt about those in the data beyond what is learnt about anyone.'
    """
    return (
        f"The true value surprises her by {bits(people)} for those in the data and by {bits(control)} for "
        f"{counted(records, 'person')} who were not in it: {bits(control - people)} are learnt about those in "
        "the data beyond what is learnt about anyone."
    )


def truth_sentence(truth: dict[str, Any]) -> str:
    """Her beliefs held against the people's true values, at ε = 0 or the least tolerance there is.

    >>> truth_sentence({"surprise": {0.0: 1.966}, "prior_surprise": {0.0: 4.104}, "gain": 2.137, "certain_right": 337,
    ...     "certain_wrong": 0})
    'The true values surprise her by 1.966 bits on average, and by 4.104 bits without the release: it tells her 2.137 \
bits of truth per person. She is certain of 337 people and right, and certain of 0 people and wrong.'
    """
    eps = min(truth["surprise"])
    return (
        f"The true values surprise her by {bits(truth['surprise'][eps])} on average, and by "
        f"{bits(truth['prior_surprise'][eps])} without the release: it tells her {bits(truth['gain'])} of truth per "
        f"person. She is certain of {counted(truth['certain_right'], 'person')} and right, and certain of "
        f"{counted(truth['certain_wrong'], 'person')} and wrong."
    )


def verdict_words(given_away: float) -> str:
    return next(words for below, words in VERDICTS if given_away < below)


def headline(words: str, certain: int, records: int) -> str:
    """The result in one line: the average person, and the people at the highest risk.

    >>> headline("little", 2, 100)
    'On average little is given away, but of 2 people (2.0%) the intruder is certain.'
    """
    if not certain:
        return f"On average {words} is given away, and there is nobody of whom the intruder is certain."
    many = counted(certain, "person")
    joined = "and" if words == "most" else "but"
    return f"On average {words} is given away, {joined} of {many} ({certain / records:.1%}) the intruder is certain."


def verdict_sentence(left: float, left_unprotected: float) -> str:
    return (
        f"An intruder is left with {left:.0%} of the uncertainty she has without the release. "
        f"The file published as it is would leave {left_unprotected:.0%}."
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
        "The target is in the file, and the intruder knows how many people of the file agree with what she knows.",
        "She knows the true values of the known keys; a missing key is a value like any other.",
        f"She knows which values the confidential attribute can take ({given_domain}).",
        "Without the release she holds all of these equally likely."
        if uniform_prior
        else "Without the release she expects the distribution that was given as publicly known.",
        mechanism,
    ]
    if weights:
        told.append("Survey weights are not used: the figures are about the people of the file.")
    return told
