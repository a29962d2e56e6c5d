"""The cases of the stored figures, by the names of the public face only: they outlive modules that move."""

from __future__ import annotations

import tempfile
from collections.abc import Mapping
from functools import cache, partial
from typing import Any

import numpy as np
import pandas as pd
from scipy.sparse import csr_array

import equivoc as eq
from equivoc import models
from tests.stored_people import (
    GROUPS,
    JOB,
    KINDS,
    TECHNIQUES,
    WAGE,
    Making,
    employees,
    everyone,
    few,
    file_of,
    others,
    people,
    released,
    workers,
)

KNOWN: Mapping[str, Any] = {"nothing": [], "two keys": ["age", "sex"], "all keys": None}
INTRUDERS = ("paper", "informed", "register", "learned", "strongest", "file", "plain")


# What is taken of a result.
def assessed(of: eq.Microdata, technique: Any, known: Any = None, *, brief: bool = True, **given: Any) -> Any:
    """Figures of an assessment; not ``brief``: of every intruder too, and what the means hide."""
    result = eq.assess(of, technique, known=known, **{"eps": [0, 500], "seed": 1} | given)
    truth, over = result.summary["truth"], result.summary["per_record"]
    shown = (result.classes, "^(size|h0|area|eps_max)$"), (result.records, "^(surprise|true_hit)_")
    numbers = [frame.filter(regex=names).to_numpy(float).ravel() for frame, names in shown]
    found = {"h0": over["h0"]["mean"], "surprise": truth["surprise"][0.0], "all": np.concatenate(numbers)}
    if brief:
        return found
    eps = max(truth["surprise"])
    found |= {"intruder": result.intruder, "area": over["area"]["mean"], "hit": over["hit"][eps]["mean"]}
    found |= {"h0 per class": result.summary["per_class"]["h0"]["mean"], "h0 p05": over["h0"]["q05"]}
    found |= {"true hit": truth["true_hit"][eps]}
    found |= {name: truth[name] for name in ("gain", "certain_right", "below_half_bit", "surprise_p05")}
    weaker = result.intruders.set_index("intruder")["surprise"].drop(result.intruder)
    return found | {f"surprise, {name}": bits for name, bits in weaker.items()}


def of_technique(name: str) -> dict[str, Any]:
    made = {
        of: assessed(workers(), TECHNIQUES[name](), known, brief=of != "all keys")
        for of, known in KNOWN.items()
    }
    table = released(name).table
    return made if table is None else {**made, "table": table.to_numpy()}


def of_kind(kind: Any) -> dict[str, Any]:
    names = ("unprotected", "sample of 50 %", "PRAM of the value", "swapping")
    return {name: assessed(people(kind), TECHNIQUES[name](), ["age"], eps=[0, 1]) for name in names}


def of_intruder(name: str) -> dict[str, Any]:
    slope = np.arange(1, len(workers().values) + 1)
    priors = {"PRAM of keys": "marginal", "noise of 20 %": slope / slope.sum(), "swapping": "uniform"}
    given = {"known": ["age"], "intruder": name}
    return {of: assessed(workers(), TECHNIQUES[of](), prior=prior, **given) for of, prior in priors.items()}


def of_draws() -> dict[str, Any]:
    result = eq.assess(
        workers(), eq.Sampling(fraction=0.2), replicates=3, require=["h0 >= 2", "gain@p95 <= 4"]
    )
    return {name: result.summary["spread"][name] for name in ("h0", "surprise")} | {"meets": result.meets}


def of_control() -> Any:
    return eq.assess(workers(), file_of("noise of 5 %"), control=others()).summary["control"]["beyond"]


def of_curve(values: Any, probabilities: Any, **more: Any) -> dict[str, Any]:
    one = eq.curve(values, probabilities, **more)
    found = {
        "h0": one.h0,
        "area": one.area_bounds,
        "eps_max": one.eps_max,
        "V(2)": one.hit(2),
        "H(2)": one(2),
    }
    found |= {"windows": np.array(one.windows(2)), "breaks": one.epsilons, "entropies": one.entropies}
    return found | {"H at breaks": one(one.epsilons)}


def of_curves(matrix: Any) -> dict[str, Any]:
    many = eq.curves(GRID, matrix)
    return {
        "h0": many.h0,
        "area": many.area,
        "eps_max": many.eps_max,
        "H(7)": many.at(7),
        "V(7)": many.hit(7),
    }


def of_measures(name: str = "", **more: Any) -> Any:
    found = eq.measures(workers(), released(name) if name else None, known=["age"], **more)
    return found.set_index("measure")["value"].to_dict()


def of_utility(name: str) -> dict[str, Any]:
    rows = eq.utility(workers(), released(name)).itertuples()
    return {f"{row.measure} {row.attribute or ''}".strip(): row.value for row in rows}


