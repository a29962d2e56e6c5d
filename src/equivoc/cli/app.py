"""The list of commands."""

from __future__ import annotations

import typer

from equivoc.cli.commands.assess import assess
from equivoc.cli.commands.audit import audit
from equivoc.cli.commands.choose import choose
from equivoc.cli.commands.compare import compare
from equivoc.cli.commands.curve import curve
from equivoc.cli.commands.doctor import doctor
from equivoc.cli.commands.gateway import gateway
from equivoc.cli.commands.measures import measures
from equivoc.cli.commands.protect import protect
from equivoc.cli.commands.report import report
from equivoc.cli.commands.reproduce import reproduce
from equivoc.cli.commands.serve import serve
from equivoc.cli.commands.study import study
from equivoc.cli.commands.verify import verify
from equivoc.cli.tables.table import table
from equivoc.version import __version__

app = typer.Typer(
    name="equivoc",
    help="Measures how much an intruder can learn about a person's confidential value. No data leave this machine.",
    no_args_is_help=True,
    add_completion=False,
    rich_markup_mode=None,
    pretty_exceptions_enable=False,
    context_settings={"help_option_names": ["-h", "--help"]},
)


def _print_version(asked: bool) -> None:
    if asked:
        print(f"equivoc {__version__}")
        raise typer.Exit


@app.callback()
def _root(
    version: bool = typer.Option(
        False, "--version", is_eager=True, callback=_print_version, help="Print the version and exit."
    ),
) -> None:
    pass


app.command()(curve)
app.command()(assess)
app.command()(measures)
app.command()(report)
app.command()(study)
app.command()(compare)
app.command()(reproduce)
app.command()(choose)
app.command()(protect)
app.command()(verify)
app.command()(audit)
app.command()(table)
app.command()(serve)
app.add_typer(gateway, name="gateway")
app.command()(doctor)
