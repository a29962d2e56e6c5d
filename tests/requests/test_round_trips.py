"""A task is the same in every spelling: JSON and TOML lead back to it; Python and command give its figures when run."""

from __future__ import annotations

import json
import shlex
from contextlib import chdir
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from typer.main import get_command

import equivoc as eq
from equivoc.cli.app import app
from equivoc.errors import InputError
from equivoc.notation.declared import Param, params
from equivoc.render.table_release import table_release_facts
from equivoc.requests import Assess, Audit, Choose, Compare, PeopleRequest, Protect, Table, Task, read
from equivoc.requests.reading import TASKS
from equivoc.requests.spell import OTHERWISE, REPEATED
from equivoc.tables.rules import as_rules
from tests.commands import run_command

HOSTILE = [
    "pay, yearly",
    'the "b" one',
    "line\nbreak",
    "straße",
    "a=b",
    "it's",
    "{x}",
    "\\n",
    "\x7f",
    "a:b+c|d",
]
characters = st.characters(codec="utf-8", exclude_characters="\0")
texts = st.sampled_from(HOSTILE) | st.text(characters, min_size=1, max_size=6)
shares = st.sampled_from(["unknown", "0.02"]) | st.floats(0.001, 0.999)
notations = st.sampled_from(
    [
        "sampling:fraction=0.25",
        'swapping:rate=0.5,on="a, b"+c',
        "noise-addition:percent=20,edge=wrap",
        "unprotected",
    ]
)


words = st.lists(texts.filter(str.strip), min_size=1, max_size=3)
OF_READING: dict[str, st.SearchStrategy[Any]] = {
    "separator": st.sampled_from([";", "\t", "^"]),
    "decimal": st.just(","),
    "thousands": st.sampled_from(["'", " ", "none"]),
    "encoding": st.sampled_from(["utf-16", "latin-1", "cp850"]),
    "dates": st.sampled_from(["%d.%m.%Y", "%Y%m%d"]),
    "missing": words | st.dictionaries(texts, words, min_size=1),
}
"""How a file is read: values that fit each other."""


def values_of(param: Param) -> st.SearchStrategy[Any]:
    """Valid values of a parameter; for numbers, those that every limit of the tasks allows."""
    if param.name in OF_READING:
        return OF_READING[param.name]
    if param.kind == "number":
        return st.integers(1, 9) if "whole" in param.wanted else st.floats(0.01, 1, exclude_max=True)
    return {
        "choice": lambda: st.sampled_from(param.words or ()),
        "flag": st.booleans,
        "names": lambda: st.lists(texts, min_size=1, max_size=3),
        "numbers": lambda: st.lists(st.floats(allow_nan=False, allow_infinity=False), min_size=1, max_size=3),
        "table": lambda: st.dictionaries(
            texts, texts if param.name == "hierarchy" else st.lists(texts), min_size=1
        ),
        "text": lambda: shares if param.name == "participation" else texts,
        "file": lambda: texts,
    }[param.kind]()


NEEDED = {
    "technique": notations,
    "techniques": st.lists(notations, min_size=1),
    "out": texts,
    "queries": texts,
    "by": st.lists(texts, min_size=1),
    "method": st.sampled_from(["suppress", "round:5", "noisy:0.5"]),
    "rule": st.just(["p:10", "dominance:n=2,k=80"]),
}


def requests(verb: str, *, all_away: bool = False) -> st.SearchStrategy[Task]:
    """Tasks; with ``all_away``, every field that has a default differs from it."""
    kind = TASKS[verb]
    people = fields_of(PeopleRequest, {"source": texts}, (), all_away=all_away)
    needed = {each.name: NEEDED[each.name] for each in params(kind) if each.name in NEEDED}
    needed |= {
        each.name: values_of(each) for each in params(kind) if each.required and each.name not in NEEDED
    }
    rest = fields_of(kind, needed, ("people", "statements", *kind.unused), all_away=all_away)
    return st.builds(lambda who, what: kind.read({"people": who, **what}), people, rest)


