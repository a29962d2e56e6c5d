"""The service's routes: questions of analysts, their own history, the policy, and the owner's log."""

from __future__ import annotations

import asyncio
import base64
import binascii
import logging
import math
import time
from collections.abc import Callable, Iterable
from functools import partial
from typing import Any, Protocol

from fastapi import FastAPI, Request
from fastapi.responses import HTMLResponse, JSONResponse, Response
from starlette.background import BackgroundTask
from starlette.concurrency import run_in_threadpool
from starlette.exceptions import HTTPException

from equivoc.errors import InputError
from equivoc.gateway.policy import Policy
from equivoc.gateway.service.access import Holder, RateLimit, Tokens
from equivoc.gateway.service.log import Page, log_page, page_policy
from equivoc.serving.serving import (
    LOOPBACK,
    Guard,
    RequestError,
    error_response,
    limited_body,
    parsed_json,
    safely,
)

BODY_LIMIT = 64 * 1024
"""Bytes of a request's body."""
OTHER_HOST = "this service does not have that name; the owner allows it with --allow-host."

problems = logging.getLogger("equivoc.gateway")
_safely = partial(
    safely, log=problems, failed="the gateway has failed on this request; nothing was answered."
)


class Gate(Protocol):
    """What the service needs of a gateway."""

    @property
    def policy(self) -> Policy: ...

    @property
    def warnings(self) -> tuple[str, ...]:
        """For the owner alone."""

    @property
    def stopped(self) -> str | None:
        """Why nothing more is answered; None while it answers."""

    def ask(self, sql: str, *, analyst: str) -> Any: ...


class Log(Protocol):
    """What the service needs of a log; `LogReader` is one."""

    def page(self, *, analyst: str | None = None, before: int | None = None) -> Page: ...


def gateway_app(
    gate: Gate,
    *,
    tokens: Tokens,
    log: Log,
    allowed_hosts: Iterable[str] = (),
    body_limit: int = BODY_LIMIT,
    clock: Callable[[], float] = time.monotonic,
    answered: Callable[[], None] = lambda: None,
) -> FastAPI:
    """The service as an ASGI application.

    ``allowed_hosts``: names under which clients may reach it, beside the names of the loopback. It must run in one
    process: the rate limits are in its memory, and the gateway decides one question after the other. ``answered`` is
    called after an answer was sent.
    """
    app = FastAPI(docs_url=None, redoc_url=None, openapi_url=None, redirect_slashes=False)
    asking = RateLimit(gate.policy.questions_per_minute, clock)
    reading = RateLimit(max(60, gate.policy.questions_per_minute), clock)
    deciding = asyncio.Lock()

    async def sender(request: Request, *, owner: bool) -> Holder:
        found = _credentials(request)
        holder = None if found is None else await run_in_threadpool(tokens.holder, found)
        scheme = "Basic" if owner else "Bearer"
        if holder is None:
            kind = "an owner's" if owner else "an analyst's"
            raise RequestError(
                401, f"this needs {kind} token.", WWW_Authenticate=f'{scheme} realm="equivoc gateway"'
            )
        if holder.owner != owner:
            raise RequestError(
                403, "this is for the owner." if owner else "an owner's token asks no questions."
            )
        return holder

    def check_rate(limit: RateLimit, name: str) -> None:
        seconds = limit.wait(name)
        if seconds > 0:
            after = str(math.ceil(seconds))
            sentence = f"at most {limit.per_minute} requests per minute: wait {after} s."
            raise RequestError(429, sentence, Retry_After=after)

    @app.post("/ask")
    @_safely
    async def ask(request: Request) -> Response:
        analyst = await sender(request, owner=False)
        check_rate(asking, analyst.name)
        sql = _question(await limited_body(request, body_limit))
        async with deciding:  # the gateway serialises decisions; here they wait without holding a thread each
            try:
                reply = await run_in_threadpool(partial(gate.ask, sql, analyst=analyst.name))
            except InputError:
                if gate.stopped is None:  # the analyst's mistake
                    raise
                problems.error("%s", gate.stopped)
                raise RequestError(503, "the gateway answers nothing more; its owner has to look.") from None
        return JSONResponse(
            {
                "answered": bool(reply.answered),
                "value": _json_value(reply.value),
                "reason": reply.reason,
                "number": reply.number,
            },
            background=BackgroundTask(answered) if reply.answered else None,
        )

    @app.get("/history")
    @_safely
    async def history(request: Request) -> Response:
        analyst = await sender(request, owner=False)
        check_rate(reading, analyst.name)
        before = _number(request, "before")
        found = await run_in_threadpool(partial(log.page, analyst=analyst.name, before=before))
        entries = [entry_facts(entry) for entry in found.entries]
        return JSONResponse({"entries": entries, "total": found.total, "older": found.older})

    @app.get("/policy")
    @_safely
    async def policy(request: Request) -> Response:
        """All of it: what a decision depends on is no secret, and a simulatable one stays safe if it is known."""
        check_rate(reading, (await sender(request, owner=False)).name)
        return Response(gate.policy.text(), media_type="application/json")

    @app.get("/log")
    @_safely
    async def owners_log(request: Request) -> Response:
        await sender(request, owner=True)
        before = _number(request, "before")
        page = await run_in_threadpool(
            lambda: log_page(log.page(before=before), before=before, warnings=gate.warnings)
        )
        return HTMLResponse(page, headers={"content-security-policy": page_policy()})

    async def other_error(request: Request, problem: Exception) -> Response:
        """No such path, or another method."""
        status = problem.status_code if isinstance(problem, HTTPException) else 500
        return error_response(
            status, "there is nothing here: POST /ask, GET /history, GET /policy, GET /log."
        )

    app.add_exception_handler(HTTPException, other_error)
    app.add_middleware(Guard, hosts=[*LOOPBACK, *allowed_hosts], refusal=OTHER_HOST)
    return app


