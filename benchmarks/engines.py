"""People counted where they lie: how time and memory grow, a limit of memory, and PostgreSQL against its own GROUP BY.

    python benchmarks/engines.py                  # DuckDB: 10 and 100 million rows; PostgreSQL: 5 million
    python benchmarks/engines.py --quick          # small sizes, to test the script; the ratios mean nothing
    python benchmarks/engines.py --only duckdb    # or limit, or postgresql
    python benchmarks/engines.py --shape even     # one shape of the people

Shapes of the people, each with 4 keys of 38,400 combinations and 25 values: ``even`` (all equally likely), ``skewed``
(frequencies of 1/rank), ``text`` (skewed, two keys as text). ``growing`` has 6 keys, so that nearly every person is
different: its memory grows with the number of classes, so it has a hundredth of the rows and no bar for memory.

The data are made by DuckDB in a temporary folder (1 GB for each 100 million rows). Every measurement runs in its own
process after the kernels are compiled, so that its peak memory is its own.
"""

from __future__ import annotations

import argparse
import json
import os
import resource
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

KEYS = {"age": 60, "sex": 2, "education": 16, "industry": 20}
MORE = {"occupation": 25, "travel": 177}
VALUES = 25
MILLION = 1_000_000
SHAPES = ("even", "skewed", "text", "growing")
TIME_BAR, MEMORY_BAR, LIMIT_BAR, SERVER_BAR = 12.0, 1.3, 3.0, 1.5
LIMIT = "2GiB"
RUNS = 3


def statement(rows: int, shape: str) -> str:
    """The people as DuckDB's SQL: levels from 0 on, drawn by a hash of the record's number."""
    levels = {**KEYS, **(MORE if shape == "growing" else {})}
    columns = []
    for at, (name, count) in enumerate(levels.items()):
        share = f"(hash(i * 31 + {at}) % 1000003) / 1000003.0"
        # Level k of 1 … n has a probability of about 1/k: n^share rises like that.
        drawn = (
            f"floor({count} * {share})"
            if shape in ("even", "growing")
            else f"floor(pow({count + 1}, {share}) - 1)"
        )
        level = f"CAST(least({drawn}, {count - 1}) AS SMALLINT)"
        columns.append(
            f"'level ' || {level} AS {name}" if shape == "text" and at > 1 else f"{level} AS {name}"
        )
    columns.append(f"CAST(10 * (1 + hash(i * 31 + 9) % {VALUES}) AS INTEGER) AS salary")
    return f"SELECT {', '.join(columns)} FROM range({rows}) AS numbers(i)"


def write_people(path: Path, rows: int, shape: str) -> None:
    import duckdb

    with duckdb.connect(config={"memory_limit": "2GB", "threads": "2"}) as connection:
        connection.execute(
            f"COPY ({statement(rows, shape)}) TO '{path}' (FORMAT parquet, ROW_GROUP_SIZE {MILLION // 2})"
        )


def assessed(source: str, **given: Any) -> dict[str, float]:
    """Read and assess: how many records and classes there are, and the mean entropy."""
    import equivoc as eq

    keys = [*KEYS, *(MORE if "growing" in source else {})]
    summary = eq.assess(eq.read(source, confidential="salary", keys=keys, **given), eq.Unprotected()).summary
    return {
        "records": summary["records"],
        "classes": summary["classes"],
        "h0": summary["per_record"]["h0"]["mean"],
    }


def grouped(address: str) -> dict[str, float]:
    """PostgreSQL's own GROUP BY through the same driver: how many records and groups there are."""
    from adbc_driver_postgresql import dbapi

    from equivoc.engines.postgresql import parse_address

    names = ", ".join([*KEYS, "salary"])
    with dbapi.connect(parse_address(address).uri) as connection, connection.cursor() as cursor:
        cursor.execute(f"SELECT {names}, CAST(COUNT(*) AS BIGINT) AS n FROM people GROUP BY {names}")
        answer = cursor.fetch_arrow_table()
    return {"records": sum(answer.column("n").to_pylist()), "groups": answer.num_rows}


def measure(work: str, source: str, warm: str, **given: str) -> dict[str, float]:
    """Seconds, peak GiB and the answer of one piece of work in a new process."""
    words = [sys.executable, __file__, "--measure", json.dumps([work, source, warm, given])]
    done = subprocess.run(words, check=True, capture_output=True, text=True)
    measured: dict[str, float] = json.loads(done.stdout)
    return measured


def measure_here(work: str, source: str, warm: str, given: dict[str, str]) -> None:
    run = {"assessed": assessed, "grouped": grouped}[work]
    run(warm, **given)
    started = time.perf_counter()
    answer = run(source, **given)
    seconds = time.perf_counter() - started
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 2**20
    print(json.dumps({"seconds": seconds, "gib": peak, **answer}))


