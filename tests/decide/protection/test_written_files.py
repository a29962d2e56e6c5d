"""What the files hold, and that both are written completely or not at all."""

from __future__ import annotations

import csv
import stat
from pathlib import Path

import pandas as pd
import pytest

import equivoc as eq
from equivoc.protection import certificate as certificate_module
from equivoc.protection import protect as protect_module
from equivoc.protection.protected_file import read_table
from equivoc.requests.described_people import read_described
from tests.decide.protection.conftest import cells


def names(folder: Path) -> set[str]:
    return {path.name for path in folder.iterdir()}


def test_columns_without_a_role_are_left_out(people, tmp_path: Path) -> None:
    done = eq.protect(people, eq.Sampling(0.5), tmp_path / "p.csv")
    assert list(cells(done.path)[0]) == done.certificate["file"]["columns"] == ["age", "sex", "pay"]


@pytest.mark.parametrize("technique", [eq.Unprotected(), eq.Sampling(0.5), eq.Swapping(rate=0.4, on="keys")])
@pytest.mark.parametrize("name", ["p.csv", "p.parquet"])
def test_kept_columns_go_with_their_own_row(
    technique, name: str, people, source: Path, tmp_path: Path
) -> None:
    """Of these techniques, none changes pay: every phone must still be beside its own pay."""
    done = eq.protect(people, technique, tmp_path / name, keep=["phone", "hours"])
    if name == "p.csv":
        found = {row["phone"]: (row["pay"], row["hours"]) for row in cells(done.path)}
    else:
        frame = pd.read_parquet(done.path)
        found = {row.phone: (str(row.pay), str(row.hours)) for row in frame.itertuples()}
        assert frame.hours.dtype.kind == "i"
    original = {row["phone"]: (row["pay"], row["hours"]) for row in cells(source)}
    assert found.items() <= original.items()
    assert len(found) == done.certificate["file"]["rows"] == (30 if technique.name == "sampling" else 60)
    assert any("not protected" in warning and "phone, hours" in warning for warning in done.warnings)
    assert eq.verify(done.certificate_path, source, done.path).holds


def test_kept_columns_where_rows_were_dropped(source: Path, tmp_path: Path) -> None:
    lines = source.read_text().splitlines()
    for at in (1, 17, 60):
        row = lines[at].split(",")
        row[3] = ""
        lines[at] = ",".join(row)
    source.write_text("\n".join(lines) + "\n")
    people = eq.read(source, confidential="pay", keys=["age"], drop_missing=True)
    done = eq.protect(people, eq.Unprotected(), tmp_path / "p.csv", keep=["phone"], keep_order=True)
    expected = [(row["phone"], row["pay"]) for row in cells(source) if row["pay"]]
    assert [(row["phone"], row["pay"]) for row in cells(done.path)] == expected


@pytest.mark.parametrize(
    ("keep", "said"),
    [
        (["phnoe"], "which is not a column: did you mean 'phone'"),
        (["age"], "which has a role"),
        (["pay"], "which has a role"),
        (["phone", "phone"], "twice"),
    ],
)
def test_what_cannot_be_kept(keep, said: str, people, tmp_path: Path) -> None:
    with pytest.raises(eq.InputError, match=said):
        eq.protect(people, eq.Sampling(0.5), tmp_path / "p.csv", keep=keep)
    with pytest.raises(eq.InputError, match="not records of the original"):
        eq.protect(people, eq.NoisyTable(epsilon=1), tmp_path / "p.csv", keep=["phone"])
    assert names(tmp_path) == {"people.csv"}


def test_people_in_memory_have_nothing_to_keep(source: Path, tmp_path: Path) -> None:
    people = eq.Microdata(pd.read_csv(source), confidential="pay", keys=["age"])
    with pytest.raises(eq.InputError, match="read from a file"):
        eq.protect(people, eq.Sampling(0.5), tmp_path / "p.csv", keep=["phone"])
    assert eq.protect(people, eq.Sampling(0.5), tmp_path / "p.csv").written


def test_the_order_of_rows(people, source: Path, tmp_path: Path) -> None:
    original = [row["phone"] for row in cells(source)]
    orders = []
    for seed, keep_order in ((1, True), (1, False), (1, False), (2, False), (None, False)):
        done = eq.protect(
            people, eq.Unprotected(), tmp_path / "p.csv", keep=["phone"], keep_order=keep_order, seed=seed
        )
        orders.append([row["phone"] for row in cells(done.path)])
        assert sorted(orders[-1]) == original
    kept, first, again, other, drawn = orders
    assert kept == original
    assert first == again != original
    assert len({tuple(order) for order in (original, first, other, drawn)}) == 4


def test_survey_weights_are_not_published(source: Path, tmp_path: Path) -> None:
    people = eq.read(source, confidential="pay", keys=["age"], weights="hours")
    done = eq.protect(people, eq.Unprotected(), tmp_path / "p.csv")
    assert done.certificate["file"]["columns"] == ["age", "pay"]
    kept = eq.protect(people, eq.Unprotected(), tmp_path / "p.csv", keep=["hours"])
    assert kept.certificate["file"]["columns"] == ["age", "pay", "hours"]


