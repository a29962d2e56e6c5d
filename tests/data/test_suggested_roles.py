"""Suggested roles: public layouts, names in eight languages, values that identify, weights, households, bad input."""

from __future__ import annotations

import random
import time
from pathlib import Path

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest

import equivoc as eq
from equivoc.data.suggested_roles import evidence
from equivoc.data.suggested_roles.direct_identifiers import form_of
from equivoc.data.suggested_roles.evidence import LOOKED_AT, distinction, draw, separation
from equivoc.data.suggested_roles.suggest import suggestions
from equivoc.data.tables import open_table
from equivoc.datasets.shipped import path
from tests.data.public_layouts import DESCRIBED, layout

BAR = 0.85
CENSUS = Path(__file__).parents[3] / "shared" / "data" / "ss06pid_first3000_all_columns.csv"
"""A real census file, where it lies beside the project."""


def roles(table: object) -> dict[str, str]:
    found = eq.suggest_roles(table)
    assert list(found) == ["column", "role", "reason"]
    for reason in found.reason:
        assert reason.endswith(".")
        assert ". " not in reason, reason  # one sentence
    return dict(zip(found.column, found.role, strict=True))


@pytest.mark.parametrize("name", DESCRIBED)
def test_public_layouts(name: str) -> None:
    described = layout(name)
    found = roles(described.frame)
    replicates = [column for column, role in described.roles.items() if role == "replicate weights"]
    assert [column for column, role in found.items() if role == "replicate weights"] == replicates
    scored = [column for column in found if column not in replicates]
    wrong = {
        column: found[column] for column in scored if found[column] not in described.roles[column].split("|")
    }
    assert 1 - len(wrong) / len(scored) >= BAR, wrong
    # What matters most: nobody is released, and nothing confidential becomes a key.
    for column, expected in described.roles.items():
        assert expected != "identifier" or found[column] in ("identifier", "other"), column
        assert expected != "confidential" or found[column] != "key", column


def test_the_shipped_people() -> None:
    assert roles(path("cps_hourly_workers")) == {
        "age": "key", "sex": "key", "education": "key", "race": "key", "marital_status": "key",
        "class_of_worker": "key", "industry_code": "key", "major_industry": "other",
        "occupation_code": "key", "major_occupation": "other",
        "weeks_worked": "other", "wage_per_hour": "confidential", "year": "other",
    }  # fmt: skip


@pytest.mark.skipif(not CENSUS.exists(), reason="the census file is not here")
def test_a_real_census_file() -> None:
    begin = time.perf_counter()
    found = suggestions(CENSUS)
    assert time.perf_counter() - begin < 20  # 0.7 s on a quiet machine
    keys = found.of("key")
    assert {"AGEP", "SEX", "SCHL", "MAR", "DS", "RAC1P"} <= set(keys[:8])
    assert not {"QTRBIR", "WKHP", "JWMNP"} & set(keys)
    assert found.of("confidential")[0] == "WAGP"
    assert found.of("weights") == ("PWGTP",)
    assert found.of("group") == ("SERIALNO",)
    assert len(found.of("replicate weights")) == 80


