"""Deliberate faults of the measure: what each says, the right source text and the wrong one."""

from __future__ import annotations

from dataclasses import dataclass

KERNELS = [
    "logarithm_kernels.py",
    "overtaking_kernels.py",
    "window_kernels.py",
    "turn_kernels.py",
    "candidate_kernels.py",
    "search_kernels.py",
    "prefix_kernels.py",
    "partition_kernels.py",
    "descent_kernels.py",
    "many_kernels.py",
    "stretch_kernels.py",
    "area_kernels.py",
    "sorting_kernels.py",
    "sum_kernels.py",
]
"""Each is compiled into those that follow. Numba's cache does not notice: it compares a file with itself only."""


@dataclass(frozen=True)
class Fault:
    what: str
    file: str
    right: str
    wrong: str


(
    LOGARITHM,
    OVERTAKING,
    WINDOW,
    TURNS,
    CANDIDATES,
    SEARCH,
    PREFIX,
    PARTITION,
    DESCENT,
    MANY,
    STRETCHES,
    AREA,
    SORTING,
    SUMS,
) = KERNELS
FAULTS = [
    # How far a window reaches, and what a mass costs.
    Fault(
        "reach: no allowance for rounding",
        WINDOW,
        "return eps + min(TIE_ROUNDING",
        "return eps + 0.0 * min(TIE_ROUNDING",
    ),
    Fault(
        "reach: a millionth whatever the values' size",
        WINDOW,
        "TIE_ROUNDING * max(abs(lowest), abs(highest))",
        "eps",
    ),
    Fault("reach: rounding without the limit of a millionth", WINDOW, "TIE_SHARE * eps)", "1.0)"),
    Fault(
        "reach: only the upper end's size counts", WINDOW, "max(abs(lowest), abs(highest))", "abs(highest)"
    ),
    Fault(
        "turns: a difference equal to the limit is left out",
        TURNS,
        "np.uintp(lows[i] - highs[k] > limit)",
        "np.uintp((lows[i] - highs[k] >= limit) & (k < i))",
    ),
    Fault(
        "turns: the later windows start one too far right",
        TURNS,
        "return np.uintp(low)",
        "return np.uintp(min(low + 1, item))",
    ),
    Fault(
        "turns: where a window stopped, another one's number is lost",
        TURNS,
        "beyond[met] = _first_beyond(lows, highs, limit, np.int64(met))",
        "beyond[met] = beyond[met]",
    ),
    Fault(
        "turns: what a window left behind when it stopped",
        TURNS,
        "beyond[k:met], beyond[k2:met2], beyond",
        "beyond[k:k], beyond[k2:met2], beyond",
    ),
    Fault(
        "turns: items from which the last one is reached",
        TURNS,
        "beyond[k3 : n + 1]",
        "beyond[k3 + np.uintp(1) : n + 1]",
    ),
    Fault("turns: the end at a start is before it", TURNS, "turns_until[start - one]", "turns_until[start]"),
    Fault(
        "best window: a difference equal to the limit is left out",
        WINDOW,
        "while x[i] - x[k] > limit",
        "while k < i and x[i] - x[k] >= limit",
    ),
    Fault(
        "best window: the mass starts one late",
        WINDOW,
        "mass = cum[i + 1] - cum[k]",
        "mass = cum[i + 1] - cum[min(k + 1, i)]",
    ),
    Fault("φ without the logarithm", LOGARITHM, "return -q * log(q)", "return -q * (q - 1.0)"),
    Fault("the logarithm's series cut short", LOGARITHM, "(C5 + z * C7)", "C5"),
    Fault("the logarithm's exponent off", LOGARITHM, "4503599627371519.0", "4503599627371520.0"),
    # The stacks.
    Fault(
        "overtaking: the handicap's sign",
        OVERTAKING,
        "y = -log(apart) - handicap / apart",
        "y = -log(apart) + handicap / apart",
    ),
    Fault(
        "overtaking: half a step off beyond the table",
        OVERTAKING,
        "(24.0 * middle) - 0.5)",
        "(24.0 * middle))",
    ),
    Fault(
        "overtaking: starts without mass between them never give way",
        OVERTAKING,
        "NEVER if handicap < 0.0 else -1.0",
        "NEVER",
    ),
    Fault(
        "overtaking: a neighbouring row of the table",
        OVERTAKING,
        "k = np.uintp(z)\n",
        "k = np.uintp(z + 1.0)\n",
    ),
    Fault(
        "before the block: overtaken ends stay",
        SEARCH,
        "while top > 0 and until[top] >= start_mass[a]:",
        "while top > 0 and until[top] >= 9.0:",
    ),
    Fault(
        "before the block: overtaking the other way round",
        SEARCH,
        "handicap, apart = end_cost[best] - cost, end_mass[best] - mass",
        "handicap, apart = cost - end_cost[best], end_mass[best] - mass",
    ),
    Fault(
        "before the block: ends that no longer reach",
        SEARCH,
        "last = min(after[after[b]], stop) - 1",
        "last = min(after[after[b]] + 1, stop) - 1",
    ),
    Fault(
        "before the block: only the first end that arrives",
        SEARCH,
        "if ahead_down_to < here:",
        "if top == 0 and ahead_down_to < here:",
    ),
    Fault(
        "in the block: overtaken ends stay",
        SEARCH,
        "while top > 0 and until[top] <= start_mass[a]:",
        "while top > 0 and until[top] <= -1.0:",
    ),
    Fault(
        "in the block: overtaking the other way round",
        SEARCH,
        "handicap, apart = cost - end_cost[best], mass - end_mass[best]",
        "handicap, apart = end_cost[best] - cost, mass - end_mass[best]",
    ),
    Fault(
        "in the block: a newer end never waits for its turn",
        SEARCH,
        "if ahead_up_to >= 0.0:",
        "if ahead_up_to >= 0.0 and top == 0:",
    ),
    Fault(
        "in the block: an end before it has come",
        SEARCH,
        "first = min(after[b], stop)",
        "first = min(after[b] - 1, stop)",
    ),
    # Which ends are searched.
    Fault(
        "candidates: flat corners are left out",
        CANDIDATES,
        "(low < high)",
        "(low + 0.5 < high)",
    ),
    Fault(
        "candidates: only two of the newest ends are tried",
        CANDIDATES,
        "max(newest - k, oldest)",
        "max(newest - k % 2, oldest)",
    ),
    Fault(
        "candidates: only two of the oldest ends are tried",
        CANDIDATES,
        "min(oldest + k, newest)",
        "min(oldest + k % 2, newest)",
    ),
    Fault(
        "candidates: ends that lead by a heavy window are left out",
        CANDIDATES,
        "(high > least)",
        "(high > least + 1.0)",
    ),
    Fault(
        "candidates: ends that lead by a light window are left out",
        CANDIDATES,
        "(low < most)",
        "(low < most - 1.0)",
    ),
    Fault(
        "candidates: the heaviest window of the last end for all",
        CANDIDATES,
        "end_mass[after[final]]) - end_mass[first]",
        "end_mass[after[final]]) - end_mass[final]",
    ),
    Fault(
        "candidates: the lightest window of the first end for all",
        CANDIDATES,
        "lowest - end_mass[final]",
        "lowest - end_mass[first]",
    ),
    Fault(
        "candidates: windows without mass lead nowhere",
        CANDIDATES,
        "-log(max(heaviest, LEAST_MASS)) - 1.0",
        "-log(heaviest) - 1.0 if heaviest > 0.0 else np.inf",
    ),
    # The costs of prefixes.
    Fault(
        "the block reaches one end too far",
        PREFIX,
        "new = min(after[new], last)\n        _to_ends",
        "new = min(after[new] + 1, last)\n        _to_ends",
    ),
    Fault(
        "from an end to an end: not at all",
        PREFIX,
        "v = end_cost[first + t] + window[t]",
        "v = end_cost[first + t] + window[t] + 1.0",
    ),
    Fault(
        "from a start to an end: not at all",
        PREFIX,
        "        v = start_cost[first + t] + window[t]\n",
        "        v = start_cost[first + t] + window[t] + 1.0\n",
    ),
    Fault(
        "from a start to a start: not at all",
        PREFIX,
        "start_cost[np.uintp(before[first + t])] + window[t]",
        "start_cost[np.uintp(before[first + t])] + window[t] + 1.0",
    ),
    Fault(
        "from an end to a start: the nearest end is not tried",
        PREFIX,
        "np.uintp(before[a] + 1))",
        "np.uintp(before[a]))",
    ),
    Fault(
        "from an end to a start: an end out of reach",
        PREFIX,
        "range(np.uintp(before[before[a]] + 1)",
        "range(np.uintp(max(before[before[a]], 0))",
    ),
    Fault(
        "partition: only from starts to starts",
        PARTITION,
        "oldest, newest = before[to] + 1, to\n",
        "oldest, newest = to + 1, to\n",
    ),
    Fault(
        "partition: never from an end to an end",
        PARTITION,
        "oldest, newest = before[to] + 1, before[b]",
        "oldest, newest = before[b] + 1, before[b]",
    ),
    Fault(
        "halves: prefixes end too early",
        "entropy.py",
        "overtaking_table(), high, True",
        "overtaking_table(), low, True",
    ),
    Fault(
        "halves: starts and ends not exchanged",
        "entropy.py",
        "(start_cost + mirrored_end_cost[::-1])",
        "(start_cost + mirrored_start_cost[::-1])",
    ),
    Fault(
        "halves: a prefix with the suffix of another boundary",
        "entropy.py",
        "(end_cost + mirrored_start_cost[::-1])",
        "(end_cost + mirrored_start_cost)",
    ),
    # Every jump.
    Fault(
        "descent: the widest window is the first one",
        PARTITION,
        "widest = max(widest, highs[boundaries[t] - 1] - lows[boundaries[t + 1]])",
        "widest = highs[boundaries[t] - 1] - lows[boundaries[t + 1]]",
    ),
    Fault(
        "descent: a window that others follow never starts just out of the last value's reach",
        DESCENT,
        "_least_sum(cost, table, row, k, min(i, last))",
        "_least_sum(cost, table, row, k, min(i, last - 1))",
    ),
    Fault(
        "descent: a difference equal to the limit is left out",
        DESCENT,
        "while x[i - 1] - x[k] > limit:",
        "while k < i - 1 and x[i - 1] - x[k] >= limit:",
    ),
    Fault("descent: small jumps taken for rounding", DESCENT, "SAME_LEVEL = 7e-13", "SAME_LEVEL = 7e-4"),
    Fault(
        "descent: the stretch from 0 to the first jump is left out",
        DESCENT,
        "area += h0 * right",
        "area += 0.0 * right",
    ),
    Fault(
        "descent: a level's area up to the wrong end",
        DESCENT,
        "area += level * (right - low)",
        "area += level * (right - d)",
    ),
    Fault(
        "descent: the last difference is skipped",
        DESCENT,
        "d = difference_below(x, low)\n",
        "d = difference_below(x, difference_below(x, low))\n",
    ),
    Fault(
        "descent: the left end of a level with ties is not searched",
        DESCENT,
        "        if h <= level + SAME_LEVEL:\n            right",
        "        if h < level - SAME_LEVEL:\n            right",
    ),
    Fault(
        "descent: bisection between neighbouring doubles",
        DESCENT,
        "min(np.nextafter(middle, np.inf), right)",
        "np.nextafter(middle, np.inf)",
    ),
    Fault(
        "descent: of equal costs, the wider windows",
        DESCENT,
        "min(width[j], max(end - x[j], after))",
        "max(0.0 if width[j] == np.inf else width[j], end - x[j], after)",
    ),
    Fault(
        "curve: ε at a jump belongs to the level before",
        "curve.py",
        'np.searchsorted(epsilons, reach, side="right")',
        'np.searchsorted(epsilons, reach, side="left")',
    ),
    Fault(
        "curve: break points that tie are named by the first",
        "breakpoints.py",
        "        last.append(k - 1)\n",
        "        last.append(int(np.searchsorted(ascending, ascending[k - 1] * (1 - 1e-13))))\n",
    ),
    Fault(
        "area: the lower bound at the left end",
        AREA,
        "boundaries, tried = solution(masses, lows, highs, right, table)",
        "boundaries, tried = solution(masses, lows, highs, max(left, 0.5 * right), table)",
    ),
    Fault(
        "stretches: windows need not hold solid ones",
        STRETCHES,
        "(last, first) if solid[g] else (first, last)",
        "(first, last)",
    ),
    Fault(
        "stretches: all have to be held",
        STRETCHES,
        "(last, first) if solid[g] else (first, last)",
        "(last, first)",
    ),
    Fault(
        "stretches: too many boundaries are dead",
        STRETCHES,
        "return before + behind <= most + ROUNDING",
        "return before + behind <= most - 0.05",
    ),
    Fault(
        "stretches: one dead end makes a solid one",
        STRETCHES,
        "if solid[g] or not (may_cut[g] or may_cut[g + 1]):",
        "if solid[g] or not (may_cut[g] and may_cut[g + 1]):",
    ),
    Fault(
        "stretches: solid ones are joined across a place to cut",
        STRETCHES,
        "if k == 0 or may_cut[g] or not new_solid[k - 1]:",
        "if k == 0 or not new_solid[k - 1]:",
    ),
    Fault(
        "area: upper bounds one place late",
        AREA,
        "left + width * (place / places)",
        "left + width * ((place + 1) / places)",
    ),
    Fault(
        "equal values: the first one's probability",
        "distribution.py",
        "np.add.reduceat(p, first)",
        "p[first]",
    ),
    # Sorting and adding up.
    Fault("sorting: −0.0 stands before 0.0", SORTING, "else LOWEST - bits", "else ~bits ^ LOWEST"),
    Fault(
        "sorting: what lies below the bins goes anywhere",
        SORTING,
        "max(place_of(bits), lowest) - lowest",
        "place_of(bits) - lowest",
    ),
    Fault("sorting: of equal values, the last one first", SORTING, "x[k - 1] > value", "x[k - 1] >= value"),
    Fault(
        "sorting: values move, their probabilities stay",
        SORTING,
        "into_x[i], into_p[i] = x[j], p[j]",
        "into_x[i], into_p[i] = x[j], p[i]",
    ),
    Fault("sorting: ascending at first is ascending", "sorting.py", "if _in_order(x, above):", "if True:"),
    Fault("sorting: in order is distinct", "sorting.py", "above is np.greater,", "True,"),
    Fault(
        "sorting: a sum without the first piece",
        "sorting.py",
        "noticed[:, 0].sum()",
        "noticed[1:, 0].sum()",
    ),
    Fault("sorting: coarse words are not mended", SORTING, "if _rising(into_x):", "if True:"),
    Fault("sorting: equal values are distinct", SORTING, "<= x[i]", "< x[i]"),
    Fault("sorting: what cannot be mended stays", "sorting.py", "if not in_order:", "if False:"),
    Fault(
        "sorting: the last few are not counted",
        SORTING,
        "np.uintp(min(CHUNK, len(bits) - begin))",
        "np.uintp(min(CHUNK, len(bits) - begin - 1))",
    ),
    Fault(
        "sorting: pieces give to a bucket in any order",
        "sorting.py",
        "first = (ends - given).T",
        "first = (ends - given).T[::-1]",
    ),
    Fault(
        "sums: each without its own probability",
        SUMS,
        "        total += p[i]\n        sums[i + 1] = total\n",
        "        sums[i + 1] = total\n        total += p[i]\n",
    ),
    Fault("sums: mirrored values are not", SUMS, "-x[last - i]", "x[last - i]"),
    Fault("sums: mirrored values with the probabilities of the others", SUMS, "p[last - i]", "p[i]"),
    # Many rows.
    Fault(
        "lanes: areas one step off",
        MANY,
        "area[block + a] += h * steps[e]",
        "area[block + a] += h * steps[e - 1]",
    ),
    Fault(
        "lanes: the last row of a block is forgotten",
        MANY,
        "        for a in range(lanes):\n            h = max(",
        "        for a in range(max(lanes - 1, 1)):\n            h = max(",
    ),
    Fault(
        "lanes: the third start of four read twice",
        MANY,
        "c3, t3 = c2 + lanes, t2 + lanes",
        "c3, t3 = c2, t2",
    ),
    Fault(
        "lanes: a start too many is skipped",
        MANY,
        "        j, past = starts[i - 1], i if",
        "        j, past = min(starts[i - 1] + 1, i - 1), i if",
    ),
    Fault(
        "lanes: groups that others follow start one too early",
        MANY,
        "min(i, starts[n - 1])",
        "min(i, starts[n - 1] - 1)",
    ),
    Fault(
        "lanes: a boundary too many is settled", MANY, "settled, past = i + 1, 1", "settled, past = i + 2, 1"
    ),
    Fault("lanes: nats for bits", MANY, "- terms[whole + a]) / NATS", "- terms[whole + a])"),
    Fault("lanes: counts are taken for probabilities", MANY, "rows[row, i] / totals[row]", "rows[row, i]"),
    Fault(
        "rows: impossible values count",
        MANY,
        "        if weights[t] > 0:\n            x[s]",
        "        if weights[t] >= 0:\n            x[s]",
    ),
    Fault(
        "rows: one by one, a difference equal to the limit is left out",
        MANY,
        "while x[i - 1] - x[k] > limit:",
        "while k < i - 1 and x[i - 1] - x[k] >= limit:",
    ),
    Fault(
        "rows: large supports against the whole grid's room",
        MANY,
        "least_cost(cum[: s + 1], x[:s], x[:s], limit, overtaking)",
        "least_cost(cum[:s], x[: s - 1], x[: s - 1], limit, overtaking)",
    ),
    Fault(
        "rows: two values, half the area",
        MANY,
        "area[q] = h / NATS * spread[q]",
        "area[q] = h / NATS * spread[q] / 2.0",
    ),
    Fault(
        "rows: one fingerprint, one row",
        MANY,
        "                    same = False\n",
        "                    same = True\n",
    ),
    Fault(
        "rows: columns of equal values are not added up",
        "rows.py",
        "np.add.reduceat(matrix, begins, axis=1)",
        "matrix[:, begins]",
    ),
    Fault(
        "rows: the answers of equal rows mixed up",
        "rows.py",
        "return representative.astype(np.int64), of.astype(np.int64)",
        "return representative.astype(np.int64), np.sort(of).astype(np.int64)",
    ),
]
