"""Requests and their refusals: bodies of limited size, each failure as one sentence, no stack trace."""

from __future__ import annotations

import asyncio
import json
import logging
import traceback
from collections.abc import Awaitable, Callable
from typing import Any

from fastapi import Request
from fastapi.responses import JSONResponse, Response

from equivoc.errors import InputError
from equivoc.plain_text import printable

BODY_PATIENCE = 10.0
"""Seconds in which a body must arrive."""
LONGEST_ERROR = 500

Handler = Callable[[Request], Awaitable[Response]]


class RequestError(Exception):
    """A request that is not served: status, a sentence, and headers."""

    def __init__(self, status: int, sentence: str, **headers: str) -> None:
        super().__init__(sentence)
        self.status = status
        self.headers = {name.replace("_", "-"): value for name, value in headers.items()}


async def limited_body(request: Request, limit: int) -> bytes:
    """The request's body; RequestError if it has more bytes than the ``limit`` or does not arrive in time."""
    told = request.headers.get("content-length", "")
    too_large = RequestError(413, f"a request has at most {limit:,} bytes.", Connection="close")
    if told.isdigit() and int(told) > limit:
        raise too_large
    found = bytearray()
    try:
        async with asyncio.timeout(BODY_PATIENCE):
            async for piece in request.stream():
                found += piece
                if len(found) > limit:
                    raise too_large
    except TimeoutError:
        raise RequestError(408, "the request did not arrive in time.", Connection="close") from None
    return bytes(found)


def parsed_json(body: bytes, wanted: str) -> Any:
    """The JSON of a body; RequestError says what is ``wanted``."""
    try:
        return json.loads(body)
    except (ValueError, RecursionError):
        raise RequestError(400, f"the body is not JSON: {wanted}") from None


def safely(
    handler: Handler, *, log: logging.Logger, mistake: int = 422, failed: str
) -> Callable[[Request], Awaitable[Response]]:
    """The handler with each failure as one sentence; ``mistake`` is the status of an InputError.

    What is logged of a bug is its kind and place: a message could hold a value. ``failed`` is what the client is told.
    """

    async def served(request: Request) -> Response:
        try:
            return await handler(request)
        except RequestError as refusal:
            return error_response(refusal.status, str(refusal), headers=refusal.headers)
        except InputError as wrong:
            return error_response(mistake, str(wrong))
        except Exception as problem:
            place = traceback.extract_tb(problem.__traceback__)[-1]
            log.error("%s in %s, line %s", type(problem).__name__, place.name, place.lineno)
            return error_response(500, failed)

    return served


def error_response(status: int, sentence: str, *, headers: dict[str, str] | None = None) -> Response:
    """The sentence as JSON; a very long one is shortened in the middle."""
    told = printable(sentence)
    if len(told) > LONGEST_ERROR:
        told = f"{told[: LONGEST_ERROR // 2]} … {told[-LONGEST_ERROR // 2 :]}"
    return JSONResponse({"error": told}, status_code=status, headers=headers)
