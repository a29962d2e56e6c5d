"""A short path through every command with the lowest versions that pyproject.toml declares; `.ci/run` runs it.

    .venv/bin/python -m tests.lowest_versions                  # this Python
    .venv/bin/python -m tests.lowest_versions --python 3.13    # another one; uv downloads it if it is missing

uv installs the package into an environment in a temporary folder, with --resolution lowest-direct: what we name has its
lowest version, what those packages need has its newest. The versions are printed. Exits 1 if a command fails.
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
import time
import tomllib
from collections.abc import Mapping, Sequence
from pathlib import Path
from tempfile import TemporaryDirectory
from urllib.request import ProxyHandler, Request, build_opener

ROOT = Path(__file__).resolve().parent.parent
EXTRAS = ("dp", "web", "formats", "postgresql")
"""Not spark: PySpark has 490 MB, one declared version, and needs Java."""
PEOPLE = ROOT / "src" / "equivoc" / "datasets" / "cps_hourly_workers.csv"
RECORDS = 300
OF_PEOPLE = ("people.csv", "--confidential", "wage_per_hour", "--keys", "age,sex", "--round-to", "100")
PLAN = """[data]
path = "people.csv"
confidential = "wage_per_hour"
keys = ["age", "sex"]
round_to = 100

[[technique]]
name = "sampling"
fraction = 0.5

[[technique]]
name = "microaggregation"
size = 3

[study]
known_sizes = [0, 2]
replicates = 1
seed = 0
"""
QUESTION = "SELECT SUM(wage_per_hour) FROM people WHERE age >= 40"
QUIET = ("--progress", "none", "--workers", "1")
COMMANDS: Mapping[str, tuple[Sequence[str], Sequence[str]]] = {
    "curve": (("--values", "1,3,8,9", "--probabilities", ".15,.1,.7,.05", "--plot", "curve.png"), ("curve.png",)),
    "assess": ((*OF_PEOPLE, "--technique", "noise-addition:percent=20", "--out", "assessed"),
               ("assessed/classes.csv", "assessed/records.csv")),
    "measures": (OF_PEOPLE, ()),
    "roles": (("people.csv",), ()),
    "report": ((*OF_PEOPLE, "--technique", "swapping:rate=0.2", "--out", "report.html"), ("report.html",)),
    "study": (("plan.toml", "--out", "studied", *QUIET), ("studied/study.png", "studied/results.csv")),
    "compare": ((*OF_PEOPLE, "--technique", "sampling:fraction=0.1|0.5", "--technique", "generalisation:k=3",
                 "--out", "compared", *QUIET), ("compared/report.html", "compared/comparison.csv")),
    "reproduce": (("--records", "60", "--replicates", "1", "--out", "reproduced", *QUIET), ("reproduced/claims.csv",)),
    "choose": ((*OF_PEOPLE, "--technique", "noise-addition:percent=10..50..20", "--require", "true_hit(100) <= 0.9"),
               ()),
    "protect": ((*OF_PEOPLE, "--technique", "pram:keep=0.8", "--out", "protected.parquet", "--seed", "1"),
                ("protected.parquet", "protected.certificate.json")),
    "verify": (("protected.certificate.json", "people.csv", "protected.parquet", "--seed", "1"), ()),
    "audit": ((*OF_PEOPLE, "--queries", "log.sql", "--out", "audited"), ("audited/report.html",)),
    "table": (("people.csv", "--by", "major_occupation,sex", "--value", "wage_per_hour", "--rule", "p:10",
               "--suppress", "--out", "tabulated"), ("tabulated/released.csv",)),
    "serve": (("people.csv", "--no-browser", "--folder", "page"), ()),
    "gateway": ((*OF_PEOPLE, "--policy", "policy.toml", "--port", "0"), ("gateway.sqlite",)),
    "doctor": ((), ()),
}  # fmt: skip
"""Of each command, in this order: the words after it, and the files that it has to write. Services are asked once."""
TOGETHER = """import highspy, numpy, scipy.optimize, scipy.sparse
highspy.Highs()
both = scipy.sparse.csr_array((numpy.ones(2), (numpy.arange(2), numpy.arange(2))), shape=(2, 2))
both.indices, both.indptr = both.indices.astype(numpy.int64), both.indptr.astype(numpy.int64)
limits = scipy.optimize.LinearConstraint(both, 0, 1)
assert scipy.optimize.milp(-numpy.ones(2), constraints=limits, integrality=numpy.ones(2)).fun == -2
"""
"""What only some commands with much to solve reach: two solvers that once excluded each other, with large indices."""
FORMATS = """import pandas, python_calamine, pyreadstat, rdata
import equivoc as eq
frame = pandas.DataFrame({"age": [30.0, 41.0, 9.0], "pay": [1.0, 2.0, 3.0]})
labels = {"age": {30.0: "young", 41.0: "old"}}
pyreadstat.write_sav(frame, "a.sav", variable_value_labels=labels, missing_ranges={"age": [9]})
frame.to_stata("a.dta", write_index=False)
frame.to_feather("a.feather")
assert eq.read("a.sav", confidential="pay", keys=["age"]).levels("age") == ("old", "young", None)
for file in ("a.dta", "a.feather"):
    assert eq.read(file, confidential="pay", keys=["age"]).levels("age") == (9, 30, 41)
