"""Wrong rules, options and released tables for ``table``."""

from __future__ import annotations

from collections.abc import Iterator

from .case import ACCEPTED, ZERO, Case, Content, fifo, folder, link_to

TABLE = ("people.csv", "--by", "age,sex", "--value", "pay", "--rule", "p:10")
COUNTS = ("people.csv", "--by", "age,sex", "--rule", "threshold:3", "--confidential", "pay")
RELEASED = (
    "region,sex,value\nN,F,x\nN,M,x\nN,Total,30\nS,F,x\nS,M,x\nS,Total,70\n"
    "Total,F,45\nTotal,M,55\nTotal,Total,100\n"
)
CONTRIBUTED = (
    "region,sex,value,people,largest,second\nN,F,5,1,5,0\nN,Total,5,1,5,0\nS,F,7,2,4,3\nS,Total,7,2,4,3\n"
    "Total,F,12,3,5,4\nTotal,Total,12,3,5,4\n"
)
AUDIT = ("--audit", "released.csv", "--by", "region,sex", "--value", "value")
RULES = (
    "", ":", "p", "p:", "p:0", "p:-5", "p:nan", "p:inf", "p:x", "p:10,20", "p:q=3", "threshold", "threshold:0",
    "threshold:2.5", "threshold:-1", "threshold:1e30", "threshold:nan", "dominance:n=0,k=60", "dominance:n=1,k=0",
    "dominance:n=1,k=101", "dominance:n=1,n=2,k=60", "dominance:n=1.5,k=60",
    "pq:p=0,q=100", "pq:p=20,q=nan", "dominence:n=1,k=60", "p:10;p:20",
)  # fmt: skip
RELEASED_TABLES: dict[str, Content] = {
    "folder": folder,
    "fifo": fifo,
    "zero-device": ZERO,
    "link-to-itself": link_to("released.csv"),
    "empty": b"",
    "header-only": b"region,sex,value\n",
    "null-bytes": b"\0" * 100,
    "bytes": bytes(range(256)),
    "utf-16": RELEASED.encode("utf-16"),
    "no-value-column": RELEASED.replace("value", "total").encode(),
    "no-key-column": RELEASED.replace("sex", "gender", 1).encode(),
    "ragged": RELEASED.replace("N,F,x", "N,F,x,1,2,3").encode(),
    "cell-twice": (RELEASED + "N,F,12\n").encode(),
    "cell-lacks": RELEASED.replace("N,F,x\n", "").encode(),
    "does-not-add-up": RELEASED.replace("N,Total,30", "N,Total,31").encode(),
    "impossible": RELEASED.replace("N,Total,30", "N,Total,-30").encode(),
    "value-text": RELEASED.replace("N,Total,30", "N,Total,thirty").encode(),
    "value-nan": RELEASED.replace("N,Total,30", "N,Total,nan").encode(),
    "value-infinite": RELEASED.replace("N,Total,30", "N,Total,inf").encode(),
    "value-5000-digits": RELEASED.replace("N,Total,30", f"N,Total,{'9' * 5000}").encode(),
    "margins-only": b"region,sex,value\nTotal,Total,100\n",
    "no-margins": b"region,sex,value\nN,F,x\nN,M,x\nS,F,x\nS,M,x\n",
    "one-contributor-of-less": CONTRIBUTED.replace("5,1,5,0", "5,1,4,0").encode(),
    "two-contributors-of-less": CONTRIBUTED.replace("7,2,4,3", "7,2,4,2").encode(),
    "nobody-contributes": CONTRIBUTED.replace("5,1,5,0", "5,0,0,0").encode(),
    "more-contributors-than-a-total": CONTRIBUTED.replace("12,3,5,4", "12,1,12,0").encode(),
    "value-1e301": RELEASED.replace("N,Total,30", "N,Total,1e301").encode(),
    "html": b"<html><body>404</body></html>",
}
OPTIONS = {
    "by-nothing": ("--by", ""),
    "by-unknown": ("--by", "age,zip"),
    "by-twice": ("--by", "age,age"),
    "by-five": ("--by", "age,sex,job,w,pay"),
    "value-unknown": ("--value", "salary"),
    "value-of-words": ("--value", "job"),
    "confidential-unknown": ("--confidential", "salary"),
    "weights-unknown": ("--weights", "weight"),
    "weights-of-words": ("--weights", "job"),
    "contributors-unknown": ("--contributors", "holding"),
    "waiver-unknown": ("--waiver", "agreed"),
    "waiver-of-numbers": ("--waiver", "age"),
    "hierarchies-missing": ("--hierarchies", "sex:none.csv"),
    "hierarchies-of-another": ("--hierarchies", "zip:5/10"),
    "hierarchies-of-words": ("--hierarchies", "sex:5/10"),
    "hierarchies-0": ("--hierarchies", "age:0"),
    "hierarchies-empty": ("--hierarchies", ""),
    "round-0": ("--round", "0"),
    "round-below-0": ("--round", "-5"),
    "round-nan": ("--round", "nan"),
    "round-infinite": ("--round", "inf"),
    "round-and-suppress": ("--round", "5", "--suppress"),
    "redesign-without-hierarchies": ("--redesign",),
    "most-per-contributor-without-noisy": ("--most-per-contributor", "3"),
    "method-unknown": ("--round", "5", "--method", "best"),
    "method-without-round": ("--method", "random"),
    "cost-unknown": ("--suppress", "--cost", "money"),
    "cost-without-suppress": ("--cost", "value"),
    "time-limit-0": ("--suppress", "--time-limit", "0"),
    "time-limit-nan": ("--suppress", "--time-limit", "nan"),
    "time-limit-below-0": ("--suppress", "--time-limit", "-1"),
    "seed-below-0": ("--round", "5", "--method", "random", "--seed", "-1"),
    "eps-nan": ("--suppress", "--eps", "nan"),
    "require-unknown": ("--suppress", "--require", "h9 >= 1"),
    "require-without-release": ("--require", "h0 >= 1"),
    "compare-unknown": ("--compare", "roundly:5"),
    "compare-not-a-number": ("--compare", "round:x"),
    "compare-and-round": ("--compare", "round:5", "--round", "5"),
    "choose-without-a-range": ("--choose", "round:5", "--require", "h0 >= 1"),
    "choose-backwards": ("--choose", "round:9..1", "--require", "h0 >= 1"),
    "choose-nan": ("--choose", "round:nan..9", "--require", "h0 >= 1"),
    "choose-too-many": ("--choose", "round:1..9..1e-9", "--require", "h0 >= 1"),
    "choose-unknown": ("--choose", "roundly:1..9", "--require", "h0 >= 1"),
    "choose-without-require": ("--choose", "round:1..9"),
    "margin-without-audit": ("--margin", "all"),
    "symbol-without-audit": ("--symbol", "x"),
    "counts-without-audit": ("--counts",),
    "out-over-the-people": ("--out", "people.csv"),
    "domain-lacks-a-value": ("--domain", "10:30:10"),
    "round-to-0": ("--round-to", "0"),
}