def every(measure: str, option: str, *choices: Any, **given: Any) -> dict[str, Any]:
    """A measure of the workers, with each choice of an option."""
    return {
        str(choice): getattr(models, measure)(workers(), **{option: choice}, **given) for choice in choices
    }


def of_posteriors() -> dict[str, Any]:
    post = released("noise of 20 %").posteriors(["age"])
    names = ("oganian_domingo_ferrer", "min_entropy", "bayes_vulnerability", "conditional_min_entropy")
    found = {name: getattr(models, name)(post) for name in (*names, "min_entropy_leakage")}
    return found | {of: models.trottini_fienberg(post, uncertainty=of) for of in ("variance", "entropy")}


def of_cells(method: Any, value: str | None = WAGE, rng: int | None = None) -> dict[str, Any]:
    """The published values, the attacker's bounds, what is assessed, and what is lost."""
    table = eq.tabulate(employees(), by=JOB, value=value)
    release = method.release(table) if rng is None else method.release(table, rng)
    assessed = eq.assess(table, release, eps=[0, 500]).frame[["h0", "area", "hit_500"]]
    lost = eq.utility(table, release).set_index("measure")["value"].to_dict()
    return {"table": release.table.iloc[:, -1:], "bounds": np.array(release.bounds), "all": assessed, **lost}


def of_unsafe(rule: Any, **more: Any) -> Any:
    unsafe = eq.tabulate(employees(), by=JOB, value=WAGE, **more).unsafe(rule)
    return unsafe[["value", "people", "protection"]]


def of_audit(statements: Any, of: Making = few, **more: Any) -> dict[str, Any]:
    found = eq.audit(of(), statements, **more)
    people = found.frame[["low", "high", "h0", "area"]]
    return {"people": people, "compromised": len(found.compromised), "methods": found.methods}


def of_gateway(**policy: Any) -> dict[int, Any]:
    """The answers to a short history of questions."""
    with (
        tempfile.TemporaryDirectory() as folder,
        eq.Gateway(few(), policy=policy, store=f"{folder}/g.sqlite") as gate,
    ):
        replies = [gate.ask(question, analyst="ab"[number % 2]) for number, question in enumerate(HISTORY)]
        return {reply.number: reply.value if reply.answered else "refused" for reply in replies}


def of_comparison() -> dict[str, Any]:
    techniques = [TECHNIQUES[name]() for name in ("sample of 50 %", "swapping", "rounding", "noise of 20 %")]
    limits = ["h0 >= 2", "true_hit(500)@mean <= 0.75", "k >= 1"]
    given = {"known": ["age", "sex"], "require": limits, "replicates": 2, "intruder": "informed"}
    done = eq.compare(workers(), techniques, **given)
    figures = ["h0", "area", "surprise", "true_hit", "true_hit_high", "loss", "meets", "front", "choice"]
    return {
        "why": done.why[["value", "limit", "meets"]],
        **done.frame.set_index("technique")[figures].T.to_dict(),
    }


def of_table_comparison() -> Any:
    methods = [eq.Unprotected(), *(TABLES[name] for name in ("suppression, p %", "rounding", "redesign"))]
    done = eq.compare(eq.tabulate(employees(), by=JOB, value=WAGE), methods, require=["hit(500) <= 0.6"])
    return done.frame.set_index("technique")[["hit", "cell_error", "meets", "front", "choice"]].T.to_dict()


def of_choice(technique: Any, parameter: str, *limits: str, **more: Any) -> dict[str, Any]:
    given = {"require": limits, "known": ["age"], "intruder": "informed"}
    found = eq.choose(workers(), technique, parameter, **given, **more)
    tried = found.tried.set_index(parameter).drop(columns="meets")
    return {"tried": tried.iloc[:, 0].to_dict(), "chosen": getattr(found, parameter)}


def of_study(*figures: str, **more: Any) -> Any:
    names = ("sample of 10 %", "sample of 50 %", "queries of 2", "queries of 8", "noise of 20 %")
    study = eq.Study(
        workers(), techniques=[TECHNIQUES[name]() for name in names], replicates=2, seed=0, **more
    )
    summary = study.run(progress=False).summary()
    summary.index = (
        summary["technique"] + " " + summary["parameters"] + ", " + summary["known_size"].astype(str)
    )
    return summary[list(figures)].T.to_dict()


