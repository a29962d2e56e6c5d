"""SIGKILL and SIGTERM under load: nothing lost, nothing told that is not logged, the same decisions after a restart."""

from __future__ import annotations

import random
from pathlib import Path

from tests.gateway.service.killed import (
    check_nothing_lost,
    check_same_decisions,
    prepare,
    run_until_ended,
)
from tests.gateway.service.service_process import write_people
from tests.sweeps import goes_on, times

KILLS = times(1, 3)


@goes_on
def test_killed_at_any_moment(tmp_path: Path) -> None:
    write_people(tmp_path / "people.parquet", 300, values=20)
    (tmp_path / "policy.toml").write_text("least_people = 3\nquestions_per_minute = 100000\n")
    tokens = prepare(tmp_path)
    rng = random.Random(5)
    told = []
    for kill in range(1, KILLS + 1):
        told += run_until_ended(tmp_path, tokens, rng, replies=60)
        entries = check_nothing_lost(tmp_path, told, kills=kill)
    told += run_until_ended(tmp_path, tokens, rng, replies=60, kill=False)
    before = len(entries)
    entries = check_nothing_lost(tmp_path, told, kills=KILLS)
    # A stop by SIGTERM under load completes what was asked: each line after the last kill was told.
    assert {entry.number for entry in entries[before:]} <= {each.reply["number"] for each in told}
    assert len(entries) > before
    decisions = {entry.decision for entry in entries}
    assert {"answered", "refused"} <= decisions, decisions
    check_same_decisions(tmp_path, entries)
