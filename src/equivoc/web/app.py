"""The server as an ASGI application: routes around one session, behind the cookie and the checks of the guard."""

from __future__ import annotations

import asyncio
import contextlib
import logging
import os
import signal
import sys
import threading
import webbrowser
from collections.abc import AsyncIterator, Awaitable, Callable, Iterable
from contextlib import asynccontextmanager
from functools import partial
from pathlib import Path

from fastapi import FastAPI, Request
from fastapi.responses import Response
from starlette.exceptions import HTTPException

from equivoc.errors import InputError
from equivoc.files import check_readable
from equivoc.serving import serving
from equivoc.serving.serving import LOOPBACK, Guard, RequestError, error_response, safely
from equivoc.web.guard import Doorkeeper
from equivoc.web.routes import api_routes, page_routes
from equivoc.web.session import Session, SupersededError
from equivoc.web.state import default_folder, private_folder
from equivoc.web.warm_process import AnswerError

problems = logging.getLogger("equivoc.web")
OTHER_HOST = "this server does not have that name: open the address that equivoc serve has printed."
FAILED = "the server has failed on this request; this is our fault."

Handler = Callable[[Request], Awaitable[Response]]


def web_app(
    session: Session,
    doorkeeper: Doorkeeper,
    *,
    most_upload: int,
    given: Path | None = None,
    hosts: Iterable[str] = LOOPBACK,
    ready: Callable[[], None] = lambda: None,
    refuse: Callable[[str], None] = lambda sentence: None,
) -> FastAPI:
    """The application.

    ``given`` is the file to open at the start: ``ready`` is called when it is open, ``refuse`` with a sentence if it
    cannot be.
    """

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

    for path, method, handler in api_routes(session, most_upload=most_upload):
        app.add_api_route(path, guarded(handler), methods=[method])
    for path, method, handler in page_routes(doorkeeper, guarded):
        app.add_api_route(path, safely(handler, log=problems, failed=FAILED), methods=[method])

    async def other_error(request: Request, problem: Exception) -> Response:
        """No such path, or another method."""
        status = problem.status_code if isinstance(problem, HTTPException) else 500
        return error_response(status, "there is nothing here.")

    app.add_exception_handler(HTTPException, other_error)
    app.add_middleware(partial(Guard, hosts=hosts, refusal=OTHER_HOST))
    return app


# Running the page: socket, tokens, browser, start and stop, the folder removed at the end.

MOST_UPLOAD = 20 << 30


def serve_page(
    people: Path | None,
    *,
    host: str = "127.0.0.1",
    port: int = 0,
    folder: Path | None = None,
    keep: bool = False,
    most_upload: int = MOST_UPLOAD,
    browser: bool = True,
    announce: Callable[[str], None] = print,
) -> None:
    """Serve until SIGINT or SIGTERM.

    ``announce`` gets an address with its token once the file is open, and a new one whenever Enter is pressed in the
    terminal.
    """
    if people is not None:
        check_readable(people)
    socket = serving.bind(host, port)
    try:
        with private_folder(default_folder() if folder is None else folder, keep=keep) as home:
            hosts = [*LOOPBACK, host]
            doorkeeper = Doorkeeper(hosts=hosts)
            shown = f"[{host}]" if ":" in host else host

            def new_address() -> str:
                return f"http://{shown}:{socket.getsockname()[1]}/?token={doorkeeper.new_token()}"

            session = Session(home, keep=keep)
            refused: list[str] = []

            def ready() -> None:
                address = new_address()
                announce(address)
                _at_enter(lambda: announce(new_address()))
                if browser:
                    threading.Thread(target=_open_browser, args=(address,), daemon=True).start()

            def refuse(sentence: str) -> None:
                refused.append(sentence)
                signal.raise_signal(signal.SIGTERM)  # the orderly stop

            app = web_app(
                session,
                doorkeeper,
                most_upload=most_upload,
                given=people,
                hosts=hosts,
                ready=ready,
                refuse=refuse,
            )
            try:
                serving.serve(app, socket)
            finally:
                session.end()
            if refused:
                raise InputError(refused[0])
    finally:
        socket.close()


def _at_enter(act: Callable[[], None]) -> None:
    """Call ``act`` for every line that is typed while the service runs in the foreground of a terminal.

    In the background, a line is for another program, and reading it would stop this one.
    """
    if sys.stdin is None or not sys.stdin.isatty():
        return
    terminal, loop = sys.stdin.fileno(), asyncio.get_running_loop()

    def typed() -> None:
        try:
            if os.tcgetpgrp(terminal) == os.getpgrp() and os.read(terminal, 4096):
                act()
                return
        except OSError:
            pass
        loop.remove_reader(terminal)

    loop.add_reader(terminal, typed)


def _open_browser(address: str) -> None:
    with contextlib.suppress(webbrowser.Error, OSError):
        webbrowser.open(address)
