"""Techniques whose parameters are missing, of the wrong type, out of range, repeated or unknown."""

from __future__ import annotations

from collections.abc import Iterator

from .case import EITHER, PEOPLE_COMMANDS, Case, Content, fifo, folder, people_words
from .plans import PLAN, WORDS

SHARE = ("0", "-0.1", "1.1", "nan", "inf", "x", "1e400", "0.5 0.5", "50%")
NUMBER = ("0", "-1", "nan", "inf", "-inf", "x", "1e400", "5K")
WHOLE = ("0", "-1", "2.5", "nan", "inf", "x", "1e3", "9" * 5_000)
FINITE = ("nan", "inf", "-inf", "x", "1e400")
COLUMNS = ("zip", "age+age", "age+zip", "+", "\x1b[2J", "[/bold]")
TECHNIQUES: dict[str, tuple[dict[str, str], dict[str, tuple[str, ...]]]] = {
    "unprotected": ({}, {}),
    "sampling": ({"fraction": "0.5"}, {"fraction": (*SHARE, "0.001"), "prior": ("flat", "0.5")}),
    "query-restriction": ({"size": "4"}, {"size": (*WHOLE, "3", "100"), "intruder": ("paper", "0.5")}),
    "noise-addition": (
        {"percent": "20"},
        {"percent": ("-1", "nan", "inf", "x", "1e400", "20%"), "edge": ("fold", "1"), "intruder": ("paper", "1")},
    ),
    "rounding": ({"base": "20"}, {"base": NUMBER, "method": ("up", "1"), "on": (*COLUMNS, "sex", "keys", "all")}),
    "top-bottom-coding": (
        {"high": "50"},
        {"high": FINITE, "low": (*FINITE, "50", "60"), "on": (*COLUMNS, "sex", "keys", "all")},
    ),
    "date-shift": (
        {"days": "20"},
        {"days": ("-1", "nan", "inf", "x", "1.5", "99999"), "on": (*COLUMNS, "sex", "keys", "all")},
    ),
    "pram": ({"keep": "0.5"}, {"keep": ("-0.1", "1.1", "nan", "inf", "x", "1e400"), "on": COLUMNS}),
    "geometric-noise": ({"epsilon": "1"}, {"epsilon": NUMBER}),
    "noisy-table": ({"epsilon": "1"}, {"epsilon": NUMBER}),
    "generalisation": (
        {"k": "3"},
        {
            "k": (*WHOLE, "100"),
            "suppress": ("-0.1", "1", "nan", "inf", "x", "0.1"),
            "levels": ("age:1", "x", "1"),
            "hierarchies": ("x", "1", "zip:5", "sex:5", "age:", ":5", "age:0", "age:-5", "age:nan", "age:inf",
                            "age:5/3", "age:5/", "age:5+age:10", "age:1e400", "age:x.csv", "age:5/7", "people.csv"),
        },
    ),
    "suppression": ({"k": "3"}, {"k": (*WHOLE, "100")}),
    "swapping": (
        {"rate": "0.5"},
        {"rate": SHARE, "on": COLUMNS, "window": ("0", "-1", "101", "nan", "inf", "x")},
    ),
    "microaggregation": (
        {"size": "3"},
        {"size": (*WHOLE, "100"), "on": (*COLUMNS, "sex", "keys", "all"), "method": ("best", "1"),
         "intruder": ("paper", "1")},
    ),
    "released-file": ({"table": "people.csv"}, {"table": ("missing.csv", "1", "."), "matching": ("fuzzy", "1")}),
}  # fmt: skip
"""Each technique: parameters that are right, and values that are wrong."""
PERHAPS = {("generalisation", "hierarchies", "age:5/7"), ("generalisation", "hierarchies", "age:5/")}
LINES = {
    "empty": "", "space": " ", "colon": ":", "unknown": "samplin:fraction=0.5", "by-case": "Sampling:fraction=0.5",
    "no-equals": "sampling:fraction", "no-name": "sampling:=0.5", "two-equals": "sampling:fraction=0.5=1",
    "semicolon": "sampling;fraction=0.5", "two-colons": "sampling:fraction:0.5", "number": "1", "newline": "sam\npling",
    "escape": "\x1b[2J", "markup": "[/bold]", "not-utf-8": "sampling:prior=\udce9", "long": "x" * 100_000,
    "markup-in-a-value": "sampling:fraction=0.5,prior=[/bold]", "quoted": "'sampling:fraction=0.5'",
    "two": "sampling:fraction=0.5+unprotected", "python": "Sampling(fraction=0.5)",
}  # fmt: skip


def _word(name: str, parameters: dict[str, str]) -> str:
    return f"{name}:{','.join(f'{key}={value}' for key, value in parameters.items())}" if parameters else name


def _label(value: str) -> str:
    return value if len(value) < 30 and value.isprintable() else f"{len(value)}-characters"


