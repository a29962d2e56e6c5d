"""People left out and words that may mean "missing" are said wherever a number of people stands."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pandas as pd
import pytest

import equivoc as eq
from equivoc.web.held_people import HeldPeople
from equivoc.web.people_spec import PeopleSpec
from tests.commands import run_command

SAID = "3 of 12 people were left out because pay is missing; every figure is about the 9 others."
OPTIONS = ["--confidential", "pay", "--keys", "age,job", "--drop-missing"]
FRAME = pd.DataFrame(
    {
        "age": [30, 30, 41, 41, 52, 52] * 2,
        "job": ["cook", "NULL", "cook", "N/A", "cook", "judge"] * 2,
        "pay": [1, 2, 3, 4, 5, None, 1, 2, None, 4, None, 6],
    }
)


@pytest.fixture(params=["csv", "parquet"])
def file(request: pytest.FixtureRequest, tmp_path: Path) -> Path:
    path = tmp_path / f"people.{request.param}"
    FRAME.to_csv(path, index=False) if request.param == "csv" else FRAME.to_parquet(path)
    return path


def people(source: Any) -> eq.Microdata:
    return eq.Microdata(source, confidential="pay", keys=["age", "job"], drop_missing=True)


def test_everything_that_counts_people_says_who_was_left_out(file: Path, tmp_path: Path) -> None:
    mine = people(file)
    assert mine.remarks[0][:2] == ("people left out", 3)
    assert mine.remarks[0].sentence == SAID
    assert "9 records (3 left out)" in repr(mine)
    result = eq.assess(mine, eq.Unprotected())
    assert result.notes[0] == SAID
    assert result.facts()["notes"][0] == SAID
    assert "9 records (3 left out)" in result._repr_html_()
    audited = eq.audit(mine, "SELECT SUM(pay) FROM people")
    assert audited.facts()["notes"].count(SAID) == 1
    rows = eq.measures(mine).set_index("measure")
    assert rows.loc["people left out", "value"] == 3
    assert rows.loc["people left out", "meaning"] == SAID
    done = eq.protect(mine, eq.Suppression(k=2), tmp_path / "p.csv")
    assert SAID in done.warnings
    assert done.certificate["people"]["left_out"] == 3
    assert eq.verify(done.certificate_path, file, done.path).holds
    study = eq.Study(mine, techniques=[eq.Sampling(fraction=0.5)], replicates=1).run()
    compared = eq.compare(mine, [eq.Unprotected()])
    for done in (study, compared):
        assert "9 records (3 left out)" in repr(done)
        assert SAID in done.report(tmp_path / "r.html").read_text()
    by_job = eq.tabulate(mine, ["job"])
    table = eq.assess(by_job, eq.CellRounding(base=5).release(by_job))
    assert table.notes[0] == table.facts()["notes"][0] == SAID
    chosen = eq.choose(by_job, eq.CellRounding, low=2, high=5, require=["h0 >= 0.01"])
    assert chosen.notes[0] == SAID
    with eq.Gateway(mine, policy={"least_h0": 0.1}, store=tmp_path / "store.sqlite") as gate:
        assert gate.warnings[0] == SAID
    spec = PeopleSpec(str(file), file.name, "pay", "number", ("age", "job"), drop_missing=True)
    assert SAID in HeldPeople.read(spec).facts["remarks"]  # the page


@pytest.mark.parametrize(
    "words",
    [
        ["assess"],
        ["measures", "--json"],
        ["choose", "--technique", "sampling", "--require", "h0 >= 0.01"],
        ["choose", "--technique", "sampling", "--require", "h0 >= 0.01", "--json"],
        ["compare", "--technique", "unprotected"],
        ["protect", "--technique", "suppression:k=2", "--out", "p.csv"],
        ["report", "--out", "r.html"],
        ["audit", "--queries", "log.sql"],
        ["table", "--by", "job"],
        ["table", "--by", "job", "--round", "5"],
        ["table", "--by", "job", "--round", "5", "--json"],
        ["table", "--by", "job", "--compare", "round:5"],
        ["table", "--by", "job", "--choose", "round:2..5", "--require", "h0 >= 0.01"],
    ],
    ids=" ".join,
)
def test_commands_say_who_was_left_out(words: list[str], file: Path, tmp_path: Path) -> None:
    (tmp_path / "log.sql").write_text("SELECT SUM(pay) FROM people;")
    done = run_command(tmp_path, [words[0], file.name, *OPTIONS, *words[1:]], surroundings={"COLUMNS": "400"})
    assert done.returncode == 0, done.stderr
    said = (tmp_path / "r.html").read_text() if words[0] == "report" else done.stdout
    assert SAID in " ".join(said.split())


def test_a_certificate_of_other_people_is_found_by_those_left_out(tmp_path: Path) -> None:
    done = eq.protect(people(FRAME), eq.Suppression(k=2), tmp_path / "p.csv")
    whole = FRAME.dropna().reset_index(drop=True)  # the same 9 people, nobody left out
    found = eq.verify(done.certificate_path, people(whole), done.path)
    assert not found.holds
    assert "9 people, but the certificate is about 9 people, and 3 more were left out" in " ".join(
        found.problems
    )


def test_a_certificate_without_the_number_is_refused(tmp_path: Path) -> None:
    done = eq.protect(people(FRAME), eq.Suppression(k=2), tmp_path / "p.csv")
    facts = json.loads(done.certificate_path.read_text())
    del facts["people"]["left_out"]
    done.certificate_path.write_text(json.dumps(facts))
    with pytest.raises(eq.InputError, match=r"people\.left_out"):
        eq.verify(done.certificate_path, people(FRAME), done.path)


@pytest.mark.parametrize("word", ["NULL", "N/A", "<NA>", "NA", ".", "n/a", " "])
def test_words_for_missing_values_in_a_key(word: str, tmp_path: Path) -> None:
    frame = pd.DataFrame({"job": ["cook", word, "judge", word, None], "pay": range(5)})
    mine = eq.Microdata(frame, confidential="pay", keys=["job"])
    (remark,) = mine.remarks
    assert remark.people == 2
    assert f"The key 'job' holds {word.strip()!r} for 2 people: read as a value of its own" in remark.sentence
    assert remark.sentence in eq.assess(mine, eq.Unprotected()).notes
    assert remark.sentence in list(eq.measures(mine)["meaning"])
    assert len(mine.classes(["job"])) == 4  # it is a class beside that of the null


def test_stars_in_a_key_of_the_people() -> None:
    """A released file that is given as the people: its stars would be one more category."""
    mine = eq.Microdata(pd.DataFrame({"job": ["cook", "*", "judge", "*", "cook"]}), keys=["job"])
    (remark,) = mine.remarks
    assert remark.people == 2
    assert (
        "The key 'job' holds '*' for 2 people: read as a value of its own, not as any value"
        in remark.sentence
    )
    assert remark.sentence in list(eq.measures(mine)["meaning"])


def test_a_key_of_numbers_with_some_other_text(tmp_path: Path) -> None:
    frame = pd.DataFrame({"age": ["30", "31", "32", "85+", "85+"], "pay": range(5)})
    frame.to_csv(tmp_path / "people.csv", index=False)
    (remark,) = eq.read(tmp_path / "people.csv", confidential="pay", keys=["age"]).remarks
    assert "'age' holds numbers, but other text for 2 people: all of it is read as text" in remark.sentence
    assert "85" not in remark.sentence  # it can be the value of a single person


@pytest.mark.parametrize(
    "values", [["30,5", "31,0", "31,0"], ["1.234,50", "7", "7,5"], ["60,000", "61,000", "60"]]
)
def test_a_key_of_numbers_with_a_comma(values: list[str], tmp_path: Path) -> None:
    frame = pd.DataFrame({"age": values, "pay": range(3)})
    frame.to_csv(tmp_path / "people.csv", index=False)
    people = eq.read(tmp_path / "people.csv", confidential="pay", keys=["age"])
    if values[0] != "60,000":  # that fits two notations, so it stays text
        assert people.remarks[0].sentence.startswith("read as: commas, decimal comma")
        people = eq.Microdata(frame, confidential="pay", keys=["age"])
    (remark,) = people.remarks
    many = sum("," in value for value in values)
    assert f"'age' holds numbers with a comma for {many} people: all of it is read as text" in remark.sentence
    assert remark.sentence in list(
        eq.measures(eq.Microdata(frame, confidential="pay", keys=["age"]))["meaning"]
    )


def test_codes_are_no_numbers_with_a_comma() -> None:
    codes = ["1.2.3", "555 1234", "2019-20", "a,b", "1,2a", "10-19"]
    assert (
        eq.Microdata(pd.DataFrame({"k": codes, "pay": range(6)}), confidential="pay", keys=["k"]).remarks
        == ()
    )


def test_a_word_among_confidential_categories() -> None:
    frame = pd.DataFrame({"age": [1, 2, 3], "illness": ["flu", "NA", "asthma"]})
    (remark,) = eq.Microdata(frame, confidential="illness", keys=["age"]).remarks
    assert "illness holds 'NA' for 1 person: read as a category, not as missing" in remark.sentence
    both = eq.Microdata(frame.assign(pay=[1, 2, 3]), confidential=["pay", "illness"], keys=["age"])
    assert [len(each.remarks) for each in (both, both.of("illness"), both.of("pay"))] == [1, 1, 0]


def test_clean_people_have_no_remark() -> None:
    frame = pd.DataFrame({"age": [30, None, 41], "zip": ["02139", "2139", "x-1"], "pay": [1, 2, 3]})
    assert eq.Microdata(frame, confidential="pay", keys=["age", "zip"]).remarks[1:] == ()
    assert eq.Microdata(frame, confidential="pay", keys=["age"]).remarks == ()
