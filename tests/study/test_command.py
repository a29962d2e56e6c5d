"""``equivoc study``: its output; after an interruption at any moment it continues to the same bytes."""

from __future__ import annotations

import json
import os
import random
import shlex
import signal
import subprocess
import sys
import time
from pathlib import Path

import pandas as pd
import pytest

import equivoc as eq
from equivoc.experiments.study import study_of
from equivoc.requests.plan import read_plan
from tests.commands import start_interruptible

KILLS = int(os.environ.get("EQUIVOC_TEST_KILLS", "4"))
"""At how many random moments a study is killed; 20 is the thorough number."""
CELLS = 160


def command(plan: Path, out: Path, *options: str) -> list[str]:
    return [sys.executable, "-m", "equivoc", "study", str(plan), "--out", str(out), *options]


def run(
    plan: Path, out: Path, environment: dict[str, str], *options: str
) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        command(plan, out, *options), env=environment, capture_output=True, text=True, check=False
    )


def cells_in(out: Path) -> int:
    try:
        return len(eq.load_study(out).cells)
    except eq.InputError:
        return 0


def processes_of(group: int) -> list[int]:
    """The processes that are alive in a process group."""
    found = []
    for stat in Path("/proc").glob("[0-9]*/stat"):
        try:
            fields = stat.read_text().rpartition(")")[2].split()
        except OSError:
            continue
        if int(fields[2]) == group and fields[0] != "Z":
            found.append(int(stat.parent.name))
    return found


def wait_until(true: object, seconds: float) -> bool:
    end = time.monotonic() + seconds
    while time.monotonic() < end:
        if true():
            return True
        time.sleep(0.04)
    return bool(true())


def test_tables_picture_and_summary(plan: Path, environment: dict[str, str]) -> None:
    out = plan.parent / "out"
    ran = run(plan, out, environment, "--workers", "1", "--progress", "plain")
    assert ran.returncode == 0, ran.stderr
    assert "12 of 12 cells" in ran.stderr
    assert "cells/s" in ran.stderr
    for name in ("results.csv", "summary.csv", "seconds.csv", "study.png"):
        assert f"written: {out / name}" in ran.stdout
    assert "query-restriction" in ran.stdout
    results, summary = pd.read_csv(out / "results.csv"), pd.read_csv(out / "summary.csv")
    assert list(results.columns) == [
        "technique", "parameters", "known_size", "replicate", "h0", "area", "h0_record", "area_record",
        "surprise", "gain", "true_hit",
    ]  # fmt: skip
    done = eq.load_study(out)
    assert done.results.to_csv(index=False) == (out / "results.csv").read_text()
    assert len(results) == 4 * 4 * 3
    assert len(summary) == 4 * 4
    assert len(pd.read_csv(out / "seconds.csv")) == 12
    assert (out / "study.png").read_bytes().startswith(b"\x89PNG")
    leftovers = {path.name for path in out.iterdir()} - {
        "results.csv", "summary.csv", "seconds.csv", "study.png", "study.sqlite",
    }  # fmt: skip
    assert not leftovers
    again = run(plan, out, environment, "--json")
    told = json.loads(again.stdout)
    assert again.stderr == ""  # not a terminal: quiet
    assert told["cells"] == 12
    assert len(told["summary"]) == 16
    assert told["summary"][0]["h0"] == pytest.approx(summary["h0"][0])


def test_another_intruder_than_the_plans(plan: Path, environment: dict[str, str]) -> None:
    out = plan.parent / "out"
    plan.write_text(plan.read_text().replace("replicates = 3", 'replicates = 1\nintruder = "register"'))
    options = ["--intruder", "paper", "--prior", "uniform"]
    ran = run(plan, out, environment, "--workers", "1", *options)
    assert ran.returncode == 0, ran.stderr
    assert "Intruder: paper; prior: uniform." in ran.stdout
    assert "gain, 3 known" in " ".join(ran.stdout.split())
    done = eq.load_study(out)
    assert (done.intruder, done.prior) == ("paper", "uniform")
    again = run(plan, out, environment, "--workers", "1")
    assert (again.returncode, again.stdout) == (2, "")
    assert "its prior is uniform, not marginal; its intruder is paper, not register." in again.stderr
    for option, said in (("--prior", "flat: choose marginal or uniform"), ("--intruder", "flat: choose")):
        wrong = run(plan, out, environment, option, "flat")
        assert wrong.returncode == 2
        assert wrong.stderr.startswith(f"equivoc: {option} {said}")


def test_mistakes_end_in_a_sentence(plan: Path, environment: dict[str, str]) -> None:
    plan.write_text(plan.read_text().replace("seed", "sede"))
    ran = run(plan, plan.parent / "out", environment)
    assert ran.returncode == 2
    assert ran.stderr == f"equivoc: {plan}, line 18: [study] has no key 'sede': did you mean 'seed'?\n"
    ran = run(plan, plan.parent / "out", environment, "--progress", "loud")
    assert (ran.returncode, ran.stdout) == (2, "")
    assert ran.stderr.startswith("equivoc: --progress is 'loud'; choose one of")
    ran = subprocess.run(
        [sys.executable, "-m", "equivoc", "study", "--help"],
        env=environment,
        capture_output=True,
        text=True,
        check=True,
    )
    assert "Example: equivoc study plan.toml --out" in ran.stdout


