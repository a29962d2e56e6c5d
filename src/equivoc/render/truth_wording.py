"""The sentences about the truth: the verdict, the intruders, the spread over draws, and the control group."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from equivoc.text import bits, counted, figure, percent, probability

VERDICTS = ((0.25, "little"), (0.5, "a good part"), (2.0, "most"))
"""The word for the share of the prior's surprise that is given away: "little" below a quarter, "most" from a half."""

INTRUDERS = {
    "informed": "Bayes' rule with the prior, the mechanism, its parameters, and the number of people alike on the keys",
    "register": "informed, and she knows the keys of everybody in the file",
    "learned": "informed, and she learns from the release how values depend on keys",
    "paper": "the algorithm as published, which considers all values equally likely before the release",
    "file": "reads the released records as a file of unknown origin: exact matching, by distance, or with a register",
    "plain": "takes each released value at its word, or as the middle of a bell curve whose width the release tells",
    "own": "the intruder that the technique names",
}
"""What each intruder does."""
SAME = 0.01
"""Bits: smaller differences between T(ε) and H(ε) are not mentioned."""


def verdict_words(given_away: float) -> str:
    return next(words for below, words in VERDICTS if given_away < below)


def headline(words: str, right: int, wrong: int, records: int, *, below: float = 0.0) -> str:
    """The result in one line: the average person, the people who are disclosed, and those she is wrong about.

    ``below`` is the share of people whose true value surprises her by less than half a bit; 0 if it is no more than
    without the release.

    >>> headline("little", 2, 1, 100)
    'On average little is disclosed, but the intruder is certain and right about 2 people (2.0%). She is certain but \
wrong about 1 person.'
    >>> headline("little", 0, 0, 100, below=0.04)
    'On average little is disclosed, but the values of 4.0% of the people surprise the intruder by less than half a \
bit. She is certain and right about nobody.'
    >>> headline("most", 0, 0, 100)
    'On average most is disclosed. The intruder is certain and right about nobody.'
    """
    sentence = f"On average {words} is disclosed"
    joined = "and" if words == "most" else "but"
    certain = f"certain and right about {counted(right, 'person')} ({percent(right / records)})"
    surprised = f"the values of {percent(below)} of the people surprise"
    if right and below:
        sentence += f", {joined} the intruder is {certain}; {surprised} her by less than half a bit."
    elif right:
        sentence += f", {joined} the intruder is {certain}."
    elif below:
        sentence += f", {joined} {surprised} the intruder by less than half a bit."
        sentence += " She is certain and right about nobody."
    else:
        sentence += ". The intruder is certain and right about nobody."
    return f"{sentence} She is certain but wrong about {counted(wrong, 'person')}." if wrong else sentence


def half_bit_sentence(share: float, without: float) -> str:
    """
    >>> half_bit_sentence(0.041, 0.0)
    'For 4.1% of the people the true value surprises her by less than half a bit (she gives it more than 71%); without \
the release, for 0.0%.'
    """
    return (
        f"For {percent(share)} of the people the true value surprises her by less than half a bit (she gives it more "
        f"than 71%); without the release, for {percent(without)}."
    )


def verdict_sentence(given_away: float, given_away_unprotected: float) -> str:
    return (
        f"The release takes away {given_away:.0%} of the surprise that the true values have without it. If the file "
        f"were published unchanged, it would be {given_away_unprotected:.0%}."
    )


def truth_sentence(truth: Mapping[str, Any]) -> str:
    """Her posteriors compared with the people's true values, at ε = 0.

    >>> truth_sentence({"surprise": 1.966, "prior": 4.104, "gain": 2.137, "certain_right": 337, "certain_wrong": 0})
    'Her mean surprise at the true values is 1.966 bits, and 4.104 bits without the release: she gains 2.137 bits \
about the true value per person. She is certain and right about 337 people, and certain but wrong about 0 people.'

    ``intruders`` may name another intruder, who is certain and right about more people.
    """
    named = truth.get("intruders", {"surprise": "", "certain_right": ""})
    who = "She" if named["certain_right"] == named["surprise"] else f"The {named['certain_right']} intruder"
    return (
        f"Her mean surprise at the true values is {bits(truth['surprise'])}, and {bits(truth['prior'])} without the "
        f"release: she gains {bits(truth['gain'])} about the true value per person. {who} is certain and right about "
        f"{counted(truth['certain_right'], 'person')}, and certain but wrong about "
        f"{counted(truth['certain_wrong'], 'person')}."
    )


