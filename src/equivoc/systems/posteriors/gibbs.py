"""Gibbs sampling of atom sums: four chains from different starts, their agreement, and the error that is left.

A move shifts the sums of a few atoms along a direction that keeps all known sums, by a length drawn from its exact
conditional distribution. What is averaged is not the sampled sum but the probabilities of all sums that the move
could have led to (Rao and Blackwell), and a person's distribution given the sum.
"""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from equivoc.systems.posteriors.components import Component
from equivoc.systems.posteriors.exact import draw_states
from equivoc.systems.posteriors.gibbs_kernels import ChainTables, sweeps
from equivoc.systems.posteriors.moves import Move, component_moves, component_order
from equivoc.systems.posteriors.sum_tables import CAP, SumTable
from equivoc.systems.system import ContradictionError

_MOST_VARIABLES = 200_000
_MOST_NODES = 20_000


def starting_point(
    component: Component,
    tables: tuple[SumTable, ...],
    *,
    order: NDArray[np.int64] | None = None,
    objective: NDArray[np.float64] | None = None,
) -> NDArray[np.int64] | None:
    """Sums that fit, a vertex in the direction of ``objective`` (None: any, always the same); None if not found.

    ``order``: of the atoms, if known sums are runs in it: prefix sums as variables then make a much smaller program.
    ContradictionError if nothing fits.
    """
    from scipy.optimize import Bounds, LinearConstraint, milp
    from scipy.sparse import csr_array

    program = _program(component, tables)
    if program is None:
        return None
    rows, low, high, least, greatest = program
    variables = len(least)
    if order is not None:
        rows, low, high = _in_prefix_sums(rows, low, high, least, greatest, order)
    cost = np.zeros(variables)
    if objective is not None:
        cost[: len(component.atoms)] = objective
        if order is not None:
            cost[order] = objective[order] - np.append(objective[order][1:], 0.0)
    matrix = csr_array(
        (
            [value for row in rows for value in row.values()],
            ([r for r, row in enumerate(rows) for _ in row], [c for row in rows for c in row]),
        ),
        shape=(len(rows), variables),
    )
    found = milp(
        cost,
        integrality=np.ones(variables),
        bounds=Bounds(np.array(least), np.array(greatest)),
        constraints=[LinearConstraint(matrix, np.array(low), np.array(high))] if rows else [],
        # Any point will do: the search need not prove that it is the best one.
        options={"node_limit": _MOST_NODES, "mip_rel_gap": 1e6},
    )
    if found.status == 2:
        raise ContradictionError()
    if found.x is None:
        return None
    point = np.rint(found.x[: len(component.atoms)])
    if order is not None:
        point[order] = np.diff(point[order], prepend=0.0)
    return np.asarray(point, dtype=np.int64)


def _in_prefix_sums(
    rows: list[dict[int, float]],
    low: list[float],
    high: list[float],
    least: list[float],
    greatest: list[float],
    order: NDArray[np.int64],
) -> tuple[list[dict[int, float]], list[float], list[float]]:
    """The same program with the variable of each atom replaced by the sum of all atoms up to it (limits in place)."""
    before = dict(zip(order[1:].tolist(), order[:-1].tolist(), strict=True))
    atoms = set(order.tolist())
    single = [{atom: 1.0} for atom in order.tolist()]
    low = low + [least[atom] for atom in order]
    high = high + [greatest[atom] for atom in order]
    changed = []
    for row in [*rows, *single]:
        new: dict[int, float] = {}
        for variable, value in row.items():
            new[variable] = new.get(variable, 0.0) + value
            if variable in atoms and variable in before:
                new[before[variable]] = new.get(before[variable], 0.0) - value
        changed.append({variable: value for variable, value in new.items() if value})
    for atom in atoms:
        least[atom], greatest[atom] = 0.0, np.inf
    return changed, low, high


