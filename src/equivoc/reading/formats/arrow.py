"""Arrow files (Feather) and streams, mapped into memory and read batch by batch."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING

from equivoc.engines.engine import empty_batch
from equivoc.errors import InputError
from equivoc.reading.formats.kinds import Code, Format, damaged

if TYPE_CHECKING:
    import pyarrow as pa

_FILE = b"ARROW1"
_FEATHER_1 = b"FEA1"


@dataclass(frozen=True, eq=False)
class ArrowFile:
    """An Arrow file; its columns keep their types."""

    path: Path
    format: Format = "arrow"

    @cached_property
    def _start(self) -> bytes:
        with self.path.open("rb") as file:
            return file.read(6)

    @cached_property
    def _schema(self) -> pa.Schema:
        with self._opened() as (schema, _):
            return schema

    @property
    def names(self) -> tuple[str, ...]:
        return tuple(self._schema.names)

    @property
    def rows(self) -> int | None:
        return None

    @property
    def part(self) -> None:
        return None

    @property
    def value_labels(self) -> Mapping[str, Mapping[Code, str]]:
        return {}

    @property
    def missing(self) -> Mapping[str, Mapping[Code, int]]:
        return {}

    @property
    def notes(self) -> Mapping[str, str]:
        return {}

    def batches(self, names: Sequence[str]) -> Iterator[pa.RecordBatch]:
        import pyarrow as pa

        with self._opened() as (schema, pieces):
            empty = True
            for piece in pieces:
                empty = False
                chosen = piece.select(list(names))
                chosen.validate(full=True)  # offsets that point outside a damaged file would end the process
                yield chosen
            if empty:
                yield empty_batch(pa.schema([schema.field(name) for name in names]))

    def order(self, name: str) -> pa.Array | None:
        import pyarrow as pa

        kind = self._schema.field(name).type
        if not (pa.types.is_dictionary(kind) and kind.ordered):
            return None
        column = pa.chunked_array([batch.column(0) for batch in self.batches([name])])
        return column.unify_dictionaries().combine_chunks().dictionary

    @contextmanager
    def _opened(self) -> Iterator[tuple[pa.Schema, Iterator[pa.RecordBatch]]]:
        """The schema and the pieces of the file, which is mapped into memory."""
        import pyarrow as pa

        if self._start.startswith(_FEATHER_1):
            raise InputError(
                f"{self.path} is a Feather file of version 1, which is no longer read: save it as version 2 or Parquet"
            )
        try:
            with pa.memory_map(str(self.path)) as mapped:
                if self._start == _FILE:
                    file = pa.ipc.open_file(mapped)
                    yield file.schema, map(file.get_batch, range(file.num_record_batches))
                else:
                    stream = pa.ipc.open_stream(mapped)
                    yield stream.schema, iter(stream)
        except (pa.ArrowException, OSError) as broken:
            raise damaged(self.path, self.format, broken) from None
