"""Small frames with the columns of files that statistical offices and archives publish, and a statistician's roles.

The names are those of the files' codebooks; the values are made up, of the kind and with the gaps that the codebooks
describe. The roles were written down from the codebooks: what a person who prepares a release for research would
take as keys (known to acquaintances, visible, or in public registers), as confidential, and as neither. Where two
answers are defensible, both are listed.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import pandas as pd

ROWS = 400


@dataclass(frozen=True)
class Layout:
    frame: pd.DataFrame
    roles: dict[str, str]
    """Of each column the role, or roles with | between them."""


DESCRIBED = {
    # American Community Survey, PUMS person record (2017 and later: RT … replicate weights).
    "ACS": """
    group: SERIALNO=household:2017000000
    weights: PWGTP=weight
    other: RT=P SPORDER=1..5 DIVISION=8..8 ADJINC=1010145..1010145 JWMNP=1..90?0.4 JWTR=1..12?0.4
        WKHP=1..80?0.4 WKW=1..6?0.4 QTRBIR=1..4 MIGSP=1..56?0.9 GCL=1..2?0.3 DRIVESP=1..6?0.4 FAGEP=0..1
        FSEXP=0..1 FWAGP=0..1 NOP=1..8?0.8 PAOC=1..4?0.5 SFN=1..4?0.98 FER=1..2?0.7
    key: PUMA=100..140 AGEP=0..95 SEX=1..2 RAC1P=1..9 HISP=1..24 MAR=1..5 SCHL=1..24?0.03 DIS=1..2 CIT=1..5
        POBP=1..500 OCCP=10..9830?0.3 INDP=170..9870?0.3 COW=1..9?0.3 ESR=1..6?0.2 MIL=1..4?0.2
        LANP=600..999?0.8 RELP=0..17
    confidential: WAGP=money?0.2 PINCP=money?0.2 PERNP=money?0.2 INTP=money?0.2 OIP=money?0.2 PAP=money?0.2
        RETP=money?0.2 SEMP=money?0.2 SSP=money?0.2
    """,
    # Current Population Survey, basic monthly file.
    "CPS": """
    group: HRHHID=household:110116792163
    group|other: HRHHID2=11..99
    other: HRMONTH=5..5 HRYEAR4=2019..2019 HRMIS=1..8 PULINENO=1..5 PEHRUSLT=0..80 PEABSRSN=1..14?0.9
        PELKM1=1..13?0.95 PRUNEDUR=0..119?0.96 HUINTTYP=1..2 PXAGE=0..50 PXSEX=0..50
    key|other: GEREG=1..4
    key: GESTFIPS=1..56 GTCBSA=10000..10100 PRTAGE=0..85 PESEX=1..2 PTDTRACE=1..9 PEHSPNON=1..2 PEMARITL=1..6
        PEEDUCA=31..46 PRCITSHP=1..5 PENATVTY=57..555 PEAFEVER=1..2 PEMLR=1..7 PEIO1COW=1..8
        PEIO1OCD=10..9840 PEIO1ICD=170..9890 PRDISFLG=1..2 HRNUMHOU=1..9 PERRP=40..59
    confidential: HEFAMINC=1..16 PTERNWA=money?0.5 PTERNHLY=money?0.7
    weights: PWSSWGT=weight PWORWGT=weight PWLGWGT=weight
    """,
    # European Social Survey, integrated file of a round.
    "ESS": """
    other: name=ESS9e03_1 essround=9..9 edition=3..3 proddate=17.02.2021 nwspol=0..600 netusoft=1..5
        polintr=1..4 wkhtot=0..80 inwdds=1..31 uemp3m=1..2 ppltrst=0..10 pplfair=0..10 pplhlp=0..10
        trstprl=0..10 trstlgl=0..10 trstplc=0..10 stflife=0..10 stfeco=0..10 happy=0..10 imwbcnt=0..10
    identifier: idno=running:27
    key: cntry=AT/BE/CZ/PL ctzcntr=1..2 brncntr=1..2 lnghom1=GER/FRE/POL hhmmb=1..8 gndr=1..2 agea=15..90
        yrbrn=1928..2003 marsts=1..6 domicil=1..5 eisced=1..7 mnactic=1..9 isco08=1000..9629 nacer2=1..99
        region=AT11/BE10/CZ01/PL21
    weights: dweight=weight pspwght=weight pweight=weight anweight=weight
    confidential: vote=1..3 lrscale=0..10 rlgdgr=0..10 rlgblg=1..2 health=1..5 hlthhmp=1..3 hinctnta=1..10
    key|other: eduyrs=0..25
    """,
    # UCI Adult, the census income file.
    "Adult": """
    key: age=17..90 workclass=Private/State-gov/Unknown education=Bachelors/HS-grad/11th/Masters
        marital-status=Never-married/Divorced occupation=Sales/Tech-support/Craft-repair
        relationship=Husband/Wife/Own-child race=White/Black/Other sex=Male/Female
        native-country=United-States/Mexico/Germany
    weights: fnlwgt=12285..1484705
    other: education-num=same hours-per-week=1..99
    confidential: capital-gain=money capital-loss=money income=<=50K/>50K
    """,
    # Hospital discharges, as states and hospitals give them to researchers (names as in SPARCS and HCUP).
    "hospital": """
    identifier: Patient_ID=running:500001 MRN=running:1000 Last_Name=Smith/Jones/Lee/Brown
        Attending_NPI=1000000000..1999999999
    key: Facility_ID=1..200 Hospital_County=Kings/Queens/Erie Zip_Code_3_digits=112/104/142
        Age_Group=0_to_17/18_to_29/30_to_49/70_or_Older DateOfBirth=date Gender=M/F Race=White/Black/Other
        Ethnicity=Hispanic/Not Admission_Date=date Discharge_Date=date Length_of_Stay=1..60
    key|other: Type_of_Admission=Emergency/Elective Discharge_Year=2019..2019
    other: Patient_Disposition=Home/Expired/Transfer Emergency_Department_Indicator=Y/N
    confidential: CCS_Diagnosis_Code=1..260 CCS_Procedure_Code=1..230 APR_DRG_Code=1..950 APR_Severity_of_Illness=1..4
        APR_Risk_of_Mortality=Minor/Major ICD10_Principal=I21/E11/J18 Total_Charges=money Total_Costs=money
    confidential|other: Payment_Typology_1=Medicare/Private
    other|confidential: Birth_Weight=500..5000?0.9
    """,
    # EU-SILC, personal data with the register and household variables joined.
    "EU-SILC": """
    other: RB010=2019..2019 PL060=1..80?0.4 PL073=0..12 PB130=1..4 PB100=1..4 PB110=2018..2019 HS060=1..2
        HS120=1..6 PD020=1..3 RB090_F=-1..1 PB190_F=-1..1 PE040_F=-1..1 PL031_F=-1..1 PY010G_F=-1..1
        HY020_F=-1..1
    key: RB020=AT/BE/FR RB080=1935..2018 RB090=1..2 RX010=0..80 DB040=AT1/BE2/FR1/FR2 DB100=1..3 PB190=1..5
        PB210=LOC/EU/OTH PB220A=LOC/EU/OTH PE040=0..500 PL031=1..11 PL051=11..96?0.3 PL111=a/c/f/q
        HX040=1..8
    identifier: RB030=running:100101
    group: PX030=household:1001
    weights: RB050=weight PB040=weight DB090=weight
    confidential: PH010=1..5 PH020=1..2 PH030=1..3 PY010G=money PY050G=money PY100G=money HY020=money HY010=money
        HX090=money
    other|key: HH010=1..4
    """,
}
"""A line for each role: columns with their values. 1..5: whole numbers; ?0.4: with that share missing; a/b: words."""
REPLICATES = {"ACS": {f"PWGTP{number}": "weight" for number in range(1, 81)}}


def layout(name: str) -> Layout:
    random = np.random.default_rng(len(name))
    roles: dict[str, str] = {}
    columns: dict[str, pd.Series] = {}
    role = ""
    for word in DESCRIBED[name].split():
        if word.endswith(":"):
            role = word[:-1]
        else:
            column, _, described = word.partition("=")
            roles[column] = role
            columns[column] = (
                columns["education"].map(SCHOOLS) if described == "same" else values(described, random)
            )
    for column, described in REPLICATES.get(name, {}).items():
        roles[column], columns[column] = "replicate weights", values(described, random)
    return Layout(pd.DataFrame(columns), roles)


SCHOOLS = {"Bachelors": 13, "HS-grad": 9, "11th": 7, "Masters": 14}


def values(described: str, random: np.random.Generator) -> pd.Series:
    what, _, missing = described.partition("?")
    kind, _, first = what.partition(":")
    made: pd.Series
    if kind == "money":
        made = pd.Series((np.exp(random.normal(9.5, 1, ROWS)) // 10 * 10).astype(int))
    elif kind == "weight":
        made = pd.Series(random.gamma(4, 25, ROWS).round(1))
    elif kind == "household":
        made = pd.Series(np.repeat(int(first) + 3 * np.arange(ROWS), random.integers(1, 6, ROWS))[:ROWS])
    elif kind == "running":
        made = pd.Series(np.arange(int(first), int(first) + ROWS))
    elif kind == "date":
        days = pd.to_timedelta(random.integers(0, 9000, ROWS), unit="D")
        made = pd.Series((pd.Timestamp("1990-01-01") + days).strftime("%Y-%m-%d"))
    elif ".." in what:
        low, high = map(int, what.split(".."))
        made = pd.Series(random.integers(low, high + 1, ROWS))
    else:
        made = pd.Series(random.choice(what.split("/"), ROWS))
    return made.astype("Float64").mask(pd.Series(random.random(ROWS) < float(missing))) if missing else made