LANGUAGES = {
    "German": "Alter Geschlecht Familienstand Bildungsabschluss Beruf Bundesland Staatsangehörigkeit Haushaltsgröße"
    " | Bruttoeinkommen Diagnose Religion | Gewichtungsfaktor | Nachname Telefonnummer | HaushaltsNr",
    "French": "âge sexe état_civil niveau_de_diplôme profession département nationalité nombre_enfants"
    " | salaire_net maladie | pondération | nom prénom adresse | id_ménage",
    "Spanish": "Edad Sexo Estado_Civil Estudios Ocupación Provincia Nacionalidad CodigoPostal"
    " | ingresos_anuales diagnóstico enfermedad | factor_de_expansión | apellidos DNI correo_electrónico | hogar_id",
    "Italian": "età sesso stato_civile titolo_di_studio professione regione cittadinanza | reddito_annuo malattia"
    " | peso | cognome codice_fiscale indirizzo | id_famiglia",
    "Dutch": "leeftijd geslacht burgerlijke_staat opleidingsniveau beroep gemeente nationaliteit | inkomen ziekte"
    " | weegfactor | achternaam BSN adres | huishouden_id",
    "Portuguese": "idade sexo estado_civil escolaridade profissão concelho nacionalidade | rendimento doença"
    " | ponderador | apelido telemóvel morada | id_domicílio",
    "Polish": "wiek płeć stan_cywilny wykształcenie zawód województwo obywatelstwo | wynagrodzenie choroba"
    " | waga | nazwisko PESEL adres | id_gospodarstwa",
    "English": "Age gender maritalStatus educationLevel Occupation ZIP-code citizenship | annualIncome diagnosis"
    " | survey_weight | Surname SSN phone_number | household_id",
}
"""Names of keys, confidential columns, weights, identifiers, households."""


@pytest.mark.parametrize("language", LANGUAGES)
def test_names_in_eight_languages(language: str) -> None:
    draws = np.random.default_rng(3)
    rows = 200
    parts = [part.split() for part in LANGUAGES[language].split("|")]
    expected = dict(zip(("key", "confidential", "weights", "identifier", "group"), parts, strict=True))
    columns: dict[str, object] = {}
    for name in expected["key"]:
        columns[name] = draws.integers(0, 40, rows)
    for name in expected["confidential"]:
        columns[name] = draws.integers(0, 90, rows)
    for name in expected["weights"]:
        columns[name] = draws.gamma(3, 50, rows)
    for name in expected["identifier"]:
        columns[name] = [f"x{number}" for number in draws.permutation(rows)]
    for name in expected["group"]:
        columns[name] = np.repeat(np.arange(1, 101) * 7, 2)
    found = roles(pd.DataFrame(columns))
    for role, names in expected.items():
        assert {name: found[name] for name in names} == dict.fromkeys(names, role)


@pytest.mark.parametrize(
    ("name", "role"),
    [
        ("body_weight_kg", "other"),
        ("hospital_id", "key"),
        ("country_name", "key"),
        ("household_income", "confidential"),
        ("household_size", "key"),
        ("pages", "other"),
        ("sextant", "other"),
        ("balloon", "other"),
        ("learning_style", "other"),
        ("birth_quarter", "other"),
        ("message", "other"),
    ],
)
def test_names_that_mislead(name: str, role: str) -> None:
    draws = np.random.default_rng(1)
    columns = {each: draws.integers(1, 30, 300) for each in ("age", "sex", "region", "salary", name)}
    assert roles(pd.DataFrame(columns))[name] == role


def test_weight_beside_height_is_a_body() -> None:
    draws = np.random.default_rng(1)
    frame = pd.DataFrame({"pay": draws.integers(18, 90, 99), "weight": draws.normal(75, 12, 99).round(1)})
    assert roles(frame)["weight"] == "weights"
    assert roles(frame.assign(height=170 + frame.pay % 20))["weight"] == "other"


def iban(country: str, account: str) -> str:
    """With its check digits, by ISO 13616: 98 minus the remainder of account, country, 00 by 97."""
    letters = "".join(str(ord(each) - 55) if each.isalpha() else each for each in account + country + "00")
    return f"{country}{98 - int(letters) % 97:02}{account}"


def pesel(number: int) -> str:
    ten = f"{44051400000 + number:011}"[:10]
    return ten + str((10 - sum(int(c) * w for c, w in zip(ten, (1, 3, 7, 9) * 3, strict=False)) % 10) % 10)


def luhn(number: int) -> str:
    """A card number: the last digit makes the sum a multiple of ten."""
    body = f"4{number:014}"
    for last in "0123456789":
        doubled = [int(c) for c in (body + last)[::-1]]
        if sum(c if place % 2 == 0 else sum(divmod(2 * c, 10)) for place, c in enumerate(doubled)) % 10 == 0:
            return body + last
    raise AssertionError


