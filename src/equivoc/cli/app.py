"""The list of commands."""

from __future__ import annotations

import typer

from equivoc.cli.assess import assess
from equivoc.cli.audit import audit
from equivoc.cli.choose import choose
from equivoc.cli.compare import compare
from equivoc.cli.curve import curve
from equivoc.cli.doctor import doctor
from equivoc.cli.gateway import gateway
from equivoc.cli.measures import measures
from equivoc.cli.protect import protect
from equivoc.cli.report import report
from equivoc.cli.reproduce import reproduce
from equivoc.cli.serve import serve
from equivoc.cli.study import study
from equivoc.cli.table import table
from equivoc.cli.verify import verify
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
