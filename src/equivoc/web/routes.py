"""The routes under /api: the state, the file, live answers, jobs."""

from __future__ import annotations

import secrets
import shutil
from collections.abc import Awaitable, Callable, Iterator
from functools import cache
from importlib.resources import files
from importlib.resources.abc import Traversable
from pathlib import Path
from typing import Any, BinaryIO

from fastapi import Request
from fastapi.responses import FileResponse, HTMLResponse, JSONResponse, RedirectResponse, Response
from starlette.concurrency import run_in_threadpool
from starlette.requests import ClientDisconnect

from equivoc.errors import InputError
from equivoc.serving.serving import RequestError, limited_body, parsed_json
from equivoc.web.guard import Doorkeeper, cookie_name
from equivoc.web.session import Session

# The page itself: its files, the charts' script, and the exchange of a token for the cookie.

TYPES = {
    ".html": "text/html; charset=utf-8",
    ".css": "text/css; charset=utf-8",
    ".js": "text/javascript; charset=utf-8",
    ".svg": "image/svg+xml",
    ".png": "image/png",
}
POLICY = (
    "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data: blob:; connect-src 'self'; "
    "font-src 'none'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'"
)
"""The page loads its own files and talks to this server, nothing else."""
CHARTS = "charts.js"
NEW_ADDRESS = (
    "<p>A new address for this browser: press <b>Enter</b> in the terminal where <code>equivoc serve</code> runs, or "
    "press <b>Open in another browser</b> at the bottom of the page where it is open already. It works once.</p></html>"
)
_TITLE = "<!doctype html><html lang='en'><meta charset='utf-8'><title>equivoc</title>"
NO_TOKEN = (
    f"{_TITLE}<h1>This browser does not know the page yet</h1><p>Open the address that <code>equivoc serve</code> has "
    "printed in the terminal: it ends in <code>?token=…</code>. It keeps other people and other pages away from your "
    f"data.</p>{NEW_ADDRESS}"
)
USED_TOKEN = (
    f"{_TITLE}<h1>This address does not work any more</h1><p>Each address with a token works once, so that nobody can "
    "use one that was left in a browser's history. This one was used, or is of an earlier start. If you have not "
    f"used it, somebody else has: stop <code>equivoc serve</code> and start it again.</p>{NEW_ADDRESS}"
)

Handler = Callable[[Request], Awaitable[Response]]


def page_routes(
    doorkeeper: Doorkeeper, guarded: Callable[[Handler], Handler]
) -> Iterator[tuple[str, str, Handler]]:
    """The path, the method and the handler of each route."""

    async def start(request: Request) -> Response:
        given = request.query_params.get("token")
        known = doorkeeper.knows(request)
        if given is not None:
            secret = doorkeeper.exchange(given)
            if secret is None and not known:
                return HTMLResponse(USED_TOKEN, status_code=401)
            answer = RedirectResponse("/", status_code=303)
            if secret is not None:
                answer.set_cookie(cookie_name(request), secret, httponly=True, samesite="strict", path="/")
            return answer
        if not known:
            return HTMLResponse(NO_TOKEN, status_code=401)
        return HTMLResponse(page_files()["index.html"], headers={"content-security-policy": POLICY})

    async def entrance(request: Request) -> Response:
        """A path for another browser; it works once."""
        return JSONResponse({"path": f"/?token={doorkeeper.new_token()}"})

    async def file(request: Request) -> Response:
        name = request.path_params["name"]
        if name == CHARTS:
            return Response(await run_in_threadpool(charts_script), media_type=TYPES[".js"])
        content = page_files().get(name)
        if content is None:
            raise RequestError(404, "the page has no such file.")
        return Response(content, media_type=TYPES["." + name.rsplit(".", 1)[1]])

    yield "/", "GET", start
    yield "/api/entrance", "POST", guarded(entrance)
    yield "/page/{name:path}", "GET", guarded(file)


@cache
def page_files() -> dict[str, bytes]:
    """The packaged files of the page by their path in it: nothing else is served."""
    return dict(_files_in(files("equivoc.web").joinpath("page")))


def _files_in(folder: Traversable, above: str = "") -> Iterator[tuple[str, bytes]]:
    for each in folder.iterdir():
        if each.is_dir():
            yield from _files_in(each, f"{above}{each.name}/")
        elif "." + each.name.rsplit(".", 1)[-1] in TYPES:
            yield above + each.name, each.read_bytes()


