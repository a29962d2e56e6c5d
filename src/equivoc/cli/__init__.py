"""The command line. Commands only wrap library calls; what they print a person can read, or ``--json`` a machine."""

from __future__ import annotations

import sys

from equivoc.errors import InputError


def main() -> None:
    """Run the command; the caller's mistakes end in one sentence on stderr and exit code 2."""
    from equivoc.cli.app import app

    try:
        app()
    except InputError as mistake:
        print(f"equivoc: {mistake}", file=sys.stderr)
        raise SystemExit(2) from None
    except BrokenPipeError:  # the reader of our output has left, as `| head` does
        sys.stderr.close()
        raise SystemExit(0) from None
