"""How the codes of a Census person file (PUMS) map to the paper's education, industry and occupation.

Groups follow the prefixes of the PUMS code book (``AGR-``, ``MGR-`` …), as ranges of INDP and OCCP.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

CODES = 10_000
"""Industry and occupation codes have four digits."""


@dataclass(frozen=True)
class Group:
    """A group of codes; its number is its place in the list, from 1."""

    label: str
    """The code book's prefix."""
    name: str
    """In words."""
    low: int
    """The first code."""
    high: int
    """The last code, included."""


INDUSTRIES = (
    Group("AGR", "Agriculture, forestry, fishing and hunting", 170, 290),
    Group("EXT", "Mining, quarrying, oil and gas extraction", 370, 490),
    Group("UTL", "Utilities", 570, 690),
    Group("CON", "Construction", 770, 770),
    Group("MFG", "Manufacturing", 1070, 3990),
    Group("WHL", "Wholesale trade", 4070, 4590),
    Group("RET", "Retail trade", 4670, 5790),
    Group("TRN", "Transportation and warehousing", 6070, 6390),
    Group("INF", "Information", 6470, 6780),
    Group("FIN", "Finance, insurance and real estate", 6870, 7190),
    Group("PRF", "Professional, management and administrative services", 7270, 7790),
    Group("EDU", "Education", 7860, 7890),
    Group("MED", "Health care", 7970, 8290),
    Group("SCA", "Social assistance", 8370, 8470),
    Group("ENT", "Arts, recreation, accommodation and food", 8560, 8690),
    Group("SRV", "Other services", 8770, 9290),
    Group("ADM", "Public administration", 9370, 9590),
    Group("MIL", "Armed forces", 9670, 9870),
)

OCCUPATIONS = (
    Group("MGR", "Management", 10, 430),
    Group("BUS", "Business operations", 500, 740),
    Group("FIN", "Financial specialists", 800, 950),
    Group("CMM", "Computers and mathematics", 1000, 1240),
    Group("ENG", "Architecture and engineering", 1300, 1560),
    Group("SCI", "Life, physical and social science", 1600, 1965),
    Group("CMS", "Community and social services", 2000, 2060),
    Group("LGL", "Legal", 2100, 2160),
    Group("EDU", "Education, training and library", 2200, 2550),
    Group("ENT", "Arts, design, entertainment, sports and media", 2600, 2960),
    Group("MED", "Health care practitioners and technicians", 3000, 3540),
    Group("HLS", "Health care support", 3600, 3655),
    Group("PRT", "Protective services", 3700, 3955),
    Group("EAT", "Food preparation and serving", 4000, 4160),
    Group("CLN", "Cleaning and maintenance of buildings and grounds", 4200, 4250),
    Group("PRS", "Personal care and services", 4300, 4650),
    Group("SAL", "Sales", 4700, 4965),
    Group("OFF", "Office and administrative support", 5000, 5940),
    Group("FFF", "Farming, fishing and forestry", 6000, 6130),
    Group("CON", "Construction", 6200, 6765),
    Group("EXT", "Extraction", 6800, 6940),
    Group("RPR", "Installation, maintenance and repair", 7000, 7630),
    Group("PRD", "Production", 7700, 8965),
    Group("TRN", "Transportation and material moving", 9000, 9750),
    Group("MIL", "Military specific", 9800, 9830),
)

EDUCATION = (
    "No schooling completed",
    "Nursery school to grade 4",
    "Grade 5 or 6",
    "Grade 7 or 8",
    "Grade 9",
    "Grade 10",
    "Grade 11",
    "Grade 12, no diploma",
    "High school graduate",
    "Some college, less than a year",
    "Some college, a year or more, no degree",
    "Associate's degree",
    "Bachelor's degree",
    "Master's degree",
    "Professional school degree",
    "Doctorate",
)
"""The 16 levels of SCHL up to 2007; the number of a level is its place, from 1."""

FOLDED = (1, 2, 2, 2, 2, 2, 2, 3, 3, 4, 4, 5, 6, 7, 8, 9, 9, 10, 11, 12, 13, 14, 15, 16)
"""The 16-level education of each of the 24 levels of SCHL from 2008 on, level 1 first."""


def group_numbers(groups: Sequence[Group], codes: NDArray[np.float64]) -> NDArray[np.int16]:
    """The number of each code's group; 0 if the code is missing or in no group.

    >>> group_numbers(OCCUPATIONS, np.array([10, 435, 9830, np.nan]))
    array([ 1,  0, 25,  0], dtype=int16)
    """
    table = np.zeros(CODES + 1, np.int16)
    for number, group in enumerate(groups, start=1):
        table[group.low : group.high + 1] = number
    return table[_whole(codes, below=CODES)]


def education_levels(levels: NDArray[np.float64], *, folded: bool) -> NDArray[np.int16]:
    """Education in 16 levels, 0 if missing; ``folded`` means that SCHL has 24 levels.

    >>> education_levels(np.array([9, 16, np.nan]), folded=False)
    array([ 9, 16,  0], dtype=int16)
    >>> education_levels(np.array([9, 16, 24]), folded=True)
    array([ 3,  9, 16], dtype=int16)
    """
    known = np.array(FOLDED if folded else range(1, len(EDUCATION) + 1), np.int16)
    table = np.zeros(known.size + 2, np.int16)
    table[1:-1] = known
    return table[_whole(levels, below=known.size + 1)]


def _whole(numbers: NDArray[np.float64], *, below: int) -> NDArray[np.intp]:
    """Whole numbers of 0 or more unchanged, anything else as ``below``, which means missing."""
    good = (numbers >= 0) & (numbers < below) & (np.floor(numbers) == numbers)
    return np.where(good, numbers, below).astype(np.intp)
