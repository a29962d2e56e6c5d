// Small bars for the values of a column, with the same content as text.

import { h, svg } from "../core/elements.js";
import { clipped, count } from "../core/numbers.js";

const WIDTH = 160, HEIGHT = 36;

export function smallBars(column) {
  const bars = column.bars ?? [];
  if (!bars.length) return h("span", { class: "soft" }, "no values");
  const most = Math.max(...bars.map((bar) => bar.count), 1);
  const step = WIDTH / bars.length;
  const told = bars.slice(0, 12).map((bar) => `${clipped(bar.label, 30)}: ${count(bar.count)}`).join("; ");
  return h("div", { class: "small-bars" },
    svg("svg", { viewBox: `0 0 ${WIDTH} ${HEIGHT}`, role: "img", "aria-label": `People by value. ${told}` },
      bars.map((bar, at) => svg("rect", { x: at * step + 1, width: Math.max(step - 2, 1), y: HEIGHT - Math.max((bar.count / most) * HEIGHT, 1), height: Math.max((bar.count / most) * HEIGHT, 1), key: `b${at}` },
        svg("title", {}, `${clipped(bar.label, 200)}: ${count(bar.count)}`)))),
    h("span", { class: "ends", "aria-hidden": "true" }, h("span", {}, clipped(bars[0].label, 14)), bars.length > 1 ? h("span", {}, clipped(bars.at(-1).label, 14)) : null));
}
