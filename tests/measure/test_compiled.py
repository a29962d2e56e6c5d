"""Numba's cache shows whether kernels are compiled."""

from __future__ import annotations

from pathlib import Path
from types import SimpleNamespace

import pytest

from equivoc import parallel as compiled


def test_compiled_kernels_are_found_in_the_cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    kernel = SimpleNamespace(_cache=SimpleNamespace(cache_path=str(tmp_path)))
    monkeypatch.setattr(compiled, "import_module", lambda _: SimpleNamespace(kernel=kernel, other=1))
    assert not compiled.kernels_are_compiled("equivoc.measure.lane_kernels")
    (tmp_path / "other_kernels.f-1.py311.nbi").touch()
    assert not compiled.kernels_are_compiled("equivoc.measure.lane_kernels")
    (tmp_path / "lane_kernels.f-1.py311.nbi").touch()
    assert compiled.kernels_are_compiled("equivoc.measure.lane_kernels")
    monkeypatch.setattr(compiled, "import_module", lambda _: SimpleNamespace(other=1))
    assert compiled.kernels_are_compiled("equivoc.measure.lane_kernels")  # nothing is kept anywhere
