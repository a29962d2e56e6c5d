"""Figures about workers in the United States, from which ACS-like people are drawn.

Approximate and rounded, around 2019: people drawn from them resemble the survey's. The tables to
compare them with:

- age: BLS, Current Population Survey (CPS) annual averages, table 3
- education by age: the same, table 7, and ACS table B23006
- industry, and women's share in it: ACS tables DP03 and C24030; CPS annual averages, table 18
- occupation: ACS table S2401; CPS annual averages, table 11; within industries after BLS's national employment
  matrix; education within occupations after BLS, Employment Projections, table 5.3
- weekly earnings by education, by occupation, by sex: CPS annual averages, tables 37 and 39; "Education pays"
- minutes to work: ACS tables B08303 and S0801

Not from any table, but estimated by us: education within industries, earnings at single ages, how much of a difference
in earnings is due to education and how much to occupation, the spread, and the preference for round minutes.
"""

from __future__ import annotations

AGES = {
    (16, 19): 3.3,
    (20, 24): 9.0,
    (25, 34): 22.6,
    (35, 44): 20.9,
    (45, 54): 20.5,
    (55, 64): 17.1,
    (65, 74): 5.5,
    (75, 84): 1.1,
}
"""Per cent of workers by age, in years."""

ATTAINMENTS: dict[str, dict[int, float]] = {
    "no diploma": {1: 10, 2: 6, 3: 16, 4: 10, 5: 14, 6: 14, 7: 16, 8: 14},
    "high school": {9: 100},
    "some college": {10: 30, 11: 70},
    "associate": {12: 100},
    "bachelor": {13: 100},
    "master": {14: 100},
    "professional": {15: 100},
    "doctorate": {16: 100},
}
"""The published groups of education, and how the 16 levels share each (per cent)."""

SCHOOL_AGE_LEVELS: dict[int, float] = {1: 1, 2: 0.5, 3: 1, 4: 3, 5: 8, 6: 23, 7: 36, 8: 27.5}
"""The levels without a diploma among workers of 16–19, most of whom are still at school (per cent)."""

EDUCATION_BY_AGE = {
    16: (49, 28, 22, 1, 0.01, 0.01, 0.01, 0.01),
    20: (7, 29, 38, 8, 16.6, 1.2, 0.1, 0.1),
    25: (7, 24, 17, 10, 29, 10, 1.6, 1.4),
    35: (9, 24, 14, 11, 25, 12.5, 2.1, 2.4),
    45: (9, 27, 15, 12, 23, 10.5, 1.9, 1.6),
    55: (7.5, 29, 16, 12, 21.5, 10.5, 1.9, 1.6),
    65: (7, 27, 17, 9, 21, 13, 3, 3),
    75: (9, 29, 16, 7, 20, 12, 4, 3),
}
"""From that age on, per cent of workers in each of `ATTAINMENTS`."""

TIERS = (8, 9, 12, 13, 16)
"""The last level of five tiers: no diploma, high school, some college, bachelor, graduate."""

INDUSTRIES = {
    "AGR": (1.2, 26, (25, 33, 22, 16, 4)),
    "EXT": (0.5, 15, (9, 38, 26, 20, 7)),
    "UTL": (0.8, 23, (3, 29, 34, 24, 10)),
    "CON": (6.7, 10, (20, 40, 26, 12, 2)),
    "MFG": (10.0, 29, (9, 33, 27, 22, 9)),
    "WHL": (2.5, 30, (8, 31, 28, 27, 6)),
    "RET": (11.0, 49, (10, 33, 34, 19, 4)),
    "TRN": (4.9, 25, (9, 38, 34, 16, 3)),
    "INF": (1.9, 40, (3, 17, 28, 39, 13)),
    "FIN": (6.6, 52, (2, 18, 28, 39, 13)),
    "PRF": (11.9, 42, (7, 17, 23, 34, 19)),
    "EDU": (9.2, 69, (2, 11, 17, 32, 38)),
    "MED": (11.5, 77, (4, 18, 35, 25, 18)),
    "SCA": (2.6, 84, (6, 23, 33, 26, 12)),
    "ENT": (9.6, 51, (17, 34, 32, 14, 3)),
    "SRV": (4.7, 53, (12, 31, 32, 17, 8)),
    "ADM": (4.6, 45, (2, 19, 32, 30, 17)),
    "MIL": (0.6, 17, (1, 29, 45, 17, 8)),
}
"""Per cent of workers, per cent of women among them, and their five tiers of education (per cent)."""

