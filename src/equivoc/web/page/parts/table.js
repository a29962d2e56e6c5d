// Tables with a caption and scoped headers. On a narrow screen each row becomes a block with its labels; the roles are
// written out because a change of display would otherwise take them away.

import { h } from "../core/elements.js";
import { clipped } from "../core/numbers.js";

/** columns: [{title, number?}], rows: [{cells, key?, class?}]; the first cell of a row is its header. */
export function table({ caption, columns, rows, hideCaption = false, label, kind }) {
  const head = columns.map((column, at) =>
    h("th", { scope: "col", role: "columnheader", class: column.number ? "number" : null, key: `c${at}` }, column.title));
  const body = rows.map((row, number) =>
    h("tr", { role: "row", class: row.class ?? null, key: row.key ?? `r${number}` },
      row.cells.map((cell, at) => {
        const options = { role: at ? "cell" : "rowheader", class: columns[at]?.number ? "number" : null, "data-label": at ? plain(columns[at]?.title) : null, key: `d${at}` };
        return at ? h("td", options, cell) : h("th", { ...options, scope: "row" }, cell);
      })));
  return h("div", { class: "table-box", role: "group", "aria-label": label ?? plain(caption), tabindex: "0" },
    h("table", { role: "table", class: kind ?? null },
      h("caption", { class: hideCaption ? "unseen" : null }, caption),
      h("thead", { role: "rowgroup" }, h("tr", { role: "row" }, head)),
      h("tbody", { role: "rowgroup" }, body)));
}

/** A text that may be very long: clipped, and the rest can be opened. */
export function longText(text, most = 48) {
  const whole = String(text);
  if (whole.length <= most) return whole;
  return h("details", { class: "long" }, h("summary", {}, clipped(whole, most)), h("span", { class: "whole" }, whole));
}

const plain = (part) => (part instanceof Node ? part.textContent : Array.isArray(part) ? part.map(plain).join("") : String(part ?? ""));
