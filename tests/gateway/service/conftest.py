"""A real PostgreSQL server for the tests of the service."""

from __future__ import annotations

from tests.postgresql_server import postgresql_server

__all__ = ["postgresql_server"]
