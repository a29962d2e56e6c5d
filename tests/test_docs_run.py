"""The examples in the documentation are correct: Python examples and commands print what they show."""

from __future__ import annotations

import doctest
import re
import shlex
import shutil
from pathlib import Path

import pytest

from tests.commands import run_command

ROOT = Path(__file__).resolve().parent.parent
PAGES = [ROOT / "README.md", *sorted((ROOT / "docs").rglob("*.md"))]
FLAGS = doctest.NORMALIZE_WHITESPACE | doctest.ELLIPSIS


def blocks(page: Path, language: str) -> list[tuple[int, str]]:
    """The fenced blocks of one language: the line each begins at, and its text."""
    text = page.read_text(encoding="utf-8")
    found = re.finditer(rf"^```{language}\n(.*?)^```$", text, flags=re.MULTILINE | re.DOTALL)
    return [(text.count("\n", 0, m.start(1)), m.group(1)) for m in found]


def failures(name: str, examples: list[tuple[int, str]]) -> list[str]:
    """What goes wrong when the ``>>>`` examples of a page are run one after the other, sharing their names."""
    runner = doctest.DocTestRunner(optionflags=FLAGS, verbose=False)
    parser = doctest.DocTestParser()
    names: dict[str, object] = {}
    complaints: list[str] = []
    for line, text in examples:
        test = parser.get_doctest(text, names, name, name, line)
        runner.run(test, out=complaints.append, clear_globs=False)
        names = test.globs
    return complaints


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_python_examples_give_what_they_show(page: Path) -> None:
    examples = blocks(page, "python")
    for line, text in examples:
        assert ">>>" in text, f"{page.name}, line {line}: a Python block without >>> is never run"
    assert not failures(page.name, examples)


def fits(printed: str, shown: str) -> bool:
    """True if the words are the same; a line ``[...]`` stands for any lines."""
    words, position = printed.split(), 0
    first, *others = [piece.split() for piece in re.split(r"^\[\.\.\.\]$", shown, flags=re.MULTILINE)]
    if words[: len(first)] != first:
        return False
    position = len(first)
    for number, piece in enumerate(others, start=1):
        last = len(words) - len(piece)
        places = [last] if number == len(others) else range(position, last + 1)
        found = next((at for at in places if at >= position and words[at : at + len(piece)] == piece), None)
        if found is None:
            return False
        position = found + len(piece)
    return position == len(words)


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_commands_print_what_they_show(page: Path, tmp_path: Path) -> None:
    """`$ echo $?` after a command shows its exit code, otherwise it is 0; `$ cp` copies a file of the repository."""
    surroundings = {"COLUMNS": "80", "NO_COLOR": "1"}
    for line, text in blocks(page, "console"):
        sessions = re.split(r"^\$ ", text.replace("\\\n", ""), flags=re.MULTILINE)[1:]
        for number, session in enumerate(sessions):
            command, _, shown = session.partition("\n")
            words = shlex.split(command)
            if words[0] == "cp":
                shutil.copy(ROOT / words[1], tmp_path / words[2])
            if words[0] != "equivoc":
                continue
            done = run_command(tmp_path, words[1:], surroundings=surroundings)
            code = re.match(r"echo \$\?\n(\d+)$", "".join(sessions[number + 1 : number + 2]).strip())
            expected = int(code.group(1)) if code else 0
            assert done.returncode == expected, f"{page.name}, line {line}: {command}\n{done.stderr}"
            assert fits(done.stdout, shown), f"{page.name}, line {line}: {command}\n{done.stdout}"


def test_left_out_lines_of_an_output_are_the_only_freedom() -> None:
    assert fits("a b\nc\nd", "a b\n[...]\nd")
    assert fits("a b\nc\nd", "a b c d")
    assert fits("a b c", "[...]\nc")
    assert not fits("a b\nc\nd", "a b\n[...]\ne")
    assert not fits("a b\nc\nd", "b\n[...]\nd")
    assert not fits("a b c d", "a\n[...]\nc\n")
    assert not fits("a", "a\n[...]\na")


def test_a_wrong_example_is_noticed() -> None:
    assert failures("a page", [(1, ">>> 1 + 1\n3\n")])
    assert not failures("a page", [(1, ">>> one = 1\n"), (3, ">>> one + 1\n2\n")])


def test_the_method_page_holds_the_worked_values() -> None:
    text = "".join(text for _, text in blocks(ROOT / "docs" / "method.md", "python"))
    for figure in ("1.319", "1.054", "0.811", "0.610", "0.286", "6.514", "(3.0, 57.0)"):
        assert figure in text


def test_readme_names_the_two_commands_and_its_links_lead_somewhere() -> None:
    text = (ROOT / "README.md").read_text(encoding="utf-8")
    assert "make demo" in text
    assert "make test" in text
    for page in PAGES:
        for target in re.findall(r"\]\(([^)#]+)[^)]*\)", page.read_text(encoding="utf-8")):
            if "://" not in target:
                assert (page.parent / target).exists(), f"{page.name} links to {target}, which is not there"
