// The chart of H(ε): the release between the prior and the unprotected file, the truth, and where ε stands.

import { h, svg } from "../core/elements.js";
import { bits, count, figure } from "../core/numbers.js";
import { bottomAxis, leftAxis, path, scale, ticks } from "./svg_axes.js";
import { table } from "./table.js";

const LINES = [
  ["prior", "nothing released", "line-prior", "prior_h"],
  ["release", "H: this release", "line-release", "h"],
  ["truth", "T: compared with the truth", "line-truth", "surprise"],
  ["unprotected", "file as it is", "line-unprotected", "unprotected_h"],
];

/** `mean` has the exact values at ε; the lines are drawn through the tolerances that the server chose, and through ε. */
export function curveChart(whole, mean, eps, { unit, width = 640 }) {
  const narrow = width < 480;
  const height = narrow ? 260 : 300;
  const left = 44, right = width - 14, top = 14, bottom = height - 48;
  const last = Math.max(usefulEnd(whole), eps);
  const lines = LINES.map(([name, label, kind, figure]) => ({ name, label, kind, at: mean[figure] ?? null, ...points(whole, name) })).filter((line) => line.bits?.length);
  const shown = lines.map((line) => ({ ...line, ...through(line, last, eps) }));
  const highest = Math.max(...shown.flatMap((line) => line.bits), 0.001);
  const x = scale(0, last, left, right), y = scale(0, highest * 1.04, bottom, top);
  const at = Math.min(eps, last);
  const told = shown.map((line) => `${line.label} ${bits(line.at)} bits`).join("; ");
  const sampled = Math.min(...lines.map((line) => line.drawn ?? Infinity));
  return h("figure", { class: "drawing", key: "curve" },
    h("ul", { class: "legend", "aria-label": "Lines of the chart, with their values at ε" },
      shown.map((line) => h("li", { key: line.name }, h("span", { class: `swatch ${line.kind}`, "aria-hidden": "true" }), `${line.label} `, h("strong", { class: "figure", "data-line": line.name }, bits(line.at)), " bits"))),
    svg("svg", { viewBox: `0 0 ${width} ${height}`, role: "img", "aria-label": `Uncertainty in bits against the tolerance ε. At ε = ${figure(eps)}: ${told}. Higher is safer.` },
      leftAxis(y, ticks(0, highest, 4), left, right),
      bottomAxis(x, ticks(0, last, narrow ? 4 : 6), bottom, right, `tolerance ε${unit ? `, ${unit}` : ""}`),
      svg("text", { x: left, y: 10, class: "axis-title" }, "bits ↑ safer"),
      shown.map((line) => svg("path", { class: `line ${line.kind}`, d: path(line.eps, line.bits, x, y, whole.every_break_point), key: line.name })),
      svg("line", { class: "marker", x1: x(at), x2: x(at), y1: top, y2: bottom, key: "marker" }),
      shown.map((line) => (line.at === null ? null : svg("circle", { class: `dot ${line.kind}`, cx: x(at), cy: y(line.at), r: 4.5, key: `dot-${line.name}` })))),
    Number.isFinite(sampled) ? h("p", { class: "soft" }, `The file is large: lines are means over ${count(sampled)} people drawn at random. The values at ε are over everybody.`) : null,
    h("details", { class: "numbers" }, h("summary", {}, "The same as numbers"), numbers(whole, lines, last, unit)));
}

/** A line's tolerances and bits: T has tolerances of its own, which can be fewer than those of H. */
const points = (whole, name) => (name === "truth" ? whole.truth : { eps: whole.eps, bits: whole[name], drawn: name === "prior" ? null : whole.drawn });

/** The points up to `last`, and the exact one at ε; a line over a sample of people stays without it. */
function through(line, last, eps) {
  const all = line.eps.map((each, at) => [each, line.bits[at]]).filter(([each]) => each <= last);
  if (line.at !== null && !line.drawn && !all.some(([each]) => each === eps)) all.push([eps, line.at]);
  all.sort((one, other) => one[0] - other[0]);
  return { eps: all.map(([each]) => each), bits: all.map(([, each]) => each) };
}

/** Beyond this tolerance even somebody without the release is hardly unsure, and nothing is to be seen. */
export function usefulEnd(curve) {
  const least = 0.03 * curve.prior[0];
  const end = curve.prior.findIndex((bits) => bits < least);
  return (end < 0 ? curve.eps.at(-1) : curve.eps[Math.max(end, 1)]) || 1;
}

/** The numbers through which the lines are drawn, as the server sent them. */
function numbers(curve, lines, last, unit) {
  const here = curve.eps.filter((eps) => eps <= last);
  const every = Math.max(1, Math.ceil(here.length / 16));
  const value = (line, eps) => { const at = line.eps.indexOf(eps); return at < 0 ? "–" : bits(line.bits[at]); };
  return table({
    caption: "Uncertainty in bits at some tolerances; higher is safer",
    columns: [{ title: `ε${unit ? `, ${unit}` : ""}` }, ...lines.map((line) => ({ title: line.label, number: true }))],
    rows: here.filter((_, at) => at % every === 0).map((eps) => ({ cells: [figure(eps), ...lines.map((line) => value(line, eps))] })),
  });
}
