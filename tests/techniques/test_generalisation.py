"""Generalisation: k by counting the records, Mondrian against a plain recursion, the lattice against all nodes."""

from __future__ import annotations

import pickle
from collections import Counter
from itertools import combinations, product

import numpy as np
import pandas as pd
import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from equivoc.data.microdata import Microdata
from equivoc.errors import InputError
from equivoc.linkage import coded_file as level_sets
from equivoc.techniques.generalisation import Generalisation
from equivoc.techniques.inside import full_domain
from equivoc.techniques.notation import technique_from
from equivoc.techniques.unprotected import Unprotected
from tests.techniques.consistent_originals import beliefs_by_enumeration, stands_for

KEYS = ["age", "job"]
AGES, JOBS = [20, 21, 22, 25, 29, 34, None], ["cook", "judge", "nurse", "pilot", None]
HANDS = "cook;hands;*\njudge;head;*\nnurse;hands;*\npilot;head;*\n"


def people_of(rows, keys=KEYS) -> Microdata:
    columns = dict(zip((*keys, "pay"), map(list, zip(*rows, strict=True)), strict=True))
    return Microdata(pa.table(columns), confidential="pay", keys=keys)


def combinations_of(release, keys=KEYS) -> list[tuple]:
    return [tuple(row[key] for key in keys) for row in release.table.to_pylist()]


ROWS = st.lists(
    st.tuples(st.sampled_from(AGES), st.sampled_from(JOBS), st.sampled_from([10, 20, 30])),
    min_size=3,
    max_size=25,
)


def ordered(values):
    return sorted(set(values), key=lambda v: (v is None, v if v is not None else 0))


def plain_mondrian(rows, k):
    """Parts of the rows (as positions), by recursion over lists: strict Mondrian as its paper and our page say."""
    levels = [ordered(row[a] for row in rows) for a in range(len(rows[0]) - 1)]

    def parts(part):
        spans = []
        for a, of_key in enumerate(levels):
            places = [of_key.index(rows[r][a]) for r in part]
            share = (max(places) - min(places)) / max(len(of_key) - 1, 1)
            spans.append((-share, a))
        for _, a in sorted(spans):
            places = {r: levels[a].index(rows[r][a]) for r in part}
            cuts = sorted(set(places.values()))[:-1]
            sides = [([r for r in part if places[r] <= c], [r for r in part if places[r] > c]) for c in cuts]
            if sides:
                left, right = min(sides, key=lambda s: abs(len(s[0]) - len(s[1])))
                if min(len(left), len(right)) >= k:
                    return parts(left) + parts(right)
        return [part]

    return parts(list(range(len(rows)))), levels


