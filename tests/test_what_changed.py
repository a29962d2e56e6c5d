"""``make check`` finds the tests that a change concerns."""

from __future__ import annotations

from pathlib import Path

from tests.what_changed import ALWAYS, ROOT, concerned, imported, module_of


def test_a_changed_technique_leads_to_its_tests() -> None:
    found = concerned({"src/equivoc/techniques/swapping.py", "README.md"})
    assert "tests/techniques/test_swapping.py" in found
    assert set(ALWAYS) <= set(found)
    assert "tests/measure/test_certified_area.py" not in found
    assert all((ROOT / file).is_file() for file in found)


def test_a_changed_test_comes_first() -> None:
    found = concerned({"tests/measure/test_curves.py", "src/equivoc/measure/curve.py"})
    assert found[0] == "tests/measure/test_curves.py"


def test_no_code_no_tests() -> None:
    assert concerned({"README.md", "docs/index.md", "src/equivoc/render/page.css"}) == []


def test_public_names_count_as_imports_of_their_modules(tmp_path: Path) -> None:
    file = tmp_path / "test_it.py"
    file.write_text("import equivoc as eq\nfrom equivoc.data import roles\neq.Swapping(0.1)\n")
    assert {"equivoc.techniques.swapping", "equivoc.data.roles"} <= imported(file)
    assert module_of(Path("src/equivoc/models/__init__.py")) == "equivoc.models"