@pytest.mark.parametrize(
    ("technique", "name"),
    [
        ('name = "generalisation"\nk = 4\nhierarchies = "age:out/summary.csv"', "summary.csv"),
        ('name = "released-file"\ntable = "out/results.csv"', "results.csv"),
    ],
)
def test_no_input_is_overwritten(plan: Path, environment: dict[str, str], technique: str, name: str) -> None:
    out = plan.parent / "out"
    out.mkdir()
    released = (plan.parent / "people.csv").read_text()
    hierarchy = "".join(f"{age};{age // 10}0s\n" for age in range(20, 60, 5))
    (out / name).write_text(released if name == "results.csv" else hierarchy)
    before = (out / name).read_bytes()
    head = plan.read_text().partition("[[technique]]")[0]
    plan.write_text(f"{head}[[technique]]\n{technique}\n")
    ran = run(plan, out, environment)
    assert ran.returncode == 2, ran.stdout
    assert f"{out / name} cannot be written: it is also an input" in ran.stderr
    assert (out / name).read_bytes() == before


def test_killed_at_random_moments_it_ends_with_the_same_bytes(
    plan: Path, environment: dict[str, str]
) -> None:
    plan.write_text(plan.read_text().replace("replicates = 3", f"replicates = {CELLS // 4}"))
    whole = study_of(read_plan(plan)).run(progress=False)
    out = plan.parent / "out"
    chance = random.Random(20)
    kept = []
    for number in range(KILLS):
        # Each time a little further: while nothing is there, while cells come, while files are written.
        wanted = int(CELLS * (number + chance.random()) / KILLS)
        started = subprocess.Popen(
            command(plan, out, "--workers", "2" if number % 2 else "1"),
            env=environment,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
            start_new_session=True,
        )
        wait_until(lambda: started.poll() is not None or cells_in(out) >= wanted, 600)  # noqa: B023
        time.sleep(chance.uniform(0, 0.05))
        started.kill()
        started.wait()
        assert wait_until(lambda: not processes_of(started.pid), 300), "workers outlive their parent"  # noqa: B023
        kept.append(cells_in(out))
    assert kept == sorted(kept)
    assert kept[-1] > 0
    assert any(0 < cells < CELLS for cells in kept)
    ended = run(plan, out, environment, "--workers", "2")
    assert ended.returncode == 0, ended.stderr
    assert (out / "results.csv").read_text() == whole.results.to_csv(index=False)
    assert (out / "summary.csv").read_text() == whole.summary().to_csv(index=False)


@pytest.mark.parametrize("workers", ["1", "2"])
@pytest.mark.parametrize(("number", "code"), [(signal.SIGINT, 130), (signal.SIGTERM, -signal.SIGTERM)])
def test_an_interrupted_study_says_how_to_continue(
    plan: Path, environment: dict[str, str], workers: str, number: int, code: int
) -> None:
    plan.write_text(plan.read_text().replace("replicates = 3", "replicates = 5000"))
    out = plan.parent / "out of it; $HOME"
    started = start_interruptible(command(plan, out, "--workers", workers), env=environment)
    assert wait_until(lambda: cells_in(out) >= 3, 600)
    os.killpg(started.pid, number)  # as a terminal and schedulers do: everyone in the group gets it
    _, said = started.communicate(timeout=600)
    assert started.returncode == code
    assert len(said.splitlines()) == 1, said
    assert "of 20000 cells done; they are kept in" in said
    assert shlex.split(said.partition("To continue: ")[2]) == [
        "equivoc",
        "study",
        str(plan),
        "--out",
        str(out),
    ]
    assert wait_until(lambda: not processes_of(started.pid), 300), "workers outlive their parent"
    kept = cells_in(out)
    assert 3 <= kept < 20000
    assert f"stopped with {kept} of" in said


@pytest.mark.parametrize("workers", ["1", "2"])
def test_a_study_in_the_background_of_a_script_is_ended_by_sigterm(
    plan: Path, environment: dict[str, str], workers: str
) -> None:
    plan.write_text(plan.read_text().replace("replicates = 3", "replicates = 5000"))
    out = plan.parent / "out"
    words = command(plan, out, "--workers", workers)
    started = start_interruptible(words, ignores_ctrl_c=True, env=environment)
    assert wait_until(lambda: cells_in(out) >= 3, 600)
    os.killpg(started.pid, signal.SIGINT)
    before = cells_in(out)
    assert wait_until(lambda: cells_in(out) > before, 600), "Ctrl-C is for what runs in the foreground"
    os.killpg(started.pid, signal.SIGTERM)  # as `timeout` and schedulers do
    _, said = started.communicate(timeout=600)
    assert started.returncode in (-signal.SIGTERM, 128 + signal.SIGTERM)
    assert len(said.splitlines()) == 1, said
    assert "of 20000 cells done; they are kept in" in said
    assert f"To continue: equivoc study {plan} --out {out}" in said
    assert wait_until(lambda: not processes_of(started.pid), 300), "workers outlive their parent"
    assert f"stopped with {cells_in(out)} of" in said
