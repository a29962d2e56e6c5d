"""One server for the tests of this folder."""

from __future__ import annotations

from collections.abc import Iterator

import httpx
import pytest

from tests.web.page_server import PageServer


@pytest.fixture(scope="session")
def page_server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[PageServer]:
    """`equivoc serve`; when it stops, it must have written nothing on standard error, and its folder is gone."""
    folder = tmp_path_factory.mktemp("web") / "page"
    server = PageServer.start(folder)
    yield server
    code, said = server.stop()
    assert (code, said) == (0, "")
    assert not folder.exists()


@pytest.fixture
def http(page_server: PageServer) -> Iterator[httpx.Client]:
    """A client with the cookie; the file is closed before and after."""
    with page_server.client() as client:
        assert client.delete("/api/file").status_code == 200
        yield client
        assert client.delete("/api/file").status_code == 200
