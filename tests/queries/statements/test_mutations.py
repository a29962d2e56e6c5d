"""Mutated statements are refused in one sentence, or answered as the plain reading does."""

from __future__ import annotations

import pytest

from tests.queries.statements.agreement import refused_or_right
from tests.queries.statements.mutations import HOSTILE_FRAGMENTS, SEEDS, all_mutated
from tests.queries.statements.workforce import workforce
from tests.sweeps import TIMES_AS_MANY

TEXT = "SELECT hired , SUM ( salary ) FROM people WHERE age > 30 GROUP BY hired"
COUNT = 600 * max(1, TIMES_AS_MANY)


@pytest.mark.parametrize("text", SEEDS[:-1])
def test_the_seeds_are_answered(text: str) -> None:
    assert refused_or_right(workforce(), text)


def test_mutated_statements() -> None:
    accepted = sum(refused_or_right(workforce(), text) for text in all_mutated(COUNT, seed=TIMES_AS_MANY))
    assert 0.02 * COUNT < accepted < 0.7 * COUNT  # otherwise the mutations test only one side


@pytest.mark.parametrize("fragment", HOSTILE_FRAGMENTS, ids=lambda text: repr(text[:30]))
def test_fragments_at_every_place(fragment: str) -> None:
    words = TEXT.split(" ")
    for at in range(len(words) + 1):
        refused_or_right(workforce(), " ".join([*words[:at], fragment, *words[at:]]))
