"""Jobs: the same figures as the library's calls, cancel, and what survives a killed server."""

from __future__ import annotations

import json
import os
import signal
from pathlib import Path
from typing import Any

import httpx
import pandas as pd
import pytest

import equivoc as eq
from tests.web.page_server import (
    ROLES,
    PageServer,
    descendants,
    finished,
    job_of,
    opened,
    people_csv,
    result_of,
    wait_for,
)

REQUIRE = ["true_hit(20) <= 0.95"]


def people(tmp_path: Path) -> Any:
    file = tmp_path / "people.csv"
    file.write_text(people_csv(), encoding="utf-8")
    return eq.read(file, confidential="pay", keys=["age", "sex"], round_to=10)


def test_every_kind_of_job_gives_the_figures_of_its_call(http: httpx.Client, tmp_path: Path) -> None:
    opened(http)
    own = people(tmp_path)
    shared = {"known": ["age"], "eps": 20, "require": REQUIRE, "intruder": "informed"}
    arguments: dict[str, Any] = {**shared, "eps": [0, 20]}
    compared = result_of(
        http, kind="compare", techniques=["sampling:fraction=0.2", "swapping:rate=0.5"], **shared
    )
    same = eq.compare(own, [eq.Sampling(fraction=0.2), eq.Swapping(rate=0.5)], **arguments).facts(unit="K")
    assert {name: value for name, value in compared.items() if name != "charts"} == same
    assert "map" in compared["charts"]

    protected = result_of(http, kind="protect", technique="swapping:rate=0.5", seed=7, **shared)
    file = tmp_path / "protected.csv"
    again = eq.protect(own, eq.Swapping(rate=0.5), file, seed=7, **arguments)
    assert protected["certificate"]["figures"] == json.loads(json.dumps(again.certificate["figures"]))
    jobs = {job["kind"]: job for job in http.get("/api/state").json()["jobs"]}
    download = http.get(
        next(each["href"] for each in jobs["protect"]["files"] if each["name"] == "protected.csv")
    )
    assert download.headers["content-disposition"].startswith("attachment")
    assert download.content == file.read_bytes()

    reported = result_of(http, kind="report", technique="swapping:rate=0.5", seed=7, **shared)
    same = eq.assess(own, eq.Swapping(rate=0.5), seed=7, **arguments).facts(unit="K")
    assert reported == same

    chosen = result_of(http, kind="choose", technique="swapping", parameter="rate", low=0.1, high=1, **shared)
    best = eq.choose(own, eq.Swapping, "rate", low=0.1, high=1, **arguments)
    assert (chosen["found"], chosen["sentence"]) == (
        best.technique.notation if best.technique else None,
        best.sentence,
    )
    assert [each["value"] for each in chosen["tried"]] == [each.value for each in best.mildest_first]

    sql = "SELECT SUM(pay) FROM people WHERE age > 31; SELECT SUM(pay) FROM people WHERE age > 32"
    audited = result_of(http, kind="audit", statements=sql, eps=20)
    found = eq.audit(own, sql, eps=[0, 20])
    assert audited["disclosed"] == found.facts(unit="K")["disclosed"]
    job = next(job for job in http.get("/api/state").json()["jobs"] if job["kind"] == "audit")
    tables = {each["name"]: http.get(each["href"]).text.splitlines()[0] for each in job["files"]}
    assert tables["records.csv"] == "h0,area,method,eps_max,error"  # no key and no value of a person
    assert tables["compromised.csv"] == "record,h0,method,proved"

    tabled = result_of(http, kind="table", by=["age", "sex"], value="pay", rule="p:10", method="suppress")
    table = eq.tabulate(own, ["age", "sex"], "pay")
    released = eq.CellSuppression(rule=eq.PPercent(10)).release(table)
    assert tabled["counts"]["withheld"] == int(released.withheld.sum())
    assert tabled["counts"]["unsafe"] == len(table.unsafe(eq.PPercent(10)))


