"""The error for the caller's mistakes."""

from __future__ import annotations

import difflib
from collections.abc import Iterable


class InputError(ValueError):
    """Invalid input; the message says what is wrong, where, and what to do.

    Any other exception raised by equivoc is a bug in equivoc.
    """


# The end of an error message about an unknown name: the closest known name, or a list of the known ones.

_LONGEST_LIST = 20


def did_you_mean(name: object, known: Iterable[object]) -> str:
    """``: did you mean …?`` if a known name is similar (ignoring case), otherwise ``: choose from …``.

    >>> did_you_mean("AGE", ["age", "sex"]), did_you_mean("x", ["age", "sex"]), did_you_mean("x", [])
    (": did you mean 'age'?", ': choose from age, sex.', '.')
    """
    texts = [str(text) for text in known]
    folded = {text.casefold(): text for text in texts}
    close = difflib.get_close_matches(str(name).casefold(), folded, n=1)
    if close:
        return f": did you mean {folded[close[0]]!r}?"
    listed = ", ".join(text if text.isprintable() and text else repr(text) for text in texts[:_LONGEST_LIST])
    listed += ", …" if len(texts) > _LONGEST_LIST else ""
    return f": choose from {listed}." if texts else "."
