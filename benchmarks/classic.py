"""Classic measures of a million rows with 4 keys: against pycanon, and SUDA against one group-by.

    .venv/bin/python benchmarks/classic.py                # all of it; a few minutes
    .venv/bin/python benchmarks/classic.py --quick        # few rows, to test the script; the ratios mean nothing
    .venv/bin/python benchmarks/classic.py --pycanon bin/python   # use an environment that has pycanon

pycanon is installed into a separate environment in a temporary folder, and its functions are timed there on the same
table, once it is in memory. The time of equivoc also starts with the pandas frame, and includes the coding of its
columns. pycanon's entropy-l works class by class, so it is timed on the records of a tenth of the classes and the time
is multiplied by ten. Values are compared on a small table, and every difference is explained.
"""

from __future__ import annotations

import argparse
import json
import subprocess
import sys
import tempfile
from collections.abc import Callable
from pathlib import Path
from time import perf_counter

import numpy as np
import pandas as pd
from assess import people as many_people

import equivoc as eq
from equivoc.intruder.posteriors import Posteriors

KEYS = ["age", "sex", "region", "occupation"]
MEASURES = {
    "k_anonymity": "k",
    "l_diversity": "distinct l",
    "entropy_l_diversity": "entropy l",
    "recursive_c_l_diversity": None,
    "t_closeness": "t ordered",
}
"""pycanon's name and ours."""
EXPLANATION = """\
  whole: where there is one key, pycanon leaves out records in which it is null (as pandas does by default); where there
  are more, it keeps them. Ours always form a class of their own, which lowers k and l and raises t.
  shuffled: pycanon takes the rows' labels for their positions, so that classes get other people's values.
  entropy l: pycanon rounds down to a whole number; ours is the l itself.
  recursive (c, l): pycanon takes the rarest value for r_1, so that its c is too small for its l; ours is the largest l
  that its c allows."""
SHARE = 10
SUDA_BAR, ENTROPY_BAR = 5.0, 50.0
C = 3

PYCANON = """
import json, sys, time
import pandas as pd
from pycanon import anonymity

folder, value = sys.argv[1:3]
answers = []
for measure, table, keys in json.loads(sys.argv[3]):
    frame = pd.read_csv(f"{folder}/{table}.csv", index_col=0)
    given = (frame, keys) if measure == "k_anonymity" else (frame, keys, [value])
    begin = time.perf_counter()
    found = getattr(anonymity, measure)(*given)
    seconds = time.perf_counter() - begin
    found = [float(x) for x in found] if isinstance(found, tuple) else float(found)
    answers.append([seconds, found])
print(json.dumps(answers))
"""
Answer = float | list[float]


def environment(folder: Path) -> str:
    """The Python of a new environment with pycanon in it."""
    subprocess.run([sys.executable, "-m", "venv", folder], check=True)
    python = folder / "bin" / "python"
    subprocess.run([python, "-m", "pip", "install", "-q", "pycanon"], check=True, stderr=subprocess.DEVNULL)
    return str(python)


def pycanon(
    python: str, folder: Path, value: str, asked: list[tuple[str, str, list[str]]]
) -> list[tuple[float, Answer]]:
    """Seconds and answer for each measure, table and list of keys."""
    command = [python, "-W", "ignore", "-c", PYCANON, str(folder), value, json.dumps(asked)]
    done = subprocess.run(command, check=True, capture_output=True, text=True)
    answers: list[tuple[float, Answer]] = json.loads(done.stdout)
    return answers


def classic_measures(frame: pd.DataFrame, value: str, keys: list[str]) -> dict[str, float]:
    """k, l of every kind, t of both distances, mean H0 and A, from one pass over the frame."""
    people = eq.Microdata(frame, confidential=value, keys=keys)
    classes = people.classes(keys)
    curves = Posteriors(classes, people.values, classes.counts, None).curves()
    return {
        "k": eq.models.k_anonymity(people),
        "distinct l": eq.models.l_diversity(people),
        "entropy l": eq.models.l_diversity(people, kind="entropy"),
        f"recursive ({C}, l)": eq.models.l_diversity(people, kind="recursive", c=C),
        "t ordered": eq.models.t_closeness(people),
        "t equal": eq.models.t_closeness(people, distance="equal"),
        "mean H0": float(np.average(curves.h0, weights=classes.sizes)),
        "mean A": float(np.average(curves.area, weights=classes.sizes)),
    }


def every_suda_figure(people: eq.Microdata) -> float:
    """The scores and shares of every record, all of them."""
    found = eq.models.suda(people)
    return float(
        found.score.sum() + found.dis_score.sum() + found.msu_count.sum() + found.contributions.sum()
    )


def best_of(times: int, prepare: Callable[[], object], work: Callable[[object], object]) -> float:
    spans = []
    for _ in range(times):
        given = prepare()
        begin = perf_counter()
        work(given)
        spans.append(perf_counter() - begin)
    return min(spans)


def verdict(what: str, ratio: float, bar: float, *, at_least: bool) -> None:
    met = ratio >= bar if at_least else ratio <= bar
    sign = "≥" if at_least else "≤"
    print(f"  {what}: {ratio:,.1f} ×; bar {sign} {bar:g} ×: {'met' if met else 'NOT met'}")


