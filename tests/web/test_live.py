"""Live answers: the figures are those of `equivoc.assess` with the informed intruder."""

from __future__ import annotations

import asyncio
import time
from multiprocessing.context import SpawnProcess
from pathlib import Path
from typing import Any

import httpx
import numpy as np
import pytest

import equivoc as eq
from equivoc.render.assessment import assessment_facts
from equivoc.web.people_spec import PeopleSpec
from equivoc.web.warm_process import AnswerError, WarmProcess
from tests.web.page_server import ROLES, finished, opened, people_csv, wait_for


def people(tmp_path: Path, content: str | None = None) -> Any:
    """The same people as on the page, read by the library."""
    file = tmp_path / "people.csv"
    file.write_text(content or people_csv(), encoding="utf-8")
    return eq.read(file, confidential="pay", keys=["age", "sex"], round_to=10)


@pytest.mark.parametrize(
    ("technique", "same"),
    [
        ("unprotected", eq.Unprotected()),
        ("swapping:rate=0.5", eq.Swapping(rate=0.5)),
        ("sampling:fraction=0.3", eq.Sampling(fraction=0.3)),
    ],
)
def test_figures_equal_those_of_the_library(
    http: httpx.Client, tmp_path: Path, technique: str, same: Any
) -> None:
    opened(http)
    asked = {
        "technique": technique,
        "known": ["age"],
        "eps": 20,
        "seed": 5,
        "require": ["true_hit(20) <= 0.2"],
    }
    answer = http.post("/api/live/assess", json=asked)
    assert answer.status_code == 200, answer.text
    told = answer.json()
    result = eq.assess(
        people(tmp_path),
        same,
        known=["age"],
        eps=[0, 20],
        seed=5,
        intruder="informed",
        require=["true_hit(20) <= 0.2"],
    )
    facts = assessment_facts(result, unit="K")
    assert told["intruder"] == "informed"
    for name in (
        "truth",
        "figures",
        "hits",
        "shown_hit",
        "people",
        "data",
        "known",
        "technique",
        "sentences",
    ):
        assert told["facts"][name] == facts[name], name
    assert told["facts"]["requirements"]["rows"] == facts["requirements"]["rows"]
    assert told["facts"]["verdict"] == facts["verdict"]
    later = http.post(
        "/api/live/assess", json={**asked, "fields": ["knowledge", "utility", "contributions", "advice"]}
    )
    more = later.json()
    assert more["facts"]["knowledge"] == facts["knowledge"]
    assert more["facts"]["contributions"] == facts["contributions"]
    assert more["utility"] == facts["utility"]["rows"]
    assert more["facts"]["requirements"] == facts["requirements"]


def test_an_order_of_tolerances_and_keys_does_not_matter(http: httpx.Client, tmp_path: Path) -> None:
    """Answers that reuse posteriors equal fresh ones."""
    opened(http)
    own = people(tmp_path)
    for eps, known in ((20, ["age"]), (0, ["age"]), (40, ["sex", "age"]), (20, []), (20, ["age"])):
        asked = {"technique": "swapping:rate=0.5", "known": known, "eps": eps, "seed": 1}
        told = http.post("/api/live/assess", json=asked).json()["facts"]
        fresh = eq.assess(
            own, eq.Swapping(rate=0.5), known=known, eps=sorted({0, eps}), seed=1, intruder="informed"
        ).facts(unit="K")
        assert (told["truth"], told["hits"]) == (fresh["truth"], fresh["hits"])


def test_the_explorer_follows_epsilon(http: httpx.Client, tmp_path: Path) -> None:
    opened(http)
    result = eq.assess(
        people(tmp_path), eq.Swapping(rate=0.5), known=["age"], eps=[0, 10, 30], intruder="informed"
    )
    posteriors = result.posteriors
    for eps in (0.0, 10.0, 30.0):
        asked = {
            "technique": "swapping:rate=0.5",
            "known": ["age"],
            "eps": eps,
            "class": {"age": 31},
            "curve": True,
        }
        told = http.post("/api/live/explore", json=asked).json()
        every = posteriors.curves()
        mean = told["mean"]
        assert mean["h"] == pytest.approx(np.average(every.at(eps), weights=posteriors.sizes), abs=1e-12)
        assert mean["hit"] == pytest.approx(result.summary["per_record"]["hit"][eps]["mean"], abs=1e-12)
        assert mean["true_hit"] == pytest.approx(result.summary["truth"]["true_hit"][eps], abs=1e-12)
        assert mean["surprise"] == pytest.approx(result.summary["truth"]["surprise"][eps], abs=1e-12)
        row = posteriors.keys["age"].tolist().index(31)
        found = told["class"]
        p = np.asarray(posteriors.probabilities)[row]
        own = p > 0
        assert found["size"] == posteriors.sizes[row]
        assert found["values"] == posteriors.values[own].tolist()
        np.testing.assert_allclose(found["probabilities"], p[own], atol=1e-15)
        alone = eq.curve(posteriors.values[own], p[own])
        assert found["h"] == pytest.approx(alone(eps), abs=1e-9)
        assert found["hit"] == pytest.approx(alone.hit(eps), abs=1e-9)
        masses = np.array([window["p"] for window in found["windows"]])
        assert -(masses * np.log2(masses)).sum() == pytest.approx(
            alone(eps), abs=1e-9
        )  # the windows are optimal
        for window in found["windows"]:
            values = [found["values"][place] for place in window["values"]]
            assert (values[0], values[-1]) == (window["low"], window["high"])
            assert values[-1] - values[0] <= eps
            assert sum(found["probabilities"][place] for place in window["values"]) == pytest.approx(
                window["p"]
            )
        assert sorted(place for window in found["windows"] for place in window["values"]) == list(
            range(own.sum())
        )
        curve = told["curve"]
        for at, h in zip(curve["eps"], curve["release"], strict=True):
            assert h == pytest.approx(np.average(every.at(at), weights=posteriors.sizes), abs=1e-9)


