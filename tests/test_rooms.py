"""Rooms: no two import each other, each library has its room, and the map of rooms in CONTRIBUTING.md is right.

A room is a folder of the package; the modules directly in the package are one room. Every import statement that can run
counts, also inside functions; those under TYPE_CHECKING never run. The order of the rooms follows from their imports.
"""

from __future__ import annotations

import ast
import re
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import NamedTuple

import pytest

import equivoc

ROOT = Path(equivoc.__file__).parent
PACKAGE = "equivoc"
FREE = {"equivoc", "equivoc.__main__", "equivoc.demo"}
"""Modules that may import anything."""
LAZY = {"equivoc", "equivoc.models", "equivoc.results", "equivoc.tables"}
"""Packages that load their public names on first use. Our own modules import these from where they are made."""
MOST_FILES = 16
"""In a room, its __init__ not counted."""
MORE_FILES = {"equivoc.techniques": 17}
"""Rooms with more: of the techniques each has one file, which is found by its name."""

HOMES: Mapping[str, tuple[str, ...]] = {
    "adbc_driver_manager": ("engines.",),
    "adbc_driver_postgresql": ("engines.",),
    "altair": ("charts.", "render.page"),
    "duckdb": ("engines.", "data.tables"),
    "fastapi": ("web.", "gateway.service.", "serving."),
    "highspy": ("systems.programs",),
    "jinja2": ("render.", "gateway.service."),
    "numba": ("*_kernels",),
    "opendp": ("techniques.geometric_noise", "gateway."),
    "openpyxl": ("reading.",),
    "pyreadstat": ("reading.",),
    "pyspark": ("engines.spark", "engines.spark_measures"),
    "python_calamine": ("reading.",),
    "rdata": ("reading.",),
    "rich": ("cli.", "render.lines", "experiments.workers"),
    "sklearn": ("information_loss.",),
    "sqlglot": ("sql.", "engines."),
    "sqlite3": ("experiments.store", "gateway."),
    "starlette": ("web.", "gateway.service.", "serving."),
    "typer": ("cli.",),
    "uvicorn": ("serving.",),
    "vl_convert": ("charts.", "render.page"),
}
"""For a library, the rooms (with a full stop at the end) and modules that may import it; * stands for any beginning."""
DYNAMIC = {
    "equivoc": "public names",
    "equivoc.models": "public names",
    "equivoc.cli.process": "libraries, all at once where memory is limited",
    "equivoc.parallel": "kernels",
    "equivoc.requests.tasks": "the public function of a task",
    "equivoc.results": "public names",
    "equivoc.results.result": "renderers",
    "equivoc.tables": "public names",
}
"""The only modules that import by a name that they compute, and what."""
ENGINES = {
    f"equivoc.engines.{name}"
    for name in ("csv_file", "duckdb", "parquet", "postgresql", "spark", "spark_measures")
}
"""What belongs to one engine. All others see `equivoc.engines.engine`, and do not know which it is."""
OPENING = {
    "equivoc.data.microdata",
    "equivoc.data.read",
    "equivoc.data.records",  # of a CSV file, the line of a record
    "equivoc.data.tables",
    "equivoc.cli.options",
    "equivoc.cli.process",  # starts it first where memory is limited
    "equivoc.sql.asking",  # conditions are asked of a scratch table
    "equivoc.web.preview",  # of a file that was uploaded
}
"""The modules that open a table, and so choose its engine."""


class Tree(NamedTuple):
    """What the modules of the package import."""

    packages: frozenset[str]
    own: dict[str, set[str]]
    """Of each module, the own modules that it imports."""
    libraries: dict[str, set[str]]
    dynamic: dict[str, int]
    """How often a module calls import_module or __import__."""

    def room(self, module: str) -> str:
        """The folder of a module."""
        return module if module in self.packages else module.rpartition(".")[0]


