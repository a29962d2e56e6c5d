"""A real PostgreSQL server and a real Spark cluster for the tests of the engines."""

from __future__ import annotations

from tests.postgresql_server import postgresql_server
from tests.spark_cluster import spark, spark_cluster

__all__ = ["postgresql_server", "spark", "spark_cluster"]
