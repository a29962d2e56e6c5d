"""The session behind the page: the state, the warm processes and the jobs, and what each request does to them."""

from __future__ import annotations

import asyncio
import json
import secrets
from contextlib import suppress
from dataclasses import asdict
from pathlib import Path
from time import monotonic
from typing import Any

from equivoc.errors import InputError
from equivoc.files import check_readable, new_folder, replacing
from equivoc.reading.reading import TwoReadingsError
from equivoc.web.jobs import RESULT, Jobs
from equivoc.web.people_spec import PeopleSpec
from equivoc.web.roles import (
    checked_reading,
    checked_roles,
    checked_settings,
    checked_view,
    people_spec,
    same_people,
)
from equivoc.web.state import VIEW, State, merged
from equivoc.web.warm_process import READING, AnswerError, WarmProcess

QUIET = 0.7
"""Seconds without a new question after which the strongest intruder is tried."""
STRONGEST_KEPT = 12
STRONGEST_PATIENCE = 3600.0
STRONGEST_FIELDS = ["knowledge", "contributions", "utility", "curve", "measures", "advice", "together"]


class SupersededError(Exception):
    """A newer question of the same kind has come."""


class Session:
    """One data owner's work, shared by all tabs. All methods run in one event loop."""

    def __init__(self, folder: Path, *, keep: bool) -> None:
        self.folder = folder
        self.state = State(folder, keep=keep)
        self.live, self.detail, self.background = (
            WarmProcess(),
            WarmProcess(patient=True),
            WarmProcess(patient=True),
        )
        self.opening = asyncio.Lock()
        """Held while one file replaces another."""
        self._detailing = asyncio.Lock()
        self._detail_spec: PeopleSpec | None = None
        self._background_spec: PeopleSpec | None = None
        self._newest: dict[str, Any] = {}
        self.jobs = Jobs(self.state, self.spec)
        self._strongest: asyncio.Task[None] | None = None
        self._tasks: set[asyncio.Task[Any]] = set()
        self._answers: dict[str, Any] = {}

    def spec(self) -> PeopleSpec | None:
        """How the people are read; None if there are none."""
        content = self.state.content
        if content["people"] is None or "error" in content["people"]:
            return None
        return people_spec(content, self.folder)

    async def begin(self, given: Path | None) -> None:
        """Go on where the last server ended; a file given at the start replaces another one."""
        file = self.state.content["file"]
        if given is not None and (file is None or file["_path"] != str(given.resolve())):
            await self.open_file(given.resolve(), name=given.name, given=True)
        elif file is not None and not Path(file["_path"]).is_file():
            self.close_file()
        elif self.spec() is not None:
            await self._read_people()
        self.jobs.begin()
        self._soon(self._warm())

    async def _warm(self) -> None:
        with suppress(AnswerError, InputError):
            await self.live.ask("warm")

    def end(self) -> None:
        """Stop all processes; the state is on disk. It may be called twice, and after the event loop has ended."""
        for task in (*self._tasks, *([] if self._strongest is None else [self._strongest])):
            if not task.done():
                task.cancel()
        self.jobs.end()
        for process in (self.live, self.detail, self.background):
            process.end()

    def _soon(self, work: Any) -> None:
        task = asyncio.get_running_loop().create_task(work)
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)

    # The file and its roles

    async def open_file(self, path: Path, *, name: str, given: bool, reading: Any = None) -> None:
        """Look at a file and guess the roles of its columns. It replaces the one before, unless it cannot be read."""
        check_readable(path)
        found = await self._preview(path, name, checked_reading(reading or {}))
        self.close_file(but=path)
        self.state.set(
            file={
                "name": name,
                "bytes": path.stat().st_size,
                "rows": found["rows"],
                "sampled": found["sampled"],
                "uploaded": not given,
                "given": given,
                "_path": str(path),
            },
            columns=found["columns"],
            reading=found["reading"],
            roles=_guessed_roles(found["columns"]),
            people=None,
            view=dict(VIEW),
        )

    async def _preview(self, path: Path, name: str, reading: dict[str, Any]) -> Any:
        asked = {"path": str(path), "name": name, "reading": reading}
        return await self.live.ask("preview", asked, patience=READING)

    async def set_reading(self, given: Any) -> None:
        """Read the file in another way: its columns, and the people if they were read. InputError changes nothing."""
        async with self.opening:
            content = self.state.content
            file, before = content["file"], content["columns"]
            if file is None:
                raise InputError("there is no file yet: open one first.")
            found = await self._preview(Path(file["_path"]), file["name"], checked_reading(given))
            columns = found["columns"]
            self._supersede()
            self.jobs.clear()
            self._answers.clear()
            self.live.forget()
            roles = _guessed_roles(columns)
            again = False
            if [each["name"] for each in before] == [each["name"] for each in columns]:
                again = content["people"] is not None
                if content["roles"] != _guessed_roles(before):
                    roles = content["roles"]  # the user has chosen them
            else:
                for each in list(content["hierarchies"]):
                    self.remove_hierarchy(each["name"])
            self.state.set(
                file={**file, "rows": found["rows"], "sampled": found["sampled"]},
                columns=columns,
                reading=found["reading"],
                roles=roles,
                people=None,
                view={**VIEW, "tab": content["view"]["tab"], "require": content["view"]["require"]},
                strongest=None,
            )
            if again and roles is not None:
                with suppress(InputError):  # the state says what is wrong
                    await self._set_roles(roles)

    def close_file(self, *, but: Path | None = None) -> None:
        """Forget the file, the people and all that was computed from them; an upload ``but`` stays.

        A file given by its path is not touched.
        """
        self._supersede()
        self.jobs.clear()
        for file in (*(self.folder / "data").iterdir(), *(self.folder / "hierarchies").iterdir()):
            if file != but and not file.name.startswith("."):  # with a dot: an upload that is just arriving
                file.unlink(missing_ok=True)
        self._answers.clear()
        self.live.forget()
        self.state.set(
            file=None,
            columns=[],
            reading=None,
            roles=None,
            hierarchies=[],
            people=None,
            view=dict(VIEW),
            settings=[],
            strongest=None,
        )

    async def set_roles(self, given: Any) -> None:
        """Give the columns their roles and read the people. InputError leaves the former people as they were."""
        async with self.opening:  # a file that is just arriving has its own columns
            await self._set_roles(given)

    async def _set_roles(self, given: Any) -> None:
        content = self.state.content
        if content["file"] is None:
            raise InputError("there is no file yet: open one first.")
        roles = checked_roles(given, content["columns"], content["hierarchies"])
        spec = people_spec({**content, "roles": roles}, self.folder)
        former = content["roles"] if self.spec() is not None else None
        try:
            people = await self.live.people(spec)
        except InputError as mistake:
            self.state.set(roles=roles, people=_problem(mistake))
            raise
        self._supersede()
        if not same_people(former, roles):
            self.jobs.clear()
        if former != roles:
            self.state.set(strongest=None)
        self._answers.clear()
        view = {**content["view"], "class": None}
        before = None if former is None else set(former["keys"])
        # A key that was not known stays so; a new key is known.
        view["known"] = [
            name
            for name in roles["keys"]
            if before is None or name not in before or view["known"] is None or name in view["known"]
        ]
        if view["eps"] is None or former is None or former["confidential"] != roles["confidential"]:
            view["eps"] = people["eps"][-1]
        self.state.set(roles=roles, people=people, view=view)

    async def _read_people(self) -> None:
        try:
            people = await self.live.people(people_spec(self.state.content, self.folder))
        except (InputError, AnswerError) as mistake:
            people = _problem(mistake)
        self.state.set(people=people)

    async def patch(self, given: Any) -> None:
        """Change what the page may change: view, settings, roles."""
        if not isinstance(given, dict) or set(given) - {"view", "settings", "roles"}:
            raise InputError("only view, settings and roles can be changed.")
        content = self.state.content
        parts: dict[str, Any] = {}
        if "view" in given:
            parts["view"] = checked_view(merged(content["view"], given["view"]))
        if "settings" in given:
            parts["settings"] = checked_settings(given["settings"])
        if "roles" in given:
            await self.set_roles(merged(content["roles"], given["roles"]))
        if parts:
            self.state.set(**parts)

    # Hierarchies

    async def add_hierarchy(self, name: str, column: str, text: bytes) -> None:
        """An uploaded hierarchy; its name is not used as a path."""
        self._check_column(column)
        file = f"{secrets.token_hex(8)}.csv"
        path = self.folder / "hierarchies" / file
        with replacing(path, private=True) as temporary:
            temporary.write_bytes(text)
        try:
            found = await self.live.ask("hierarchy", {"path": str(path), "name": name, "column": column})
        except InputError:
            path.unlink(missing_ok=True)
            raise
        self._add(
            {"name": name, "column": column, "levels": found["levels"], "made": "uploaded", "_file": file}
        )

    async def add_intervals(self, given: Any) -> None:
        """A hierarchy of nested intervals."""
        if not isinstance(given, dict) or not isinstance(given.get("widths"), list):
            raise InputError('give a column and widths, such as {"column": "age", "widths": [5, 10]}.')
        column = str(given.get("column"))
        self._check_column(column)
        found = await self.live.ask("intervals", {"widths": given["widths"]})
        made = {
            "name": found["text"],
            "column": column,
            "levels": found["levels"],
            "made": f"intervals {found['text']}",
        }
        self._add({**made, "_file": None, "_widths": found["text"]})

    def remove_hierarchy(self, name: str) -> None:
        """Forget a hierarchy."""
        found = [each for each in self.state.content["hierarchies"] if each["name"] == name]
        if not found:
            raise InputError("there is no such hierarchy.")
        for each in found:
            if each["_file"]:
                (self.folder / "hierarchies" / each["_file"]).unlink(missing_ok=True)
        self.state.set(
            hierarchies=[each for each in self.state.content["hierarchies"] if each["name"] != name]
        )

    def _check_column(self, column: str) -> None:
        if column not in [each["name"] for each in self.state.content["columns"]]:
            raise InputError(f"there is no column {column!r}.")

    def _add(self, hierarchy: dict[str, Any]) -> None:
        before = self.state.content["hierarchies"]
        others = [
            each
            for each in before
            if each["column"] != hierarchy["column"] and each["name"] != hierarchy["name"]
        ]
        self.state.set(hierarchies=[*others, hierarchy])
        for each in before:
            if each not in others and each["_file"]:
                (self.folder / "hierarchies" / each["_file"]).unlink(missing_ok=True)

    # Live answers

    async def assess(self, given: dict[str, Any]) -> Any:
        """The figures for the informed intruder; the strongest follows when the page is quiet for a moment."""
        asked = {**given, "intruder": "informed"}
        later = asked.pop("fields", None)
        if later:
            return await self._later({**asked, "fields": later})
        found = await self._remembered("assess", asked)
        self._follow(found["key"], asked)
        return found

    async def _later(self, asked: dict[str, Any]) -> Any:
        """Figures that take longer, from a process of their own; only the newest question is answered."""
        self._newest = asked
        async with self._detailing:
            if self._newest is not asked:
                raise SupersededError
            await self._hold_details()
            return await self.detail.ask("assess", asked, patience=STRONGEST_PATIENCE)

    async def proposed(self, given: dict[str, Any]) -> Any:
        """Settings to begin a comparison with, tried one after the other in the process for longer questions."""
        async with self._detailing:
            await self._hold_details()
            return await self.detail.ask("proposed", given, patience=STRONGEST_PATIENCE)

    async def _hold_details(self) -> None:
        """Have the process for longer questions hold these people."""
        spec = self.spec()
        if self._detail_spec != spec:
            self._detail_spec = None
            await self.detail.people(spec)
            self._detail_spec = spec

    async def explore(self, given: dict[str, Any]) -> Any:
        """The figures at one tolerance."""
        return await self.live.ask("explore", given)

    async def limits(self, given: dict[str, Any]) -> Any:
        """Limits to propose for rules."""
        return await self._remembered("limits", given)

    async def levels(self) -> Any:
        """The values of each key."""
        return await self._remembered("levels", {})

    async def catalogue(self) -> Any:
        """What the page offers."""
        return await self._remembered("catalogue", {"people": self.spec() is not None})

    async def calls(self, given: dict[str, Any]) -> Any:
        """The calls that repeat what is on the screen, or the job that ``given`` describes."""
        return await self.live.ask("calls", (self.state.content, given))

    async def _remembered(self, name: str, given: dict[str, Any]) -> Any:
        key = json.dumps([name, given], sort_keys=True)
        if key not in self._answers:
            found = await self.live.ask(name, given)
            if len(self._answers) > 64:
                self._answers.pop(next(iter(self._answers)))
            self._answers[key] = found
        return self._answers[key]

    # The strongest intruder

    def _supersede(self) -> None:
        """Stop the search for the strongest intruder, if it runs."""
        if self._strongest is not None and not self._strongest.done():
            self._strongest.cancel()
            self.background.restart()
        self._strongest = None

    def _follow(self, key: str, asked: dict[str, Any]) -> None:
        current = self.state.content["strongest"]
        if current is not None and current["key"] == key:
            return
        self._supersede()
        done = next(
            (
                job
                for job in self.state.content["jobs"]
                if job["kind"] == "strongest" and job["request"].get("key") == key and job["status"] == "done"
            ),
            None,
        )
        if done is not None:
            self.state.set(strongest={"key": key, "job": done["id"]})
            return
        self.state.set(strongest={"key": key, "job": None})
        self._strongest = asyncio.get_running_loop().create_task(self._find_strongest(key, asked))

    async def _find_strongest(self, key: str, asked: dict[str, Any]) -> None:
        await asyncio.sleep(QUIET)
        begin = monotonic()
        self._drop_strongest()
        name = self.jobs.entry("strongest", {"key": key}, status="running", text="trying every intruder")
        self.state.set(strongest={"key": key, "job": name})
        try:
            spec = self.spec()
            if self._background_spec != spec:
                self._background_spec = None
                await self.background.people(spec)
                self._background_spec = spec
            request = {**asked, "intruder": "strongest", "fields": STRONGEST_FIELDS}
            found = await self.background.ask("assess", request, patience=STRONGEST_PATIENCE)
            home = self.jobs.folder(name)
            new_folder(home, private=True)
            with replacing(home / RESULT, private=True) as temporary:
                temporary.write_text(json.dumps(found, allow_nan=False), encoding="utf-8")
            self.jobs.finish(name, seconds=monotonic() - begin)
        except asyncio.CancelledError:
            with suppress(InputError):
                self.jobs.delete(name)
            raise
        except (InputError, AnswerError) as problem:
            self.jobs.update(name, status="failed", text=str(problem))

    def _drop_strongest(self) -> None:
        """Keep only the last results of this kind."""
        every = [job["id"] for job in self.state.content["jobs"] if job["kind"] == "strongest"]
        for name in every[: max(0, len(every) - STRONGEST_KEPT)]:
            self.jobs.delete(name)


def _problem(mistake: Exception) -> dict[str, Any]:
    """Why there are no people, with what can be said if two readings fit."""
    answers = mistake.answers if isinstance(mistake, TwoReadingsError) else ()
    return {"error": str(mistake), "answers": [asdict(each) for each in answers]}


def _guessed_roles(columns: list[dict[str, Any]]) -> dict[str, Any] | None:
    """The roles as they are guessed; None if no column can be confidential."""
    by_role: dict[str, list[dict[str, Any]]] = {}
    for column in columns:
        by_role.setdefault(column["guess"]["role"], []).append(column)
    confidential = by_role.get("confidential")
    if not confidential:
        return None
    weights, group = by_role.get("weights"), by_role.get("group")
    return {
        "confidential": confidential[0]["name"],
        "kind": {
            "kind": confidential[0]["guess"]["kind"],
            "round_to": None,
            "unit": "",
            "levels": None,
            "hierarchy": None,
        },
        "also": [],
        "keys": [column["name"] for column in by_role.get("key", [])],
        "weights": weights[0]["name"] if weights else None,
        "group": group[0]["name"] if group else None,
        "drop_missing": confidential[0]["nulls"] > 0,
    }
