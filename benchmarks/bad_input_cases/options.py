"""Wrong options: missing, empty, of the wrong type, out of range, unknown, contradictory."""

from __future__ import annotations

from collections.abc import Iterator

from .case import EITHER, OPTIONS, PEOPLE_COMMANDS, REFUSED, Case, changed, column, people_words
from .people_files import CENSUS
from .plans import PLAN

LONG = "9" * 5_000
WHOLE = {
    "empty": "", "space": " ", "text": "x", "minus": "-1", "half": "1.5", "nan": "nan", "infinite": "inf",
    "two": "1,2", "5000-digits": LONG, "exponent": "1e3", "hexadecimal": "0x10",
}  # fmt: skip
ABOVE_0 = {
    "empty": "", "text": "x", "0": "0", "minus": "-1", "nan": "nan", "infinite": "inf", "minus-infinite": "-inf",
    "beyond-double": "1e400", "two": "1,2", "5000-digits": LONG,
}  # fmt: skip
DOMAINS = {
    "empty": "", "space": " ", "colon": ":", "colons": "::", "one-colon": "10:60", "three-colons": "10:60:10:1",
    "step-0": "10:60:0", "step-below-0": "10:60:-10", "upside-down": "60:10:10", "nan-low": "nan:1:1",
    "nan-high": "0:nan:1", "nan-step": "0:60:nan", "infinite-high": "0:inf:1", "infinite-low": "-inf:60:10",
    "infinite-step": "0:60:inf", "10-to-18": "0:1e18:1", "tiny-step": "0:50:1e-9", "overflow": "0:1e308:1e-308",
    "wide": "-1e308:1e308:1", "text": "a:b:c", "list-of-text": "a,b", "lacks-a-value": "10,20", "off-grid": "10:60:7",
    "semicolons": "10;20;30;40;50;60", "nan-in-list": "10,20,30,40,50,60,nan", "beyond-double": "10,60,1e400",
    "infinite-in-list": "10,20,30,40,50,60,inf", "empty-in-list": "10,20,30,,40,50,60", "5000-digits": LONG,
    "mixed": "10:60:10,70", "step-lost-in-rounding": "0:1e17:1e-1",
}  # fmt: skip
PER_OPTION: dict[str, dict[str, str]] = {
    "--confidential": {
        "empty": "", "space": " ", "unknown": "salary", "by-case": "PAY", "also-key": "age", "twice": "pay,pay",
        "newline": "pa\ny", "escape": "\x1b[2J", "markup": "[/bold]", "not-utf-8": "pa\udce9", "quote": 'pay"',
        "long": "x" * 100_000,
    },
    "--keys": {
        "empty": "", "comma": ",", "space": " ", "twice": "age,age", "unknown": "age,zip",
        "with-confidential": "age,pay",
        "by-case": "AGE", "semicolon": "age;sex", "newline": "a\nge,sex", "escape": "\x1b[2J", "markup": "[/bold]",
        "not-utf-8": "ag\udce9", "long": "x" * 100_000, "many": ",".join(f"k{i}" for i in range(2_000)),
    },
    "--known": {
        "unknown": "zip", "twice": "age,age", "confidential": "pay", "no-key": "job", "escape": "\x1b[2J",
        "not-utf-8": "ag\udce9", "semicolon": "age;sex",
    },
    "--seed": WHOLE,
    "--domain": DOMAINS,
    "--round-to": ABOVE_0,
    "--weights": {
        "empty": "", "unknown": "weight", "text-column": "job", "by-case": "W", "two": "w,w", "escape": "\x1b[2J",
        "not-utf-8": "\udce9",
    },
    "--matching": {"without-release": "exact", "unknown": "fuzzy", "empty": ""},
    "--eps": {
        "empty": "", "comma": ",", "text": "x", "nan": "nan", "infinite": "inf", "minus": "-1", "empty-part": "5,,10",
        "semicolon": "5;10", "beyond-double": "1e400", "5000-digits": LONG, "minus-infinite": "5,-inf",
    },
    "--format": {"empty": "", "unknown": "xlsx", "by-case": "CSV ", "two": "csv,parquet"},
    "--sample": {"0": "0", "minus": "-1", "text": "x", "empty": "", "fraction": "2.5"},
    "--memory-limit": {
        "empty": "", "no-unit": "2", "text": "much", "0": "0GiB", "small": "1MiB", "minus": "-2GiB", "nan": "nanGiB",
        "escape": "\x1b[2J",
    },
    "--spill": {"missing": "nowhere", "a-file": "people.csv", "nul": "/dev/null"},
    "--engine": {"empty": "", "unknown": "oracle", "by-case": "Spark"},
    "--master": {"without-engine": "local[1]", "empty": ""},
    "--prior": {"empty": "", "unknown": "everyone", "by-case": "Marginal", "numbers": "0.5,0.5"},
    "--intruder": {"empty": "", "unknown": "mallory", "by-case": "Paper", "two": "paper,informed"},
    "--replicates": {"empty": "", "text": "x", "0": "0", "minus": "-1", "fraction": "1.5", "nan": "nan"},
    "--precision": {"empty": "", "text": "x", "nan": "nan", "infinite": "inf", "minus": "-1", "0": "0", "1": "1"},
    "--fraction": {
        "empty": "", "text": "x", "nan": "nan", "infinite": "inf", "minus": "-1", "0": "0", "above-1": "1.5",
        "tiny": "1e-300", "percent": "5%",
    },
    "--hierarchy": {
        "empty": "", "no-name": "people.csv", "no-file": "pay=", "missing": "pay=missing.csv", "folder": "pay=.",
        "not-confidential": "age=people.csv", "not-a-hierarchy": "pay=people.csv", "device": "pay=/dev/zero",
    },
    "--ordered": {
        "empty": "", "no-name": "mild,severe", "no-levels": "pay=", "twice": "pay=10,10", "lacks-a-value": "pay=10,20",
        "not-confidential": "age=1,2", "escape": "pay=\x1b[2J",
    },
    "--require": {
        "empty": "", "text": "x", "no-sign": "h0 2", "one-sign": "h0 > 2", "no-limit": "h0 >=", "no-figure": ">= 2",
        "unknown": "entropy >= 2", "by-case": "H0 >= 2", "nan": "h0 >= nan", "infinite": "h0 >= inf",
        "beyond-double": "h0 >= 1e400", "5000-digits": f"h0 >= {LONG}", "eps-minus": "hit(-1) <= 0.2",
        "eps-nan": "hit(nan) <= 0.2", "eps-open": "hit(5 <= 0.2", "eps-of-k": "k(5) >= 2", "median": "h0@median >= 1",
        "two": "h0 >= 2, k >= 3", "percent": "hit(5) <= 20%", "above-1": "hit(5) <= 20", "below-0": "hit(5) <= -0.1",
        "escape": "\x1b[2J", "newline": "h0\n>= x", "not-utf-8": "h0 >= \udce9", "long": "x" * 100_000,
    },
    "--categories": {"empty": "", "unknown": "zip", "not-confidential": "age", "comma": ","},
}  # fmt: skip
DOUBTFUL: dict[str, dict[str, str]] = {
    "--keys": {"empty-part": "age,,sex", "spaces": " age , sex "},
    "--known": {"empty": "", "comma": ","},
    "--confidential": {"text": "job"},
    "--seed": {"10-to-30": str(10**30), "padded": " 1 ", "plus": "+1", "underscore": "1_0", "digits": "٣"},
    "--round-to": {"denormal": "1e-320", "huge": "1e300", "underscore": "1_0"},
    "--domain": {
        "twice": "10,10,20,30,40,50,60",
        "unsorted": "60,50,40,30,20,10",
        "digits": "10,20,30,40,50,60,٣",
    },
    "--eps": {"twice": "5,5", "huge": "1e308", "tiny": "1e-320", "many": ",".join(map(str, range(200)))},
    "--weights": {"confidential": "pay", "key": "age"},
    "--unit": {"empty": "", "markup": "<b>[/bold]", "escape": "\x1b[2J", "not-utf-8": "\udce9"},
    "--title": {
        "empty": "",
        "markup": "<script>alert(1)</script>",
        "escape": "\x1b[2J",
        "not-utf-8": "\udce9",
    },
    "--date": {"no-date": "soon", "empty": "", "not-utf-8": "\udce9"},
}
OF_COMMAND = {
    "assess": {"--eps", "--format", "--precision", "--replicates", "--require"},
    "measures": {"--fraction"},
    "report": {"--eps", "--unit", "--title", "--date", "--precision", "--replicates", "--require"},
}
SHARED = {
    "--confidential",
    "--keys",
    "--known",
    "--seed",
    "--domain",
    "--round-to",
    "--weights",
    "--matching",
    "--hierarchy",
    "--ordered",
    "--categories",
    "--engine",
    "--master",
    "--prior",
    "--intruder",
    "--sample",
    "--memory-limit",
    "--spill",
}
BAD_WEIGHTS = {
    "negative": ["-1"], "text": ["x"], "missing": [""], "nan": ["nan"], "infinite": ["inf"], "all-0": ["0"] * 24,
    "beyond-double": ["1e400"], "sum-beyond-double": ["1e308"] * 24,
}  # fmt: skip