def _program(
    component: Component, tables: tuple[SumTable, ...]
) -> tuple[list[dict[int, float]], list[float], list[float], list[float], list[float]] | None:
    """Rows with limits, then limits of the variables: the sums, a 0-1 variable per (atom, flag), people per value."""
    least = component.low.astype(np.float64).tolist()
    greatest = component.high.astype(np.float64).tolist()
    rows: list[dict[int, float]] = [dict.fromkeys(row.tolist(), 1.0) for row in component.rows]
    low = [float(total) for total in component.totals]
    high = list(low)
    raised: dict[tuple[int, int], int] = {}
    for extreme in component.extremes:
        for key in extreme:
            if key not in raised:
                raised[key] = len(least)
                least.append(0.0)
                greatest.append(1.0)
        rows.append({raised[key]: 1.0 for key in extreme})
        low.append(1.0)
        high.append(np.inf)
    for (atom, flag), variable in raised.items():
        domain, people = tables[atom].domain, tables[atom].people
        # Somebody at the cap: the sum is at least one span; somebody at the floor: at least one span is missing.
        if flag == CAP:
            rows.append({atom: 1.0, variable: -float(domain.steps)})
            low.append(0.0)
            high.append(np.inf)
        else:
            rows.append({atom: 1.0, variable: float(domain.steps)})
            low.append(-np.inf)
            high.append(float(people * domain.steps))
    gaps = [a for a, table in enumerate(tables) if len(table.domain.positions) != table.domain.steps + 1]
    if len(least) + sum(len(tables[a].domain.positions) for a in gaps) > _MOST_VARIABLES:
        return None
    for atom in gaps:
        # Not every sum between two possible ones is possible: count the people at each value.
        positions = tables[atom].domain.positions
        first = len(least)
        least.extend([0.0] * len(positions))
        greatest.extend([float(tables[atom].people)] * len(positions))
        rows.append({first + i: 1.0 for i in range(len(positions))})
        low.append(float(tables[atom].people))
        high.append(float(tables[atom].people))
        rows.append({atom: -1.0} | {first + i: float(p) for i, p in enumerate(positions) if p})
        low.append(0.0)
        high.append(0.0)
        for flag, place in ((CAP, len(positions) - 1), (3 - CAP, 0)):
            if (atom, flag) in raised:
                rows.append({first + place: 1.0, raised[atom, flag]: -1.0})
                low.append(0.0)
                high.append(np.inf)
    return rows, low, high, least, greatest


CHAINS = 4
HALVES = 2
_FIRST_ROUND = 8
# Chains that have not left their own sums after so many sweeps never will.
_STUCK = 1_000
_MOST_RECORD = 4e7
# Gelman and Rubin's R-hat above this: the chains do not agree yet. With eight parts, 1.05 is some 80 independent draws.
AGREED = 1.05


@dataclass(frozen=True, eq=False)
class Chain:
    """A component made ready for sampling: compiled tables, the starts, and what is proved about the moves."""

    tables: ChainTables
    starts: tuple[tuple[NDArray[np.int64], NDArray[np.int64]], ...] = field(repr=False)
    """(sums, states of the flags) of each chain's start."""
    extremes: int
    record: int
    """Length of a record of probabilities."""
    reaches_everything: bool

    def covered(self, states: NDArray[np.int64]) -> NDArray[np.int64]:
        """How many atoms attain each extreme."""
        found = np.zeros(self.extremes, dtype=np.int64)
        for atom, state in enumerate(states):
            for e in range(self.tables.extreme_at[atom], self.tables.extreme_at[atom + 1]):
                found[self.tables.extreme[e]] += bool(state & self.tables.extreme_flag[e])
        return found


@dataclass(frozen=True, eq=False)
class Sampled:
    """A person's distribution in each atom of the component, averaged over the chains.

    Where the chains do not agree, their average would show more uncertainty than each of them: there it is the
    distribution of the chain with the least entropy, if that leaves more than one value.
    """

    person: tuple[NDArray[np.float64], ...] = field(repr=False)
    error: NDArray[np.float64]
    """The standard error of each atom's largest probability, from the spread of independent parts of the chains."""
    r_hat: NDArray[np.float64]
    """Of each atom's sum; near 1: the chains agree."""
    promised: bool
    """The moves reach everything, and the chains agree."""
    sweeps: int
    """Sweeps of each chain, warm-up included."""


def prepare(component: Component, tables: tuple[SumTable, ...], *, seed: int) -> Chain | None:
    """Find starts and moves; None if they cannot be found in reasonable work."""
    order = component_order(component)
    first = starting_point(component, tables, order=order)
    if first is None:
        return None
    found = component_moves(component, first, order, seed=seed)
    if found is None:
        return None
    compiled, record = _compile(component, tables, found.moves)
    no_gaps = all(len(table.domain.positions) == table.domain.steps + 1 for table in tables)
    rng = np.random.default_rng([seed, 1])
    starts = [first]
    for _ in range(CHAINS - 1):
        direction = rng.standard_normal(len(component.atoms))
        other = starting_point(component, tables, order=order, objective=direction)
        starts.append(first if other is None else other)
    with_states = tuple((point, _states(component, tables, point, rng)) for point in starts)
    return Chain(
        compiled,
        with_states,
        len(component.extremes),
        record,
        found.reach_everything and no_gaps and not component.extremes,
    )