class TestMondrian:
    @settings(max_examples=80, deadline=None)
    @given(rows=ROWS, k=st.integers(1, 4))
    def test_against_a_plain_recursion(self, rows, k):
        if k > len(rows):
            return
        release = Generalisation(k=k).release(people_of(rows))
        shown = combinations_of(release)
        parts, levels = plain_mondrian(rows, k)
        for part in parts:
            assert len(part) >= k
            for a, of_key in enumerate(levels):
                places = [of_key.index(rows[r][a]) for r in part]
                expected = of_key[min(places) : max(places) + 1]
                for r in part:
                    assert stands_for(shown[r][a], of_key) == expected
        # Equal ranges of different parts only add up.
        assert min(Counter(shown).values()) >= k

    def test_many_levels_and_few_records(self):
        """Values far apart are cut by sorting, not by counting: the same parts."""
        rng = np.random.default_rng(1)
        rows = [(int(a), int(b), 10) for a, b in rng.integers(0, 10**6, size=(60, 2))]
        release = Generalisation(k=3).release(people_of(rows))
        parts, _ = plain_mondrian(rows, 3)
        shown = combinations_of(release)
        for part in parts:
            for a in (0, 1):
                ends = sorted(rows[r][a] for r in part)
                assert {shown[r][a] for r in part} == {f"[{ends[0]},{ends[-1]}]"}

    def test_few_records_far_apart_and_some_alike(self):
        """The middle of 5, 60, 60, 90 lies between two alike, who stay together: no cut leaves two on both sides."""
        keys = ["b", "a", "c"]
        rows = [
            *((0, a, 0, 10) for a in range(100)),
            (1, 5, 0, 10),
            (1, 60, 0, 20),
            (1, 60, 1, 10),
            (1, 90, 0, 10),
        ]
        shown = combinations_of(Generalisation(k=2).release(people_of(rows, keys)), keys)
        assert shown[100:] == [(1, "[5,90]", "*")] * 4
        assert min(Counter(shown).values()) >= 2

    def test_the_patients_of_the_paper(self):
        """LeFevre, DeWitt and Ramakrishnan (2006), the patients table and its 2-anonymous multidimensional recoding."""
        rows = [
            ("Male", 25, 53711, 1),
            ("Female", 25, 53712, 2),
            ("Male", 26, 53711, 3),
            ("Male", 27, 53710, 4),
            ("Female", 27, 53712, 5),
            ("Male", 28, 53711, 6),
        ]
        keys = ["sex", "age", "zip"]
        shown = combinations_of(Generalisation(k=2).release(people_of(rows, keys)), keys)
        young, old = ("Male", "[25,26]", "53711"), ("Male", "[27,28]", "[53710,53711]")
        women = ("Female", "[25,27]", "53712")
        assert shown == [young, women, young, old, women, old]

    def test_one_part_is_starred_where_it_spans_all(self):
        release = Generalisation(k=4).release(
            people_of([(20, "cook", 1), (21, "cook", 2), (34, "cook", 3), (20, "judge", 4)])
        )
        assert combinations_of(release) == [("*", "*")] * 4

    def test_too_many_ranges_are_refused(self, monkeypatch):
        rows = [(age, "cook", age % 7) for age in range(100)]
        monkeypatch.setattr(level_sets, "LARGEST_TABLE", 33 * 100 - 1)
        Generalisation(k=50).release(people_of(rows))
        with pytest.raises(InputError, match=r"key 'age' has 100 values, released as .* round the key"):
            Generalisation(k=2).release(people_of(rows))


def every_node(rows, ladders, k, suppress):
    """The best recoding by trying them all on the records: (loss, discernibility, steps)."""
    found = []
    levels = [{row[a] for row in rows} for a in range(len(ladders))]
    for steps in product(*(range(len(ladder)) for ladder in ladders)):
        shown = [tuple(ladders[a][s](row[a]) for a, s in enumerate(steps)) for row in rows]
        counts = Counter(shown)
        out = [counts[each] < k for each in shown]
        if sum(out) > suppress * len(rows) + 1e-9:
            continue
        loss = 0.0
        for each, gone in zip(shown, out, strict=True):
            for a, s in enumerate(steps):
                alike = sum(ladders[a][s](v) == each[a] for v in levels[a])
                loss += 1 if gone else (alike - 1) / max(len(levels[a]) - 1, 1)
        discernibility = sum(
            len(rows) if gone else counts[each] for each, gone in zip(shown, out, strict=True)
        )
        found.append((round(loss / len(rows) / len(steps), 12), discernibility, steps))
    return min(found)


def interval(width):
    return lambda age: None if age is None else f"[{age // width * width},{age // width * width + width})"


LADDERS = [
    [lambda v: v, interval(5), interval(15), lambda v: "*"],
    [lambda v: v, {"cook": "hands", "nurse": "hands", "judge": "head", "pilot": "head"}.get, lambda v: "*"],
]


@pytest.fixture(scope="module")
def hierarchies(tmp_path_factory):
    path = tmp_path_factory.mktemp("hierarchies") / "job.csv"
    path.write_text(HANDS)
    return {"age": (5, 15), "job": path}