def wrong_techniques() -> Iterator[tuple[str, str, dict[str, str] | str, bool]]:
    """For each wrong technique: its name, what is wrong, its parameters or whole text, whether it may be accepted."""
    for name, (good, parameters) in TECHNIQUES.items():
        for key in good:
            yield name, f"without-{key}", {k: v for k, v in good.items() if k != key}, False
            yield name, f"{key}-twice", f"{_word(name, good)},{key}={good[key]}", False
            yield name, f"{key}-without-equals", f"{name}:{key}", False
        yield name, "unknown-parameter", {**good, "strength": "3"}, False
        yield name, "parameter-by-case", {**good, "K": "3"}, False
        for key, values in parameters.items():
            yield name, f"{key}-empty", {**good, key: ""}, False
            for value in values:
                yield name, f"{key}={_label(value)}", {**good, key: value}, (name, key, value) in PERHAPS


def cases() -> Iterator[Case]:
    for name, (good, _) in TECHNIQUES.items():
        words = people_words("people.csv", "--technique", _word(name, good))
        yield Case("assess", "base", name, words, expected="accepted")
    for name, what, parameters, doubtful in wrong_techniques():
        word = parameters if isinstance(parameters, str) else _word(name, parameters)
        expected = EITHER if doubtful else "refused"
        words = people_words("people.csv", "--technique", word)
        for command in PEOPLE_COMMANDS[: 2 if "=" not in what else 1]:
            yield Case(command, "techniques", f"{name}/{what}", words, expected=expected)
        if isinstance(parameters, dict):
            table = "".join(f"{key} = {_toml(value)}\n" for key, value in parameters.items())
            plan = PLAN.decode().replace('name = "sampling"\nfraction = 0.5\n', f'name = "{name}"\n{table}')
            made = {"plan.toml": plan.encode()}
            yield Case("study", "techniques", f"{name}/{what}", WORDS, made, expected=expected)
    for command in PEOPLE_COMMANDS:
        for what, word in LINES.items():
            words = people_words("people.csv", f"--technique={word}")
            yield Case(command, "techniques", f"words/{what}", words)
    yield from _hierarchies()


def _toml(value: str) -> str:
    """The value as written in a plan: a number or a text."""
    try:
        float(value)
    except ValueError:
        return '"' + value.replace("\x1b", "\\u001b") + '"'
    return value.replace("infinity", "inf")


def _hierarchies() -> Iterator[Case]:
    ages = ["20", "27", "34", "41", "48"]
    contents: dict[str, Content] = {
        "empty": b"",
        "spaces": b"\n \n",
        "header-only": b"age;decade\n",
        "one-column": "\n".join(ages).encode(),
        "ragged": "\n".join([*(f"{age};{age[0]}x" for age in ages[:4]), "48"]).encode(),
        "a-value-lacks": "\n".join(f"{age};{age[0]}x" for age in ages[:4]).encode(),
        "a-value-twice": "\n".join(f"{age};{age[0]}x" for age in [*ages, "48"]).encode(),
        "empty-group": "\n".join(f"{age};" for age in ages).encode(),
        "not-nested": b"20;2x;a\n27;2x;b\n34;3x;a\n41;4x;a\n48;4x;a\n",
        "not-utf-8": b"20;\xe9\n27;\xe9\n34;\xe9\n41;\xe9\n48;\xe9\n",
        "utf-16": "\n".join(f"{age};x" for age in ages).encode("utf-16"),
        "nul": b"20;\0\n27;a",
        "huge-field": b"20;" + b"x" * 1_000_000 + b"\n27;x",
        "open-quote": b'20;"a\n27;a\n34;a\n41;a\n48;a\n',
        "folder": folder,
        "fifo": fifo,
    }
    for what, content in contents.items():
        words = people_words("people.csv", "--technique", "generalisation:k=3,hierarchies=age:h.csv")
        yield Case("assess", "hierarchies", what, words, {"h.csv": content}, real=what == "fifo")
        words = people_words("people.csv", "--technique", "generalisation:k=3,hierarchies=h")
        if what not in ("folder", "fifo"):
            yield Case("assess", "hierarchies", f"in-a-folder-{what}", words, {"h/age.csv": content})
    words = people_words("people.csv", "--technique", "generalisation:k=3,hierarchies=h")
    yield Case("assess", "hierarchies", "empty-folder", words, {"h": folder})
    yield Case("assess", "hierarchies", "folder-for-other-keys", words, {"h/zip.csv": b"1;2\n"})
    zero = people_words("people.csv", "--technique", "generalisation:k=3,hierarchies=age:/dev/zero")
    yield Case("assess", "hierarchies", "endless-device", zero, real=True)
    full = "\n".join(f"{age};{age[0]}x" for age in ages).encode()
    good = people_words("people.csv", "--technique", "generalisation:k=3,hierarchies=age:h.csv")
    yield Case("assess", "base", "hierarchies", good, {"h.csv": full}, expected="accepted")
