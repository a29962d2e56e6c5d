"""The page itself: its files, the charts' script, and the address with the token."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Iterator
from functools import cache
from importlib.resources import files
from importlib.resources.abc import Traversable

from fastapi import Request
from fastapi.responses import HTMLResponse, RedirectResponse, Response
from starlette.concurrency import run_in_threadpool

from equivoc.serving.requests import RequestError
from equivoc.web.guard import Doorkeeper, cookie_name

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
NO_TOKEN = (
    "<!doctype html><html lang='en'><meta charset='utf-8'><title>equivoc</title><h1>This page needs its token</h1>"
    "<p>Open the address that <code>equivoc serve</code> has printed in the terminal: it ends in "
    "<code>?token=…</code>. The token keeps other people and other pages away from your data.</p></html>"
)

Handler = Callable[[Request], Awaitable[Response]]


def page_routes(
    doorkeeper: Doorkeeper, guarded: Callable[[Handler], Handler]
) -> Iterator[tuple[str, Handler]]:
    """The paths and their handlers."""

    async def start(request: Request) -> Response:
        given = request.query_params.get("token")
        if given is not None and doorkeeper.knows(given):
            answer = RedirectResponse("/", status_code=303)
            answer.set_cookie(cookie_name(request), given, httponly=True, samesite="strict", path="/")
            return answer
        if given is not None or not doorkeeper.holds_token(request):
            return HTMLResponse(NO_TOKEN, status_code=401)
        return HTMLResponse(page_files()["index.html"], headers={"content-security-policy": POLICY})

    async def file(request: Request) -> Response:
        name = request.path_params["name"]
        if name == CHARTS:
            return Response(await run_in_threadpool(charts_script), media_type=TYPES[".js"])
        content = page_files().get(name)
        if content is None:
            raise RequestError(404, "the page has no such file.")
        return Response(content, media_type=TYPES["." + name.rsplit(".", 1)[1]])

    yield "/", start
    yield "/page/{name:path}", guarded(file)


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
    from equivoc.report.page import chart_bundle

    return chart_bundle()