@pytest.mark.parametrize(
    ("request_", "word"),
    [
        ({"kind": "dance"}, "kind"),
        ({"kind": "compare", "techniques": ["swaping:rate=1"]}, "swapping"),
        ({"kind": "protect", "technique": "query-restriction:size=4"}, "query"),
        ({"kind": "table", "by": ["age"], "method": "burn"}, "burn"),
        ({"kind": "audit", "statements": "DROP TABLE people"}, "SELECT"),
    ],
)
def test_a_mistake_is_the_job_s_sentence(http: httpx.Client, request_: dict[str, Any], word: str) -> None:
    opened(http)
    answer = http.post("/api/jobs", json=request_)
    if answer.status_code == 400:
        assert word in answer.json()["error"]
        return
    job = finished(http, answer.json()["id"])
    assert (job["status"], word in job["text"]) == ("failed", True), job["text"]
    assert http.get(f"/api/jobs/{job['id']}/result").status_code == 400


def test_jobs_wait_and_are_cancelled(page_server: PageServer, http: httpx.Client) -> None:
    opened(http)
    many = [f"noise-addition:percent={percent}" for percent in range(1, 60)]
    request = {"kind": "compare", "techniques": many, "replicates": 20, "intruder": "informed"}
    names = [http.post("/api/jobs", json=request).json()["id"] for _ in range(2)]
    wait_for(lambda: job_of(http, names[0])["done"] > 0)
    first, second = (job_of(http, name) for name in names)
    assert (first["status"], first["total"], second["status"]) == ("running", 59 * 20, "waiting")
    assert http.post(f"/api/jobs/{names[1]}/cancel").status_code == 200
    assert http.post(f"/api/jobs/{names[0]}/cancel").status_code == 200
    assert [job_of(http, name)["status"] for name in names] == ["cancelled", "cancelled"]
    third = http.post("/api/jobs", json={"kind": "table", "by": ["age"], "rule": "threshold:3"}).json()["id"]
    assert finished(http, third)["status"] == "done"
    for name in (*names, third):
        assert http.delete(f"/api/jobs/{name}").status_code == 200
    assert list((page_server.folder / "jobs").iterdir()) == []
    assert http.get(f"/api/jobs/{names[0]}/result").status_code == 404


def test_a_killed_server_goes_on(tmp_path: Path) -> None:
    """SIGKILL in the middle of a comparison: no process outlives the server; the next one has the same state and
    finishes with the same figures. A file that was given by its path stays as it is."""
    file, folder = tmp_path / "people.csv", tmp_path / "page"
    file.write_text(people_csv(), encoding="utf-8")
    before = file.read_bytes()
    techniques = [f"noise-addition:percent={percent}" for percent in range(2, 62, 2)]
    shared: dict[str, Any] = {"replicates": 2, "known": ["age"], "require": REQUIRE, "intruder": "informed"}
    server = PageServer.start(folder, str(file))
    with server.client() as http:
        assert http.get("/api/state").json()["file"]["given"] is True
        assert http.put("/api/roles", json=ROLES).status_code == 200
        http.patch("/api/state", json={"view": {"technique": "swapping:rate=0.5"}, "settings": techniques})
        name = http.post("/api/jobs", json={"kind": "compare", "techniques": techniques, **shared}).json()[
            "id"
        ]
        with pytest.raises(RuntimeError, match="another equivoc serve uses the folder"):
            PageServer.start(folder)
        assert wait_for(lambda: job_of(http, name)["done"]) < 60
    children = descendants(server.process.pid)
    server.kill()
    assert len(children) >= 2
    wait_for(lambda: not any(alive(child) for child in children))
    server = PageServer.start(folder, "--keep", str(file))
    try:
        with server.client() as http:
            state = http.get("/api/state").json()
            assert (state["view"]["technique"], state["settings"]) == ("swapping:rate=0.5", techniques)
            assert state["people"]["records"] == 60
            job = finished(http, name)
            assert job["status"] == "done", job
            told = http.get(job["result"]).json()
    finally:
        assert server.stop() == (0, "")
    own = eq.read(file, confidential="pay", keys=["age", "sex"], round_to=10)
    every = [eq.NoiseAddition(percent=percent) for percent in range(2, 62, 2)]
    same = eq.compare(own, every, **shared).facts(unit="K")
    assert {part: value for part, value in told.items() if part != "charts"} == same
    assert (folder / "state.json").exists()  # --keep
    server = PageServer.start(folder)
    with server.client() as http:
        assert http.get("/api/state").json()["people"]["records"] == 60
    assert server.stop() == (0, "")
    assert not folder.exists()
    assert file.read_bytes() == before