class TestLattice:
    @settings(max_examples=80, deadline=None)
    @given(rows=ROWS, k=st.integers(1, 4), suppress=st.sampled_from([0.0, 0.1, 0.3]))
    def test_the_best_of_all_nodes(self, hierarchies, rows, k, suppress):
        if k > len(rows):
            return
        release = Generalisation(k=k, hierarchies=hierarchies, suppress=suppress).release(people_of(rows))
        loss, _, steps = every_node(rows, LADDERS, k, suppress)
        assert tuple(release.levels.values()) == steps
        assert release.loss == pytest.approx(loss, abs=1e-11)
        shown = combinations_of(release)
        kept = Counter(each for each, out in zip(shown, release.suppressed, strict=True) if not out)
        assert not kept or min(kept.values()) >= k
        assert release.suppressed.sum() <= suppress * len(rows) + 1e-9
        for each, row, out in zip(shown, rows, release.suppressed, strict=True):
            for a, s in enumerate(steps):
                expected = "*" if out else LADDERS[a][s](row[a])
                assert each[a] == expected or each[a] == str(expected)

    def test_of_two_that_lose_as_much_the_evener_classes_win(self):
        """Either key starred loses 1/2; classes of 4 and 2 are worse (4² + 2²) than classes of 3 and 3."""
        rows = [*[("x", "p", 1)] * 3, ("x", "q", 1), *[("y", "q", 1)] * 2]
        for keys, levels in ((["a", "b"], {"a": 1, "b": 0}), (["b", "a"], {"b": 0, "a": 1})):
            people = Microdata(people_of(rows, ["a", "b"]).frame, confidential="pay", keys=keys)
            release = Generalisation(k=2, hierarchies={}).release(people)
            assert (release.levels, release.loss) == (levels, 0.5)

    def test_many_nodes_few_are_counted(self, monkeypatch):
        rng = np.random.default_rng(2)
        rows = [(*map(int, row), 10) for row in rng.integers(0, 64, size=(300, 3))]
        counted = []
        plain = full_domain.Counted.up
        monkeypatch.setattr(
            full_domain.Counted,
            "up",
            lambda self, ladders, steps: counted.append(tuple(steps)) or plain(self, ladders, steps),
        )
        keys = ["a", "b", "c"]
        halving = dict.fromkeys(keys, (2, 4, 8, 16, 32))
        Generalisation(k=5, hierarchies=halving).release(people_of(rows, keys))
        assert 0 < len(counted) < 7**3 / 3

    def test_given_levels_are_taken_whatever_k_comes_of_it(self, hierarchies):
        rows = [(20, "cook", 1), (34, "pilot", 2), (21, None, 3)]
        release = Generalisation(hierarchies=hierarchies, levels={"age": 2, "job": 1}).release(
            people_of(rows)
        )
        assert combinations_of(release) == [("[15,30)", "hands"), ("[30,45)", "head"), ("[15,30)", None)]
        as_it_is = Generalisation(levels={"job": 0}).release(people_of(rows))
        assert as_it_is.table.to_pylist() == people_of(rows).frame.to_pylist()

    def test_names_of_categories_change_nothing(self, hierarchies, tmp_path):
        """Other names in the same order, in the file and in its hierarchy."""
        rng = np.random.default_rng(4)
        rows = [(AGES[rng.integers(6)], JOBS[rng.integers(4)], int(rng.integers(3))) for _ in range(30)]
        path = tmp_path / "job.csv"
        names = {"cook": "Ą", "judge": "ą", "nurse": "Ż", "pilot": "ż", None: None}
        path.write_text("Ą,1\ną,2\nŻ,1\nż,2\n", encoding="utf-8")
        other = people_of([(age, names[job], pay) for age, job, pay in rows])
        for known in ([], ["age"], ["job"], KEYS):
            one = (
                Generalisation(k=3, hierarchies=hierarchies)
                .release(people_of(rows))
                .posteriors(known, intruder="paper")
            )
            two = (
                Generalisation(k=3, hierarchies={"age": (5, 15), "job": path})
                .release(other)
                .posteriors(known, intruder="paper")
            )
            assert one.probabilities.tolist() == two.probabilities.tolist()