OCCUPATIONS = {
    "MGR": (10.9, 1429, (3, 16, 25, 37, 19)),
    "BUS": (3.0, 1240, (1, 11, 24, 45, 19)),
    "FIN": (2.3, 1260, (1, 8, 19, 50, 22)),
    "CMM": (3.4, 1567, (1, 7, 23, 45, 24)),
    "ENG": (2.1, 1529, (0.5, 8, 23, 45, 23.5)),
    "SCI": (1.0, 1313, (0.5, 6, 12, 35, 46.5)),
    "CMS": (1.7, 938, (1, 9, 18, 36, 36)),
    "LGL": (1.2, 1486, (0.5, 6, 14, 20, 59.5)),
    "EDU": (6.1, 1027, (1, 8, 16, 34, 41)),
    "ENT": (2.1, 1137, (2, 11, 25, 47, 15)),
    "MED": (6.1, 1195, (0.3, 6, 34, 30, 29.7)),
    "HLS": (2.9, 576, (8, 33, 44, 12, 3)),
    "PRT": (2.1, 871, (3, 26, 43, 24, 4)),
    "EAT": (5.7, 507, (23, 36, 30, 10, 1)),
    "CLN": (3.7, 563, (28, 43, 21, 7, 1)),
    "PRS": (3.1, 586, (10, 33, 36, 18, 3)),
    "SAL": (10.1, 802, (7, 27, 33, 28, 5)),
    "OFF": (11.6, 740, (3, 28, 42, 23, 4)),
    "FFF": (0.7, 589, (45, 33, 14, 7, 1)),
    "CON": (5.1, 833, (24, 44, 25, 6, 1)),
    "EXT": (0.15, 1000, (14, 50, 29, 6, 1)),
    "RPR": (3.2, 925, (9, 43, 39, 8, 1)),
    "PRD": (5.6, 733, (16, 47, 28, 8, 1)),
    "TRN": (6.9, 702, (16, 46, 29, 8, 1)),
    "MIL": (0.4, 900, (1, 32, 47, 15, 5)),
}
"""Per cent of workers, median weekly earnings (US dollars), and their five tiers of education (per cent)."""

