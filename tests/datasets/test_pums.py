"""Census person files: every recode, every reason to leave a row out, and files that cannot be used."""

from __future__ import annotations

import itertools
import re
import zipfile
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

import equivoc as eq
from equivoc.datasets import pums_codes
from equivoc.datasets import shipped as attributes

ROOT = Path(__file__).resolve().parents[2]

WORKER = {"AGEP": 43, "SEX": 1, "SCHL": 10, "INDP": 7690, "OCCP": 4200, "JWMNP": 15, "WAGP": 50000}
RECODED = {
    "Salary": 50,
    "Age": 43,
    "Sex": 1,
    "Education": 10,
    "Industry": 11,
    "Occupation": 15,
    "Travel_time": 15,
}


def real_file(name: str) -> Path:
    """A real Census file from a folder beside the repository; the test is skipped if there is none."""
    path = ROOT.parent / "shared" / "data" / name
    if not path.is_file():
        pytest.skip(f"{name} is not here")
    return path


def text(*rows: dict[str, object], header: list[str] | None = None) -> str:
    """Workers in CSV, each like WORKER except for the given values."""
    names = list(WORKER)
    lines = [",".join(str((WORKER | row)[name]) for name in names) for row in rows]
    return "\n".join([",".join(header or names), *lines]) + "\n"


def read(folder: Path, *rows: dict[str, object], name: str = "ss06pil.csv") -> pd.DataFrame:
    file = folder / name
    file.write_text(text(*rows))
    return eq.datasets.read_pums(file)


def only(folder: Path, row: dict[str, object], attribute: str, **options: str) -> int | None:
    """The attribute of a worker in a file with one ordinary worker; None if the row is left out."""
    frame = read(folder, {}, row, **options)
    return int(frame[attribute].iloc[1]) if len(frame) == 2 else None


def zipped(path: Path, members: dict[str, str]) -> Path:
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, content in members.items():
            archive.writestr(name, content)
    return path


def test_a_worker_is_recoded(tmp_path: Path) -> None:
    frame = read(tmp_path, {})
    assert frame.to_dict("records") == [RECODED]
    assert set(frame.dtypes) == {np.dtype(np.int16)}


@pytest.mark.parametrize(
    ("wages", "salary"),
    [
        ("", None),
        (0, None),
        (4, None),
        (4999, None),
        (5000, 10),
        (14999, 10),
        (15000, 20),
        ("0024999.0", 20),
        (25000, 30),
        (244999, 240),
        (245000, 250),
        (255000, 250),
        (507000, 250),
        (-5000, None),
        ("bbbbbb", None),
        ("inf", None),
        ("nan", None),
        ("1e+05", 100),
        ('" 50000 "', 50),
        ("5 0000", None),
    ],
)
def test_salary(wages: object, salary: int | None, tmp_path: Path) -> None:
    assert only(tmp_path, {"WAGP": wages}, "Salary") == salary


@pytest.mark.parametrize(
    ("name", "given", "attribute", "expected"),
    [
        ("AGEP", 15, "Age", None),
        ("AGEP", 16, "Age", 16),
        ("AGEP", 84, "Age", 84),
        ("AGEP", 85, "Age", None),
        ("SEX", 2, "Sex", 2),
        ("SEX", 3, "Sex", None),
        ("SEX", "", "Sex", None),
        ("JWMNP", "", "Travel_time", None),
        ("JWMNP", 0, "Travel_time", None),
        ("JWMNP", "001", "Travel_time", 1),
        ("JWMNP", 177, "Travel_time", 177),
        ("JWMNP", 178, "Travel_time", 177),
        ("JWMNP", "200.0", "Travel_time", 177),
        ("SCHL", "", "Education", None),
        ("SCHL", "bb", "Education", None),
        ("SCHL", 0, "Education", None),
        ("SCHL", "09", "Education", 9),
        ("SCHL", "16.0", "Education", 16),
        ("INDP", "", "Industry", None),
        ("INDP", "611M1", "Industry", None),
        ("INDP", "7860Z", "Industry", None),
        ("INDP", "0170", "Industry", 1),
        ("INDP", 169, "Industry", None),
        ("INDP", 290, "Industry", 1),
        ("INDP", 291, "Industry", None),
        ("INDP", "770.0", "Industry", 4),
        ("INDP", " 9870 ", "Industry", 18),
        ("INDP", 9920, "Industry", None),
        ("INDP", 100000, "Industry", None),
        ("INDP", 7690.5, "Industry", None),
        ("OCCP", "", "Occupation", None),
        ("OCCP", "N.A.", "Occupation", None),
        ("OCCP", "1191XX", "Occupation", None),
        ("OCCP", "0010", "Occupation", 1),
        ("OCCP", 430, "Occupation", 1),
        ("OCCP", 440, "Occupation", None),
        ("OCCP", 3655, "Occupation", 12),
        ("OCCP", "9830.0", "Occupation", 25),
        ("OCCP", 9920, "Occupation", None),
        ("OCCP", -10, "Occupation", None),
    ],
)
def test_codes(name: str, given: object, attribute: str, expected: int | None, tmp_path: Path) -> None:
    assert only(tmp_path, {name: given}, attribute) == expected