@cache
def charts_script() -> str:
    """The script that draws charts, as in reports; it evaluates expressions without eval."""
    from equivoc.render.page import chart_bundle

    return chart_bundle()


# An upload: streamed to the private folder, limited, and removed if it does not arrive whole.

PIECE = 4 << 20
"""Bytes that are written at a time; the sender waits meanwhile."""
SPARE = 256 << 20
"""Bytes that stay free on the disk."""


async def receive_file(request: Request, session: Session, *, name: str, reading: Any, most: int) -> None:
    """Store an upload in the private folder and open it, read as ``reading`` says; it replaces the file before.

    Its format is that of its first bytes. What does not arrive whole, or cannot be read, is removed, and the file
    before stays open.
    """
    length = request.headers.get("content-length", "")
    expected = int(length) if length.isdigit() else None
    if expected is not None:
        _check_size(expected, session.folder, most)
    data, name_here = session.folder / "data", secrets.token_hex(8)
    half = data / f".equivoc-{name_here}"
    try:
        with half.open("xb") as file:
            half.chmod(0o600)
            received = await _receive(request, file, session.folder, most)
        if expected is not None and received != expected:
            raise RequestError(400, "the upload ended too early; try again.")
        async with session.opening:
            parquet = await run_in_threadpool(_is_parquet, half)
            path = data / f"{name_here}{'.parquet' if parquet else '.csv'}"
            half.replace(path)
            try:
                await session.open_file(path, name=name, given=False, reading=reading)
            except BaseException:
                path.unlink(missing_ok=True)
                raise
    except ClientDisconnect:
        raise RequestError(400, "the upload was broken off.") from None
    except OSError as problem:
        raise InputError(f"the upload cannot be stored: {problem.strerror}.") from None
    finally:
        half.unlink(missing_ok=True)


async def _receive(request: Request, file: BinaryIO, folder: Path, most: int) -> int:
    received, pieces = 0, bytearray()
    async for piece in request.stream():
        pieces += piece
        received += len(piece)
        if received > most:
            raise _too_large(most)
        if len(pieces) >= PIECE:
            await run_in_threadpool(file.write, bytes(pieces))
            pieces.clear()
            _check_size(0, folder, most)
    await run_in_threadpool(file.write, bytes(pieces))
    return received


def _check_size(expected: int, folder: Path, most: int) -> None:
    if expected > most:
        raise _too_large(most)
    if shutil.disk_usage(folder).free < expected + SPARE:
        raise RequestError(413, "there is too little space on the disk for this file.", Connection="close")


def _too_large(most: int) -> RequestError:
    return RequestError(
        413,
        f"a file of at most {most / 2**30:,.3g} GiB is accepted; start equivoc serve with a larger --most-upload.",
        Connection="close",
    )


def _is_parquet(path: Path) -> bool:
    with path.open("rb") as file:
        return file.read(4) == b"PAR1"


BODY_LIMIT = 1 << 20
SQL_LIMIT = 4 << 20
HIERARCHY_LIMIT = 16 << 20


