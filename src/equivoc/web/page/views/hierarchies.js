// Hierarchies: coarser groups for the values of a column, uploaded or made from intervals.

import { h } from "../core/elements.js";
import { post, remove, upload } from "../core/api.js";
import { clipped, counted } from "../core/numbers.js";
import { accept, changed, fail } from "../core/store.js";
import { button, card, fileButton, selectField, textField } from "../parts/controls.js";
import { term } from "../parts/terms.js";

let column = "";
let widths = "";

export function hierarchiesCard(state) {
  const names = state.columns.map((each) => each.name);
  if (!names.includes(column)) column = state.roles?.keys?.[0] ?? names[0];
  const numeric = state.columns.find((each) => each.name === column)?.type === "number";
  return card({ title: "Hierarchies" },
    h("p", { class: "soft" }, "Optional. A ", term("hierarchy"), " lets techniques make values less detailed in steps that make sense."),
    list(state.hierarchies ?? []),
    h("div", { class: "fields" },
      selectField("hierarchy-column", "Column", { value: column, choices: names.map((name) => [name, clipped(name, 40)]), change: (value) => { column = value; changed(); } }),
      textField("widths", "Widths of intervals", { value: widths, change: (value) => { widths = value; }, placeholder: "5, 10, 20", hint: numeric ? "Each a multiple of the one before. 5, 10 makes 35–39, then 30–39." : "Only for a column of numbers." })),
    h("div", { class: "actions" },
      button("Make from intervals", make, { disabled: !numeric, name: "make-hierarchy" }),
      fileButton("Upload a CSV", send, { accept: ".csv,text/csv", name: "upload-hierarchy" }),
      h("span", { class: "soft" }, "A line for each value: value;group;larger group")));
}

function list(made) {
  if (!made.length) return null;
  return h("ul", { class: "plain-list" }, made.map((each) =>
    h("li", { key: each.name }, h("strong", {}, clipped(each.column, 40)), ` ${counted(each.levels, "level")}, ${clipped(each.made, 60)} `,
      button("Remove", () => tried(() => remove(`/api/hierarchies/${encodeURIComponent(each.name)}`)), { kind: "quiet", label: `Remove the hierarchy of ${each.column}` }))));
}

const make = () => tried(() => post("/api/hierarchies/intervals", { column, widths: widths.split(/[\s,;]+/).filter(Boolean).map(Number) }));

const send = (file) => tried(() => upload(`/api/hierarchies?name=${encodeURIComponent(file.name)}&column=${encodeURIComponent(column)}`, file, () => {}).done);

async function tried(act) {
  try {
    accept(await act());
  } catch (failure) {
    fail(failure);
  }
}