TINY = [(20, "cook", 10), (21, "judge", 20), (29, "cook", 10), (34, None, 30)]


@pytest.mark.parametrize(
    "technique",
    [
        Generalisation(k=2),
        Generalisation(k=3),
        Generalisation(k=2, hierarchies={"age": 5}),
        Generalisation(k=2, hierarchies={"age": (5, 15)}, suppress=0.5),
        Generalisation(levels={"age": 1}, hierarchies={"age": 10}),
        Generalisation(levels={"age": 1, "job": 1}, hierarchies={"age": 10}),
    ],
    ids=lambda t: t.notation,
)
def test_the_posterior_is_a_count_over_all_originals_that_fit(technique, beliefs):
    """She takes every original whose values lie in the released ranges as equally likely."""
    people = people_of(TINY)
    release = technique.release(people)
    levels = {key: people.levels(key) for key in KEYS}
    for known in ([], ["age"], ["job"], KEYS):
        expected = beliefs_by_enumeration(release.table.to_pylist(), levels, known)
        for target, row in beliefs(release.posteriors(known, intruder="paper")).items():
            told = expected[target]
            assert row == pytest.approx([told.get(pay, 0.0) for pay in people.values], abs=1e-12)


def test_originals_that_give_the_same_release():
    """Fixed levels: of all tables over the levels, those that are recoded to the same release, and no others."""
    technique = Generalisation(levels={"age": 1, "job": 1}, hierarchies={"age": 10})
    people = people_of(TINY)
    release = technique.release(people)
    recode = {None: None, 20: 2, 21: 2, 29: 2, 34: 3}
    ages, jobs = people.levels("age"), people.levels("job")
    counts = {}
    for original in product(product(ages, jobs), repeat=len(TINY)):
        if [recode[age] for age, _ in original] == [recode[row[0]] for row in TINY]:
            for (age, job), row in zip(original, TINY, strict=True):
                counts[age, job, row[2]] = counts.get((age, job, row[2]), 0) + 1
    post = release.posteriors(KEYS, intruder="paper")
    for codes, row in zip(post.classes.key_codes, post.probabilities, strict=True):
        target = (ages[codes[0]], jobs[codes[1]])
        of_pay = np.array([counts.get((*target, pay), 0) for pay in people.values])
        np.testing.assert_allclose(row, of_pay / of_pay.sum(), atol=1e-12)


SUBSETS = [known for size in range(4) for known in combinations(["sex", "age", "job"], size)]


@pytest.mark.parametrize("technique", [Generalisation(k=1), Generalisation(k=1, hierarchies={"age": 2})])
def test_k_of_1_leaves_the_file_unchanged(people, beliefs, technique):
    release, plain = technique.release(people), Unprotected().release(people)
    assert release.table.equals(plain.table)
    for known in SUBSETS:
        assert beliefs(release.posteriors(known, intruder="paper")) == beliefs(
            plain.posteriors(known, intruder="paper")
        )


@pytest.mark.parametrize("technique", [Generalisation(k=40), Generalisation(k=40, hierarchies={"age": 2})])
def test_all_starred_is_knowing_nothing(people, technique):
    release = technique.release(people)
    nothing = Unprotected().release(people).posteriors([], intruder="paper").probabilities[0]
    for known in SUBSETS:
        for row in release.posteriors(known, intruder="paper").probabilities:
            np.testing.assert_allclose(row, nothing, atol=1e-12)


def test_a_larger_k_discloses_less_on_average(people):
    """Not for every class, but over people: entropy rises from the file as it is to nothing known."""
    average = []
    for k in (1, 5, 40):
        post = Generalisation(k=k).release(people).posteriors(people.keys, intruder="paper")
        average.append(post.sizes @ post.shannon() / len(people))
    assert average[0] < average[1] < average[2]


