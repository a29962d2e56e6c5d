// Compare and choose: several settings at once, the risk–utility map, the choice and why; the mildest setting that is enough.

import { post } from "../core/api.js";
import { h, parts } from "../core/elements.js";
import { catalogued, result } from "../core/answers.js";
import { clipped, counted, figure } from "../core/numbers.js";
import { change, changed, fail, settled } from "../core/store.js";
import { button, card, numberField, selectField, textField } from "../parts/controls.js";
import { intruderField } from "../parts/intruder_field.js";
import { busy, files, jobCard, latest, start } from "../parts/jobs.js";
import { riskMap } from "../parts/risk_map.js";
import { table } from "../parts/table.js";
import { term } from "../parts/terms.js";
import { chooseCard } from "./choose.js";

const asked = { typed: "", utility: "query_error", replicates: 1, intruder: "strongest", trying: false };

export function compareView(state) {
  const catalogue = catalogued(state).value;
  if (!catalogue) return h("p", { class: "soft", role: "status" }, catalogued(state).problem || "Reading the catalogue of techniques…");
  const job = latest(state, "compare");
  return parts(settingsCard(state, catalogue, job), job?.status === "done" ? resultCards(state, job) : null, chooseCard(state, catalogue));
}

function settingsCard(state, catalogue, job) {
  const { settings } = state;
  const add = (notations) => change({ settings: [...new Set([...settings, ...notations])] });
  const suggest = async () => {
    asked.trying = true;
    changed();
    try {
      await settled();
      add((await post("/api/live/proposed", { known: state.view.known })).settings);
    } catch (failure) {
      fail(failure);
    } finally {
      asked.trying = false;
      changed();
    }
  };
  return card({ title: "Settings to compare", lead: "Each is released and measured with the same intruder, the same rules and the same losses." },
    settings.length ? h("ol", { class: "settings" }, settings.map((notation) => h("li", { key: notation }, h("code", { title: notation }, clipped(notation, 80)),
      h("span", {}, button("Open", () => open(notation), { kind: "quiet", label: `Open ${notation} under Techniques` }), button("Remove", () => change({ settings: settings.filter((each) => each !== notation) }), { kind: "quiet", label: `Remove ${notation}` })))))
      : h("p", { class: "soft" }, "None yet. Add settings under Techniques, type one, or take a set to begin with."),
    h("form", { class: "one-line", key: "add", on: { submit: (event) => { event.preventDefault(); if (asked.typed.trim()) add([asked.typed.trim()]); asked.typed = ""; event.currentTarget.reset(); changed(); } } },
      textField("notation", "Add a setting", { value: asked.typed, change: (value) => { asked.typed = value; }, placeholder: "swapping:rate=0.3", hint: "As on the command line.", wide: true }),
      h("div", { class: "field" }, h("button", { type: "submit", class: "button", "data-name": "add-typed" }, "Add")),
      h("div", { class: "field" }, button(asked.trying ? "Trying settings…" : "Add a set to begin with", suggest, { disabled: asked.trying, name: "suggest" }))),
    h("details", { class: "more" }, h("summary", {}, "How they are compared"), h("div", { class: "fields" },
      selectField("utility", "Rank by loss", { value: asked.utility, choices: (catalogue.utilities ?? []).map((each) => [each.name, each.meaning ? `${each.name}: ${each.meaning}` : each.name]), change: (value) => { asked.utility = value; changed(); } }),
      numberField("replicates", "Random releases of each", { value: asked.replicates, low: 1, step: 1, change: (value) => { asked.replicates = Math.max(1, Math.round(value ?? 1)); changed(); }, hint: "More show how figures vary from draw to draw. With 1, those that decide the choice are released 5 times." }),
      intruderField("intruder", catalogue, { value: asked.intruder, change: (value) => { asked.intruder = value; changed(); } }))),
    h("p", { class: "soft" }, state.view.require?.length ? `Rules: ${state.view.require.join("; ")}. ` : "No rule is set. ", h("a", { href: "#techniques" }, "Change the rules")),
    h("div", { class: "actions" }, button(`Compare ${counted(settings.length, "setting")}`, () => begin(state), { kind: "primary", disabled: settings.length < 1 || busy(job), name: "compare" })),
    jobCard(job));
}

function begin(state) {
  const { known, require, seed, prior, eps } = state.view;
  const { utility, replicates, intruder } = asked;
  start({ kind: "compare", techniques: state.settings, known, require, seed, prior, eps, utility, replicates, intruder });
}

function open(notation) {
  change({ view: { technique: notation } });
  location.hash = "#techniques";
}

function resultCards(state, job) {
  const found = result(job);
  const facts = found.value;
  if (!facts) return h("p", { class: "soft", role: "status" }, found.problem || "Fetching the result…");
  const chosen = facts.techniques.find((each) => each.chosen);
  const byNumber = (number) => { const each = facts.techniques.find((one) => one.number === number); if (each) open(each.notation); };
  return parts(
    h("section", { class: `card choice ${!facts.required ? "facts" : chosen ? "calm" : "alarm"}`, key: "choice", id: "choice" },
      h("h2", {}, !chosen ? "None of them meets your rules" : `${facts.required ? "The choice" : "The least loss"}: ${clipped(chosen.notation, 80)}`),
      h("p", { class: "said" }, facts.headline), facts.sentences.chosen ? h("p", {}, facts.sentences.chosen) : null,
      chosen ? h("div", { class: "actions" }, button("Open it", () => open(chosen.notation), { kind: "primary", name: "open-choice" })) : null),
    card({ title: "Risk and what is lost" },
      h("p", { class: "soft" }, "Each point is a setting; its number is that of the table. Further left is more useful. The line is the ", term("front"), ". Click a point or a row's button to open it."),
      facts.charts?.map ? riskMap(facts.charts.map, job.id, byNumber) : null,
      resultTable(facts),
      h("p", { class: "soft" }, `${facts.sentences.intruder} ${facts.sentences.replicates}`),
      files(job)));
}

function resultTable(facts) {
  const safer = facts.risk.safer === "less" ? "lower is safer" : "higher is safer";
  return table({
    caption: "The compared settings",
    columns: [{ title: "Setting" }, { title: `${facts.risk.figure}, ${facts.risk.unit} (${safer})`, number: true }, { title: `${facts.loss.measure} (lower is more useful)`, number: true }, { title: "Rules" }, { title: "Why" }, { title: "Under Techniques" }],
    rows: facts.techniques.map((each) => ({ key: each.notation, class: each.chosen ? "chosen" : null, cells: [
      h("span", { class: "setting-name" }, `${each.number}  ${clipped(each.notation, 60)}`, each.chosen ? h("strong", {}, facts.required ? " (the choice)" : " (the least loss)") : null, each.tied ? h("span", { class: "soft" }, " not told apart from the choice") : null, each.front ? h("span", { class: "soft" }, " on the front") : null),
      figure(each.risk?.mean), figure(each.loss?.mean), each.failed ? "could not run" : facts.required ? (each.meets ? "✓ met" : "✕ not met") : "none set", clipped(each.reason ?? each.outcomes.find((outcome) => !outcome.meets)?.sentence ?? "", 300),
      button("Open", () => open(each.notation), { kind: "quiet", label: `Open ${each.notation} under Techniques`, name: `open-${each.number}` })] })),
  });
}