def _states(
    component: Component, tables: tuple[SumTable, ...], point: NDArray[np.int64], rng: np.random.Generator
) -> NDArray[np.int64]:
    if not component.extremes:
        return np.zeros(len(point), dtype=np.int64)
    return draw_states(component, tables, point, rng)


def _compile(
    component: Component, tables: tuple[SumTable, ...], moves: list[Move]
) -> tuple[ChainTables, int]:
    raised: list[list[tuple[int, int]]] = [[] for _ in tables]
    for number, extreme in enumerate(component.extremes):
        for atom, flag in extreme:
            raised[atom].append((number, flag))
    # Flags of all atoms of an extreme are also drawn anew together, with their sums as they are.
    moves = list(moves)
    for extreme in component.extremes:
        atoms = np.array(sorted({atom for atom, _ in extreme}), dtype=np.int64)
        moves.append((atoms, np.zeros(len(atoms), dtype=np.int64)))
    at: dict[int, tuple[int, int]] = {}
    logs: list[NDArray[np.float64]] = []
    used, concave = 0, True
    for table in tables:
        if id(table) in at:
            continue
        total = np.logaddexp.reduce(table.log_weight, axis=0)
        concave = concave and bool(
            np.isfinite(total).all() and (np.diff(total, n=2) <= 1e-9 * (1 + np.abs(total[1:-1]))).all()
        )
        flags_at = used + len(total) if table.domain.flags else -1
        at[id(table)] = (used, flags_at)
        logs.append(total)
        used += len(total)
        if flags_at >= 0:
            logs.append(table.log_weight.reshape(-1))
            used += table.log_weight.size
    moving = np.zeros(len(tables), dtype=bool)
    flagged = np.array([table.domain.flags > 0 for table in tables])
    plain = flagged.copy()
    for atoms, steps in moves:
        moving[atoms[steps != 0]] = True
        if flagged[atoms].any():
            plain[atoms] = True
    span = (component.high - component.low + 1) * np.where(flagged, 4, 1)
    compiled = ChainTables(
        low=component.low,
        high=component.high,
        log_weight=np.concatenate(logs),
        total_at=np.array([at[id(t)][0] for t in tables], dtype=np.int64),
        flags_at=np.array([at[id(t)][1] for t in tables], dtype=np.int64),
        width=np.array([t.log_weight.shape[1] for t in tables], dtype=np.int64),
        move_at=np.concatenate([[0], np.cumsum([len(a) for a, _ in moves])]).astype(np.int64),
        move_atom=np.concatenate([np.empty(0, np.int64), *(a for a, _ in moves)]).astype(np.int64),
        move_step=np.concatenate([np.empty(0, np.int64), *(s for _, s in moves)]).astype(np.int64),
        extreme_at=np.concatenate([[0], np.cumsum([len(r) for r in raised])]).astype(np.int64),
        extreme=np.array([number for r in raised for number, _ in r], dtype=np.int64),
        extreme_flag=np.array([flag for r in raised for _, flag in r], dtype=np.int64),
        log_concave=concave,
        plain=plain | ~moving,
        record_at=np.concatenate([[0], np.cumsum(span)[:-1]]).astype(np.int64),
    )
    return compiled, int(span.sum())


def sample(
    component: Component,
    tables: tuple[SumTable, ...],
    *,
    seed: int,
    work: float,
    target: float,
    chain: Chain | None = None,
    threads: int = 2,
) -> Sampled | None:
    """Sample until the chains agree and every error is at most ``target``, or ``work`` look-ups are spent.

    Rounds double in length, and only the last one counts: half of the work is warm-up. None if there is no start.
    """
    ready = chain or prepare(component, tables, seed=seed)
    if ready is None or ready.record * CHAINS * HALVES > _MOST_RECORD * 8:
        return None
    state = [(s.copy(), f.copy(), ready.covered(f)) for s, f in ready.starts]
    rngs = [np.random.default_rng([seed, 2, number]) for number in range(len(state))]
    spent, done, count = 0, 0, _FIRST_ROUND
    while True:
        records = np.zeros((len(state), HALVES, ready.record))
        moments = np.zeros((len(state), HALVES, 2, len(component.atoms)))

        def run(number: int, count: int = count, records=records, moments=moments) -> int:  # type: ignore[no-untyped-def]
            own, part = (ready.tables, *state[number], count, rngs[number]), records[number]
            return sum(sweeps(*own, part[half], *moments[number, half]) for half in range(HALVES))

        with ThreadPoolExecutor(threads) as pool:
            cost = sum(pool.map(run, range(len(state))))
        spent += cost
        done += count * HALVES
        agreement = _r_hat(moments, count)
        worst = float(agreement.max())
        stuck = np.isinf(worst) and done >= _STUCK
        last = spent + 2 * cost > work or stuck
        if last or worst <= AGREED:
            person, error = _averages(component, tables, ready, records, agreement > AGREED)
            if last or error.max() <= target:
                promised = ready.reaches_everything and worst <= AGREED
                return Sampled(person, error, agreement, promised, done)
        count *= 2