def api_routes(session: Session, *, most_upload: int) -> Iterator[tuple[str, str, Handler]]:
    """The path, the method and the handler of each route."""

    def state() -> Response:
        return JSONResponse(session.state.shown())

    async def get_state(request: Request) -> Response:
        """The state; nothing if it is the one that the page has ``seen``."""
        if request.query_params.get("seen") == session.state.mark:
            return Response(status_code=204)
        return state()

    async def patch_state(request: Request) -> Response:
        await session.patch(await _json(request))
        return state()

    async def upload(request: Request) -> Response:
        reading = parsed_json(request.query_params.get("reading", "{}").encode(), "reading must be JSON.")
        await receive_file(request, session, name=_name(request), reading=reading, most=most_upload)
        return state()

    async def delete_file(request: Request) -> Response:
        session.close_file()
        return state()

    async def roles(request: Request) -> Response:
        await session.set_roles(await _json(request))
        return state()

    async def reading(request: Request) -> Response:
        await session.set_reading(await _json(request))
        return state()

    async def hierarchy(request: Request) -> Response:
        name, column = _name(request), request.query_params.get("column", "")
        await session.add_hierarchy(name, column, await limited_body(request, HIERARCHY_LIMIT))
        return state()

    async def intervals(request: Request) -> Response:
        await session.add_intervals(await _json(request))
        return state()

    async def delete_hierarchy(request: Request) -> Response:
        session.remove_hierarchy(request.path_params["name"])
        return state()

    async def catalogue(request: Request) -> Response:
        return JSONResponse(await session.catalogue())

    async def assess(request: Request) -> Response:
        return JSONResponse(await session.assess(await _object(request)))

    async def explore(request: Request) -> Response:
        return JSONResponse(await session.explore(await _object(request)))

    async def limits(request: Request) -> Response:
        return JSONResponse(await session.limits(await _object(request)))

    async def proposed(request: Request) -> Response:
        return JSONResponse(await session.proposed(await _object(request)))

    async def classes(request: Request) -> Response:
        return JSONResponse(await session.levels())

    async def add_job(request: Request) -> Response:
        return JSONResponse({"id": session.jobs.add(await _object(request, SQL_LIMIT))}, status_code=202)

    def of_job(act: Callable[[str], None]) -> Handler:
        async def acting(request: Request) -> Response:
            name = request.path_params["id"]
            _there(session, name)
            act(name)
            return state()

        return acting

    async def result(request: Request) -> Response:
        name = request.path_params["id"]
        _there(session, name)
        return Response(session.jobs.result(name), media_type="application/json")

    async def download(request: Request) -> Response:
        name, file = request.path_params["id"], request.path_params["file"]
        _there(session, name)
        try:
            path = session.jobs.file(name, file)
        except InputError as mistake:
            raise RequestError(404, str(mistake)) from None
        return FileResponse(path, filename=file, media_type="application/octet-stream")

    async def offered_calls(request: Request) -> Response:
        return JSONResponse(await session.calls(dict(request.query_params)))

    async def calls_of(request: Request) -> Response:
        return JSONResponse(await session.calls(await _object(request, SQL_LIMIT)))

    yield "/api/state", "GET", get_state
    yield "/api/state", "PATCH", patch_state
    yield "/api/upload", "POST", upload
    yield "/api/file", "DELETE", delete_file
    yield "/api/roles", "PUT", roles
    yield "/api/reading", "PUT", reading
    yield "/api/hierarchies", "POST", hierarchy
    yield "/api/hierarchies/intervals", "POST", intervals
    yield "/api/hierarchies/{name}", "DELETE", delete_hierarchy
    yield "/api/catalogue", "GET", catalogue
    yield "/api/live/assess", "POST", assess
    yield "/api/live/explore", "POST", explore
    yield "/api/live/limits", "POST", limits
    yield "/api/live/proposed", "POST", proposed
    yield "/api/live/classes", "GET", classes
    yield "/api/jobs", "POST", add_job
    yield "/api/jobs/{id}/cancel", "POST", of_job(session.jobs.cancel)
    yield "/api/jobs/{id}/resume", "POST", of_job(session.jobs.resume)
    yield "/api/jobs/{id}", "DELETE", of_job(session.jobs.delete)
    yield "/api/jobs/{id}/result", "GET", result
    yield "/api/jobs/{id}/files/{file}", "GET", download
    yield "/api/calls", "GET", offered_calls
    yield "/api/calls", "POST", calls_of


async def _json(request: Request, limit: int = BODY_LIMIT) -> Any:
    return parsed_json(await limited_body(request, limit), "send JSON.")


async def _object(request: Request, limit: int = BODY_LIMIT) -> dict[str, Any]:
    found = await _json(request, limit)
    if not isinstance(found, dict):
        raise RequestError(400, "send a JSON object.")
    return found


def _there(session: Session, name: str) -> None:
    try:
        session.jobs.found(name)
    except InputError as mistake:
        raise RequestError(404, str(mistake)) from None


def _name(request: Request) -> str:
    """The file's name as its owner knows it: shown, never used as a path."""
    given = request.query_params.get("name", "").strip()
    name = given.replace("\\", "/").rsplit("/", 1)[-1]
    if not name or len(name) > 255 or not name.isprintable():
        raise RequestError(400, "the file needs a name of at most 255 printable characters.")
    return name
