"""Converts pandas columns of any type to Arrow: periods and intervals as text, in their own order."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from equivoc.errors import InputError

if TYPE_CHECKING:
    import pyarrow as pa


def as_arrow(column: Any, *, name: str) -> pa.Array | pa.ChunkedArray:
    """The column's values.

    >>> import pandas as pd
    >>> as_arrow(pd.Series(pd.cut([3, 12], [0, 5, 20])), name="age").to_pylist()
    ['(0, 5]', '(5, 20]']
    """
    import pandas as pd
    import pyarrow as pa

    if isinstance(column.dtype, pd.SparseDtype):
        column = column.sparse.to_dense()
    if isinstance(column.dtype, pd.CategoricalDtype) and _has_own_text(column.cat.categories.dtype):
        column = column.astype(column.cat.categories.dtype)
    if _has_own_text(column.dtype):
        return _as_text(column, name)
    try:
        return pa.array(column, from_pandas=True)
    except (ValueError, TypeError, OverflowError, pa.ArrowException):
        # A column of objects of several types, or of integers too long for Arrow, is converted to text.
        return _as_text(column, name)


def own_order(column: Any, *, name: str) -> pa.Array | None:
    """The values in the column's own order, as `as_arrow` writes them: ordered categories, periods, intervals."""
    import pandas as pd

    kind = column.dtype
    if isinstance(kind, pd.CategoricalDtype):
        if kind.ordered:
            return as_arrow(pd.Series(kind.categories), name=name)
        kind, column = kind.categories.dtype, pd.Series(kind.categories)
    if not _has_own_text(kind):
        return None
    return as_arrow(pd.Series(column.dropna().unique()).sort_values(), name=name)


def with_own_categories(column: Any, kind: Any) -> Any:
    """The inverse of `as_arrow` for categories that are periods or intervals: text back to these categories."""
    import pandas as pd

    if not (isinstance(kind, pd.CategoricalDtype) and _has_own_text(kind.categories.dtype)):
        return column
    values = column.astype(object).map({str(category): category for category in kind.categories})
    return column.astype(object) if (values.isna() & column.notna()).any() else values.astype(kind)


def _has_own_text(kind: Any) -> bool:
    """True for types without an Arrow equivalent whose values can be written as text."""
    import pandas as pd

    return isinstance(kind, (pd.PeriodDtype, pd.IntervalDtype))


def _as_text(column: Any, name: str) -> pa.Array:
    import pyarrow as pa

    try:
        text = column.astype(object).map(str, na_action="ignore")
        arrow = pa.array(text, pa.large_string(), from_pandas=True)
    except Exception as refused:  # a user-defined __str__ may raise anything
        raise InputError(
            f"column {name!r} holds values that cannot be read as text ({type(refused).__name__}): "
            "give text, numbers or dates"
        ) from None
    is_text = column.map(lambda value: isinstance(value, str)).to_numpy(dtype=bool)
    both = set(text[is_text].dropna()) & set(text[~is_text].dropna())
    if both:
        raise InputError(
            f"column {name!r} holds {min(both)!r} both as text and as something else: convert the column to one type"
        )
    return arrow
