"""What reads and counts people: one protocol (`engine.py`) for DuckDB, PostgreSQL and Spark; CSV and Parquet files."""