def fields_of(
    kind: type, needed: dict[str, Any], without: tuple[str, ...], *, all_away: bool
) -> st.SearchStrategy[dict[str, Any]]:
    rest = {each.name: away(each) for each in params(kind) if each.name not in (*needed, *without)}
    return st.fixed_dictionaries(
        {**needed, **rest} if all_away else needed, optional={} if all_away else rest
    )


def away(param: Param) -> st.SearchStrategy[Any]:
    """Valid values that differ from the default."""
    return values_of(param).filter(lambda value: value != param.default)


tasks = st.sampled_from(sorted(TASKS)).flatmap(requests)


@given(tasks)
def test_json_and_toml_lead_back(task: Task) -> None:
    assert read(task.json) == task
    assert read(task.toml) == task
    assert read(json.loads(task.json)) == task


@given(tasks)
def test_the_command_is_one_line_of_words_that_name_every_field(task: Task) -> None:
    tables = [name for name in ("hierarchy", "ordered") if name not in task.unsaid]
    columns = [column for name in tables for column in getattr(task.people, name) or {}]
    missing = task.people.missing or ()
    if any("=" in each for each in (*columns, *missing)):  # the only text that no command can say
        with pytest.raises(InputError, match=r"equals sign|no option"):
            _ = task.command
        return
    if {each.name for each, _ in (*task.people.given(), *task.given())} & {*task.no_option}:
        with pytest.raises(
            InputError, match=f"equivoc {task.verb} has no option for .*: run the task in Python"
        ):
            _ = task.command
        return
    words = shlex.split(task.command)
    assert words[:2] == ["equivoc", task.verb]
    given = {each.name for each, _ in (*task.people.given(), *task.given())}
    given -= {"people", "source", *task.unsaid}
    said = {
        word.removeprefix("--").removeprefix("no-").removeprefix("file-").replace("-", "_")
        for word in words
        if word[:2] == "--"  # --file-format is the format of the people's file
    }
    assert {name.removesuffix("s") for name in given} <= {name.removesuffix("s") for name in said}


@pytest.mark.parametrize("verb", sorted(TASKS))
def test_every_field_is_away_from_its_default_in_some_trip(verb: str) -> None:
    @given(requests(verb, all_away=True))
    def check(task: Task) -> None:
        given_fields = {each.name for each, _ in (*task.given(), *task.people.given())}
        every = {each.name for each in (*params(TASKS[verb]), *params(PeopleRequest))}
        assert given_fields >= every - {"people", "statements", *TASKS[verb].unused}
        assert read(task.json) == task == read(task.toml)

    check()


@pytest.mark.parametrize("verb", sorted(TASKS))
def test_every_field_has_an_option_or_says_that_it_has_none(verb: str) -> None:
    command = get_command(app).commands[verb]  # type: ignore[attr-defined]
    # The first name of each: a second one may be that of another field, as --statements for --queries, a file.
    options = {each.opts[0] for each in command.params}
    kind = TASKS[verb]
    for each in (*params(PeopleRequest), *params(kind)):
        if each.name not in ("source", "people", *kind.unsaid):
            name = (REPEATED | OTHERWISE).get(each.name, f"--{each.name.replace('_', '-')}")
            assert (name in options) == (each.name not in (*kind.no_option, *kind.unused)), each.name


PAY, AGE = 'the "pay"', "age, years"
HEADER = 'id,"age, years",sex,"the ""pay""\x22,disease'
ROWS = [
    "1,20,F,10,flu",
    "2,20,F,30,none",
    "3,30,M,20,flu",
    '4,30,M,40,"cold, bad"',
    "5,40,F,50,none",
    "6,40,M,60,flu",
]
PEOPLE = PeopleRequest("people, all.csv", confidential=PAY, keys=[AGE, "sex"])


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    (tmp_path / "people, all.csv").write_text("\n".join([HEADER, *ROWS]))
    (tmp_path / "tree.csv").write_text('flu;ill\nnone;well\n"cold, bad";ill\n')
    quoted = PAY.replace('"', '""')
    statement = f'SELECT SUM("{quoted}") FROM people WHERE sex = ' + "'F';"
    (tmp_path / "log it's.sql").write_text(statement)
    return tmp_path


