"""Files of other programs: all columns as Arrow against the format's own library, and the memory for many more rows.

.venv/bin/python benchmarks/formats.py [rows] [many]
"""

from __future__ import annotations

import multiprocessing
import sys
import tempfile
import time
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import numpy as np

SLOWEST = 3.0
"""Times as long as the library."""
MOST = 2.0
"""Times the memory of a tenth of the rows."""


def made(rows: int) -> Any:
    """Ten columns: seven of codes, an income with cents, a text, a date."""
    import pandas as pd

    rng = np.random.default_rng(0)
    columns: dict[str, Any] = {f"code{at}": rng.integers(0, 5 * 2**at, rows).astype(float) for at in range(7)}
    columns["income"] = rng.lognormal(8, 1, rows).round(2)
    columns["region"] = rng.choice(["north", "south", "east"], rows)
    columns["born"] = pd.to_datetime("1950-01-01") + pd.to_timedelta(rng.integers(0, 20_000, rows), unit="D")
    return pd.DataFrame(columns)


def written(folder: Path, rows: int, *, few: bool = False) -> dict[str, Path]:
    """The same people as .dta (by pandas) and .sav (by pyreadstat), with all columns or with those of `people`."""
    import pyreadstat

    frame = made(rows)[["code2", "region", "income"]] if few else made(rows)
    files = {name: folder / f"people-{rows}.{name}" for name in ("dta", "sav")}
    frame.to_stata(files["dta"], write_index=False, convert_dates={} if few else {"born": "td"})
    pyreadstat.write_sav(frame, str(files["sav"]), row_compress=True)
    return files


def library(path: Path) -> None:
    import pyreadstat

    (pyreadstat.read_dta if path.suffix == ".dta" else pyreadstat.read_sav)(str(path))


def ours(path: Path) -> None:
    from equivoc.reading.formats.opening import open_format

    table = open_format(path)
    assert table is not None
    for _ in table.batches(table.names):
        pass


def people(path: Path) -> None:
    import equivoc as eq

    eq.read(path, confidential="income", keys=["code2", "region"], round_to=100)


READERS: Mapping[str, Callable[[Path], None]] = {"library": library, "ours": ours, "people": people}


def measured(reader: str, path: Path) -> tuple[float, float]:
    """Seconds, and the most MiB that a process of its own held."""
    with multiprocessing.get_context("spawn").Pool(1) as pool:
        return pool.apply(_measured, (reader, path))


def _measured(reader: str, path: Path) -> tuple[float, float]:
    import pandas  # noqa: F401  (part of every run, not of what is measured)
    import pyreadstat  # noqa: F401

    import equivoc.data.microdata  # noqa: F401

    begin = time.perf_counter()
    READERS[reader](path)
    seconds = time.perf_counter() - begin
    # Not ru_maxrss, which begins at the memory of the process that started this one.
    lines = Path("/proc/self/status").read_text(encoding="utf-8").splitlines()
    return seconds, next(int(line.split()[1]) for line in lines if line.startswith("VmHWM")) / 1024


def main() -> int:
    """Print the table; 1 if a bar is missed."""
    rows = int(sys.argv[1]) if len(sys.argv) > 1 else 1_000_000
    many = int(sys.argv[2]) if len(sys.argv) > 2 else 0
    missed = False
    with tempfile.TemporaryDirectory(prefix="formats-") as made_here:
        print(f"{rows:,} rows, 10 columns; seconds (most MiB)\n")
        print(
            "| file | library | all columns, ours | ratio | bar | people of three columns |\n|---|---|---|---|---|---|"
        )
        peaks = {}
        for name, path in written(Path(made_here), rows).items():
            times = {reader: min(measured(reader, path) for _ in range(3)) for reader in READERS}
            ratio = times["ours"][0] / times["library"][0]
            missed |= ratio > SLOWEST
            peaks[name] = times["people"][1]
            shown = {reader: f"{seconds:.2f} ({memory:.0f})" for reader, (seconds, memory) in times.items()}
            print(
                f"| .{name} | {shown['library']} | {shown['ours']} | {ratio:.2f} | {SLOWEST:g} | {shown['people']} |",
                flush=True,
            )
        if many:
            print(
                f"\n{many:,} rows of three columns: people; seconds (most MiB)\n\n| file | people |\n|---|---|"
            )
            for name, path in written(Path(made_here), many, few=True).items():
                seconds, memory = measured("people", path)
                missed |= memory > MOST * peaks[name]
                print(f"| .{name} | {seconds:.1f} ({memory:.0f}; bar {MOST * peaks[name]:.0f}) |", flush=True)
    return int(missed)


if __name__ == "__main__":
    sys.exit(main())
