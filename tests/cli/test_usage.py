"""Mistakes in the command line itself: one sentence, like all others."""

from __future__ import annotations

import sys

import pytest

from equivoc.cli.main import main


@pytest.mark.parametrize(
    ("words", "told"),
    [
        (["asess"], "No such command 'asess'"),
        (["--nonsense"], "No such option: --nonsense"),
        (["curve", "--nonsense"], "No such option: --nonsense"),
        (["curve", "--tolerance", "x"], "--tolerance"),
        (["curve", "--values"], "--values"),
        (["assess"], "people"),
        (["assess", "people.csv", "--confidential", "pay"], "--keys"),
        (["assess", "a", "b", "c", "--confidential", "pay", "--keys", "age"], "(b c)"),
        (["reproduce", "--replicates", "0"], "--replicates"),
        (["curve", "--a\nb"], "No such option: --a\\x0ab"),
        (["curve", "--" + "x" * 100_000], "No such option"),
    ],
)
def test_usage_errors_are_one_sentence(
    words: list[str], told: str, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(sys, "argv", ["equivoc", *words])
    with pytest.raises(SystemExit) as left:
        main()
    out, err = capsys.readouterr()
    assert (left.value.code, out) == (2, "")
    assert err.startswith("equivoc: ")
    assert told in err
    assert err.endswith("--help.\n")
    assert err.count("\n") == 1
    assert len(err) < 600


def test_without_a_word_the_help_is_shown(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(sys, "argv", ["equivoc"])
    with pytest.raises(SystemExit):
        main()
    assert "Usage: " in "".join(capsys.readouterr())


def test_a_long_sentence_is_shortened_in_the_middle(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(sys, "argv", ["equivoc", "curve", "--plot", "x" * 5_000])
    with pytest.raises(SystemExit):
        main()
    err = capsys.readouterr().err
    assert err.startswith("equivoc: --plot xxx")
    assert "xxx … xxx" in err
    assert err.endswith(".png or .svg.\n")
