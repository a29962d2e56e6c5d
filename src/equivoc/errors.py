"""The error for the caller's mistakes."""


class InputError(ValueError):
    """Invalid input; the message says what is wrong, where, and what to do.

    Any other exception raised by equivoc is a bug in equivoc.
    """
