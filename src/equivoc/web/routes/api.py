"""The routes under /api: the state, the file, live answers, jobs."""

from __future__ import annotations

import json
from collections.abc import AsyncIterator, Awaitable, Callable, Iterator
from typing import Any

from fastapi import Request
from fastapi.responses import FileResponse, JSONResponse, Response, StreamingResponse

from equivoc.errors import InputError
from equivoc.serving.requests import RequestError, limited_body, parsed_json
from equivoc.web.routes.uploads import receive_file
from equivoc.web.session import Session

BODY_LIMIT = 1 << 20
SQL_LIMIT = 4 << 20
HIERARCHY_LIMIT = 16 << 20
HEARTBEAT = 15.0
PULSE = 0.5
"""Seconds after which a stream notices that the server stops."""

Handler = Callable[[Request], Awaitable[Response]]


def api_routes(
    session: Session, *, most_upload: int, stopping: Callable[[], bool]
) -> Iterator[tuple[str, str, Handler]]:
    """The path, the method and the handler of each route."""

    def state() -> Response:
        return JSONResponse(session.state.shown())

    async def get_state(request: Request) -> Response:
        return state()

    async def patch_state(request: Request) -> Response:
        await session.patch(await _json(request))
        return state()

    async def events(request: Request) -> Response:
        return StreamingResponse(_events(session, stopping), media_type="text/event-stream")

    async def upload(request: Request) -> Response:
        await receive_file(request, session, name=_name(request), most=most_upload)
        return state()

    async def delete_file(request: Request) -> Response:
        session.close_file()
        return state()

    async def roles(request: Request) -> Response:
        await session.set_roles(await _json(request))
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
    yield "/api/events", "GET", events
    yield "/api/upload", "POST", upload
    yield "/api/file", "DELETE", delete_file
    yield "/api/roles", "PUT", roles
    yield "/api/hierarchies", "POST", hierarchy
    yield "/api/hierarchies/intervals", "POST", intervals
    yield "/api/hierarchies/{name}", "DELETE", delete_hierarchy
    yield "/api/catalogue", "GET", catalogue
    yield "/api/live/assess", "POST", assess
    yield "/api/live/explore", "POST", explore
    yield "/api/live/classes", "GET", classes
    yield "/api/jobs", "POST", add_job
    yield "/api/jobs/{id}/cancel", "POST", of_job(session.jobs.cancel)
    yield "/api/jobs/{id}/resume", "POST", of_job(session.jobs.resume)
    yield "/api/jobs/{id}", "DELETE", of_job(session.jobs.delete)
    yield "/api/jobs/{id}/result", "GET", result
    yield "/api/jobs/{id}/files/{file}", "GET", download
    yield "/api/calls", "GET", offered_calls
    yield "/api/calls", "POST", calls_of


async def _events(session: Session, stopping: Callable[[], bool]) -> AsyncIterator[str]:
    """Server-sent events: every change's revision, and a comment now and then."""
    quiet = 0.0
    yield ": connected\n\n"
    async for revision in session.state.revisions(patience=PULSE):
        if stopping():
            return
        if revision is not None:
            quiet = 0.0
            yield f"event: state\ndata: {json.dumps({'revision': revision})}\n\n"
        else:
            quiet += PULSE
            if quiet >= HEARTBEAT:
                quiet = 0.0
                yield ": still here\n\n"


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
