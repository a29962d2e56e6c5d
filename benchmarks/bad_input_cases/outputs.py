"""Outputs that would overwrite an input or each other, or cannot be written."""

from __future__ import annotations

from collections.abc import Iterator

from .case import FULL, PEOPLE, Case, Content, fifo, folder, hard_link_to, link_to, people_words
from .people_files import CENSUS
from .plans import PLAN

FILE = PEOPLE.encode()
UNWRITABLE: dict[str, tuple[str, dict[str, Content]]] = {
    "missing-folder": ("no/such/{}", {}),
    "below-a-file": ("people.csv/{}", {}),
    "below-a-device": ("/dev/null/{}", {}),
    "read-only-system": ("/proc/{}", {}),
    "folder": ("{}", {"{}": folder}),
    "fifo": ("{}", {"{}": fifo}),
    "device": ("{}", {"{}": FULL}),
    "link-to-a-device": ("{}", {"{}": link_to("/dev/full")}),
    "link-to-itself": ("{}", {"{}": link_to("{}")}),
    "link-to-a-missing-folder": ("{}", {"{}": link_to("no/such/file")}),
    "empty": ("", {}),
    "here": (".", {}),
    "long-name": ("x" * 300 + "{}", {}),
}
SAME_FILE: dict[str, Content] = {
    "link-to-the-input": link_to("people.csv"),
    "hard-link-to-the-input": hard_link_to("people.csv"),
}


def _laid(files: dict[str, Content], name: str) -> dict[str, Content]:
    return {path.format(name): content for path, content in files.items()}


def cases() -> Iterator[Case]:
    yield from _of_assess()
    yield from _of_report()
    yield from _of_study()
    yield from _of_reproduce()
    yield from _of_plot()
    yield from _of_the_output_itself()


FOLDERS: dict[str, tuple[str, dict[str, Content]]] = {
    "file": ("out", {"out": b"keep me"}),
    "input": ("people.csv", {}),
    "below-a-file": ("people.csv/out", {}),
    "below-a-device": ("/dev/null/out", {}),
    "read-only-system": ("/proc/out", {}),
    "fifo": ("out", {"out": fifo}),
    "device": ("out", {"out": FULL}),
    "link-to-a-device": ("out", {"out": link_to("/dev/full")}),
    "link-to-itself": ("out", {"out": link_to("out")}),
    "link-to-the-input": ("out", {"out": link_to("people.csv")}),
    "long-name": ("x" * 300, {}),
}
"""Paths that cannot be created as a folder."""


def _of_assess() -> Iterator[Case]:
    for what, (out, made) in FOLDERS.items():
        yield Case("assess", "outputs", what, people_words("people.csv", "--out", out), made)
    for name in ("classes.csv", "records.csv", "contributions.png"):
        inside = f"out/{name}"
        for place, words in {
            "people": people_words(inside, "--out", "out"),
            "release": people_words("people.csv", "--release", inside, "--out", "out"),
            "control": people_words("people.csv", "--control", inside, "--out", "out"),
        }.items():
            if name.endswith(".csv"):
                yield Case("assess", "outputs", f"{name}-is-the-{place}", words, {inside: FILE})
        for what, content in {**SAME_FILE, "folder": folder, "fifo": fifo, "device": FULL}.items():
            if what == "link-to-the-input":
                content = link_to("../people.csv")
            words = people_words("people.csv", "--out", "out")
            yield Case("assess", "outputs", f"{name}-{what}", words, {inside: content})
    yield Case(
        "assess",
        "outputs",
        "disk-full",
        people_words("people.csv", "--out", "out"),
        file_limit=200,
        real=True,
    )


def _of_report() -> Iterator[Case]:
    for option in ("--out", "--json"):
        place = option[2:]
        name = "r.html" if option == "--out" else "r.json"
        for what, (path, files) in UNWRITABLE.items():
            words = people_words("people.csv", option, path.format(name))
            made = _laid(files, name)
            if what == "link-to-itself":
                made = {name: link_to(name)}
            yield Case("report", "outputs", f"{place}-{what}", words, made)
        for what, path in {"input": "people.csv", "input-by-another-way": "./x/../people.csv"}.items():
            words = people_words("people.csv", option, path)
            yield Case("report", "outputs", f"{place}-{what}", words, {"x/y": b""})
        for what, content in SAME_FILE.items():
            words = people_words("people.csv", option, name)
            yield Case("report", "outputs", f"{place}-{what}", words, {name: content})
        for other in ("--release", "--control"):
            words = people_words("people.csv", other, "x.csv", option, "x.csv")
            yield Case("report", "outputs", f"{place}-is-the-{other[2:]}", words, {"x.csv": FILE})
        words = people_words("people.csv", option, name)
        yield Case("report", "outputs", f"{place}-disk-full", words, file_limit=200, real=True)
    yield Case("report", "outputs", "same", people_words("people.csv", "--out", "a", "--json", "a"))
    other = people_words("people.csv", "--out", "a", "--json", "./a")
    yield Case("report", "outputs", "same-by-another-way", other)
    linked = {"a": b"", "b": link_to("a")}
    yield Case(
        "report", "outputs", "same-by-a-link", people_words("people.csv", "--out", "a", "--json", "b"), linked
    )
    default = people_words("report.html")
    yield Case("report", "outputs", "input-has-the-page's-name", default, {"report.html": FILE})
    hidden = people_words("report.csv", "--json", "report.csv")
    yield Case("report", "outputs", "json-is-the-input", hidden, {"report.csv": FILE})


