"""Deliberate faults: a description, the right source text, the wrong one, and the tests that must fail.

A fault names its package, not its file, so that this list need not change when code is moved. The right text occurs
exactly once in the package; `tests/test_faults.py` checks this in every run.
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

SOURCE = Path(__file__).resolve().parents[1] / "src" / "equivoc"
ORACLES = "tests/measure/test_against_oracles.py"
WORKED = "tests/measure/test_worked_values.py"
TIES = "tests/measure/test_ties.py"
PROPERTIES = "tests/measure/test_properties.py"
LOGARITHM = "tests/measure/test_logarithm.py"
MANY = "tests/measure/test_curves.py"
CERTIFIED = "tests/measure/test_certified_area.py"
ESTIMATED = "tests/measure/test_estimated_area.py"
TREE = "tests/measure/test_tree.py"
LINKAGE = "tests/intruder/test_key_linkage.py"
NOISE = "tests/intruder/test_binomial_noise.py"


@dataclass(frozen=True)
class Fault:
    what: str
    package: str
    right: str
    wrong: str
    tests: tuple[str, ...]

    def file(self, source: Path = SOURCE) -> Path:
        """The one file of the package that holds the right text, once; LookupError if there is none or more."""
        holding = [
            path
            for path in sorted((source / self.package).rglob("*.py"))
            for _ in range(path.read_text(encoding="utf-8").count(self.right))
        ]
        if len(holding) != 1:
            raise LookupError(
                f"{self.package}/ holds {self.right!r} {len(holding)} times, not once: "
                f"bring the fault {self.what!r} in tests/kernel_faults.py up to date."
            )
        return holding[0]


def _measure(what: str, right: str, wrong: str, *tests: str) -> Fault:
    return Fault(what, "measure", right, wrong, tests)


def _intruder(what: str, right: str, wrong: str, *tests: str) -> Fault:
    return Fault(what, "intruder", right, wrong, tests)


def _channel(what: str, right: str, wrong: str, *tests: str) -> Fault:
    return Fault(what, "channels", right, wrong, tests)


def _linkage(what: str, right: str, wrong: str, *tests: str) -> Fault:
    return Fault(what, "linkage", right, wrong, tests)


def _release(what: str, right: str, wrong: str, *tests: str) -> Fault:
    return Fault(what, "releases", right, wrong, tests)


def _technique(what: str, right: str, wrong: str, *tests: str) -> Fault:
    return Fault(what, "techniques", right, wrong, tests)


FAULTS = [
    # How far a window reaches, and what a mass costs.
    _measure(
        "reach: no allowance for rounding",
        "return eps + min(TIE_ROUNDING",
        "return eps + 0.0 * min(TIE_ROUNDING",
        TIES,
        ORACLES,
    ),
    _measure(
        "reach: only the upper end's size counts",
        "max(abs(lowest), abs(highest))",
        "abs(highest)",
        TIES,
        ORACLES,
    ),
    _measure(
        "best window: a difference equal to the limit is left out",
        "while x[i] - x[k] > limit:\n            k += 1\n        mass",
        "while k < i and x[i] - x[k] >= limit:\n            k += 1\n        mass",
        WORKED,
        ORACLES,
    ),
    _measure(
        "best window: the mass starts one late",
        "mass = cum[i + 1] - cum[k]",
        "mass = cum[i + 1] - cum[min(k + 1, i)]",
        WORKED,
        ORACLES,
    ),
    _measure("the logarithm's series cut short", "(C5 + z * C7)", "C5", LOGARITHM),
    _measure("the logarithm's exponent off", "4503599627371519.0", "4503599627371520.0", LOGARITHM),
    # One tolerance, many values.
    _measure(
        "search: only the first end that arrives",
        "if ahead_down_to < here:",
        "if top < 0 and ahead_down_to < here:",
        ORACLES,
    ),
    # Every jump.
    _measure(
        "search: starts before the block are not tried",
        "_better(cost, cum, older, i, best, source)",
        "best",
        ORACLES,
    ),
    _measure(
        "search: starts in the block are not tried",
        "_better(cost, cum, stack[top], i, best, source)",
        "min(best, np.inf)",
        ORACLES,
    ),
    _measure(
        "search: windows that reach no further right are not tried",
        "best = _better(cost, cum, j, i, best, source)",
        "best = best",
        ORACLES,
    ),
    _measure("search: the block is one too long", "first[stop] < begin:", "first[stop] <= begin:", ORACLES),
    _measure(
        "search: starts that no longer reach", "while first[i] > j:", "while first[i] > j + 1:", ORACLES
    ),
    _measure(
        "cells: the lower bound is none",
        "low = least_costs(sums, lows, highs, eps, cost, source)",
        "low = least_costs(sums, highs, lows, eps, cost, source)",
        CERTIFIED,
    ),
    _measure(
        "cells: the upper bound is none",
        "return low, least_costs(sums, highs, lows, eps, cost, source)",
        "return low, low",
        CERTIFIED,
    ),
    _measure("estimate: H falls evenly with ε", "if a == 0.0:", "if a >= 0.0:", ESTIMATED),
    _measure("estimate: settled too early", "SETTLED = 0.005", "SETTLED = 0.05", ESTIMATED),
    _measure(
        "tree: the top in place of the leaves",
        "self.entropies[:, :-1].sum",
        "self.entropies[:, 1:].sum",
        TREE,
    ),
    _measure(
        "jumps: a window that others follow never starts just out of the last value's reach",
        "_least_sum(cost, table, row, k, min(i, last))",
        "_least_sum(cost, table, row, k, min(i, last - 1))",
        ORACLES,
    ),
    _measure(
        "jumps: small ones taken for rounding",
        "SAME_LEVEL = 7e-13",
        "SAME_LEVEL = 7e-4",
        ORACLES,
        PROPERTIES,
    ),
    _measure(
        "jumps: of equal costs, the wider windows",
        "min(width[j], max(end - x[j], after))",
        "max(0.0 if width[j] == np.inf else width[j], end - x[j], after)",
        ORACLES,
        PROPERTIES,
    ),
    _measure(
        "curve: ε at a jump belongs to the level before",
        'np.searchsorted(epsilons, reach, side="right")',
        'np.searchsorted(epsilons, reach, side="left")',
        WORKED,
        ORACLES,
    ),
    _measure(
        "equal values: the first one's probability",
        "np.add.reduceat(p, first)",
        "p[first]",
        ORACLES,
    ),
    # Many rows.
    _measure(
        "lanes: areas one step off",
        "area[block + a] += h * steps[e]",
        "area[block + a] += h * steps[e - 1]",
        MANY,
    ),
    _measure(
        "lanes: a start too many is skipped",
        "        j, past = starts[i - 1], i if",
        "        j, past = min(starts[i - 1] + 1, i - 1), i if",
        MANY,
    ),
    _measure(
        "lanes: groups that others follow start one too early",
        "min(i, starts[n - 1])",
        "min(i, starts[n - 1] - 1)",
        MANY,
    ),
    _measure("lanes: half the entropy", "h = max((cost[n * LANES", "h = max(0.5 * (cost[n * LANES", MANY),
    _measure("lanes: counts are taken for probabilities", "rows[row, i] / totals[row]", "rows[row, i]", MANY),
    _measure(
        "rows: impossible values count",
        "        if weights[t] > 0:\n            x[s]",
        "        if weights[t] >= 0:\n            x[s]",
        MANY,
        PROPERTIES,
    ),
    _measure(
        "rows: one fingerprint, one row",
        "                    same = False\n",
        "                    same = True\n",
        MANY,
    ),
    _measure(
        "rows: columns of equal values are not added up",
        "np.add.reduceat(matrix, begins, axis=1)",
        "matrix[:, begins]",
        MANY,
    ),
    # What an intruder believes.
    _channel(
        "Bayes' rule without the prior",
        "transition.T.max(axis=1)) * (believed / believed.max())",
        "transition.T.max(axis=1)) * np.ones(size)",
        NOISE,
    ),
    _channel(
        "Bayes' rule on the table, not on its transpose",
        "joint = divide_rows(transition.T, transition.T.max(axis=1))",
        "joint = divide_rows(transition, transition.max(axis=1))",
        "tests/techniques/test_pram.py",
    ),
    _linkage(
        "linkage: what an earlier key said is forgotten",
        "weight = weights[k, i] * likelihoods[begin + released[k, record]]",
        "weight = likelihoods[begin + released[k, record]]",
        LINKAGE,
    ),
    _linkage(
        "linkage: records alike count as one",
        "sum_so_far = weights[source, i] + (0.0 if opens else sum_so_far)",
        "sum_so_far = weights[source, i]",
        LINKAGE,
    ),
    _channel(
        "noise: everything lands one rank lower",
        "centred = moved - amplitude // 2\n",
        "centred = moved - amplitude // 2 - 1\n",
        NOISE,
    ),
    _channel(
        "noise: the farthest move is taken for impossible",
        "near = (distance <= amplitude // 2)",
        "near = (distance < max(amplitude // 2, 1))",
        NOISE,
    ),
    _release(
        "record linkage: agreement counts twice",
        "found * (agree - disagree)",
        "found * agree",
        "tests/techniques/test_released_file.py",
    ),
    _channel(
        "swapping: a value may be its own partner",
        "1.0 - self.share - self.share / others",
        "1.0 - self.share",
        "tests/techniques/test_swapping.py",
    ),
    _channel(
        "geometric noise: a value that was not moved counts twice",
        "upward + downward - weights",
        "upward + downward",
        "tests/techniques/test_geometric_noise.py",
    ),
    _technique(
        "noisy table: twice the noise that the budget asks for",
        "scale=1 / self.epsilon",
        "scale=2 / self.epsilon",
        "tests/techniques/test_noisy_table.py",
    ),
    _technique(
        "random rounding: up as often as it should be down",
        "share = numbers / self.base - steps\n",
        "share = 1 - (numbers / self.base - steps)\n",
        "tests/techniques/test_rounding.py",
    ),
    _technique(
        "sampling: those who are not drawn are counted with those who are",
        "np.bincount(people.codes[drawn], minlength=values) / size",
        "np.bincount(people.codes, minlength=values) / len(people.codes)",
        "tests/techniques/test_sampling.py",
    ),
    _linkage(
        "conditional Bernoulli: the power series of improbable records has the wrong sign in every second term",
        "(sums[k] if k % 2 else -sums[k]) / k",
        "sums[k] / k",
        "tests/intruder/beliefs/test_conditional_bernoulli.py",
    ),
    _linkage(
        "informed linkage: a class shares the list of another block's records",
        "if c > begin and first[c] == first[c - 1] and past[c] == past[c - 1]:",
        "if c > begin:",
        "tests/intruder/beliefs/test_informed_linkage.py",
    ),
    _intruder(
        "informed: all levels of a changed key are equally likely beforehand",
        "joint = likelihood * levels",
        "joint = likelihood * (levels > 0)",
        "tests/intruder/strengths/test_by_enumeration.py",
    ),
    _intruder(
        "informed: the prior is not used",
        "return channel.with_prior(prior)",
        "return channel",
        "tests/intruder/strengths/test_by_enumeration.py",
    ),
    _linkage(
        "informed linkage: records alike with one symbol count once",
        "gathered[symbols[j]] += share * counts[j]",
        "gathered[symbols[j]] += share",
        "tests/intruder/beliefs/test_informed_linkage.py",
    ),
    # Answers to queries: bounds, sampled sums, the gateway's draws and its rank rule.
    Fault(
        "shortest paths: of two limits on the same difference the looser one is kept",
        "systems/bounds",
        "order = np.lexsort((length, head, tail))",
        "order = np.lexsort((-length, head, tail))",
        ("tests/queries/bounds/test_person_bounds.py",),
    ),
    Fault(
        "linear programs: a lower bound counts as open although the others cannot take up what she leaves",
        "systems/bounds",
        "return np.maximum(floor + others * cap, low)",
        "return np.maximum(floor + part.sizes * cap, low)",
        ("tests/queries/bounds/test_person_bounds.py",),
    ),
    Fault(
        "Gibbs sampling: all lengths of a move are equally likely",
        "systems/posteriors",
        "log += tables.log_weight[tables.total_at[a] + sums[a] + length * tables.move_step[k]]",
        "log += 0.0 * tables.log_weight[tables.total_at[a] + sums[a] + length * tables.move_step[k]]",
        ("tests/queries/posteriors/test_gibbs.py",),
    ),
    Fault(
        "drawn databases: a person who gives never falls to her least value",
        "gateway",
        "begin, end = max(begin, x[i] - high[i]), min(end, x[i] - low[i])",
        "begin, end = max(begin, x[i] - high[i]), min(end, max(x[i] - low[i] - 1, 0))",
        ("tests/gateway/test_answer_pool.py",),
    ),
    Fault(
        "drawn databases: the sides of the goal have each other's weight",
        "gateway",
        "downwards = _fraction(state) * (below + above) < below",
        "downwards = _fraction(state) * (below + above) < above",
        ("tests/gateway/test_chain_kernels.py",),
    ),
    Fault(
        "disclosure: people who cannot move at all are not noticed",
        "gateway",
        "if total == 0.0 or greatest",
        "if greatest",
        ("tests/gateway/test_chain_kernels.py",),
    ),
    Fault(
        "rank rule: known sums of one person fewer than the limit allows are looked for",
        "gateway",
        "if 0 < together <= most_people and",
        "if 0 < together < most_people and",
        ("tests/gateway/test_rank_rule.py",),
    ),
    Fault(
        "singling out: records with a null meet every condition on its number",
        "models/of_release",
        "return value <= wanted",
        "return not value > wanted",
        ("tests/models/test_singling_out.py",),
    ),
    # Tables of cells.
    Fault(
        "contributions: a new largest one replaces the second largest as well",
        "tables",
        "if place + 1 < top.shape[1]:",
        "if place + 2 < top.shape[1]:",
        ("tests/tables/test_tabulate.py",),
    ),
]
