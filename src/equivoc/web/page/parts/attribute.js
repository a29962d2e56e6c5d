// Several confidential attributes: the one whose figures are shown is chosen here; and the figures of all together.

import { h, parts } from "../core/elements.js";
import { put } from "../core/api.js";
import { bits, clipped, percent } from "../core/numbers.js";
import { accept, fail } from "../core/store.js";
import { selectField } from "./controls.js";

/** All confidential columns with their kinds; the one on the screen comes first. */
export const everyConfidential = (roles) => (roles?.confidential ? [{ name: roles.confidential, kind: roles.kind }, ...(roles.also ?? [])] : []);

/** The choice of the attribute whose figures are shown; null if there is one. */
export function attributeChooser(state) {
  const { columns, roles } = state;
  if (!roles?.also?.length) return null;
  const every = everyConfidential(roles);
  const names = columns.map((column) => column.name).filter((name) => every.some((each) => each.name === name));
  return h("div", { class: "one-line attribute", key: "attribute" },
    selectField("attribute", "Confidential attribute on the screen", { value: roles.confidential, choices: names.map((name) => [name, clipped(name, 40)]), change: (name) => showAttribute(roles, every, name),
      hint: "Figures, comparisons and reports are about this one; rules must hold for all, and the protected file has all." }));
}

async function showAttribute(roles, every, name) {
  const chosen = every.find((each) => each.name === name);
  try {
    accept(await put("/api/roles", { ...roles, confidential: chosen.name, kind: chosen.kind, also: every.filter((each) => each !== chosen) }));
  } catch (failure) {
    fail(failure);
  }
}

/** The rules that another confidential attribute does not meet. */
export const othersMissed = (state, facts) => (facts.together?.rules ?? []).filter((each) => !each.meets && each.attribute !== state.roles.confidential);

/** The figures of all attributes together, once they are there. */
export function togetherFigures(state, facts) {
  if (!state.roles?.also?.length) return null;
  const { together } = facts;
  if (!together) return h("p", { class: "fine", key: "together" }, "All confidential attributes together: being computed for the strongest intruder.");
  if (together.problem) return h("p", { class: "fine", key: "together" }, `All confidential attributes together cannot be assessed: ${together.problem}`);
  return h("div", { class: "together", key: "together" },
    h("h3", {}, "All confidential attributes together"),
    h("ul", { class: "plain-list" }, together.figures.map((each) =>
      h("li", { key: each.name, "data-together": each.name }, h("strong", {}, each.value === null ? "–" : each.unit === "bits" ? `${bits(each.value)} bits` : `${percent(each.value)} of people`), `: ${clipped(each.meaning, 200)}. ${each.safer === "higher" ? "Higher" : "Lower"} is safer.`))),
    parts(together.why_not ? h("p", { class: "fine" }, `Combined figures are missing: ${together.why_not}`) : null));
}