def against_pycanon(python: str, frame: pd.DataFrame, folder: Path) -> None:
    frame.to_csv(folder / "many.csv")
    group = frame.groupby(KEYS).ngroup()
    chosen = np.random.default_rng(1).permutation(int(group.max()) + 1)[: (int(group.max()) + 1) // SHARE]
    frame[group.isin(chosen)].reset_index(drop=True).to_csv(folder / "part.csv")
    ours = best_of(3, lambda: frame, lambda given: classic_measures(given, "income", KEYS))
    asked = [("k_anonymity", "many"), ("l_diversity", "many"), ("entropy_l_diversity", "part")]
    found = pycanon(python, folder, "income", [(*question, KEYS) for question in asked])
    k, distinct, part = (seconds for seconds, _ in found)
    values = classic_measures(frame, "income", KEYS)
    print(f"{len(frame):,} rows, {int(group.max()) + 1:,} classes; ours, from the frame:")
    print("  " + ", ".join(f"{name} {value:g}" for name, value in values.items()))
    print(f"  all of these {ours:.2f} s; pycanon k {k:.2f} s, distinct l {distinct:.2f} s, ", end="")
    print(f"entropy l {part * SHARE:.1f} s ({SHARE} × {part:.1f} s for a tenth of the classes)")
    verdict(
        "all of ours is faster than pycanon's k and distinct l by", (k + distinct) / ours, 1, at_least=True
    )
    verdict(
        "all of ours is faster than pycanon's entropy l by", part * SHARE / ours, ENTROPY_BAR, at_least=True
    )


def small_table() -> pd.DataFrame:
    """Coarse keys, a few of them null, and a value whose distribution differs between classes."""
    rng = np.random.default_rng(2)
    age = rng.integers(0, 3, 600)
    value = np.minimum(rng.geometric(0.25 + 0.1 * age), 8)
    frame = pd.DataFrame({"age": age.astype(float), "sex": rng.integers(0, 2, 600), "value": value})
    frame.loc[[5, 17, 300], "age"] = np.nan
    return frame


def differences(python: str, folder: Path) -> None:
    whole = small_table()
    filled = whole.dropna().reset_index(drop=True)
    tables = {"whole": whole, "filled": filled, "shuffled": filled.sample(frac=1, random_state=3)}
    for name, table in tables.items():
        table.to_csv(folder / f"{name}.csv")
    cases = [
        ("whole", ["age"]),
        ("whole", ["age", "sex"]),
        ("filled", ["age", "sex"]),
        ("shuffled", ["age", "sex"]),
    ]
    print(
        "values on 600 records, three with a null age (whole), without these (filled), and in another order:"
    )
    print(f"  {'':34}" + "".join(f"{table + ', ' + str(len(keys)):>14}" for table, keys in cases))
    for measure, name in MEASURES.items():
        theirs = [a for _, a in pycanon(python, folder, "value", [(measure, *case) for case in cases])]
        print(f"  {measure:24}{'pycanon':>10}" + "".join(f"{_short(value):>14}" for value in theirs))
        ours: list[Answer]
        if name is None:  # at the c that pycanon gives
            ours = [_recursive(tables[t], keys, c) for (t, keys), (c, _) in zip(cases, theirs, strict=True)]
        else:
            ours = [classic_measures(tables[table], "value", keys)[name] for table, keys in cases]
        print(f"  {'':24}{'ours':>10}" + "".join(f"{_short(value):>14}" for value in ours))
    print(EXPLANATION)


def _recursive(table: pd.DataFrame, keys: list[str], c: float) -> list[float]:
    """The c, or 1 if there is none, and the largest l for it."""
    people = eq.Microdata(table, confidential="value", keys=keys)
    c = c if np.isfinite(c) else 1.0
    return [c, eq.models.l_diversity(people, kind="recursive", c=c)]


def _short(value: Answer) -> str:
    if isinstance(value, list):
        return "(" + ", ".join(map(_short, value)) + ")"
    return f"{value:.4g}"


def suda(frame: pd.DataFrame) -> None:
    def fresh() -> eq.Microdata:
        return eq.Microdata(frame, confidential="income", keys=KEYS)

    group_by = best_of(5, fresh, lambda people: people.classes(KEYS).sizes)
    pandas_group_by = best_of(5, lambda: frame, lambda given: given.groupby(KEYS).size())
    ours = best_of(5, fresh, every_suda_figure)
    unique = int((fresh().classes(KEYS).sizes == 1).sum())
    print(
        f"SUDA, {len(frame):,} rows, {unique:,} of them unique; scores and contributions of every record {ours:.3f} s"
    )
    print(
        f"  one group-by of the 4 keys: ours (coded columns, sizes and values) {group_by:.3f} s, pandas ",
        end="",
    )
    print(f"{pandas_group_by:.3f} s")
    verdict("SUDA against our own group-by", ours / group_by, SUDA_BAR, at_least=False)
    verdict("SUDA against pandas' group-by", ours / pandas_group_by, SUDA_BAR, at_least=False)


def main() -> None:
    options = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    options.add_argument("--quick", action="store_true", help="few rows")
    options.add_argument("--pycanon", metavar="PYTHON", help="a Python that has pycanon")
    given = options.parse_args()
    frame = many_people(20_000 if given.quick else 1_000_000)
    warm = frame[:1000]
    classic_measures(warm, "income", KEYS)
    every_suda_figure(eq.Microdata(warm, confidential="income", keys=KEYS))
    suda(frame)
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        python = given.pycanon or environment(folder / "pycanon")
        differences(python, folder)
        against_pycanon(python, frame, folder)


if __name__ == "__main__":
    main()
