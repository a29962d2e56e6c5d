"""Rounding of tables: conventional, random and controlled, and what an intruder can compute from rounded cells."""