def _r_hat(moments: NDArray[np.float64], count: int) -> NDArray[np.float64]:
    """The split R-hat of each atom's sum."""
    parts = moments.reshape(-1, 2, moments.shape[-1])
    mean = parts[:, 0] / count
    variance = np.maximum(parts[:, 1] / count - mean**2, 0) * count / max(count - 1, 1)
    within = variance.mean(axis=0)
    between = mean.var(axis=0, ddof=1)
    # The sums of squares lose digits; what is below is rounding.
    tiny = 1e-12 * np.maximum(mean**2, 1).max(axis=0)
    moving = (within > tiny) | (between > tiny)
    with np.errstate(divide="ignore", invalid="ignore"):
        ratio = np.sqrt((count - 1) / count + between / np.where(within > tiny, within, 0.0))
    return np.asarray(np.where(moving, ratio, 1.0), dtype=np.float64)


def _averages(
    component: Component,
    tables: tuple[SumTable, ...],
    ready: Chain,
    records: NDArray[np.float64],
    rough: NDArray[np.bool_],
) -> tuple[tuple[NDArray[np.float64], ...], NDArray[np.float64]]:
    """A person's distribution from all records, and the standard error of its largest probability.

    For ``rough`` atoms, on which the chains do not agree: from the records of one chain.
    """
    parts = records.reshape(-1, ready.record)
    person: list[NDArray[np.float64]] = [np.empty(0)] * len(tables)
    error = np.zeros(len(tables))
    kinds: dict[int, list[int]] = {}
    for atom, table in enumerate(tables):
        kinds.setdefault(id(table), []).append(atom)
    for atoms in kinds.values():
        table = tables[atoms[0]]
        for start in range(0, len(atoms), 64):
            group = atoms[start : start + 64]
            first = int(component.low[group].min())
            width = int(component.high[group].max()) - first + 1
            states = len(table.log_weight)
            spread = np.zeros((len(parts), len(group), states, width))
            for place, atom in enumerate(group):
                begin, own = (
                    int(ready.tables.record_at[atom]),
                    int(component.high[atom] - component.low[atom]) + 1,
                )
                taken = parts[:, begin : begin + states * own].reshape(len(parts), states, own)
                shift = int(component.low[atom]) - first
                spread[:, place, :, shift : shift + own] = taken / taken.sum(axis=(1, 2), keepdims=True)
            each = table.person(spread.reshape(-1, states, width), first=first)
            each = each.reshape(len(parts), len(group), -1)
            mean = each.mean(axis=0)
            top = mean.argmax(axis=1)
            for place, atom in enumerate(group):
                own_chains = each[:, place].reshape(len(records), HALVES, -1).mean(axis=1)
                person[atom] = _least_uncertain(own_chains) if rough[atom] else mean[place]
                error[atom] = each[:, place, top[place]].std(ddof=1) / len(parts) ** 0.5
    return tuple(person), error


def _least_uncertain(chains: NDArray[np.float64]) -> NDArray[np.float64]:
    """The distribution with the least entropy; their mean if it has one value only, since others have others.

    >>> _least_uncertain(np.array([[0.5, 0.5], [0.9, 0.1]])).tolist()
    [0.9, 0.1]
    >>> _least_uncertain(np.array([[1.0, 0.0], [0.0, 1.0]])).tolist()
    [0.5, 0.5]
    """
    with np.errstate(divide="ignore", invalid="ignore"):
        entropy = -np.where(chains > 0, chains * np.log2(chains), 0.0).sum(axis=1)
    chosen = int(entropy.argmin())
    return np.asarray(chains[chosen] if entropy[chosen] > 0 else chains.mean(axis=0))