# What is asked.
GRID = np.cumsum(np.arange(400) ** 2 % 13)  # some values are equal
ROWS = (1 + np.arange(1600).reshape(4, 400) ** 2 % 101) * (np.arange(400) % [[1], [2], [7], [40]] == 0)
MATRIX = ROWS / ROWS.sum(axis=1, keepdims=True)
UNIQUES = ("pitman", "negative-binomial", "snb", "zayatz", "log-linear", "dankar")
LOSSES = ("noise of 20 %", "sample of 50 %", "queries of 8", "Mondrian", "noisy table", "PRAM of keys")
LARGE = [50_000, 49_000, 1_000]
RULE = eq.PPercent(10)
RULES = {
    "p %": RULE,
    "pq": eq.PQ(p=60, q=90),
    "dominance": eq.Dominance(n=2, k=70),
    "threshold": eq.Threshold(6),
}
TABLES: Mapping[str, Any] = {
    **{f"suppression, {name}": eq.CellSuppression(rule=rule) for name, rule in RULES.items()},
    "rounding": eq.CellRounding(base=1000),
    "controlled rounding": eq.CellRounding(base=1000, method="controlled"),
    "redesign": eq.Redesign(rule=RULE, hierarchies={"major_occupation": GROUPS}),
}
AGES = ((16, 90), (16, 40), (17, 40), (30, 60), (30, 61), (50, 52))
RANGES = [f"age BETWEEN {low} AND {high}" for low, high in AGES]
HISTORY = [f"SELECT {of}(pay) FROM people WHERE {ages}" for of in ("SUM", "MAX", "AVG") for ages in RANGES]
SEXES = ("Female", "Male")
STATEMENTS: Mapping[str, list[str]] = {
    "groups": ["sex, COUNT(*), AVG(pay) FROM people WHERE age >= 50 GROUP BY sex"],
    "differences": ["SUM(pay) FROM people", "SUM(pay) FROM people WHERE age < 62 OR sex = 'Male'"],
    "extremes": ["MAX(pay), MIN(pay) FROM people WHERE age < 20", "MAX(pay) FROM people WHERE sex = 'Male'"],
    "overlapping": [f"AVG(pay) FROM people WHERE {who}" for who in ("age < 40", "age > 30", "sex = 'Male'")],
    "few": [f"SUM(pay) FROM people WHERE age BETWEEN {low} AND {low + 3}" for low in range(16, 62, 2)],
    "averages": [
        f"AVG(pay) FROM people WHERE age < {age} AND sex = '{sex}'" for age in (19, 21, 60) for sex in SEXES
    ],
    "medians": ["MEDIAN(pay) FROM people WHERE age < 18", "VARIANCE(pay) FROM people WHERE age > 65"],
}


@cache
def five() -> eq.Microdata:
    """The people of the paper's examples."""
    frame = {"Sex": list("FFMMM"), "Age": [30, 41, 37, 37, 52], "Salary": [50, 107, 77, 80, 60]}
    return eq.Microdata(
        pd.DataFrame(frame), confidential="Salary", keys=["Sex", "Age"], domain=range(10, 151)
    )


def examples(condition: str) -> list[str]:
    """The paper's: the highest and the average salary of two people."""
    return [f"SELECT {of}(Salary) FROM people WHERE {condition}" for of in ("MAX", "AVG")]


