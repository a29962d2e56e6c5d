"""The paper's seven attributes: their names and the values each can take."""

from __future__ import annotations

SALARY = range(10, 251, 10)
"""Thousands of US dollars a year: 25 values."""
AGE = range(16, 85)
"""Years."""
SEX = range(1, 3)
"""1 male, 2 female."""
EDUCATION = range(1, 17)
"""Highest level reached, 1 none to 16 doctorate."""
INDUSTRY = range(1, 19)
"""Groups of the Census industry codes."""
OCCUPATION = range(1, 26)
"""Groups of the Census occupation codes."""
TRAVEL_TIME = range(1, 178)
"""Minutes to work, one way."""

DOMAINS = {
    "Salary": SALARY,
    "Age": AGE,
    "Sex": SEX,
    "Education": EDUCATION,
    "Industry": INDUSTRY,
    "Occupation": OCCUPATION,
    "Travel_time": TRAVEL_TIME,
}
"""The seven columns in order; the first is confidential, the others are what an intruder may know."""
