"""The command line. Commands only call the library; they print text, or JSON with ``--json``."""

from __future__ import annotations

import sys

from equivoc.cli.output.streams import discard_output, is_output_problem, prepare_streams
from equivoc.errors import InputError
from equivoc.plain_text import printable

LONGEST_SENTENCE = 500


def main() -> None:
    """Run the command; the caller's mistakes end in one sentence on stderr and exit code 2."""
    prepare_streams()
    from equivoc.cli.app import app
    from equivoc.cli.options.option_names import with_option_names
    from equivoc.cli.usage import USAGE_ERROR, usage_sentence

    try:
        try:
            code = app(standalone_mode=False)
        finally:
            if sys.stdout is not None:
                sys.stdout.flush()
        raise SystemExit(code or 0)
    except USAGE_ERROR as mistake:
        sentence = usage_sentence(mistake)
        if sentence is None:
            mistake.show()
        else:
            _complain(sentence)
        raise SystemExit(2) from None
    except InputError as mistake:
        _complain(with_option_names(str(mistake), sys.argv[1:]))
        raise SystemExit(2) from None
    except BrokenPipeError:  # the reader closed our output, as `| head` does
        discard_output()
        raise SystemExit(0) from None
    except OSError as problem:
        if not is_output_problem(problem):
            raise
        discard_output()
        _complain(f"the output cannot be written: {problem.strerror}.")
        raise SystemExit(1) from None
    except MemoryError:
        _complain(
            "there is not enough memory. Use fewer keys or fewer values, or a machine with more memory."
        )
        raise SystemExit(1) from None


def _complain(sentence: str) -> None:
    """Print the message on one line, with a full stop; a very long one is shortened in the middle."""
    told = printable(sentence)
    if len(told) > LONGEST_SENTENCE:
        told = f"{told[: LONGEST_SENTENCE // 2]} … {told[-LONGEST_SENTENCE // 2 :]}"
    stop = "" if told.endswith((".", "?", "!")) else "."
    print(f"equivoc: {told}{stop}", file=sys.stderr)
