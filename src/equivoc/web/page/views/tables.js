// Tables: totals or counts by some keys, the unsafe cells, and what a protection leaves open.

import { h, parts } from "../core/elements.js";
import { catalogued, result } from "../core/answers.js";
import { clipped, count, counted, figure } from "../core/numbers.js";
import { changed } from "../core/store.js";
import { button, card, chips, selectField, textField } from "../parts/controls.js";
import { busy, files, jobCard, latest, start } from "../parts/jobs.js";
import { table } from "../parts/table.js";
import { term } from "../parts/terms.js";
import { frame, notes, tile } from "../parts/verdict.js";

const asked = { by: null, value: "", rule: "p:10", method: "suppress" };

/** The verdict on the table. */
export function tablesVerdict(state) {
  const job = latest(state, "table");
  const facts = job?.status === "done" ? result(job).value : null;
  if (!facts) return frame("waiting", "?", "Choose a table to judge", [h("p", { class: "said" }, "Totals and counts can give single people away. The verdict says how many cells do, and whether withholding or rounding them is enough.")], "Verdict on a table");
  const { counts } = facts;
  const changed = counts.withheld > 0 || facts.cells.some((cell) => cell.interval);
  // What a contributor can compute counts as well, and what was not checked is not called safe.
  const hers = counts.computed_by_contributors, unchecked = !facts.everybody_checked;
  const open = changed ? counts.computed + hers : counts.unsafe;
  const safe = open === 0 && facts.tone !== "alarm" && !unchecked;
  const judged = facts.rules.length > 0; // without a rule no cell is called unsafe, and none is safe
  const headline = hers ? `Not safe: a contributor can compute ${counted(hers, "unsafe cell")}`
    : unchecked && open === 0 ? "Not shown to be safe: not every contributor could be checked"
    : !judged && safe ? "No rule is set, so nothing says which cells are unsafe"
    : !safe && !changed ? `Not safe: ${counted(counts.unsafe, "cell")} of ${count(counts.cells)} ${counts.unsafe === 1 ? "is" : "are"} unsafe`
    : safe ? (counts.unsafe ? "Safe by the rule: no unsafe cell can be computed" : "Safe by the rule: no cell is unsafe") : "Not safe: protected cells can be computed, or a contribution is certain";
  return frame(!safe ? "alarm" : judged ? "calm" : "facts", !safe ? "✕" : judged ? "✓" : "i", headline, [
    h("p", { class: "said" }, facts.headline), facts.method ? h("p", {}, facts.method) : null,
    h("p", { class: "did" }, h("strong", {}, "What an "), term("intruder"), h("strong", {}, " would do: "), "add and subtract the published cells and totals to close in on what is withheld, knowing her own contribution."),
    h("dl", { class: "tiles" },
      tile(term("unsafe cell", "Unsafe cells"), count(counts.unsafe), `of ${count(counts.cells)}, by ${facts.rules.join(" or ") || "the rule"}. Fewer is safer.`, "table-unsafe"),
      tile("Withheld cells", count(counts.withheld), `of ${count(counts.cells)}. Fewer is more useful.`, "table-withheld"),
      tile("Protected cells she can compute", count(counts.computed + hers), hers ? `exactly, ${count(hers)} of them as a contributor. 0 is safe.` : "exactly. 0 is safe.", "table-computed")),
    notes(facts),
  ], "Verdict on the table");
}

