"""The command line. Commands only call the library; they print text, or JSON with ``--json``."""

from __future__ import annotations

import sys

from equivoc.cli.process import (
    STOPPED,
    StoppedError,
    discard_output,
    ended_in_order,
    is_output_problem,
    noticing_ctrl_c,
    prepare_streams,
    save_addresses,
    want_of_memory,
)
from equivoc.errors import InputError
from equivoc.text import printable

LONGEST_SENTENCE = 500


def main() -> None:
    """Run the command; the caller's mistakes end in one sentence on stderr and exit code 2."""
    prepare_streams()
    save_addresses()
    with ended_in_order():
        _run()


def _run() -> None:
    try:
        with noticing_ctrl_c() as ctrl_c:
            code = _command()
            if ctrl_c.pressed and code == STOPPED:
                raise StoppedError("stopped.")
        raise SystemExit(code)
    except StoppedError as stopped:
        print(f"equivoc: {stopped}", file=sys.stderr)  # unshortened: it may hold the command that continues
        raise SystemExit(STOPPED) from None
    except InputError as mistake:
        from equivoc.cli.app import with_option_names

        _complain(with_option_names(str(mistake), sys.argv[1:]))
        raise SystemExit(2) from None
    except BrokenPipeError:  # the reader closed our output, as `| head` does
        discard_output()
        raise SystemExit(0) from None
    except Exception as problem:
        if isinstance(problem, OSError) and is_output_problem(problem):
            discard_output()
            _complain(f"the output cannot be written: {problem.strerror}.")
            raise SystemExit(1) from None
        sentence = want_of_memory(problem)
        if sentence is None:
            raise
        _complain(sentence)
        raise SystemExit(2) from None


def _command() -> int:
    """Run the command; its exit code."""
    from equivoc.cli.app import USAGE_ERROR, app, usage_sentence

    try:
        return app(standalone_mode=False) or 0
    except USAGE_ERROR as mistake:
        sentence = usage_sentence(mistake)
        if sentence is None:
            mistake.show()
        else:
            _complain(sentence)
        return 2
    finally:
        if sys.stdout is not None:
            sys.stdout.flush()


def _complain(sentence: str) -> None:
    """Print the message on one line, with a full stop; a very long one is shortened in the middle."""
    text = printable(sentence)
    if len(text) > LONGEST_SENTENCE:
        text = f"{text[: LONGEST_SENTENCE // 2]} … {text[-LONGEST_SENTENCE // 2 :]}"
    stop = "" if text.endswith((".", "?", "!")) else "."
    print(f"equivoc: {text}{stop}", file=sys.stderr)
