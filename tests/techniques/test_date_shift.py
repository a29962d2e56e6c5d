"""Date shift: posteriors against enumerating all shifts, and calibration, also where keys are shifted alike."""

from __future__ import annotations

import datetime as dt
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import pandas as pd
import pytest
from scipy import stats

import equivoc as eq
from equivoc.channels import channel
from equivoc.channels.channel import Bayes
from tests.commands import run_command
from tests.techniques.calibration import p_value

START = np.datetime64("2020-01-01")


def people_of(births: list[int | None], seen: list[int], sex: str, hours: int = 0) -> eq.Microdata:
    """Dates as days since the start; the confidential one with a time of day, if ``hours`` is given."""
    frame = pd.DataFrame(
        {
            "birth": pd.array(
                [pd.NaT if b is None else pd.Timestamp(START + b) for b in births], "datetime64[s]"
            ),
            "sex": list(sex),
            "seen": (START + np.array(seen)).astype("datetime64[h]") + hours,
        }
    )
    return eq.Microdata(frame, confidential="seen", keys=["birth", "sex"])


def days(column: pd.Series) -> list[int | None]:
    return [
        None if pd.isna(each) else (each.to_datetime64() - START) // np.timedelta64(1, "D") for each in column
    ]


def by_enumeration(
    people: eq.Microdata, release: eq.DateShift, known: list[str], moved: list[str], most: int
) -> np.ndarray:
    """For each person: Σ over records and shifts of the weight that the class's docstring states, by plain loops."""
    frame = people.frame
    true_keys, shown_keys = (
        [days(table[k]) if k != "sex" else list(table[k]) for k in known] for table in (frame, release.table)
    )
    true = list(zip(*true_keys, strict=True)) or [()] * len(frame)
    shown_value, values = days(release.table["seen"]), sorted(set(days(frame["seen"])))
    counts = {key: true.count(key) for key in true}
    prior = {v: days(frame["seen"]).count(v) / len(frame) for v in values}
    found = np.zeros((len(frame), len(values)))
    for r in range(len(frame)):
        hypotheses = []
        for s in range(-most, most + 1):
            keys = tuple(
                column[r] if column[r] is None or name not in moved else column[r] - s
                for name, column in zip(known, shown_keys, strict=True)
            )
            value = shown_value[r] - s if "seen" in moved else shown_value[r]
            if keys in counts and value in prior:
                hypotheses.append((keys, value))
        total = sum(counts[keys] * prior[value] for keys, value in hypotheses)
        for keys, value in hypotheses:
            for person in range(len(frame)):
                if true[person] == keys:
                    found[person, values.index(value)] += prior[value] / total
    return found / found.sum(axis=1, keepdims=True)


@pytest.mark.parametrize("hours", [0, 9])
@pytest.mark.parametrize("on", ["confidential", "birth+seen", "birth"])
@pytest.mark.parametrize("known", [[], ["sex"], ["birth"], ["birth", "sex"]])
def test_against_every_shift(on: str, known: list[str], hours: int) -> None:
    rng = np.random.default_rng(len(known))
    births = [int(b) for b in rng.integers(0, 12, 9)] + [None]
    people = people_of(births, rng.integers(0, 15, 10).tolist(), "FFMMFFMMFM", hours)
    release = eq.DateShift(days=2, on=on).release(people, 4)
    post = release.posteriors(known, intruder="informed")
    moved = ["seen"] if on == "confidential" else on.split("+")
    expected = by_enumeration(people, release, known, moved, 2)
    assert post.probabilities[post.classes.of_record] == pytest.approx(expected)


def test_the_same_shift_for_all_dates_of_a_record() -> None:
    rng = np.random.default_rng(1)
    births = [int(b) for b in rng.integers(0, 9000, 400)]
    seen = rng.integers(10_000, 10_500, 400).tolist()
    people = people_of(births, seen, "FM" * 200)
    table = eq.DateShift(days=30, on="birth+seen").release(people, 3).table
    shift = np.array(days(table["seen"])) - np.array(seen)
    assert (np.array(days(table["birth"])) - np.array(births)).tolist() == shift.tolist()
    assert table["sex"].tolist() == list("FM" * 200)
    counts = np.bincount(shift + 30, minlength=61)
    assert shift.min() >= -30
    assert stats.chisquare(counts).pvalue > 1e-4
    again = eq.DateShift(days=30, on="birth+seen").release(people, 3).table
    pd.testing.assert_frame_equal(table, again)


def test_nothing_moves_by_no_days() -> None:
    people = people_of([1, 2, 3], [5, 6, 9], "FFM")
    for on in ("confidential", "birth+seen"):
        release = eq.DateShift(days=0, on=on).release(people, 1)
        assert release.table["seen"].tolist() == people.frame["seen"].tolist()
        assert release.posteriors(["birth"]).probabilities.max(axis=1).tolist() == [1, 1, 1]