def imports(tree: ast.Module, module: str, package: bool) -> Iterator[tuple[str, str | None]]:
    """(module, name) of every import that can run."""
    waiting: list[ast.AST] = [tree]
    while waiting:
        node = waiting.pop()
        if isinstance(node, ast.If) and "TYPE_CHECKING" in ast.unparse(node.test):
            waiting += node.orelse
        elif isinstance(node, ast.Import):
            yield from ((alias.name, None) for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            base = node.module or ""
            if node.level:
                parts = module.split(".") if package else module.split(".")[:-1]
                base = ".".join([*parts[: len(parts) - node.level + 1], *([base] if base else [])])
            yield from ((base, alias.name) for alias in node.names)
        else:
            waiting += ast.iter_child_nodes(node)


def every_module() -> dict[str, Path]:
    found = {}
    for file in sorted(ROOT.rglob("*.py")):
        parts = (PACKAGE, *file.relative_to(ROOT).with_suffix("").parts)
        found[".".join(parts[:-1] if parts[-1] == "__init__" else parts)] = file
    return found


MODULES = every_module()
PACKAGES = frozenset(module for module, file in MODULES.items() if file.name == "__init__.py")
SOURCES = {module: file.read_text(encoding="utf-8") for module, file in MODULES.items()}


def tree_of(sources: Mapping[str, str], packages: frozenset[str] = PACKAGES) -> Tree:
    own: dict[str, set[str]] = {module: set() for module in sources}
    libraries: dict[str, set[str]] = defaultdict(set)
    dynamic: dict[str, int] = defaultdict(int)
    for module, source in sources.items():
        parsed = ast.parse(source)
        for base, name in imports(parsed, module, module in packages):
            if base.split(".")[0] != PACKAGE:
                libraries[module].add(base.split(".")[0])
                continue
            found = f"{base}.{name}" if f"{base}.{name}" in sources else base
            if found in sources and found != module:
                own[module].add(found)
        for node in ast.walk(parsed):
            if isinstance(node, ast.Call):
                called = ast.unparse(node.func).rpartition(".")[2]
                dynamic[module] += called in ("import_module", "__import__")
    return Tree(packages, own, libraries, {module: count for module, count in dynamic.items() if count})


def circles(edges: Mapping[str, set[str]]) -> list[list[str]]:
    """Sets of rooms that reach each other (Tarjan)."""
    number: dict[str, int] = {}
    low: dict[str, int] = {}
    stack: list[str] = []
    found: list[list[str]] = []

    def visit(node: str) -> None:
        number[node] = low[node] = len(number)
        stack.append(node)
        for other in sorted(edges.get(node, ())):
            if other not in number:
                visit(other)
                low[node] = min(low[node], low[other])
            elif other in stack:
                low[node] = min(low[node], number[other])
        if low[node] == number[node]:
            at = stack.index(node)
            found.append(sorted(stack[at:]))
            del stack[at:]

    for node in sorted(edges):
        if node not in number:
            visit(node)
    return [each for each in found if len(each) > 1]


def room_edges(tree: Tree) -> dict[str, set[str]]:
    edges: dict[str, set[str]] = defaultdict(set)
    for module, imported in tree.own.items():
        for other in imported:
            if module not in FREE and other not in FREE and tree.room(module) != tree.room(other):
                edges[tree.room(module)].add(tree.room(other))
    return edges


def is_at_home(module: str, library: str) -> bool:
    below = module.removeprefix(f"{PACKAGE}.")
    return any(
        below.endswith(home[1:]) if home.startswith("*") else f"{below}.".startswith(f"{home.rstrip('.')}.")
        for home in HOMES[library]
    )


def faults(tree: Tree) -> list[str]:
    """Everything that is wrong with the imports, a sentence each."""
    found = [f"these rooms import each other: {', '.join(each)}" for each in circles(room_edges(tree))]
    shown = rooms_of_the_map()
    for module, imported in sorted(tree.own.items()):
        if tree.room(module) not in shown:
            found.append(f"{tree.room(module)} is not in CONTRIBUTING.md's map of rooms")
        if module in FREE:
            continue
        for other in sorted(imported):
            if other in LAZY:
                found.append(f"{module} imports a public name of {other}; import it from where it is made")
            if other in FREE - {PACKAGE}:
                found.append(f"{module} imports {other}, which nothing imports")
            engine = module.startswith("equivoc.engines.")
            if other in ENGINES and not engine and module not in OPENING:
                found.append(f"{module} imports {other}, which belongs to one engine")
    for module, libraries in sorted(tree.libraries.items()):
        for library in sorted(libraries & HOMES.keys()):
            if not is_at_home(module, library):
                found.append(f"{module} imports {library}, whose home is {', '.join(HOMES[library])}")
    for module in sorted(tree.dynamic):
        if module not in DYNAMIC:
            found.append(f"{module} imports by a computed name")
    return found


def rooms_of_the_map() -> dict[str, str]:
    """The rooms in CONTRIBUTING.md, and what is said of each."""
    text = (ROOT.parents[1] / "CONTRIBUTING.md").read_text(encoding="utf-8")
    section = text.split("\n## The rooms\n")[1].split("\n## ")[0]
    found, last = {"equivoc": "the modules directly in the package"}, ""
    for line in section.splitlines():
        if match := re.fullmatch(r"    ([a-z_]+(?:/[a-z_]+)*)/ +(\S.*)", line):
            last = f"{PACKAGE}.{match.group(1).replace('/', '.')}"
            found[last] = match.group(2)
        elif line.startswith("        ") and last:
            found[last] += f" {line.strip()}"
        else:
            last = ""
    return found


def with_source(module: str, source: str) -> Tree:
    """The tree, if this module also had these lines."""
    return tree_of({**SOURCES, module: f"{SOURCES.get(module, '')}\n{source}\n"})


def test_imports_between_rooms() -> None:
    assert faults(tree_of(SOURCES)) == []


def test_modules_are_found() -> None:
    assert {"equivoc.measure.curve", "equivoc.cli.app", "equivoc.errors", "equivoc"} <= MODULES.keys()
    assert len(MODULES) > 200


def test_the_map_shows_what_each_room_says_of_itself() -> None:
    said = {
        package: " ".join((ast.get_docstring(ast.parse(SOURCES[package])) or "").split("\n\n")[0].split())
        for package in PACKAGES - {"equivoc", "equivoc.models", "equivoc.datasets"}
    }
    shown = rooms_of_the_map()
    assert {room: shown.get(room) for room in said} == said
    assert shown.keys() == PACKAGES


def test_rooms_have_few_files() -> None:
    count: dict[str, int] = defaultdict(int)
    for module in MODULES.keys() - PACKAGES:
        count[module.rpartition(".")[0]] += 1
    assert {room: files for room, files in count.items() if files > MOST_FILES} == MORE_FILES


def test_the_list_of_exceptions_is_still_needed() -> None:
    tree = tree_of(SOURCES)
    assert tree.dynamic.keys() == DYNAMIC.keys()


@pytest.mark.parametrize(
    ("module", "source"),
    [
        ("equivoc.measure.curve", "from equivoc.cli.app import app"),
        ("equivoc.measure.curve", "def f():\n    import equivoc.render.page"),
        ("equivoc.measure.curve", "if True:\n    from equivoc.experiments import study"),
        ("equivoc.measure.curve", "from ..data import microdata"),
        ("equivoc.measure.curve", "from equivoc import curve"),
        ("equivoc.errors", "import equivoc.measure"),
        ("equivoc.techniques.sampling", "from equivoc.models import truta"),
        ("equivoc.assessment.assess", "from equivoc.engines.spark import SparkTable"),
        ("equivoc.data.classes", "from equivoc.engines import postgresql"),
        ("equivoc.newcomer.room", "from equivoc.errors import InputError"),
        ("equivoc.assessment.assessment", "def f():\n    from equivoc.render.page import write_report"),
        ("equivoc.results.result", "from equivoc.cli.app import app"),
        ("equivoc.tables.release", "import typer"),
        ("equivoc.measure.curves", "from numba import njit"),
        ("equivoc.data.roles", "from importlib import import_module\nimport_module('equivoc.cli.app')"),
        ("equivoc.data.roles", "__import__('equivoc.cli.app')"),
    ],
)
def test_a_wrong_import_is_seen(module: str, source: str) -> None:
    assert faults(with_source(module, source))


@pytest.mark.parametrize(
    ("module", "source"),
    [
        (
            "equivoc.cli.system",
            "from equivoc.measure.curve import curve\nfrom equivoc.errors import InputError",
        ),
        ("equivoc.measure.curves", "from .curve import entropy_at\nimport numpy as np"),
        ("equivoc.render.page", "from equivoc.experiments.stores import StudyStore"),
        ("equivoc.demo", "import equivoc.cli.app"),
        ("equivoc.measure.curve", "if TYPE_CHECKING:\n    from equivoc.cli.app import app"),
    ],
)
def test_a_right_import_passes(module: str, source: str) -> None:
    assert faults(with_source(module, source)) == []


def test_a_planted_circle_is_seen() -> None:
    packages: Sequence[str] = ("equivoc.a", "equivoc.b", "equivoc.c")
    sources = {
        **dict.fromkeys(packages, ""),
        "equivoc.a.one": "from equivoc.b.two import x",
        "equivoc.b.two": "def f():\n    from equivoc.c import three",
        "equivoc.c.three": "import equivoc.a.one",
    }
    tree = tree_of(sources, frozenset(packages))
    assert circles(room_edges(tree)) == [list(packages)]


def test_rendering_knows_no_technique() -> None:
    tree = tree_of(SOURCES)
    for module, imported in tree.own.items():
        if module.startswith("equivoc.render."):
            assert not [name for name in imported if name.startswith("equivoc.techniques")], module
