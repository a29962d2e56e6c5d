"""Requirements in plans: read and checked with their line; a study refuses them."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

import equivoc as eq
from equivoc.cli.main import main
from equivoc.experiments.study import study_of
from equivoc.requests.plan import read_plan
from equivoc.requirements.requirement import parse_requirement

RULES = '["true_hit(20) <= 0.2", "h0@worst >= 1"]'


def with_rules(plan: Path, rules: str, table: str = "require") -> int:
    """Add the rules to the plan; the line at which they are."""
    text = plan.read_text().rstrip("\n")
    plan.write_text(f"{text}\n\n[{table}]\n{rules}\n")
    return text.count("\n") + 4


def test_rules_are_the_plans_requirements(plan: Path) -> None:
    assert read_plan(plan).requirements == ()
    with_rules(plan, f"rules = {RULES}")
    read = read_plan(plan)
    assert read.requirements == tuple(map(parse_requirement, ["true_hit(20) <= 0.2", "h0@worst >= 1"]))
    assert len(read.people()) == 200


@pytest.mark.parametrize(
    ("rules", "said"),
    [
        ('rules = ["true_hit(20) < 0.2"]', "character 14"),
        ('rules = ["true_hits <= 0.2"]', "did you mean 'true_hit'?"),
        ('rules = ["hit(-2) <= 0.2"]', "it must be 0 or more"),
        ('rules = ["h0 >= 2", "h0 <= 1"]', "contradict each other"),
        ("rules = [2]", "a requirement is 2"),
        ('rules = "h0 >= 2"', "rules is 'h0 >= 2'; it must be a list of texts"),
        ("rules = []", "[require] needs rules"),
        ('rule = ["h0 >= 2"]', "[require] has no key 'rule': did you mean 'rules'?"),
    ],
)
def test_mistakes_name_the_line(plan: Path, rules: str, said: str) -> None:
    line = with_rules(plan, rules)
    with pytest.raises(eq.InputError) as mistake:
        read_plan(plan)
    assert str(mistake.value).startswith(f"{plan}, line {line}: ")
    assert said in str(mistake.value)


def test_an_empty_table_and_a_wrong_name(plan: Path) -> None:
    text = plan.read_text()
    with_rules(plan, "")
    with pytest.raises(eq.InputError, match="needs rules"):
        read_plan(plan)
    plan.write_text(text)
    with_rules(plan, f"rules = {RULES}", "requires")
    with pytest.raises(eq.InputError, match="no table 'requires': did you mean 'require'"):
        read_plan(plan)


def test_a_study_points_to_compare(
    plan: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    line = with_rules(plan, f"rules = {RULES}")
    monkeypatch.setattr(sys, "argv", ["equivoc", "study", str(plan), "--out", str(tmp_path / "results")])
    with pytest.raises(SystemExit) as left:
        main()
    assert left.value.code == 2
    told = capsys.readouterr().err
    assert f"line {line - 1}: a study has no requirements; run equivoc compare" in told
    assert told.count("\n") == 1
    assert not (tmp_path / "results").exists()
    with pytest.raises(eq.InputError, match="equivoc compare"):
        study_of(read_plan(plan))