RUN: list[Task] = [
    Assess(people=PEOPLE, technique="sampling:fraction=0.5", known=[AGE], seed=3),
    Assess(
        people=PEOPLE, technique=f'swapping:rate=0.5,on="{AGE}"+sex', known=(), eps=[0, 20], prior="uniform"
    ),
    Assess(
        people=PEOPLE, technique="unprotected", intruder="paper", require=["h0 >= 0", "true_hit(20) <= 1"]
    ),
    Assess(
        people=PeopleRequest("people, all.csv", confidential=PAY, keys="sex", round_to=20, weights="id"),
        technique="noise-addition:percent=20",
        replicates=2,
    ),
    Assess(
        people=PeopleRequest(
            "people, all.csv", confidential=PAY, keys="sex", domain=range(0, 110, 10), sample=5
        ),
        technique="rounding:base=20",
        precision=0.01,
    ),
    Assess(
        people=PeopleRequest(
            "people, all.csv", confidential="disease", keys=AGE, hierarchy={"disease": "tree.csv"}
        ),
        technique="unprotected",
    ),
    Assess(
        people=PeopleRequest(
            "people, all.csv",
            confidential="disease",
            keys=AGE,
            ordered={"disease": ["none", "flu", "cold, bad"]},
        ),
        technique="pram:keep=0.5",
    ),
    Assess(
        people=PeopleRequest(
            "people, all.csv", confidential=[PAY, "disease"], keys=AGE, round_to=20, categories="disease"
        ),
        technique="sampling:fraction=0.5",
    ),
    Assess(
        people=PeopleRequest("people, all.csv", confidential=PAY, keys="sex", weights="id"),
        technique="unprotected",
        participation="unknown",
        population=60,
    ),
    Assess(people=PEOPLE, technique="unprotected", participation=0.25),
    Compare(people=PEOPLE, techniques=["sampling:fraction=0.5", "unprotected"], utility="averages", seed=2),
    Audit(people=PEOPLE, queries="log it's.sql", known=["sex"], prior="marginal"),
]


@pytest.mark.parametrize("task", RUN, ids=lambda task: task.verb)
def test_python_and_command_give_the_same_result(task: Task, folder: Path) -> None:
    assert read(task.toml) == task
    with chdir(folder):
        ran = figures(task.run().facts())
        space: dict[str, Any] = {}
        exec(task.python, space)
        assert figures(space[task.result].facts()) == ran
    done = run_command(folder, [*shlex.split(task.command)[1:], "--json"])
    assert done.returncode in (0, 3), done.stderr
    assert figures(json.loads(done.stdout)) == ran


def test_a_choice_is_the_same(folder: Path) -> None:
    task = Choose(people=PEOPLE, technique="sampling:fraction=0.5..0.9", require=["h0 >= 0.1"], known=[])
    with chdir(folder):
        sentence = task.run().sentence
        space: dict[str, Any] = {}
        exec(task.python, space)
        assert space["best"].sentence == sentence
    done = run_command(folder, [*shlex.split(task.command)[1:], "--json"])
    assert sentence in [each["sentence"] for each in json.loads(done.stdout)["choices"]], done


def figures(facts: Any) -> Any:
    """The facts without times, versions and files, which differ from run to run."""
    if isinstance(facts, dict):
        passing = {"seconds", "files", "version", "date", "protect", "made", "created"}
        return {name: figures(each) for name, each in facts.items() if name not in passing}
    return [figures(each) for each in facts] if isinstance(facts, (list, tuple)) else facts


OF_TABLES = [
    Table(people=PEOPLE, by=["sex"]),
    Table(people=PEOPLE, by=[AGE, "sex"], value=PAY, rule=["dominance:n=6,k=80"], method="suppress"),
    Table(people=PEOPLE, by="disease", method="round:5", require="h0 >= 0", eps=[0, 2]),
    Table(
        people=PEOPLE,
        by=[AGE, "disease"],
        rule="threshold:3",
        method="redesign",
        hierarchies={AGE: "20", "disease": "tree.csv"},
    ),
    Table(people=PEOPLE, by="sex", method="noisy:1"),
]


