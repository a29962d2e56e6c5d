"""equivoc and its peers: the same file and the same questions in one run.

    .venv/bin/python benchmarks/peers.py                       # a million rows; some ten minutes
    .venv/bin/python benchmarks/peers.py --rows 20000 --limit 60   # to test the script

pycanon, Anonymeter and SDMetrics are installed in environments of their own, in a temporary folder. sdcMicro is asked
only where it is installed (`Rscript` with the package). Each program reads the CSV file and answers one question in a
process of its own. The time counts reading and answering; before it, the program answers for 200 other records, so
that imports and compiled code are loaded. equivoc's kernels are compiled before the first question, because they are
compiled once on a machine, not once in a process. An answer that took less than 20 seconds is given again: "first" may
contain what 200 records did not load; ratios are of the second answers, where both programs gave one. A program that
passes --limit is stopped.
"""

from __future__ import annotations

import argparse
import json
import os
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Any

import pandas as pd

sys.path.insert(0, str(Path(__file__).parent))
from assess import people

KEYS = ["age", "sex", "region", "occupation"]
CLASS_RISK = ("k", "uniques", "l", "t")
QUESTIONS = {
    "k": "the size of the smallest class (k-anonymity)",
    "uniques": "people who are alone in their class",
    "l": "the least number of different incomes in a class (distinct l-diversity)",
    "t": "the largest distance between a class's incomes and all (t-closeness)",
    "attack": "from a noisy copy of 2,000 rows: how often is a guess of the income right?",
    "measure": "H0, area and hit rate of every class",
}
SHARED = """
import json, sys, time
import pandas as pd
KEYS, VALUE = ["age", "sex", "region", "occupation"], "income"
def told(answer):
    answer(sys.argv[2])
    seconds = []
    while not seconds or (len(seconds) < 2 and seconds[0] < 20):
        begin = time.perf_counter()
        found = answer(sys.argv[1])
        seconds.append(time.perf_counter() - begin)
    print("ANSWER", json.dumps([seconds, found]))
noisy = lambda path: path.replace(".csv", "-noisy.csv")
"""
EQUIVOC = """
import equivoc as eq
read = lambda path: eq.read(path, confidential=VALUE, keys=KEYS)
def attack(path):
    result = eq.assess(read(path), eq.ReleasedFile(noisy(path)), eps=[0, 2000])
    return result.summary["truth"]["true_hit"][2000.0]
def measure(path):
    result = eq.assess(read(path), eq.Unprotected(), eps=[0, 1000])
    return float(result.figures.mean(result.figures.h0))
told({
    "k": lambda path: int(read(path).classes(None).sizes.min()),
    "uniques": lambda path: int((read(path).classes(None).sizes == 1).sum()),
    "l": lambda path: int(eq.models.l_diversity(read(path))),
    "t": lambda path: float(eq.models.t_closeness(read(path))),
    "attack": attack,
    "measure": measure,
}[sys.argv[3]])
"""
PANDAS = """
read = pd.read_csv
told({
    "k": lambda path: int(read(path).groupby(KEYS, dropna=False).size().min()),
    "uniques": lambda path: int((read(path).groupby(KEYS, dropna=False).size() == 1).sum()),
    "l": lambda path: int(read(path).groupby(KEYS, dropna=False)[VALUE].nunique().min()),
}[sys.argv[3]])
"""
PYCANON = """
from pycanon import anonymity
from pycanon.anonymity.utils import aux_anonymity
read = pd.read_csv
told({
    "k": lambda path: int(anonymity.k_anonymity(read(path), KEYS)),
    "uniques": lambda path: sum(len(c) == 1 for c in aux_anonymity.get_equiv_class(read(path), KEYS)),
    "l": lambda path: int(anonymity.l_diversity(read(path), KEYS, [VALUE])),
    "t": lambda path: float(anonymity.t_closeness(read(path), KEYS, [VALUE])),
}[sys.argv[3]])
"""
ANONYMETER = """
from anonymeter.evaluators import InferenceEvaluator
def attack(path):
    asked = InferenceEvaluator(
        ori=pd.read_csv(path), syn=pd.read_csv(noisy(path)), aux_cols=KEYS, secret=VALUE, regression=True,
        n_attacks=100,
    )
    return float(asked.evaluate(n_jobs=1).results().attack_rate.value)
told({"attack": attack}[sys.argv[3]])
"""
SDMETRICS = """
from sdmetrics.single_table import DisclosureProtection
def attack(path):
    found = DisclosureProtection.compute_breakdown(
        real_data=pd.read_csv(path), synthetic_data=pd.read_csv(noisy(path)), known_column_names=KEYS,
        sensitive_column_names=[VALUE], continuous_column_names=[VALUE],
    )
    return 1 - float(found["cap_protection"])
told({"attack": attack}[sys.argv[3]])
"""
SDCMICRO = """
given <- commandArgs(TRUE)
suppressMessages(library(sdcMicro))
answer <- function(path) {
  dat <- read.csv(path)
  found <- freqCalc(dat, keyVars = c("age", "sex", "region", "occupation"))
  if (given[3] == "k") min(found$fk) else sum(found$fk == 1)
}
answer(given[2])
begin <- proc.time()[["elapsed"]]
found <- answer(given[1])
cat("ANSWER [[", proc.time()[["elapsed"]] - begin, "], ", found, "]\\n", sep = "")
"""
PEERS = {
    "pycanon": (PYCANON, ("k", "uniques", "l", "t")),
    "anonymeter": (ANONYMETER, ("attack",)),
    "sdmetrics": (SDMETRICS, ("attack",)),
}