def cases() -> Iterator[Case]:
    for command in PEOPLE_COMMANDS:
        for table, expected in ((PER_OPTION, REFUSED), (DOUBTFUL, EITHER)):
            for option, values in table.items():
                if option in SHARED | OF_COMMAND[command]:
                    for what, value in values.items():
                        # "--option=value", so that a value may begin with a dash.
                        yield Case(command, "options", f"{option[2:]}-{'perhaps-' * (expected == EITHER)}{what}",
                                   _joined(changed(option, value)), expected=expected)  # fmt: skip
        for option in sorted(SHARED | OF_COMMAND[command] | {"--technique", "--release"}):
            yield Case(command, "options", f"{option[2:]}-without-a-value", (*people_words(), option))
        yield from _of_the_line(command, ("people.csv",), OPTIONS)
        for what, values in BAD_WEIGHTS.items():
            made = {"x.csv": column("w", values).encode()}
            yield Case(command, "weights", what, people_words("x.csv", "--weights", "w"), made)
        both = people_words("people.csv", "--release", "people.csv", "--technique", "unprotected")
        yield Case(command, "options", "technique-and-release", both)
        for what, matching in {"unknown": "fuzzy", "empty": "", "by-case": "Exact"}.items():
            words = people_words("people.csv", "--release", "people.csv", "--matching", matching)
            yield Case(command, "options", f"matching-of-a-release-{what}", words)
        for what, value in {"drop-missing": "--drop-missing=yes", "json": "--json=1"}.items():
            if not (command == "report" and what == "json"):
                yield Case(command, "options", f"{what}-with-a-value", people_words("people.csv", value))
    yield from _of_the_line("study", ("plan.toml",), ("--out", "out"))
    yield from _of_the_line("reproduce", (), ("--records", "10"))
    yield from _of_the_line("curve", (), ("--values", "1,2", "--probabilities", ".5,.5"))
    yield from _of_study_and_reproduce()
    yield from _without_a_command()


