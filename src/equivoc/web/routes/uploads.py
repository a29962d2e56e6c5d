"""An upload: streamed to the private folder, limited, and removed if it does not arrive whole."""

from __future__ import annotations

import secrets
import shutil
from pathlib import Path
from typing import BinaryIO

from fastapi import Request
from starlette.concurrency import run_in_threadpool
from starlette.requests import ClientDisconnect

from equivoc.errors import InputError
from equivoc.serving.requests import RequestError
from equivoc.web.session import Session

PIECE = 4 << 20
"""Bytes that are written at a time; the sender waits meanwhile."""
SPARE = 256 << 20
"""Bytes that stay free on the disk."""


async def receive_file(request: Request, session: Session, *, name: str, most: int) -> None:
    """Store an upload in the private folder and open it; it replaces the file before.

    Its format is that of its first bytes. What does not arrive whole, or cannot be read, is removed, and the file
    before stays open.
    """
    told = request.headers.get("content-length", "")
    expected = int(told) if told.isdigit() else None
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
                await session.open_file(path, name=name, given=False)
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