def environment(folder: Path, package: str) -> tuple[Path, str] | None:
    """A new environment with the package: its Python, and the package's version; None if it cannot be installed."""
    place = folder / package
    subprocess.run([sys.executable, "-m", "venv", place], check=True)
    python = place / "bin" / "python"
    uv = shutil.which("uv") or shutil.which("uv", path=str(Path(sys.executable).parent))
    install = [uv, "pip", "install", "--python", python] if uv else [python, "-m", "pip", "install"]
    done = subprocess.run([*install, package], capture_output=True, text=True, check=False)
    if done.returncode:
        print(f"{package} cannot be installed: {(done.stderr.strip().splitlines() or ['?'])[-1]}", flush=True)
        return None
    asked = f"from importlib.metadata import version; print(version({package!r}))"
    return python, subprocess.run(
        [python, "-c", asked], capture_output=True, text=True, check=True
    ).stdout.strip()


def ask(command: list[Any], file: Path, question: str, limit: float) -> tuple[list[float], Any] | str:
    """Seconds of the first and the second answer, if there was one, and the answer; or why there is none."""
    words = [*command, str(file), str(file.with_name("few.csv")), question]
    try:
        done = subprocess.run(words, capture_output=True, text=True, timeout=limit, check=False)
    except subprocess.TimeoutExpired:
        return f"more than {limit:.0f} s"
    line = next((line for line in done.stdout.splitlines() if line.startswith("ANSWER")), None)
    if line is None:
        return f"failed: {(done.stderr.strip().splitlines() or ['no answer'])[-1][:100]}"
    seconds, found = json.loads(line.removeprefix("ANSWER"))
    return seconds, found


def write_files(folder: Path, rows: int) -> dict[str, Path]:
    """The file of people, few others, and for the attack a smaller file with a noisy copy."""
    import numpy as np

    everyone = people(rows)
    rng = np.random.default_rng(7)
    files = {"all": folder / "people.csv", "attack": folder / "attack" / "people.csv"}
    for path, frame in ((files["all"], everyone), (files["attack"], everyone.head(2000))):
        path.parent.mkdir(exist_ok=True)
        for target, chosen in ((path, frame), (path.with_name("few.csv"), everyone.tail(200))):
            chosen.to_csv(target, index=False)
            noise = 1000 * rng.integers(-5, 6, len(chosen))
            copy = chosen.assign(income=np.maximum(chosen["income"] + noise, 0))
            if path is files["attack"]:
                copy.to_csv(str(target).replace(".csv", "-noisy.csv"), index=False)
    return files


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--rows", type=int, default=1_000_000)
    parser.add_argument("--limit", type=float, default=300.0, help="seconds for one question")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory(prefix="equivoc-peers-") as made:
        folder = Path(made)
        files = write_files(folder, options.rows)
        from equivoc.version import __version__

        programs: dict[str, tuple[list[Any], tuple[str, ...]]] = {
            f"equivoc {__version__}": ([sys.executable, "-c", SHARED + EQUIVOC], tuple(QUESTIONS)),
            f"pandas {pd.__version__} group-by": ([sys.executable, "-c", SHARED + PANDAS], CLASS_RISK[:3]),
        }
        for package, (script, questions) in PEERS.items():
            found = environment(folder, package)
            if found is not None:
                programs[f"{package} {found[1]}"] = ([found[0], "-c", SHARED + script], questions)
        sdc = folder / "sdcmicro.R"
        sdc.write_text(SDCMICRO)
        rscript = shutil.which("Rscript")
        has_sdc = (
            rscript
            and not subprocess.run(
                [rscript, "-e", "library(sdcMicro)"], capture_output=True, check=False
            ).returncode
        )
        if has_sdc:
            programs["sdcMicro"] = ([rscript, sdc], ("k", "uniques"))
        else:
            print("sdcMicro is not installed")
        for question in QUESTIONS:  # compiles the kernels
            ask(next(iter(programs.values()))[0], files["attack"], question, options.limit)
        print(f"{options.rows:,} rows, 4 keys; load before: {os.getloadavg()[0]:.1f}", flush=True)
        print(
            "| question | program | first, s | again, s | answer | its time ÷ ours |\n|---|---|---|---|---|---|"
        )
        ratios: dict[str, float] = {}
        for question, meaning in QUESTIONS.items():
            ours: list[float] = []
            for name, (command, answers) in programs.items():
                if question not in answers:
                    continue
                file = files["attack" if question == "attack" else "all"]
                found = ask(command, file, question, options.limit)
                if isinstance(found, str):
                    print(f"| {meaning} | {name} | {found} | | | |", flush=True)
                    continue
                times, answer = found
                faster = ""
                if name.startswith("equivoc"):
                    ours = times
                elif ours:
                    ratio = times[-1] / ours[-1] if len(times) == len(ours) else times[0] / ours[0]
                    faster = f"{ratio:.2f} ×"
                    if question in CLASS_RISK and not name.startswith("pandas"):
                        ratios[f"{question}, {name}"] = ratio
                shown = " | ".join([*(f"{each:.2f}" for each in times), ""][:2])
                print(f"| {meaning} | {name} | {shown} | {answer:.6g} | {faster} |", flush=True)
    if ratios:
        nearest = min(ratios, key=lambda name: ratios[name])
        word = "ahead" if ratios[nearest] > 1 else "NOT ahead"
        print(f"class risk, the nearest peer ({nearest}): {ratios[nearest]:.2f} × our time: {word}")


if __name__ == "__main__":
    main()
