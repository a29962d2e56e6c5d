"""Checksums of Parquet pages, which DuckDB does not look at: damaged bytes may still decode, to other values.

Spark and other writers give each page a checksum (CRC-32); DuckDB and pyarrow write none unless they are asked to.
"""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

from equivoc.errors import InputError

if TYPE_CHECKING:
    import pyarrow.parquet as pq

_INTEGER = 0x15
"""In a page's header (Thrift, compact): the next field, a 32-bit integer."""


def check_pages(file: Path, column: str) -> None:
    """InputError if a page of the column has a checksum, and its bytes have another one."""
    import pyarrow as pa
    import pyarrow.parquet as pq

    try:
        with pq.ParquetFile(str(file), page_checksum_verification=True) as opened:
            if not _has_checksums(file, opened, column):
                return
            for group in range(opened.num_row_groups):
                opened.read_row_group(group, columns=[column])
    except (pa.ArrowException, OSError) as broken:
        if "crc checksum" not in str(broken).lower():
            return  # DuckDB reads it in its own way, and says what is wrong
        raise InputError(
            f"{file} cannot be read: its column {column!r} is damaged (a checksum is wrong); get a new copy"
        ) from None


def _has_checksums(file: Path, opened: pq.ParquetFile, column: str) -> bool:
    """True if the column's first page has one: a file has them for all pages or for none."""
    metadata = opened.metadata
    chunks = [
        metadata.row_group(0).column(at)
        for at in range(metadata.num_columns if metadata.num_row_groups else 0)
        if metadata.row_group(0).column(at).path_in_schema == column
    ]
    if not chunks:
        return False
    with file.open("rb") as data:
        data.seek(_start(chunks[0]))
        return checksum_follows(data.read(64))


def _start(chunk: Any) -> int:
    """Where the first page is: that of the dictionary, if there is one."""
    return int(chunk.dictionary_page_offset or chunk.data_page_offset)


def checksum_follows(header: bytes) -> bool:
    """True if the fourth field of a page's header is the checksum; before it come the page's type and two sizes.

    >>> checksum_follows(bytes([0x15, 0x04, 0x15, 0x80, 0x01, 0x15, 0x02, 0x15, 0x9A, 0x03]))
    True
    >>> checksum_follows(bytes([0x15, 0x04, 0x15, 0x80, 0x01, 0x15, 0x02, 0x2C]))
    False
    """
    at = 0
    for _ in range(3):
        if header[at : at + 1] != bytes([_INTEGER]):
            return False
        at += 1
        while header[at : at + 1] >= b"\x80":  # a varint's last byte is below 128
            at += 1
        at += 1
    return header[at : at + 1] == bytes([_INTEGER])
