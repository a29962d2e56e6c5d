"""Files made by other tools: the three linkages against double loops, and what must not affect the result."""

from __future__ import annotations

import pickle
import random
from itertools import combinations
from typing import Any

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.csv
import pyarrow.parquet
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import equivoc as eq
from equivoc.intruder import posteriors as mixing
from equivoc.releases import record_tree_kernels
from equivoc.releases.fixed_matching import MatchWeights
from equivoc.techniques.notation import technique_from
from tests.techniques import linked_by_hand as by_hand
from tests.techniques.linked_by_hand import KEYS, LEVELS, PAYS, SYMBOLS

MATCHINGS = ["exact", "nearest", "probable"]
SUBSETS = [list(known) for size in range(4) for known in combinations(KEYS, size)]

PERSON = st.fixed_dictionaries(
    {**{key: st.sampled_from(LEVELS[key]) for key in KEYS}, "pay": st.sampled_from(PAYS)}
)
RECORD = st.fixed_dictionaries(
    {**{key: st.sampled_from(list(SYMBOLS[key])) for key in KEYS}, "pay": st.sampled_from(PAYS)}
)
# Every level occurs, so that a symbol stands for what the table of symbols says.
EVERYONE = [
    {"age": by_hand.AGES[i], "job": by_hand.JOBS[i % 3], "zip": by_hand.ZIPS[(i + 1) % 3], "pay": PAYS[i % 4]}
    for i in range(6)
]
UNDERSTOOD = {"age": "20", "job": "cook", "zip": "10001", "pay": 10}