def test_the_ends_of_every_group() -> None:
    for groups in (pums_codes.INDUSTRIES, pums_codes.OCCUPATIONS):
        for number, group in enumerate(groups, start=1):
            codes = np.array([group.low, group.high], float)
            assert pums_codes.group_numbers(groups, codes).tolist() == [number, number]
        for before, after in itertools.pairwise(groups):
            assert before.low <= before.high < after.low <= after.high
            gap = np.array([before.high + 1, after.low - 1], float)
            assert pums_codes.group_numbers(groups, gap).tolist() == [0, 0]


def test_education_in_24_levels_is_folded(tmp_path: Path) -> None:
    levels = range(1, 25)
    frame = read(tmp_path, *({"SCHL": level} for level in levels), name="persons.csv")
    folded = [1] + [2] * 6 + [3] * 2 + [4] * 2 + [5, 6, 7, 8] + [9] * 2 + list(range(10, 17))
    assert frame.Education.tolist() == folded


@pytest.mark.parametrize(
    ("name", "education"),
    [
        ("ss06pil.csv", 16),
        ("ss07pus.csv", 16),
        ("ss08pil.csv", 9),
        ("SS11PUSA.CSV", 9),
        ("psam_p17.csv", 9),
        ("persons.csv", 16),
    ],
)
def test_without_a_level_above_16_the_name_decides(name: str, education: int, tmp_path: Path) -> None:
    assert only(tmp_path, {"SCHL": 16}, "Education", name=name) == education


def test_a_level_above_16_decides_even_in_a_row_that_is_left_out(tmp_path: Path) -> None:
    frame = read(tmp_path, {"SCHL": 16}, {"SCHL": 20, "WAGP": 0}, name="ss06pil.csv")
    assert frame.Education.tolist() == [9]


def test_what_is_left_out_is_counted_once(tmp_path: Path) -> None:
    frame = read(
        tmp_path, {}, {"WAGP": "", "AGEP": 3, "JWMNP": ""}, {"AGEP": 90, "INDP": "X"}, {"OCCP": "9920"}
    )
    assert frame.attrs["left_out"] == {
        "Salary": 1,
        "Age": 1,
        "Sex": 0,
        "Education": 0,
        "Industry": 0,
        "Occupation": 1,
        "Travel_time": 0,
    }


def test_column_names_in_any_case_and_order_others_ignored(tmp_path: Path) -> None:
    file = tmp_path / "persons.csv"
    file.write_bytes(
        b"\xef\xbb\xbfNAICSP,wagp,Agep,SEX,schl,Indp,OCCP,JWMNP,SOCP,note\n"
        b'5617Z,50000,43,1,10,7690,4200,15,371011,"caf\xe9, or\nsuch"\n'
    )
    assert eq.datasets.read_pums(file).to_dict("records") == [RECODED]


def test_the_zip_that_the_census_gives_out(tmp_path: Path) -> None:
    members = {"ACS2006_README.pdf": "%PDF", "ss06pil.csv": text({}, {"AGEP": 20})}
    frame = eq.datasets.read_pums(zipped(tmp_path / "csv_pil.zip", members))
    assert frame.Age.tolist() == [43, 20]


def test_several_person_files_in_a_zip_follow_one_another(tmp_path: Path) -> None:
    members = {
        "data/psam_pusb.csv": text({"AGEP": 60, "SCHL": 24}),
        "data/psam_pusa.csv": text({"AGEP": 50, "SCHL": 16}),
        "data/psam_husa.csv": "SERIALNO,NP\n1,2\n",
        "__MACOSX/data/._psam_pusa.csv": "\x00\x05\x16",
    }
    frame = eq.datasets.read_pums(zipped(tmp_path / "csv_pus.zip", members))
    assert frame.Age.tolist() == [50, 60]
    assert frame.Education.tolist() == [9, 16]


