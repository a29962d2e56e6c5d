"""Wrong files, options, outputs, stores and certificates for compare, choose, protect, verify and doctor; Parquet files
for every other command that reads people."""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Callable, Iterator, Mapping
from functools import cache
from pathlib import Path
from tempfile import TemporaryDirectory

from .case import ACCEPTED, EITHER, OPTIONS, PEOPLE, REFUSED, ZERO, Case, Content, fifo, folder, link_to
from .options import DOUBTFUL, PER_OPTION, WHOLE
from .outputs import FOLDERS, UNWRITABLE
from .people_files import STRANGE_PATHS, files, parquet_files
from .plans import PLAN
from .queries import AUDIT, GATEWAY, LOG, POLICY
from .technique_words import LINES

GIVEN = dict(zip(OPTIONS[::2], OPTIONS[1::2], strict=True))
OWN: Mapping[str, Mapping[str, str]] = {
    "compare": {"--technique": "sampling:fraction=0.5", "--workers": "1", "--progress": "none"},
    "choose": {"--technique": "sampling:fraction=0.2..0.8..0.3", "--require": "gain <= 9"},
    "protect": {"--technique": "swapping:rate=0.5", "--seed": "1", "--out": "protected.csv"},
}
"""Of each command, valid options beside those of the people."""
SHARED = (
    *(
        "--confidential",
        "--keys",
        "--known",
        "--domain",
        "--round-to",
        "--weights",
        "--hierarchy",
        "--ordered",
    ),
    *("--categories", "--engine", "--prior", "--intruder", "--sample", "--memory-limit", "--spill"),
    *("--seed", "--eps", "--require"),
)
RANGES = {
    "upside-down": "sampling:fraction=0.8..0.2", "open": "sampling:fraction=0.2..", "dots": "sampling:fraction=..",
    "three-dots": "sampling:fraction=0.2...0.8", "nan": "sampling:fraction=nan..0.8", "text": "sampling:fraction=a..b",
    "infinite": "noise-addition:percent=1..inf", "step-0": "noise-addition:percent=1..9..0",
    "step-below-0": "noise-addition:percent=1..9..-1", "step-nan": "noise-addition:percent=1..9..nan",
    "step-tiny": "noise-addition:percent=1..9..1e-12", "out-of-range": "sampling:fraction=0.2..1.5",
    "two-ranges": "swapping:rate=0.1..0.5,window=1..9",
    "beyond-double": "noise-addition:percent=1..1e400", "5000-digits": f"noise-addition:percent=1..{'9' * 5_000}",
}  # fmt: skip
GRIDS = {
    "empty-choice": "sampling:fraction=0.1|", "only-a-bar": "sampling:fraction=|", "twice": "sampling:fraction=0.5|0.5",
    "too-large": "sampling:fraction=0.5|1.5", "text": "sampling:fraction=0.5|x",
    "many": "sampling:fraction=0.5" + "|0.5" * 50,
}  # fmt: skip


def _words(command: str, people: str = "people.csv", **changed: str) -> tuple[str, ...]:
    """A valid command line with these options changed or added; "--option=value", as a value may begin with a dash."""
    options = {
        **GIVEN,
        **OWN[command],
        **{f"--{name.replace('_', '-')}": value for name, value in changed.items()},
    }
    return (people, *(f"{option}={value}" for option, value in options.items()))


def cases() -> Iterator[Case]:
    """All of them."""
    for command in OWN:
        yield Case(command, "base", "people", _words(command), expected=ACCEPTED)
        yield from _of_files(command)
        yield from _of_options(command)
    yield from _of_compare()
    yield from _of_choose()
    yield from _of_protect()
    yield from _of_verify()
    yield from _of_doctor()
    yield from _of_parquet_elsewhere()


def _of_files(command: str) -> Iterator[Case]:
    for what, name, content, real, _, expected in files():
        if not real or what == "fifo":
            yield Case(
                command, "files", what, _words(command, name), {name: content}, real=real, expected=expected
            )
    for what, path in STRANGE_PATHS.items():
        yield Case(command, "paths", what, _words(command, path))