def cases() -> Iterator[Case]:
    """All of them."""
    yield Case("table", "base", "totals", TABLE, expected=ACCEPTED)
    yield Case("table", "base", "counts", COUNTS, expected=ACCEPTED)
    valid = {"released.csv": RELEASED.encode()}
    yield Case("table", "base", "audit", AUDIT, files=valid, expected=ACCEPTED)
    valid = {"released.csv": CONTRIBUTED.encode()}
    yield Case(
        "table", "base", "audit-contributors", (*AUDIT, "--rule", "p:10"), files=valid, expected=ACCEPTED
    )
    valid = {"released.csv": RELEASED.encode()}
    for what, words in {
        "holdings": ("--noisy", "1", "--contributors", "job"),
        "weights": ("--noisy", "1", "--weights", "w"),
        "too-few": ("--noisy", "1", "--contributors", "job", "--most-per-contributor", "1"),
        "nobody": ("--noisy", "1", "--most-per-contributor", "0"),
    }.items():
        yield Case("table", "noisy", what, (*COUNTS[:3], *COUNTS[5:], *words))
    yield Case("table", "options", "nothing", ())
    yield Case("table", "options", "no-by", ("people.csv", "--value", "pay"))
    yield Case("table", "options", "people-and-audit", ("people.csv", *AUDIT), files=valid)
    yield Case("table", "files", "missing", ("none.csv", *TABLE[1:]))
    for number, rule in enumerate(RULES):
        yield Case("table", "rules", f"{number}-{rule[:20]}", (*TABLE[:-1], rule))
    for what, words in OPTIONS.items():
        yield Case("table", "options", what, (*TABLE, *words))
    yield Case("table", "rules", "of-totals-for-counts", ("people.csv", "--by", "age", "--rule", "p:10"))
    for what, content in RELEASED_TABLES.items():
        yield Case("table", "released", what, AUDIT, files={"released.csv": content})
    for what, words in {
        "missing": ("--audit", "none.csv", *AUDIT[2:]),
        "by-unknown": ("--audit", "released.csv", "--by", "region,zip", "--value", "value"),
        "value-unknown": ("--audit", "released.csv", "--by", "region,sex", "--value", "pay"),
        "with-suppress": (*AUDIT, "--suppress"),
        "with-round": (*AUDIT, "--round", "5"),
        "symbol-of-a-number": (*AUDIT, "--symbol", "30"),
        "margin-unknown": (*AUDIT, "--margin", "everything"),
        "counts-of-fractions": (*AUDIT, "--counts"),
    }.items():
        text = RELEASED.replace("100", "100.5") if what == "counts-of-fractions" else RELEASED
        yield Case("table", "released", what, words, files={"released.csv": text.encode()})