def verdict(what: str, measured: float, bar: float | None) -> None:
    word = "no bar" if bar is None else f"bar {bar:g} ×: {'holds' if measured <= bar else 'MISSED'}"
    print(f"  {what}: {measured:.2f} × ({word})", flush=True)


def shown(what: str, found: dict[str, float]) -> None:
    print(f"  {what}: {found['seconds']:.1f} s, {found['gib']:.2f} GiB", flush=True)


def of_files(shape: str, sizes: tuple[int, int], folder: Path, *, only: str | None) -> None:
    """DuckDB: small against large, and large within a limit of memory."""
    small, large, warm = (folder / f"{shape}-{name}.parquet" for name in ("small", "large", "warm"))
    for path, rows in ((warm, sizes[0] // 50), (small, sizes[0]), (large, sizes[1])):
        write_people(path, rows, shape)
    print(f"{shape}: {sizes[0]:,} and {sizes[1]:,} rows of Parquet", flush=True)
    full = measure("assessed", str(large), str(warm))
    shown(f"large, {full['classes']:,.0f} classes", full)
    if only != "limit":
        less = measure("assessed", str(small), str(warm))
        shown(f"small, {less['classes']:,.0f} classes", less)
        verdict("time, large : small", full["seconds"] / less["seconds"], TIME_BAR)
        verdict(
            "peak memory, large : small",
            full["gib"] / less["gib"],
            None if shape == "growing" else MEMORY_BAR,
        )
    if only != "duckdb":
        spill = folder / "spill"
        spill.mkdir(exist_ok=True)
        limited = measure("assessed", str(large), str(warm), memory_limit=LIMIT, spill=str(spill))
        shown(f"large with memory_limit {LIMIT}", limited)
        if (limited["records"], limited["h0"]) != (full["records"], full["h0"]) or any(spill.iterdir()):
            raise SystemExit("the figures differ, or something was left in the folder")
        verdict("time, limited : unlimited", limited["seconds"] / full["seconds"], LIMIT_BAR)
    for path in (small, large, warm):
        path.unlink()


def of_server(rows: int, shape: str) -> None:
    """PostgreSQL: reading and assessing against the GROUP BY alone."""
    from tests.postgresql_server import running_server

    names = ", ".join([*KEYS, "salary"])
    kinds = ["text" if shape == "text" and at > 1 else "smallint" for at in range(len(KEYS))]
    with running_server() as server:
        os.environ["PGPASSFILE"] = str(server.password_file)
        typed = ", ".join(f"{name} {kind}" for name, kind in zip(KEYS, kinds, strict=True))
        for table, size in (("warm", rows // 50), ("people", rows)):
            with tempfile.NamedTemporaryFile("w", suffix=".csv", dir=server.folder) as file:
                import duckdb

                duckdb.sql(f"COPY ({statement(size, shape)}) TO '{file.name}' (FORMAT csv, HEADER false)")
                server.run(f"""
                    CREATE TABLE {table} ({typed}, salary integer);
                    \\copy {table} ({names}) FROM '{file.name}' (FORMAT csv)
                    VACUUM ANALYZE {table};
                    GRANT SELECT ON {table} TO reader;
                """)
        people, warm = server.address("people"), server.address("warm")
        # In turn, so that another program on the machine slows down both.
        runs = [(measure("grouped", people, people), measure("assessed", people, warm)) for _ in range(RUNS)]
        plain, ours = (min(each, key=lambda found: found["seconds"]) for each in zip(*runs, strict=True))
    if plain["records"] != ours["records"]:
        raise SystemExit("the counts differ")
    print(
        f"{shape}: {rows:,} rows in PostgreSQL, {plain['groups']:,.0f} groups; the best of {RUNS} runs each"
    )
    shown("its own GROUP BY", plain)
    shown("read and assessed", ours)
    verdict("time, assess : GROUP BY", ours["seconds"] / plain["seconds"], SERVER_BAR)


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--quick", action="store_true", help="small sizes, to test the script")
    parser.add_argument("--only", choices=["duckdb", "limit", "postgresql"])
    parser.add_argument("--shape", choices=SHAPES, help="one shape; default: all")
    parser.add_argument("--measure", help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.measure:
        measure_here(*json.loads(options.measure))
        return
    million = MILLION // 100 if options.quick else MILLION
    for shape in (options.shape,) if options.shape else SHAPES:
        if options.only != "postgresql":
            with tempfile.TemporaryDirectory() as folder:
                rows = million // 100 if shape == "growing" else million
                of_files(shape, (10 * rows, 100 * rows), Path(folder), only=options.only)
        if options.only in (None, "postgresql") and shape != "growing":
            of_server(5 * million, shape)


if __name__ == "__main__":
    main()