def explained(
    people: list[dict[str, Any]], released: list[dict[str, Any]]
) -> tuple[list[dict[str, Any]], list[dict[str, Any]]]:
    """The same with no more missing ages released than the original explains; the others are stars.

    More of them would be read as suppressed, which the table of symbols does not say; other tests are about that.
    """
    missing = sum(person["age"] is None for person in people)
    left = min(missing, missing * len(released) // len(people))
    found = []
    for record in released:
        if record["age"] is None and left == 0:
            record = {**record, "age": "*"}
        left -= record["age"] is None
        found.append(record)
    return people, found


def microdata(people: list[dict[str, Any]]) -> eq.Microdata:
    kinds = pa.schema([("age", pa.int64()), ("job", pa.string()), ("zip", pa.string()), ("pay", pa.int64())])
    return eq.Microdata(pa.Table.from_pylist(people, schema=kinds), confidential="pay", keys=KEYS)


def table(released: list[dict[str, Any]]) -> pa.Table:
    kinds = pa.schema([*((key, pa.string()) for key in KEYS), ("pay", pa.int64())])
    return pa.Table.from_pylist(released, schema=kinds)


def beliefs(post: Any) -> dict[tuple[Any, ...], list[float]]:
    levels = [post.classes.people.levels(name) for name in post.known]
    keys = [tuple(levels[k][code] for k, code in enumerate(codes)) for codes in post.classes.key_codes]
    matrix = post.probabilities
    return dict(zip(keys, (matrix.toarray() if hasattr(matrix, "toarray") else matrix).tolist(), strict=True))


@settings(max_examples=60, deadline=None)
@given(people=st.lists(PERSON, max_size=12), released=st.lists(RECORD, min_size=1, max_size=25))
@pytest.mark.parametrize("matching", ["exact", "nearest"])
def test_every_person_with_every_record(matching, people, released):
    people, released = explained([*EVERYONE, *people], [UNDERSTOOD, *released])
    release = eq.ReleasedFile(table(released), matching=matching).release(microdata(people))
    linked = by_hand.exact if matching == "exact" else by_hand.nearest
    for known in SUBSETS:
        expected = {v: linked(v, released, known, LEVELS, PAYS) for v in by_hand.classes(people, known)}
        found = beliefs(release.posteriors(known, intruder="paper"))
        assert found.keys() == expected.keys()
        for value, row in found.items():
            assert row == pytest.approx(expected[value], abs=1e-12), (known, value)


@settings(max_examples=25, deadline=None)
@given(people=st.lists(PERSON, max_size=6), released=st.lists(RECORD, min_size=1, max_size=12))
def test_fellegi_sunter_over_all_listed_pairs(people, released):
    people, released = explained([*EVERYONE, *people], [UNDERSTOOD, *released])
    release = eq.ReleasedFile(table(released), matching="probable").release(microdata(people))
    m = dict(zip(KEYS, release.weights.m, strict=True))
    u = dict(zip(KEYS, release.weights.u, strict=True))
    _, listed_u = by_hand.rates(people, released, KEYS, steps=0)
    assert u == pytest.approx(listed_u, rel=1e-12)
    assert all(m[key] >= u[key] for key in KEYS)
    for known in SUBSETS:
        found = beliefs(release.posteriors(known, intruder="paper"))
        for value, row in found.items():
            assert row == pytest.approx(
                by_hand.probable(value, released, known, m, u, PAYS), rel=1e-9, abs=1e-12
            )


def test_em_over_patterns_is_em_over_pairs():
    draw = random.Random(3)
    people = [*EVERYONE, *({k: draw.choice(LEVELS[k]) for k in KEYS} | {"pay": 10} for _ in range(14))]
    written = {None: None, **{level: str(level) for levels in LEVELS.values() for level in levels if level}}
    symbols = {**SYMBOLS, "age": {**by_hand.AGE_SYMBOLS, "21": {21}, "22": {22}, "23": {23}, "25": {25}}}
    released = [{k: written[p[k]] for k in KEYS} | {"pay": 10} for p in people[:15]]
    for record in released[::3]:
        record["age"] = "22"
    for record in released[::5]:
        record["job"] = "{cook,nurse}"
    with pytest.MonkeyPatch.context() as patch:
        patch.setitem(by_hand.SYMBOLS, "age", symbols["age"])
        patch.setitem(by_hand.SYMBOLS, "job", {**by_hand.JOB_SYMBOLS, "nurse": {"nurse"}})
        patch.setitem(by_hand.SYMBOLS, "zip", {**by_hand.ZIP_SYMBOLS, "02139": {"02139"}})
        listed, _ = by_hand.rates(people, released, KEYS, steps=1500)
        other, _ = by_hand.rates(people, released[:-3], KEYS, steps=1500)
    found = eq.ReleasedFile(table(released), matching="probable").release(microdata(people)).weights
    assert found.m == pytest.approx(tuple(listed.values()), abs=1e-6)
    assert found.m != pytest.approx(tuple(other.values()), abs=1e-3)


def many_people(count: int, seed: int) -> pd.DataFrame:
    rng = np.random.default_rng(seed)
    return pd.DataFrame(
        {
            "age": rng.integers(18, 80, count),
            "region": rng.choice([f"r{i}" for i in range(12)], count),
            "job": rng.choice([f"j{i}" for i in range(9)], count),
            "hours": rng.integers(0, 60, count),
            "pay": rng.integers(1, 20, count) * 10,
        }
    )


def test_em_finds_how_often_keys_were_changed():
    """Keys changed with known chances: m is found, but for the error of a mixture with so few matches."""
    frame = many_people(1500, 1)
    rng = np.random.default_rng(2)
    masked = frame.sample(frac=1, random_state=4)
    changed = {"age": 0.3, "region": 0.1, "job": 0.05, "hours": 0.0}
    for key, chance in changed.items():
        swap = rng.random(len(masked)) < chance
        masked.loc[swap, key] = rng.permutation(masked[key].to_numpy())[swap]
    people = eq.Microdata(frame, confidential="pay", keys=list(changed))
    found = eq.ReleasedFile(masked, matching="probable").release(people).weights
    for key, m, u in zip(changed, found.m, found.u, strict=True):
        kept = 1 - changed[key] * (1 - u)
        assert abs(m - kept) < 4 * np.sqrt(kept * (1 - kept) / 1500) + 0.03, key
    assert abs(found.m[0] - 0.9) > 0.1


@pytest.mark.parametrize("known", [["age"], ["region", "hours"], ["age", "region", "job", "hours"]])
def test_many_records_nearest_against_all_distances(known):
    """Enough records for a deep tree: numbers with noise, categories changed, stars, a null."""
    frame = many_people(600, 5)
    rng = np.random.default_rng(6)
    masked = frame.sample(frac=1, random_state=7).astype({"age": float})
    masked["age"] += rng.integers(-3, 4, 600) / 2
    masked.loc[rng.random(600) < 0.2, "job"] = "*"
    masked.loc[rng.random(600) < 0.1, "region"] = "elsewhere"
    people = eq.Microdata(frame, confidential="pay", keys=["age", "region", "job", "hours"])
    post = eq.ReleasedFile(masked, matching="nearest").release(people).posteriors(known, intruder="paper")
    away = np.zeros((len(post), 600))
    for key in known:
        mine = post.keys[key].to_numpy()[:, None]
        theirs = masked[key].to_numpy()[None, :]
        if key in ("age", "hours"):
            away += ((mine - theirs) / (frame[key].max() - frame[key].min())) ** 2
        else:
            away += (mine != theirs) & (theirs != "*")
    stars = (masked["job"] == "*").to_numpy() if "job" in known else np.zeros(600, dtype=bool)
    share = np.where(stars, 1 / frame["job"].nunique(), 1.0)
    for row, distances in zip(post.probabilities, away, strict=True):
        near = np.isclose(distances, distances.min(), rtol=1e-9, atol=0)
        pays, weights = masked["pay"].to_numpy()[near], share[near]
        assert row == pytest.approx([weights[pays == value].sum() / weights.sum() for value in post.values])


@pytest.mark.parametrize("leaf", [1, 3, 1000])
def test_the_size_of_leaves_changes_nothing(leaf, monkeypatch):
    """Grown with the kernel's plain Python, so that the leaf's size can be another."""
    people = microdata([*EVERYONE, *EVERYONE])
    draw = random.Random(8)
    released = [
        {k: draw.choice(list(SYMBOLS[k])) for k in KEYS} | {"pay": draw.choice(PAYS)} for _ in range(60)
    ]
    expected = eq.ReleasedFile(table([UNDERSTOOD, *released]), matching="nearest").release(people)
    monkeypatch.setattr(record_tree_kernels, "LEAF", leaf)
    monkeypatch.setattr(record_tree_kernels, "cut", record_tree_kernels.cut.py_func)
    monkeypatch.setattr(record_tree_kernels, "grow", record_tree_kernels.grow.py_func)
    other = eq.ReleasedFile(table([UNDERSTOOD, *released]), matching="nearest").release(people)
    assert beliefs(other.posteriors(KEYS, intruder="paper")) == beliefs(
        expected.posteriors(KEYS, intruder="paper")
    )


@pytest.fixture(scope="module")
def with_nulls() -> pd.DataFrame:
    frame = many_people(400, 9)
    frame.loc[::7, "job"] = None
    return frame


def differences(release: Any, people: eq.Microdata, known: list[str]) -> np.ndarray:
    """For each person, the total variation distance from the posterior of the unprotected file."""
    found, bare = (
        release.posteriors(known, intruder="paper"),
        eq.Unprotected().release(people).posteriors(known, intruder="paper"),
    )
    return np.abs(found.probabilities - bare.probabilities).sum(axis=1)[found.classes.of_record] / 2


@pytest.mark.parametrize("matching", MATCHINGS)
@pytest.mark.parametrize("known", [[], ["job"], ["age", "region"], ["age", "region", "job", "hours"]])
def test_the_original_itself_scores_like_unprotected(matching, known, with_nulls):
    """Exactly so; by probable matching for a share of her belief of about Π m, which is 1 only where m is."""
    people = eq.Microdata(with_nulls, confidential="pay", keys=["age", "region", "job", "hours"])
    release = eq.ReleasedFile(with_nulls.sample(frac=1, random_state=1), matching=matching).release(people)
    away = differences(release, people, known)
    if matching != "probable":
        assert away.max() < 1e-12
        return
    assert away.mean() < 0.1
    sure = MatchWeights((1 - 1e-9,) * 4, release.weights.u)
    release.reading.fixed.__dict__["weights"] = sure
    assert differences(release, people, known).max() < 1e-4


@pytest.mark.parametrize("matching", MATCHINGS)
def test_shuffled_values_tell_no_more_than_the_marginal(matching):
    """With all keys known, the mean probability given to the true value is that of a guess without the file."""
    frame = many_people(3000, 10)[["region", "job", "pay"]]
    frame["pay"] = frame["region"].str[1:].astype(int) * 10 + 10
    people = eq.Microdata(frame, confidential="pay", keys=["region", "job"])
    shuffled = frame.assign(pay=np.random.default_rng(11).permutation(frame["pay"].to_numpy()))
    shares = np.bincount(people.codes) / len(people)

    def given_to_truth(table):
        post = (
            eq.ReleasedFile(table, matching=matching).release(people).posteriors(["region"], intruder="paper")
        )
        return post.probabilities[post.classes.of_record, people.codes].mean()

    assert given_to_truth(shuffled) == pytest.approx((shares**2).sum(), abs=0.01)
    assert given_to_truth(frame) > 0.95


@pytest.mark.parametrize("matching", MATCHINGS)
def test_rows_and_names_do_not_matter(matching):
    draw = random.Random(12)
    people = [
        *EVERYONE,
        *({k: draw.choice(LEVELS[k]) for k in KEYS} | {"pay": draw.choice(PAYS)} for _ in range(30)),
    ]
    plain = {
        "age": ["20", "22", "[20,22)", None],
        "job": ["cook", "{cook,nurse}", "*"],
        "zip": ["02138", "10001"],
    }
    released = [{k: draw.choice(v) for k, v in plain.items()} | {"pay": draw.choice(PAYS)} for _ in range(40)]
    original = microdata(people)
    found = eq.ReleasedFile(table(released), matching=matching).release(original)
    turned = eq.ReleasedFile(table(released[::-1]), matching=matching).release(microdata(people[::-1]))
    names = {"cook": "żabka", "judge": "a-1", "nurse": "x"}

    def renamed(rows, to):
        return [{**row, "job": to.get(row["job"], row["job"])} for row in rows]

    sets = {**names, "{cook,nurse}": "{żabka,x}"}
    other = eq.ReleasedFile(table(renamed(released, sets)), matching=matching).release(
        microdata(renamed(people, names))
    )
    for known in SUBSETS:
        expected = beliefs(found.posteriors(known, intruder="paper"))
        again = beliefs(turned.posteriors(known, intruder="paper"))
        assert again.keys() == expected.keys()
        for value, row in expected.items():
            assert again[value] == pytest.approx(row, abs=1e-12)
        place = known.index("job") if "job" in known else None
        for value, row in beliefs(other.posteriors(known, intruder="paper")).items():
            back = {new: old for old, new in names.items()}
            was = tuple(back[v] if i == place else v for i, v in enumerate(value))
            assert row == pytest.approx(expected[was], abs=1e-12)


@pytest.mark.parametrize("matching", MATCHINGS)
def test_a_sweep_is_every_subset(matching):
    people = microdata(EVERYONE * 2)
    draw = random.Random(13)
    released = [
        {k: draw.choice(list(SYMBOLS[k])) for k in KEYS} | {"pay": draw.choice(PAYS)} for _ in range(20)
    ]
    release = eq.ReleasedFile(table([UNDERSTOOD, *released]), matching=matching).release(people)
    swept = {frozenset(post.known): post for post in release.own_sweep()}
    assert set(swept) == {frozenset(known) for known in SUBSETS}
    for post in swept.values():
        again = beliefs(release.posteriors(list(post.known), intruder="paper"))
        for value, row in beliefs(post).items():
            assert row == pytest.approx(again[value], abs=1e-12)


def test_generalised_columns_read_back_are_the_generalisation():
    """Ages in decades: of a record's ten ages each is as likely, so a class is linked to its decade's records."""
    frame = pd.DataFrame({"age": list(range(20, 40)), "pay": [10, 20] * 5 + [30] * 10})
    people = eq.Microdata(frame, confidential="pay", keys=["age"])
    decades = frame.assign(age=[f"[{a // 10 * 10},{a // 10 * 10 + 9}]" for a in frame["age"]])
    post = eq.ReleasedFile(decades).release(people).posteriors(["age"], intruder="paper")
    assert post.probabilities.tolist() == [[0.5, 0.5, 0]] * 10 + [[0, 0, 1]] * 10


def test_people_whom_no_record_fits():
    """Synthetic data lack some combinations: there the intruder takes the file's own distribution."""
    frame = pd.DataFrame({"job": ["cook", "judge", "judge"], "sex": list("FFM"), "pay": [10, 20, 30]})
    people = eq.Microdata(frame, confidential="pay", keys=["job", "sex"])
    synthetic = pd.DataFrame({"job": ["cook", "cook", "judge"], "sex": list("FFM"), "pay": [10, 30, 20]})
    release = eq.ReleasedFile(synthetic).release(people)
    assert release.unmatched(["job", "sex"]) == 1
    assert release.unmatched(["job"]) == 0
    third = 1 / 3
    assert beliefs(release.posteriors(["job", "sex"], intruder="paper")) == {
        ("cook", "F"): [0.5, 0, 0.5],
        ("judge", "F"): pytest.approx([third] * 3),
        ("judge", "M"): [0, 1, 0],
    }


def test_confidential_values_at_face_value():
    frame = pd.DataFrame({"sex": list("FFFF"), "pay": [10, 20, 30, 60]})
    people = eq.Microdata(frame, confidential="pay", keys=["sex"])
    for written, expected in {
        "10": [1, 0, 0, 0],
        "14.9": [1, 0, 0, 0],
        "15": [1, 0, 0, 0],
        "15.1": [0, 1, 0, 0],
        "-7": [1, 0, 0, 0],
        "1e3": [0, 0, 0, 1],
        "[20,60)": [0, 0.5, 0.5, 0],
        "(20,60]": [0, 0, 0.5, 0.5],
        "31-44": [0, 0, 1, 0],
        "46-59": [0, 0, 0, 1],
        "31-59": [0, 0, 1, 0],
        "{10,19,60}": [1 / 3, 1 / 3, 0, 1 / 3],
        ">=25": [0, 0, 0.5, 0.5],
        "2*": [0, 1, 0, 0],
    }.items():
        release = eq.ReleasedFile(pd.DataFrame({"sex": ["F"], "pay": [written]})).release(people)
        assert release.posteriors([], intruder="paper").probabilities[0] == pytest.approx(expected), written
    missing = pd.DataFrame({"sex": list("FFF"), "pay": ["10", "20", "NA"]})
    assert eq.ReleasedFile(missing).release(people).posteriors([], intruder="paper").probabilities[
        0
    ] == pytest.approx([0.5, 0.5, 0, 0])
    nothing = pd.DataFrame({"sex": list("FF"), "pay": ["*", None]})
    assert eq.ReleasedFile(nothing).release(people).posteriors([], intruder="paper").probabilities[
        0
    ] == pytest.approx([0.25] * 4)


@pytest.mark.parametrize("kind", ["pandas", "polars", "pyarrow", "duckdb", "csv", "parquet"])
def test_any_kind_of_table(kind, tmp_path):
    import duckdb
    import polars as pl

    people = microdata(EVERYONE)
    frame = table([UNDERSTOOD, {"age": "[20,22)", "job": "*", "zip": "0213*", "pay": 30}])
    pa.csv.write_csv(frame, tmp_path / "released.csv")
    pa.parquet.write_table(frame, tmp_path / "released.parquet")
    given_as = {
        "pandas": frame.to_pandas(),
        "polars": pl.from_arrow(frame),
        "pyarrow": frame,
        "duckdb": duckdb.from_arrow(frame),
        "csv": tmp_path / "released.csv",
        "parquet": str(tmp_path / "released.parquet"),
    }[kind]
    release = eq.ReleasedFile(given_as).release(people)
    expected = eq.ReleasedFile(frame).release(people)
    assert (
        release.posteriors(KEYS, intruder="paper").probabilities.tolist()
        == expected.posteriors(KEYS, intruder="paper").probabilities.tolist()
    )
    assert release.table.to_pydict() == frame.to_pydict()


def test_equality_notation_and_pickling(tmp_path):
    one, same = eq.ReleasedFile("a.csv"), eq.ReleasedFile(tmp_path / "a.csv")
    assert one == eq.ReleasedFile("a.csv")
    assert hash(one) == hash(eq.ReleasedFile("a.csv"))
    assert one != eq.ReleasedFile("a.csv", matching="nearest")
    noisy = eq.ReleasedFile("a.csv", channel="noise-addition:percent=20")
    assert noisy == eq.ReleasedFile("a.csv", channel=eq.NoiseAddition(percent=20)) != one
    assert technique_from(noisy.notation) == noisy
    assert one != same
    frame = pd.DataFrame({"pay": [1]})
    assert eq.ReleasedFile(frame) == eq.ReleasedFile(frame)
    assert eq.ReleasedFile(frame) != eq.ReleasedFile(frame.copy())
    other = pd.DataFrame({"pay": [2]})
    assert eq.ReleasedFile(frame).notation.startswith("released-file:table=<DataFrame ")
    assert eq.ReleasedFile(frame).notation == eq.ReleasedFile(frame.copy()).notation
    assert eq.ReleasedFile(frame).notation != eq.ReleasedFile(other).notation
    assert pickle.loads(pickle.dumps(one)) == one


def test_notes_count_what_agrees_with_nobody():
    people = microdata(EVERYONE)
    odd = [
        {"age": "19.5", "job": "pilot", "zip": "10001", "pay": 10},
        {"age": "40", "job": "cook", "zip": "02138", "pay": 10},
    ]
    notes = eq.ReleasedFile(table([UNDERSTOOD, *odd]), matching="exact").release(people).notes(["age"])
    assert len(notes) == 3
    assert notes[0].startswith("2 released records hold a age between or beyond the original's")
    assert notes[1].startswith(
        "1 released records hold a job that nobody in the original has, such as 'pilot'"
    )
    assert notes[2].startswith("No released record fits what is known of 5 people")
    nearest = eq.ReleasedFile(table([UNDERSTOOD, *odd]), matching="nearest").release(people)
    assert len(nearest.notes(["age"])) == 1
    left_to_her = eq.ReleasedFile(table([UNDERSTOOD, *odd])).release(people).notes(["age"])
    assert len(left_to_her) == 2
    assert left_to_her[1].endswith("she uses similar records, or her prior.")


@pytest.mark.parametrize("matching", MATCHINGS)
def test_large_tables_are_sparse_and_the_same(matching, monkeypatch):
    people = microdata(EVERYONE)
    draw = random.Random(14)
    released = [
        {k: draw.choice(list(SYMBOLS[k])) for k in KEYS} | {"pay": draw.choice(PAYS)} for _ in range(9)
    ]
    release = eq.ReleasedFile(table([UNDERSTOOD, *released]), matching=matching).release(people)
    dense = [release.posteriors(known, intruder="paper") for known in SUBSETS]
    expected = [(post.probabilities, post.curves().area) for post in dense]
    monkeypatch.setattr(mixing, "DENSE_UP_TO", 0)
    for known, (probabilities, area) in zip(SUBSETS, expected, strict=True):
        sparse = release.posteriors(known, intruder="paper")
        assert sparse.probabilities.format == "csr"
        np.testing.assert_allclose(sparse.probabilities.toarray(), probabilities, atol=1e-12)
        np.testing.assert_allclose(sparse.curves().area, area, atol=1e-9)


def test_distances_tie_but_for_rounding():
    """0.3 lies as near to 0.1 as to 0.5, though in doubles the differences are not equal."""
    assert 0.3 - 0.1 != 0.5 - 0.3
    frame = pd.DataFrame({"x": [0.0, 0.3, 1.0], "pay": [10, 20, 30]})
    people = eq.Microdata(frame, confidential="pay", keys=["x"])
    released = pd.DataFrame({"x": [0.1, 0.5, 0.9], "pay": [10, 20, 30]})
    post = eq.ReleasedFile(released, matching="nearest").release(people).posteriors(["x"], intruder="paper")
    assert post.probabilities.tolist() == [[1, 0, 0], [0.5, 0.5, 0], [0, 0, 1]]


@pytest.mark.parametrize("technique", [eq.Generalisation(k=3), eq.Suppression(k=2)], ids=lambda t: t.notation)
def test_our_own_generalisation_read_back_has_its_posteriors(technique):
    """Written as a table and read without information on how it was made."""
    frame = many_people(120, 15).assign(age=lambda f: f["age"] // 8)
    people = eq.Microdata(frame, confidential="pay", keys=["age", "job"])
    release = technique.release(people, 0)
    again = eq.ReleasedFile(release.table).release(people)
    for known in ([], ["age"], ["job"], ["age", "job"]):
        one, two = release.posteriors(known, intruder="paper"), again.posteriors(known, intruder="paper")
        np.testing.assert_allclose(two.probabilities, one.probabilities, atol=1e-12)
