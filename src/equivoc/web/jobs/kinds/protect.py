"""The protected file and its certificate."""

from __future__ import annotations

from typing import Any

from equivoc.decide.protection.protect import protect
from equivoc.errors import InputError
from equivoc.report.facts.protection_facts import protection_facts
from equivoc.web.jobs.work import Work

FORMATS = ("csv", "parquet")


def run(work: Work) -> dict[str, Any]:
    """Write both files. Without a seed in the request it is drawn, and nobody can undo the random changes."""
    technique = work.spec.technique(work.text("technique"))
    suffix = work.text("format", "csv")
    if suffix not in FORMATS:
        raise InputError("the protected file is csv or parquet.")
    seed = work.given.get("seed")
    people = work.people
    work.tell(0, 0, "protecting and assessing")
    done = protect(
        people,
        technique,
        work.files / f"protected.{suffix}",
        certificate=work.files / "certificate.json",
        seed=None if seed is None else work.whole("seed", 0),
        show_seed=bool(work.given.get("show_seed")),
        keep=list(work.texts("keep")),
        keep_order=bool(work.given.get("keep_order")),
        require=list(work.texts("require")),
        write_anyway=bool(work.given.get("write_anyway")),
        **work.intruder,
    )
    sentence = (
        "The file and its certificate are written."
        if done.written
        else "Nothing was written, because a requirement is not met: "
        + " ".join(each.outcome.sentence for each in done.judged if not each.outcome.meets)
    )
    told = protection_facts(done)
    meets = done.meets if done.judged else None
    return {
        **told,
        "kind": "protect",
        "meets": meets,
        "sentence": " ".join([sentence, *done.warnings]),
        "files": None,
    }
