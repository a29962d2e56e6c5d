// One class's posterior as bars, with the optimal windows as brackets that merge as ε grows.

import { h, svg } from "../core/elements.js";
import { clipped, figure, percent } from "../core/numbers.js";
import { bottomAxis, scale, ticks } from "./svg_axes.js";
import { table } from "./table.js";

const MOST_BARS = 400;

export function posteriorChart(found, eps, { unit, width = 640 }) {
  const numeric = found.values.every((value) => typeof value === "number");
  const height = 240, left = 10, right = width - 10, top = 46, bottom = height - 48;
  const bars = found.values.map((value, at) => ({ value, at, p: found.probabilities[at] })).filter((bar) => bar.p > 0);
  const [low, high] = numeric ? mostOf(bars) : [0, found.values.length - 1];
  const inView = (bar) => !numeric || (bar.value >= low && bar.value <= high);
  const seen = bars.filter(inView);
  const drawn = seen.length > MOST_BARS ? [...seen].sort((one, other) => other.p - one.p).slice(0, MOST_BARS) : seen;
  const x = scale(low, high, left + 12, right - 12);
  const place = (bar) => (numeric ? x(bar.value) : x(bar.at));
  const tallest = Math.max(...drawn.map((bar) => bar.p), 1e-9);
  const y = scale(0, tallest, bottom, top);
  const thick = Math.max(2, Math.min(16, ((right - left) / Math.max(numeric ? seen.length : found.values.length, 1)) * 0.5));
  const best = Math.max(...found.windows.map((window) => window.p));
  const brackets = found.windows.filter((window) => window.p > 0).map((window) => {
    const inside = (window.values ?? []).map((at) => ({ value: found.values[at], at })).filter(inView);
    if (numeric && !inside.length) return null;
    const ends = inside.length ? [place(inside[0]), place(inside.at(-1))] : [x(window.low), x(window.high)];
    return { ...window, from: ends[0] - thick / 2 - 1, to: ends[1] + thick / 2 + 1, best: window.p === best };
  }).filter(Boolean);
  const heavy = brackets.find((each) => each.best);
  const far = (each) => each.best || Math.abs(each.from + each.to - heavy.from - heavy.to) > 110;
  const name = (value) => (numeric ? figure(value) : clipped(value, 18));
  return h("figure", { class: "drawing", key: "posterior" },
    svg("svg", { viewBox: `0 0 ${width} ${height}`, role: "img", "aria-label": `Probability of each possible value, in ${found.windows.length} windows at ε = ${figure(eps)}. ${heaviest(found, best, name)}` },
      brackets.map((each, at) => svg("g", { class: each.best ? "window best" : "window", key: `w${at}` },
        svg("rect", { x: each.from, y: top - 12, width: Math.max(each.to - each.from, 2), height: bottom - top + 12, rx: 3 }),
        each.p >= 0.05 && heavy && far(each) ? svg("text", { x: Math.min(Math.max((each.from + each.to) / 2, left + 20), right - 20), y: top - 18, "text-anchor": "middle" }, percent(each.p)) : null)),
      drawn.map((bar) => svg("rect", { class: "bar", x: place(bar) - thick / 2, width: thick, y: y(bar.p), height: Math.max(bottom - y(bar.p), 1), key: `b${bar.at}` }, svg("title", {}, `${name(bar.value)}: ${percent(bar.p)}`))),
      svg("line", { class: "base", x1: left, x2: right, y1: bottom, y2: bottom }),
      numeric ? bottomAxis(x, ticks(low, high, width < 480 ? 4 : 7), bottom, right, unit || "") : labels(found, place, bottom)),
    h("figcaption", {}, heaviest(found, best, name), numeric && seen.length < bars.length ? " The picture shows 99 % of the probability." : ""),
    h("details", { class: "numbers" }, h("summary", {}, "The windows as numbers"), table({
      caption: `The windows at ε = ${figure(eps)}, heaviest first`,
      columns: [{ title: "from" }, { title: "to", number: true }, { title: "probability", number: true }],
      rows: [...found.windows].sort((one, other) => other.p - one.p).slice(0, 40).map((each) => ({ cells: [name(each.low), name(each.high), percent(each.p)] })),
    })));
}

/** The range that is left when half a percent of the probability is cut off at each end. */
function mostOf(bars) {
  const total = bars.reduce((sum, bar) => sum + bar.p, 0);
  const edge = (list) => {
    let sum = 0;
    return list.find((bar) => (sum += bar.p) > 0.005 * total)?.value ?? 0;
  };
  return [edge(bars), edge([...bars].reverse())];
}

const heaviest = (found, best, name) => {
  const window = found.windows.find((each) => each.p === best);
  const where = window.low === window.high ? name(window.low) : `${name(window.low)} to ${name(window.high)}`;
  return `The heaviest window is ${where}, with ${percent(best)}.`;
};

function labels(found, place, bottom) {
  const many = found.values.length;
  const every = Math.ceil(many / 8);
  return svg("g", { class: "axis" }, found.values.map((value, at) =>
    at % every ? null : svg("text", { x: place({ value, at }), y: bottom + 18, "text-anchor": "middle" }, clipped(value, many > 5 ? 9 : 14))));
}