def _of_options(command: str) -> Iterator[Case]:
    for option in SHARED:
        name = option[2:]
        if (command, name) != ("choose", "require"):
            yield Case(command, "options", f"{name}-without-a-value", (*_words(command), option))
        for what, value in PER_OPTION[option].items():
            # Empty is compare's default for these: a plan may have its own.
            plain = (command, what) == ("compare", "empty") and name in ("prior", "intruder")
            words = _words(command, **{name: value})
            yield Case(command, "options", f"{name}-{what}", words, expected=EITHER if plain else REFUSED)
        for what, value in DOUBTFUL.get(option, {}).items():
            words = _words(command, **{name: value})
            yield Case(command, "options", f"{name}-perhaps-{what}", words, expected=EITHER)
    for what, word in LINES.items():
        yield Case(command, "techniques", what, _words(command, technique=word))
    good = _words(command)
    for what, words in {
        "nothing": (),
        "no-people": good[1:],
        "people-only": good[:1],
        "too-many-arguments": (*good, "more", "arguments"),
        "unknown-option": (*good, "--nonsense"),
        "option-not-utf-8": (*good, "--\udce9"),
        "json-with-a-value": (*good, "--json=1"),
        "without-keys": tuple(word for word in good if not word.startswith("--keys")),
        "without-a-technique": tuple(word for word in good if not word.startswith("--technique")),
    }.items():
        yield Case(command, "line", what, words)


def _of_compare() -> Iterator[Case]:
    for option in ("replicates", "workers"):
        for what, value in (WHOLE | {"0": "0"}).items():
            yield Case("compare", "options", f"{option}-{what}", _words("compare", **{option: value}))
    for what, value in {"empty": "", "unknown": "beauty", "by-case": "PMSE"}.items():
        yield Case("compare", "options", f"utility-{what}", _words("compare", utility=value))
    for what, value in {"empty": "", "unknown": "dots"}.items():
        yield Case("compare", "options", f"progress-{what}", _words("compare", progress=value))
    for what, value in GRIDS.items():
        expected = EITHER if what in ("twice", "many", "too-large") else REFUSED
        yield Case(
            "compare", "techniques", f"grid-{what}", _words("compare", technique=value), expected=expected
        )
    for what, (out, made) in FOLDERS.items():
        yield Case("compare", "outputs", what, _words("compare", out=out), made)
    for name in ("comparison.csv", "why.csv", "map.png", "report.html", "comparison.sqlite"):
        made = {f"out/{name}": folder}
        yield Case("compare", "outputs", f"{name}-is-a-folder", _words("compare", out="out"), made)
        linked: dict[str, Content] = {f"out/{name}": link_to("../people.csv")}
        yield Case("compare", "outputs", f"{name}-links-to-the-input", _words("compare", out="out"), linked)
    stores: dict[str, Content] = {
        "not-sqlite": b"this is no store" * 100,
        "zeros": bytes(4096),
        "header-only": b"SQLite format 3\0" + bytes(84),
        "fifo": fifo,
        "link-to-itself": link_to("comparison.sqlite"),
        "link-to-endless": link_to("/dev/zero"),
    }
    for what, content in stores.items():
        made = {"out/comparison.sqlite": content}
        yield Case("compare", "stores", what, _words("compare", out="out"), made)
    plan = PLAN.split(b"[study]")[0] + b"[compare]\nreplicates = 1\n"
    words = ("plan.toml", "--workers=1", "--progress=none")
    yield Case("compare", "base", "plan", words, {"plan.toml": plan}, expected=ACCEPTED)
    for what, text in {
        "empty": b"",
        "not-toml": b"this is no plan\n",
        "unknown-table": plan + b"[more]\na = 1\n",
        "unknown-key": plan + b"replicate = 1\n",
        "replicates-text": plan.replace(b"replicates = 1", b'replicates = "x"'),
        "replicates-0": plan.replace(b"replicates = 1", b"replicates = 0"),
        "utility-unknown": plan + b'utility = "beauty"\n',
        "known-unknown": plan + b'known = ["zip"]\n',
        "compare-as-a-list": plan.replace(b"[compare]", b"[[compare]]"),
        "people-missing": plan.replace(b"people.csv", b"missing.csv"),
        "rule-not-text": plan + b"[require]\nrules = [7]\n",
        "rule-wrong": plan + b'[require]\nrules = ["h0 > 1"]\n',
    }.items():
        yield Case("compare", "plans", what, words, {"plan.toml": text})
    for what, given in {"technique": ("--technique=unprotected",), "keys": ("--keys=age",)}.items():
        yield Case("compare", "plans", f"with-{what}", (*words, *given), {"plan.toml": plan})


