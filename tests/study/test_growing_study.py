"""More replicates and other techniques in the same folder: only new cells are computed; a technique without randomness
has one cell."""

from __future__ import annotations

from pathlib import Path

import pandas as pd
import pytest

import equivoc as eq
from equivoc.experiments import workers as module
from equivoc.experiments.cell import CellKey

SAMPLING, QUERIES, NOISE = (
    eq.Sampling(fraction=0.2),
    eq.QueryRestriction(size=2),
    eq.NoiseAddition(percent=30),
)


@pytest.fixture
def computed(monkeypatch: pytest.MonkeyPatch) -> list[CellKey]:
    """The keys of the cells that are computed, as they come."""
    keys: list[CellKey] = []
    compute = module.compute

    def noting(setting: object, missing: list[CellKey], **named: object):
        keys.extend(missing)
        return compute(setting, missing, **named)

    monkeypatch.setattr(module, "compute", noting)
    return keys


def test_more_replicates_and_other_techniques(
    people: eq.Microdata, tmp_path: Path, computed: list[CellKey]
) -> None:
    def run(techniques: list, replicates: int, folder: Path | None = tmp_path) -> eq.StudyResult:
        computed.clear()
        study = eq.Study(people, techniques=techniques, replicates=replicates, seed=1)
        return study.run(folder, progress=False)

    run([SAMPLING, QUERIES], 2)
    assert len(computed) == 4
    more = run([SAMPLING, QUERIES], 3)
    assert computed == [CellKey(t.notation, 2) for t in (SAMPLING, QUERIES)]
    assert more.results.equals(run([SAMPLING, QUERIES], 3, None).results)
    another = run([NOISE, SAMPLING], 2)
    assert computed == [CellKey(NOISE.notation, r) for r in (0, 1)]
    assert another.results.equals(run([NOISE, SAMPLING], 2, None).results)
    fewer = run([SAMPLING], 1)
    assert computed == []
    assert fewer.complete
    assert len(fewer.frame) == 4
    # The folder is now that of the study that was asked for last.
    pd.testing.assert_frame_equal(eq.load_study(tmp_path).frame, fewer.frame)
    assert eq.load_study(tmp_path).total == 1


def test_what_does_not_draw_is_released_once(
    people: eq.Microdata, tmp_path: Path, computed: list[CellKey]
) -> None:
    fixed = [eq.Unprotected(), eq.Rounding(base=30), eq.Suppression(k=3)]
    study = eq.Study(people, techniques=[*fixed, eq.Rounding(base=30, method="random")], replicates=3)
    done = study.run(tmp_path, progress=False)
    assert sorted(computed) == sorted(
        [
            *(CellKey(t.notation, 0) for t in fixed),
            *(CellKey("rounding:base=30,method=random", r) for r in range(3)),
        ]
    )
    assert (done.complete, done.total, len(done.cells)) == (True, 6, 6)
    per_line = done.frame.groupby(["technique", "parameters", "known_size"])
    assert (
        per_line["replicate"].agg(list).map(sorted) == pd.Series([[0, 1, 2]] * len(per_line)).tolist()
    ).all()
    summary = done.summary()
    drawn = summary["parameters"] == "base=30,method=random"
    assert (summary["replicates"] == 3).all()
    for measure in ("h0", "area", "h0_record", "area_record", "surprise", "gain", "true_hit"):
        assert (summary.loc[~drawn, f"{measure}_se"] == 0).all()
        once = done.frame[done.frame["replicate"] == 0].set_index(["technique", "parameters", "known_size"])
        lines = summary[~drawn].set_index(["technique", "parameters", "known_size"])
        assert (lines[measure] == once.loc[lines.index, measure]).all()  # to the last bit
    assert (summary.loc[drawn & (summary["known_size"] == 3), "h0_se"] > 0).all()
    one = eq.Study(people, techniques=fixed, replicates=1).run(tmp_path, progress=False)
    assert (one.summary()["h0_se"] == 0).all()
    pd.testing.assert_frame_equal(eq.load_study(tmp_path).summary(), one.summary())