def gated_sentence(below: float) -> str:
    """
    >>> gated_sentence(0.31)
    'The release is right about some groups of people and wrong about others: trusted group by group, it leaves 31.0% \
of the people with less than half a bit of surprise.'
    """
    return (
        "The release is right about some groups of people and wrong about others: trusted group by group, it leaves "
        f"{percent(below)} of the people with less than half a bit of surprise."
    )


PARTICIPATION = {
    "known": "participation known",
    "unknown": "people in the file, participation unknown",
    "population": "the whole population, participation unknown",
}
"""What each figure about a sample is about, in the order in which they are shown."""


def participation_sentence(facts: Mapping[str, Any]) -> str:
    """How much it matters that she may not know that her target took part.

    >>> rows = [{"surprise": 1.85, "certain_right": 434}, {"surprise": 2.54, "certain_right": 0, "chance": 0.0153}]
    >>> facts = {"figures": rows, "individual_risk": {"expected": 30.1, "highest": 0.226}, "why_not": ""}
    >>> participation_sentence(facts)
    'If she knows that her target took part, her mean surprise is 1.85 bits, and she is certain and right about 434 \
people; if she does not, the chance that somebody like her target took part is 1.5% on average, and it is 2.54 bits \
and 0 people. The chance of the link to a record (the individual risk) sums to 30.1 records and is at most 0.23.'
    """
    if facts["why_not"]:
        return f"Participation counts as known: {facts['why_not']}"
    known, unknown = facts["figures"][:2]
    found = (
        f"If she knows that her target took part, her mean surprise is {bits(known['surprise'])}, and she is certain "
        f"and right about {counted(known['certain_right'], 'person')}; if she does not, the chance that somebody like "
        f"her target took part is {percent(unknown['chance'])} on average, and it is {bits(unknown['surprise'])} and "
        f"{counted(unknown['certain_right'], 'person')}."
    )
    risk = facts["individual_risk"]
    if risk is None:
        return found
    return (
        f"{found} The chance of the link to a record (the individual risk) sums to {figure(risk['expected'])} records "
        f"and is at most {probability(risk['highest'])}."
    )


def intruder_line(used: str, tried: Mapping[str, float], left_out: Mapping[str, str]) -> str:
    """The intruder that is used, and the others: those tried with their mean surprise, and why others were not.

    >>> intruder_line("learned", {"informed": 3.444, "learned": 3.366, "paper": 3.89}, {"register": "no key changed"})
    'intruder: learned, 3.366 bits of surprise (informed 3.444, paper 3.89; register left out: no key changed)'
    """
    others = [f"{name} {figure(surprise)}" for name, surprise in tried.items() if name != used]
    by_reason: dict[str, list[str]] = {}
    for name, reason in left_out.items():
        by_reason.setdefault(reason, []).append(name)
    parts = [", ".join(others)] if others else []
    parts += [f"{', '.join(names)} left out: {reason}" for reason, names in by_reason.items()]
    beside = f" ({'; '.join(parts)})" if parts else ""
    return f"intruder: {used}, {bits(tried[used])} of surprise{beside}"


def intruder_sentence(used: str, asked: str, many: int) -> str:
    """How the intruder was chosen.

    >>> intruder_sentence("informed", "informed", 1)
    'The figures are for the informed intruder, who was asked for; others were not tried.'
    >>> intruder_sentence("informed", "register", 1)
    'The figures are for the informed intruder: the register intruder, who was asked for, has nothing to add.'
    """
    if used == "own":
        return "The figures are for the intruder that the technique names; others were not tried."
    if asked not in ("strongest", used):
        return f"The figures are for the {used} intruder: the {asked} intruder, who was asked for, has nothing to add."
    if asked != "strongest":
        why = "who was asked for; others were not tried"
    elif many > 1:
        why = "whose beliefs come closest to the truth of those tried (of about equal ones, the simplest)"
    else:
        why = "the only one that applies"
    return f"The figures are for the {used} intruder, {why}."