def _joined(words: tuple[str, ...]) -> tuple[str, ...]:
    return (words[0], *(f"{o}={v}" for o, v in zip(words[1::2], words[2::2], strict=True)))


def _of_the_line(command: str, arguments: tuple[str, ...], options: tuple[str, ...]) -> Iterator[Case]:
    """Errors in the command line itself, for every command."""
    made = {"plan.toml": PLAN}
    good = (*arguments, *options)
    wrong = {
        "unknown-option": (*good, "--nonsense"),
        "unknown-option-with-a-value": (*good, "--nonsense=1"),
        "unknown-short-option": (*good, "-x"),
        "misspelt-option": (*arguments, options[0][:-1] + "x", *options[1:]),
        "single-dash": (*arguments, options[0][1:], *options[1:]),
        "option-with-markup": (*good, "--[/bold]"),
        "option-with-a-newline": (*good, "--a\nb"),
        "option-with-an-escape": (*good, "--\x1b[2J"),
        "option-not-utf-8": (*good, "--\udce9"),
        "too-many-arguments": (*good, "more", "arguments"),
        "argument-after-dashes": (*good, "--", "--more", "again"),
    }
    if arguments:
        wrong["no-argument"] = options
        wrong["nothing"] = ()
        wrong["argument-only"] = arguments
    for option, value in zip(options[::2], options[1::2], strict=True):
        if command in PEOPLE_COMMANDS:
            rest = tuple(word for word in good if word not in (option, value))
            wrong[f"without-{option[2:]}"] = rest
    for what, words in wrong.items():
        yield Case(command, "line", what, words, made)


