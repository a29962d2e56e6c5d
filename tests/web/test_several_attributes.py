"""Several confidential attributes, and households, through the page's process: the figures of `equivoc.assess`."""

from __future__ import annotations

from typing import Any

import httpx
import pandas as pd
import pytest

import equivoc as eq
from tests.web.page_server import job_of, opened, result_of, wait_for

KEYS = ["age", "sex"]
TECHNIQUE = "swapping:rate=0.5"
PAY = {"name": "pay", "kind": {"kind": "number", "round_to": None, "unit": "EUR"}}
ILLNESS = {"name": "illness", "kind": {"kind": "categories"}}


def frame() -> pd.DataFrame:
    """Sixty people in twenty households."""
    rows = [
        (
            30 + at % 4,
            "FM"[at * 7 % 3 % 2],
            10 * (1 + at * at % 7),
            ("flu", "gout", "none")[at % 5 % 3],
            at // 3,
        )
        for at in range(60)
    ]
    return pd.DataFrame(rows, columns=["age", "sex", "pay", "illness", "home"])


def roles(first: dict[str, Any], *others: dict[str, Any], **more: Any) -> dict[str, Any]:
    return {"confidential": first["name"], "kind": first["kind"], "also": list(others), "keys": KEYS, **more}


def strongest(http: httpx.Client, asked: dict[str, Any]) -> dict[str, Any]:
    """The facts of the strongest intruder, as soon as they are there."""
    key = http.post("/api/live/assess", json=asked).json()["key"]

    def done() -> dict[str, Any] | None:
        pointer = http.get("/api/state").json()["strongest"]
        if not pointer or pointer["key"] != key or not pointer["job"]:
            return None
        job = job_of(http, pointer["job"])
        return job if job["status"] == "done" else None

    found: dict[str, Any] = http.get(wait_for(done)["result"]).json()["facts"]
    return found


def test_each_attribute_and_all_together(http: httpx.Client) -> None:
    people = eq.Microdata(frame(), confidential=["pay", eq.Categories("illness")], keys=KEYS)
    reference = eq.assess(people, eq.Swapping(rate=0.5), seed=4, require=["h0 >= 1.55"])
    assert [(each.attribute, each.meets) for each in reference.requirements] == [
        ("pay", True),
        ("illness", False),
    ]
    opened(http, frame().to_csv(index=False), roles(PAY, ILLNESS, group="home"))
    rule = "h0 >= 1.55"  # of the pay alone
    asked = {"technique": TECHNIQUE, "known": KEYS, "seed": 4, "require": [rule]}
    keys = set()
    for own, other in ((PAY, ILLNESS), (ILLNESS, PAY)):
        state = http.put("/api/roles", json=roles(own, other, group="home")).json()
        assert (state["roles"]["confidential"], state["roles"]["group"]) == (own["name"], "home")
        shown = http.post("/api/live/explore", json={**asked, "eps": 0.0}).json()["mean"]
        informed = eq.assess(people.of(own["name"]), eq.Swapping(rate=0.5), seed=4, intruder="informed")
        assert shown["h"] == pytest.approx(informed.summary["per_record"]["h0"]["mean"], abs=1e-12)
        facts = strongest(http, asked)
        truth = reference.attributes[own["name"]].summary["truth"]
        assert facts["truth"]["gain"] == pytest.approx(truth["gain"], abs=1e-12)
        assert facts["together"]["eps"] == reference.eps
        for name, value in reference.together.items():
            assert facts["together"][name] == pytest.approx(value, abs=1e-12)
        judged = [(each["attribute"], each["meets"]) for each in facts["together"]["rules"]]
        assert sorted(judged) == [("illness", False), ("pay", True)]
        keys.add(http.get("/api/state").json()["strongest"]["key"])
    assert len(keys) == 2


def test_calls_jobs_and_the_protected_file(http: httpx.Client) -> None:
    opened(http, frame().to_csv(index=False), roles(PAY, ILLNESS, group="home"))
    compared = http.post(
        "/api/jobs", json={"kind": "compare", "techniques": [TECHNIQUE], "known": KEYS}
    ).json()
    state = http.put("/api/roles", json=roles(ILLNESS, PAY, group="home")).json()
    assert [job["request"].get("attribute") for job in state["jobs"] if job["kind"] == "compare"] == ["pay"]
    http.post(f"/api/jobs/{compared['id']}/cancel")
    together, alone = (
        http.get("/api/calls", params={"what": what}).json() for what in ("together", "assess")
    )
    assert "pay,illness" in together["command"]
    assert "--group home" in alone["command"]
    assert "pay" not in alone["command"]
    made = result_of(http, kind="protect", technique=TECHNIQUE, known=KEYS, seed=1)
    named = [each["name"] for each in made["certificate"]["people"]["confidential"]]
    assert sorted(named) == ["illness", "pay"]
    state = http.put("/api/roles", json=roles(PAY)).json()  # other people: what was computed is gone
    assert [job for job in state["jobs"] if job["kind"] == "compare"] == []


@pytest.mark.parametrize(
    "wrong",
    [
        {"also": [{"name": "pay", "kind": {}}]},
        {"also": [{"name": "age", "kind": {}}]},
        {"also": [{"kind": {}}]},
        {"also": "illness"},
        {"also": [{"name": "illness", "kind": {"kind": "words"}}]},
        {"group": "age"},
        {"group": "nothing"},
        {"also": [ILLNESS], "group": "illness"},
        {"also": [ILLNESS], "weights": "illness"},
    ],
)
def test_roles_that_cannot_be(http: httpx.Client, wrong: dict[str, Any]) -> None:
    opened(http, frame().to_csv(index=False), roles(PAY))
    before = http.get("/api/state").json()
    answer = http.put("/api/roles", json={**roles(PAY), **wrong})
    assert answer.status_code == 400
    assert http.get("/api/state").json()["roles"] == before["roles"]