@pytest.mark.parametrize("task", OF_TABLES, ids=lambda task: task.method)
def test_a_table_is_the_same(task: Table, folder: Path) -> None:
    assert read(task.toml) == task == read(task.json)
    with chdir(folder):
        ran = task.run()
        space: dict[str, Any] = {}
        exec(task.python, space)
        assert task.run(task.columns.open()).frame.equals(ran.frame)
    assert space["table" if task.method == "none" else "result"].frame.equals(ran.frame)
    done = run_command(folder, [*shlex.split(task.command)[1:], "--json"])
    assert done.returncode in (0, 3), done.stderr
    if task.method not in ("none", "noisy:1"):  # the command's noise is secret
        assert figures(json.loads(done.stdout)) == figures(
            table_release_facts(ran, rules=as_rules(task.rule) if task.rule else ())
        )


def test_protect_writes_the_same_file(folder: Path) -> None:
    task = Protect(
        people=PEOPLE, technique="sampling:fraction=0.5", out="new, file.csv", seed=7, keep_order=True
    )
    with chdir(folder):
        task.run()
        first = Path(task.out).read_bytes()
        Path(task.out).unlink()
        exec(task.python, {})
        assert Path(task.out).read_bytes() == first
        Path(task.out).unlink()
    done = run_command(folder, shlex.split(task.command)[1:])
    assert done.returncode == 0, done.stderr
    assert (folder / task.out).read_bytes() == first


def test_files_are_resolved_from_a_folder(folder: Path) -> None:
    task = RUN[5].beside(folder)
    assert task.people.hierarchy == {"disease": str(folder / "tree.csv")}
    assert len(task.opened()) == 6


def test_people_given_as_a_frame_have_no_command() -> None:
    import pandas as pd

    people = eq.Microdata(pd.DataFrame({"k": [1, 1], "pay": [1, 2]}), confidential="pay", keys=["k"])
    task = Assess(technique="unprotected")
    assert task.run(people).summary["per_record"]["h0"]["mean"] == 1
    for spelling in ("command", "toml", "json", "python"):
        with pytest.raises(InputError, match="name their file"):
            getattr(task, spelling)
    with pytest.raises(InputError, match="assess needs people"):
        task.run()
    with pytest.raises(InputError, match="table needs people"):
        Table(by="k").run()
    with pytest.raises(InputError, match="name their file"):
        _ = Table(by="k").command


ASSESS = {"verb": "assess", "technique": "unprotected"}


@pytest.mark.parametrize(
    ("given", "sentence"),
    [
        ({"verb": "asess"}, "the task has the verb 'asess': did you mean 'assess'?"),
        ({}, "the task has the verb None"),
        ('{"verb": ', "the task is not valid JSON"),
        ("verb = [", "the task is not valid TOML"),
        (3, "a task is 3; give a mapping"),
        ({"verb": "assess"}, "assess needs technique"),
        ({"verb": "assess", "technique": "sampling"}, "sampling needs fraction"),
        (ASSESS | {"knwon": []}, "assess has no parameter 'knwon': did you mean 'known'?"),
        (ASSESS | {"known": 3}, "assess: known is 3; it must be a list of names."),
        (ASSESS | {"eps": ["a"]}, "assess: eps is ['a']; it must be a list of finite numbers."),
        (ASSESS | {"people": {"key": "a"}}, "people has no parameter 'key': did you mean 'keys'?"),
        (ASSESS | {"people": {"keys": "a"}}, "people needs source"),
        ({"verb": "choose", "technique": "swapping:rate=0.1..0.5"}, "choose needs require"),
        ({"verb": "audit", "queries": "log.sql", "intruder": "paper"}, "audit has no use for intruder"),
        ({"verb": "table", "by": ["sex"], "known": ["sex"]}, "table has no use for known: leave it out."),
        ({"verb": "table", "by": ["sex"], "require": ["h0 >= 1"]}, "require is about a protected table"),
        ({"verb": "audit"}, "give either queries, a file, or statements, and not both"),
    ],
)
def test_mistakes_are_one_sentence(given: Any, sentence: str) -> None:
    with pytest.raises(InputError) as raised:
        read(given)
    assert sentence in str(raised.value)
    assert "\n" not in str(raised.value)