def _of_study_and_reproduce() -> Iterator[Case]:
    census = {"c.csv": CENSUS.encode()}
    small = ("--pums=c.csv", "--records=40", "--replicates=1", "--progress=none")
    for what, value in WHOLE.items() | {("0", "0")}:
        made = {"plan.toml": PLAN}
        yield Case(
            "study", "options", f"workers-{what}", ("plan.toml", "--out=out", f"--workers={value}"), made
        )
        for option in ("workers", "replicates", "records", "seed"):
            if (option, what) != ("seed", "0"):
                yield Case(
                    "reproduce", "options", f"{option}-{what}", (*small, f"--{option}={value}"), census
                )
    for what, value in {"empty": "", "unknown": "dots", "by-case": "None"}.items():
        made = {"plan.toml": PLAN}
        yield Case(
            "study", "options", f"progress-{what}", ("plan.toml", "--out=out", f"--progress={value}"), made
        )
        yield Case("reproduce", "options", f"progress-{what}", (*small, f"--progress={value}"), census)
    huge = {"replicates-10-to-7": "--replicates=10000000", "replicates-10-to-15": f"--replicates={10**15}",
            "records-10-to-12": f"--records={10**12}", "records-1": "--records=1",
            "records-fewer-than-a-query": "--records=10"}  # fmt: skip
    for what, word in huge.items():
        yield Case("reproduce", "options", what, (*small, word), census)
    for option in ("pums", "out", "replicates", "records", "seed", "workers", "progress"):
        yield Case("reproduce", "options", f"{option}-without-a-value", (*small, f"--{option}"), census)
    for option in ("out", "workers", "progress"):
        words = ("plan.toml", f"--{option}")
        yield Case("study", "options", f"{option}-without-a-value", words, {"plan.toml": PLAN})


def _without_a_command() -> Iterator[Case]:
    wrong = {
        "unknown-command": ("asess",), "by-case": ("Assess",), "empty": ("",), "space": (" ",),
        "file": ("people.csv",), "unknown-option": ("--nonsense",), "short-option": ("-x",),
        "version-with-a-value": ("--version=1",), "option-before-the-command": ("--seed", "1", "assess"),
        "dashes": ("--",), "dash": ("-",), "markup": ("[/bold]",), "newline": ("a\nb",), "escape": ("\x1b[2J",),
        "not-utf-8": ("\udce9",), "long": ("x" * 100_000,), "two-commands": ("curve", "assess", "measures"),
    }  # fmt: skip
    for what, words in wrong.items():
        yield Case("", "line", what, words)
    yield Case("", "base", "version", ("--version",), expected="accepted")