CASES: Mapping[str, Making] = {
    "measure: four values": partial(of_curve, [1, 3, 8, 9], [0.15, 0.1, 0.7, 0.05]),
    "measure: many values": partial(of_curve, GRID, MATRIX[0]),
    "measure: many differences, certified": partial(of_curve, GRID**2, MATRIX[0], tolerance=1e-3),
    "measure: rows": partial(of_curves, MATRIX),
    "measure: sparse rows": partial(of_curves, csr_array(MATRIX)),
    "measure: one tolerance": lambda: [eq.entropy_at(GRID, MATRIX[0], eps) for eps in (0, 1, 10, 500)],
    **{f"technique: {name}": partial(of_technique, name) for name in TECHNIQUES},
    **{f"intruder: {name}": partial(of_intruder, name) for name in INTRUDERS},
    **{f"people: {name}": partial(of_kind, kind) for name, kind in KINDS.items()},
    "people: two attributes": lambda: (
        eq.assess(people([WAGE, KINDS["tree"]]), eq.Swapping(rate=0.3)).together
    ),
    "people: weights": lambda: assessed(people(weights="weight"), eq.Sampling(fraction=0.5), ["age"]),
    "people: 2,500": lambda: assessed(everyone(WAGE), eq.Unprotected(), [], brief=False),
    "people: 2,500, certified": lambda: assessed(
        everyone(WAGE), eq.Unprotected(), [], brief=False, tolerance=0.01
    ),
    "people: three draws": of_draws,
    "people: a control group": of_control,
    "people: budgets": lambda: eq.budget(workers(), known=["age"], budgets=[0.5, 2, 10], eps=500).frame,
    "model: k": partial(every, "k_anonymity", "known", ["sex"], []),
    "model: alpha, k": partial(every, "alpha_k_anonymity", "known", ["sex"]),
    "model: l": partial(every, "l_diversity", "kind", "distinct", "entropy", known=["sex"]),
    "model: l, recursive": partial(every, "l_diversity", "c", 3, known=["sex"], kind="recursive"),
    "model: t": partial(every, "t_closeness", "distance", "ordered", "equal", known=["age"]),
    "model: beta": partial(every, "beta_likeness", "kind", "basic", "enhanced", known=["sex"]),
    "model: delta": partial(every, "delta_disclosure", "absent", True, False, known=["sex"]),
    "model: presence": lambda: models.delta_presence(workers(), population=everyone(), known=["sex"]),
    "model: prosecutor": partial(every, "prosecutor_risk", "threshold", 0.2, 0.4),
    "model: journalist": lambda: models.journalist_risk(workers(), population=everyone()),
    "model: marketer": lambda: models.marketer_risk(workers(), population=everyone()),
    "model: individual": lambda: models.individual_risk(people(weights="weight")).risk,
    "model: uniques": lambda: [
        models.population_uniques(workers(), fraction=0.1, model=model).uniques for model in UNIQUES
    ],
    "model: suda": lambda: models.suda(workers()).frame()[["suda", "dis_suda"]],
    "model: suda by key": lambda: models.suda(workers()).by_key,
    "model: Skinner, Elliot": lambda: models.skinner_elliot(workers(), released("sample of 50 %")),
    "model: Truta": lambda: models.truta(workers(), released("sample of 50 %")),
    "model: Spruill": lambda: [
        models.spruill(workers(), released("noise of 20 %"), distance=of) for of in ("squared", "absolute")
    ],
    "model: singling out": lambda: models.singling_out(
        workers(), released("file of noise"), control=others()
    ),
    "model: membership": lambda: models.membership_inference(
        workers(), released("file of noise"), control=others()
    ),
    "model: posteriors": of_posteriors,
    "model: leakage": lambda: [
        models.maximal_leakage(released(name)) for name in ("noise of 20 %", "swapping")
    ],
    "model: cells": lambda: [
        models.dominance(LARGE),
        models.p_percent(LARGE, p=10),
        models.pq_rule(LARGE, p=9, q=50),
    ],
    "model: all, of the file": of_measures,
    "model: all, of a sample": partial(of_measures, "sample of 50 %"),
    "model: all, generalised": partial(of_measures, "Mondrian"),
    "model: all, with a control group": lambda: of_measures("noise of 20 %", control=others()),
    **{f"utility: {name}": partial(of_utility, name) for name in LOSSES},
    **{f"table: unsafe, {name}": partial(of_unsafe, rule) for name, rule in RULES.items()},
    "table: unsafe, industries": partial(of_unsafe, RULE, contributors="major_industry"),
    **{f"table: {name}": partial(of_cells, method) for name, method in TABLES.items()},
    "table: random rounding": partial(of_cells, eq.CellRounding(base=1000, method="random"), rng=7),
    "table: noisy counts": partial(of_cells, eq.NoisyCells(epsilon=1, levels="public"), None, rng=7),
    "table: compared": of_table_comparison,
    "audit: women": partial(of_audit, examples("Sex = 'F'"), five),
    "audit: age 37": partial(of_audit, examples("Age = 37"), five),
    **{
        f"audit: {name}": partial(of_audit, [f"SELECT {of}" for of in asked])
        for name, asked in STATEMENTS.items()
    },
    "audit: ranges, marginal": partial(of_audit, HISTORY[:6], prior="marginal"),
    "audit: sampled": partial(of_audit, [f"SELECT {of}" for of in STATEMENTS["overlapping"]], work=3e5),
    "gateway: everyone": partial(of_gateway, least_people=3),
    "gateway: one analyst": partial(of_gateway, least_people=5, share=0.05, draws=30, scope="analyst"),
    "gateway: not simulatable": partial(of_gateway, least_people=3, simulatable=False),
    "gateway: edges": partial(of_gateway, least_people=3, edges={"age": [20, 30, 40, 50, 60]}),
    "decision: comparison": of_comparison,
    "decision: noise": partial(
        of_choice, eq.NoiseAddition, "percent", "true_hit(500) <= 0.6", low=1, high=100
    ),
    "decision: suppression": partial(of_choice, eq.Suppression, "k", "k >= 4", low=2, high=8),
    "decision: swapping": partial(of_choice, eq.Swapping, "rate", "h0 >= 3.5", low=0.1, high=0.9, step=0.1),
    "study: informed": partial(of_study, "h0_record", "surprise", known_sizes=[0, 2]),
    "study: the paper's": partial(of_study, "h0", "area", intruder="paper", prior="uniform"),
}
