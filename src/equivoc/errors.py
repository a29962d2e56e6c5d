"""The caller's mistakes, each said in one sentence."""


class InputError(ValueError):
    """What was handed in cannot be used; the message names what, where and what to do.

    Anything else that escapes from equivoc is our mistake, not the caller's.
    """