def test_a_zip_without_its_suffix_is_still_a_zip(tmp_path: Path) -> None:
    assert len(eq.datasets.read_pums(zipped(tmp_path / "csv_pil", {"ss06pil.csv": text({})}))) == 1


def test_a_file_longer_than_what_is_read_at_a_time(tmp_path: Path) -> None:
    rows = [{"AGEP": 16 + i % 60, "INDP": "bbbb" if i % 7 == 0 else 770} for i in range(70_000)]
    frame = read(tmp_path, *rows)
    assert (tmp_path / "ss06pil.csv").stat().st_size > 1 << 20
    assert frame.Age.tolist() == [16 + i % 60 for i in range(70_000) if i % 7]


def test_records_are_a_random_part_by_seed(tmp_path: Path) -> None:
    # Salary and travel time number the rows, so that order and repetition show.
    rows = [{"WAGP": 10000 * (1 + i // 100), "JWMNP": 1 + i % 100} for i in range(1000)]
    file = tmp_path / "ss06pil.csv"
    file.write_text(text(*rows))
    chosen = eq.datasets.read_pums(file, records=250, seed=1)
    number = chosen.Salary.to_numpy() * 10 + chosen.Travel_time.to_numpy()
    assert chosen.index.tolist() == list(range(250))
    assert (np.diff(number) > 0).all()
    assert number.mean() == pytest.approx(600, abs=60)
    pd.testing.assert_frame_equal(eq.datasets.read_pums(file, records=250, seed=1), chosen)
    assert not eq.datasets.read_pums(file, records=250, seed=2).equals(chosen)
    assert len(eq.datasets.read_pums(file, records=1000)) == 1000


def refused(path: Path, why: str, **options: object) -> None:
    with pytest.raises(eq.InputError, match=why) as told:
        eq.datasets.read_pums(path, **options)  # type: ignore[arg-type]
    assert "\n" not in str(told.value)


def test_what_cannot_be_used_is_said_in_a_sentence(tmp_path: Path) -> None:
    file = tmp_path / "ss06pil.csv"
    refused(file, "there is no file")
    refused(tmp_path, "is a folder")
    file.write_text("")
    refused(file, "is empty")
    file.write_text("AGEP,SEX,INDP,JWMNP,WAGP,occp02\n")
    refused(file, "lacks the columns SCHL, OCCP: ")
    file.write_text(text({}, header=["AGEP", "SEX", "SCHL", "INDP", "agep", "JWMNP", "WAGP"]))
    refused(file, "lacks the column OCCP: ")
    file.write_text("Agep," + text().replace("\n", "") + "\n1," + text({}).splitlines()[1] + "\n")
    refused(file, "more than one column named AGEP")
    file.write_text(text())
    refused(file, "only column names")
    file.write_text(text({"WAGP": 0}, {"AGEP": 12}, {"AGEP": 12}))
    refused(file, r"no person with wages.*left out: 1 by Salary, 2 by Age")
    for rows in (text({}) + "1,2,3,4,5,6,7,8,9\n", text({}) + "1,2\n", text({"WAGP": "50000,1"})):
        file.write_text(rows)
        refused(file, "not a readable CSV")
    file.write_text(text({}))
    refused(file, "1 eligible rows, fewer than the 2,500 records", records=2500)
    for records in (0, -3, 1.5, "all", True):
        refused(file, r"records is .*; it must be a whole number of 1 or more", records=records)
    refused(file, r"seed is .*; it must be a whole number of 0 or more", seed=-1)


def test_a_broken_zip_is_said_in_a_sentence(tmp_path: Path) -> None:
    rng = np.random.default_rng(0)
    rows = [{"AGEP": int(a), "JWMNP": int(t)} for a, t in rng.integers(16, 80, (500, 2))]
    good = zipped(tmp_path / "csv_pil.zip", {"ss06pil.csv": text(*rows)})
    content = good.read_bytes()
    broken = tmp_path / "broken.zip"
    broken.write_bytes(content[: len(content) // 2])
    refused(broken, "broken zip file")
    broken.write_bytes(content[:300] + bytes(200) + content[500:])
    refused(broken, "broken zip file")
    broken.write_text("not a zip at all")
    refused(broken, "broken zip file")
    broken.write_bytes(b"")
    refused(broken, "broken zip file")
    refused(zipped(tmp_path / "none.zip", {"readme.pdf": "x"}), "holds no CSV file")
    refused(zipped(tmp_path / "house.zip", {"ss06hil.csv": "NP,AGEP\n1,2\n"}), "ss06hil.csv in .* lacks")
    locked = bytearray(content)
    for start in (content.index(b"PK\x03\x04") + 6, content.index(b"PK\x01\x02") + 8):
        locked[start] |= 1
    broken.write_bytes(locked)
    refused(broken, "locked by a password")


def table(page: str, heading: str) -> list[list[str]]:
    """The rows of the first table under a heading of docs/data.md, without its head."""
    section = page.split(f"### {heading}\n", 1)[1].split("\n#", 1)[0]
    rows = [line.strip("| ").split(" | ") for line in section.splitlines() if line.startswith("|")]
    return rows[2:]


def codes(span: str) -> list[int]:
    low, _, high = span.partition("–")
    return list(range(int(low), int(high or low) + 1))


def test_the_page_on_data_says_what_the_code_does() -> None:
    page = (ROOT / "docs" / "data.md").read_text(encoding="utf-8")
    for heading, groups in (("Industry", pums_codes.INDUSTRIES), ("Occupation", pums_codes.OCCUPATIONS)):
        rows = table(page, heading)
        said = [(int(n), label, name, codes(span)) for n, label, name, span in rows]
        assert said == [
            (n, g.label, g.name, list(range(g.low, g.high + 1))) for n, g in enumerate(groups, start=1)
        ]
    education = table(page, "Education")
    assert [row[1] for row in education] == list(pums_codes.EDUCATION)
    assert [int(row[2]) for row in education] == list(range(1, 17))
    folding = {code: int(row[0]) for row in education for code in codes(row[3])}
    assert folding == dict(enumerate(pums_codes.FOLDED, start=1))
    for domain, name in ((attributes.AGE, "Age"), (attributes.TRAVEL_TIME, "Travel_time")):
        row = re.search(rf"^\| {name} \|.*$", page, flags=re.MULTILINE)
        assert row
        assert str(domain[-1]) in row.group()


@pytest.mark.parametrize("name", ["acs2006_idaho_workers.csv", "acs2011_us_sample_workers.csv"])
def test_real_files_are_recoded_as_given(name: str) -> None:
    file = real_file(name)
    given = pd.read_csv(file)
    given = given[(given.WAGP >= 5000) & given.AGEP.between(16, 84)].reset_index(drop=True)
    frame = eq.datasets.read_pums(file)
    assert frame.Education.tolist() == given.SCHL16.tolist()
    assert frame.Industry.tolist() == given.IND18.tolist()
    assert frame.Occupation.tolist() == given.OCC25.tolist()
    assert frame.Salary.tolist() == [min((wages + 5000) // 10000 * 10, 250) for wages in given.WAGP]
    assert frame.Travel_time.tolist() == [min(minutes, 177) for minutes in given.JWMNP]
    for numbers, labels, groups in (
        (given.IND18, given.IND18_LABEL, pums_codes.INDUSTRIES),
        (given.OCC25, given.OCC25_LABEL, pums_codes.OCCUPATIONS),
    ):
        assert [groups[number - 1].label for number in numbers] == labels.tolist()


def test_a_file_as_a_user_brings_it(tmp_path: Path) -> None:
    file = real_file("ss06pid_first3000_all_columns.csv")
    frame = eq.datasets.read_pums(file)
    workers = eq.datasets.read_pums(real_file("acs2006_idaho_workers.csv"))
    # The workers' file was made from the same survey, in the same order.
    pd.testing.assert_frame_equal(frame, workers.head(len(frame)))
    assert len(frame) + sum(frame.attrs["left_out"].values()) == 3000
    with zipfile.ZipFile(tmp_path / "csv_pid.zip", "w", zipfile.ZIP_DEFLATED) as archive:
        archive.write(file, "ss06pid.csv")
    pd.testing.assert_frame_equal(eq.datasets.read_pums(tmp_path / "csv_pid.zip"), frame)
    keys = list(attributes.DOMAINS)[1:]
    assert len(eq.Microdata(frame, confidential="Salary", keys=keys, domain=attributes.SALARY)) == len(frame)