def test_only_the_owner_can_read_them(people, tmp_path: Path) -> None:
    for name in ("p.csv", "q.parquet"):
        done = eq.protect(people, eq.Sampling(0.5), tmp_path / name)
        for path in (done.path, done.certificate_path):
            assert stat.S_IMODE(path.stat().st_mode) == 0o600


def test_formulas_are_escaped_and_read_again(tmp_path: Path) -> None:
    source = tmp_path / "people.csv"
    source.write_text("=name,pay\n" + "=1+1,10\n@x,20\nplain,30\n-a,40\n" * 5)
    people = eq.read(source, confidential="pay", keys=["=name"])
    done = eq.protect(people, eq.Swapping(rate=0.5), tmp_path / "p.csv", seed=1)
    assert {row["'=name"] for row in cells(done.path)} == {"'=1+1", "'@x", "plain", "'-a"}
    assert eq.verify(done.certificate_path, source, done.path, seed=1).holds
    plain = eq.protect(people, eq.Swapping(rate=0.5), tmp_path / "q.csv", seed=1, escape=False)
    assert {row["=name"] for row in cells(plain.path)} == {"=1+1", "@x", "plain", "-a"}
    assert eq.verify(plain.certificate_path, source, plain.path, seed=1).holds
    source.write_text("name,pay\n" + "'=1,10\n=1,20\n" * 5)
    people = eq.read(source, confidential="pay", keys=["name"])
    with pytest.raises(eq.InputError, match="looks like an escaped formula"):
        eq.protect(people, eq.Swapping(rate=0.5), tmp_path / "p.csv")


def test_values_that_csv_cannot_hold(tmp_path: Path) -> None:
    """An empty text and a missing value look the same in CSV."""
    frame = pd.DataFrame({"name": ["", "a", "a", ""] * 4, "pay": [1, 2, 3, 4] * 4})
    people = eq.Microdata(frame, confidential="pay", keys=["name"])
    with pytest.raises(eq.InputError, match="Parquet keeps values that CSV does not"):
        eq.protect(people, eq.Swapping(rate=0.5), tmp_path / "p.csv")
    assert names(tmp_path) == set()
    assert eq.protect(people, eq.Swapping(rate=0.5), tmp_path / "p.parquet").written


@pytest.mark.parametrize("line_end", ["\n", "\r\n"])
@pytest.mark.parametrize("name", ["p.csv", "p.parquet"])
def test_hostile_column_names(name: str, line_end: str, tmp_path: Path) -> None:
    odd = ["<script>alert(1)</script>", "=cmd|'!A0", 'two\n"lines"', "名前", "x" * 10_000]
    with (tmp_path / "people.csv").open("w", newline="", encoding="utf-8") as file:
        rows = csv.writer(file, lineterminator=line_end)
        rows.writerow(odd)
        rows.writerows([["=1+1", "<b>", number % 4, "@x\ny", f"0{number}"] for number in range(30)])
    people = eq.read(tmp_path / "people.csv", confidential=odd[2], keys=[odd[0], odd[1], odd[3]])
    assert len(people) == 30
    done = eq.protect(people, eq.Swapping(rate=0.5), tmp_path / name, keep=[odd[4]], seed=1)
    assert eq.verify(done.certificate_path, tmp_path / "people.csv", done.path, seed=1).holds