export function tablesView(state) {
  const catalogue = catalogued(state).value;
  const job = latest(state, "table");
  const keys = state.roles.keys;
  asked.by = (asked.by ?? keys.slice(0, 2)).filter((key) => keys.includes(key));
  const set = (part) => { Object.assign(asked, part); changed(); };
  const numeric = (state.roles.kind?.kind ?? "number") === "number";
  const rules = catalogue?.rules ?? [], methods = catalogue?.methods ?? [];
  const rule = rules.find((each) => asked.rule.split(":")[0] === each.name), method = methods.find((each) => asked.method.split(":")[0] === each.name);
  const value = asked.value === "" ? (numeric ? state.roles.confidential : null) : asked.value === "count" ? null : asked.value;
  return parts(
    card({ title: "A table of cells", lead: "People grouped by one to four keys. A cell from which one contributor could be estimated too closely is unsafe." },
      chips("Cells by", { name: "by", names: keys, chosen: asked.by, change: (by) => set({ by }) }),
      h("div", { class: "fields" },
        selectField("table-value", "Show", { value: value ?? "count", choices: [...(numeric ? [[state.roles.confidential, `totals of ${clipped(state.roles.confidential, 40)}`]] : []), ["count", "numbers of people"]], change: (next) => set({ value: next, rule: next === "count" ? "threshold:3" : asked.rule }) }),
        rules.length ? selectField("table-rule", "Unsafe by", { value: rule?.name ?? "", choices: rules.map((each) => [each.name, each.title ?? each.name]), change: (name) => set({ rule: rules.find((each) => each.name === name).example }), hint: rule?.meaning }) : null,
        textField("table-rule-text", "The rule in full", { value: asked.rule, change: (next) => set({ rule: next.trim() }), hint: rules.map((each) => each.example).join(", ") || "p:10" }),
        methods.length ? selectField("table-method", "Protect by", { value: method?.name ?? "", choices: methods.map((each) => [each.name, each.title ?? each.name]), change: (name) => set({ method: methods.find((each) => each.name === name).example }), hint: method?.meaning }) : null,
        method?.example?.includes(":") ? textField("table-method-text", "The method in full", { value: asked.method, change: (next) => set({ method: next.trim() }) }) : null),
      h("div", { class: "actions" }, button("Make the table", () => start({ kind: "table", by: asked.by, value, rule: asked.rule, method: asked.method }), { kind: "primary", disabled: !asked.by.length || asked.by.length > 4 || busy(job), name: "table" })),
      jobCard(job)),
    job?.status === "done" ? outcome(job) : null);
}

function outcome(job) {
  const { value: facts, problem } = result(job);
  if (!facts) return h("p", { class: "soft", role: "status" }, problem || "Fetching the result…");
  const { counts } = facts;
  return parts(
    card({ title: "The table as it is published" },
      h("p", { class: "soft" }, "An ", term("unsafe cell"), " is marked “unsafe”, a withheld one “withheld”. Focus or point at a withheld cell to see what can be computed about it."),
      facts.tables.map((each, at) => cells(each, facts, at)),
      counts.shown < counts.cells ? h("p", { class: "soft" }, `The first ${count(counts.shown)} of ${count(counts.cells)} cells are shown.`) : null),
    lossTable(facts), files(job));
}

/** The longer side goes down, so that less has to be scrolled sideways. */
function upright(each) {
  if (!each.across || each.columns.length <= each.rows.length) return each;
  return { ...each, down: each.across, across: each.down, columns: each.rows.map((row) => row.label), rows: each.columns.map((label, at) => ({ label, cells: each.rows.map((row) => row.cells[at]) })) };
}

function cells(given, facts, number) {
  const each = upright(given);
  return table({
    caption: [facts.title, each.caption].filter(Boolean).join("; ") || "Cells",
    label: `Cells ${number + 1}`,
    kind: "cells",
    columns: [{ title: each.across ? `${clipped(each.down, 30)} / ${clipped(each.across, 30)}` : clipped(each.down, 30) }, ...each.columns.map((title) => ({ title: clipped(title, 40), number: true }))],
    rows: each.rows.map((row, at) => ({ key: `row-${at}`, cells: [clipped(row.label, 60), ...row.cells.map((cell) => shown(facts.cells[cell], cell))] })),
  });
}

function shown(cell, number) {
  const marks = [cell.unsafe ? "unsafe" : "", cell.withheld ? "withheld" : ""].filter(Boolean).join(", ");
  const value = cell.value === null || cell.value === undefined ? "×" : figure(cell.value);
  if (!cell.interval) return marks ? parts(value, " ", h("span", { class: "flag" }, marks)) : value;
  const id = `interval-${number}`;
  return h("span", { class: "cell-with-interval" }, h("button", { type: "button", class: "cell-button", "aria-describedby": id }, value, marks ? h("span", { class: "flag" }, marks) : null),
    h("span", { class: "interval", role: "tooltip", id }, `It is ${cell.interval}.`));
}

function lossTable(facts) {
  if (!facts.utility?.length) return null;
  return card({ title: "What is lost" }, table({
    caption: "0 for the table as it is; lower is more useful",
    columns: [{ title: "Measure" }, { title: "Loss", number: true }, { title: "In words" }],
    rows: facts.utility.map((each) => ({ cells: [each.label, figure(each.value), each.meaning] })),
  }));
}
