"""Summary, figure and notebook display of a study."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

import equivoc as eq
from equivoc.charts.curves import COLOURS
from equivoc.experiments.study_result import MEASURES, StudyResult

COLUMNS = ["technique", "parameters", "known_size", "replicate", *MEASURES, "seconds"]


@pytest.fixture(scope="module")
def done(people: eq.Microdata) -> StudyResult:
    techniques = [
        *(eq.Sampling(fraction=f) for f in (0.1, 0.5)),
        eq.QueryRestriction(size=4),
        eq.Unprotected(),
    ]
    return eq.Study(people, techniques=techniques, replicates=5, seed=2).run(progress=False)


def test_frame(done: StudyResult) -> None:
    assert list(done.frame.columns) == COLUMNS
    assert len(done.frame) == 4 * 4 * 5
    assert done.complete
    assert not done.frame.duplicated(["technique", "parameters", "known_size", "replicate"]).any()
    repeated = (done.frame["technique"] == "unprotected") & (done.frame["replicate"] > 0)
    assert repeated.sum() == 4 * 4
    assert ((done.frame["seconds"] > 0) == ~repeated).all()
    assert done.frame["seconds"].sum() == pytest.approx(sum(cell.seconds for cell in done.cells))


def test_summary_against_numpy(done: StudyResult) -> None:
    summary = done.summary()
    assert len(summary) == 4 * 4
    for row in summary.to_dict("records"):
        of = np.logical_and.reduce(
            [done.frame[c] == row[c] for c in ("technique", "parameters", "known_size")]
        )
        assert row["replicates"] == of.sum() == 5
        for measure in MEASURES:
            sample = done.frame.loc[of, measure].to_numpy()
            assert row[measure] == pytest.approx(sample.mean(), rel=1e-12)
            expected = np.sqrt(((sample - sample.mean()) ** 2).sum() / 4 / 5)
            assert row[f"{measure}_se"] == pytest.approx(expected, rel=1e-9, abs=1e-12)
    assert summary.loc[(summary["technique"] == "sampling") & (summary["known_size"] == 2), "h0_se"].min() > 0


def test_one_replicate_has_no_standard_error(people: eq.Microdata) -> None:
    once = eq.Study(people, techniques=[eq.Sampling(fraction=0.5)], replicates=1).run(progress=False)
    assert once.summary()["h0_se"].isna().all()
    once.plot().to_dict()


@pytest.mark.parametrize("per", ["class", "record"])
def test_the_figure_has_every_line(done: StudyResult, per: str) -> None:
    drawn = done.plot(per=per).to_dict()
    assert [column["title"]["text"] for column in drawn["concat"]] == [
        "sampling",
        "query-restriction",
        "unprotected",
    ]
    summary = done.summary()
    suffix = "" if per == "class" else "_record"
    for column in drawn["concat"]:
        of = summary[summary["technique"] == column["title"]["text"]]
        assert len(column["vconcat"]) == 2
        for panel, measure in zip(column["vconcat"], ("h0", "area"), strict=True):
            data = panel["layer"][0].get("data", panel.get("data"))
            points = data["values"] if "values" in data else drawn["datasets"][data["name"]]
            names = of["parameters"].where(of["parameters"] != "", "unprotected")
            expected = zip(
                names, of["known_size"], of[measure + suffix], of[f"{measure}{suffix}_se"], strict=True
            )
            for point, (parameters, known, mean, error) in zip(points, expected, strict=True):
                assert (point["parameters"], point["known_size"]) == (parameters, known)
                assert point["mean"] == pytest.approx(mean)
                assert point["high"] - point["mean"] == pytest.approx(1.96 * error)
                assert point["low"] == pytest.approx(max(mean - 1.96 * error, 0))
            encoding = panel["layer"][1]["encoding"]
            assert encoding["color"]["scale"]["range"] == COLOURS
            title = " ".join(encoding["y"]["title"])
            assert "bits" in title
            assert "higher is safer" in title
    assert "unit of salary" in " ".join(
        drawn["concat"][0]["vconcat"][1]["layer"][1]["encoding"]["y"]["title"]
    )


def test_the_figure_is_saved_offline(done: StudyResult, tmp_path: Path) -> None:
    for name, start in (("x.png", b"\x89PNG"), ("x.svg", b"<svg")):
        done.plot().save(str(tmp_path / name))
        assert (tmp_path / name).read_bytes().startswith(start)
    with pytest.raises(eq.InputError, match="per is 'people'"):
        done.plot(per="people")


def test_notebook_display(done: StudyResult) -> None:
    bundle = done._repr_mimebundle_()
    assert bundle["text/plain"] == repr(done)
    assert "16 of 16 cells" in bundle["text/plain"]
    assert "<svg" in bundle["text/html"]
    assert "fraction=0.5" in bundle["text/html"]
    assert "http" not in bundle["text/html"].replace("http://www.w3.org", "")
