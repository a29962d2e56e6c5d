// Scales and axes for the hand-drawn charts.

import { svg } from "../core/elements.js";
import { figure } from "../core/numbers.js";

/** A linear scale from [low, high] to [from, to]. */
export function scale(low, high, from, to) {
  const span = high - low || 1;
  return (value) => from + ((value - low) / span) * (to - from);
}

/** Round numbers from low to high, about `many` of them. */
export function ticks(low, high, many = 5) {
  const rough = (high - low) / many || 1;
  const power = 10 ** Math.floor(Math.log10(rough));
  const step = [1, 2, 5, 10].find((each) => each * power >= rough) * power;
  const found = [];
  for (let at = Math.ceil(low / step) * step; at <= high + step * 1e-9; at += step) found.push(Number(at.toPrecision(12)));
  return found;
}

export function bottomAxis(x, values, y, width, title) {
  return svg("g", { class: "axis" },
    values.map((value) => svg("text", { x: x(value), y: y + 18, "text-anchor": "middle" }, figure(value))),
    values.map((value) => svg("line", { x1: x(value), x2: x(value), y1: y, y2: y + 4 })),
    title ? svg("text", { x: width, y: y + 38, "text-anchor": "end", class: "axis-title" }, title) : null);
}

export function leftAxis(y, values, x, right) {
  return svg("g", { class: "axis" },
    values.map((value) => svg("text", { x: x - 8, y: y(value) + 4, "text-anchor": "end" }, figure(value))),
    values.map((value) => svg("line", { x1: x, x2: right, y1: y(value), y2: y(value), class: "grid" })));
}

/** A path through points; `steps` keeps each height until the next point, as H(ε) does. */
export function path(xs, ys, x, y, steps = false) {
  let text = "";
  xs.forEach((each, at) => {
    if (ys[at] === null || ys[at] === undefined) return;
    const px = x(each).toFixed(1), py = y(ys[at]).toFixed(1);
    text += !text ? `M${px},${py}` : steps ? `H${px}V${py}` : `L${px},${py}`;
  });
  return text;
}