@pytest.mark.parametrize("kind", ["category", "ordered", "str", "object"])
def test_pandas_columns_of_any_kind_show_the_groups(kind):
    jobs = pd.Series(["cook", "judge", "nurse", "pilot"])
    jobs = jobs.astype(pd.CategoricalDtype(ordered=True) if kind == "ordered" else kind)
    people = Microdata(pd.DataFrame({"job": jobs, "pay": [1, 2, 3, 4]}), confidential="pay", keys=["job"])
    shown = Generalisation(k=2).release(people).table["job"]
    assert shown.tolist() == ["{cook,judge}", "{cook,judge}", "{nurse,pilot}", "{nurse,pilot}"]


class TestWords:
    @pytest.mark.parametrize(
        "technique",
        [
            Generalisation(k=5),
            Generalisation(k=5, hierarchies={"age": (5, 10), "fare": 2.5}, suppress=0.05),
            Generalisation(levels={"zip": 2, "age": 1}, hierarchies={"age": 10}),
        ],
    )
    def test_the_notation_is_read_back(self, technique):
        again = technique_from(technique.notation)
        assert again == technique == pickle.loads(pickle.dumps(technique))
        assert hash(again) == hash(technique)
        assert again.notation == technique.notation

    def test_a_folder(self, hierarchies):
        folder = hierarchies["job"].parent
        from_folder = technique_from(f"generalisation:k=2,hierarchies={folder}")
        assert from_folder == Generalisation(k=2, hierarchies=folder)
        assert from_folder != Generalisation(k=2)


@pytest.mark.parametrize(
    ("technique", "message"),
    [
        (Generalisation(k=41), "k is 41, but there are only 40 records"),
        (Generalisation(k=41, hierarchies={"age": 5}), "k is 41, but there are only 40 records"),
        (
            Generalisation(k=2, hierarchies={"job": 5}),
            "key 'job' has the value 'cook', which is in no interval",
        ),
        (Generalisation(k=2, hierarchies={"salary": 5}), "hierarchy for 'salary', which is not a key"),
        (
            Generalisation(levels={"salary": 1}),
            "levels names 'salary', which is not a key; there are sex, age, job",
        ),
        (
            Generalisation(levels={"age": 3}, hierarchies={"age": 5}),
            "level 3 of key 'age' .* its highest is 2",
        ),
    ],
    ids=lambda p: getattr(p, "notation", ""),
)
def test_people_that_cannot_be_generalised(people, technique, message):
    with pytest.raises(InputError, match=message):
        technique.release(people)


def test_a_value_that_is_a_star_is_refused():
    with pytest.raises(InputError, match=r"key 'job' has the value '\*', which is to stand for any value"):
        Generalisation(k=1).release(people_of([(20, "*", 1)]))


def test_a_lattice_that_is_too_large_is_refused(people, monkeypatch):
    monkeypatch.setattr(full_domain, "LARGEST_LATTICE", 11)
    with pytest.raises(InputError, match="12 combinations of levels, more than an exact search goes through"):
        Generalisation(k=2, hierarchies={"age": 2}).release(people)


def test_without_keys_there_is_nothing_to_generalise():
    people = Microdata(pa.table({"pay": [1, 2, 2]}), confidential="pay")
    for technique in (Generalisation(k=3), Generalisation(k=3, hierarchies={})):
        assert technique.release(people).posteriors([], intruder="paper").probabilities.tolist() == [
            [1 / 3, 2 / 3]
        ]


def test_another_hierarchy_of_the_same_name_is_noticed(tmp_path):
    file = tmp_path / "age.csv"
    contents = []
    for groups in ("young;*", "old;*", "young;*"):
        file.write_text(f"20;{groups}\n21;{groups}\n")
        technique = Generalisation(k=2, hierarchies={"age": file})
        contents.append(technique.content)
    assert contents[0] == contents[2] != contents[1]
    assert Generalisation(k=2).content is None