def test_numbers_are_taken_as_days() -> None:
    frame = pd.DataFrame({"age": [1, 2, 3] * 5, "day": range(15)})
    people = eq.Microdata(frame, confidential="day", keys=["age"])
    table = eq.DateShift(days=3).release(people, 2).table
    assert (table["day"] - frame["day"]).abs().max() <= 3
    assert table["day"].dtype == frame["day"].dtype


@dataclass(frozen=True)
class Mistaken(eq.DateShift):
    """Moves dates by other days than the intruder believes."""

    really: int = 0

    def release(self, people: eq.Microdata, rng: Any = None) -> Any:
        release = eq.DateShift(days=self.really, on=self.on).release(people, rng)
        if self.on != "confidential":
            return replace(release, days=self.days)
        flat = np.full(len(people.values), 1 / len(people.values))
        own = release.confidential
        return replace(release, confidential=replace(own, channel=Bayes(self._likelihood(people, own), flat)))


def test_calibration_and_its_power() -> None:
    assert p_value(eq.DateShift(days=20)) > 1e-4
    assert p_value(Mistaken(days=20, really=45)) < 1e-9


def believed_of_keys(technique: eq.DateShift) -> tuple[np.ndarray, np.ndarray]:
    """What she states for every person and value, and what is right; she knows the birth, which is moved alike."""
    rng = np.random.default_rng(8)
    stated, right = [], []
    for _ in range(120):
        births, seen = rng.integers(0, 40, 30), rng.integers(0, 30, 30)
        frame = pd.DataFrame({"birth": START + births, "seen": START + seen})
        given = eq.Number("seen", domain=18262 + np.arange(30))
        people = eq.Microdata(frame, confidential=given, keys=["birth"])
        post = technique.release(people, rng).posteriors(["birth"], intruder="paper")
        stated.append(post.probabilities[post.classes.of_record])
        right.append(people.codes[:, None] == np.arange(30))
    return np.array(stated), np.array(right)


def test_calibration_where_a_moved_key_is_known() -> None:
    """Of what she states with some probability this share is true; who believes another shift is farther off."""
    stated, right = believed_of_keys(eq.DateShift(days=4, on="all"))
    band = (stated * 10).astype(int)
    apart = np.array(
        [[(r - s)[b == at].sum() for at in range(11)] for s, r, b in zip(stated, right, band, strict=True)]
    )
    spread = np.sqrt((apart**2).sum(axis=0))
    z = apart.sum(axis=0)[spread > 0] / spread[spread > 0]
    assert stats.chi2.sf((z**2).sum(), len(z)) > 1e-4
    assert ((stated > 0.1) & (stated < 0.9)).sum() > 1000
    mistaken, _ = believed_of_keys(Mistaken(days=9, really=4, on="all"))
    gained = (np.log(stated[right]) - np.log(mistaken[right])).reshape(len(stated), -1).sum(axis=1)
    assert gained.mean() > 4 * gained.std() / np.sqrt(len(gained))


@pytest.mark.parametrize(
    ("on", "sentence"),
    [
        ("sex", r"date-shift: the key 'sex' holds 'F', which is not a date; leave it out of on"),
        ("all", r"the key 'sex' holds 'F', which is not a date"),
        ("age", r"date-shift: on names 'age', which is neither a key nor the confidential column"),
    ],
)
def test_what_cannot_be_moved(on: str, sentence: str) -> None:
    with pytest.raises(eq.InputError, match=sentence):
        eq.DateShift(days=3, on=on).release(people_of([1, 2], [5, 6], "FF"))


def test_categories_cannot_be_moved() -> None:
    people = eq.Microdata(pd.DataFrame({"job": list("ab")}), confidential="job")
    with pytest.raises(
        eq.InputError, match="date-shift: 'job' holds categories, which cannot be moved by days"
    ):
        eq.DateShift(days=3).release(people)


def test_on_the_command_line(tmp_path) -> None:
    rows = [(dt.date(2020, 1, 1) + dt.timedelta(days=each), "FM"[each % 2]) for each in range(40)]
    pd.DataFrame(rows, columns=["seen", "sex"]).to_csv(tmp_path / "people.csv", index=False)
    asked = ["assess", "people.csv", "--confidential", "seen", "--keys", "sex", "--eps", "10", "--seed", "1"]
    done = run_command(tmp_path, [*asked, "--technique", "date-shift:days=7"])
    assert done.returncode == 0, done.stderr
    assert "within ±5 days" in done.stdout


def test_many_symbols_are_not_squared(monkeypatch: pytest.MonkeyPatch) -> None:
    """The table of P(value | released date) is the same, computed all at once or some dates at a time."""
    people = people_of([1] * 30, list(range(30)), "F" * 30, hours=3)
    told = eq.DateShift(days=6).release(people, 1).confidential.channel
    whole = told.dense()
    monkeypatch.setattr(channel, "MANY_SYMBOLS", 16)
    assert told.dense() == pytest.approx(whole, rel=1e-12)
    assert whole.shape == (42, 30)
