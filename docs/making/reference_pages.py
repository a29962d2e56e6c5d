"""MkDocs hook: the pages of the API reference, made from the names that `equivoc` makes public."""

from __future__ import annotations

import inspect
import json
from typing import Any

from mkdocs.config.defaults import MkDocsConfig
from mkdocs.structure.files import File, Files

import equivoc
from equivoc.techniques.technique import Technique

# The page of a public name is that of the folder that defines it (HOMES); names from other folders go to "decide".
PAGES = {
    "decide": "Assess and decide",
    "measure": "Measure",
    "data": "Data",
    "techniques": "Techniques",
}
PACKAGES = {
    "models": "Classic measures",
    "datasets": "Example data",
    "requests": "Tasks",
    "results": "Results",
    "tables": "Tables",
}
HOMES = {
    "attributes": "data",
    "errors": "data",
    "measure": "measure",
    "data": "data",
    "techniques": "techniques",
}
VERSION = '<a id="equivoc.__version__"></a>\n\n## equivoc.\\_\\_version\\_\\_\n\nThe version, as text.\n'


def page_of(found: Any) -> str:
    """The page for an object, by the folder of the module that defines it."""
    return HOMES.get(found.__module__.split(".")[1], "decide")


def entry(prefix: str, name: str, found: Any) -> str:
    """The public name as a heading, its signature and docstring. Of a technique only what its own class defines."""
    options = {
        "heading": f"{prefix}.{name}",
        "toc_label": name,
        "inherited_members": not (inspect.isclass(found) and issubclass(found, Technique)),
    }
    listed = "".join(f"        {option}: {json.dumps(value)}\n" for option, value in options.items())
    return f"[](){{#{prefix}.{name}}}\n\n::: {found.__module__}.{found.__qualname__}\n    options:\n{listed}"


def first_paragraph(package: Any) -> str:
    return (inspect.getdoc(package) or "").split("\n\n")[0]


def reference_pages() -> dict[str, str]:
    """The Markdown of each page, by its file name."""
    entries: dict[str, list[str]] = {page: [] for page in PAGES}
    for name in sorted(equivoc.__all__, key=str.lower):
        found = getattr(equivoc, name)
        if name not in PACKAGES and hasattr(found, "__qualname__"):
            entries[page_of(found)].append(entry("equivoc", name, found))
    entries["data"].append(VERSION)
    pages = {
        f"reference/{page}.md": f"# {PAGES[page]}\n\n`import equivoc as eq`\n\n" + "\n".join(parts)
        for page, parts in entries.items()
    }
    for name, title in PACKAGES.items():
        package = getattr(equivoc, name)
        members = [entry(f"equivoc.{name}", each, getattr(package, each)) for each in package.__all__]
        head = f"# {title} {{ #equivoc.{name} }}\n\n{first_paragraph(package)}\n\n"
        pages[f"reference/{name}.md"] = head + "\n".join(members)
    return pages


def on_files(files: Files, *, config: MkDocsConfig) -> Files:
    """Called by MkDocs: add the pages."""
    for path, text in reference_pages().items():
        files.append(File.generated(config, path, content=text))
    return files
