"""Writes spreadsheets as OpenDocument describes them (part 3): a zip with a type and XML of tables, rows and cells."""

from __future__ import annotations

import datetime
import io
import zipfile
from collections.abc import Mapping, Sequence
from typing import Any
from xml.sax.saxutils import escape, quoteattr

_BEGIN = (
    '<?xml version="1.0" encoding="UTF-8"?><office:document-content '
    'xmlns:office="urn:oasis:names:tc:opendocument:xmlns:office:1.0" '
    'xmlns:table="urn:oasis:names:tc:opendocument:xmlns:table:1.0" '
    'xmlns:text="urn:oasis:names:tc:opendocument:xmlns:text:1.0" '
    'xmlns:calcext="urn:org:documentfoundation:names:experimental:calc:xmlns:calcext:1.0" '
    'office:version="1.3"><office:body><office:spreadsheet>'
)
_END = "</office:spreadsheet></office:body></office:document-content>"
TYPE = "application/vnd.oasis.opendocument.spreadsheet"


def cell(entry: Any) -> str:
    """A cell; a text that begins with ``<`` is XML already."""
    if entry is None:
        return "<table:table-cell/>"
    if isinstance(entry, str) and entry.startswith("<"):
        return entry
    if isinstance(entry, bool):
        kind, shown = f'boolean" office:boolean-value="{str(entry).lower()}', str(entry).upper()
    elif isinstance(entry, (int, float)):
        kind, shown = f'float" office:value="{entry!r}', str(entry)
    elif isinstance(entry, datetime.date):
        kind, shown = f'date" office:date-value="{entry.isoformat()}', str(entry)
    else:
        kind, shown = "string", str(entry)
    return f'<table:table-cell office:value-type="{kind}"><text:p>{escape(shown)}</text:p></table:table-cell>'


def row(entries: Sequence[Any]) -> str:
    # Spreadsheet programs fill the row with one repeated empty cell.
    rest = f'<table:table-cell table:number-columns-repeated="{1024 - len(entries)}"/>'
    return f"<table:table-row>{''.join(map(cell, entries))}{rest}</table:table-row>"


def spreadsheet(sheets: Mapping[str, Sequence[Sequence[Any]]]) -> bytes:
    """The file, with the rows of each sheet."""
    tables = "".join(
        f"<table:table table:name={quoteattr(name)}>{''.join(map(row, rows))}"
        '<table:table-row table:number-rows-repeated="1048000"><table:table-cell table:number-columns-repeated="1024"/>'
        "</table:table-row></table:table>"
        for name, rows in sheets.items()
    )
    return packed(f"{_BEGIN}{tables}{_END}")


def packed(content: str) -> bytes:
    made = io.BytesIO()
    with zipfile.ZipFile(made, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr(zipfile.ZipInfo("mimetype"), TYPE)
        archive.writestr("content.xml", content)
        archive.writestr(
            "META-INF/manifest.xml",
            '<?xml version="1.0"?>'
            '<manifest:manifest xmlns:manifest="urn:oasis:names:tc:opendocument:xmlns:manifest:1.0">'
            f'<manifest:file-entry manifest:full-path="/" manifest:media-type="{TYPE}"/></manifest:manifest>',
        )
    return made.getvalue()