def test_a_certificate_that_verify_would_refuse_is_not_written(
    people, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(certificate_module, "LARGEST", 1 << 10)
    with pytest.raises(eq.InputError, match="certificate would be too large"):
        eq.protect(people, eq.Unprotected(), tmp_path / "p.csv")
    assert names(tmp_path) == {"people.csv"}


def test_requirements_that_are_not_met_write_nothing(people, source: Path, tmp_path: Path) -> None:
    done = eq.protect(people, eq.Unprotected(), tmp_path / "p.csv", require=["h0@worst >= 3"])
    assert (done.written, done.meets) == (False, False)
    assert names(tmp_path) == {"people.csv"}
    forced = eq.protect(people, eq.Unprotected(), tmp_path / "p.csv", require=["k >= 3"], write_anyway=True)
    assert (forced.written, forced.meets) == (True, False)
    assert forced.certificate["requirements"][0]["meets"] is False
    assert eq.verify(forced.certificate_path, source, forced.path).holds


def test_a_requirement_flips_at_its_limit(people, tmp_path: Path) -> None:
    technique = eq.Swapping(rate=0.3)
    value = eq.assess(people, technique, seed=7, known=["age"]).summary["truth"]["gain"]
    for limit, meets in ((value - 0.001, False), (value + 0.001, True)):
        done = eq.protect(
            people, technique, tmp_path / "p.csv", seed=7, known=["age"], require=[f"gain <= {limit}"]
        )
        assert done.meets is meets


def test_the_riskier_figure_decides(people, tmp_path: Path) -> None:
    """The interval intruder of the technique knows less than one who reads the file and knows the noise."""
    technique = eq.NoiseAddition(percent=40, belief="interval")
    figures = eq.protect(people, technique, tmp_path / "p.csv", seed=7).certificate["figures"]["pay"]
    assert figures["file"]["gain"] > figures["release"]["gain"]
    between = (figures["file"]["gain"] + figures["release"]["gain"]) / 2
    done = eq.protect(people, technique, tmp_path / "p.csv", seed=7, require=[f"gain <= {between}"])
    assert not done.meets


@pytest.mark.parametrize("stopped", [KeyboardInterrupt, OSError(28, "No space left on device"), ValueError])
@pytest.mark.parametrize("step", ["write_table", "sha256_of", "certificate_text"])
def test_an_interruption_leaves_nothing(
    stopped, step: str, people, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "p.csv").write_text("older")
    (tmp_path / "p.certificate.json").write_text("older")

    def interrupted(*_: object, **__: object) -> None:
        raise stopped

    monkeypatch.setattr(protect_module, step, interrupted)
    with pytest.raises((KeyboardInterrupt, eq.InputError, ValueError)):
        eq.protect(people, eq.Sampling(0.5), tmp_path / "p.csv")
    assert names(tmp_path) == {"people.csv", "p.csv", "p.certificate.json"}
    assert (tmp_path / "p.csv").read_text() == (tmp_path / "p.certificate.json").read_text() == "older"


@pytest.mark.parametrize("older", [True, False])
def test_a_failure_between_the_two_files_undoes_the_first(
    older: bool, people, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in ("p.csv", "p.certificate.json") if older else ():
        (tmp_path / name).write_text("older")
    before = names(tmp_path)
    replace = Path.replace

    def failing(self: Path, target: Path) -> Path:
        if Path(target).name == "p.certificate.json" and self.suffix == ".json":
            raise OSError(5, "Input/output error")
        return replace(self, target)

    monkeypatch.setattr(Path, "replace", failing)
    with pytest.raises(eq.InputError, match="cannot be written: Input/output error"):
        eq.protect(people, eq.Sampling(0.5), tmp_path / "p.csv")
    assert names(tmp_path) == before
    for name in before - {"people.csv"}:
        assert (tmp_path / name).read_text() == "older"


@pytest.mark.parametrize(
    ("out", "certificate", "said"),
    [
        ("people.csv", None, "also an input"),
        ("p.csv", "people.csv", "also an input"),
        ("p.csv", "p.csv", "same file as another output"),
        ("p.txt", None, r"ends in \.csv or \.parquet"),
        ("folder/p.csv", None, "is not a folder"),
    ],
)
def test_outputs_that_are_refused(
    out: str, certificate, said: str, people, source: Path, tmp_path: Path
) -> None:
    before = source.read_bytes()
    with pytest.raises(eq.InputError, match=said):
        eq.protect(
            people,
            eq.Sampling(0.5),
            tmp_path / out,
            certificate=None if certificate is None else tmp_path / certificate,
        )
    assert source.read_bytes() == before
    assert names(tmp_path) == {"people.csv"}


def test_the_certificate_holds_no_record(people, source: Path, tmp_path: Path) -> None:
    """Neither a phone nor a town: values of single people appear nowhere."""
    done = eq.protect(people, eq.Swapping(rate=0.4), tmp_path / "p.csv", keep=["phone"])
    text = done.certificate_path.read_text()
    assert not [row["phone"] for row in cells(source) if row["phone"] in text]


def test_a_prior_must_be_named(people, tmp_path: Path) -> None:
    with pytest.raises(eq.InputError, match="prior is"):
        eq.protect(people, eq.Sampling(0.5), tmp_path / "p.csv", prior=[1 / 7] * 7)  # type: ignore[arg-type]
    with pytest.raises(eq.InputError, match="give a technique"):
        eq.protect(people, "sampling", tmp_path / "p.csv")  # type: ignore[arg-type]


def test_a_parquet_file_without_columns_is_refused(tmp_path: Path) -> None:
    import pyarrow as pa
    import pyarrow.parquet as pq

    path = tmp_path / "empty.parquet"
    pq.write_table(pa.table({}), path)
    with pytest.raises(eq.InputError, match=r"empty\.parquet has no columns$"):
        read_table(path, escaped=False)


def test_a_hierarchy_of_a_column_that_has_none_is_refused() -> None:
    described = {"confidential": [{"name": "pay", "kind": "bare"}], "keys": ["age"], "drop_missing": False}
    with pytest.raises(eq.InputError, match="hierarchy names 'age', which is no confidential column"):
        read_described("people.csv", described, hierarchy={"age": Path("age.csv")})


def test_a_released_column_without_a_name_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "x.csv"
    path.write_text("age,,pay\n1,2,3\n")
    with pytest.raises(eq.InputError, match=r"x\.csv has a column without a name$"):
        read_table(path, escaped=False)
