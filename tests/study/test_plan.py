"""Plans: what they expand to, and mistakes in them by line and key."""

from __future__ import annotations

from pathlib import Path

import pandas as pd
import pytest

import equivoc as eq
from equivoc.experiments.study import study_of
from equivoc.requests.plan import read_plan


def test_lists_expand_to_a_grid(plan: Path) -> None:
    text = plan.read_text().replace(
        "fraction = [0.2, 0.5]", 'fraction = [0.2, 0.5]\nprior = ["uniform", "marginal"]'
    )
    plan.write_text(text)
    study = study_of(read_plan(plan))
    assert [technique.notation for technique in study.techniques] == [
        "sampling:fraction=0.2,prior=uniform",
        "sampling:fraction=0.2,prior=marginal",
        "sampling:fraction=0.5,prior=uniform",
        "sampling:fraction=0.5,prior=marginal",
        "query-restriction:size=2",
        "query-restriction:size=4",
    ]
    assert (study.replicates, study.seed, study.known_sizes) == (3, 11, (0, 1, 2, 3))
    assert study.people.values.tolist() == list(range(10, 110, 10))
    assert len(study.people) == 200


def test_a_plan_may_be_short(plan: Path) -> None:
    plan.write_text(
        'data = { path = "people.csv", confidential = "salary", keys = ["sex"] }\n[[technique]]\nname = "unprotected"'
    )
    study = study_of(read_plan(plan))
    assert (study.replicates, study.seed, study.known_sizes) == (30, 0, (0, 1))
    assert (study.prior, study.intruder) == ("marginal", "informed")


def test_weights(plan: Path, frame: pd.DataFrame) -> None:
    frame.assign(stands_for=range(1, 201)).to_csv(plan.with_name("people.csv"), index=False)
    assert study_of(read_plan(plan)).people.weights is None
    plan.write_text(plan.read_text().replace("step = 10 }", 'step = 10 }\nweights = "stands_for"'))
    weights = study_of(read_plan(plan)).people.weights
    assert weights is not None
    assert weights.tolist() == list(range(1, 201))


def test_the_prior_and_the_intruder(plan: Path) -> None:
    plan.write_text(f'{plan.read_text()}prior = "uniform"\nintruder = "paper"\n')
    asked = study_of(read_plan(plan))
    assert (asked.prior, asked.intruder) == ("uniform", "paper")
    instead = study_of(read_plan(plan), intruder="register")
    assert (instead.prior, instead.intruder) == ("uniform", "register")


@pytest.mark.parametrize(
    ("before", "after", "line", "said"),
    [
        ('path = "people.csv"', 'pth = "people.csv"', 2, "[data] has no key 'pth': did you mean 'path'?"),
        ('path = "people.csv"', "", 1, "[data] needs path"),
        ('path = "people.csv"', "path = 7", 2, "path is 7; it must be a text"),
        ('path = "people.csv"', 'path = "nobody.csv"', 2, "there is no file"),
        ('confidential = "salary"', 'confidential = "wage"', 3, "'wage' is not a column"),
        ('keys = ["age", "sex", "job"]', 'keys = ["age", "sx"]', 4, "the key 'sx' is not a column"),
        ('keys = ["age", "sex", "job"]', 'keys = "age"', 4, "keys is 'age'; it must be a list"),
        ("step = 10 }", 'step = 10 }\nweights = "weight"', 6, "the weights column 'weight' is not a column"),
        ("step = 10 }", 'step = 10 }\nweights = "sex"', 6, "weights must contain numbers"),
        ("step = 10 }", 'step = 10 }\nweights = "salary"', 6, "it cannot hold the weights"),
        ("step = 10 }", "step = 10 }\nweights = 2", 6, "weights is 2; it must be the name of a column"),
        ("step = 10", "step = 0", 5, "domain: from 10 to 100 in steps of 0"),
        ("step = 10", "stp = 10", 5, "domain has the keys low, high, stp"),
        ("high = 100", "high = 20", 5, "domain"),
        ('[[technique]]\nname = "s', '[[tecnique]]\nname = "s', 7, "a plan has no table 'tecnique'"),
        (
            'name = "sampling"',
            'name = "sampel"',
            8,
            "there is no technique 'sampel': did you mean 'sampling'?",
        ),
        ('name = "sampling"', "", 7, "a technique needs a name"),
        ("fraction = [0.2, 0.5]", "fractoin = 0.2", 9, "sampling has no parameter 'fractoin'"),
        ("fraction = [0.2, 0.5]", "fraction = []", 9, "fraction is an empty list"),
        ("fraction = [0.2, 0.5]", "fraction = [0.2, 1.5]", 9, "fraction is 1.5; it must be above 0"),
        ("fraction = [0.2, 0.5]", 'fraction = "much"', 9, "fraction is 'much'; it must be above 0"),
        ("fraction = [0.2, 0.5]", "fraction = true", 9, "fraction is true; give a number"),
        ("fraction = [0.2, 0.5]", "fraction = [0.2, 0.2]", 8, "sampling:fraction=0.2 is in the plan twice"),
        ("fraction = [0.2, 0.5]", "fraction = nan", 9, "fraction is nan"),
        ("size = [2, 4]", "size = [2, 3]", 13, "size is 3; a query sums an even number"),
        ("known_sizes = [0, 1, 2, 3]", "known_sizes = [0, 4]", 16, "known_sizes contains 4; with 3 keys"),
        ("known_sizes = [0, 1, 2, 3]", "known_sizes = []", 16, "known_sizes is empty"),
        ("known_sizes = [0, 1, 2, 3]", "known_sizes = [0.5]", 16, "known_sizes contains 0.5"),
        (
            "known_sizes = [0, 1, 2, 3]",
            'subsets = [["age", "sx"]]',
            16,
            "subsets contains 'sx', which is not a key",
        ),
        (
            "known_sizes = [0, 1, 2, 3]",
            'subsets = ["age"]',
            16,
            "subsets contains 'age'; each must be a list",
        ),
        ("known_sizes = [0, 1, 2, 3]", "subsets = []", 16, "subsets is empty"),
        ("replicates = 3", "replicates = 0", 17, "replicates is 0; it must be a whole number of 1 or more"),
        ("replicates = 3", "replicates = 2.5", 17, "replicates is 2.5; it must be a whole number"),
        ("replicates = 3", "subsets = [[]]", 16, "known_sizes and subsets are both given"),
        ("seed = 11", "seed = -1", 18, "seed is -1; it must be a whole number of 0 or more"),
        ("seed = 11", "seed = true", 18, "seed is True; it must be a whole number"),
        ("seed = 11", 'prior = "flat"', 18, "prior is 'flat'"),
        ("seed = 11", "prior = [0.5, 0.5]", 18, "prior is [0.5, 0.5]; it must be a text"),
        ("seed = 11", 'intruder = "weakest"', 18, "intruder is 'weakest'"),
        ("seed = 11", "sede = 11", 18, "[study] has no key 'sede': did you mean 'seed'?"),
    ],
)
def test_mistakes_name_line_and_key(plan: Path, before: str, after: str, line: int, said: str) -> None:
    text = plan.read_text()
    assert before in text
    plan.write_text(text.replace(before, after, 1))
    with pytest.raises(eq.InputError) as mistake:
        study_of(read_plan(plan))
    assert str(mistake.value).startswith(f"{plan}, line {line}: ")
    assert said in str(mistake.value)