def _of_choose() -> Iterator[Case]:
    for what, text in RANGES.items():
        yield Case("choose", "techniques", f"range-{what}", _words("choose", technique=text))
    for what, value in (WHOLE | {"0": "0"}).items():
        yield Case("choose", "options", f"replicates-{what}", _words("choose", replicates=value))
    for option in ("utility", "progress"):
        for what, value in {"empty": "", "unknown": "beauty"}.items():
            yield Case("choose", "options", f"{option}-{what}", _words("choose", **{option: value}))
    without = tuple(word for word in _words("choose") if not word.startswith("--require"))
    yield Case("choose", "line", "without-require", without)
    yield Case("choose", "line", "require-without-a-value", (*without, "--require"))


def _of_protect() -> Iterator[Case]:
    for what, text in {**RANGES, **GRIDS}.items():
        yield Case("protect", "techniques", f"not-one-{what}", _words("protect", technique=text))
    for option in ("out", "certificate"):
        name = "p.csv" if option == "out" else "c.json"
        for what, (path, made) in UNWRITABLE.items():
            files_of_it: dict[str, Content] = {each.format(name): content for each, content in made.items()}
            if what == "link-to-itself":
                files_of_it = {name: link_to(name)}
            words = _words("protect", **{option: path.format(name)})
            yield Case("protect", "outputs", f"{option}-{what}", words, files_of_it)
        for what, path in {"input": "people.csv", "input-by-another-way": "./people.csv"}.items():
            yield Case("protect", "outputs", f"{option}-{what}", _words("protect", **{option: path}))
    for ending in ("p", "p.txt", "p.xlsx", "p.csv.gz", ".csv.", "p.CSV.zip"):
        yield Case("protect", "outputs", f"ending-{ending}", _words("protect", out=ending))
    yield Case(
        "protect", "outputs", "certificate-is-the-file", _words("protect", certificate="protected.csv")
    )
    yield Case("protect", "outputs", "disk-full", _words("protect"), file_limit=200, real=True)
    for what, value in {"unknown": "zip", "confidential": "pay", "key": "age", "twice": "job,job", "empty": "",
                        "not-utf-8": "\udce9"}.items():  # fmt: skip
        yield Case("protect", "options", f"keep-{what}", _words("protect", keep=value))


@cache
def _protected() -> Mapping[str, bytes]:
    """The files of the valid command of protect."""
    with TemporaryDirectory() as made:
        Path(made, "people.csv").write_text(PEOPLE)
        command = [sys.executable, "-m", "equivoc", "protect", *_words("protect")]
        subprocess.run(command, cwd=made, check=True, stdout=subprocess.DEVNULL)
        names = ("protected.csv", "protected.certificate.json")
        return {name: Path(made, name).read_bytes() for name in names}


def _later(name: str, change: Callable[[bytes], bytes] = bytes) -> Callable[[Path], None]:
    """A file of the valid command, made when it is needed."""
    return lambda path: path.write_bytes(change(_protected()[name])) and None


def _with(**facts: object) -> Callable[[bytes], bytes]:
    """A certificate with other facts and the digest it had."""
    return lambda text: json.dumps(json.loads(text) | facts).encode()


