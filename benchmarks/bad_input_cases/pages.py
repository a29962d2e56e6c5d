"""Wrong options of ``serve``: addresses, ports, sizes, files and folders. No server may start."""

from __future__ import annotations

from collections.abc import Iterator

from .case import Case, Content, fifo, folder, link_to


def cases() -> Iterator[Case]:
    """All of them."""
    for what, words in {
        "host-of-another": ("--host", "0.0.0.0"),
        "host-no-address": ("--host", "999.1.1.1"),
        "host-empty": ("--host", ""),
        "port-below-0": ("--port", "-1"),
        "port-too-large": ("--port", "65536"),
        "port-text": ("--port", "http"),
        "size-0": ("--most-upload", "0"),
        "size-below-0": ("--most-upload", "-1GiB"),
        "size-text": ("--most-upload", "much"),
        "size-unit": ("--most-upload", "1XB"),
        "size-endless": ("--most-upload", "9" * 400),
        "folder-is-a-file": ("--folder", "people.csv"),
        "folder-of-others": ("--folder", "."),
        "folder-below-a-file": ("--folder", "people.csv/x"),
        "folder-empty": ("--folder", ""),
        "option-unknown": ("--token", "x"),
    }.items():
        yield Case("serve", "options", what, ("--no-browser", *words))
    for what, content in PEOPLE.items():
        files = {} if content is None else {"other.csv": content}
        yield Case("serve", "files", what, ("other.csv", "--no-browser", "--folder", "page"), files=files)


PEOPLE: dict[str, Content | None] = {
    "missing": None,
    "folder": folder,
    "fifo": fifo,
    "link-to-itself": link_to("other.csv"),
    "empty": b"",
    "no-rows": b"age,pay\n",
    "uneven": b"age,pay\n1\n",
    "no-table": b"\x00\x01\x02",
}
