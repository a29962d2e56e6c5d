"""Spark: people in a cluster, counted there."""
