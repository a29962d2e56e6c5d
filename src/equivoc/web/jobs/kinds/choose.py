"""The search for the mildest setting that meets the requirements."""

from __future__ import annotations

from typing import Any

from equivoc.decide.choice.choose_among import choose_among
from equivoc.decide.choice.search_range import search_range
from equivoc.report.facts.choice_facts import choice_facts
from equivoc.techniques.notation import named_parameters, technique_type
from equivoc.web.jobs.work import Work


def run(work: Work) -> dict[str, Any]:
    """The choice and what was tried."""
    name, fixed = named_parameters(work.text("technique"))
    kind = technique_type(name)
    parameter = work.text("parameter") or None
    fixed.pop(parameter or (kind.settings[0].parameter if kind.settings else ""), None)
    within = search_range(
        kind,
        parameter,
        low=work.number("low"),
        high=work.number("high"),
        step=work.number("step"),
        fixed=fixed,
    )
    people = work.people
    tried = 0

    def tell(line: str) -> None:
        nonlocal tried
        tried += 1
        work.tell(tried, 0, line)

    done = choose_among(
        people,
        [within],
        require=work.texts("require"),
        utility=work.text("utility", "query_error"),
        seed=work.whole("seed", 0),
        replicates=work.whole("replicates", 1),
        progress=tell,
        **work.intruder,
    )
    facts = choice_facts(done)
    choice = done.choices[0]
    return {
        **facts,
        "kind": "choose",
        "found": facts["technique"],
        "sentence": choice.sentence,
        "tried": [_tried(trial) for trial in choice.mildest_first],
    }


def _tried(trial: Any) -> dict[str, Any]:
    """A setting that was tried: its figure in the first requirement, and the requirement that it misses by most."""
    first, binding = trial.outcomes[0], trial.binding
    return {
        "value": trial.value,
        "meets": trial.meets,
        "risk": {"mean": first.value},
        "loss": None,
        "sentence": (first if binding is None else binding).sentence,
    }
