"""The options of ``equivoc table`` that protect a table: --suppress, --round, --redesign and --noisy."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Annotated, Any

import typer

from equivoc.errors import InputError

if TYPE_CHECKING:
    from equivoc.assessment.requirements.requirement import Requirement
    from equivoc.tables.cell_table import CellTable
    from equivoc.tables.rules import Rule

SuppressOption = Annotated[
    bool,
    typer.Option("--suppress", help="Withhold unsafe cells, and others so that they cannot be computed."),
]
RoundOption = Annotated[
    float | None, typer.Option("--round", help="Round every cell to a multiple of this base.")
]
RedesignOption = Annotated[
    bool,
    typer.Option("--redesign", help="Merge categories up --hierarchies until no cell is unsafe."),
]
NoisyOption = Annotated[
    float | None,
    typer.Option("--noisy", help="Add noise to every count: the privacy budget ε, above 0; less is safer."),
]
PublicOption = Annotated[
    bool,
    typer.Option(
        "--public-categories", help="With --noisy: the categories do not depend on who is in the file."
    ),
]
MethodOption = Annotated[
    str | None,
    typer.Option(help="With --round: conventional (the default), random or controlled (margins add up)."),
]
CostOption = Annotated[
    str | None,
    typer.Option(
        help="With --suppress: what a withheld cell costs: value (the default), count (of contributors) or equal."
    ),
]
TimeLimitOption = Annotated[
    float | None, typer.Option(help="Seconds for --suppress (default 60) and controlled rounding (25).")
]
SeedOption = Annotated[
    int | None,
    typer.Option(help="With random rounding and --noisy, to repeat it; not for publication.", min=0),
]


@dataclass(frozen=True)
class AskedMethod:
    """A method that protects a table, and how to assess what it releases."""

    method: Any
    rules: tuple[Rule, ...]
    seed: int | None
    own_hierarchies: bool
    """True if the hierarchies are the method's; otherwise they make subtotals."""

    def release(
        self,
        table: CellTable,
        *,
        eps: Any,
        require: Sequence[Requirement],
        unit: str,
        record_values: bool,
        page: bool,
    ) -> tuple[list[Any], dict[str, Any], str]:
        """The frames to write, the facts to print, and the report ("" unless a ``page`` is asked for)."""
        from equivoc.assessment.of_table import assess_table
        from equivoc.report.facts.table_release_facts import table_release_facts
        from equivoc.tables.noisy_counts import NoisyCells
        from equivoc.tables.rounding.cell_rounding import CellRounding

        made = (
            self.method.release(table, self.seed)
            if isinstance(self.method, (CellRounding, NoisyCells))
            else self.method.release(table)
        )
        result = assess_table(table, made, eps=eps, require=require)
        facts = table_release_facts(result, rules=self.rules, unit=unit, record_values=record_values)
        if not page:
            return [made.table], facts, ""
        from equivoc.report.page import render_table

        return [made.table], facts, render_table(facts)


def asked_method(
    rules: tuple[Rule, ...],
    *,
    suppress: bool,
    base: float | None,
    redesign: bool,
    epsilon: float | None,
    public: bool,
    method: str | None,
    cost: str | None,
    time_limit: float | None,
    seed: int | None,
    hierarchies: str | None,
    assessed: Mapping[str, Any],
    holdings: bool,
) -> AskedMethod | None:
    """The method that the options describe; None if the table is not protected. InputError if they contradict."""
    chosen = [
        name
        for name, given in (
            ("--suppress", suppress),
            ("--round", base is not None),
            ("--redesign", redesign),
            ("--noisy", epsilon is not None),
        )
        if given
    ]
    if len(chosen) > 1:
        raise InputError(f"{' and '.join(chosen)} are different methods: choose one.")
    name = chosen[0] if chosen else ""
    own = {
        "--method": method,
        "--cost": cost,
        "--time-limit": time_limit,
        "--seed": seed,
        "--public-categories": public or None,
    }
    _check_options(name, {**own, **assessed})
    if name in ("--suppress", "--redesign") and not rules:
        raise InputError(f"{name} needs to know which cells are unsafe: give --rule, such as --rule p:10.")
    limit: dict[str, Any] = {} if time_limit is None else {"time_limit": time_limit}
    if suppress:
        from equivoc.tables.suppression.cell_suppression import CellSuppression

        return AskedMethod(CellSuppression(rule=rules, cost=cost or "value", **limit), rules, None, False)
    if base is not None:
        from equivoc.tables.rounding.cell_rounding import CellRounding

        if seed is not None and method != "random":
            raise InputError("--seed is for random rounding: give --method random as well, or leave it out.")
        return AskedMethod(CellRounding(base, method or "conventional", **limit), rules, seed, False)
    if epsilon is not None:
        from equivoc.tables.noisy_counts import NoisyCells

        return AskedMethod(NoisyCells(epsilon, "public" if public else "data"), rules, seed, False)
    if redesign:
        from equivoc.tables.redesign import Redesign

        if hierarchies is None:
            raise InputError("--redesign merges categories up their hierarchies: give --hierarchies.")
        # With holdings, the merged cells must have been counted from the people: they are the table's subtotals.
        return AskedMethod(
            Redesign(rule=rules, hierarchies=None if holdings else hierarchies), rules, None, not holdings
        )
    return None


def _check_options(name: str, given: Mapping[str, Any]) -> None:
    """InputError if an option does not belong to the method ``name``; "" is none."""
    fitting = {"--method": ("--round",), "--seed": ("--round", "--noisy"), "--cost": ("--suppress",)}
    fitting["--public-categories"] = ("--noisy",)
    for option, value in given.items():
        wanted = fitting.get(option, ("--suppress", "--round") if option == "--time-limit" else None)
        if value is None or name in (wanted or ("--suppress", "--round", "--redesign", "--noisy")):
            continue
        if wanted is None:
            raise InputError(
                f"{option} is about a protected table: give --suppress, --round, --redesign or --noisy as well."
            )
        raise InputError(
            f"{option} belongs to {' and '.join(wanted)}: give it as well, or leave {option} out."
        )
