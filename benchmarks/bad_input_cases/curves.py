"""Invalid posteriors for ``equivoc curve``."""

from __future__ import annotations

from collections.abc import Iterator

from .case import EITHER, ZERO, Case, Content, fifo, folder, link_to
from .outputs import POSTERIOR
from .people_files import STRANGE_PATHS

VALUES = {
    "empty": "", "comma": ",", "text": "a,b,c,d", "nan": "nan,3,8,9", "infinite": "1,3,8,inf",
    "beyond-double": "1,3,8,1e400",
    "fewer": "1,3,8", "more": "1,3,8,9,10", "empty-part": "1,,8,9", "semicolons": "1;3;8;9", "5000-digits": "9" * 5_000,
    "escape": "\x1b[2J,3,8,9", "newline": "x\ny,3,8,9", "not-utf-8": "\udce9,3,8,9", "too-wide": "-1.7e308,3,8,1.7e308",
}  # fmt: skip
PROBABILITIES = {
    "empty": "", "comma": ",", "text": "a,b,c,d", "nan": "nan,.1,.7,.05", "infinite": "inf,.1,.7,.05",
    "sum-too-small": ".15,.1,.7,.04", "sum-too-large": ".15,.1,.7,.06", "all-0": "0,0,0,0",
    "negative": "-.15,.4,.7,.05",
    "above-1": "2,-1,0,0", "fewer": ".2,.1,.7", "more": ".15,.1,.7,.05,0", "percent": "15%,10%,70%,5%",
    "fractions": "1/4,1/4,1/4,1/4", "beyond-double": "1e400,0,0,0", "sum-off-by-1e-8": ".15,.1,.7,.05000001",
}  # fmt: skip
AT = {
    "empty": "", "comma": ",", "text": "x", "nan": "nan", "minus": "-1", "empty-part": "1,,2",
    "semicolon": "1;2", "escape": "\x1b[2J", "5000-digits": "9" * 5_000,
}  # fmt: skip
TOLERANCE = {
    "empty": "", "text": "x", "nan": "nan", "infinite": "inf", "minus": "-1", "two": "1,2", "beyond-double": "1e400",
}  # fmt: skip
TABLES: dict[str, Content] = {
    "empty": b"",
    "only-newlines": b"\n\n\n",
    "header-only": b"value,probability\n",
    "one-column": b"77\n80\n",
    "three-columns": b"77,0.5,1\n80,0.5,1\n",
    "ragged": b"77,0.5\n80\n",
    "ragged-long": b"77,0.5\n80,0.5,1\n",
    "text": b"77,0.5\nx,0.5\n",
    "two-headers": b"a,b\nc,d\n",
    "nan": b"77,0.5\nnan,0.5\n",
    "nan-probability": b"77,nan\n80,0.5\n",
    "infinite": b"77,0.5\ninf,0.5\n",
    "negative": b"77,1.5\n80,-0.5\n",
    "sum": b"77,0.5\n80,0.4\n",
    "nul": b"77,0.5\n8\x000,0.5\n",
    "only-nuls": bytes(100),
    "latin-1": b"77,0.5\n\xe9,0.5\n",
    "utf-16": "77,0.5\n80,0.5\n".encode("utf-16"),
    "open-quote": b'77,0.5\n"80,0.5\n',
    "huge-field": b"77,0.5\n80," + b"9" * 1_000_000,
    "semicolons": b"77;0.5\n80;0.5\n",
    "decimal-commas": b"77;0,5\n80;0,5\n",
    "5000-digits": b"77,0.5\n" + b"9" * 5_000 + b",0.5\n",
    "folder": folder,
    "link-to-nothing": link_to("nothing"),
    "link-to-itself": link_to("x.csv"),
}
DEVICES: dict[str, Content] = {"fifo": fifo, "endless-device": ZERO, "link-to-endless": link_to("/dev/zero")}
PERHAPS = {
    "at-infinite": ("--at=inf",),
    "at-huge": ("--at=1e308",),
    "tolerance-1": ("--tolerance=1",),
    "tolerance-tiny": ("--tolerance=1e-300",),
}


def cases() -> Iterator[Case]:
    yield Case("curve", "base", "values", POSTERIOR, expected="accepted")
    yield Case("curve", "base", "file", ("x.csv",), {"x.csv": b"77,0.5\n80,0.5\n"}, expected="accepted")
    yield Case(
        "curve", "base", "standard-input", ("-",), stdin=b"77,0.5\n80,0.5\n", real=True, expected="accepted"
    )
    for what, text in VALUES.items():
        yield Case("curve", "values", what, (f"--values={text}", *POSTERIOR[2:]))
    for what, text in PROBABILITIES.items():
        yield Case("curve", "probabilities", what, (*POSTERIOR[:2], f"--probabilities={text}"))
    for what, text in AT.items():
        yield Case("curve", "options", f"at-{what}", (*POSTERIOR, f"--at={text}"))
    for what, text in TOLERANCE.items():
        yield Case("curve", "options", f"tolerance-{what}", (*POSTERIOR, f"--tolerance={text}"))
    for what, words in PERHAPS.items():
        yield Case("curve", "options", f"perhaps-{what}", (*POSTERIOR, *words), expected=EITHER)
    wrong = {
        "nothing": (), "values-only": POSTERIOR[:2], "probabilities-only": POSTERIOR[2:],
        "file-and-values": ("people.csv", *POSTERIOR), "json-with-a-value": (*POSTERIOR, "--json=1"),
        "values-without-a-value": ("--probabilities", "1", "--values"), "plot-without-a-value": (*POSTERIOR, "--plot"),
        "people": ("people.csv",),
    }  # fmt: skip
    for what, words in wrong.items():
        yield Case("curve", "options", what, words)
    for what, content in TABLES.items():
        yield Case("curve", "files", what, ("x.csv",), {"x.csv": content})
        if isinstance(content, bytes):
            yield Case(
                "curve", "standard-input", what, ("-",), stdin=content, real=what in ("latin-1", "utf-16")
            )
    for what, content in DEVICES.items():
        yield Case("curve", "files", what, ("x.csv",), {"x.csv": content}, real=True)
    for what, path in STRANGE_PATHS.items():
        yield Case("curve", "paths", what, (path,))
