"""The owner's page of the log: plain HTML without scripts, newest entries first, a page at a time."""

from __future__ import annotations

import base64
import hashlib
import json
from functools import cache
from importlib.resources import files
from typing import Any

from jinja2 import Environment, FunctionLoader, StrictUndefined
from markupsafe import Markup

from equivoc.gateway.service.log_reader import Page
from equivoc.plain_text import printable
from equivoc.serving.guard import CLOSED


def log_page(page: Page, *, before: int | None) -> str:
    """The HTML of a page; ``before``: only entries with smaller numbers were asked for."""
    rows = [
        {
            "number": entry.number,
            "time": printable(entry.time),
            "analyst": printable(entry.analyst),
            "question": printable(entry.question, keep="\n"),
            "decision": printable(entry.decision),
            "reason": printable(entry.reason),
            "value": value_text(entry.value),
        }
        for entry in page.entries
    ]
    html: str = _template().render(
        rows=rows, total=page.total, before=before, older=page.older, style=Markup(_style())
    )
    return html


def page_policy() -> str:
    """The page's Content-Security-Policy: its own style sheet, by its hash, and nothing else."""
    found = base64.b64encode(hashlib.sha256(_style().encode()).digest()).decode()
    return f"{CLOSED}; style-src 'sha256-{found}'"


def value_text(value: object) -> str:
    """An answer as text: a number as it is, groups as JSON, nothing for a refusal.

    >>> value_text(57.0), value_text([{"sex": "F", "value": 3.5}]), value_text(None)
    ('57', '[{"sex": "F", "value": 3.5}]', '')
    """
    if value is None:
        return ""
    if isinstance(value, float) and value.is_integer():
        return str(int(value))
    return printable(
        value if isinstance(value, (str, int, float)) else json.dumps(value, ensure_ascii=False, default=str)
    )


@cache
def _style() -> str:
    return _read("log.css")


@cache
def _template() -> Any:
    found = Environment(autoescape=True, undefined=StrictUndefined, loader=FunctionLoader(_read))
    return found.get_template("log.html.jinja")


def _read(name: str) -> str:
    return (files("equivoc.gateway.service") / name).read_text(encoding="utf-8")
