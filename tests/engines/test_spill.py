"""More data than memory: DuckDB writes to a private folder that the caller names, and nothing is left behind."""

from __future__ import annotations

import signal
import stat
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import duckdb
import pytest

import equivoc as eq
from equivoc.engines import duckdb as engine
from equivoc.engines.duckdb import LEAST_MEMORY, Workspace
from equivoc.engines.parquet import parquet_file

DIFFERENT = 1_500_000
"""So many long texts do not fit into the least memory."""


@pytest.fixture(scope="module")
def texts(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("texts") / "texts.parquet"
    duckdb.sql(f"""COPY (SELECT repeat(md5(CAST(i % {DIFFERENT} AS VARCHAR)), 3) AS t, i % 7 AS pay
        FROM range({DIFFERENT} + 10) AS x(i)) TO '{path}' (FORMAT parquet)""")
    return path


def _counted(path: Path, work: Workspace) -> tuple[int, int]:
    """How many texts differ, and how many rows there are."""
    table = parquet_file(path, work)
    groups = rows = 0
    for batch in table.counts({"c": table.value("t")}):
        groups += batch.num_rows
        rows += sum(batch.column(1).to_pylist())
    return groups, rows


def test_what_does_not_fit_is_written_and_removed(
    texts: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    seen: list[tuple[int, int]] = []
    connect = duckdb.connect

    def looked_at(*given: object, **named: dict[str, str]) -> duckdb.DuckDBPyConnection:
        inside = Path(named["config"]["temp_directory"])
        assert inside.parent == tmp_path
        seen.append((stat.S_IMODE(inside.stat().st_mode), len(list(tmp_path.iterdir()))))
        return connect(*given, **named)  # type: ignore[arg-type]

    monkeypatch.setattr(duckdb, "connect", looked_at)
    assert _counted(texts, Workspace(LEAST_MEMORY, tmp_path)) == (DIFFERENT, DIFFERENT + 10)
    assert set(seen) == {(0o700, 1)}
    assert not list(tmp_path.iterdir())
    assert [path.name for path in texts.parent.iterdir()] == ["texts.parquet"]


def test_without_a_folder(texts: Path) -> None:
    with pytest.raises(
        eq.InputError, match=r"within memory_limit, 128MiB: raise memory_limit, or name a folder"
    ):
        _counted(texts, Workspace(LEAST_MEMORY))


def test_a_folder_that_fills_up(texts: Path, tmp_path: Path) -> None:
    with pytest.raises(eq.InputError, match=r"the folder for temporary data, .*, is full; free some space"):
        _counted(texts, Workspace(LEAST_MEMORY, tmp_path, spill_limit=2**20))
    assert not list(tmp_path.iterdir())


def test_a_disk_that_is_full(tmp_path: Path) -> None:
    with (
        pytest.raises(eq.InputError, match=r"the folder for temporary data, .*, is full"),
        engine.reading("people.parquet", Workspace(LEAST_MEMORY, tmp_path)),
    ):
        raise duckdb.IOException('Could not write file "x.tmp": No space left on device')


def test_terminated_while_it_counts(texts: Path, tmp_path: Path) -> None:
    """The folder is removed, and the process still ends by the signal."""
    code = (
        "import sys; from pathlib import Path; from equivoc.engines.parquet import parquet_file\n"
        "from equivoc.engines.duckdb import Workspace\n"
        "table = parquet_file(Path(sys.argv[1]), Workspace(2**27, Path(sys.argv[2])))\n"
        "while True: list(table.counts({'c': table.value('t')}))"
    )
    running = subprocess.Popen([sys.executable, "-c", code, texts, tmp_path])
    while not any(tmp_path.rglob("duckdb_temp*.tmp")):
        assert running.poll() is None
        time.sleep(0.05)
    running.send_signal(signal.SIGTERM)
    assert running.wait(60) == -signal.SIGTERM
    assert not list(tmp_path.iterdir())


@pytest.mark.parametrize(
    ("given", "told"),
    [
        ({"memory_limit": "2"}, "memory_limit is '2'; give a size such as 2GiB"),
        ({"memory_limit": "-2GiB"}, "give a size such as 2GiB"),
        ({"memory_limit": "9" * 400 + "GiB"}, "give a size such as 2GiB"),
        ({"memory_limit": True}, "give a size such as 2GiB"),
        ({"memory_limit": "1KiB"}, "memory_limit is 1,024 bytes; give at least 128MiB"),
        ({"spill": "nowhere"}, "spill: nowhere is not a folder"),
        ({"spill": 3}, "spill is 3; give the path of a folder"),
    ],
)
def test_bad_limits(given: dict[str, object], told: str, texts: Path) -> None:
    with pytest.raises(eq.InputError, match=told):
        eq.read(texts, confidential="pay", keys=["t"], **given)  # type: ignore[arg-type]


def test_a_folder_that_cannot_be_written() -> None:
    """In another process, because root may write everywhere: there it becomes nobody first."""
    code = (
        "import os, pwd; from pathlib import Path\n"
        "from equivoc.engines.parquet import parquet_file; from equivoc.engines.duckdb import workspace\n"
        "def count(spill):\n"
        "    table = parquet_file(Path('people.parquet'), workspace('1GiB', spill))\n"
        "    print(len(list(table.counts({'c': table.value('t')}))))\n"
        "count('open')\n"  # what it imports may be in a folder that only root can enter
        "if os.geteuid() == 0:\n"
        "    who = pwd.getpwnam('nobody')\n"
        "    os.setgroups([]); os.setgid(who.pw_gid); os.setuid(who.pw_uid)\n"
        "count('closed')"
    )
    # Not pytest's folder: only its owner can enter that.
    with tempfile.TemporaryDirectory(prefix="equivoc-spill-") as made:
        folder = Path(made)
        folder.chmod(0o755)
        (folder / "open").mkdir()
        (folder / "closed").mkdir(mode=0o555)
        duckdb.sql(f"COPY (SELECT 'a' AS t) TO '{folder / 'people.parquet'}' (FORMAT parquet)")
        words = [sys.executable, "-c", code]
        done = subprocess.run(words, cwd=folder, capture_output=True, text=True, check=False)
        assert done.stdout == "1\n"
        assert done.stderr.endswith("InputError: spill: closed cannot be written: Permission denied.\n")
        assert not [*(folder / "open").iterdir(), *(folder / "closed").iterdir()]


def test_frames_are_not_limited() -> None:
    frame = duckdb.sql("SELECT 1 AS age, 2 AS pay")
    with pytest.raises(eq.InputError, match="memory_limit and spill are for files"):
        eq.Microdata(frame, confidential="pay", keys=["age"], memory_limit="2GiB")
