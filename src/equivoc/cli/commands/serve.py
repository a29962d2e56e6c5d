"""``equivoc serve``: the page in the browser."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from equivoc.arguments import size_in_bytes
from equivoc.errors import InputError


def serve(
    people: Annotated[
        Path | None,
        typer.Argument(help="A file to open: CSV with a header, or Parquet. It is never changed."),
    ] = None,
    port: Annotated[int, typer.Option(help="The port to listen on; 0: a free one.", min=0, max=65535)] = 0,
    host: Annotated[
        str, typer.Option(help="The address to listen on; 127.0.0.1: this machine only.")
    ] = "127.0.0.1",
    i_know: Annotated[
        bool, typer.Option("--i-know", help="Listen on an address that other machines can reach.")
    ] = False,
    browser: Annotated[bool, typer.Option(help="Open the page in the browser.")] = True,
    folder: Annotated[
        Path | None,
        typer.Option(
            help="The private folder of uploads and results; default: in the user's folder of states."
        ),
    ] = None,
    keep: Annotated[
        bool,
        typer.Option("--keep", help="Keep uploads and results when the server stops; default: remove them."),
    ] = False,
    most_upload: Annotated[
        str, typer.Option(help="The largest file that is accepted: 500MiB, 20GiB.")
    ] = "20GiB",
) -> None:
    """Open the page: load a file, see the risk, try techniques, choose, download.

    The page is for you alone: the server listens on this machine only, and the printed address holds a token. No
    data leave this machine. Ctrl-C stops the server and removes uploads and results; after a crash, the next start
    goes on where it ended.

    Example: equivoc serve people.csv
    """
    try:
        import uvicorn  # noqa: F401

        from equivoc.web.serving import serve_page
    except ImportError:
        raise InputError("the page needs more packages: pip install 'equivoc[web]'") from None
    from equivoc.serving.listening import is_loopback

    if not is_loopback(host) and not i_know:
        raise InputError(
            f"--host {host} can be reached from other machines, and the page shows your data without encryption: use "
            "a tunnel such as ssh -L instead, or add --i-know."
        )
    serve_page(
        people,
        host=host,
        port=port,
        folder=folder,
        keep=keep,
        most_upload=_most_upload(most_upload),
        browser=browser,
        announce=lambda address: _announce(address, host),
    )


def _most_upload(text: str) -> int:
    found = size_in_bytes("--most-upload", text)
    if not found:
        raise InputError(f"--most-upload is {text!r}; give a size above 0, such as 500MiB or 20GiB.")
    return found


def _announce(address: str, host: str) -> None:
    from equivoc.serving.listening import is_loopback

    if not is_loopback(host):
        print(
            "Other machines can reach this page. Nothing is encrypted: whoever reads the network reads the token, your "
            "data and all results."
        )
    print(f"The page is at {address}", "Stop it with Ctrl-C.", sep="\n", flush=True)
