// Queries: what the answers to a log of SQL queries disclose about each person.

import { h, parts } from "../core/elements.js";
import { result } from "../core/answers.js";
import { bits, clipped, count, counted, figure, listed, people, percent } from "../core/numbers.js";
import { changed } from "../core/store.js";
import { button, card, field } from "../parts/controls.js";
import { busy, files, jobCard, latest, start } from "../parts/jobs.js";
import { table } from "../parts/table.js";
import { term } from "../parts/terms.js";
import { frame, notes, tile } from "../parts/verdict.js";

let statements = null; // null until the reader types: then those of the last audit are shown

/** The verdict on the answered queries. */
export function queriesVerdict(state) {
  const job = latest(state, "audit");
  const facts = job?.status === "done" ? result(job).value : null;
  if (!facts)
    return frame("waiting", "?", "Paste the queries that were answered", [h("p", { class: "said" }, "Single answers can be harmless and together disclose somebody. The verdict says for how many people that has happened.")], "Verdict on the answers");
  const certain = facts.disclosed.exact, records = facts.data.records, hit = facts.shown_hit;
  const tone = certain || facts.tone === "alarm" ? "alarm" : facts.tone === "calm" ? "calm" : "caution";
  const name = clipped(facts.data.confidential.name, 40);
  return frame(tone, certain ? "✕" : "!", certain ? `Not safe: the answers disclose ${count(certain)} of ${people(records)}` : "Nobody's exact value follows from these answers", [
    h("p", { class: "said" }, facts.headline, facts.headline === facts.disclosed_sentence ? "" : ` ${facts.disclosed_sentence}`),
    h("p", { class: "did" }, h("strong", {}, "What an "), term("intruder"), h("strong", {}, " would do: "), `put the answers together, subtract one from another, and see which ${name} still fits. ${facts.knows}`),
    h("dl", { class: "tiles" },
      tile("People whose value is certain", count(certain), `of ${count(records)}. 0 is safe.`, "audit-certain"),
      tile(`She expects to be right, ${hit.close}`, percent(hit.release), `of the time; before the answers ${percent(hit.prior)}. Lower is safer.`, "audit-hit"),
      tile("People in no answered query", count(facts.disclosed.untouched), `of ${count(records)}; the answers tell nothing about them.`, "audit-untouched")),
    notes(facts),
  ], `Verdict on ${counted(facts.log.statements, "answered statement")}`);
}

export function queriesView(state) {
  const job = latest(state, "audit");
  const before = job?.status === "done" ? (result(job).value?.statements ?? []).map((each) => each.sql).join(";\n") : "";
  const text = statements ?? before;
  const confidential = clipped(state.roles.confidential, 30), key = clipped(state.roles.keys[0] ?? "age", 30);
  return parts(
    card({ title: "Queries that were answered", lead: "Paste the SQL statements that somebody has asked about this file. The page computes their answers and what follows from all of them together." },
      field("statements", "SQL statements, separated by semicolons", (common) => h("textarea", { ...common, rows: 8, spellcheck: "false", value: text, placeholder: `SELECT AVG(${confidential}) FROM people WHERE ${key} = 37;\nSELECT MAX(${confidential}) FROM people WHERE ${key} > 60`, on: { input: (event) => { statements = event.currentTarget.value; changed(); } } }),
        { hint: "SUM, AVG, COUNT, MIN and MAX of the confidential column with conditions on keys.", wide: true }),
      h("div", { class: "actions" }, button("Audit these queries", () => start({ kind: "audit", statements: text, known: state.roles.keys, eps: state.view.eps, require: [] }), { kind: "primary", disabled: !text.trim() || busy(job), name: "audit" })),
      jobCard(job)),
    job?.status === "done" ? outcome(job) : null);
}

function outcome(job) {
  const { value: facts, problem } = result(job);
  if (!facts) return h("p", { class: "soft", role: "status" }, problem || "Fetching the result…");
  const certain = facts.disclosed.exact;
  return parts(
    card({ title: "What follows" }, table({
      caption: "Means over all people",
      columns: [{ title: "Figure" }, { title: "After the answers", number: true }, { title: "Before", number: true }, { title: "Unit" }, { title: "Safer is" }],
      rows: parts(
        facts.figures.map((each) => ({ cells: [each.label, each.unit === "bits" ? bits(each.release) : figure(each.release), each.unit === "bits" ? bits(each.prior) : figure(each.prior), each.unit, each.safer] })),
        facts.hits.map((hit) => ({ cells: [`She expects to be right, ${hit.close}`, percent(hit.release), percent(hit.prior), "of people", "lower"] })),
        [{ cells: ["People whose exact value is known", count(certain), "0", "people", "lower"] }, ...facts.disclosed.within.filter((each) => each.eps > 0).map((each) => ({ cells: [`People whose value is surely known ${each.close}`, count(each.surely), "", "people", "lower"] }))]) }),
      riskiest(facts.riskiest)),
    facts.statements?.length ? card({ title: "The statements" }, table({
      caption: "What each statement asks, and whom it helps to disclose",
      columns: [{ title: "Statement" }, { title: "People in its smallest group", number: true }, { title: "People it helps to disclose (fewer is safer)", number: true }],
      rows: facts.statements.map((each) => ({ key: `s${each.number}`, cells: [h("span", {}, `${each.number}  `, h("code", {}, clipped(each.sql, 300))), count(each.fewest), count(each.discloses)] })) })) : null,
    responsible(facts), files(job));
}

function riskiest(found) {
  if (!found?.classes?.length) return null;
  return h("details", { class: "more" }, h("summary", {}, "The classes at the highest risk"), table({
    caption: `Classes of at least ${found.fewest_people} people, riskiest first`,
    columns: [{ title: "Keys" }, { title: "People", number: true }, { title: "H0, bits (higher is safer)", number: true }],
    rows: found.classes.map((each) => ({ cells: [clipped(each.keys.join(", "), 80), count(each.size), bits(each.h0)] })),
  }));
}

function responsible(facts) {
  if (!facts.responsible?.length) return null;
  return card({ title: "Which statements did it" }, h("ul", { class: "plain-list" }, facts.responsible.slice(0, 20).map((each, at) => h("li", { key: `r${at}` }, `${people(each.people)}: ${each.statements.length === 1 ? "statement" : "statements"} ${listed(each.statements.map(String))}, ${each.words}`))));
}
