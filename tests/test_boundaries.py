"""Imports go down the layers, never up or sideways. Checks every import statement, including those inside functions."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from pathlib import Path

import pytest

import equivoc

LAYERS = (
    (
        "arguments",
        "csv_output",
        "did_you_mean",
        "errors",
        "files",
        "memory",
        "number_format",
        "quoted_words",
        "plain_text",
        "version",
    ),
    ("charts", "serving"),
    ("measure",),
    ("attributes",),
    ("data", "engines", "datasets"),
    ("intruder",),
    ("techniques", "models", "queries"),
    ("tables",),
    ("information_loss",),
    ("assessment",),
    ("study",),
    ("decide", "auditing", "gateway"),
    ("report",),
    ("web",),
    ("cli",),
)
"""From the lowest to the highest; a package may import itself and what lies in lower layers."""
SIDEWAYS = {("data", "engines"), ("datasets", "data"), ("techniques", "queries")}
"""The first of these may import the second, which lies in the same layer."""
UPWARD = {("equivoc.assessment.report_methods", "report")}
"""The one module that imports from a higher layer: a result writes its report."""
ENGINES = {f"equivoc.engines.{name}" for name in ("duckdb", "parquet", "postgresql", "spark", "csv_file")}
"""What belongs to one engine. All others see `equivoc.engines.engine` only, and do not know which it is."""
OPENING = {
    "equivoc.data.microdata",
    "equivoc.data.read",
    "equivoc.data.reading.records",  # of a CSV file, the line of a record
    "equivoc.data.reading.tables",
    "equivoc.cli.options.people_options",
    "equivoc.web.views.preview",  # of a file that was uploaded
}
"""The modules that open a table, and so choose its engine."""
ANYTHING = {"__init__", "__main__", "demo"}
"""Top-level modules without import restrictions."""

HEIGHT = {package: height for height, layer in enumerate(LAYERS) for package in layer}


def imported_modules(source: str, module: str) -> Iterator[str]:
    """Full names of the modules that a module's source imports; names imported from a package are followed too."""
    package = module.rsplit(".", 1)[0]
    for node in ast.walk(ast.parse(source)):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            root = node.module or ""
            if node.level:
                base = package.split(".")
                root = ".".join([*base[: len(base) - node.level + 1], *([root] if root else [])])
            yield from (f"{root}.{alias.name}" for alias in node.names)


def violation(module: str, imported: str) -> str | None:
    """What is wrong with this import, if anything."""
    if not imported.startswith("equivoc."):
        return None
    above = module.split(".")[1]
    below = imported.split(".")[1]
    if above in ANYTHING or above == below:
        return None
    if module not in OPENING and any(f"{imported}.".startswith(f"{engine}.") for engine in ENGINES):
        return f"{module} imports {imported}, which belongs to one engine"
    if below not in HEIGHT:  # a public name of the top-level package, such as equivoc.curve
        return f"{module} imports {imported} from the top-level package; import it from its own module"
    if above not in HEIGHT:
        return f"{above} has no layer; give it one in {Path(__file__).name}"
    if HEIGHT[below] > HEIGHT[above] and (module, below) not in UPWARD:
        return f"{module} imports {imported}, which lies above it"
    if HEIGHT[below] == HEIGHT[above] > 0 and (above, below) not in SIDEWAYS:
        return f"{module} imports {imported}, its neighbour"
    return None


def every_module() -> dict[str, Path]:
    root = Path(equivoc.__file__).parent
    return {
        ".".join(("equivoc", *file.relative_to(root).with_suffix("").parts)): file
        for file in sorted(root.rglob("*.py"))
    }


MODULES = every_module()


@pytest.mark.parametrize("module", MODULES)
def test_imports_go_down(module: str) -> None:
    source = MODULES[module].read_text(encoding="utf-8")
    wrong = [violation(module, imported) for imported in imported_modules(source, module)]
    assert [w for w in wrong if w] == []


def test_modules_are_found() -> None:
    assert {
        "equivoc.measure.curve",
        "equivoc.cli.app",
        "equivoc.errors",
        "equivoc.__init__",
    } <= MODULES.keys()


@pytest.mark.parametrize(
    ("module", "source"),
    [
        ("equivoc.measure.curve", "from equivoc.cli.app import app"),
        ("equivoc.measure.curve", "def f():\n    import equivoc.report.page"),
        ("equivoc.measure.curve", "if True:\n    from equivoc import study"),
        ("equivoc.measure.curve", "from ..data import microdata"),
        ("equivoc.measure.curve", "from equivoc import curve"),
        ("equivoc.errors", "import equivoc.measure"),
        ("equivoc.techniques.sampling", "from equivoc.models import truta"),
        ("equivoc.assessment.assess", "from equivoc.engines.spark.table import SparkTable"),
        ("equivoc.data.classes", "from equivoc.engines import postgresql"),
        ("equivoc.newcomer.room", "from equivoc.errors import InputError"),
        ("equivoc.assessment.assessment", "def f():\n    from equivoc.report.page import write_report"),
        ("equivoc.assessment.report_methods", "from equivoc.cli.app import app"),
    ],
)
def test_a_wrong_import_is_seen(module: str, source: str) -> None:
    assert any(violation(module, imported) for imported in imported_modules(source, module))


@pytest.mark.parametrize(
    ("module", "source"),
    [
        (
            "equivoc.cli.commands.curve",
            "from equivoc.measure.curve import curve\nfrom equivoc.errors import InputError",
        ),
        ("equivoc.measure.curve", "from .entropy import entropy_at\nimport numpy as np"),
        ("equivoc.report.page", "from equivoc.study.store import Store"),
        ("equivoc.demo", "import equivoc.cli.app"),
        ("equivoc.assessment.report_methods", "def f():\n    from equivoc.report.page import write_report"),
    ],
)
def test_a_right_import_passes(module: str, source: str) -> None:
    assert not any(violation(module, imported) for imported in imported_modules(source, module))


def test_the_report_imports_no_technique() -> None:
    for module, file in MODULES.items():
        if module.startswith("equivoc.report."):
            imported = imported_modules(file.read_text(encoding="utf-8"), module)
            assert not [name for name in imported if name.startswith("equivoc.techniques")], module