"""
"""Files of other programs, and the libraries that read them."""
SECONDS = 600
"""The most for one command, most of it for compiling kernels."""


def main() -> int:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument(
        "--python", default=sys.executable, help="the version, or the path, of the Python to use"
    )
    given = parser.parse_args()
    begin = time.monotonic()
    with TemporaryDirectory(prefix="lowest-versions-") as made:
        python = _install(Path(made, "environment"), given.python)
        folder = Path(made, "work")
        folder.mkdir()
        _lay_out(folder)
        for script in (TOGETHER, FORMATS):
            subprocess.run([str(python), "-c", script], check=True, cwd=folder)
        failed = [name for name in COMMANDS if not _succeeds(name, python, folder)]
    print(
        f"lowest versions: {time.monotonic() - begin:.0f} s, failed: {', '.join(failed) or 'none'}",
        flush=True,
    )
    return bool(failed)


def _install(environment: Path, python: str) -> Path:
    """A new environment with the lowest versions; the path of its Python. The versions are printed."""
    uv = str(Path(sys.executable).with_name("uv"))
    subprocess.run([uv, "venv", "--quiet", "--python", python, str(environment)], check=True)
    inside = environment / "bin" / "python"
    install = [uv, "pip", "install", "--quiet", "--compile-bytecode", "--resolution", "lowest-direct"]
    # From another folder: no settings of this one, and the package as it will be installed.
    package = f"{ROOT}[{','.join(EXTRAS)}]"
    subprocess.run([*install, "--python", str(inside), package], check=True, cwd=environment)
    freeze = [uv, "pip", "freeze", "--quiet", "--python", str(inside)]
    frozen = subprocess.run(freeze, check=True, capture_output=True, text=True).stdout.split("\n")
    version = subprocess.run([str(inside), "--version"], check=True, capture_output=True, text=True).stdout
    found = {line.split("==")[0]: line for line in frozen if "==" in line}
    print(f"{version.strip()}: {', '.join(found[name] for name in declared() if name in found)}", flush=True)
    return inside


def declared() -> list[str]:
    """The names of the packages that pyproject.toml declares, those of EXTRAS included."""
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    needed = [
        *project["dependencies"],
        *(each for extra in EXTRAS for each in project["optional-dependencies"][extra]),
    ]
    return sorted({each.split(">=")[0].split("[")[0] for each in needed})


def _lay_out(folder: Path) -> None:
    lines = PEOPLE.read_text(encoding="utf-8").splitlines(keepends=True)
    (folder / "people.csv").write_text("".join(lines[: RECORDS + 1]), encoding="utf-8")
    (folder / "plan.toml").write_text(PLAN, encoding="utf-8")
    (folder / "policy.toml").write_text("least_people = 3\n", encoding="utf-8")
    (folder / "log.sql").write_text(f"{QUESTION};\n", encoding="utf-8")


def _succeeds(name: str, python: Path, folder: Path) -> bool:
    words, written = COMMANDS[name]
    begin = time.monotonic()
    try:
        asked = {"serve": _opened, "gateway": _answered}.get(name)
        command = [str(python), "-m", "equivoc", name, *words]
        told = _run(command, folder) if asked is None else asked(command, folder)
    except (OSError, RuntimeError, subprocess.SubprocessError, ValueError) as problem:
        told = str(problem)
    lacking = [each for each in written if not (folder / each).is_file()]
    if lacking:
        told = f"{told}\nnot written: {', '.join(lacking)}"
    print(f"{'FAILED' if told else 'ok':<7}{name:<10}{time.monotonic() - begin:4.0f} s", flush=True)
    if told:
        print(told.strip(), flush=True)
    return not told


def _run(command: Sequence[str], folder: Path) -> str:
    """Nothing if the command succeeds; otherwise what it said."""
    done = subprocess.run(
        command,
        cwd=folder,
        env=_environment(folder),
        capture_output=True,
        text=True,
        check=False,
        timeout=SECONDS,
    )
    if done.returncode == 0 and "Warning" not in done.stderr:
        return ""
    return f"exit code {done.returncode}\n{done.stdout[-2000:]}{done.stderr[-4000:]}"


def _environment(folder: Path) -> dict[str, str]:
    """Without what this process was started with that would bring in other packages, or the user's own files."""
    kept = {
        name: value for name, value in os.environ.items() if not name.startswith(("PYTHON", "VIRTUAL_ENV"))
    }
    return {**kept, "XDG_STATE_HOME": str(folder / "state"), "XDG_CONFIG_HOME": str(folder / "config")}