def test_a_dead_live_process_is_started_again(http: httpx.Client, page_server: PageServer) -> None:
    opened(http)
    asked = {"technique": "unprotected", "known": ["age"], "eps": 20}
    before = http.post("/api/live/explore", json=asked).json()
    for child in descendants(page_server.process.pid):
        if "spawn_main" in Path(f"/proc/{child}/cmdline").read_text():
            os.kill(child, signal.SIGKILL)
    answers = [http.post("/api/live/explore", json=asked) for _ in range(2)]
    assert answers[-1].json() == before


def test_a_folder_of_others_is_left_alone(tmp_path: Path) -> None:
    (tmp_path / "mine.txt").write_text("x")
    with pytest.raises(RuntimeError, match="holds other files"):
        PageServer.start(tmp_path)
    assert [each.name for each in tmp_path.iterdir()] == ["mine.txt"]


def test_the_host_needs_consent(tmp_path: Path) -> None:
    with pytest.raises(RuntimeError, match="--i-know"):
        PageServer.start(tmp_path / "page", "--host", "0.0.0.0")
    server = PageServer.start(tmp_path / "page", "--host", "0.0.0.0", "--i-know")
    assert server.stop()[0] == 0


def alive(process: int) -> bool:
    try:
        return Path(f"/proc/{process}/stat").read_text().rsplit(")", 1)[1].split()[0] != "Z"
    except OSError:
        return False


def test_frames_of_the_files(http: httpx.Client) -> None:
    """Texts that a spreadsheet would run are escaped in CSV files to download."""
    frame = pd.DataFrame({"k": ["=1+1", "@a", "b"] * 10, "pay": [10, 20, 30] * 10})
    opened(
        http, frame.to_csv(index=False), {"confidential": "pay", "kind": {"kind": "number"}, "keys": ["k"]}
    )
    result_of(http, kind="table", by=["k"], rule="threshold:3", method="none")
    job = next(job for job in http.get("/api/state").json()["jobs"] if job["kind"] == "table")
    text = http.get(next(each["href"] for each in job["files"] if each["name"].endswith(".csv"))).text
    assert "'=1+1" in text
    page = http.get(next(each["href"] for each in job["files"] if each["name"].endswith(".html")))
    assert page.headers["content-disposition"].startswith("attachment")


def test_a_setting_that_cannot_run_or_be_read_is_a_row(http: httpx.Client) -> None:
    opened(http)
    settings = ["microaggregation:size=1000", "rounding:base=30", "top-bottom-coding", "swaping:rate=0.5"]
    found = result_of(http, kind="compare", techniques=settings, intruder="informed", eps=20)
    rows = {each["notation"]: each for each in found["techniques"]}
    assert set(rows) == set(settings)
    assert found["choice"] == "rounding:base=30"
    assert "only 60 records" in rows["microaggregation:size=1000"]["failed"]
    assert "neither low nor high" in rows["top-bottom-coding"]["failed"]
    assert "swapping" in rows["swaping:rate=0.5"]["failed"]
    assert rows["rounding:base=30"]["failed"] is None
    assert len({each["number"] for each in rows.values()}) == 4
    assert len({frozenset(each) for each in rows.values()}) == 1  # all rows have the same entries
    jobs = http.get("/api/state").json()["jobs"]
    job = next(job for job in jobs if job["request"].get("techniques") == settings)
    href = next(each["href"] for each in job["files"] if each["name"].endswith(".html"))
    assert "It cannot be read:" in http.get(href).text


def test_a_comparison_in_which_nothing_can_run_fails_with_the_first_sentence(http: httpx.Client) -> None:
    opened(http)
    for settings in (["top-bottom-coding"], ["microaggregation:size=1000"]):
        name = http.post("/api/jobs", json={"kind": "compare", "techniques": settings}).json()["id"]
        job = finished(http, name)
        assert job["status"] == "failed"
        assert "neither low nor high" in job["text"] or "only 60 records" in job["text"]
