"""A noisy file as an intruder holds it: codes, and the noise that each key went through."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from equivoc.errors import InputError

Codes = npt.NDArray[np.int64]
Matrix = npt.NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class NoisyFile:
    """Released codes of n records, and P(released code | true code) of every key.

    >>> from equivoc.intruder.binomial_noise import transition
    >>> exact = transition(3, 0, edge="clip")
    >>> NoisyFile([[0], [2], [2]], [exact], confidential=[1, 0, 1], confidential_size=2).domain_sizes
    (3,)
    """

    keys: Codes
    """Records × keys: the released code of every key."""
    transitions: Sequence[Matrix]
    """Per key, P(released code | true code): true codes × released codes."""
    confidential: Codes
    """The released confidential rank of every record."""
    confidential_size: int
    """How many confidential ranks can be released."""

    def __post_init__(self) -> None:
        keys = whole_numbers("The released keys", self.keys)
        confidential = whole_numbers("The released confidential ranks", self.confidential)
        object.__setattr__(self, "keys", keys)
        object.__setattr__(self, "confidential", confidential)
        object.__setattr__(self, "transitions", tuple(self.transitions))
        if keys.ndim != 2 or confidential.shape != keys.shape[:1]:
            raise InputError(
                "The released keys must be records × keys, with one confidential rank per record; "
                f"their shapes are {keys.shape} and {confidential.shape}."
            )
        if len(confidential) == 0:
            raise InputError("The released file has no records, so nobody can be linked to it.")
        if len(self.transitions) != keys.shape[1]:
            raise InputError(f"{keys.shape[1]} keys need as many transitions, not {len(self.transitions)}.")
        check_range("The released confidential ranks", confidential, self.confidential_size)
        for key, transition in enumerate(self.transitions):
            if (
                transition.ndim != 2
                or not (transition >= 0).all()
                or not np.allclose(transition.sum(axis=1), 1)
            ):
                raise InputError(
                    f"The transition of key {key} must have rows of probabilities that sum to 1."
                )
            check_range(f"The released codes of key {key}", keys[:, key], transition.shape[1])

    @property
    def domain_sizes(self) -> tuple[int, ...]:
        """Of each key, the number of true values."""
        return tuple(transition.shape[0] for transition in self.transitions)


def whole_numbers(what: str, codes: npt.ArrayLike) -> Codes:
    """The codes as an array of 64-bit integers, or `InputError` if they are anything but whole numbers."""
    array = np.asarray(codes)
    if array.size and not np.issubdtype(array.dtype, np.integer):
        raise InputError(f"{what} must be whole-number codes, not {array.dtype}.")
    return array.astype(np.int64, copy=False)


def check_range(what: str, codes: Codes, size: int) -> None:
    """`InputError` unless all codes lie in 0 … size − 1."""
    if codes.size and not 0 <= codes.min() <= codes.max() < size:
        raise InputError(f"{what} must lie from 0 to {size - 1}; found {codes.min()} to {codes.max()}.")