def entry_facts(entry: Any) -> dict[str, Any]:
    """An entry of the history, ready for JSON."""
    return {
        "number": entry.number,
        "time": str(entry.time),
        "analyst": entry.analyst,
        "question": entry.question,
        "decision": entry.decision,
        "reason": entry.reason,
        "value": _json_value(entry.value),
    }


def _credentials(request: Request) -> str | None:
    """The token: ``Bearer TOKEN``, or the password of ``Basic`` (a browser asks for a name and a password)."""
    given = request.headers.getlist("authorization")
    if len(given) != 1:
        return None
    scheme, _, rest = given[0].partition(" ")
    if scheme.lower() == "bearer":
        return rest.strip()
    if scheme.lower() != "basic":
        return None
    try:
        return base64.b64decode(rest.strip(), validate=True).decode("utf-8").partition(":")[2]
    except (binascii.Error, UnicodeDecodeError):
        return None


def _question(body: bytes) -> str:
    wanted = 'send JSON such as {"sql": "SELECT SUM(salary) FROM people"}.'
    given = parsed_json(body, wanted)
    if not isinstance(given, dict) or set(given) != {"sql"} or not isinstance(given["sql"], str):
        raise RequestError(400, wanted)
    sql: str = given["sql"]
    try:
        sql.encode("utf-8")
    except UnicodeEncodeError:
        raise RequestError(
            400, "the question contains half of a surrogate pair, which is no character."
        ) from None
    return sql


def _number(request: Request, name: str) -> int | None:
    given = request.query_params.get(name)
    if given is None:
        return None
    if not (given.isascii() and given.isdigit() and len(given) < 16):
        raise RequestError(400, f"{name} is the number of an entry.")
    return int(given)


def _json_value(value: Any) -> Any:
    """Answers hold numbers and texts; a key's date becomes text, and what JSON has no number for becomes null."""
    if isinstance(value, (list, tuple)):
        return [_json_value(each) for each in value]
    if isinstance(value, dict):
        return {str(name): _json_value(each) for name, each in value.items()}
    if value is None or isinstance(value, (str, bool, int)):
        return value
    if isinstance(value, float):
        return value if math.isfinite(value) else None
    return str(value)
