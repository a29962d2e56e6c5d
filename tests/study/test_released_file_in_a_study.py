"""A released file in a plan and in a store: found beside the plan, and noticed when its content changes."""

from __future__ import annotations

from pathlib import Path

import pandas as pd
import pytest

import equivoc as eq
from equivoc.experiments.study import study_of
from equivoc.requests.plan import read_plan


def test_a_plan_names_the_file_as_seen_from_where_it_lies(plan: Path, frame: pd.DataFrame) -> None:
    frame.to_csv(plan.parent / "released.csv", index=False)
    head, _, tail = plan.read_text().partition("[[technique]]")
    table = '[[technique]]\nname = "released-file"\ntable = "released.csv"\nmatching = ["exact", "nearest"]\n'
    plan.write_text(head + table + "[study]" + tail.partition("[study]")[2].replace("= 3", "= 1"))
    study = study_of(read_plan(plan))
    assert [t.table for t in study.techniques] == [str(plan.parent / "released.csv")] * 2
    done = study.run(progress=False).summary()
    bare = eq.Study(study.people, techniques=[eq.Unprotected()], replicates=1).run(progress=False).summary()
    for _, rows in done.groupby("parameters"):
        assert rows["h0"].tolist() == pytest.approx(bare["h0"].tolist())


def test_two_workers_read_it_too(people: eq.Microdata, frame: pd.DataFrame, tmp_path: Path) -> None:
    frame.iloc[::2].to_csv(tmp_path / "released.csv", index=False)
    study = eq.Study(
        people,
        techniques=[eq.ReleasedFile(tmp_path / "released.csv", matching="probable"), eq.ReleasedFile(frame)],
        replicates=1,
    )
    one, two = study.run(progress=False), study.run(workers=2, progress=False)
    columns = ["technique", "known_size", "h0", "area", "h0_record", "area_record"]
    assert one.summary()[columns].equals(two.summary()[columns])


@pytest.mark.parametrize("kind", ["path", "frame"])
def test_a_store_notices_other_content(
    people: eq.Microdata, frame: pd.DataFrame, tmp_path: Path, kind: str
) -> None:
    path = tmp_path / "released.csv"

    def study(released: pd.DataFrame) -> eq.Study:
        released.to_csv(path, index=False)
        technique = eq.ReleasedFile(path if kind == "path" else released)
        return eq.Study(people, techniques=[technique], known_sizes=[0], replicates=1)

    store, other = tmp_path / "store", frame.iloc[:100]
    before = study(frame).run(store, progress=False)
    assert study(frame).run(store, progress=False).cells == before.cells
    assert study(frame).run(store, progress=False).cells[0].seconds == before.cells[0].seconds
    changed = study(other).run(store, progress=False)
    assert changed.cells == study(other).run(progress=False).cells == eq.load_study(store).cells
    assert changed.cells != before.cells
    again = study(frame).run(store, progress=False)  # its cells are still there
    assert again.cells[0].seconds == before.cells[0].seconds


def test_a_plan_states_the_channel(plan: Path) -> None:
    people = study_of(read_plan(plan)).people
    noise = eq.NoiseAddition(percent=20)
    noise.release(people, 3).table.to_csv(plan.parent / "noisy.csv", index=False)
    head, _, tail = plan.read_text().partition("[[technique]]")
    table = (
        '[[technique]]\nname = "released-file"\ntable = "noisy.csv"\nchannel = "noise-addition:percent=20"\n'
    )
    plan.write_text(head + table + "[study]" + tail.partition("[study]")[2].replace("= 3", "= 1"))
    study = study_of(read_plan(plan))
    assert [t.channel for t in study.techniques] == [noise]
    same = eq.Study(
        people, techniques=[eq.ReleasedFile(plan.parent / "noisy.csv", channel=noise)], replicates=1
    )
    assert study.run(progress=False).summary()["h0"].tolist() == pytest.approx(
        same.run(progress=False).summary()["h0"].tolist()
    )