DRAWN = random.Random(5).sample(range(10**8), 60)
IDENTIFYING = {
    "e-mail addresses": [f"anna{n}@mail.example.org" for n in DRAWN],
    "account numbers (IBAN)": [iban("DE", f"{n:018}") for n in DRAWN],
    "phone numbers": [f"+49 30 {n:08}" for n in DRAWN],
    "social security numbers": [f"{1 + n % 660:03}-{1 + n % 99:02}-{1 + n % 9999:04}" for n in DRAWN],
    "Polish PESEL numbers": [pesel(n) for n in DRAWN],
    "card numbers": [luhn(n) for n in DRAWN],
    "Spanish identity numbers": [f"{n:08}{'TRWAGMYFPDXBNJZSQVHLCKE'[n % 23]}" for n in DRAWN],
}


@pytest.mark.parametrize("form", IDENTIFYING)
def test_values_that_identify(form: str) -> None:
    values = IDENTIFYING[form]
    found = eq.suggest_roles(pd.DataFrame({"v7": values, "age": np.arange(60) % 9})).iloc[0]
    assert (found.role, form in found.reason) == ("identifier", True)
    assert not any(value in found.reason for value in values)
    # One wrong digit in each: the check digits no longer fit.
    if form in ("account numbers (IBAN)", "Polish PESEL numbers", "card numbers"):
        assert form_of([value[:-1] + str((int(value[-1]) + 1) % 10) for value in values]) != form


def test_known_numbers_with_check_digits() -> None:
    """Published examples of each number; 30 times, because fewer values are not judged."""
    examples = {
        "Italian tax codes": "RSSMRA85T10A562S",
        "French social security numbers": "255081416802538",
        "Swiss social security numbers": "756.9217.0769.85",
        "Brazilian CPF numbers": "529.982.247-25",
        "German tax numbers": "86095742719",
        "Dutch citizen numbers": "111222333",
        "Polish PESEL numbers": "44051401359",
        "card numbers": "4111 1111 1111 1111",
    }
    for form, example in examples.items():
        assert form_of([example] * 30) == form
    assert form_of(["GB82 WEST 1234 5698 7654 32"] * 30) == "account numbers (IBAN)"


def test_running_numbers_texts_and_ordinary_numbers() -> None:
    draws = np.random.default_rng(2)
    rows = 300
    frame = pd.DataFrame(
        {
            "v1": np.arange(rows) * 3 + 17,
            "v2": draws.permutation(rows),
            "v3": [f"remark of {number}" for number in draws.permutation(rows)],
            "v4": draws.choice(10**9, rows, replace=False) % (9 * 10**8) + 10**8,
            "v5": np.exp(draws.normal(9, 1.2, rows)).round(2),
            "v6": draws.integers(0, 9, rows),
            "v7": draws.choice(["m", "f"], rows),
        }
    )
    found = roles(frame)
    assert [found[f"v{number}"] for number in range(1, 5)] == ["identifier"] * 4
    assert (found["v5"], found["v6"], found["v7"]) == ("confidential", "key", "key")
    assert found == roles(frame.astype(str))


def test_replicate_weights_need_a_weight_beside_them() -> None:
    draws = np.random.default_rng(4)
    base = {name: draws.integers(100, 190, 100) for name in ("age", "sex", "region", "wage")}
    many = {f"repwgt{number}": draws.gamma(9, 9, 100) for number in range(1, 9)}
    weighted = roles(pd.DataFrame({**base, "perwt": draws.gamma(9, 9, 100), **many}))
    assert {weighted[name] for name in many} == {"replicate weights"}
    # Of another name, they are known by their means; questions of a survey are not taken for them.
    stem = {f"x_{number:03}": draws.gamma(9, 9, 100) for number in range(1, 31)}
    asked = {f"q{number}": draws.integers(1, 6, 100) for number in range(1, 31)}
    found = roles(pd.DataFrame({**base, "perwt": draws.gamma(9, 9, 100), **stem, **asked}))
    assert {found[name] for name in stem} == {"replicate weights"}
    assert "replicate weights" not in {found[name] for name in asked}
    assert not {role for name, role in found.items() if name in asked} & {"key", "identifier", "weights"}


