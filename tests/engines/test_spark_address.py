"""The address of a Spark master, before Spark is started."""

from __future__ import annotations

import socket

import pytest

from equivoc.engines.spark import check_answers, session
from equivoc.errors import InputError


def _closed_port() -> int:
    with socket.socket() as found:
        found.bind(("127.0.0.1", 0))
        port: int = found.getsockname()[1]
        return port


@pytest.mark.parametrize("scheme", ["spark", "sc"])
def test_nothing_answers(scheme: str) -> None:
    """Spark would try for minutes. A token of Spark Connect is not repeated."""
    hidden = "/;token=hunter2" if scheme == "sc" else ""
    place = f"{scheme}://127.0.0.1:{_closed_port()}"
    with pytest.raises(InputError, match=f"nothing answers at {place}: check") as caught:
        check_answers(place + hidden)
    assert "hunter2" not in str(caught.value)


def test_one_of_several_masters_is_enough() -> None:
    with socket.create_server(("127.0.0.1", 0)) as server:
        check_answers(f"spark://127.0.0.1:{_closed_port()},127.0.0.1:{server.getsockname()[1]}")
        check_answers(f"sc://127.0.0.1:{server.getsockname()[1]}/;use_ssl=true")


@pytest.mark.parametrize("address", ["spark://host:port", "sc://host:port/;token=hunter2"])
def test_no_number(address: str) -> None:
    with pytest.raises(InputError, match="is not the address of a Spark master") as caught:
        check_answers(address)
    assert "hunter2" not in str(caught.value)


def test_others_are_left_to_spark() -> None:
    for address in ("local[*]", "yarn", "k8s://https://host:6443"):
        check_answers(address)
    with pytest.raises(InputError, match="is not the address of a Spark master: give local"):
        session("http://host:8080/;token=hunter2")
