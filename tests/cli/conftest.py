"""What commands print does not depend on whether kernels were compiled before."""

from __future__ import annotations

import pytest

from equivoc import parallel as compiled


@pytest.fixture(autouse=True)
def _kernels_are_there(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(compiled, "kernels_are_compiled", lambda _: True)
