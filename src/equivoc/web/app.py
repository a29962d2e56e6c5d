"""The server as an ASGI application: routes around one session, behind the token and the checks of the guard."""

from __future__ import annotations

import logging
from collections.abc import AsyncIterator, Awaitable, Callable, Iterable
from contextlib import asynccontextmanager
from functools import partial
from pathlib import Path

from fastapi import FastAPI, Request
from fastapi.responses import Response
from starlette.exceptions import HTTPException

from equivoc.errors import InputError
from equivoc.serving.guard import LOOPBACK, Guard
from equivoc.serving.requests import RequestError, error_response, safely
from equivoc.web.guard import Doorkeeper
from equivoc.web.live.warm_process import AnswerError
from equivoc.web.routes.api import api_routes
from equivoc.web.routes.pages import page_routes
from equivoc.web.session import Session, SupersededError

problems = logging.getLogger("equivoc.web")
OTHER_HOST = "this server does not have that name: open the address that equivoc serve has printed."
FAILED = "the server has failed on this request; this is our fault."

Handler = Callable[[Request], Awaitable[Response]]


def web_app(
    session: Session,
    *,
    token: str,
    most_upload: int,
    given: Path | None = None,
    allowed_hosts: Iterable[str] = (),
    ready: Callable[[], None] = lambda: None,
    refuse: Callable[[str], None] = lambda sentence: None,
    stopping: Callable[[], bool] = lambda: False,
) -> FastAPI:
    """The application.

    ``given`` is the file to open at the start: ``ready`` is called when it is open, ``refuse`` with a sentence if it
    cannot be. ``stopping`` says that the server is to end.
    """
    hosts = [*LOOPBACK, *allowed_hosts]
    doorkeeper = Doorkeeper(token, hosts=hosts)

    @asynccontextmanager
    async def lifespan(app: FastAPI) -> AsyncIterator[None]:
        try:
            await session.begin(given)
        except (InputError, AnswerError) as problem:
            refuse(str(problem))
        else:
            ready()
        try:
            yield
        finally:
            session.end()

    app = FastAPI(docs_url=None, redoc_url=None, openapi_url=None, redirect_slashes=False, lifespan=lifespan)

    def guarded(handler: Handler) -> Handler:
        async def checked(request: Request) -> Response:
            doorkeeper.check(request)
            try:
                return await handler(request)
            except AnswerError as problem:
                raise RequestError(503, str(problem)) from None
            except SupersededError:
                raise RequestError(409, "a newer question has come.") from None

        return safely(checked, log=problems, mistake=400, failed=FAILED)

    for path, method, handler in api_routes(session, most_upload=most_upload, stopping=stopping):
        app.add_api_route(path, guarded(handler), methods=[method])
    for path, handler in page_routes(doorkeeper, guarded):
        app.add_api_route(path, safely(handler, log=problems, failed=FAILED), methods=["GET"])

    async def other_error(request: Request, problem: Exception) -> Response:
        """No such path, or another method."""
        status = problem.status_code if isinstance(problem, HTTPException) else 500
        return error_response(status, "there is nothing here.")

    app.add_exception_handler(HTTPException, other_error)
    app.add_middleware(partial(Guard, hosts=hosts, refusal=OTHER_HOST))
    return app
