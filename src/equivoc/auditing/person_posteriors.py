"""The posterior of each person, kept once for each atom."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from equivoc.intruder.mixing import DENSE_UP_TO

if TYPE_CHECKING:
    from scipy.sparse import csr_array

    from equivoc.attributes.attribute import Attribute
    from equivoc.measure.curves import Curves

Floats = NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class PersonPosteriors:
    """P(value | all answers) of each person, in the people's order. People of one atom have the same."""

    attribute: Attribute = field(repr=False)
    atom: NDArray[np.int64] = field(repr=False)
    """The atom of each person: the row of ``table``."""
    table: Floats = field(repr=False)
    """Atoms × |D|; each row sums to 1."""

    def __len__(self) -> int:
        return len(self.atom)

    @property
    def values(self) -> NDArray[Any]:
        """The domain D, ascending."""
        return self.attribute.values

    @property
    def probabilities(self) -> Floats | csr_array:
        """People × |D|; each row sums to 1. A scipy CSR array where a dense one would pass 256 MB."""
        if 8 * len(self.atom) * self.table.shape[1] <= DENSE_UP_TO:
            return np.asarray(self.table[self.atom])
        from scipy.sparse import csr_array

        found: csr_array = csr_array(self.table)[self.atom]
        return found

    def of(self, person: int) -> Floats:
        """The posterior of one person, by her record number from 0."""
        return np.asarray(self.table[self.atom[person]])

    def curves(self, *, tolerance: float | None = 1e-3) -> Curves:
        """The measure on every person; each atom is computed once. See `equivoc.curves` for ``tolerance``."""
        from equivoc.measure.curves import curves

        return curves(self.values, self.table, tolerance=tolerance).rows(self.atom)
