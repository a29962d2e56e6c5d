"""The tests of what changed since main: ``make check`` runs them, as many as fit into its time.

python -m tests.what_changed            # prints the test files, nearest first
python -m tests.what_changed --seconds 40   # runs them, and says which there was no time for
"""

from __future__ import annotations

import ast
import subprocess
import sys
from collections.abc import Iterable
from pathlib import Path
from time import monotonic

ROOT = Path(__file__).parents[1]
PACKAGE = ROOT / "src" / "equivoc"
ALWAYS = ("tests/test_rooms.py", "tests/test_import_cost.py")
"""Quick, and about the whole tree."""
NEEDS_MINUTES = ("tests/test_docs_site.py", "tests/test_demo.py", "tests/test_docs_pictures.py")


def changed(base: str = "origin/main") -> set[str]:
    """Files that differ from ``base``, or from the last commit where there is no such branch."""
    known = subprocess.run(
        ["git", "rev-parse", "-q", "--verify", base], cwd=ROOT, capture_output=True, check=False
    )
    since = _git("merge-base", base, "HEAD")[0] if known.returncode == 0 else "HEAD"
    return {*_git("diff", "--name-only", since), *_git("ls-files", "--others", "--exclude-standard")}


def concerned(files: Iterable[str]) -> list[str]:
    """The test files that changed, then those that import a module that changed, the most of them first."""
    files = set(files)
    modules = {
        module_of(Path(file)) for file in files if file.startswith("src/equivoc/") and file.endswith(".py")
    }
    found = [file for file in sorted(files) if is_test(file) and (ROOT / file).is_file()]
    shared = {}
    for path in sorted((ROOT / "tests").rglob("test_*.py")):
        name = path.relative_to(ROOT).as_posix()
        many = len(modules & imported(path))
        if many and name not in (*found, *NEEDS_MINUTES):
            shared[name] = many
    nearest = sorted(shared, key=lambda name: (-shared[name], name))
    return list(dict.fromkeys([*found, *nearest, *(ALWAYS if modules else ())]))


def is_test(file: str) -> bool:
    """True for a file of tests."""
    return file.startswith("tests/") and Path(file).name.startswith("test_") and file.endswith(".py")


def module_of(file: Path) -> str:
    """The name of a module of the package: ``src/equivoc/data/roles.py`` is ``equivoc.data.roles``."""
    return ".".join(file.with_suffix("").parts[1:]).removesuffix(".__init__")


def imported(path: Path) -> set[str]:
    """The modules that a file imports, and those in which the public names that it uses are made."""
    found: set[str] = set()
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Import):
            found |= {alias.name for alias in node.names}
        elif isinstance(node, ast.ImportFrom) and node.module:
            found |= {node.module, *(f"{node.module}.{alias.name}" for alias in node.names)}
        elif isinstance(node, ast.Attribute) and isinstance(node.value, ast.Name) and node.value.id == "eq":
            found.add(homes().get(node.attr, ""))
    return found


def homes() -> dict[str, str]:
    """The module of each public name."""
    import equivoc

    return dict(equivoc._HOMES)


def main(seconds: float | None) -> int:
    """Print the files, or run them until the time is over; the exit code of the first that fails."""
    files = concerned(changed())
    if seconds is None:
        print("\n".join(files))
        return 0
    end, left = monotonic() + seconds, list(files)
    while left and monotonic() < end:
        some, left = left[:4], left[4:]
        try:
            ran = subprocess.run(
                [sys.executable, "-m", "pytest", "-q", *some],
                cwd=ROOT,
                check=False,
                timeout=max(5.0, end - monotonic()),
            )
        except subprocess.TimeoutExpired:
            left = [*some, *left]
            break
        if ran.returncode not in (0, 5):  # 5: no test in these files
            return ran.returncode
    if left:
        print(f"No time for {len(left)} of {len(files)} test files, {', '.join(left[:3])} …: run make test.")
    return 0


def _git(*words: str) -> list[str]:
    return subprocess.run(["git", *words], cwd=ROOT, capture_output=True, text=True, check=True).stdout.split(
        "\n"
    )[:-1]


if __name__ == "__main__":
    given = sys.argv[1:]
    raise SystemExit(main(float(given[1]) if given[:1] == ["--seconds"] else None))
