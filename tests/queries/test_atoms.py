"""Atoms against the definition: equal membership in every set."""

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from equivoc.systems.system import atoms


@given(st.integers(1, 30), st.data())
def test_people_share_an_atom_exactly_if_they_are_in_the_same_sets(people: int, data: st.DataObject) -> None:
    member = st.lists(st.booleans(), min_size=people, max_size=people)
    rows = data.draw(st.lists(member, max_size=6))
    found = atoms([np.flatnonzero(row) for row in rows], people)
    signature = [tuple(row[person] for row in rows) for person in range(people)]
    for one in range(people):
        for other in range(people):
            same = signature[one] == signature[other]
            assert (found.of_person[one] == found.of_person[other]) == same
    assert found.sizes.tolist() == [int(np.sum(found.of_person == a)) for a in range(len(found))]
    for row, inside in zip(rows, found.in_set, strict=True):
        assert {int(found.of_person[p]) for p in range(people) if row[p]} == set(inside.tolist())
    assert [int(np.flatnonzero(found.of_person == a)[0]) for a in range(len(found))] == sorted(
        int(np.flatnonzero(found.of_person == a)[0]) for a in range(len(found))
    )