OCCUPATIONS_WITHIN = {
    "AGR": "FFF 45 MGR 28 TRN 6 OFF 4 CLN 3 PRD 3 SAL 2 RPR 2 SCI 2",
    "EXT": "EXT 22 CON 18 TRN 14 MGR 12 ENG 8 PRD 8 RPR 7 OFF 6 BUS 4 SCI 3",
    "UTL": "RPR 20 PRD 15 OFF 15 MGR 12 ENG 11 TRN 7 CON 6 BUS 4 CMM 3 SCI 2",
    "CON": "CON 63 MGR 17 OFF 6 RPR 5 TRN 3 SAL 2 BUS 2 ENG 1.5",
    "MFG": "PRD 40 MGR 14 TRN 9 OFF 8 ENG 8 SAL 5 RPR 5 CMM 4 BUS 3 FIN 2 SCI 2 CON 2",
    "WHL": "SAL 32 TRN 20 OFF 16 MGR 14 PRD 5 RPR 4 BUS 3 CMM 2",
    "RET": "SAL 54 OFF 12 TRN 9 MGR 5 MED 5 RPR 4 EAT 3.5 PRD 3 PRS 1 CLN 1",
    "TRN": "TRN 57 OFF 25 MGR 6 RPR 5 PRS 2 BUS 2 SAL 1.5 PRD 1",
    "INF": "ENT 24 CMM 15 MGR 14 OFF 14 SAL 10 RPR 9 BUS 4 EDU 3 FIN 2 ENG 2",
    "FIN": "SAL 25 OFF 24 MGR 20 FIN 18 CMM 6 BUS 4 CLN 2 LGL 1 RPR 1",
    "PRF": "CMM 14 CLN 14 MGR 13 OFF 13 BUS 8 FIN 7 LGL 7 ENG 6 PRT 4 SAL 4 ENT 4 TRN 4 SCI 3 PRD 2 MED 2 CON 1",
    "EDU": "EDU 60 OFF 10 MGR 8 CLN 4 EAT 4 CMS 3 PRS 3 MED 2 TRN 2 CMM 1.5 ENT 1.5 SCI 1 PRT 1",
    "MED": "MED 45 HLS 21 OFF 15 MGR 7 CMS 3 CLN 3 PRS 2.5 EAT 1.5 CMM 1",
    "SCA": "PRS 38 EDU 18 CMS 17 MGR 9 OFF 8 HLS 4 EAT 1.5 MED 1.5",
    "ENT": "EAT 55 MGR 11 PRS 8 SAL 7 CLN 6 ENT 5 OFF 4 PRT 2 TRN 1.5",
    "SRV": "PRS 26 RPR 20 CLN 12 MGR 9 OFF 9 CMS 8 PRD 4 SAL 3 TRN 3 ENT 2",
    "ADM": "PRT 28 OFF 20 MGR 11 BUS 9 LGL 6 CMS 5 FIN 4 CMM 4 ENG 3 SCI 3 CON 2 MED 2 CLN 1",
    "MIL": "MIL 62 RPR 10 OFF 6 PRT 5 TRN 4 MGR 4 MED 3 ENG 2 CMM 2",
}
"""Each industry's main occupations, with per cent of its workers."""

ELSEWHERE = 0.1
"""Per cent in every other occupation; of military occupations, none outside the armed forces."""

MINUTES_TO_WORK = {
    (1, 4): (2.6, 3.1),
    (5, 9): (8.9, 10.2),
    (10, 14): (12.0, 14.2),
    (15, 19): (14.4, 15.9),
    (20, 24): (14.0, 14.6),
    (25, 29): (6.6, 6.9),
    (30, 34): (14.2, 13.0),
    (35, 39): (3.2, 2.9),
    (40, 44): (4.4, 4.0),
    (45, 59): (9.2, 7.7),
    (60, 89): (7.1, 5.3),
    (90, 177): (3.4, 2.2),
}
"""Per cent of men and of women who travel so many minutes to work, one way."""

ROUND_MINUTES = {30: 30.0, 15: 20.0, 5: 8.0, 1: 1.0}
"""Factor by which people report multiples of these minutes more often; the largest divisor is used."""

MINUTES_FALL_OFF = 20.0
"""Beyond an hour, the frequency of a commute falls by the factor e for each so many further minutes."""

WEEKLY_BY_EDUCATION = (510, 520, 530, 550, 570, 580, 590, 600, 746, 815, 840, 887, 1248, 1497, 1861, 1883)
"""Median weekly earnings (US dollars) by level of education."""

WEEKLY = 917
"""Median weekly earnings of all (US dollars)."""

EDUCATION_WEIGHT, OCCUPATION_WEIGHT = 0.55, 0.6
"""The share of the log difference in earnings by education, and by occupation, that is due to it alone."""

WOMEN_TO_MEN = 0.75
"""Women's earnings divided by men's, at equal age, education and occupation; includes the effect of fewer hours."""

EARNINGS_BY_AGE = {
    16: 0.16,
    18: 0.26,
    20: 0.42,
    22: 0.55,
    25: 0.78,
    30: 0.95,
    35: 1.06,
    45: 1.15,
    55: 1.15,
    62: 1.02,
    66: 0.75,
    70: 0.6,
    84: 0.45,
}
"""Yearly earnings at some ages divided by those of all, at equal education and occupation; linear in between."""

SPREAD = 0.62
"""Standard deviation of log earnings at equal age, sex, education and occupation."""