def curve_sentence(surprise: Sequence[float], belief: Sequence[float]) -> str:
    """Whether T(ε) is below or above H(ε).

    >>> curve_sentence([3.0, 1.0], [3.2, 1.0])
    'T(ε) is her mean surprise at the true values. Where it is below H(ε), she is right more often than she believes, \
and H understates the risk; where it is above, she is overconfident. Here it is below H at 1 of 2 tolerances, by up to \
0.2 bits.'
    """
    gaps = [b - t for t, b in zip(surprise, belief, strict=True)]
    below, above = [gap for gap in gaps if gap > SAME], [-gap for gap in gaps if gap < -SAME]
    said = [
        f"{where} H at {len(found)} of {len(gaps)} tolerances, by up to {bits(max(found))}"
        for where, found in (("below", below), ("above", above))
        if found
    ]
    here = " and ".join(said) if said else f"within {bits(SAME)} of H at every tolerance"
    return (
        "T(ε) is her mean surprise at the true values. Where it is below H(ε), she is right more often than she "
        "believes, and H understates the risk; where it is above, she is overconfident. Here it is "
        + here
        + "."
    )


def spread_sentence(spread: Mapping[str, Any]) -> str:
    """How much the figures vary with the draw.

    >>> one = {"mean": 3.13, "sd": 0.02, "min": 3.1, "max": 3.2, "low": 3.12, "high": 3.14}
    >>> spread_sentence({"random": True, "seeds": [0, 1, 2], "surprise": one, "certain_right": one})
    'Over 3 releases (seeds 0 to 2) the mean surprise is 3.13 bits on average (standard deviation 0.02; 95% interval \
of the mean 3.12 to 3.14; 3.1 to 3.2), and she is certain and right about 3.1 to 3.2 people. All other figures are \
those of the first release.'
    """
    if not spread["random"]:
        return "The technique draws nothing at random, so it has one release: there is no spread over seeds."
    seeds, found, certain = spread["seeds"], spread["surprise"], spread["certain_right"]
    many = f"{figure(certain['min'])} to {figure(certain['max'])} people"
    if certain["min"] == certain["max"]:
        many = counted(round(certain["min"]), "person")
    return (
        f"Over {counted(len(seeds), 'release')} (seeds {seeds[0]} to {seeds[-1]}) the mean surprise is "
        f"{bits(found['mean'])} on average (standard deviation {figure(found['sd'])}; 95% interval of the mean "
        f"{figure(found['low'])} to {figure(found['high'])}; {figure(found['min'])} to {figure(found['max'])}), and "
        f"she is certain and right about {many}. All other figures are those of the first release."
    )


def control_sentence(records: int, people: float, control: float, between: Sequence[float]) -> str:
    """The sentence about the difference between the people in the data and the control group.

    >>> control_sentence(100, 1.5, 2.0, (0.3, 0.7))
    'The mean surprise at the true value is 1.5 bits for the people in the data and 2 bits for 100 people who were not \
in it: the difference, 0.5 bits (95% interval 0.3 to 0.7), is what the release discloses only about people in the data.'
    >>> control_sentence(100, 1.5, 1.4, (-0.3, 0.1)).partition(": ")[2]
    'the difference, -0.1 bits (95% interval -0.3 to 0.1), may be chance: nothing shows that the release discloses \
more about people in the data than about others.'
    """
    low, high = between
    meaning = "is what the release discloses only about people in the data."
    if low <= 0:
        meaning = (
            "may be chance: nothing shows that the release discloses more about people in the data than "
        )
        meaning += "about others."
    return (
        f"The mean surprise at the true value is {bits(people)} for the people in the data and {bits(control)} for "
        f"{counted(records, 'person')} who were not in it: the difference, {bits(control - people)} (95% interval "
        f"{figure(low)} to {figure(high)}), {meaning}"
    )