def test_classes_are_looked_up(http: httpx.Client) -> None:
    opened(http)
    assert http.get("/api/live/classes").json() == {"age": [30, 31, 32, 33], "sex": ["F", "M"]}
    asked = {"technique": "unprotected", "known": ["age", "sex"], "eps": 0}
    largest = http.post("/api/live/explore", json={**asked, "class": None}).json()["class"]
    assert (largest["chosen"], largest["size"], largest["small"]) == ("largest", 10, False)
    nobody = http.post("/api/live/explore", json={**asked, "class": {"age": 99, "sex": "F"}}).json()
    assert (nobody["class"], "Nobody" in nobody["missing"]) == (None, True)


def test_the_strongest_follows_and_newer_questions_replace_it(http: httpx.Client, tmp_path: Path) -> None:
    opened(http)
    asked = {"technique": "swapping:rate=0.5", "known": ["age"], "eps": 20, "seed": 5}
    http.post("/api/live/assess", json={**asked, "seed": 4})
    key = http.post("/api/live/assess", json=asked).json()["key"]

    def found() -> Any:
        pointer = http.get("/api/state").json()["strongest"]
        return pointer if pointer["key"] == key and pointer["job"] else None

    job = finished(http, wait_for(found)["job"])
    assert job["status"] == "done"
    told = http.get(job["result"]).json()
    result = eq.assess(people(tmp_path), eq.Swapping(rate=0.5), known=["age"], eps=[0, 20], seed=5)
    facts = assessment_facts(result, unit="K")
    assert (told["key"], told["intruder"]) == (key, result.intruder)
    for name in ("truth", "hits", "figures", "knowledge", "intruders"):
        assert told["facts"][name] == facts[name], name
    assert len([each for each in http.get("/api/state").json()["jobs"] if each["kind"] == "strongest"]) == 1


@pytest.mark.parametrize(
    ("wrong", "word"),
    [
        ({"technique": "swaping:rate=0.5"}, "swapping"),
        ({"technique": "swapping:rate=2"}, "rate"),
        ({"known": ["height"]}, "height"),
        ({"eps": -1}, "eps"),
        ({"eps": "x"}, "eps"),
        ({"seed": 1.5}, "seed"),
        ({"prior": "flat"}, "prior"),
        ({"require": ["h9 >= 1"]}, "h9"),
        ({"technique": "released-file:table=/etc/passwd"}, "file of its own"),
        ({"technique": "generalisation:k=2,hierarchies=age:/etc/passwd"}, "/etc/passwd"),
        ({"technique": "pram:matrix=/etc/passwd"}, "file of its own"),
        ({"fields": ["everything"]}, "everything"),
    ],
)
def test_a_mistake_is_one_sentence(http: httpx.Client, wrong: dict[str, Any], word: str) -> None:
    opened(http)
    answer = http.post("/api/live/assess", json={"technique": "unprotected", **wrong})
    assert answer.status_code == 400
    assert word in answer.json()["error"]
    assert "Traceback" not in answer.text


def test_without_people_there_is_nothing_to_ask(http: httpx.Client) -> None:
    for answer in (
        http.post("/api/live/assess", json={}),
        http.post("/api/live/explore", json={}),
        http.put("/api/roles", json=ROLES),
        http.post("/api/jobs", json={"kind": "report"}),
        http.get("/api/calls"),
    ):
        assert (answer.status_code, list(answer.json())) == (400, ["error"])


def test_a_process_can_be_ended_while_it_starts(monkeypatch: pytest.MonkeyPatch) -> None:
    """A new question comes just when the process for the former one is being started."""
    begin = SpawnProcess.start

    def slowly(process: Any) -> None:
        time.sleep(0.2)
        begin(process)

    async def hurry() -> tuple[str, str]:
        warm = WarmProcess()
        try:
            asked = asyncio.create_task(warm.ask("intervals", {"widths": [5]}))
            await asyncio.sleep(0.1)
            warm.restart()
            with pytest.raises(AnswerError) as problem:
                await asked
            return str(problem.value), (await warm.ask("intervals", {"widths": [5]}))["text"]
        finally:
            warm.end()

    monkeypatch.setattr(SpawnProcess, "start", slowly)
    problem, answer = asyncio.run(hurry())
    assert "ended" in problem
    assert answer == "5"


def test_a_patient_process_rests_when_nothing_is_asked_and_reads_the_people_again(tmp_path: Path) -> None:
    (tmp_path / "people.csv").write_text(people_csv(), encoding="utf-8")
    spec = PeopleSpec(str(tmp_path / "people.csv"), "people.csv", "pay", "number", ("age", "sex"))

    async def walk() -> None:
        lively, patient = WarmProcess(rest=0.2), WarmProcess(patient=True, rest=0.2)
        try:
            await lively.ask("intervals", {"widths": [5]})
            await patient.people(spec)
            process = patient._process
            before = await patient.ask("levels", {})
            for _ in range(50):
                await asyncio.sleep(0.1)
                if not process.is_alive():
                    break
            assert not process.is_alive()
            assert lively._process.is_alive()
            assert await patient.ask("levels", {}) == before
        finally:
            lively.end()
            patient.end()

    asyncio.run(walk())
