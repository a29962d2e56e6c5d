"""Plans that would use all memory, never end, or crash a parser: an error with the line, without delay."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

import equivoc as eq
from equivoc.experiments.study import study_of
from equivoc.requests.plan import read_plan


@pytest.mark.parametrize(
    ("before", "after", "line", "said"),
    [
        ("replicates = 3", "replicates = 10000000", 17, "4 techniques × 10,000,000 replicates are too many"),
        ("replicates = 3", "replicates = 250001", 17, "at most 1,000,000 releases are computed"),
        ("replicates = 3", f"replicates = {10**30}", 17, "replicates is a whole number of more than 64 bits"),
        (
            "replicates = 3",
            f"replicates = 0x{'f' * 5000}",
            17,
            "replicates is a whole number of more than 64",
        ),
        ("replicates = 3", f"replicates = {'9' * 5000}", 17, "a number has too many digits"),
        ("replicates = 3", "replicates = nan", 17, "replicates is nan; give a finite number"),
        ("seed = 11", "seed = -inf", 18, "seed is -inf; give a finite number"),
        ("seed = 11", f"seed = {'[' * 2000}{']' * 2000}", 18, "nested too deeply"),
        ("seed = 11", f"seed = {'[' * 30}{']' * 30}", 18, "seed is nested too deeply"),
        ("seed = 11", f"seed{'.a' * 2000} = 1", 18, "seed is nested too deeply"),
        ("seed = 11", f"seed = {'{a=' * 2000}1{'}' * 2000}", 18, "nested too deeply"),
        ("seed = 11", f"seed = '{'x' * 100_000}'", 18, "it must be a whole number"),
        ("seed = 11", f"{'x' * 100_000} = 11", 18, "[study] has no key 'xxx"),
        ("step = 10", "step = 0.00001", 5, "has more than 10,000 values"),
        ("step = 10", "step = inf", 5, "domain is inf; give a finite number"),
        ("step = 10", f"step = {10**400}", 5, "domain is a whole number of more than 64 bits"),
        ("{ low = 10, high = 100, step = 10 }", f"[{'1,' * 10_001}]", 5, "domain has 10,001 values"),
        ("fraction = [0.2, 0.5]", "fraction = [0.2, inf]", 9, "fraction is inf; give a finite number"),
        ("size = [2, 4]", f"size = [2, {2**63}]", 13, "size is a whole number of more than 64 bits"),
        (
            "fraction = [0.2, 0.5]",
            "\n".join(f"p{i} = {list(range(100))}" for i in range(10)),
            7,
            "100,000,000,000,000,000,002 techniques × 3 replicates are too many",
        ),
    ],
)
def test_limits(plan: Path, before: str, after: str, line: int, said: str) -> None:
    text = plan.read_text()
    assert before in text
    plan.write_text(text.replace(before, after, 1))
    with pytest.raises(eq.InputError) as mistake:
        study_of(read_plan(plan))
    message = str(mistake.value)
    assert message.startswith(f"{plan}, line {line}: ")
    assert said in message
    assert "\n" not in message
    assert len(message) < len(str(plan)) + 600


def test_lines_are_found_in_time(plan: Path) -> None:
    """A line of blanks after a bracket, in a text of several lines, once took forever."""
    plan.write_text(plan.read_text().replace("seed = 11", f"sede = '''\n[{' ' * 50_000}\n'''"))
    with pytest.raises(eq.InputError, match=r"line 18: .*no key 'sede'"):
        read_plan(plan)


def test_files_that_are_no_plan(tmp_path: Path) -> None:
    for name, content, said in (
        ("binary", b"\x00\x01\x02" * 50, "is not TOML"),
        ("latin", b"caf\xe9", "is not a text file; give TOML in UTF-8"),
        ("large", b"#" * 1_000_001, "has more than 1,000,000 bytes"),
        ("empty", b"", r"empty, line 1: \[data\] needs path"),
    ):
        (tmp_path / name).write_bytes(content)
        with pytest.raises(eq.InputError, match=said):
            read_plan(tmp_path / name)
    with pytest.raises(eq.InputError, match="is a folder; give a TOML file"):
        read_plan(tmp_path)
    with pytest.raises(eq.InputError, match="cannot be read"):
        read_plan(tmp_path / "a\0b")


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="no FIFOs here")
def test_a_plan_that_never_ends(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "fifo")
    for path in (tmp_path / "fifo", Path("/dev/zero"), Path("/dev/null")):
        with pytest.raises(eq.InputError, match="is not a regular file; give a TOML file"):
            read_plan(path)


def test_the_same_limits_hold_without_a_plan(people: eq.Microdata) -> None:
    for given, said in (
        ({"replicates": 1_000_001}, "1 techniques × 1,000,001 replicates are too many"),
        ({"replicates": 10**5000}, "replicates is a whole number of more than 63 bits"),
        ({"seed": 10**5000}, "seed is a whole number of more than 63 bits"),
        ({"known_sizes": [10**5000]}, "known_sizes contains a number that is too large"),
        ({"known_sizes": [float("nan")]}, "known_sizes contains nan"),
        ({"known_sizes": [-1]}, "known_sizes contains -1"),
        ({"known_sizes": {"a": 1}}, "known_sizes contains 'a'"),
        ({"known_sizes": "012"}, "known_sizes is '012'"),
        ({"subsets": 7}, "subsets is 7"),
        ({"subsets": [["age", []]]}, "subsets contains \\[\\], which is not a key"),
        ({"techniques": None}, "techniques is None"),
        ({"techniques": 7}, "techniques is 7"),
    ):
        with pytest.raises(eq.InputError, match=said):
            eq.Study(people, **{"techniques": [eq.Sampling(fraction=0.5)], **given})
