"""t-closeness under a hierarchy against the transport problem solved as a linear program."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
from scipy.optimize import linprog

import equivoc as eq
from equivoc.attributes.kinds import Tree
from equivoc.errors import InputError

ORGANS = {"flu": ["lungs", "body"], "asthma": ["lungs", "body"], "gastritis": ["stomach", "body"]}
ORGANS |= {"ulcer": ["stomach", "body"], "anxiety": ["mood", "mind"]}
LEAVES = sorted(ORGANS)


def height(one: str, other: str) -> int:
    """The height of the lowest common ancestor; the root lies above body and mind."""
    if one == other:
        return 0
    return next((h + 1 for h in range(2) if ORGANS[one][h] == ORGANS[other][h]), 3)


def transported(p: np.ndarray, q: np.ndarray) -> float:
    """The least cost of moving p to q where a move costs height / 3."""
    m = len(LEAVES)
    cost = np.array([[height(a, b) / 3 for b in LEAVES] for a in LEAVES]).reshape(-1)
    from_each = np.kron(np.eye(m), np.ones(m))
    to_each = np.kron(np.ones(m), np.eye(m))
    return float(linprog(cost, A_eq=np.vstack([from_each, to_each]), b_eq=np.concatenate([p, q])).fun)


@pytest.mark.parametrize("seed", range(5))
def test_tree_distance_is_the_transport_cost(seed: int) -> None:
    rng = np.random.default_rng(seed)
    frame = pd.DataFrame({"town": rng.choice(list("abc"), 40), "disease": rng.choice(LEAVES, 40)})
    people = eq.Microdata(frame, confidential=Tree("disease", ORGANS), keys=["town"])
    share = frame.groupby("town")["disease"].value_counts(normalize=True).unstack(fill_value=0.0)
    share = share.reindex(columns=LEAVES, fill_value=0.0)
    everyone = frame["disease"].value_counts(normalize=True).reindex(LEAVES, fill_value=0.0).to_numpy()
    expected = max(transported(row, everyone) for row in share.to_numpy())
    assert eq.models.t_closeness(people, known=["town"]) == pytest.approx(expected, abs=1e-9)


def test_without_a_hierarchy_it_is_the_equal_distance() -> None:
    frame = pd.DataFrame({"town": list("aabb"), "disease": ["flu", "flu", "flu", "cold"]})
    people = eq.Microdata(frame, confidential="disease", keys=["town"])
    assert eq.models.t_closeness(people) == pytest.approx(0.25)
    assert eq.models.t_closeness(people, distance="equal") == pytest.approx(0.25)
    with pytest.raises(InputError, match="no order"):
        eq.models.t_closeness(people, distance="ordered")