def _opened(command: Sequence[str], folder: Path) -> str:
    """Nothing if the page opens at the address that the server prints."""
    with _Service(command, folder, "http://") as service:
        address = service.line[service.line.index("http://") :].strip()
        answer = _http(Request(address))
        return "" if "<html" in answer else f"no page at {address}: {answer[:500]}"


def _answered(command: Sequence[str], folder: Path) -> str:
    """Nothing if the gateway answers a question."""
    made = subprocess.run(
        [*command[:4], "token", "add", "ann"],
        cwd=folder,
        env=_environment(folder),
        capture_output=True,
        text=True,
        check=False,
        timeout=SECONDS,
    )
    if made.returncode != 0:
        return made.stdout + made.stderr
    token = made.stdout.split()[-1]
    with _Service(command, folder, "listens on http://") as service:
        url = service.line.split("listens on ")[1].split(";")[0]
        body = json.dumps({"sql": QUESTION}).encode()
        answer = _http(Request(f"{url}/ask", data=body, headers={"Authorization": f"Bearer {token}"}))
        return "" if "answered" in json.loads(answer) else answer


def _http(request: Request) -> str:
    from http.cookiejar import CookieJar
    from urllib.request import HTTPCookieProcessor

    opener = build_opener(ProxyHandler({}), HTTPCookieProcessor(CookieJar()))
    with opener.open(request, timeout=SECONDS) as answer:
        found: str = answer.read().decode()
        return found


class _Service:
    """A command that serves until the end of the block; then SIGTERM ends it, and its exit code must be 0."""

    def __init__(self, command: Sequence[str], folder: Path, sign: str) -> None:
        self.process = subprocess.Popen(
            command,
            cwd=folder,
            env=_environment(folder),
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
        )
        assert self.process.stdout is not None
        self.line = next((line for line in self.process.stdout if sign in line), "")
        if not self.line:
            raise RuntimeError(self.process.communicate()[1])

    def __enter__(self) -> _Service:
        return self

    def __exit__(self, *_: object) -> None:
        self.process.terminate()
        _, said = self.process.communicate(timeout=SECONDS)
        if self.process.returncode != 0:
            raise RuntimeError(f"exit code {self.process.returncode} after SIGTERM\n{said}")


if __name__ == "__main__":
    sys.exit(main())