def test_households_stand_together() -> None:
    draws = np.random.default_rng(6)
    numbers = np.repeat(draws.permutation(1000)[:150], 2)
    frame = pd.DataFrame(
        {"age": draws.integers(0, 90, 300), "pay": draws.integers(0, 900, 300), "case_id": numbers}
    )
    assert roles(frame)["case_id"] == "group"
    assert roles(frame.assign(case_id=draws.permutation(300)))["case_id"] == "identifier"
    assert roles(frame.assign(case_id=draws.integers(0, 9, 300)))["case_id"] == "other"


def test_distinction_and_separation_by_counting_pairs() -> None:
    draws = np.random.default_rng(7)
    codes = draws.integers(0, 6, 80)
    pairs = [(a, b) for a in range(80) for b in range(a)]
    assert separation(codes) == pytest.approx(sum(codes[a] != codes[b] for a, b in pairs) / len(pairs))
    assert distinction(codes) == len(set(codes.tolist())) / 80
    # The example in the documentation of ARX: separation is 0 if all are alike, 1 if all differ.
    assert (separation(np.zeros(5, int)), separation(np.arange(5))) == (0.0, 1.0)


def test_figures_in_the_reasons() -> None:
    """Ages 1, 1, 2, 3 and sexes m, f, m, m: 5 of 6 pairs of ages differ; with age and sex everybody is unique."""
    found = eq.suggest_roles(pd.DataFrame({"age": [1, 1, 2, 3], "sex": ["m", "f", "m", "m"]}))
    assert "alone it tells 83.3% of pairs apart" in found.reason[0]
    assert (
        "alone it tells 50.0% of pairs apart, with the likelier key 100.0% of people are unique"
        in found.reason[1]
    )


def test_missing_words_and_missing_values() -> None:
    draws = np.random.default_rng(8)
    pay = pd.Series(draws.integers(900, 9000, 200)).astype(str)
    pay[::4] = "NA"
    frame = pd.DataFrame(
        {"sex": ["m", "f"] * 100, "job": ["a", None] * 100, "v1": pay, "empty": [None] * 200}
    )
    found = eq.suggest_roles(frame)
    assert dict(zip(found.column, found.role, strict=True)) == {
        "sex": "key", "job": "key", "v1": "confidential", "empty": "other"}  # fmt: skip
    assert "50.0% lack it" in found.reason[1]
    rare = frame.assign(job=["a", *[None] * 199])
    assert roles(rare)["job"] == "other"


def test_an_identifier_is_released_only_if_it_is_asked_for(tmp_path: Path) -> None:
    rows = 60
    frame = pd.DataFrame(
        {"name": [f"Ann {n}" for n in range(rows)], "age": np.arange(rows) % 5, "pay": np.arange(rows)}
    )
    frame.to_csv(tmp_path / "people.csv", index=False)
    assert roles(tmp_path / "people.csv")["name"] == "identifier"
    people = eq.read(tmp_path / "people.csv", confidential="pay", keys=["age"])
    for technique in (eq.Swapping(rate=0.2), eq.Generalisation(k=3), eq.Sampling(fraction=0.5)):
        for keep, columns in (([], {"age", "pay"}), (["name"], {"age", "pay", "name"})):
            out = tmp_path / f"{technique.name}{len(keep)}.csv"
            eq.protect(people, technique, out=out, keep=keep, seed=1)
            assert set(pd.read_csv(out).columns) == columns