def _of_study() -> Iterator[Case]:
    for what, (out, made) in FOLDERS.items():
        yield Case("study", "outputs", what, ("plan.toml", "--out", out), {"plan.toml": PLAN, **made})
    for name in ("results.csv", "summary.csv", "seconds.csv", "study.png"):
        path = f"out/{name}"
        if name.endswith(".csv"):
            plan = PLAN.replace(b'"people.csv"', f'"{path}"'.encode())
            made = {"plan.toml": plan, path: FILE}
            yield Case("study", "outputs", f"{name}-is-the-input", ("plan.toml", "--out", "out"), made)
        beside = PLAN.replace(b'"people.csv"', b'"../people.csv"')
        yield Case("study", "outputs", f"{name}-is-the-plan", (path, "--out", "out"), {path: beside})
        linked: dict[str, Content] = {"plan.toml": PLAN, path: link_to("../people.csv")}
        yield Case("study", "outputs", f"{name}-links-to-the-input", ("plan.toml", "--out", "out"), linked)
        made = {"plan.toml": PLAN, path: folder}
        yield Case("study", "outputs", f"{name}-is-a-folder", ("plan.toml", "--out", "out"), made)
        released = PLAN + f'\n[[technique]]\nname = "released-file"\ntable = "{path}"\n'.encode()
        made = {"plan.toml": released, path: FILE}
        if name.endswith(".csv"):
            yield Case("study", "outputs", f"{name}-is-the-release", ("plan.toml", "--out", "out"), made)


def _of_reproduce() -> Iterator[Case]:
    words = ("--records", "40", "--replicates", "1", "--progress", "none")
    census = CENSUS.encode()
    for what, (out, made) in FOLDERS.items():
        if what not in ("input", "link-to-the-input"):
            given = ("--pums", "c.csv", "--out", out, *words)
            yield Case("reproduce", "outputs", what, given, {"c.csv": census, **made})
    yield Case(
        "reproduce", "outputs", "input", ("--pums", "c.csv", "--out", "c.csv", *words), {"c.csv": census}
    )
    for name in ("results.csv", "summary.csv", "claims.csv"):
        path = f"out/{name}"
        given = ("--pums", path, "--out", "out", *words)
        yield Case("reproduce", "outputs", f"{name}-is-the-input", given, {path: census})
        given = ("--pums", "c.csv", "--out", "out", *words)
        made = {"c.csv": census, path: folder}
        yield Case("reproduce", "outputs", f"{name}-is-a-folder", given, made)


POSTERIOR = ("--values", "1,3,8,9", "--probabilities", ".15,.1,.7,.05")


def _of_plot() -> Iterator[Case]:
    for what, (path, files) in UNWRITABLE.items():
        made = {"p.png": link_to("p.png")} if what == "link-to-itself" else _laid(files, "p.png")
        yield Case("curve", "outputs", what, (*POSTERIOR, "--plot", path.format("p.png")), made)
    for ending in ("pdf", "jpg", "html", "csv", "png.txt", "png "):
        yield Case(
            "curve",
            "outputs",
            f"ending-{ending.strip()}-{len(ending)}",
            (*POSTERIOR, "--plot", f"p.{ending}"),
        )
    for what, path in {
        "no-ending": "p",
        "ending-only": ".png",
        "escape": "\x1b[2J.pdf",
        "newline": "a\nb.pdf",
    }.items():
        yield Case("curve", "outputs", what, (*POSTERIOR, "--plot", path))
    source = b"77,0.5\n80,0.5\n"
    yield Case("curve", "outputs", "input", ("p.svg", "--plot", "p.svg"), {"p.svg": source})
    yield Case("curve", "outputs", "input-by-another-way", ("p.svg", "--plot", "./p.svg"), {"p.svg": source})
    linked: dict[str, Content] = {"p.csv": source, "p.svg": link_to("p.csv")}
    yield Case("curve", "outputs", "link-to-the-input", ("p.csv", "--plot", "p.svg"), linked)
    hard: dict[str, Content] = {"p.csv": source, "p.svg": hard_link_to("p.csv")}
    yield Case("curve", "outputs", "hard-link-to-the-input", ("p.csv", "--plot", "p.svg"), hard)
    yield Case("curve", "outputs", "disk-full", (*POSTERIOR, "--plot", "p.png"), file_limit=200, real=True)


def _of_the_output_itself() -> Iterator[Case]:
    """Standard output that is closed or full, or whose encoding has few characters."""
    lines = {"curve": POSTERIOR, "assess": people_words(), "measures": people_words()}
    for command, words in lines.items():
        for what, more in {"": (), "-json": ("--json",)}.items():
            yield Case(
                command,
                "printing",
                f"full-device{what}",
                (*words, *more),
                stdout="/dev/full",
                code=1,
                real=True,
            )
    plain = {"PYTHONIOENCODING": "ascii", "LC_ALL": "C", "PYTHONUTF8": "0"}
    for command, words in lines.items():
        for what, more in {"": (), "-json": ("--json",)}.items():
            yield Case(command, "printing", f"ascii{what}", (*words, *more), environment=plain, real=True,
                       expected="either")  # fmt: skip
        wrong = (*words, "--\u00e9\u03b5")
        yield Case(command, "printing", "ascii-refusal", wrong, environment=plain, real=True)
    yield Case("", "printing", "full-device", ("--version",), stdout="/dev/full", code=1, real=True)
    yield Case("", "printing", "full-device-help", ("--help",), stdout="/dev/full", code=1, real=True)
