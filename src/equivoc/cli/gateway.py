"""``equivoc gateway``: the service that answers or refuses questions, its tokens and its log."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer
from typer.core import TyperGroup

from equivoc.checks import installed
from equivoc.cli.attribute_options import ReadingOptions, domain_values, names
from equivoc.cli.options import DomainOption, DropMissingOption, RoundToOption, with_options
from equivoc.errors import InputError

if TYPE_CHECKING:
    from equivoc.data.microdata import Microdata
    from equivoc.reading.reading import Reading

PORT = 8642
DEFAULT_COMMAND = "serve"
STORE = Path("gateway.sqlite")

StoreOption = Annotated[
    Path, typer.Option(help="The file of questions, decisions and answers; tokens are in a file beside it.")
]
JsonOption = Annotated[bool, typer.Option("--json", help="Print JSON.")]


class GatewayGroup(TyperGroup):
    """The commands of ``equivoc gateway``; without the name of one, ``serve`` is meant."""

    def parse_args(self, ctx: Any, args: list[str]) -> list[str]:
        helps = set(self.get_help_option_names(ctx))
        if args and args[0] not in self.commands and args[0] not in helps:
            args = [DEFAULT_COMMAND, *args]
        return super().parse_args(ctx, args)


gateway = typer.Typer(cls=GatewayGroup, no_args_is_help=True, rich_markup_mode=None, add_completion=False)
token = typer.Typer(no_args_is_help=True, rich_markup_mode=None, add_completion=False)
gateway.add_typer(token, name="token", help="Who may ask: add, list and remove tokens.")


@gateway.callback()
def _gateway() -> None:
    """Answer SQL aggregates of analysts exactly, or refuse before a person is disclosed.

    Example: equivoc gateway people.parquet --confidential salary --keys age,sex --policy policy.toml
    """


@gateway.command(DEFAULT_COMMAND)
@with_options(ReadingOptions)
def serve(
    how: ReadingOptions,
    people: Annotated[
        str,
        typer.Argument(
            help="The original file, CSV with a header or Parquet, or a PostgreSQL table: "
            "postgresql:///dbname?table=people."
        ),
    ],
    confidential: Annotated[str, typer.Option(help="The confidential column: numbers.")],
    keys: Annotated[str, typer.Option(help="The columns that questions may select by, separated by commas.")],
    policy: Annotated[Path, typer.Option(help="The limits, in TOML.")],
    store: StoreOption = STORE,
    domain: DomainOption = None,
    round_to: RoundToOption = None,
    drop_missing: DropMissingOption = False,
    accept_looser_policy: Annotated[
        bool,
        typer.Option(
            "--accept-looser-policy",
            help="Go on with a store whose answers were given under stricter limits.",
        ),
    ] = False,
    host: Annotated[
        str, typer.Option(help="The address to listen on; 127.0.0.1: this machine only.")
    ] = "127.0.0.1",
    port: Annotated[int, typer.Option(help="The port to listen on; 0: a free one.", min=0, max=65535)] = PORT,
    allow_host: Annotated[
        list[str] | None,
        typer.Option(
            help="A name under which a proxy passes requests on, such as gateway.example.org. Repeatable."
        ),
    ] = None,
    i_know: Annotated[
        bool, typer.Option("--i-know", help="Listen on an address that other machines can reach.")
    ] = False,
) -> None:
    """Start the service: it holds the data, and answers or refuses.

    Analysts send POST /ask with their token; the owner reads /log. The word serve may be left out.

    Example: equivoc gateway serve people.parquet --confidential salary --keys age,sex --policy policy.toml
    """
    if not installed("fastapi", "uvicorn"):
        raise InputError("the service needs more packages: pip install 'equivoc[web]'")
    from equivoc.gateway.gateway import Gateway
    from equivoc.gateway.pinned_down import LookingBack
    from equivoc.gateway.service.access import Tokens
    from equivoc.gateway.service.app import gateway_app
    from equivoc.gateway.service.log import LogReader
    from equivoc.serving import serving
    from equivoc.serving.serving import named_host, plain_host

    if not serving.is_loopback(host) and not i_know:
        raise InputError(
            f"--host {host} can be reached from other machines, and the service does not encrypt: use a proxy with TLS "
            "on this machine instead, or add --i-know."
        )
    for name in allow_host or ():
        if named_host(name) != plain_host(name):
            raise InputError(f"--allow-host is {name!r}; give the name alone, such as gateway.example.org.")
    read = PeopleColumns(
        confidential=confidential,
        keys=keys,
        domain=domain,
        round_to=round_to,
        drop_missing=drop_missing,
        reading=how.reading,
    )
    tokens = Tokens.beside(store)
    listening = serving.bind(host, port)
    try:
        with Gateway(
            read.people(people), policy=policy, store=store, accept_looser_policy=accept_looser_policy
        ) as gate:
            _announce(tokens, gate.warnings, host, listening.getsockname()[1])
            allowed = [*(allow_host or ()), host]
            with LookingBack(gate, tell=_say) as looking_back:
                app = gateway_app(
                    gate,
                    tokens=tokens,
                    log=LogReader(store),
                    allowed_hosts=allowed,
                    answered=looking_back.wake,
                )
                serving.serve(app, listening)
    finally:
        listening.close()


@dataclass(frozen=True, kw_only=True)
class PeopleColumns:
    """The options that give the columns their roles."""

    confidential: str
    keys: str
    domain: str | None
    round_to: float | None
    drop_missing: bool
    reading: Reading

    def people(self, source: str) -> Microdata:
        """The people of a file or of a PostgreSQL table."""
        from equivoc.data.read import read

        confidential = names("--confidential", self.confidential)
        if len(confidential) > 1:
            raise InputError("--confidential names several columns: a gateway protects one.")
        return read(
            source,
            confidential=confidential[0],
            keys=names("--keys", self.keys),
            domain=None if self.domain is None else domain_values(self.domain),
            round_to=self.round_to,
            drop_missing=self.drop_missing,
            **self.reading.options,
        )


def _say(sentence: str) -> None:
    from equivoc.render.lines import Terminal

    terminal = Terminal()
    terminal.say(sentence)
    terminal.file.flush()


def _announce(tokens: Any, warnings: Sequence[str], host: str, port: int) -> None:
    from equivoc.render.lines import Terminal
    from equivoc.serving.serving import is_loopback

    terminal = Terminal()
    shown = f"[{host}]" if ":" in host else host
    if not is_loopback(host):
        terminal.say(
            f"Other machines can reach {shown}:{port}. Nothing is encrypted: whoever reads the network reads tokens, "
            "questions and answers, and can ask in an analyst's name."
        )
    for warning in warnings:
        terminal.say(f"Warning: {warning}")
    holders = tokens.holders()
    if not any(not holder.owner for holder in holders):
        terminal.say("Nobody may ask yet: equivoc gateway token add NAME")
    if not any(holder.owner for holder in holders):
        terminal.say("Nobody may read the log yet: equivoc gateway token add NAME --owner")
    terminal.say(f"The gateway listens on http://{shown}:{port}; the log is at /log. Stop it with Ctrl-C.")
    terminal.file.flush()


@token.command("add")
def add(
    name: Annotated[str, typer.Argument(help="The analyst's name, as it will stand in the log.")],
    store: StoreOption = STORE,
    owner: Annotated[
        bool, typer.Option("--owner", help="For the owner: reads the log, and asks no questions.")
    ] = False,
) -> None:
    """Make a token and print it once; only its hash is kept.

    Example: equivoc gateway token add ann --store gateway.sqlite
    """
    from equivoc.gateway.service.access import Tokens

    print(Tokens.beside(store).add(name, owner=owner))


@token.command("list")
def list_tokens(store: StoreOption = STORE, as_json: JsonOption = False) -> None:
    """List who has a token, and since when.

    Example: equivoc gateway token list --store gateway.sqlite
    """
    from equivoc.gateway.service.access import Tokens
    from equivoc.render.lines import Terminal

    holders = Tokens.beside(store).holders()
    if as_json:
        print(json.dumps([{"name": h.name, "owner": h.owner, "added": h.added} for h in holders], indent=2))
    elif not holders:
        Terminal().say("Nobody has a token yet.")
    else:
        rows = [[h.name, "owner" if h.owner else "analyst", h.added] for h in holders]
        Terminal().show("", ["name", "role", "added"], rows, left=3)


@token.command("remove")
def remove(
    name: Annotated[str, typer.Argument(help="Whose token ends.")],
    store: StoreOption = STORE,
) -> None:
    """End a token at once; the log keeps what was asked with it.

    Example: equivoc gateway token remove ann --store gateway.sqlite
    """
    from equivoc.gateway.service.access import Tokens
    from equivoc.render.lines import Terminal

    Tokens.beside(store).remove(name)
    Terminal().say(f"The token of {name} no longer works.")


@gateway.command("log")
def show_log(
    store: StoreOption = STORE,
    analyst: Annotated[str | None, typer.Option(help="Only the questions of this analyst.")] = None,
    as_json: JsonOption = False,
) -> None:
    """Print every question, decision and answer, and whom the answers pinned down; also while the service runs.

    Example: equivoc gateway log --store gateway.sqlite
    """
    from equivoc.gateway.service.log import LogReader, value_text
    from equivoc.render.lines import Terminal

    log = LogReader(store)
    entries, pinned = list(log.every(analyst=analyst)), log.pinned()
    if as_json:
        listed = [
            {**asdict(e), "pinned_down": asdict(pinned[e.number]) if e.number in pinned else None}
            for e in entries
        ]
        print(json.dumps(listed, indent=2))
        return
    rows = [
        [
            *(str(e.number), e.time, e.analyst, e.decision, value_text(e.value), e.question, e.reason),
            pinned[e.number].text() if e.number in pinned else "",
        ]
        for e in entries
    ]
    terminal = Terminal()
    if rows:
        columns = ["number", "time", "analyst", "decision", "answer", "question", "reason", "pinned down"]
        terminal.show("", columns, rows, left=len(columns))
    else:
        terminal.say("The log has no entries.")