def test_large_tables_are_sampled_and_it_is_said(monkeypatch: pytest.MonkeyPatch) -> None:
    rows = 3 * LOOKED_AT
    numbers = np.arange(rows)
    frame = pd.DataFrame({"age": numbers % 90, "wage": numbers % 977, "v1": numbers + 5})
    sample = draw(open_table(frame), ["age", "v1"])
    drawn = sample.rows.column("v1").to_numpy()
    assert (drawn.size, sample.read, sample.whole) == (LOOKED_AT, rows, True)
    assert (np.diff(drawn) > 0).all()  # in order, none twice
    assert abs(drawn.mean() / rows - 0.5) < 0.01  # 13 standard errors of a random sample
    assert drawn.tolist() == draw(open_table(pl.from_pandas(frame)), ["v1"]).rows.column("v1").to_pylist()
    found = suggestions(frame)
    assert found.looked_at == "looked at 50,000 rows, drawn at random from 150,000"
    assert found.looked_at in found.columns[0].reason
    assert [each.role for each in found.columns] == ["key", "confidential", "identifier"]
    monkeypatch.setattr(evidence, "READ", 60_000)
    found = suggestions(frame)
    assert found.looked_at == "looked at 50,000 rows, drawn at random from the first 60,000"
    monkeypatch.setattr(evidence, "READ", rows)
    assert suggestions(frame).looked_at.endswith("from 150,000")


def test_every_kind_of_table_gives_the_same(tmp_path: Path) -> None:
    frame = pd.read_csv(path("cps_hourly_workers"), keep_default_na=False)
    expected = suggestions(frame).columns
    frame.to_parquet(tmp_path / "x.parquet")
    kinds = (
        path("cps_hourly_workers"),
        tmp_path / "x.parquet",
        pl.from_pandas(frame),
        pa.Table.from_pandas(frame),
    )
    for kind in kinds:
        assert suggestions(kind).columns == expected


@pytest.mark.parametrize(
    ("table", "words"),
    [
        (pd.DataFrame(), "no columns"),
        (pd.DataFrame(index=range(3)), "no columns"),
        (pd.DataFrame({"age": [], "pay": []}), "no records"),
        (pd.DataFrame([[1, 2]], columns=["a", "a"]), "more than one column named 'a'"),
        (pd.DataFrame([[1, 2]]), "column 0 has a name that is not text"),
        (pa.table({}), "no columns"),
        (pl.DataFrame(), "no columns"),
        (7, "cannot read people from a int"),
    ],
)
def test_bad_input(table: object, words: str) -> None:
    with pytest.raises(eq.InputError, match=words) as mistake:
        eq.suggest_roles(table)
    assert "\n" not in str(mistake.value)


def test_bad_files(tmp_path: Path) -> None:
    for content, words in (
        ("a,b\n", "no records"),
        ("a,a\n1,2\n", "more than one column named 'a'"),
        ("", "empty"),
        ("a,b\n1,2\n3\n", "line 3 has 1 field"),
    ):
        file = tmp_path / "x.csv"
        file.write_text(content)
        with pytest.raises(eq.InputError, match=words):
            eq.suggest_roles(file)


def test_strange_columns() -> None:
    """Lists, records, bytes, booleans, infinities, huge numbers, one row; a column without a name."""
    rows = 30
    table = pa.table(
        {
            "lists": pa.array([[1, 2]] * rows),
            "records": pa.array([{"a": 1}] * rows),
            "bytes": pa.array([b"\xff\xfe", b"x", None] * 10),
            "flag": pa.array([True, False, None] * 10),
            "large": pa.array([float("inf"), -1e308, float("nan")] * 10),
            "": pa.array(range(rows)),
            "when": pa.array(pd.date_range("2020-01-01", periods=rows)),
        }
    )
    found = roles(table)
    assert (found["lists"], found["records"], found[""], found["bytes"]) == ("other",) * 4
    assert len(found) == 7
    assert set(roles(table.slice(0, 1)).values()) <= {"other", "key"}
    for one in ({"age": [3]}, {"id": [1]}, {"x": ["a"]}, {"hhid": [1]}, {"wgt": [1]}, {"x": [float("inf")]}):
        assert len(roles(pd.DataFrame(one))) == 1
