// The chart of H(ε): the release between the prior and the unprotected file, the truth, and where ε stands.

import { h, svg } from "../core/elements.js";
import { bits, figure } from "../core/numbers.js";
import { bottomAxis, leftAxis, path, scale, ticks } from "./svg_axes.js";
import { table } from "./table.js";

const LINES = [
  ["prior", "nothing released", "line-prior", "prior_h"],
  ["release", "H: this release", "line-release", "h"],
  ["truth", "T: compared with the truth", "line-truth", "surprise"],
  ["unprotected", "file as it is", "line-unprotected", "unprotected_h"],
];

/** `mean` has the exact values at ε; the curve is drawn through the tolerances that the server chose. */
export function curveChart(whole, mean, eps, { unit, width = 640 }) {
  const narrow = width < 480;
  const height = narrow ? 260 : 300;
  const left = 44, right = width - 14, top = 14, bottom = height - 48;
  const last = Math.max(usefulEnd(whole), eps);
  const curve = upTo(whole, last);
  const shown = LINES.filter(([name]) => curve[name]?.length);
  const highest = Math.max(...shown.flatMap(([name]) => curve[name].filter((each) => each !== null)), 0.001);
  const x = scale(0, last, left, right), y = scale(0, highest * 1.04, bottom, top);
  const at = Math.min(eps, last);
  const heights = Object.fromEntries(shown.map(([name, , , figure]) => [name, mean[figure] ?? null]));
  const told = shown.map(([name, label]) => `${label} ${bits(heights[name])} bits`).join("; ");
  return h("figure", { class: "drawing", key: "curve" },
    h("ul", { class: "legend", "aria-label": "Lines of the chart, with their values at ε" },
      shown.map(([name, label, kind]) => h("li", { key: name }, h("span", { class: `swatch ${kind}`, "aria-hidden": "true" }), `${label} `, h("strong", { class: "figure", "data-line": name }, bits(heights[name])), " bits"))),
    svg("svg", { viewBox: `0 0 ${width} ${height}`, role: "img", "aria-label": `Uncertainty in bits against the tolerance ε. At ε = ${figure(eps)}: ${told}. Higher is safer.` },
      leftAxis(y, ticks(0, highest, 4), left, right),
      bottomAxis(x, ticks(0, last, narrow ? 4 : 6), bottom, right, `tolerance ε${unit ? `, ${unit}` : ""}`),
      svg("text", { x: left, y: 10, class: "axis-title" }, "bits ↑ safer"),
      shown.map(([name, , kind]) => svg("path", { class: `line ${kind}`, d: path(curve.eps, curve[name], x, y), key: name })),
      svg("line", { class: "marker", x1: x(at), x2: x(at), y1: top, y2: bottom, key: "marker" }),
      shown.map(([name, , kind]) => (heights[name] === null ? null : svg("circle", { class: `dot ${kind}`, cx: x(at), cy: y(heights[name]), r: 4.5, key: `dot-${name}` })))),
    h("details", { class: "numbers" }, h("summary", {}, "The same as numbers"), numbers(curve, shown, unit)));
}

/** Beyond this tolerance even somebody without the release is hardly unsure, and nothing is to be seen. */
export function usefulEnd(curve) {
  const least = 0.03 * curve.prior[0];
  const end = curve.prior.findIndex((bits) => bits < least);
  return (end < 0 ? curve.eps.at(-1) : curve.eps[Math.max(end, 1)]) || 1;
}

/** The part of a curve up to `last`, its end interpolated. */
function upTo(curve, last) {
  const end = curve.eps.findIndex((eps) => eps >= last);
  if (end <= 0 || curve.eps[end] === last) return end < 0 ? curve : cut(curve, end + 1);
  const share = (last - curve.eps[end - 1]) / (curve.eps[end] - curve.eps[end - 1]);
  const shown = cut(curve, end + 1);
  for (const name of Object.keys(shown)) shown[name][end] = curve[name][end - 1] + share * (curve[name][end] - curve[name][end - 1]);
  return shown;
}

const cut = (curve, many) => Object.fromEntries(Object.entries(curve).filter(([, each]) => Array.isArray(each)).map(([name, each]) => [name, each.slice(0, many)]));

function numbers(curve, shown, unit) {
  const every = Math.max(1, Math.ceil(curve.eps.length / 16));
  return table({
    caption: "Uncertainty in bits at some tolerances; higher is safer",
    columns: [{ title: `ε${unit ? `, ${unit}` : ""}` }, ...shown.map(([, label]) => ({ title: label, number: true }))],
    rows: curve.eps.map((eps, at) => ({ at, cells: [figure(eps), ...shown.map(([name]) => bits(curve[name][at]))] })).filter((row) => row.at % every === 0),
  });
}