def test_no_technique_no_toml_no_file(plan: Path, tmp_path: Path) -> None:
    text = plan.read_text()
    head, _, tail = text.partition("[[technique]]")
    plan.write_text(head + "[study]" + tail.partition("[study]")[2])
    with pytest.raises(eq.InputError, match="has no technique"):
        read_plan(plan)
    plan.write_text("[data\n")
    with pytest.raises(eq.InputError, match=r"is not TOML: .*line 1"):
        read_plan(plan)
    plan.write_bytes(b"\xff\xfe[data]")
    with pytest.raises(eq.InputError, match="not a text file"):
        read_plan(plan)
    with pytest.raises(eq.InputError, match="cannot be read: No such file"):
        read_plan(tmp_path / "none.toml")


@pytest.mark.parametrize(
    ("given", "said"),
    [
        ({"techniques": []}, "techniques is empty"),
        ({"techniques": eq.Sampling(fraction=0.5)}, "techniques is Sampling"),
        ({"techniques": ["sampling"]}, "techniques contains 'sampling'"),
        ({"techniques": [eq.NoiseAddition(percent=5), eq.NoiseAddition(percent=5.0)]}, "percent=5 twice"),
        ({"replicates": 1.5}, "replicates is 1.5"),
        ({"seed": -1}, "seed is -1"),
        ({"known_sizes": [1, 1]}, "known_sizes names a size twice"),
        ({"known_sizes": 2}, "known_sizes is 2"),
        ({"subsets": "age"}, "subsets is 'age'"),
        ({"subsets": [["age"], ["age"]]}, "repeats a key or a subset"),
    ],
)
def test_a_study_is_checked_when_it_is_created(people: eq.Microdata, given: dict, said: str) -> None:
    with pytest.raises(eq.InputError, match=said):
        eq.Study(people, **{"techniques": [eq.Sampling(fraction=0.5)], **given})
    with pytest.raises(eq.InputError, match="people is a DataFrame"):
        eq.Study(people.frame, techniques=[eq.Sampling(fraction=0.5)])


def test_how_it_is_run_is_checked(people: eq.Microdata) -> None:
    study = eq.Study(people, techniques=[eq.Sampling(fraction=0.5)], replicates=1)
    with pytest.raises(eq.InputError, match="workers is 0"):
        study.run(workers=0)
    with pytest.raises(eq.InputError, match="progress is 'loud'"):
        study.run(progress="loud")


def test_no_more_workers_than_cores(people: eq.Microdata, monkeypatch: pytest.MonkeyPatch) -> None:
    """A process each for thousands of cells would take all memory."""
    from equivoc.experiments import workers as module

    started = []
    compute = module.compute

    def noting(setting: object, keys: object, *, workers: int):
        started.append(workers)
        return compute(setting, keys, workers=1)

    monkeypatch.setattr(module, "compute", noting)
    monkeypatch.setattr(module, "cores", lambda: 5)
    study = eq.Study(people, techniques=[eq.Sampling(fraction=0.5)], known_sizes=[0], replicates=20)
    for workers in (10**6, 7, 4):
        study.run(workers=workers, progress=False)
    assert started == [5, 5, 4]
