"""Running the page: socket, token, browser, start and stop, the folder removed at the end."""

from __future__ import annotations

import contextlib
import signal
import threading
import webbrowser
from collections.abc import Callable
from pathlib import Path

from equivoc.errors import InputError
from equivoc.files import check_readable
from equivoc.serving import listening
from equivoc.web.app import web_app
from equivoc.web.guard import new_token
from equivoc.web.session import Session
from equivoc.web.workspace.folder import default_folder, private_folder

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
    """Serve until SIGINT or SIGTERM. ``announce`` gets the address with its token, once the file is open."""
    if people is not None:
        check_readable(people)
    socket = listening.bind(host, port)
    try:
        with private_folder(default_folder() if folder is None else folder, keep=keep) as home:
            token = new_token()
            shown = f"[{host}]" if ":" in host else host
            address = f"http://{shown}:{socket.getsockname()[1]}/?token={token}"
            stop = threading.Event()
            session = Session(home, keep=keep)
            refused: list[str] = []

            def ready() -> None:
                announce(address)
                if browser:
                    threading.Thread(target=_open_browser, args=(address,), daemon=True).start()

            def refuse(sentence: str) -> None:
                refused.append(sentence)
                signal.raise_signal(signal.SIGTERM)  # the orderly stop

            app = web_app(
                session,
                token=token,
                most_upload=most_upload,
                given=people,
                allowed_hosts=[host],
                ready=ready,
                refuse=refuse,
                stopping=stop.is_set,
            )
            try:
                listening.serve(app, socket, stopping=stop.set)
            finally:
                session.end()
            if refused:
                raise InputError(refused[0])
    finally:
        socket.close()


def _open_browser(address: str) -> None:
    with contextlib.suppress(webbrowser.Error, OSError):
        webbrowser.open(address)
