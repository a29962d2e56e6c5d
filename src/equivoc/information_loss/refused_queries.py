"""Which sums over people can be computed from the answers of query restriction.

The answers are sums of two neighbouring blocks of records. A sum over some people follows from them exactly if it is a
linear combination of answers: if each block is in the sum as a whole or not at all, records outside every block are not
in it, and as many odd as even blocks are in it (every combination of answers has alternating sum 0 over the blocks).
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from equivoc.information_loss.query_error import drawn_queries
from equivoc.information_loss.shown_table import ShownTable
from equivoc.techniques.query_restriction import AnsweredQueries


def follows(release: AnsweredQueries, members: NDArray[np.bool_]) -> bool:
    """True if the sum over these people (one truth value per person) follows from the answers."""
    blocks, half = len(release.answers) + 1, release.size // 2
    in_order = members[release.order]
    if in_order[blocks * half :].any():
        return False
    by_block = in_order[: blocks * half].reshape(blocks, half)
    whole = np.asarray(by_block.all(axis=1))
    if not np.array_equal(whole, by_block.any(axis=1)):
        return False
    return bool(whole[::2].sum() == whole[1::2].sum())


def share_refused(release: AnsweredQueries, original: ShownTable, *, seed: int) -> tuple[float, int]:
    """The share of random sums over people chosen by their keys that does not follow, and the number of these sums.

    Without keys there is one: the sum over everyone.
    """
    keys = release.people.keys
    if not keys:
        return float(not follows(release, np.ones(len(original), dtype=np.bool_))), 1
    chosen = [query.members(original) > 0.5 for query in drawn_queries(original, seed, columns=keys)]
    found = [follows(release, members) for members in chosen if members.any()]
    return 1.0 - float(np.mean(found)), len(found)
