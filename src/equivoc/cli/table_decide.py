"""The options of ``equivoc table`` that protect a table: --suppress, --round, --redesign and --noisy."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Annotated, Any

import typer

from equivoc.errors import InputError

if TYPE_CHECKING:
    from equivoc.experiments.search import TableChoice
    from equivoc.requirements.requirement import Requirement
    from equivoc.tables.cell_table import CellTable
    from equivoc.tables.rules import Rule

# ``equivoc table --choose``: the mildest setting of one method that makes a table meet the requirements.

ChooseOption = Annotated[
    str | None,
    typer.Option(
        "--choose",
        help="Find the mildest setting that meets --require: round:5..60..5 (from, to, step), "
        "round:5..60..5,controlled, suppress:5..30 (p of the p% rule) or noisy:0.1..2 (ε).",
    ),
]
CHOICE_FILES = ("tried.csv",)


def chosen_setting(
    text: str, table: CellTable, *, require: Sequence[Requirement], seed: int, eps: Any
) -> TableChoice:
    """The result of the search that ``--choose`` describes."""
    from equivoc.experiments.search import choose_for_table

    method, numbers = setting_range(text)
    low, high, step = (*numbers, None)[:3]
    return choose_for_table(table, method, require=require, low=low, high=high, step=step, seed=seed, eps=eps)


def setting_range(text: str) -> tuple[Any, list[float]]:
    """The method, and low, high and perhaps step of its setting; InputError if the text cannot be read."""
    from equivoc.tables.cell_rounding import CellRounding
    from equivoc.tables.noisy_counts import NoisyCells
    from equivoc.tables.suppression.cell_suppression import CellSuppression

    name, _, rest = text.partition(":")
    written, comma, way = rest.partition(",")
    kinds: dict[str, Any] = {"round": CellRounding, "suppress": CellSuppression, "noisy": NoisyCells}
    try:
        numbers = [float(number) for number in written.split("..")]
    except ValueError:
        numbers = []
    if name not in kinds or len(numbers) not in (2, 3) or (comma and name != "round"):
        raise InputError(
            f"--choose is {text!r}; give round:5..60, round:5..60..5,controlled, suppress:5..30 or noisy:0.1..2."
        )
    return CellRounding(method=way) if comma else kinds[name], numbers


# ``equivoc table --compare``: several methods for one table, their risk and loss, and which to take.

CompareOption = Annotated[
    str | None,
    typer.Option(
        "--compare",
        help="Compare methods and choose one: unprotected|suppress|round:5|round:5,controlled|redesign|noisy:1.",
    ),
]
COMPARISON_FILES = ("comparison.csv", "why.csv")


def methods_from(text: str, rules: tuple[Rule, ...], hierarchies: str | None) -> list[Any]:
    """The methods that ``--compare`` names, separated by |; InputError names one that cannot be read."""
    return [_method(part.strip(), rules, hierarchies) for part in text.split("|")]


def _method(text: str, rules: tuple[Rule, ...], hierarchies: str | None) -> Any:
    from equivoc.tables.cell_rounding import CellRounding
    from equivoc.tables.noisy_counts import NoisyCells
    from equivoc.tables.redesign import Redesign
    from equivoc.tables.suppression.cell_suppression import CellSuppression
    from equivoc.techniques.unprotected import Unprotected

    name, _, setting = text.partition(":")
    if name in ("suppress", "redesign") and not rules:
        raise InputError(
            f"--compare {name} needs to know which cells are unsafe: give --rule, such as --rule p:10."
        )
    if name == "unprotected" and not setting:
        return Unprotected()
    if name == "suppress" and not setting:
        return CellSuppression(rule=rules)
    if name == "redesign" and not setting:
        if hierarchies is None:
            raise InputError("--compare redesign merges categories up their hierarchies: give --hierarchies.")
        return Redesign(rule=rules, hierarchies=hierarchies)
    if name == "round" and setting:
        base, _, method = setting.partition(",")
        return CellRounding(_number(text, base), method or "conventional")
    if name == "noisy" and setting:
        return NoisyCells(_number(text, setting))
    raise InputError(
        f"--compare holds {text!r}; give unprotected, suppress, round:5, round:5,random, round:5,controlled, redesign "
        "or noisy:1, separated by |."
    )


def _number(text: str, given: str) -> float:
    try:
        return float(given)
    except ValueError:
        raise InputError(f"--compare holds {text!r}, and {given!r} is not a number.") from None


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
MostOption = Annotated[
    int | None,
    typer.Option(
        "--most-per-contributor",
        help="With --noisy and --weights or --contributors: the most that one person or holding adds to the counts, a "
        "number that is known without the data.",
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
        from equivoc.render.table_release import table_release_facts
        from equivoc.tables.cell_rounding import CellRounding
        from equivoc.tables.noisy_counts import NoisyCells

        made = (
            self.method.release(table, self.seed)
            if isinstance(self.method, (CellRounding, NoisyCells))
            else self.method.release(table)
        )
        result = assess_table(table, made, eps=eps, require=require)
        facts = table_release_facts(result, rules=self.rules, unit=unit, record_values=record_values)
        if not page:
            return [made.table], facts, ""
        from equivoc.render.page import render

        return [made.table], facts, render(facts)


def asked_method(
    rules: tuple[Rule, ...],
    *,
    suppress: bool,
    base: float | None,
    redesign: bool,
    epsilon: float | None,
    public: bool,
    most: int | None,
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
        "--most-per-contributor": most,
    }
    _check_options(name, {**own, **assessed})
    if name in ("--suppress", "--redesign") and not rules:
        raise InputError(f"{name} needs to know which cells are unsafe: give --rule, such as --rule p:10.")
    limit: dict[str, Any] = {} if time_limit is None else {"time_limit": time_limit}
    if suppress:
        from equivoc.tables.suppression.cell_suppression import CellSuppression

        return AskedMethod(CellSuppression(rule=rules, cost=cost or "value", **limit), rules, None, False)
    if base is not None:
        from equivoc.tables.cell_rounding import CellRounding

        if seed is not None and method != "random":
            raise InputError("--seed is for random rounding: give --method random as well, or leave it out.")
        return AskedMethod(CellRounding(base, method or "conventional", **limit), rules, seed, False)
    if epsilon is not None:
        from equivoc.tables.noisy_counts import NoisyCells

        return AskedMethod(NoisyCells(epsilon, "public" if public else "data", most), rules, seed, False)
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
    fitting |= dict.fromkeys(("--public-categories", "--most-per-contributor"), ("--noisy",))
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
