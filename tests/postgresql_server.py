"""A real PostgreSQL server for tests: its own folder, a socket in it, no TCP, passwords required."""

from __future__ import annotations

import os
import pwd
import shutil
import subprocess
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from urllib.parse import quote

import pytest

PASSWORDS = {"owner": "the owner's password", "reader": "the reader's password"}
"""``owner`` is the superuser; ``reader`` may connect, and read what a test grants."""
DATABASE = "census"


@dataclass(frozen=True)
class PostgresqlServer:
    """A running server."""

    programs: Path
    folder: Path

    @property
    def password_file(self) -> Path:
        """For the variable PGPASSFILE."""
        return self.folder / "passwords"

    def run(self, sql: str, *, database: str = DATABASE) -> str:
        """What the superuser's statements print."""
        address = ["--host", str(self.folder), "--username", "owner", "--dbname", database]
        done = subprocess.run(
            [self.programs / "psql", *address, "--no-psqlrc", "--tuples-only", "--no-align"],
            input=f"\\set ON_ERROR_STOP on\n{sql}",
            env={**os.environ, "PGPASSFILE": str(self.password_file)},
            capture_output=True,
            text=True,
            check=False,
        )
        assert done.returncode == 0, done.stderr
        return done.stdout

    def address(self, table: str, **others: str) -> str:
        """The table's address for the role ``reader``."""
        given = {"table": table, "host": str(self.folder), "user": "reader", **others}
        return f"postgresql:///{DATABASE}?" + "&".join(f"{k}={quote(v, safe='/')}" for k, v in given.items())


def _programs() -> Path | None:
    """The folder of initdb and pg_ctl; Debian has one for each version, the newest is taken."""
    newest = sorted(
        Path("/usr/lib/postgresql").glob("*/bin/initdb"), key=lambda file: float(file.parts[-3]), reverse=True
    )
    on_path = shutil.which("initdb")
    return newest[0].parent if newest else None if on_path is None else Path(on_path).resolve().parent


def _user() -> dict[str, int]:
    """For subprocess: the server refuses to run as root, so root runs it as somebody else."""
    if os.geteuid() != 0:
        return {}
    for name in ("postgres", "nobody"):
        try:
            found = pwd.getpwnam(name)
        except KeyError:
            continue
        return {"user": found.pw_uid, "group": found.pw_gid}
    pytest.skip("PostgreSQL does not run as root, and there is no user postgres or nobody")


@pytest.fixture(scope="session")
def postgresql_server() -> Iterator[PostgresqlServer]:
    with running_server() as server:
        yield server


@contextmanager
def running_server() -> Iterator[PostgresqlServer]:
    """A new server, stopped and removed afterwards."""
    programs = _programs()
    if programs is None:
        pytest.skip("there are no programs of a PostgreSQL server (initdb, pg_ctl) here")
    user = _user()
    # Not pytest's folder: only its owner can enter that, and a socket's path must be short.
    folder = Path(tempfile.mkdtemp(prefix="equivoc-pg-"))
    server = PostgresqlServer(programs, folder)
    server.password_file.write_text("".join(f"*:*:*:{name}:{word}\n" for name, word in PASSWORDS.items()))
    server.password_file.chmod(0o600)
    first = folder / "first"
    first.write_text(PASSWORDS["owner"])
    if user:
        for file in (folder, first):
            os.chown(file, user["user"], user["group"])

    def call(program: str, *words: str) -> None:
        done = subprocess.run(
            [programs / program, *words],
            cwd=folder,
            env={"PATH": os.environ["PATH"], "LC_ALL": "C"},
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE if program == "initdb" else subprocess.DEVNULL,
            stderr=subprocess.STDOUT,
            text=True,
            check=False,
            **user,  # type: ignore[call-overload]
        )
        assert done.returncode == 0, done.stdout

    data = str(folder / "data")
    settings = f"-c listen_addresses='' -c unix_socket_directories='{folder}' -c fsync=off"
    try:
        call(
            "initdb", "-D", data, "--no-sync", "--no-locale", "--encoding=UTF8", "--username=owner",
            "--auth=scram-sha-256", f"--pwfile={first}",
        )  # fmt: skip
        call("pg_ctl", "-D", data, "-w", "-l", str(folder / "log"), "-o", settings, "start")
        server.run(f"CREATE DATABASE {DATABASE}", database="postgres")
        server.run(
            "CREATE ROLE reader LOGIN PASSWORD '" + PASSWORDS["reader"].replace("'", "''") + "';"
            "REVOKE CREATE ON SCHEMA public FROM PUBLIC;"
        )
        yield server
    finally:
        if (folder / "data" / "postmaster.pid").exists():
            call("pg_ctl", "-D", data, "-m", "immediate", "stop")
        shutil.rmtree(folder, ignore_errors=True)
