"""How the columns of a table become integers before an engine counts them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Protocol

import numpy as np
from numpy.typing import NDArray

from equivoc.data.reading.columns import Encoder, plain, positions

if TYPE_CHECKING:
    import pyarrow as pa
    from sqlglot import exp

    from equivoc.engines.engine import Engine

# Integers with a wider range than this are coded by the values that occur, not by their distance from the minimum.
_WIDEST_SPAN = 2**16


class Coding(Protocol):
    """How one column becomes integers."""

    @property
    def size(self) -> int:
        """Codes lie in 0 … size − 1."""

    def expression(self) -> exp.Expression:
        """The expression for the engine to compute."""

    def codes(self, answer: pa.Array) -> NDArray[Any]: ...

    def values(self, occurring: NDArray[np.bool_]) -> pa.Array:
        """The values of the codes that occur, null last."""


@dataclass(frozen=True)
class OffsetCoding:
    """An integer column coded as the distance from its minimum, computed by the engine; null comes last."""

    value: exp.Expression
    low: int
    span: int
    kind: Any
    """The column's Arrow type."""

    @property
    def size(self) -> int:
        return self.span + 1

    def expression(self) -> exp.Expression:
        from equivoc.engines import statements

        return statements.offset(self.value.copy(), low=self.low, span=self.span)

    def codes(self, answer: pa.Array) -> NDArray[Any]:
        codes: NDArray[Any] = answer.to_numpy(zero_copy_only=False)
        return codes

    def values(self, occurring: NDArray[np.bool_]) -> pa.Array:
        import pyarrow as pa

        offsets = np.flatnonzero(occurring)
        return pa.array(offsets + self.low, mask=offsets == self.span).cast(self.kind)


@dataclass(frozen=True, eq=False)
class LevelCoding:
    """Any other column, coded by the position among its levels, which the engine lists first."""

    name: str
    value: exp.Expression
    levels: pa.Array

    @property
    def size(self) -> int:
        return len(self.levels)

    def expression(self) -> exp.Expression:
        return self.value.copy()

    def codes(self, answer: pa.Array) -> NDArray[Any]:
        return positions(plain(answer, name=self.name), self.levels)

    def values(self, occurring: NDArray[np.bool_]) -> pa.Array:
        import pyarrow as pa

        return self.levels.filter(pa.array(occurring))


def codings(engine: Engine, names: Sequence[str]) -> tuple[int, dict[str, Coding]]:
    """How many rows the table has, and a coding for each of the named columns."""
    whole = [name for name in names if engine.kind(name) == "integer"]
    rows, extents = engine.extents(whole)
    found: dict[str, Coding] = {}
    for name in names:
        extent = extents.get(name)
        if extent is not None and extent.low is not None and extent.high is not None:
            span = extent.high - extent.low + 1
            if span <= _WIDEST_SPAN:
                found[name] = OffsetCoding(engine.value(name), extent.low, span, extent.kind)
                continue
        listed = Encoder(name)
        listed.add(engine.distinct(name))
        found[name] = LevelCoding(name, engine.value(name), listed.column().levels)
    return rows, found