def _of_verify() -> Iterator[Case]:
    certificate, protected = "protected.certificate.json", "protected.csv"
    words = (certificate, "people.csv", protected)
    good: dict[str, Content] = {certificate: _later(certificate), protected: _later(protected)}
    yield Case("verify", "base", "certificate", (*words, "--seed", "1"), good, expected=ACCEPTED)
    for what, content in {
        "empty": b"",
        "null": b"null",
        "number": b"7",
        "list": b"[]",
        "nothing-in-it": b"{}",
        "text": b"no certificate",
        "nul": bytes(100),
        "not-utf-8": b'{"a": "\xe9"}',
        "deep": b"[" * 100_000,
        "5000-digits": b'{"seed": ' + b"9" * 5_000 + b"}",
        "truncated": _later(certificate, lambda text: text[: len(text) // 2]),
        "changed": _later(certificate, lambda text: text.replace(b"swapping", b"sampling")),
        "file-null": _later(certificate, _with(file=None)),
        "figures-list": _later(certificate, _with(figures=[])),
        "seed-text": _later(certificate, _with(seed="x")),
        "version-999": _later(certificate, _with(version=999)),
        "people": PEOPLE.encode(),
        "folder": folder,
        "fifo": fifo,
        "endless": ZERO,
        "link-to-itself": link_to(certificate),
    }.items():
        yield Case("verify", "certificates", what, words, {**good, certificate: content})
    for place, at in (("people", 1), ("protected", 2)):
        for what, name, content, real, values, expected in files():
            if real and what != "fifo":
                continue
            given = (*words[:at], name, *words[at + 1 :])
            # What can be read is compared, and what was found is printed before the refusal.
            readable = values or expected == EITHER
            made = {**good, name: content}
            yield Case("verify", place, what, given, made, real=real, prints=readable or place == "protected")
        for what, path in STRANGE_PATHS.items():
            yield Case("verify", place, f"path-{what}", (*words[:at], path, *words[at + 1 :]), good)
    changed: dict[str, Content] = {**good, protected: _later(protected, lambda text: text + b"30,F,10\n")}
    yield Case("verify", "protected", "one-row-more", words, changed, prints=True)
    for what, value in (WHOLE | {"another": "2"}).items():
        yield Case(
            "verify", "options", f"seed-{what}", (*words, f"--seed={value}"), good, prints=what == "another"
        )
    for what, value in PER_OPTION["--hierarchy"].items():
        yield Case("verify", "options", f"hierarchy-{what}", (*words, f"--hierarchy={value}"), good)
    for what, given in {"nothing": (), "one": words[:1], "two": words[:2], "four": (*words, "more"),
                        "unknown-option": (*words, "--nonsense"), "json-with-a-value": (*words, "--json=1"),
                        "swapped": (*words[:1], words[2], words[1])}.items():  # fmt: skip
        yield Case("verify", "line", what, given, good, prints=what == "swapped")


def _of_doctor() -> Iterator[Case]:
    yield Case("doctor", "base", "nothing", (), expected=ACCEPTED)
    yield Case("doctor", "base", "json", ("--json",), expected=ACCEPTED)
    for what, words in {
        "argument": ("people.csv",),
        "unknown-option": ("--nonsense",),
        "short-option": ("-x",),
        "json-with-a-value": ("--json=1",),
        "option-not-utf-8": ("--\udce9",),
        "newline": ("a\nb",),
    }.items():
        yield Case("doctor", "line", what, words)


def _of_parquet_elsewhere() -> Iterator[Case]:
    """Parquet files for the commands whose other cases have none."""
    name = "x.parquet"
    table = (name, "--by", "age,sex", "--value", "pay", "--rule", "p:10")
    for what, content in parquet_files().items():
        expected = EITHER if what == "dates" else REFUSED
        made: dict[str, Content] = {name: content, "log.sql": LOG.encode(), "policy.toml": POLICY.encode()}
        yield Case("audit", "people", f"parquet-{what}", (name, *AUDIT[1:]), made, expected=expected)
        yield Case("table", "people", f"parquet-{what}", table, made, expected=expected)
        yield Case("gateway", "people", f"parquet-{what}", (GATEWAY[0], name, *GATEWAY[2:]), made)
        yield Case("reproduce", "files", f"parquet-{what}", ("--pums", name, "--records", "40"), made)
        yield Case("curve", "files", f"parquet-{what}", (name,), made)
        audited = ("--audit", name, "--by", "age,sex", "--value", "pay")
        yield Case("table", "released", f"parquet-{what}", audited, made)
    for what in ("truncated", "garbled-end", "without-its-end", "without-its-start", "no-rows", "no-columns"):
        words = (name, "--no-browser", "--folder", "page")
        yield Case("serve", "files", f"parquet-{what}", words, {name: parquet_files()[what]})
