// The mildest setting of one technique that meets the rules.

import { h } from "../core/elements.js";
import { result } from "../core/answers.js";
import { clipped, figure } from "../core/numbers.js";
import { change, changed } from "../core/store.js";
import { button, card, numberField, selectField } from "../parts/controls.js";
import { intruderField } from "../parts/intruder_field.js";
import { busy, jobCard, latest, start } from "../parts/jobs.js";
import { table } from "../parts/table.js";

const asked = { what: "", low: null, high: null, intruder: "strongest" };

export function chooseCard(state, catalogue) {
  const choices = catalogue.techniques.filter((each) => each.applies).flatMap((technique) =>
    technique.parameters.filter((each) => each.values?.length && each.stronger).map((parameter) => ({ technique, parameter, text: `${technique.name}:${parameter.name}` })));
  if (!choices.length) return null;
  const chosen = choices.find((each) => each.text === asked.what) ?? choices.find((each) => each.parameter.required) ?? choices[0];
  const { parameter } = chosen;
  const low = asked.low ?? parameter.low, high = asked.high ?? parameter.high;
  const job = latest(state, "choose");
  const rules = state.view.require ?? [];
  const begin = () => start({ kind: "choose", technique: chosen.technique.name, parameter: parameter.name, low, high, known: state.view.known, require: rules, seed: state.view.seed, prior: state.view.prior, eps: state.view.eps, intruder: asked.intruder });
  return card({ title: "The mildest setting that is enough", lead: "Searches one parameter for the setting that meets your rules and damages the file least." },
    h("div", { class: "fields" },
      selectField("choose-what", "Technique and parameter", { value: chosen.text, choices: choices.map((each) => [each.text, `${each.technique.title ?? each.technique.name}: ${each.parameter.name}`]), change: (value) => { Object.assign(asked, { what: value, low: null, high: null }); changed(); } }),
      numberField("choose-low", "From", { value: low, change: (value) => { asked.low = value; changed(); } }),
      numberField("choose-high", "To", { value: high, change: (value) => { asked.high = value; changed(); } })),
    h("details", { class: "more" }, h("summary", {}, "Which intruder"), h("div", { class: "fields" }, intruderField("choose-intruder", catalogue, { value: asked.intruder, change: (value) => { asked.intruder = value; changed(); } }))),
    h("div", { class: "actions" }, button("Find it", begin, { kind: "primary", disabled: !rules.length || busy(job), name: "choose" }),
      rules.length ? null : h("span", { class: "soft" }, "Set a rule under Techniques first.")),
    jobCard(job), job?.status === "done" ? found(job) : null);
}

function found(job) {
  const { value, problem } = result(job);
  if (!value) return h("p", { class: "soft", role: "status" }, problem || "Fetching the result…");
  return h("div", { key: "chosen-setting" }, h("p", { class: "said", role: "status" }, value.found ? h("strong", {}, `${clipped(value.found, 80)}. `) : null, value.sentence),
    value.found ? button("Open it", () => { change({ view: { technique: value.found } }); location.hash = "#techniques"; }, { name: "open-found" }) : null,
    value.tried?.length ? table({
      caption: "What was tried, mildest first",
      columns: [{ title: "Setting" }, { title: "Risk", number: true }, { title: "Loss", number: true }, { title: "Rules" }],
      rows: value.tried.map((each) => ({ cells: [String(each.value), figure(each.risk?.mean), figure(each.loss?.mean), each.meets ? "✓ met" : "✕ not met"] })),
    }) : null);
}
